"""What a file cases_<family>.py is made of: its list CASES of the classes below, and functions check_*.

A Case is one operation and what NumPy says of it.  run.py multiplies it by types, shapes and kinds of inputs (kinds.py)
and holds gradients against finite differences (gradients.py).  The reference takes and gives arrays: float64 for f32 and
bf16, so that differences of it are exact enough, else the type's own dtype.  A Wrong is a call that must fail, and words
that its message has.  A check_* is a function without arguments that asserts what no table says; it uses xl itself.
"""
import numpy as np

import xl
from xl import FLOATS, INTEGERS

SIGNED = ("f32", "bf16", "i32", "i64")
NUMBERS = FLOATS + INTEGERS
ALL = NUMBERS + ("bool",)
VIEWS = ("transposed", "sliced", "expanded", "flipped")
BOTH = [((3, 4), (3, 4)), ((3, 4), (4,)), ((2, 1, 3), (4, 1)), ((), (3,)), ((0, 3), (1, 3))]  # two that are broadcast


# ---------------------------------------------------------------- values: (random, shape, type) -> array

def any_values(random, shape, kind):
    """Numbers of both signs around 1 where the type has them."""
    if kind == "bool":
        return random.integers(0, 2, shape).astype(bool)
    if kind in INTEGERS:
        return random.integers(0 if kind == "u8" else -9, 10, shape)
    return random.standard_normal(shape) * 2


def positive(random, shape, kind):
    return np.abs(any_values(random, shape, kind)) + 1 if kind in INTEGERS else random.random(shape) * 4 + 0.1


def nonzero(random, shape, kind):
    array = any_values(random, shape, kind)
    return np.where(np.abs(array) < 0.3, 1, array)


def normal(random, shape, kind):
    return random.standard_normal(shape)


def unit(random, shape, kind):
    """In (-1, 1)."""
    return random.random(shape) * 1.8 - 0.9


def apart(random, shape, kind):
    """No two alike, none near 0, both signs: nothing that has a kink is near it."""
    count = int(np.prod(shape, dtype=int))
    steps = random.permutation(count) - count // 2
    return ((steps + (steps >= 0)) * 0.25 + 0.1 * np.sign(steps + 0.5)).reshape(shape)


def below(limit):
    """Indices: whole numbers from 0 on."""
    return lambda random, shape, kind: random.integers(0, limit, shape)


# ---------------------------------------------------------------- cases

class Case:
    def __init__(self, name, reference, shapes=(((3, 4),),), types=FLOATS, *, call=None, args=(), result=None, promote=True,
                 values=any_values, kinds=None, is_elementwise=False, specials=None, in_place=False, ulps=0, scale=0,
                 bf16_ulps=1, grad=(), grad_values=None, grad_tolerance=2e-5):
        """shapes: a tuple of shapes for each call, one for each tensor; the views and gradients take the first.
        types: a type for all inputs, or a tuple with one for each.  call: what is called with the tensors, instead of
        xl.<name>(tensors.., *args), <name> being the first word of name; args are given to the reference,
        too.  result: a type, or a function of the types
        of the inputs (the wider one).  promote: the reference gets all inputs in their wider type; or the positions of
        those that do.  values: a function, or one for each input.  kinds: those of kinds.py.  is_elementwise: also with
        empty tensors, single values, and every special value beside every other.  specials: replace those.
        ulps: how far a result in f32 may be away from the reference; scale: the same, but of the largest result, for
        sums; bf16_ulps: a result in bf16.  grad: the inputs whose gradient is checked."""
        self.name, self.reference, self.args, self.result = name, reference, args, result
        self.call = call or (lambda *tensors: getattr(xl, name.split()[0])(*tensors, *args))
        self.shapes, self.promote = [tuple(s) for s in shapes], promote
        self.types = [t if isinstance(t, tuple) else (t,) * len(self.shapes[0]) for t in types]
        self.values = values if isinstance(values, tuple) else (values,) * len(self.shapes[0])
        self.kinds = VIEWS + (("special",) if is_elementwise else ()) if kinds is None else tuple(kinds)
        self.is_elementwise, self.specials, self.in_place = is_elementwise, specials, in_place
        self.ulps, self.scale, self.bf16_ulps = ulps, scale, bf16_ulps
        self.grad, self.grad_tolerance = tuple(grad), grad_tolerance
        chosen = grad_values or tuple(apart if v is any_values else v for v in self.values)
        self.grad_values = chosen if isinstance(chosen, tuple) else (chosen,) * len(self.shapes[0])

    def promoted(self):
        """The positions of the inputs that are brought to one type."""
        return range(len(self.shapes[0])) if self.promote is True else self.promote or ()

    def result_type(self, types):
        if isinstance(self.result, str):
            return self.result
        if self.result is not None:
            return self.result(types)
        return wider([types[i] for i in self.promoted()] or types)

    def expected(self, arrays, types):
        """The results as the reference has them, unrounded."""
        together = [types[i] for i in self.promoted()]
        arrays = list(arrays)
        for i in self.promoted():
            arrays[i] = xl.rounded(arrays[i], wider(together)) if len(set(together)) > 1 else arrays[i]
        arrays = [a.astype(np.float64) if a.dtype == np.float32 else a for a in arrays]
        with np.errstate(all="ignore"):
            return as_list(self.reference(*arrays, *self.args))


class Wrong:
    def __init__(self, name, call, *words):
        self.name, self.call, self.words = name, call, words


def wider(types):
    return max(types, key=xl.WIDTH.index)


def floating(types):
    """What needs fractions makes f32 of integers."""
    kind = wider(types)
    return kind if kind in FLOATS else "f32"


def summed(types):
    return types[0] if types[0] in FLOATS else "i64"


def as_list(results):
    return [np.asarray(r) for r in results] if isinstance(results, (tuple, list)) else [np.asarray(results)]


# ---------------------------------------------------------------- for check_* functions

def same(got, want, what="value"):
    """Asserts that a tensor, or anything else, is equal to what NumPy says, NaN included."""
    got = got.numpy() if isinstance(got, xl.Tensor) else got
    np.testing.assert_array_equal(got, want, err_msg=what)


def close(got, want, tolerance=1e-5, what="value"):
    got = got.numpy() if isinstance(got, xl.Tensor) else got
    np.testing.assert_allclose(got, want, rtol=tolerance, atol=tolerance, err_msg=what)


def fails(call, *words):
    """Asserts that a call is refused, with some words."""
    try:
        call()
    except xl.Error as error:
        missing = [w for w in words if w not in str(error)]
        assert not missing, "the message %r has no %r" % (str(error), missing)
        return
    raise AssertionError("it was not refused")
