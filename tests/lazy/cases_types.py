"""Which types operations take: every operation with every combination of types is accepted, or refused with its name and
all shapes, as torch 2.9 on a CPU does it.  TAKES has what torch said; what differs on purpose stands in docs/lazy.md.
"""
import itertools

import numpy as np

import xl
from cases import ALL, FLOATS, INTEGERS, NUMBERS, wider

CATEGORY = {"bool": 0, "u8": 1, "i32": 1, "i64": 1, "bf16": 2, "f32": 2}
MATRIX = (2, 2)


# ---------------------------------------------------------------- rules: (types) -> whether they are taken

def any_types(*types):
    return True


def numbers(*types):
    return "bool" not in types


def not_all_bools(*types):
    return set(types) != {"bool"}


def fractions(*types):
    return set(types) <= set(FLOATS)


def a_fraction(*types):
    return bool(set(types) & set(FLOATS))


def same_numbers(*types):
    return len(set(types)) == 1 and types[0] in NUMBERS


def same_fractions(*types):
    return len(set(types)) == 1 and types[0] in FLOATS


def kept(*types):
    """A result of the widest type can be cast to the first."""
    return CATEGORY[wider(types)] <= CATEGORY[types[0]]


def kept_numbers(*types):
    return kept(*types) and numbers(*types)


def kept_not_all_bools(*types):
    return kept(*types) and not_all_bools(*types)


def kept_quotient(x, a, b):
    return CATEGORY[x] == 2 and a_fraction(a, b)


def first_fraction(*types):
    return types[0] in FLOATS


def with_parameters(x, *others):
    return x in FLOATS and set(others) in ({x}, {"f32"})


def with_mask(x, mask):
    return x in FLOATS and mask in (x, "bool", "f32")


def indices(*types):
    return types[-1] in INTEGERS


def classes(x, target):
    return x in FLOATS and target in ("i64", "i32")


# ---------------------------------------------------------------- (name of the operation, call, shapes, rule)

def of(name, rule, count, *more):
    """An operation on some matrices, and more arguments."""
    return name, lambda *tensors: getattr(xl, name)(*tensors, *more), (MATRIX,) * count, rule


def batch_norm(x, weight=None, bias=None, mean=None, variance=None):
    return xl.batch_norm(x, {"weight": weight, "bias": bias, "running_mean": mean, "running_var": variance,
                             "is_training": mean is None, "momentum": 0.1, "epsilon": 1e-5})


