#!/usr/bin/env python3
"""Checks the embedded device's evaluator against XLA's CPU client: every operation in every type it has.

    checks_eval.py EVAL_RUN [PART ..]      a PART is a piece of a case's name

Needs a Python with jax (interop/run makes one).  Prints every case that differs, and the number of cases.
"""
import sys
import warnings

import eval_hlo
import eval_cases_compute
import eval_cases_element
import eval_cases_program
import eval_cases_shape

FAMILIES = (eval_cases_element, eval_cases_shape, eval_cases_compute, eval_cases_program)


def main():
    warnings.simplefilter("ignore")
    program, parts = sys.argv[1], sys.argv[2:]
    cases = [c for family in FAMILIES for c in family.cases() if not parts or any(p in c.name for p in parts)]
    wrong = 0
    for case, result in zip(cases, eval_hlo.by_device(program, cases)):
        try:
            verdict = eval_hlo.verdict(case, result)
        except Exception as e:  # XLA does not take the case: that is a fault of the case
            verdict = "XLA: %s" % str(e).splitlines()[0]
        if verdict:
            wrong += 1
            print("%s: %s" % (case.name, verdict))
    print("%d cases, %d wrong" % (len(cases), wrong))
    sys.exit(1 if wrong or not cases else 0)


if __name__ == "__main__":
    main()
