#!/usr/bin/env python3
"""A small diffusion pipeline of torch_xla that has the gaps of large ones, captures itself, and checks them.

    examples/diffusion_torch_xla.py [--fixed] [--plain] [--plugin LIBRARY] [--logdir FOLDER] [--xlaprof PROGRAM]

It makes two images, each from a text encoder, some steps of a U-Net (convolutions and attention) with an Euler scheduler, and
a decoder; weights and inputs are random, with a fixed seed.  Between the two images stands a large gap: the first image goes to
the CPU and gets a watermark in NumPy (scope `watermark`).  Every step has two small gaps: `scheduler.step` reads a value with
.item(), and places with .nonzero().  What is expected is in diffusion.json.

    --fixed    the scheduler works on the device: the small gaps go, that of the watermark stays (diffusion_fixed.json)
    --plain    without annotations and names: the gaps are there, and nothing says what they are
    --plugin   runs on the device of this PJRT plugin, such as libxlaprof_pjrt.so; without it on that of $PJRT_DEVICE
    --logdir   keeps the capture there

Exit status: that of `xlaprof check`.
"""
import contextlib
import os
import sys

import diffusion
import torch
import torch.nn.functional as F
from torch import nn

# torch_xla reads its environment when it is imported, so that happens in main.
trace = step_trace = None  # xp.Trace and xp.StepTrace, or nothing with --plain


# ---------------------------------------------------------------- models

class Attention(nn.Module):
    def __init__(self, width, heads=2, context=None):
        super().__init__()
        self.heads = heads
        self.q = nn.Linear(width, width, bias=False)
        self.k = nn.Linear(context or width, width, bias=False)
        self.v = nn.Linear(context or width, width, bias=False)
        self.out = nn.Linear(width, width)

    def forward(self, x, context=None, mask=None):
        context = x if context is None else context
        split = lambda t: t.view(t.shape[0], t.shape[1], self.heads, -1).transpose(1, 2)
        q, k, v = split(self.q(x)), split(self.k(context)), split(self.v(context))
        scores = q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5
        if mask is not None:
            scores = scores.masked_fill(mask, float("-inf"))
        mixed = torch.softmax(scores, dim=-1) @ v
        return self.out(mixed.transpose(1, 2).reshape(x.shape))


class TextEncoder(nn.Module):
    def __init__(self, width=32, length=8):
        super().__init__()
        self.tokens, self.places = nn.Embedding(64, width), nn.Embedding(length, width)
        self.norm1, self.norm2, self.norm3 = nn.LayerNorm(width), nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention = Attention(width)
        self.mlp = nn.Sequential(nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width))

    def forward(self, ids):
        length = ids.shape[1]
        x = self.tokens(ids) + self.places(torch.arange(length, device=ids.device))
        mask = torch.triu(torch.ones(length, length, dtype=torch.bool, device=ids.device), 1)
        x = x + self.attention(self.norm1(x), mask=mask)
        return self.norm3(x + self.mlp(self.norm2(x)))


class ResBlock(nn.Module):
    def __init__(self, before, after, time):
        super().__init__()
        self.norm1, self.conv1 = nn.GroupNorm(4, before), nn.Conv2d(before, after, 3, padding=1)
        self.time = nn.Linear(time, after)
        self.norm2, self.conv2 = nn.GroupNorm(4, after), nn.Conv2d(after, after, 3, padding=1)
        self.skip = nn.Identity() if before == after else nn.Conv2d(before, after, 1)

    def forward(self, x, time):
        h = self.conv1(F.silu(self.norm1(x))) + self.time(F.silu(time))[:, :, None, None]
        return self.skip(x) + self.conv2(F.dropout(F.silu(self.norm2(h)), 0.0, self.training))


