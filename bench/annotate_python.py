#!/usr/bin/env python3
"""Measure what an annotation costs in Python: xlaprof.Trace beside jax.profiler.TraceAnnotation.

    annotate_python.py [--library libxlaprof.so] [--rounds N]

Runs in an environment that has JAX (scripts/install-peers readers prints one).  TraceAnnotation is the TraceMe of TSL behind
a binding compiled for Python, xlaprof.Trace is C behind ctypes: this compares the two as a Python program meets them, not
the recorders.  (The recorder of TSL cannot be called from C: the libraries on PyPI do not export it.)
"""
import argparse
import os
import pathlib
import statistics
import sys
import tempfile
import time

TREE = pathlib.Path(__file__).resolve().parent.parent
PAIRS = 20000


def ns_each(block):
    begin = time.perf_counter_ns()
    for _ in range(PAIRS):
        with block("forward"):
            pass
    return (time.perf_counter_ns() - begin) / PAIRS


class Nothing:
    """The floor: a context manager in Python that does nothing."""

    def __init__(self, name):
        self.name = name

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        return False


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--library", default=TREE / "build" / "libxlaprof.so")
    parser.add_argument("--rounds", type=int, default=11)
    args = parser.parse_args()
    os.environ["XLAPROF_LIBRARY"] = str(args.library)
    os.environ.setdefault("JAX_PLATFORMS", "cpu")
    sys.path.insert(0, str(TREE / "python"))
    import xlaprof
    from jaxlib import _profiler  # not jax itself: with it, a Trace of xlaprof would enter a named_scope, too
    annotation = _profiler.TraceMe
    cases = {"nothing, in Python": Nothing, "TraceMe of jaxlib": annotation, "xlaprof.Trace": xlaprof.Trace}
    off = {name: [] for name in cases}
    on = {name: [] for name in cases}
    for _ in range(args.rounds):
        for name, block in cases.items():
            off[name].append(ns_each(block))
        with tempfile.TemporaryDirectory() as folder:
            options = _profiler.ProfileOptions()
            options.python_tracer_level = 0  # it would slow everything that is written in Python
            session = _profiler.ProfilerSession(options)
            xlaprof.start_trace(folder)
            for name, block in cases.items():
                on[name].append(ns_each(block))
            xlaprof.stop_trace(trace_json=False)
            session.stop()
    print("%-24s %14s %14s" % ("with ..: pass", "no session, ns", "recording, ns"))
    for name in cases:
        print("%-24s %14.0f %14.0f" % (name, statistics.median(off[name]), statistics.median(on[name])))


if __name__ == "__main__":
    main()
