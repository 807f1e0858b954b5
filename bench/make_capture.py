#!/usr/bin/env python3
"""Record the capture for the benchmark: JAX on the CPU, calls and events of Python included.

    make_capture.py LOGDIR [STEPS]

A loop of small jitted calls under the Python tracer: a step gives some 2,500 events, so 4,050 steps give a capture of
some 10 million events and 210 MB, however fast the machine is.  Writing it takes longer than recording it.
"""
import sys

import jax
import jax.numpy as jnp


def record(logdir, steps):
    step = jax.jit(lambda x: jnp.tanh(x) + 1.0)
    x = step(jnp.ones((8, 8))) * 0.5
    options = jax.profiler.ProfileOptions()
    options.host_tracer_level = 2
    options.python_tracer_level = 1
    with jax.profiler.trace(logdir, profiler_options=options):
        for number in range(steps):
            with jax.profiler.StepTraceAnnotation("step", step_num=number):
                for _ in range(50):
                    x = step(x) * 0.5
                x.block_until_ready()
        print("recorded %d steps, writing the capture" % steps, flush=True)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__.split("\n\n")[1].strip())
    record(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 4050)