class SpatialTransformer(nn.Module):
    def __init__(self, width, context):
        super().__init__()
        self.norm = nn.GroupNorm(4, width)
        self.own, self.cross = Attention(width), Attention(width, context=context)
        self.norm1, self.norm2, self.norm3 = nn.LayerNorm(width), nn.LayerNorm(width), nn.LayerNorm(width)
        self.gate, self.out = nn.Linear(width, 4 * width), nn.Linear(2 * width, width)

    def forward(self, x, context):
        batch, width, height, breadth = x.shape
        h = self.norm(x).permute(0, 2, 3, 1).reshape(batch, height * breadth, width)
        h = h + self.own(self.norm1(h))
        h = h + self.cross(self.norm2(h), context)
        value, gate = self.gate(self.norm3(h)).chunk(2, dim=-1)
        h = h + self.out(value * F.gelu(gate))
        return x + h.reshape(batch, height, breadth, width).permute(0, 3, 1, 2)


def time_embedding(t, width):
    frequencies = torch.exp(-torch.arange(width // 2, device=t.device, dtype=torch.float32) * (9.21 / (width // 2)))
    angles = t.float()[:, None] * frequencies[None]
    return torch.cat([torch.cos(angles), torch.sin(angles)], dim=-1)


class UNet(nn.Module):
    def __init__(self, width=16, context=32):
        super().__init__()
        self.time = nn.Sequential(nn.Linear(width, 2 * width), nn.SiLU(), nn.Linear(2 * width, 2 * width))
        self.enter = nn.Conv2d(4, width, 3, padding=1)
        self.down, self.shrink = ResBlock(width, width, 2 * width), nn.Conv2d(width, width, 3, stride=2, padding=1)
        self.middle, self.mix = ResBlock(width, 2 * width, 2 * width), SpatialTransformer(2 * width, context)
        self.grow = nn.Conv2d(2 * width, width, 3, padding=1)
        self.up = ResBlock(2 * width, width, 2 * width)
        self.norm, self.leave = nn.GroupNorm(4, width), nn.Conv2d(width, 4, 3, padding=1)
        self.width = width

    def forward(self, x, t, context):
        time = self.time(time_embedding(t, self.width).to(x.dtype))
        first = self.down(self.enter(x), time)
        h = self.mix(self.middle(self.shrink(first), time), context)
        h = self.grow(F.interpolate(h, scale_factor=2.0, mode="nearest"))
        h = self.up(torch.cat([h, first], dim=1), time)
        return self.leave(F.silu(self.norm(h)))


class Decoder(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.enter, self.norm = nn.Conv2d(4, width, 3, padding=1), nn.GroupNorm(4, width)
        self.grow, self.leave = nn.ConvTranspose2d(width, width, 4, stride=2, padding=1), nn.Conv2d(width, 3, 3, padding=1)

    def forward(self, x):
        h = F.silu(self.norm(self.enter(x / 0.18215)))
        h = F.interpolate(self.grow(h), scale_factor=2, mode="nearest")
        return self.leave(F.avg_pool2d(h, 2))


# ---------------------------------------------------------------- scheduler

class Scheduler:
    """An Euler scheduler as pipelines have it: it looks its step up on the device, and reads that from the host."""

    def __init__(self, steps, device, fixed=False):
        betas = torch.linspace(0.00085 ** 0.5, 0.012 ** 0.5, 100) ** 2
        kept = torch.cumprod(1 - betas, dim=0)
        times = torch.linspace(99, 0, steps)
        sigmas = ((1 - kept) / kept) ** 0.5
        sigmas = torch.cat([sigmas[times.long()], torch.zeros(1)])
        self.timesteps, self.sigmas = times.to(device), sigmas.to(device)
        self.times = [t.to(device) for t in times]
        self.fixed = fixed

    def place(self, t):
        """Where a step stands among all.  .nonzero() has as many results as there are: the host must know how many."""
        same = self.timesteps == t
        return same.to(torch.int32).argmax()[None] if self.fixed else same.nonzero()[0]

    def scale(self, x, t):
        sigma = (self.sigmas[:-1] * (self.timesteps == t)).sum()
        return x / ((sigma ** 2 + 1) ** 0.5).to(x.dtype)

    def limited(self, noise):
        """The noise within bounds.  The decision is made on the host, or on the device."""
        peak = noise.abs().max()
        if self.fixed:
            return noise / torch.clamp(peak / 100, min=1)
        return noise if peak.item() <= 100 else noise * (100 / peak.item())

    def step(self, noise, t, x):
        noise = self.limited(noise)
        at = self.place(t)
        sigma, following = self.sigmas.index_select(0, at), self.sigmas.index_select(0, at + 1)
        return x + (following - sigma).to(x.dtype) * noise


# ---------------------------------------------------------------- the pipeline

class Pipeline:
    def __init__(self, device, fixed=False, size=32, width=64):
        torch.manual_seed(1)
        self.device, self.size = device, size
        self.text, self.unet, self.decoder = (m.to(device).eval() for m in (TextEncoder(), UNet(width), Decoder()))
        self.scheduler = Scheduler(diffusion.STEPS, device, fixed)
        torch_xla.sync(wait=True)

    def noise(self, latents, t, context):
        """What the U-Net says for two prompts: that of the user, and none."""
        pair = self.scheduler.scale(torch.cat([latents] * 2), t)
        plain, guided = self.unet(pair, t[None].expand(2), context).chunk(2)
        return plain + 7.5 * (guided - plain)

    def image(self, ids, latents):
        """The U-Net comes last in a step and is left to work, while the host goes on to the next step."""
        noise = before = None
        for number, t in enumerate(self.scheduler.times):
            with step_trace("denoise", step_num=number):
                if number == 0:
                    with trace("text"):
                        context = self.text(ids)
                        latents = latents * (self.scheduler.sigmas.max() ** 2 + 1) ** 0.5
                else:
                    with trace("scheduler.step"):
                        latents = self.scheduler.step(noise, before, latents)
                with trace("unet"):
                    noise = self.noise(latents, t, context)
                before = t
        with step_trace("decode"):
            with trace("scheduler.step"):
                latents = self.scheduler.step(noise, before, latents)
            with trace("vae"):
                return (self.decoder(latents) / 2 + 0.5).clamp(0, 1)

    def run(self, images):
        marks = []
        for number in range(images):
            generator = torch.Generator().manual_seed(number)
            ids = torch.randint(0, 64, (2, 8), generator=generator)
            latents = torch.randn(1, 4, self.size, self.size, generator=generator)
            image = self.image(ids.to(self.device), latents.to(self.device))
            with trace("watermark"):
                marks.append(diffusion.watermark(image.cpu().numpy()[0]))
        return marks


# ---------------------------------------------------------------- capture and check

def use_plugin(path):
    from torch_xla.experimental import plugins

    class Plugin(plugins.DevicePlugin):
        def library_path(self):
            return str(path)

        def physical_chip_count(self):
            return 1

    plugins.register_plugin("XLAPROF", Plugin())


def nothing(*_, **__):
    return contextlib.nullcontext()


def step_without_name(*_, **__):
    """Ends as a step does, with a sync."""
    stack = contextlib.ExitStack()
    stack.callback(torch_xla.sync)
    return stack


def start(o):
    """Imports torch_xla as the options want it."""
    global torch_xla, xp, trace, step_trace  # pylint: disable=global-statement,global-variable-undefined
    if o.plugin:
        os.environ["PJRT_DEVICE"] = "XLAPROF"
    if not o.plain:
        os.environ["XLA_HLO_DEBUG"] = "1"  # without it the names do not reach the device, and nothing says so
    import torch_xla
    import torch_xla.debug.profiler as xp
    trace, step_trace = (nothing, step_without_name) if o.plain else (xp.Trace, xp.StepTrace)
    if o.plugin:
        use_plugin(o.plugin)


def main():
    parser = diffusion.options(__doc__)
    parser.add_argument("--plugin", type=os.path.abspath, metavar="LIBRARY", help="a PJRT plugin to run on")
    o = parser.parse_args()
    start(o)
    with torch.no_grad(), diffusion.folder(o) as logdir:
        pipeline = Pipeline(torch_xla.device(), o.fixed)
        pipeline.run(1)  # compiles
        torch_xla.sync(wait=True)
        xp.start_trace(logdir)
        marks = pipeline.run(diffusion.IMAGES)
        xp.stop_trace()
        sys.exit(diffusion.report_and_check(o, logdir, marks))


if __name__ == "__main__":
    main()
