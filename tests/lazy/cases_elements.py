"""Operations element by element: numbers, comparisons, logic, choices, and their forms in place."""
import math

import numpy as np

import xl
from cases import (ALL, BOTH, FLOATS, INTEGERS, NUMBERS, SIGNED, Case, Wrong, any_values, fails, floating, nonzero, positive, same,
                   unit, wider)

PAIRS = NUMBERS + (("u8", "i64"), ("bool", "i32"), ("i32", "bf16"), ("bf16", "f32"), ("i64", "f32"), ("bool", "u8"))
erf = np.vectorize(math.erf, otypes=[float])


# ---------------------------------------------------------------- what torch does, in NumPy

def sign(x):
    return np.where(np.isnan(x), 0, np.sign(x)) if x.dtype == float else x if x.dtype == bool else np.sign(x)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def rounding(function):
    """A whole number is what it is."""
    return lambda x: function(x) if x.dtype == float else x


def by_zero(x, y, otherwise, at_zero):
    """Of whole numbers: HLO says what comes out where y is 0."""
    safe = np.where(y == 0, np.array(1, y.dtype), y)
    return np.where(y == 0, at_zero, otherwise(x, safe))


def floor_div(x, y):
    if x.dtype == float:
        rest = np.fmod(x, y)
        quotient = (x - rest) / y
        quotient = np.where((rest != 0) & ((rest < 0) != (y < 0)), quotient - 1, quotient)
        return np.where(y == 0, x / y, np.round(quotient))
    ones = np.array(-1, x.dtype) if x.dtype.kind == "i" else np.array(np.iinfo(x.dtype).max, x.dtype)
    return by_zero(x, y, np.floor_divide, np.where(x < 0, ones - 1, ones))


def remainder(x, y):
    if x.dtype == float:
        rest = np.fmod(x, y)
        return np.where((rest != 0) & ((rest < 0) != (y < 0)), rest + y, rest)
    return by_zero(x, y, np.remainder, x)


def power(x, y):
    if x.dtype.kind == "f":
        return np.power(x, y)
    result = np.power(x, np.maximum(y, 0))  # to a negative power there is 0 left, but of 1 and -1
    odd = np.where(y % 2 == 0, 1, -1)
    return np.where(y < 0, np.where(x == 1, 1, np.where(x == -1, odd, 0)), result).astype(x.dtype)


def clamp(x, low, high):
    """An infinite bound is none, and max counts more than min."""
    low, high = (None if np.isinf(b) else b if x.dtype == float else x.dtype.type(b) if b == int(b) else b for b in (low, high))
    x = x if low is None else np.maximum(x, low)
    return x if high is None else np.minimum(x, high)


def truth(x):
    return x != 0


def whole_pairs(random, shape, kind):
    """Small numbers, since powers of them have to fit."""
    return random.integers(0, 4, shape) if kind in INTEGERS else random.random(shape) * 3 + 0.2


def unary(name, reference, ulps, types=ALL, result=floating, **more):
    return Case(name, reference, types=types, result=result, is_elementwise=True, ulps=ulps, **more)


