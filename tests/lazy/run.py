#!/usr/bin/env python3
"""Hold every operation of lazy tensors against NumPy: all cases_*.py beside this file (see cases.py).

    tests/lazy/run.py --library build/libxlalazy.so [--plugin PATH] [--eager] [--filter TEXT] [FAMILY..]
    tests/lazy/run.py --library build/libxlalazy.so --device-compare PATH [FAMILY..]

FAMILY: only cases_FAMILY.py.  --plugin: on a device of another plugin, not the embedded one.  --eager: once more, each
operation on its own.  --device-compare: on the embedded device and on that of a plugin, whose results are compared; views
are left out.  All calls of one case are computed at one barrier.  The last line is "N calls, M failed".
"""
import argparse
import gc
import importlib
import os
import pathlib
import re
import sys
import time
import traceback
import warnings
import zlib

try:
    import numpy as np
except ImportError:
    sys.exit("NumPy is missing for %s: install the Debian package python3-numpy" % sys.executable)

import gradients
import kinds
import xl
from cases import Case, Wrong

HERE = pathlib.Path(__file__).resolve().parent
EPSILON = {"f32": 2.0**-23, "bf16": 2.0**-7}
SMALLEST = 1.2e-38  # below it devices may give 0


class Call:
    """A case with one kind of inputs."""

    def __init__(self, case, shapes, types, kind, wants_gradient=False):
        self.case, self.types, self.wants_gradient = case, types, wants_gradient
        self.name = "%s, %s, %s%s" % (case.name, " ".join("%s%s" % (t, list(s)) for t, s in zip(types, shapes)), kind,
                                      ", gradient" if wants_gradient else "")
        random = np.random.default_rng(zlib.crc32(self.name.encode()))
        values = case.grad_values if wants_gradient else case.values
        self.inputs = kinds.inputs_of(case, shapes, types, kind, values, random)
        if wants_gradient:
            arrays = [i.array() for i in self.inputs]
            self.result_type = case.result_type(types)
            self.weights = xl.rounded(random.standard_normal(case.expected(arrays, types)[0].shape), self.result_type)

    def build(self):
        """The results, not yet computed."""
        if self.wants_gradient:
            self.got = gradients.gradients_of(self.case, self.inputs, self.weights, self.result_type)
            return list(self.got.values())
        pairs = [i.upload() for i in self.inputs]
        self.got = self.case.call(*[view for _, view in pairs])
        self.got = list(self.got) if isinstance(self.got, (tuple, list)) else [self.got]
        if self.case.in_place:
            self.got += [pairs[0][1], pairs[0][0]]
        return self.got

    def expected(self):
        if self.wants_gradient:
            return gradients.reference_of(self.case, self.inputs, self.types, self.weights)
        arrays = [i.array() for i in self.inputs]
        results = self.case.expected(arrays, self.types)
        if self.case.in_place:
            first = self.inputs[0]
            base = first.base.copy()
            first.view(base)[...] = xl.rounded(results[0], first.type)
            results = [first.view(base), first.view(base), base]
        return results

    def problem(self):
        """Why the results are wrong, or nothing."""
        want = self.expected()
        if self.wants_gradient:
            return gradients.compare(self.case, self.result_type, self.got, want)
        kind = self.types[0] if self.case.in_place else self.case.result_type(self.types)
        wanted = kind if isinstance(kind, (tuple, list)) else [kind] * len(want)
        if len(want) != len(self.got):
            return "%d results, right are %d" % (len(self.got), len(want))
        return next(filter(None, (difference(self.case, *each) for each in zip(self.got, want, wanted))), None)


def difference(case, tensor, want, kind, factor=1):
    """How a result differs from what is wanted in type, shape or value, or nothing."""
    if (tensor.type, tensor.shape) != (kind, want.shape):
        return "the result is %s%s, right is %s%s" % (tensor.type, list(tensor.shape), kind, list(want.shape))
    return unequal(case, tensor.numpy(), xl.rounded(want, kind), kind, factor)


