#!/usr/bin/env python3
"""The lab of `xlaprof demo lab` in torch_xla: what its metrics count, printed as --json prints it.  Runs inside the
environment of torch_xla.

    torch_lab_peer.py [lazy|eager]

With a mode, the metrics report of two lazy steps, or of three eager ones, in a process of its own.
"""
import json
import sys
import time

import torch
import torch_xla
import torch_xla.debug.metrics as met
from torch import nn


def samples(name):
    data = met.metric_data(name)
    return data[0] if data else 0


def count(eager, steps):
    device = torch_xla.device()
    model = nn.Sequential(nn.Linear(16, 16), nn.ReLU(), nn.Linear(16, 4)).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    x = torch.randn(16, 16).to(device)
    torch_xla.sync(wait=True)
    met.clear_all()
    torch_xla.experimental.eager_mode(eager)
    counts = {"compiles": [], "executes": []}
    for _ in range(steps):
        optimizer.zero_grad()
        loss = model(x).mean()
        loss.backward()
        optimizer.step()
        torch_xla.sync(wait=True)
        time.sleep(0.3)  # another thread adds the samples of executions, after that
        counts["compiles"].append(samples("EagerOpCompileTime" if eager else "CompileTime"))
        counts["executes"].append(samples("EagerOpExecuteTime" if eager else "ExecuteTime"))
    torch_xla.experimental.eager_mode(False)
    return counts, met.metrics_report()


if len(sys.argv) > 1:
    print(count(*{"lazy": (False, 2), "eager": (True, 3)}[sys.argv[1]])[1])
else:
    print(json.dumps({"lazy": count(False, 2)[0], "eager": count(True, 3)[0]}))
