#!/usr/bin/env python3
"""Record the capture for the benchmark: JAX on the CPU, calls and events of Python included.

    make_capture.py LOGDIR [SECONDS]

A loop of small jitted calls under the Python tracer gives about a million events a second; 9 seconds give a capture of
some 10 million events and 210 MB.  Writing it takes longer than recording it.
"""
import sys
import time

import jax
import jax.numpy as jnp


def record(logdir, seconds):
    step = jax.jit(lambda x: jnp.tanh(x) + 1.0)
    x = step(jnp.ones((8, 8))) * 0.5
    options = jax.profiler.ProfileOptions()
    options.host_tracer_level = 2
    options.python_tracer_level = 1
    start, number = time.monotonic(), 0
    with jax.profiler.trace(logdir, profiler_options=options):
        while time.monotonic() - start < seconds:
            with jax.profiler.StepTraceAnnotation("step", step_num=number):
                for _ in range(50):
                    x = step(x) * 0.5
                x.block_until_ready()
            number += 1
        print("recorded %d steps, writing the capture" % number, flush=True)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__.split("\n\n")[1].strip())
    record(sys.argv[1], float(sys.argv[2]) if len(sys.argv) > 2 else 9.0)