def unequal(case, got, want, kind, factor):
    allowed = 0.0
    if kind in EPSILON:
        finite = np.where(np.isfinite(want), np.abs(want), 0).astype(np.float64)
        ulps = case.bf16_ulps if kind == "bf16" else case.ulps
        scale = case.scale if kind == "f32" else min(case.scale, 1)
        allowed = factor * EPSILON[kind] * (ulps * finite + scale * finite.max(initial=0)) + SMALLEST
    with np.errstate(all="ignore"):
        if kind in EPSILON:
            fine = (got == want) | (np.isnan(got) & np.isnan(want)) | (np.abs(got.astype(np.float64) - want) <= allowed)
        else:
            fine = got == want
    if np.all(fine):
        return None
    at = tuple(int(i) for i in np.argwhere(~fine)[0])
    return "at %s of %s it is %r, right is %r (%d of %d elements are wrong)" % (
        at, list(want.shape), got[at].item(), want[at].item(), np.sum(~fine), fine.size)


def calls_of(case, is_short=False):
    """All calls of a case; views, special values and gradients have the first of its shapes.  A short list is without
    what is the same on every device: views, and more than two shapes."""
    calls = []
    shapes_list = case.shapes[:2] if is_short else case.shapes
    views = [k for k in case.kinds if k != "special" and not is_short]
    kinds_list = views + ["special"] * ("special" in case.kinds)
    for types in case.types:
        calls += [Call(case, shapes, types, "dense") for shapes in shapes_list]
        if case.is_elementwise:
            count = len(case.shapes[0])
            calls += [Call(case, ((2, 0, 3),) * count, types, "dense"), Call(case, ((),) * count, types, "dense")]
        calls += [Call(case, case.shapes[0], types, kind) for kind in kinds_list]
        of_grad = {types[k] for k in case.grad}
        if of_grad == {"f32"}:
            calls += [Call(case, shapes, types, "dense", True) for shapes in shapes_list]
            calls += [Call(case, case.shapes[0], types, kind, True) for kind in views]
        elif of_grad == {"bf16"}:
            calls.append(Call(case, case.shapes[0], types, "dense", True))
    return calls


# ---------------------------------------------------------------- running

class Runner:
    def __init__(self):
        self.calls = self.failures = 0

    def report(self, name, problem):
        self.failures += 1
        print("FAILED %s\n    %s" % (name, problem.replace("\n", "\n    ")), flush=True)

    def attempt(self, name, action):
        """True if it raised nothing and gave no problem."""
        try:
            problem = action()
        except (xl.Error, AssertionError) as error:
            problem = str(error)
        except Exception:  # pylint: disable=broad-except
            problem = traceback.format_exc()
        if problem:
            self.report(name, problem)
        return not problem

    def calls_of(self, case, is_short=False):
        """What went wrong in making them is a failure of the case."""
        calls = []
        self.attempt(case.name, lambda: calls.extend(calls_of(case, is_short)))
        return calls

    def run_case(self, case):
        calls = self.calls_of(case)
        self.calls += len(calls)
        outputs = {c: [] for c in calls}
        built = [c for c in calls if self.attempt(c.name, lambda c=c: outputs[c].extend(c.build()))]
        try:
            xl.sync_tensors([t for c in built for t in outputs[c]])
        except xl.Error:
            pass  # each is told below, when its value is asked for
        for call in built:
            self.attempt(call.name, call.problem)

    def run_wrong(self, wrong):
        self.calls += 1

        def call():
            try:
                wrong.call()
            except xl.Error as error:
                missing = [w for w in wrong.words if w not in str(error)]
                return "the message %r has no %r" % (str(error), missing) if missing else None
            return "it was not refused"

        self.attempt(wrong.name, call)

    def run_check(self, name, check):
        self.calls += 1
        self.attempt(name, check)


