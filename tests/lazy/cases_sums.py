"""Sums and their kin: over all elements, over some dimensions, along one."""
import numpy as np

import xl
from cases import ALL, FLOATS, NUMBERS, Case, Wrong, close, floating, same, summed

SOME = ("special", "transposed", "sliced", "expanded", "flipped")
WIDE = [((3, 4, 5),), ((2, 300),), ((1,),), ((0, 3),), ((2, 0, 3),)]


def up(x):
    """What whole numbers are summed in."""
    return x if x.dtype == float else x.astype(np.int64)


def over(name, function, dims, keep, shapes, types, result, **more):
    """An operation over dimensions that are listed; none are all."""
    axis = tuple(dims) if dims else None
    return Case("%s over %s%s" % (name, list(dims), ", kept" if keep else ""), lambda x: function(x, axis, keep), shapes, types,
                result=result, kinds=SOME, call=lambda x: getattr(xl, name)(x, dims, keep), **more)


def along(name, function, dim, keep, shapes, types, result=None, **more):
    """One along a dimension."""
    return Case("%s along %d%s" % (name, dim, ", kept" if keep else ""), lambda x: function(x, dim, keep), shapes, types,
                result=result, kinds=SOME, call=lambda x: getattr(xl, name)(x, dim, keep), **more)


def every(name, reference, types=ALL, result=None, **more):
    """Over all elements."""
    return Case(name, reference, WIDE + [((),)], types, result=result, kinds=SOME, **more)


def sum_of(x, axis, keep):
    return np.sum(up(x), axis=axis, keepdims=keep)


def mean_of(x, axis, keep):
    return np.mean(x.astype(float), axis=axis, keepdims=keep)


def var_of(correction):
    def var(x, axis, keep):
        mean = np.mean(x, axis=axis, keepdims=True)
        count = x.size / max(mean.size, 1) if x.size else 0
        return np.sum((x - mean) ** 2, axis=axis, keepdims=keep) / np.float64(max(0, count - correction))
    return var


def var_over(dims, keep, correction, shapes, **more):
    function, axis = var_of(correction), tuple(dims) if dims else None
    return Case("var_dims over %s, %d less%s" % (list(dims), correction, ", kept" if keep else ""),
                lambda x: function(x, axis, keep), shapes, FLOATS, kinds=SOME, scale=8,
                call=lambda x: xl.var_dims(x, dims, keep, correction), **more)


def extreme(function):
    return lambda x, dim, keep: function(x, axis=dim if x.ndim else None, keepdims=keep)


def position(function):
    """NumPy takes the first of equals and of NaNs, too."""
    def find(x, dim, keep):
        return function(x, axis=dim, keepdims=keep) if x.ndim else np.array(0)
    return find


def cumsum_of(dim):
    return lambda x: np.cumsum(up(x), axis=dim) if x.ndim else up(x)


def some_alike(random, shape, kind):
    """Few different ones, so that the largest comes more than once."""
    return random.integers(0, 2 if kind == "bool" else 3, shape)