IMAGE, WINDOW, ROW = (1, 1, 3, 3), (1, 1, 2, 2), (2,)
TAKES = [
    *[of(name, any_types, 1) for name in (
        "sign square reciprocal exp expm1 log log1p sqrt rsqrt sin cos tanh erf sigmoid isnan isfinite logical_not zero_ sum any all"
    ).split()],
    *[of(name, numbers, 1) for name in "neg abs floor ceil round relu relu_".split()],
    *[of(name, fractions, 1) for name in "silu gelu mean".split()],
    *[of(name, any_types, 2) for name in (
        "add mul div maximum minimum eq ne lt le gt ge logical_and logical_or logical_xor copy_").split()],
    *[of(name, not_all_bools, 2) for name in "floor_div remainder pow".split()],
    of("sub", numbers, 2),
    of("add_", kept, 2), of("mul_", kept, 2), of("sub_", kept_numbers, 2), of("div_", lambda x, y: CATEGORY[x] == 2, 2),
    of("add_scaled", not_all_bools, 2, 2), of("add_scaled_", kept_not_all_bools, 2, 2),
    of("addcmul_", kept_not_all_bools, 3, 2), of("addcdiv_", kept_quotient, 3, 0.5),
    of("add_scalar", any_types, 1, 0.5), of("mul_scalar", any_types, 1, 0.5), of("sub_scalar", numbers, 1, 2),
    of("fill_", any_types, 1, 0.5), of("add_scalar_", numbers, 1, 2), of("add_scalar_", fractions, 1, 0.5),
    of("mul_scalar_", numbers, 1, 2), of("mul_scalar_", fractions, 1, 0.5),
    of("clamp_", numbers, 1, 0, 1), of("clamp_", fractions, 1, 0.5, 1.5), of("clamp_", fractions, 1, 0, 1.5),
    of("where", lambda c, x, y: c == "bool", 3),
    of("mean_dims", fractions, 1, [0], False), of("var_dims", fractions, 1, [0], False, 1),
    of("argmax", numbers, 1, 0, False), of("argmin", numbers, 1, 0, False), of("cumsum", any_types, 1, 0),
    of("dropout", fractions, 1, 0.5), of("softmax", fractions, 1, 0), of("log_softmax", fractions, 1, 0),
    ("index_select", lambda x, i: xl.index_select(x, 0, i), (MATRIX, ROW), indices),
    ("gather", lambda x, i: xl.gather(x, 0, i), (MATRIX, MATRIX), indices),
    ("embedding", lambda w, i: xl.embedding(w, i), (MATRIX, ROW), indices),
    ("one_hot", lambda i: xl.one_hot(i, 3), (ROW,), indices),
    of("mm", same_numbers, 2), of("addmm", same_numbers, 3), of("matmul", same_numbers, 2),
    ("bmm", lambda x, y: xl.bmm(x, y), ((1, 2, 2),) * 2, same_numbers),
    ("matmul", lambda x, y: xl.matmul(x, y), ((3, 2, 2), ROW), same_numbers),
    ("matmul", lambda x, y: xl.matmul(x, y), (ROW, (3, 2, 2)), same_numbers),
    ("linear", lambda x, w: xl.linear(x, w, None), ((3, 2, 2), MATRIX), same_numbers),
    ("linear", lambda x, w, b: xl.linear(x, w, b), (MATRIX, MATRIX, ROW), same_numbers),
    ("conv2d", lambda x, w: xl.conv2d(x, w, None, None), (IMAGE, WINDOW), same_numbers),
    ("conv2d", lambda x, w, b: xl.conv2d(x, w, b, None), (IMAGE, WINDOW, (1,)), same_numbers),
    ("avg_pool2d", lambda x: xl.avg_pool2d(x, 2, 1), (IMAGE,), fractions),
    ("attention", lambda q, k, v: xl.attention(q, k, v, None), (MATRIX,) * 3, same_fractions),
    ("attention", lambda q, m: xl.attention(q, q, q, m), (MATRIX,) * 2, with_mask),
    ("layer_norm", lambda x: xl.layer_norm(x, 1, None, None, 1e-5), (MATRIX,), fractions),
    ("layer_norm", lambda x, w, b: xl.layer_norm(x, 1, w, b, 1e-5), (MATRIX, ROW, ROW), with_parameters),
    ("layer_norm", lambda x, b: xl.layer_norm(x, 1, None, b, 1e-5), (MATRIX, ROW), with_parameters),
    ("group_norm", lambda x, w, b: xl.group_norm(x, 1, w, b, 1e-5), (MATRIX, ROW, ROW), with_parameters),
    ("batch_norm", batch_norm, (MATRIX, ROW, ROW), with_parameters),
    ("batch_norm", lambda x, m, v: batch_norm(x, None, None, m, v), (MATRIX, ROW, ROW), with_parameters),
    of("mse_loss", a_fraction, 2),
    ("nll_loss", lambda x, t: xl.nll_loss(x, t), (MATRIX, ROW), classes),
    ("cross_entropy", lambda x, t: xl.cross_entropy(x, t), (MATRIX, ROW), classes),
]


# ---------------------------------------------------------------- checking

ONE_IS_WRONG = ("attention", "layer_norm", "nll_loss", "cross_entropy")  # whatever the second is, the first is wrong


def text_of(kind, shape):
    return "%s[%s]" % (kind, ",".join(map(str, shape)))


def said_by(call, tensors):
    """What the library says of a call; nothing if it takes it."""
    try:
        call(*tensors)
        return None
    except xl.Error as error:
        return str(error)


def problem_of(name, call, shapes, rule, types):
    tensors = [xl.tensor(np.ones(shape), kind) for kind, shape in zip(types, shapes)]
    said = said_by(call, tensors)
    if rule(*types) != (said is None):
        return "xl_%s of %s: %s" % (name, " ".join(types), said or "it was not refused")
    if said is None:
        return None
    named = [text for text in map(text_of, types, shapes) if text in said]
    wanted = 2 if len(shapes) == 2 and name not in ONE_IS_WRONG else 1
    is_complete = said.startswith("xl_%s: " % name) and len(named) >= wanted
    return None if is_complete else "the message %r lacks the name or a shape" % said


def check_types_are_taken_and_refused_as_torch_does():
    problems = []
    for name, call, shapes, rule in TAKES:
        for types in itertools.product(ALL, repeat=len(shapes)):
            problems.append(problem_of(name, call, shapes, rule, types))
    problems = [p for p in problems if p]
    assert not problems, "%d: %s" % (len(problems), "\n".join(problems[:20]))