class Comparer(Runner):
    """Runs calls on two devices, and compares their results."""

    def __init__(self, first, second):
        super().__init__()
        self.devices = first, second

    def results(self, case, device):
        """Of each call its tensors, or nothing if it failed."""
        xl.use_device(device)
        calls = self.calls_of(case, is_short=True)
        outputs = {c.name: [] for c in calls}
        built = [c for c in calls if self.attempt(c.name, lambda c=c: outputs[c.name].extend(c.build()))]
        self.attempt(case.name, lambda: xl.sync_tensors([t for c in built for t in outputs[c.name]]))
        return outputs, {c.name: c for c in built}

    def run_case(self, case):
        ours, calls = self.results(case, self.devices[0])
        theirs, _ = self.results(case, self.devices[1])
        self.calls += len(calls)
        for name, call in calls.items():
            self.attempt(name, lambda n=name, c=call: self.problem(c, ours[n], theirs[n]))

    @staticmethod
    def problem(call, ours, theirs):
        if call.wants_gradient:
            want = {k: t.numpy() for k, t in zip(call.got, theirs)}
            return gradients.compare(call.case, call.result_type, dict(zip(call.got, ours)), want)
        # each may be as far away from the exact value as the case allows
        return next(filter(None, (difference(call.case, a, b.numpy(), b.type, 2) for a, b in zip(ours, theirs))), None)


def run_module(runner, module, text):
    for case in getattr(module, "CASES", []):
        if re.search(text, case.name) and isinstance(case, Case):
            runner.run_case(case)
        elif re.search(text, case.name) and isinstance(case, Wrong) and not isinstance(runner, Comparer):
            runner.run_wrong(case)
    for name, check in vars(module).items():
        if name.startswith("check_") and re.search(text, name) and not isinstance(runner, Comparer):
            runner.run_check(name, check)


def run_all(runner, args):
    for path in [HERE / ("cases_%s.py" % f) for f in args.families] or sorted(HERE.glob("cases_*.py")):
        start, before = time.monotonic(), runner.calls
        run_module(runner, importlib.import_module(path.stem), args.filter)
        print("%s: %d calls in %.1f s" % (path.name, runner.calls - before, time.monotonic() - start), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--library", required=True, help="libxlalazy.so")
    parser.add_argument("--plugin", default="embedded", help="the device to run on")
    parser.add_argument("--device-compare", metavar="PLUGIN", help="compare the embedded device with this one")
    parser.add_argument("--eager", action="store_true", help="also in eager mode")
    parser.add_argument("--filter", default="", metavar="TEXT", help="only cases and checks whose names have this pattern")
    parser.add_argument("families", nargs="*", metavar="FAMILY")
    args = parser.parse_args()
    os.environ.setdefault("XLA_FLAGS", "--xla_cpu_enable_fast_min_max=false")  # else XLA's CPU client loses NaNs there
    warnings.simplefilter("ignore", RuntimeWarning)  # NumPy's about means of nothing
    xl.load(pathlib.Path(args.library).resolve())
    first = xl.open_device(args.plugin)
    runner = Comparer(first, xl.open_device(args.device_compare)) if args.device_compare else Runner()
    run_all(runner, args)
    if args.eager:
        print("In eager mode:")
        xl.set_eager(True)
        run_all(runner, args)
        xl.set_eager(False)
    gc.collect()
    library = xl.library
    xl.shutdown()
    runner.attempt("shutdown", lambda: nothing_left(library))
    print("%d calls, %d failed" % (runner.calls, runner.failures))
    sys.exit(1 if runner.failures or (runner.calls == 0 and not args.device_compare) else 0)


def nothing_left(library):
    xl.library = library
    count = xl.nodes_alive()
    xl.library = None
    return "%d nodes are alive" % count if count else None


if __name__ == "__main__":
    main()
