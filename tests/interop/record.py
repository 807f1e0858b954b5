#!/usr/bin/env python3
"""Record a capture of a program whose behaviour is known, with the profiler of JAX.  Runs inside the peers' environment.

    record.py LOGDIR

Ten steps `train`, numbered from 7.  In each: 15 ms of sleep in the scope `load`, one upload of a NumPy array, one jitted
program, and one read of its result in the scope `log_loss`.  Everything is compiled before the recording begins.
"""
import sys
import time

import jax
import jax.numpy as jnp
import numpy as np

STEPS, FIRST = 10, 7


@jax.jit
def update(w, x):
    with jax.named_scope("fwd"):
        y = jnp.tanh(x @ w)
    with jax.named_scope("loss"):
        loss = jnp.mean(y * y)
    with jax.named_scope("sgd"):
        return w - 0.01 * (x.T @ y), loss


def step(w, host):
    with jax.profiler.TraceAnnotation("load"):
        time.sleep(0.015)
    w, loss = update(w, jax.device_put(host))
    with jax.profiler.TraceAnnotation("log_loss"):
        float(loss)  # np.asarray of an array on the CPU takes its buffer as it is and leaves no event
    return w


def main():
    host = np.random.default_rng(0).random((256, 256), dtype=np.float32)
    w = jax.block_until_ready(step(jnp.zeros((256, 256)) + 0.01, host))
    with jax.profiler.trace(sys.argv[1]):
        for number in range(FIRST, FIRST + STEPS):
            with jax.profiler.StepTraceAnnotation("train", step_num=number):
                w = step(w, host)
        w.block_until_ready()


if __name__ == "__main__":
    main()
