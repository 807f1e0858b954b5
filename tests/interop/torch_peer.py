#!/usr/bin/env python3
"""torch_xla as a program that is profiled, and as a client.  Runs inside the environment of torch_xla.

    torch_peer.py serve                  prints the port of torch_xla's own profiler server; runs steps `torch_step` with
                                         `build_graph` in them until standard input ends
    torch_peer.py trace TARGET LOGDIR    captures 300 ms of a program with torch_xla's client
    torch_peer.py ask TARGET LOGDIR      the same, but prints 0 and waits for a line first
"""
import socket
import sys
import threading

import torch
import torch_xla
import torch_xla.debug.profiler as xp


def serve():
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    server = xp.start_server(port)
    w = torch.ones(64, 64, device=torch_xla.device()) / 64
    torch_xla.sync()
    ended = threading.Event()
    threading.Thread(target=lambda: (sys.stdin.read(), ended.set()), daemon=True).start()
    print(port, flush=True)
    number = 0
    while not ended.wait(0.001):
        with xp.StepTrace("torch_step", step_num=number):
            with xp.Trace("build_graph"):
                w = w @ w + 1 / 128
        number += 1
    del server


def trace(target, logdir):
    xp.trace(target, logdir, duration_ms=300, timeout_s=20, interval_s=1)


def ask(target, logdir):
    print(0, flush=True)
    sys.stdin.readline()
    trace(target, logdir)


if __name__ == "__main__":
    {"serve": serve, "trace": trace, "ask": ask}[sys.argv[1]](*sys.argv[2:])