# The allowed differences are those of the functions of XLA and of the embedded device, as tests/interop measures them.
UNARY = [
    unary("neg", np.negative, 0, SIGNED + ("u8",), None, grad=[0]),
    unary("abs", np.abs, 0, NUMBERS, None, grad=[0]),
    unary("sign", sign, 0, ALL, None, grad=[0]),
    unary("square", lambda x: x * x if x.dtype != bool else x.astype(int), 0, ALL, lambda t: "i64" if t[0] == "bool" else t[0],
          grad=[0]),
    unary("reciprocal", lambda x: 1 / x.astype(float), 1, grad=[0], grad_values=nonzero, grad_tolerance=1e-4),
    unary("exp", lambda x: np.exp(x.astype(float)), 4, grad=[0]),
    unary("expm1", lambda x: np.expm1(x.astype(float)), 8, grad=[0]),
    unary("log", lambda x: np.log(x.astype(float)), 4, values=positive, grad=[0]),
    unary("log1p", lambda x: np.log1p(x.astype(float)), 6, values=positive, grad=[0]),
    unary("sqrt", lambda x: np.sqrt(x.astype(float)), 2, values=positive, grad=[0]),
    unary("rsqrt", lambda x: 1 / np.sqrt(x.astype(float)), 3, values=positive, grad=[0], grad_tolerance=1e-4),
    unary("sin", lambda x: np.sin(x.astype(float)), 4, specials=(np.nan, np.inf, 0.0, -0.0, 1.5, -100.0, 1e-6, 3000.0),
          types=("f32", "bf16"), grad=[0]),
    unary("cos", lambda x: np.cos(x.astype(float)), 4, specials=(np.nan, np.inf, 0.0, -0.0, 1.5, -100.0, 1e-6, 3000.0),
          types=("f32", "bf16"), grad=[0]),
    unary("tanh", lambda x: np.tanh(x.astype(float)), 8, grad=[0]),
    unary("erf", lambda x: erf(x.astype(float)), 12, grad=[0]),
    unary("floor", rounding(np.floor), 0, NUMBERS, None, grad=[0]),
    unary("ceil", rounding(np.ceil), 0, NUMBERS, None, grad=[0]),
    unary("round", rounding(np.round), 0, NUMBERS, None, grad=[0]),
    unary("relu", lambda x: np.maximum(x, 0), 0, NUMBERS, None, grad=[0]),
    unary("sigmoid", lambda x: sigmoid(x.astype(float)), 6, grad=[0]),
    unary("silu", lambda x: x * sigmoid(x.astype(float)), 8, FLOATS, grad=[0]),
    # near -5 the distribution is what is left of 1 - 1, as torch has it
    unary("gelu", lambda x: x * 0.5 * (1 + erf(x.astype(float) / math.sqrt(2))), 12, FLOATS, scale=2, grad=[0],
          specials=(np.nan, 0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 30.0, 1e-6, np.inf)),
    unary("isnan", np.isnan, 0, ALL, "bool"),
    unary("isfinite", np.isfinite, 0, ALL, "bool"),
    unary("logical_not", np.logical_not, 0, ALL, "bool"),
]


def binary(name, reference, ulps=0, types=PAIRS, result=None, **more):
    return Case(name, reference, BOTH, types, result=result, is_elementwise=True, ulps=ulps, **more)


NO_ZERO = {"values": (any_values, nonzero)}
BINARY = [
    binary("add", np.add, types=PAIRS + ("bool",), grad=[0, 1]),
    binary("sub", np.subtract, types=[p for p in PAIRS if "bool" not in p], grad=[0, 1]),
    binary("mul", np.multiply, types=PAIRS + ("bool",), grad=[0, 1]),
    Case("div of bools", np.divide, BOTH, ["bool"], result="f32", values=(any_values, nonzero)),  # XLA makes 0 of 0 / 0 there
    binary("div", lambda x, y: x.astype(float) / y, 1, PAIRS, floating, grad=[0, 1], grad_values=(any_values, nonzero),
           grad_tolerance=1e-4),
    # with steps, so no derivative; ulps: 3e38 by 1e-6 and the like is rounded before the floor is taken
    binary("floor_div", floor_div, 1, specials=(np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 7.0), types=(
        "f32", "bf16", ("i32", "f32"))),
    binary("floor_div of whole numbers", floor_div, types=("u8", "i32", "i64", ("bool", "i32")), call=lambda x, y: xl.floor_div(x, y)),
    binary("remainder", remainder, types=PAIRS, grad=[0, 1], values=NO_ZERO["values"], grad_values=(any_values, nonzero),
           specials=None),
    binary("pow", power, 8, ("f32", "bf16", ("bf16", "f32"), ("f32", "i32")), values=whole_pairs, grad=[0, 1]),
    Case("pow of whole numbers", power, BOTH, INTEGERS, values=whole_pairs, call=lambda x, y: xl.pow(x, y)),
    Case("pow of negative whole numbers", power, [((8,), (8,))], ("i32", "i64"), call=lambda x, y: xl.pow(x, y), kinds=(),
         values=(lambda *_: [-1, -1, -2, 1, 2, -3, 0, 5], lambda *_: [3, -2, 3, -5, -1, 2, 4, 0])),
    binary("maximum", np.maximum, types=PAIRS + ("bool",), grad=[0, 1]),
    binary("minimum", np.minimum, types=PAIRS + ("bool",), grad=[0, 1]),
    binary("logical_and", lambda x, y: truth(x) & truth(y), types=PAIRS + ("bool",), result="bool"),
    binary("logical_or", lambda x, y: truth(x) | truth(y), types=PAIRS + ("bool",), result="bool"),
    binary("logical_xor", lambda x, y: truth(x) ^ truth(y), types=PAIRS + ("bool",), result="bool"),
    Case("add_scaled", lambda x, y, scale: x + scale * y, BOTH, ("f32", "bf16", ("i32", "f32")), args=(0.5,), ulps=1, scale=1, grad=[0, 1]),
    Case("add_scaled by a whole number", lambda x, y: x - 3 * y, BOTH, SIGNED, ulps=1, scale=1,
         call=lambda x, y: xl.add_scaled(x, y, -3)),
]
COMPARISONS = [binary(name, function, types=PAIRS + ("bool",), result="bool") for name, function in (
    ("eq", np.equal), ("ne", np.not_equal), ("lt", np.less), ("le", np.less_equal), ("gt", np.greater), ("ge", np.greater_equal))]


