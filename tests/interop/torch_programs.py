#!/usr/bin/env python3
"""Programs of torch_xla that the embedded device must run.  Runs inside the environment of torch_xla.

    torch_programs.py lab | lab_eager | diffusion | diffusion_bf16 [PLUGIN [LOGDIR]]

Prints the values that they compute, one `name value` a line, so that two devices can be compared.  Weights and inputs come
from the CPU with a fixed seed; random numbers of the device itself go into no value that is printed.  They run on the
device of $PJRT_DEVICE, or on that of a PJRT plugin; with LOGDIR they are captured by torch_xla.
"""
import os
import sys

if len(sys.argv) > 2:
    os.environ["PJRT_DEVICE"] = "XLAPROF"  # both are read when torch_xla is imported
    os.environ["XLA_HLO_DEBUG"] = "1"

# pylint: disable=wrong-import-position
import torch
import torch.nn.functional as F
import torch_xla
import torch_xla.debug.profiler as xp
from torch import nn


# ---------------------------------------------------------------- the lab: two layers, SGD, the mean as loss

def lab(eager=False):
    device = torch_xla.device()
    torch.manual_seed(1)
    model = nn.Sequential(nn.Linear(16, 16), nn.ReLU(), nn.Linear(16, 4)).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    x = torch.randn(16, 16).to(device)
    torch_xla.sync(wait=True)
    torch_xla.experimental.eager_mode(eager)
    for step in range(3):
        optimizer.zero_grad()
        with xp.Trace("fwd"):
            loss = model(x).mean()
        loss.backward()
        optimizer.step()
        torch_xla.sync(wait=True)
        print("loss%d %.7f" % (step, loss.item()))
    torch_xla.experimental.eager_mode(False)


# ---------------------------------------------------------------- a small diffusion pipeline

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


class Scheduler:
    """An Euler scheduler as pipelines have it: it looks its step up on the device, and reads it from the host."""

    def __init__(self, steps, device):
        betas = torch.linspace(0.00085 ** 0.5, 0.012 ** 0.5, 100) ** 2
        kept = torch.cumprod(1 - betas, dim=0)
        times = torch.linspace(99, 0, steps)
        sigmas = ((1 - kept) / kept) ** 0.5
        sigmas = torch.cat([sigmas[times.long()], torch.zeros(1)])
        self.timesteps, self.sigmas = times.to(device), sigmas.to(device)

    def place(self, t):
        return (self.timesteps == t).nonzero()[0].item()

    def scale(self, x, t):
        sigma = self.sigmas[self.place(t)]
        return x / ((sigma ** 2 + 1) ** 0.5).to(x.dtype)

    def step(self, noise, t, x):
        at = self.place(t)
        sigma, following = self.sigmas[at], self.sigmas[at + 1]
        original = x - sigma.to(x.dtype) * noise
        slope = (x - original) / sigma.to(x.dtype)
        return x + slope * (following - sigma).to(x.dtype)


def diffusion(dtype=torch.float32):
    device = torch_xla.device()
    torch.manual_seed(1)
    text, unet, decoder = (m().to(dtype).to(device).eval() for m in (TextEncoder, UNet, Decoder))
    latents = torch.randn(1, 4, 8, 8).to(dtype).to(device)
    ids = torch.randint(0, 64, (2, 8)).to(device)
    scheduler = Scheduler(3, device)
    with torch.no_grad():
        context = text(ids)
        latents = latents * (scheduler.sigmas.max() ** 2 + 1).to(dtype) ** 0.5
        for t in scheduler.timesteps:
            pair = scheduler.scale(torch.cat([latents] * 2), t)
            noise = unet(pair, t[None].expand(2), context)
            plain, guided = noise.chunk(2)
            latents = scheduler.step(plain + 7.5 * (guided - plain), t, latents)
            torch_xla.sync()
        image = (decoder(latents) / 2 + 0.5).clamp(0, 1)
        pixels = (image.float().permute(0, 2, 3, 1) * 255).round().to(torch.uint8)
    print("latents %.5f" % latents.float().abs().mean().item())
    print("pixels %d" % pixels.cpu().long().sum())
    noise = torch.randn(2, 3, device=device), torch.rand(4, device=device, dtype=dtype)
    best = torch.argmax(latents.flatten()), torch.randint(0, 9, (3,), device=device)
    torch_xla.sync(wait=True)
    print("numbers %d" % (sum(n.numel() for n in noise) + sum(b.numel() for b in best)))


def use_plugin(path):
    from torch_xla.experimental import plugins

    class Plugin(plugins.DevicePlugin):
        def library_path(self):
            return path

        def physical_chip_count(self):
            return 1

    plugins.register_plugin("XLAPROF", Plugin())


def main(name, plugin=None, logdir=None):
    if plugin:
        use_plugin(plugin)
    run = PROGRAMS[name]
    if not logdir:
        run()
        return
    torch_xla.device()
    xp.start_trace(logdir)
    run()
    xp.stop_trace()


PROGRAMS = {"lab": lab, "lab_eager": lambda: lab(eager=True), "diffusion": diffusion,
            "diffusion_bf16": lambda: diffusion(torch.bfloat16)}

if __name__ == "__main__":
    main(*sys.argv[1:])
