#!/usr/bin/env python3
"""A small diffusion pipeline of JAX that has the gaps of large ones, captures itself, and checks them.

    examples/diffusion_jax.py [--fixed] [--plain] [--logdir FOLDER] [--xlaprof PROGRAM]

The pipeline is that of diffusion_torch_xla.py, and so are its gaps: a large one while the first image gets its watermark in
NumPy on the host (scope `watermark`), and two small ones a step, since `scheduler.step` reads a value with float(), and a
mask for .nonzero().  What is expected is in diffusion.json.  JAX names instructions by jax.named_scope inside of compiled functions,
and the host's time by jax.profiler.TraceAnnotation; a scope that both should show gets both.

    --fixed    the scheduler works on the device: the small gaps go, that of the watermark stays (diffusion_fixed.json)
    --plain    without annotations and names: the gaps are there, and nothing says what they are
    --logdir   keeps the capture there

Exit status: that of `xlaprof check`.
"""
import contextlib
import functools
import sys

import diffusion
import jax
import jax.numpy as jnp
import numpy

SIZE, WIDTH, WORDS, LENGTH = 32, 64, 32, 8  # of the latents, the U-Net, a word's vector, a text


# ---------------------------------------------------------------- models: functions of their weights and inputs

def linear(key, inputs, outputs):
    return jax.random.normal(key, (inputs, outputs)) / inputs ** 0.5


def kernel(key, inputs, outputs, size=3):
    return jax.random.normal(key, (size, size, inputs, outputs)) / (inputs * size * size) ** 0.5


def convolve(x, w, stride=1):
    return jax.lax.conv_general_dilated(x, w, (stride, stride), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))


def normal(x, axes):
    return (x - x.mean(axes, keepdims=True)) / jnp.sqrt(x.var(axes, keepdims=True) + 1e-5)


def attention(w, x, context, heads=2):
    split = lambda t: t.reshape(t.shape[0], t.shape[1], heads, -1).swapaxes(1, 2)
    q, k, v = split(x @ w["q"]), split(context @ w["k"]), split(context @ w["v"])
    mixed = jax.nn.softmax(q @ k.swapaxes(-1, -2) / q.shape[-1] ** 0.5) @ v
    return mixed.swapaxes(1, 2).reshape(x.shape) @ w["out"]


def attention_weights(key, width, context):
    return {name: linear(k, context if name in "kv" else width, width)
            for name, k in zip(("q", "k", "v", "out"), jax.random.split(key, 4))}


def block(w, x, time):
    h = convolve(jax.nn.silu(normal(x, (1, 2))), w["enter"]) + (time @ w["time"])[:, None, None]
    return convolve(x, w["skip"]) + convolve(jax.nn.silu(normal(h, (1, 2))), w["leave"])


def block_weights(key, before, after):
    keys = jax.random.split(key, 4)
    return {"enter": kernel(keys[0], before, after), "time": linear(keys[1], WIDTH, after),
            "leave": kernel(keys[2], after, after), "skip": kernel(keys[3], before, after, 1)}


def weights():
    keys = iter(jax.random.split(jax.random.key(1), 16))
    text = {"tokens": jax.random.normal(next(keys), (64, WORDS)), "mix": attention_weights(next(keys), WORDS, WORDS),
            "up": linear(next(keys), WORDS, 2 * WORDS), "down": linear(next(keys), 2 * WORDS, WORDS)}
    unet = {"enter": kernel(next(keys), 4, WIDTH), "down": block_weights(next(keys), WIDTH, WIDTH),
            "middle": block_weights(next(keys), WIDTH, 2 * WIDTH), "mix": attention_weights(next(keys), 2 * WIDTH, WORDS),
            "grow": kernel(next(keys), 2 * WIDTH, WIDTH), "up": block_weights(next(keys), 2 * WIDTH, WIDTH),
            "leave": kernel(next(keys), WIDTH, 4)}
    vae = {"enter": kernel(next(keys), 4, 16), "leave": kernel(next(keys), 16, 3)}
    return text, unet, vae


def text_encoder(w, ids):
    with named("text"):
        x = w["tokens"][ids]
        x = x + attention(w["mix"], normal(x, -1), normal(x, -1))
        return x + jax.nn.gelu(normal(x, -1) @ w["up"]) @ w["down"]


