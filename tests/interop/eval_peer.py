#!/usr/bin/env python3
"""Holds the embedded device's evaluator against XLA's CPU client: every operation in every type it has,
with the kernels of each instruction set.

    eval_peer.py EVAL_RUN FAMILY [PART ..]      element, shape, compute or program; a PART is a piece of a case's name

Needs a Python with jax.  Prints every case that differs, and the number of cases.
"""
import importlib
import sys
import warnings

import eval_hlo


def main():
    warnings.simplefilter("ignore")
    program, family, parts = sys.argv[1], sys.argv[2], sys.argv[3:]
    cases = [c for c in importlib.import_module("eval_cases_" + family).cases() if not parts or any(p in c.name for p in parts)]
    wrong = 0
    sets = [eval_hlo.by_device(program, cases, isa) for isa in ((), ("avx2",), ("base",))]
    for case, *results in zip(cases, *sets):
        try:
            verdict = next(filter(None, (eval_hlo.verdict(case, result) for result in results)), None)
        except Exception as e:  # pylint: disable=broad-except; XLA does not take the case: that is a fault of the case
            verdict = "XLA: %s" % str(e).splitlines()[0]
        if verdict:
            wrong += 1
            print("%s: %s" % (case.name, verdict))
    print("%d cases, %d wrong" % (len(cases), wrong))
    sys.exit(1 if wrong or not cases else 0)


if __name__ == "__main__":
    main()
