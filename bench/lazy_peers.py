#!/usr/bin/env python3
"""The questions of bench/lazy.c for torch_xla and numpy, each in its own environment.

    lazy_peers.py torch_xla | numpy

Times are of the processor, as there.
"""
import os
import statistics
import sys
import time

CHAIN, CHAINS, TRACES, RESIDENT_NODES = 5000, 5, 2000, 20000


def resident_bytes():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE")


class TorchXla:
    """With its CPU client, since what is asked is what its own code costs on the host."""

    def __init__(self):
        os.environ["PJRT_DEVICE"] = "CPU"
        import torch
        import torch_xla
        import torch_xla.debug.profiler as xp
        self.torch, self.torch_xla, self.trace_block = torch, torch_xla, xp.Trace
        self.x = torch.arange(16, dtype=torch.float32).reshape(4, 4).to(torch_xla.device())
        torch_xla.sync(wait=True)

    def add_up(self, nodes):
        x = y = self.x
        for _ in range(nodes):
            y = y + x
        return y

    def chain(self, *more):
        self.torch_xla._XLAC._set_ir_debug(more == ("names",))
        build, barrier = [], []
        for i in range(-1, CHAINS):
            start = time.thread_time_ns()
            with self.trace_block("fwd"):
                y = self.add_up(CHAIN)
            built = time.thread_time_ns()
            self.torch_xla.sync()
            launched = time.thread_time_ns()
            self.torch_xla.sync(wait=True)
            del y
            if i >= 0:
                build.append((built - start) / CHAIN)
                barrier.append((launched - built) / CHAIN)
        return statistics.median(build), statistics.median(barrier)

    def trace(self):
        start = time.thread_time_ns()
        for _ in range(TRACES):
            with self.trace_block("empty"):
                pass
        return [(time.thread_time_ns() - start) / TRACES]

    def memory(self):
        self.torch_xla._XLAC._set_ir_debug(False)
        before = resident_bytes()
        y = self.add_up(RESIDENT_NODES)
        grown = (resident_bytes() - before) / RESIDENT_NODES
        self.torch_xla.sync(wait=True)
        del y
        return [grown]


class Numpy:
    """Its products, on one thread as the device's are."""

    def __init__(self):
        os.environ["OPENBLAS_NUM_THREADS"] = "1"
        import numpy
        self.numpy = numpy

    def product(self, n):
        n, best = int(n), 1e9
        a = (self.numpy.arange(n * n) * 7919 % 1000 / 500 - 1).astype(self.numpy.float32).reshape(n, n)
        b, c = a.T.copy(), self.numpy.empty_like(a)
        for _ in range(5):
            start = time.process_time()
            self.numpy.matmul(a, b, out=c)
            best = min(best, time.process_time() - start)
        return [2e-9 * n**3 / best]


def main():
    peer = {"torch_xla": TorchXla, "numpy": Numpy}[sys.argv[1]]()
    for line in sys.stdin:
        name, *more = line.split()
        print(*getattr(peer, name)(*more), flush=True)


if __name__ == "__main__":
    main()
