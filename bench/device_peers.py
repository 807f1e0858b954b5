#!/usr/bin/env python3
"""The lines of bench/device for numpy and XLA's CPU client (JAX), each on one thread.

Needs numpy and jax from PyPI.  Run it with `taskset -c 0` for XLA, whose client has no option for one thread.
"""
import os

os.environ.update({"OPENBLAS_NUM_THREADS": "1", "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false"})

import time

import jax
import jax.numpy as jnp
import numpy as np


def fastest(run):
    best, start, n = 1e9, time.perf_counter(), 0
    while n < 5 or time.perf_counter() - start < 0.3:
        before = time.perf_counter()
        run()
        best, n = min(best, time.perf_counter() - before), n + 1
    return best


def show(name, units, unit, *runs):
    peers = "".join("   %s %10.1f us %8.1f %s" % (who, 1e6 * t, units / t / 1e9, unit) for who, t in ((w, fastest(r)) for w, r in runs))
    print("%-36s%s" % (name, peers))


def numbers(*shape):
    return (np.arange(np.prod(shape)) * 7919 % 1000 / 500 - 1).astype(np.float32).reshape(shape)


def by_jax(function, *arrays):
    compiled, moved = jax.jit(function), [jax.device_put(a) for a in arrays]
    return lambda: compiled(*moved).block_until_ready()


def main():
    for n in (64, 128, 256, 512, 1024):
        a, b, c = numbers(n, n), numbers(n, n), np.empty((n, n), np.float32)
        show("product f32 %d" % n, 2.0 * n**3, "GFLOP/s", ("numpy", lambda: np.matmul(a, b, out=c)), ("XLA", by_jax(jnp.matmul, a, b)))
    for channels, extent in ((32, 32), (64, 32), (128, 16)):
        x, k = numbers(4, channels, extent, extent), numbers(channels, channels, 3, 3)

        def convolution(x, k, stride=1):
            return jax.lax.conv_general_dilated(x, k, (stride, stride), "SAME", dimension_numbers=("NCHW", "OIHW", "NCHW"))

        flops, half = 2.0 * 36 * channels**2 * extent**2, x[:, :, ::2, ::2].copy()
        show("convolution 3x3 4x%dx%dx%d" % (channels, extent, extent), flops, "GFLOP/s", ("XLA", by_jax(convolution, x, k)))
        show(".. gradient of its kernel", flops, "GFLOP/s",
             ("XLA", by_jax(lambda x, g: jax.vjp(lambda k: convolution(x, k), k)[1](g)[0], x, x)))
        show(".. with stride 2, of its input", flops / 4, "GFLOP/s",
             ("XLA", by_jax(lambda k, g: jax.vjp(lambda x: convolution(x, k, 2), x)[1](g)[0], k, half)))
    for shape in ((1024, 128), (64, 8192)):
        x = numbers(*shape)

        def softmax():
            e = np.exp(x - x.max(1, keepdims=True))
            return e / e.sum(1, keepdims=True)

        show("softmax %dx%d" % shape, 8.0 * x.size, "GB/s", ("numpy", softmax), ("XLA", by_jax(lambda x: jax.nn.softmax(x, 1), x)))
    for n in (1 << 16, 1 << 22):
        x, y = numbers(n), numbers(n)
        show("2 x + y f32 %d" % n, 12.0 * n, "GB/s", ("numpy", lambda: x * np.float32(2) + y), ("XLA", by_jax(lambda x, y: x * 2 + y, x, y)))
    x, y = numbers(1 << 16), numbers(1 << 16)
    show("tanh(2 x + y) f32 %d" % (1 << 16), 12.0 * x.size, "GB/s", ("numpy", lambda: np.tanh(x * np.float32(2) + y)),
         ("XLA", by_jax(lambda x, y: jnp.tanh(x * 2 + y), x, y)))
    x = numbers(1024, 1024)
    show("transpose f32 1024x1024", 8.0 * x.size, "GB/s", ("numpy", lambda: np.ascontiguousarray(x.T)), ("XLA", by_jax(jnp.transpose, x)))


if __name__ == "__main__":
    main()
