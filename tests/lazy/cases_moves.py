"""Making tensors, and elements at other places."""
import numpy as np

from cases import ALL, NUMBERS, Case, Wrong, any_values, below, close, fails, same
from xl import FLOATS
import xl

INDICES = ("i32", "i64", "u8")


def indexed(types):
    """For each of some types, indices of i64; and f32 with the other types of indices."""
    return [(t, "i64") for t in types] + [("f32", "i32"), ("f32", "u8")]


def first(types):
    return types[0]


def cat(dim):
    return dict(call=lambda *parts: xl.cat(list(parts), dim), reference=lambda *parts: np.concatenate(parts, dim))


def stack(dim):
    return dict(call=lambda *parts: xl.stack(list(parts), dim), reference=lambda *parts: np.stack(parts, dim))


def pad_one(x, dim, before, after, value):
    """NumPy pads with numbers that are not negative only."""
    index, width = [np.s_[:]] * x.ndim, [(0, 0)] * x.ndim
    index[dim] = np.s_[max(-before, 0):x.shape[dim] - max(-after, 0)]
    width[dim] = (max(before, 0), max(after, 0))
    return np.pad(x[tuple(index)], width, constant_values=np.asarray(value).astype(x.dtype))


def upsample(x, factor):
    return x.repeat(factor, 2).repeat(factor, 3)


def clamped(indices, extent):
    return np.clip(indices.astype(np.int64), 0, extent - 1)


def take(x, indices, dim):
    return np.take(x, clamped(np.atleast_1d(indices), x.shape[dim]), dim)


def take_along(x, indices, dim):
    at = [np.arange(n).reshape([-1 if i == k else 1 for i in range(x.ndim)]) for k, n in enumerate(indices.shape)]
    at[dim] = clamped(indices, x.shape[dim])
    return x[tuple(at)]


def outside(random, shape, kind):
    """Indices, some of them out of bounds."""
    return random.integers(0 if kind == "u8" else -3, 9, shape)


def one_hot(indices, classes):
    return (indices[..., None].astype(np.int64) == np.arange(classes)).astype(np.int64)


def select_case(shape, dim, indices, **more):
    return Case("index_select %d of %s" % (dim, list(shape)), take, [(shape, indices)], indexed(ALL),
                call=lambda x, i: xl.index_select(x, dim, i), args=(dim,), result=first, promote=False, grad=[0],
                values=(any_values, below(shape[dim])), **more)


def gather_case(shape, dim, indices, **more):
    return Case("gather %d of %s" % (dim, list(shape)), take_along, [(shape, indices)], indexed(ALL),
                call=lambda x, i: xl.gather(x, dim, i), args=(dim,), result=first, promote=False, grad=[0],
                values=(any_values, below(shape[dim])), **more)


