"""Operations of lazy tensors: XLA's CPU client, of two ages, gives what the embedded device does."""
import re

from checks_pjrt import NEW, OLD
from harness import TREE, must, output_of


CASES = TREE / "tests" / "lazy"


def agree(programs, library):
    """Every case of tests/lazy on both devices.  A case says how far its results may be away from the exact ones; since
    both devices may be that far away, on different sides, they may be twice as far from each other.  It is 0 where IEEE
    754 says the result, and a few units in the last place where each has its own polynomials (exp, tanh, erf) or its own
    order of sums."""
    calls = 0
    for path in sorted(CASES.glob("cases_*.py")):
        family = path.stem[len("cases_"):]
        text = output_of(programs.python, CASES / "run.py", "--library", programs.built("libxlalazy.so"),
                         "--device-compare", library, family)
        calls += int(re.search(r"(\d+) calls, 0 failed", text)[1])
    must("there are many calls, not %d" % calls, calls > 3000)


def check_lazy_operations_agree_with_xla(programs):
    agree(programs, programs.plugin(*NEW))


def check_lazy_operations_agree_with_an_older_xla(programs):
    agree(programs, programs.plugin(*OLD))


def random_numbers(programs, library):
    """Tests of random numbers compute the generator's words in Python, and what is made of them."""
    text = output_of(programs.python, TREE / "tests" / "lazy" / "run.py", "--library", programs.built("libxlalazy.so"),
                     "--plugin", library, "--filter", "rand|seed|dropout|draw|nonzero")
    count = re.search(r"(\d+) calls, 0 failed", text)
    must("the tests are there: %s" % text[-200:], count and int(count[1]) >= 20)


def check_random_numbers_of_a_seed_are_the_same_on_xla(programs):
    random_numbers(programs, programs.plugin(*NEW))
    random_numbers(programs, programs.plugin(*OLD))
