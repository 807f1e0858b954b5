#!/usr/bin/env python3
"""JAX as a program that is profiled.  Runs inside the peers' environment.

    jax_peer.py serve     prints the port of JAX's own profiler server; runs steps `jax_step` with `forward` in them until
                          standard input ends
    jax_peer.py lower     prints a program lowered inside of our annotations: its operations have their names
"""
import socket
import sys
import threading

import jax
import jax.numpy as jnp


def serve():
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    server = jax.profiler.start_server(port)
    step = jax.jit(lambda x: jnp.tanh(x @ x))
    x = step(jnp.ones((64, 64)))
    ended = threading.Event()
    threading.Thread(target=lambda: (sys.stdin.read(), ended.set()), daemon=True).start()
    print(port, flush=True)
    number = 0
    while not ended.wait(0.001):
        with jax.profiler.StepTraceAnnotation("jax_step", step_num=number):
            with jax.profiler.TraceAnnotation("forward", batch=number % 7):
                step(x).block_until_ready()
        number += 1
    jax.profiler.stop_server()
    del server


def lower():
    import xlaprof

    @xlaprof.Trace("decorated")
    def inner(x):
        return jnp.tanh(x)

    def outer(x):
        with xlaprof.Trace("forward pass"):
            y = inner(x @ x)
        with xlaprof.StepTrace("train", step_num=3):
            return y + 1

    print(jax.jit(outer).lower(jnp.ones((8, 8))).as_text(debug_info=True))


if __name__ == "__main__":
    {"serve": serve, "lower": lower}[sys.argv[1]]()