CASES = [
    Case("cat 0", shapes=[((2, 3), (4, 3)), ((0, 3), (1, 3)), ((5,), (3,))],
         types=ALL + (("bool", "f32"), ("i32", "bf16"), ("u8", "i64")), grad=[0, 1], **cat(0)),
    Case("cat of vectors", shapes=[((5,), (0,), (3,)), ((1,), (1,), (1,))], types=ALL, grad=[0, 2], **cat(-1)),
    Case("cat 1", shapes=[((2, 3, 2), (2, 1, 2), (2, 0, 2))], types=ALL, grad=[0, 1, 2], **cat(1)),
    Case("cat -1", shapes=[((2, 3), (2, 2)), ((0, 3), (0, 2))], types=FLOATS, grad=[0, 1], **cat(-1)),
    Case("stack 0", shapes=[((2, 3), (2, 3), (2, 3)), ((), (), ()), ((0, 2),) * 3],
         types=ALL + (("bool", "u8", "i32"), ("f32", "bf16", "i64")), grad=[0], **stack(0)),
    Case("stack 1", shapes=[((2, 3), (2, 3))], types=ALL, grad=[0, 1], **stack(1)),
    Case("stack -1", shapes=[((2, 3), (2, 3))], types=FLOATS, grad=[0, 1], **stack(-1)),
    Case("flip 0", np.flip, [((3, 4),), ((0, 4),), ((1, 1),)], ALL, args=(0,), kinds=("special",), grad=[0]),
    Case("flip -1", np.flip, [((3, 4),), ((2, 0),), ((5,),)], ALL, args=(-1,), grad=[0]),
    Case("pad -1", pad_one, [((3, 4),), ((2, 0),)], ALL, args=(-1, 2, 1, 1.0), grad=[0]),
    Case("pad with a fraction", pad_one, [((3, 4),)], FLOATS, args=(0, 1, 0, 2.5), grad=[0]),
    Case("pad with infinity", pad_one, [((3, 4),)], FLOATS, args=(0, 1, 2, -np.inf)),
    Case("pad less", pad_one, [((5, 4),)], ALL, args=(0, -1, -2, 0), grad=[0]),
    Case("pad less and more", pad_one, [((5, 4),)], ALL, args=(0, -2, 3, 1), grad=[0]),
    Case("pad away", pad_one, [((3, 4),)], ALL, args=(1, -3, -1, 0), grad=[0]),
    Case("tril 0", np.tril, [((3, 4),), ((4, 3),), ((2, 3, 3),), ((0, 3),), ((3, 0),)], ALL, args=(0,),
         kinds=("transposed", "sliced", "expanded", "flipped", "special"), grad=[0]),
    *[Case("tril %d" % k, np.tril, [((3, 4),)], ALL, args=(k,), grad=[0]) for k in (-9, -3, -1, 1, 3, 9)],
    Case("upsample_nearest2d 2", upsample, [((2, 3, 2, 3),), ((1, 1, 1, 1),), ((2, 0, 2, 3),), ((1, 2, 0, 2),)], ALL,
         args=(2,), grad=[0]),
    Case("upsample_nearest2d 3", upsample, [((1, 2, 2, 3),)], FLOATS, args=(3,), grad=[0]),
    Case("upsample_nearest2d 1", upsample, [((1, 2, 2, 3),)], FLOATS, args=(1,), grad=[0]),
    select_case((4, 3), 0, (6,)),
    select_case((4, 3), -1, (5,)),
    select_case((2, 5, 3), 1, (4,)),
    select_case((5,), 0, (7,)),
    select_case((5, 2), 0, ()),
    select_case((5, 2), 0, (0,)),
    select_case((5, 0), 0, (3,)),
    Case("index_select outside", take, [((4, 3), (8,))], [("f32", t) for t in INDICES], args=(0,), result="f32",
         call=lambda x, i: xl.index_select(x, 0, i), promote=False, grad=[0], values=(any_values, outside)),
    gather_case((4, 3), 0, (6, 3)),
    gather_case((4, 3), 1, (4, 5)),
    gather_case((4, 3), 1, (2, 2)),
    gather_case((2, 4, 3), -2, (1, 5, 3)),
    gather_case((6,), 0, (4,)),
    gather_case((4, 3), 1, (4, 0)),
    Case("gather outside", take_along, [((4, 3), (8, 2))], [("f32", t) for t in INDICES], args=(0,), result="f32",
         call=lambda x, i: xl.gather(x, 0, i), promote=False, grad=[0], values=(any_values, outside)),
    Case("embedding", lambda w, i: w[clamped(i, len(w))],
         [((5, 3), (2, 4)), ((5, 3), ()), ((5, 3), (0,)), ((5, 3), (9,)), ((5, 3), (2, 1, 3)), ((1, 3), (40,))],
         indexed(FLOATS + ("i32",)), result=first, promote=False, grad=[0], values=(any_values, below(5))),
    Case("embedding outside", lambda w, i: w[clamped(i, len(w))], [((5, 3), (9,))], [("f32", t) for t in INDICES],
         result="f32", promote=False, grad=[0], values=(any_values, outside)),
    Case("one_hot", one_hot, [((2, 3),), ((),), ((0,),)], INDICES, args=(4,), result="i64", values=outside),
    Case("one_hot of many", one_hot, [((3,),)], INDICES, args=(300,), result="i64", values=below(250)),
    Case("clone", lambda x: x, [((3, 4),)], ALL, is_elementwise=True, grad=[0]),
    Case("zeros_like", np.zeros_like, [((3, 4),), ((),), ((0, 2),)], ALL),
    Case("ones_like", np.ones_like, [((3, 4),), ((),), ((0, 2),)], ALL),

    Wrong("cat of extents", lambda: xl.cat([xl.zeros("f32", (2, 3)), xl.zeros("f32", (2, 4))], 0), "xl_cat", "f32[2,3]",
          "f32[2,4]"),
    Wrong("cat of ranks", lambda: xl.cat([xl.zeros("f32", (2, 3)), xl.zeros("i64", (6,))], 0), "xl_cat", "f32[2,3]",
          "i64[6]"),
    Wrong("cat of a dimension", lambda: xl.cat([xl.zeros("f32", (2, 3))], 2), "xl_cat", "dimension 2", "f32[2,3]"),
    Wrong("cat of single values", lambda: xl.cat([xl.scalar("f32", 1)], 0), "xl_cat", "f32[]"),
    Wrong("cat of nothing", lambda: xl.cat([], 0), "xl_cat"),
    Wrong("stack of shapes", lambda: xl.stack([xl.zeros("f32", (2,)), xl.zeros("f32", (1,))], 0), "xl_stack", "f32[2]",
          "f32[1]"),
    Wrong("stack of a dimension", lambda: xl.stack([xl.zeros("f32", (2,))], 2), "xl_stack", "dimension 2", "f32[2]"),
    Wrong("stack of too many dimensions", lambda: xl.stack([xl.zeros("f32", (1,) * 8)], 0), "xl_stack", "8"),
    Wrong("stack of nothing", lambda: xl.stack([], 0), "xl_stack"),
    Wrong("flip of a dimension", lambda: xl.flip(xl.zeros("f32", (2,)), 1), "xl_flip", "dimension 1", "f32[2]"),
    Wrong("pad below 0", lambda: xl.pad(xl.zeros("f32", (2,)), 0, -2, -1, 0), "xl_pad", "f32[2]", "-2", "-1"),
    Wrong("pad above all", lambda: xl.pad(xl.zeros("f32", (2,)), 0, 2**62, 2**62, 0), "xl_pad", "f32[2]"),
    Wrong("pad of a dimension", lambda: xl.pad(xl.zeros("f32", (2,)), -2, 0, 0, 0), "xl_pad", "dimension -2"),
    Wrong("tril of a vector", lambda: xl.tril(xl.zeros("f32", (2,)), 0), "xl_tril", "f32[2]"),
    Wrong("upsample_nearest2d of rank 3", lambda: xl.upsample_nearest2d(xl.zeros("f32", (2, 3, 4)), 2),
          "xl_upsample_nearest2d", "f32[2,3,4]"),
    Wrong("upsample_nearest2d by 0", lambda: xl.upsample_nearest2d(xl.zeros("f32", (1, 2, 3, 4)), 0),
          "xl_upsample_nearest2d", "f32[1,2,3,4]", "0"),
    Wrong("index_select by fractions", lambda: xl.index_select(xl.zeros("f32", (2, 3)), 0, xl.zeros("f32", (4,))),
          "xl_index_select", "f32[2,3]", "f32[4]"),
    Wrong("index_select by a matrix", lambda: xl.index_select(xl.zeros("f32", (2, 3)), 0, xl.zeros("i64", (4, 1))),
          "xl_index_select", "i64[4,1]"),
    Wrong("index_select of nothing", lambda: xl.index_select(xl.zeros("f32", (0, 3)), 0, xl.zeros("i64", (4,))),
          "xl_index_select", "f32[0,3]", "i64[4]"),
    Wrong("gather of ranks", lambda: xl.gather(xl.zeros("f32", (2, 3)), 0, xl.zeros("i64", (4,))), "xl_gather",
          "f32[2,3]", "i64[4]"),
    Wrong("gather of extents", lambda: xl.gather(xl.zeros("f32", (2, 3)), 0, xl.zeros("i64", (4, 4))), "xl_gather",
          "f32[2,3]", "i64[4,4]"),
    Wrong("gather by bools", lambda: xl.gather(xl.zeros("f32", (2, 3)), 0, xl.zeros("bool", (2, 3))), "xl_gather",
          "bool[2,3]"),
    Wrong("embedding of a vector", lambda: xl.embedding(xl.zeros("f32", (2,)), xl.zeros("i64", (4,))), "xl_embedding",
          "f32[2]"),
    Wrong("embedding into too many dimensions", lambda: xl.embedding(xl.zeros("f32", (2, 2)), xl.zeros("i64", (1,) * 8)),
          "xl_embedding", "9"),
    Wrong("one_hot of fractions", lambda: xl.one_hot(xl.zeros("f32", (2,)), 3), "xl_one_hot", "f32[2]"),
    Wrong("one_hot without classes", lambda: xl.one_hot(xl.zeros("i64", (2,)), 0), "xl_one_hot", "i64[2]", "0"),
    Wrong("arange without a step", lambda: xl.arange("f32", 0, 1, 0), "xl_arange", "f32"),
    Wrong("arange the wrong way", lambda: xl.arange("i64", 0, 5, -1), "xl_arange", "i64", "-1"),
    Wrong("arange of whole numbers with a fraction", lambda: xl.arange("i32", 0, 5, 0.5), "xl_arange", "0.5"),
    Wrong("arange without an end", lambda: xl.arange("f32", 0, float("inf"), 1), "xl_arange", "inf"),
    Wrong("eye of a negative number", lambda: xl.eye("f32", -1), "xl_eye"),
    Wrong("zeros of a negative extent", lambda: xl.zeros("f32", (2, -1)), "xl_zeros"),
    Wrong("ones of too many elements", lambda: xl.ones("f32", (2**31, 2**31)), "xl_ones"),
    Wrong("full of too many dimensions", lambda: xl.full("f32", (1,) * 9, 1), "xl_full"),
]


