"""XLA's CPU client: the embedded device's evaluator gives its results, for every operation in every type."""
import re

from harness import HERE, must, output_of


def agree(programs, family, least):
    text = output_of(programs.python, HERE / "eval_peer.py", programs.built("eval_run"), family)
    count = re.search(r"(\d+) cases, 0 wrong", text)
    must("the cases of %s are there: %s" % (family, text[-200:]), count and int(count[1]) >= least)


def check_evaluator_computes_elements_as_xla_does(programs):
    agree(programs, "element", 1400)


def check_evaluator_moves_elements_as_xla_does(programs):
    agree(programs, "shape", 450)


def check_evaluator_reduces_and_multiplies_as_xla_does(programs):
    agree(programs, "compute", 1100)


def check_evaluator_runs_programs_as_xla_does(programs):
    agree(programs, "program", 200)
