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
    for channels, extent, groups in ((32, 32, 1), (64, 32, 1), (128, 16, 1), (64, 56, 64), (512, 14, 512), (128, 28, 32)):
        x, k = numbers(4, channels, extent, extent), numbers(channels, channels // groups, 3, 3)

        def convolution(x, k, stride=1):
            return jax.lax.conv_general_dilated(x, k, (stride, stride), "SAME", dimension_numbers=("NCHW", "OIHW", "NCHW"),
                                                feature_group_count=groups)

        flops, half = 2.0 * 36 * channels**2 // groups * extent**2, x[:, :, ::2, ::2].copy()
        show("convolution 3x3 4x%dx%dx%d%s" % (channels, extent, extent, ", %d groups" % groups if groups > 1 else ""), flops, "GFLOP/s",
             ("XLA", by_jax(convolution, x, k)))
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

    for what, shape, axis in (("rows", (256, 1024), 1), ("columns", (1024, 256), 0)):
        x = numbers(*shape)
        show("sums so far of %s %dx%d" % (what, *shape), 8.0 * x.size, "GB/s", ("numpy", lambda: np.cumsum(x, axis)),
             ("XLA", by_jax(lambda x: jnp.cumsum(x, axis), x)))
    pools()


def pools():
    x = numbers(4, 64, 56, 56)
    to = np.empty_like(x)
    show("memcpy of 4x64x56x56", 8.0 * x.size, "GB/s", ("numpy", lambda: np.copyto(to, x)))
    for name, what, start in (("maximum", jax.lax.max, -np.inf), ("sum", jax.lax.add, 0.0)):
        for size, pad, text in ((2, 0, ""), (3, 1, ", stride 2")):
            def pool(x):
                return jax.lax.reduce_window(x, np.float32(start), what, (1, 1, size, size), (1, 1, 2, 2), [(0, 0)] * 2 + [(pad, pad)] * 2)

            y = np.asarray(pool(x))
            show("%s of %dx%d%s" % (name, size, size, text), 4.0 * (x.size + y.size), "GB/s", ("XLA", by_jax(pool, x)))
            if name == "maximum":
                show(".. its gradient", 4.0 * (2 * x.size + y.size), "GB/s", ("XLA", by_jax(lambda x, g: jax.vjp(pool, x)[1](g)[0], x, y)))


if __name__ == "__main__":
    main()