def check_arange_counts():
    for kind in NUMBERS:
        for start, end, step in [(0, 5, 1), (2, 9, 3), (5, 0, -2) if kind != "u8" else (5, 9, 2), (3, 3, 1), (4, 5, 7)]:
            made = xl.arange(kind, start, end, step)
            assert made.type == kind
            same(made, xl.rounded(np.arange(start, end, step), kind), "%s from %d to %d" % (kind, start, end))
    close(xl.arange("f32", 0, 1, 0.1), np.arange(0, 1, 0.1), 2e-7)
    close(xl.arange("f32", 1, -1, -0.25), np.arange(1, -1, -0.25), 0)
    same(xl.arange("bf16", 0, 300, 1), xl.rounded(np.arange(300), "bf16"), "each is rounded once")
    same(xl.arange("i64", 2**52, 2**52 + 3, 1), np.arange(2**52, 2**52 + 3), "no bit is lost")
    same(xl.arange("i32", 2**31 - 3, 2**31 - 1, 1), np.arange(2**31 - 3, 2**31 - 1), "up to the largest")


def check_eye_and_numbers_have_their_types():
    for kind in ALL:
        for n in (0, 1, 4):
            made = xl.eye(kind, n)
            assert (made.type, made.shape) == (kind, (n, n))
            same(made, np.eye(n).astype(xl.DTYPES[kind]), kind)
        for shape in ((), (3,), (2, 0), (1, 2, 1)):
            same(xl.zeros(kind, shape), np.zeros(shape))
            same(xl.ones(kind, shape), np.ones(shape))
            same(xl.full(kind, shape, 5), xl.rounded(np.full(shape, 5), kind))
        same(xl.scalar(kind, 3), xl.rounded(3, kind))
    same(xl.full("f32", (2,), float("nan")), np.full(2, np.nan))
    same(xl.full("bf16", (2,), 1 / 3), xl.rounded(np.full(2, 1 / 3), "bf16"))