# ---------------------------------------------------------------- with a number

def with_number(name, number, reference, types, result=None, **more):
    return Case("%s_scalar %g" % (name, number), reference, types=types, args=(number,), result=result,
                is_elementwise=True, **more)


def or_i64(types):
    """A whole number beside a bool is an i64."""
    return "i64" if types[0] == "bool" else types[0]


def in_numbers(x):
    return x.astype(np.int64) if x.dtype == bool else x


NUMBERED = [
    with_number("add", 2, lambda x, y: in_numbers(x) + x.dtype.type(y) if x.dtype != bool else x + 2, ALL, or_i64, grad=[0]),
    with_number("add", 0.5, lambda x, y: x + y, ALL, floating, ulps=1, grad=[0]),
    with_number("sub", 3, lambda x, y: x - x.dtype.type(y), NUMBERS, grad=[0]),
    with_number("mul", 3, lambda x, y: in_numbers(x) * (y if x.dtype == bool else x.dtype.type(y)), ALL, or_i64, grad=[0]),
    with_number("mul", -1.5, lambda x, y: x * y, ALL, floating, ulps=1, grad=[0]),
    with_number("div", 4, lambda x, y: x / y, ALL, floating, ulps=1, grad=[0]),
    with_number("div", 0, lambda x, y: x / np.float64(y), NUMBERS, floating),
    with_number("pow", 2, lambda x, y: in_numbers(x) * in_numbers(x), ALL, or_i64, grad=[0]),
    with_number("pow", 3, lambda x, y: in_numbers(x) ** x.dtype.type(3) if x.dtype != bool else in_numbers(x), ALL, or_i64, ulps=8,
                grad=[0]),
    with_number("pow", 0, lambda x, y: np.ones_like(in_numbers(x)), ALL, or_i64, grad=[0]),
    with_number("pow", 0.5, lambda x, y: np.sqrt(x.astype(float)), ALL, floating, ulps=2, values=positive, grad=[0]),
    with_number("pow", -0.5, lambda x, y: 1 / np.sqrt(x.astype(float)), ALL, floating, ulps=3, values=positive, grad=[0],
                grad_tolerance=1e-4),
    with_number("pow", -1.5, lambda x, y: x.astype(float) ** y, NUMBERS, floating, ulps=8, values=positive, grad=[0],
                grad_tolerance=1e-4),
    with_number("eq", 2, lambda x, y: x == y, ALL, "bool"),
    with_number("eq", 300, lambda x, y: x == y, ALL, "bool"),
    with_number("lt", 1, lambda x, y: x < y, ALL, "bool"),
    with_number("lt", 0.5, lambda x, y: x < y, ALL, "bool"),
    with_number("lt", 2.0**40, lambda x, y: x < y, ALL, "bool"),
    with_number("gt", -1, lambda x, y: x > y, ALL, "bool"),
]


def clamped(low, high, types, result=None, **more):
    return Case("clamp from %g to %g" % (low, high), lambda x: clamp(in_numbers(x), low, high), types=types, result=result,
                is_elementwise=True, call=lambda x: xl.clamp(x, low, high), **more)


CHOICES = [
    clamped(-1, 2, SIGNED, grad=[0]),
    clamped(1, 5, ALL, or_i64),
    clamped(-0.5, 1.5, ("f32", "bf16", "i32", "u8"), floating, grad=[0]),
    clamped(-np.inf, 3, SIGNED, grad=[0]),
    clamped(0, np.inf, SIGNED, grad=[0]),
    clamped(4, 2, SIGNED),
    Case("where", np.where, [((3, 4), (3, 4), (3, 4)), ((3, 1), (4,), (2, 1, 1)), ((), (3,), ()), ((2, 3), (), ())],
         [("bool", t, t) for t in ALL] + [("bool", "i32", "f32"), ("bool", "bf16", "u8")], promote=(1, 2), is_elementwise=True,
         grad=[1, 2]),
]