# scale: a sum of numbers of both signs may be much smaller than they are, and its error goes by theirs.
CUBE = [((3, 4, 5),), ((2, 7, 3),), ((2, 0, 3),)]
SUMS = [
    every("sum", lambda x: np.sum(up(x)), result=summed, scale=256, grad=[0]),
    every("mean", np.mean, FLOATS, scale=256, grad=[0]),
    over("sum_dims", sum_of, [1], False, CUBE, ALL, summed, scale=64, grad=[0]),
    over("sum_dims", sum_of, [0, -1], True, CUBE, ALL, summed, scale=64, grad=[0]),
    over("sum_dims", sum_of, [], False, CUBE, ("f32", "i32"), summed, scale=256, grad=[0]),
    over("sum_dims", sum_of, [0], False, [((3000, 2),)], FLOATS, summed, scale=256),
    over("mean_dims", mean_of, [-2], False, CUBE, FLOATS, None, scale=64, grad=[0]),
    over("mean_dims", mean_of, [2, 0], True, CUBE, FLOATS, None, scale=64, grad=[0]),
    var_over([1], False, 1, CUBE, grad=[0]),
    var_over([0, 2], True, 0, CUBE, grad=[0]),
    var_over([], False, 1, [((4, 5),), ((1,),), ((0,),)], grad=[]),
    var_over([0], False, 5, [((3, 4),)], grad=[]),  # fewer elements than that: inf, as torch says
]
ORDER = [case for name, function, find in (("max", np.max, np.argmax), ("min", np.min, np.argmin)) for case in (
    along("a" + name, extreme(function), 1, False, CUBE[:2], ALL, grad=[0]),
    along("a" + name, extreme(function), -1, True, [((4, 3),), ((5, 0, 2),)], NUMBERS, grad=[0]),
    along("a" + name, extreme(function), 0, False, [((),), ((300,),)], ALL),
    along("arg" + name, position(find), 1, False, CUBE[:2], NUMBERS, "i64"),
    along("arg" + name, position(find), -1, True, [((4, 3),), ((5, 0, 2),)], NUMBERS, "i64", values=some_alike),
    along("arg" + name, position(find), 0, False, [((),), ((300,),)], NUMBERS, "i64", values=some_alike),
)]
TRUTH = [
    every("any", np.any, result="bool"),
    every("all", np.all, result="bool"),
    every("any of nothing but 0", np.any, result="bool", values=lambda random, shape, kind: np.zeros(shape)),
    every("all of 1", np.all, result="bool", values=lambda random, shape, kind: np.ones(shape)),
]
RUNNING = [
    Case("cumsum along %d" % dim, cumsum_of(dim), shapes, ALL, result=summed, kinds=SOME, scale=64,
         call=lambda x, dim=dim: xl.cumsum(x, dim), grad=[0])
    for dim, shapes in ((0, [((5, 3),), ((200,),), ((0, 3),), ((),), ((1, 2),)]), (-1, [((2, 3, 4),), ((3, 0),)]), (1, [((2, 9, 2),)]))
]
WRONG = [
    Wrong("%s of a dimension that is not there" % name, call, "xl_%s:" % name, "dimension 2", "f32[3,4]") for name, call in (
        ("sum_dims", lambda: xl.sum_dims(xl.zeros("f32", (3, 4)), [2], False)),
        ("mean_dims", lambda: xl.mean_dims(xl.zeros("f32", (3, 4)), [2], False)),
        ("var_dims", lambda: xl.var_dims(xl.zeros("f32", (3, 4)), [2], False, 1)),
        ("amax", lambda: xl.amax(xl.zeros("f32", (3, 4)), 2, False)),
        ("argmin", lambda: xl.argmin(xl.zeros("f32", (3, 4)), 2, False)),
        ("cumsum", lambda: xl.cumsum(xl.zeros("f32", (3, 4)), 2)))
] + [
    Wrong("sum_dims of one twice", lambda: xl.sum_dims(xl.zeros("f32", (3, 4)), [1, -1], False), "xl_sum_dims:", "twice"),
    Wrong("var_dims of whole numbers", lambda: xl.var_dims(xl.zeros("i32", (3,)), [0], False, 1), "xl_var_dims:", "i32[3]", "f32"),
    Wrong("amax of nothing", lambda: xl.amax(xl.zeros("f32", (0, 3)), 0, False), "xl_amax:", "f32[0,3]", "no elements"),
    Wrong("argmax of nothing", lambda: xl.argmax(xl.zeros("f32", (0, 3)), 0, False), "xl_argmax:", "f32[0,3]", "no elements"),
    Wrong("sum_dims along 1 of a single value", lambda: xl.sum_dims(xl.scalar("f32", 1), [1], False), "xl_sum_dims:", "f32[]"),
]

CASES = SUMS + ORDER + TRUTH + RUNNING + WRONG


def check_equal_extremes_share_the_gradient():
    x = xl.tensor([[1.0, 3.0, 3.0], [2.0, 2.0, 2.0]], "f32").requires_grad()
    xl.amax(x, 1, False).backward(xl.tensor([4.0, 3.0], "f32"))
    same(x.grad, [[0, 2, 2], [1, 1, 1]])
    x = xl.tensor([1.0, np.nan, np.nan], "f32").requires_grad()
    xl.amax(x, 0, False).backward()
    same(x.grad, [np.nan] * 3)


def check_sums_of_bf16_are_formed_in_f32():
    """In bf16 a sum of ones stays at 256."""
    ones = xl.tensor(np.ones(4096), "bf16")
    same(xl.sum(ones), 4096)
    same(xl.cumsum(ones, 0).numpy()[-1], 4096)
    same(xl.mean(xl.tensor(np.full(4096, 3.0), "bf16")), 3)


def check_variance_far_from_zero_keeps_its_digits():
    x = np.float32(4000) + np.arange(8, dtype=np.float32) / 8
    close(xl.var_dims(xl.tensor(x, "f32"), [0], False, 1), np.var(x.astype(float), ddof=1), 1e-5)


def check_single_values_have_two_dimensions_to_name():
    for dim in (0, -1):
        same(xl.sum_dims(xl.scalar("f32", 3), [dim], True), 3)
        same(xl.amax(xl.scalar("i32", 3), dim, True), 3)
        same(xl.cumsum(xl.scalar("u8", 3), dim), 3)