def check_cat_takes_hundreds():
    arrays = [np.full((1 + i % 3, 2), i, np.float32) for i in range(700)]
    leaves = [xl.tensor(a).requires_grad() for a in arrays]
    joined = xl.cat(leaves, 0)
    same(joined, np.concatenate(arrays))
    weights = np.arange(joined.shape[0] * 2, dtype=np.float32).reshape(-1, 2)
    joined.backward(xl.tensor(weights))
    starts = np.cumsum([0] + [len(a) for a in arrays])
    for i in (0, 1, 350, 699):
        same(leaves[i].grad, weights[starts[i]:starts[i + 1]], "gradient %d" % i)
    same(xl.stack(leaves[::3], 1), np.stack(arrays[::3], 1))


def check_cat_passes_over_vectors_without_elements():
    x = np.ones((2, 3), np.float32)
    same(xl.cat([xl.zeros("f32", (0,)), xl.tensor(x), xl.zeros("f32", (0,)), xl.tensor(x)], 1), np.ones((2, 6)))
    assert xl.cat([xl.zeros("i64", (0,)), xl.zeros("f32", (0,))], 0).shape == (0,)
    assert xl.cat([xl.zeros("f32", (0,)), xl.zeros("i32", (2,))], 0).type == "f32", "it counts for the type"