# ---------------------------------------------------------------- in place

def in_place(name, reference, *more_shapes, types=SIGNED, args=(), ulps=0, **more):
    """x keeps its type."""
    return Case(name, reference, [((3, 4),) + more_shapes], types, in_place=True, args=args, result=lambda t: t[0], promote=None,
                ulps=ulps, **more)


IN_PLACE = [
    in_place("add_", np.add, (4,), types=NUMBERS + (("i32", "u8"), ("f32", "i64"), ("bf16", "f32"))),
    in_place("add_scaled_", lambda x, y, scale: x + scale * y, (3, 1), types=("f32",), args=(0.25,), ulps=1, scale=1),
    in_place("add_scalar_", lambda x, number: x + x.dtype.type(number), types=NUMBERS, args=(2,)),
    in_place("sub_", np.subtract, (3, 4), types=NUMBERS),
    in_place("mul_", np.multiply, (4,), types=NUMBERS),
    in_place("mul_scalar_", lambda x, number: x * x.dtype.type(number), types=NUMBERS, args=(3,)),
    in_place("div_", np.divide, (4,), types=("f32", "bf16"), values=(any_values, nonzero), ulps=1),
    in_place("addcmul_", lambda x, a, b, scale: x + scale * a * b, (4,), (3, 1), types=("f32", "i32"), args=(-2,), ulps=2, scale=2),
    in_place("addcdiv_", lambda x, a, b, scale: x + scale * a / b, (4,), (3, 1), types=("f32",), args=(0.5,), ulps=2, scale=2,
             values=(any_values, any_values, nonzero)),
    in_place("clamp_", np.clip, types=NUMBERS, args=(1, 3)),
    in_place("relu_", lambda x: np.maximum(x, 0), types=NUMBERS),
    in_place("fill_", np.full_like, types=NUMBERS, args=(7,)),
    in_place("zero_", np.zeros_like, types=ALL),
    in_place("copy_", lambda x, y: np.broadcast_to(y, x.shape), (4,), types=ALL + (("i32", "u8"), ("f32", "bool"))),
]


# ---------------------------------------------------------------- what is refused

def some(kind, *shape):
    return xl.zeros(kind, shape)


BAD_SHAPES = [Wrong("%s of shapes that do not fit" % name, lambda name=name: getattr(xl, name)(some("f32", 2, 3), some("i32", 4)),
                    "xl_%s:" % name, "f32[2,3]", "i32[4]") for name in (
    "add", "sub", "mul", "div", "floor_div", "remainder", "pow", "maximum", "minimum", "eq", "ne", "lt", "le", "gt", "ge",
    "logical_and", "logical_or", "logical_xor", "add_", "sub_", "mul_", "div_", "copy_")]
NO_BOOLS = [Wrong("%s of a bool" % name, lambda name=name: getattr(xl, name)(some("bool", 2)), "xl_%s:" % name, "bools")
            for name in ("neg", "abs", "floor", "ceil", "round", "relu")] + [
    Wrong("%s of bools" % name, lambda name=name: getattr(xl, name)(some("bool", 2), some("bool", 2)), "xl_%s:" % name, "bools")
    for name in ("sub", "floor_div", "remainder", "pow")]
WRONG = BAD_SHAPES + NO_BOOLS + [
    Wrong("where of shapes", lambda: xl.where(some("bool", 2), some("f32", 3), some("f32", 3)), "xl_where:", "bool[2]", "f32[3]"),
    Wrong("where of a condition of numbers", lambda: xl.where(some("i32", 2), some("f32", 2), some("f32", 2)), "xl_where:",
          "i32[2]", "bool"),
    Wrong("add_scaled of whole numbers by a fraction", lambda: xl.add_scaled(some("i32", 2), some("i32", 2), 0.5),
          "xl_add_scaled:", "0.5"),
    Wrong("pow of whole numbers by a negative one", lambda: xl.pow_scalar(some("i64", 2), -2), "xl_pow_scalar:", "-2"),
    Wrong("add_ of a larger one", lambda: xl.add_(some("f32", 3), some("f32", 2, 3)), "xl_add_:", "f32[3]", "f32[2,3]"),
    Wrong("add_ of an expanded one", lambda: xl.add_scalar_(xl.expand(some("f32", 1, 3), (2, 3)), 1), "xl_add_scalar_:", "expanded"),
    Wrong("exp of nothing", lambda: xl.exp(None), "xl_exp:", "XL_NONE"),
]

