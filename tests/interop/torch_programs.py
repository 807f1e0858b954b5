#!/usr/bin/env python3
"""Programs of torch_xla that the embedded device must run.  Runs inside the environment of torch_xla.

    torch_programs.py lab | lab_eager | diffusion | diffusion_bf16 [PLUGIN [LOGDIR]]

Prints the values that they compute, one `name value` a line, so that two devices can be compared.  Weights and inputs come
from the CPU with a fixed seed; random numbers of the device itself go into no value that is printed.  They run on the
device of $PJRT_DEVICE, or on that of a PJRT plugin; with LOGDIR they are captured by torch_xla.
"""
import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "examples"))
if len(sys.argv) > 2:
    os.environ["PJRT_DEVICE"] = "XLAPROF"  # both are read when torch_xla is imported
    os.environ["XLA_HLO_DEBUG"] = "1"

# pylint: disable=wrong-import-position
import torch
import torch_xla
import torch_xla.debug.profiler as xp
from diffusion_torch_xla import Decoder, Scheduler, TextEncoder, UNet, use_plugin
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


# ---------------------------------------------------------------- the models of examples/diffusion_torch_xla.py

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
        for t in scheduler.times:
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