def check_clone_is_a_tensor_of_its_own():
    x = xl.tensor(np.arange(3, dtype=np.float32))
    copy = xl.clone(x)
    xl.add_(x, x)
    same(copy, [0, 1, 2])
    same(x, [0, 2, 4])
    leaf = xl.ones("f32", (2,)).requires_grad()
    xl.clone(leaf).backward(xl.tensor(np.float32([3, 4])))
    same(leaf.grad, [3, 4])


def check_a_row_that_is_taken_often_sums_all_gradients():
    weight = xl.zeros("bf16", (2, 2)).requires_grad()
    xl.embedding(weight, xl.zeros("i64", (1000,))).backward(xl.ones("bf16", (1000, 2)))
    same(weight.grad, xl.rounded([[1000, 1000], [0, 0]], "bf16"), "in bf16 the sum would end at 256")


def check_nonzero():
    random = np.random.default_rng(5)
    for kind in ALL:
        for shape in ((7,), (3, 4), (2, 3, 2), (), (0,), (2, 0), (1,)):
            array = xl.rounded(random.integers(0, 2, shape) * (1 if kind in ("u8", "bool") else -1), kind)
            found = xl.nonzero(xl.tensor(array, kind))
            want = np.stack(np.nonzero(array), 1) if shape else np.zeros((int(array != 0), 0))
            assert (found.type, found.shape) == ("i64", want.shape), (kind, shape, found.shape)
            same(found, want)
    x = xl.tensor(np.float32([0, -0.0, np.nan, np.inf, 1e-40, -1]))
    same(xl.nonzero(x), [[2], [3], [4], [5]])
    same(xl.nonzero(xl.tensor(np.float32([0, -0.0, np.nan, 1]), "bf16")), [[2], [3]])
    same(xl.nonzero(xl.tensor(np.int64([0, 2**40, -2**63]))), [[1], [2]])
    x = xl.tensor(np.float32([[1, 0], [0, 2]]))
    view = xl.select(x, 0, 1)
    xl.fill_(view, 3)
    same(xl.nonzero(xl.t(x)), [[0, 0], [0, 1], [1, 1]], "of a view of updated memory")
    fails(lambda: xl.nonzero(None), "xl_nonzero")


def check_an_index_that_is_a_result_is_used():
    x = xl.tensor(np.float32([[0, 5, 0, 7]]))
    places = xl.select(xl.nonzero(x), 1, 1)
    same(xl.index_select(x, 1, places), [[5, 7]])