CASES = UNARY + BINARY + COMPARISONS + NUMBERED + CHOICES + IN_PLACE + WRONG


# ---------------------------------------------------------------- gradients where the derivative jumps, as torch has them

def gradient_of(call, *values):
    leaves = [xl.tensor(v, "f32").requires_grad() for v in values]
    xl.sum(call(*leaves)).backward()
    return [leaf.grad.numpy() for leaf in leaves]


def check_gradients_at_jumps():
    nan = np.nan
    same(gradient_of(xl.relu, [0.0, nan])[0], [0, 1])
    same(gradient_of(xl.abs, [0.0, -1.0, nan])[0], [0, -1, 0])
    same(gradient_of(lambda x: xl.clamp(x, 0, 1), [0.0, 1.0, nan, 2.0])[0], [1, 1, 0, 0])
    same(gradient_of(xl.maximum, [1.0, nan, 2.0], [1.0, 1.0, 3.0]), [[0.5, 1, 0], [0.5, 1, 1]])
    same(gradient_of(xl.minimum, [1.0, nan, 2.0], [1.0, 1.0, 3.0]), [[0.5, 1, 1], [0.5, 1, 0]])
    same(gradient_of(xl.pow, [0.0, 0.0, -1.0, 2.0], [0.0, 2.0, 2.0, 0.0])[0], [0, 0, -2, 0])
    right = gradient_of(xl.pow, [0.0, 0.0, -1.0, 2.0], [0.0, 2.0, 2.0, 0.0])[1]
    np.testing.assert_allclose(right, [0, 0, nan, math.log(2)], rtol=1e-6)
    same(gradient_of(lambda x: xl.pow_scalar(x, 0), [0.0, nan])[0], [0, 0])
    same(gradient_of(lambda x: xl.where(xl.tensor([True, False]), xl.log(x), x), [0.0, 1.0])[0], [np.inf, 1])


def updated(update, *values):
    """The gradients of the sum of the squares of y, which is twice the first value before it is updated."""
    leaves = [xl.tensor(v, "f32").requires_grad() for v in values]
    y = xl.mul_scalar(leaves[0], 2)
    update(y, *leaves[1:])
    xl.sum(xl.square(y)).backward()
    return [leaf.grad.numpy() for leaf in leaves]


def check_gradients_of_updates_in_place():
    same(updated(lambda y: xl.clamp_(y, -1, 5), [1.0, -2.0, 3.0]), [[8, 0, 0]])  # y is 2, -1, 5: the first one is inside
    same(updated(xl.relu_, [1.0, -2.0]), [[8, 0]])
    same(updated(xl.mul_, [1.0, 3.0], [2.0, -1.0]), [[32, 24], [16, -72]])  # 2 (2 x b) 2 b, and 2 (2 x b) 2 x
    same(updated(xl.div_, [1.0], [2.0]), [[2], [-1]])  # (2 x / b)^2: 8 x / b^2, -8 x^2 / b^3
    same(updated(lambda y: xl.mul_(y, y), [1.0, -2.0]), [[64, -512]])  # (2 x)^4
    same(updated(lambda y, a: xl.addcmul_(y, a, y, 1), [1.0], [2.0]), [[72], [24]])  # (2 x + 2 a x)^2


def check_step_functions_end_gradients():
    x = xl.tensor([5.0], "f32").requires_grad()
    fails(lambda: xl.sum(xl.floor_div(x, xl.tensor([2.0], "f32"))).backward(), "depends on nothing")


def check_whole_numbers_keep_all_bits():
    big = 2**53 + 1
    same(xl.add_scalar(xl.tensor([big], "i64"), 1), [big + 1])
    same(xl.maximum(xl.tensor([big], "i64"), xl.tensor([big - 1], "i64")), [big])
    same(xl.lt(xl.tensor([big - 1], "i64"), xl.tensor([big], "i64")), [True])
    same(xl.clamp(xl.tensor([big, -2**63], "i64"), -math.inf, math.inf), [big, -2**63])


def check_numbers_lose_their_upper_bits():
    same(xl.add_scalar(xl.tensor([1], "u8"), -1), [0])
    same(xl.add_scalar(xl.tensor([1], "u8"), 300), [45])
    same(xl.add_scalar(xl.tensor([1], "i32"), 2.0**31), [-2**31 + 1])
    same(xl.eq_scalar(xl.tensor([44, 255], "u8"), 300), [False, False])
    assert xl.add_scalar(xl.tensor([1], "i64"), 1e300).type == "f32"