def unet(w, x, t, sigma, context):
    """What the U-Net says for two prompts: that of the user, and none."""
    with named("unet"):
        x = jnp.concatenate([x, x]) / jnp.sqrt(sigma ** 2 + 1)
        angles = t * jnp.exp(-jnp.arange(WIDTH // 2) * (9.21 / (WIDTH // 2)))
        time = jnp.concatenate([jnp.cos(angles), jnp.sin(angles)])[None]
        first = block(w["down"], convolve(x, w["enter"]), time)
        h = block(w["middle"], convolve(first, jnp.eye(WIDTH)[None, None], stride=2), time)
        flat = h.reshape(h.shape[0], -1, h.shape[-1])
        h = h + attention(w["mix"], normal(flat, -1), context).reshape(h.shape)
        h = convolve(jnp.repeat(jnp.repeat(h, 2, 1), 2, 2), w["grow"])
        h = block(w["up"], jnp.concatenate([h, first], -1), time)
        plain, guided = jnp.split(convolve(jax.nn.silu(h), w["leave"]), 2)
        return plain + 7.5 * (guided - plain)


def decoder(w, x):
    with named("vae"):
        h = jax.nn.silu(normal(convolve(x / 0.18215, w["enter"]), (1, 2)))
        return jnp.clip(convolve(jnp.repeat(jnp.repeat(h, 2, 1), 2, 2), w["leave"]) / 2 + 0.5, 0, 1)


# ---------------------------------------------------------------- scheduler

class Scheduler:
    """An Euler scheduler as pipelines have it: it looks its step up on the device, and reads that from the host."""

    def __init__(self, steps, fixed):
        kept = numpy.cumprod(1 - numpy.linspace(0.00085 ** 0.5, 0.012 ** 0.5, 100) ** 2)
        times = numpy.linspace(99, 0, steps).astype(int)
        sigmas = numpy.append(((1 - kept) / kept)[times] ** 0.5, 0)
        self.timesteps, self.sigmas = jnp.asarray(times, jnp.float32), jnp.asarray(sigmas, jnp.float32)
        self.times = [(jnp.float32(t), jnp.float32(s)) for t, s in zip(times, sigmas)]
        self.fixed = fixed

    def step(self, noise, t, x):
        if self.fixed:
            return step_on_device(noise, t, x, self.timesteps, self.sigmas)
        # The decision is made on the host.  Not .item(): on XLA's CPU client JAX does not tell the profiler of that read.
        limit = min(1, 100 / max(float(peak(noise)), 1e-6))
        at = jax.device_get(is_at(self.timesteps, t)).nonzero()[0]  # as many results as there are: a matter of the host
        return move(noise, x, self.sigmas, at, limit)


@jax.jit
def peak(noise):
    with named("scheduler.step"):
        return jnp.abs(noise).max()


@jax.jit
def is_at(timesteps, t):
    with named("scheduler.step"):
        return timesteps == t


@jax.jit
def move(noise, x, sigmas, at, limit):
    with named("scheduler.step"):
        return x + (sigmas[at + 1] - sigmas[at]) * noise * limit


@jax.jit
def step_on_device(noise, t, x, timesteps, sigmas):
    with named("scheduler.step"):
        limit = jnp.minimum(1, 100 / jnp.abs(noise).max())
        at = jnp.argmax(timesteps == t)
        return x + (sigmas[at + 1] - sigmas[at]) * noise * limit


# ---------------------------------------------------------------- the pipeline

def nothing(*_, **__):
    return contextlib.nullcontext()


PLAIN = "--plain" in sys.argv
named = nothing if PLAIN else jax.named_scope
trace = nothing if PLAIN else jax.profiler.TraceAnnotation
step_trace = nothing if PLAIN else jax.profiler.StepTraceAnnotation


class Pipeline:
    def __init__(self, fixed):
        text, net, vae = weights()
        self.text, self.unet, self.vae = (functools.partial(jax.jit(f), w)
                                          for f, w in ((text_encoder, text), (unet, net), (decoder, vae)))
        self.scheduler = Scheduler(diffusion.STEPS, fixed)

    def image(self, ids, latents):
        """The U-Net comes last in a step and is left to work, while the host goes on to the next step."""
        noise = before = context = None
        for number, (t, sigma) in enumerate(self.scheduler.times):
            with step_trace("denoise", step_num=number):
                if number == 0:
                    with trace("text"):
                        context = self.text(ids)
                else:
                    with trace("scheduler.step"):
                        latents = self.scheduler.step(noise, before, latents)
                with trace("unet"):
                    noise = self.unet(latents, t, sigma, context)
                before = t
        with step_trace("decode"):
            with trace("scheduler.step"):
                latents = self.scheduler.step(noise, before, latents)
            with trace("vae"):
                return self.vae(latents)

    def run(self, images):
        marks = []
        for number in range(images):
            random = numpy.random.default_rng(number)
            ids, latents = random.integers(0, 64, (2, LENGTH)), random.standard_normal((1, SIZE, SIZE, 4), numpy.float32)
            image = self.image(ids, latents)
            with trace("watermark"):
                marks.append(diffusion.watermark(jax.device_get(image)[0].transpose(2, 0, 1)))
        return marks


def main():
    o = diffusion.options(__doc__).parse_args()
    with diffusion.folder(o) as logdir:
        pipeline = Pipeline(o.fixed)
        pipeline.run(1)  # compiles
        jax.profiler.start_trace(logdir)
        marks = pipeline.run(diffusion.IMAGES)
        jax.profiler.stop_trace()
        sys.exit(diffusion.report_and_check(o, logdir, marks))


if __name__ == "__main__":
    main()
