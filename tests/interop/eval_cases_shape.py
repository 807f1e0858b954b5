"""Operations that move elements: shapes, slices, paddings, indices."""
import itertools

import numpy as np

from eval_cases_element import out, values
from eval_hlo import FLOATS, INTEGERS, TYPES, Case, entry, shape_of

WIDTHS = ("u8", "bf16", "f32", "s64")  # one type of each width: these operations do not compute


def one(name, arrays, result, call, **options):
    return Case(name, entry(arrays, "  ROOT r = %s %s" % (result, call)), arrays, 0, **options)


def moves():
    for kind in WIDTHS:
        x = values(kind, (4, 3, 5), 1)
        for order in itertools.permutations(range(3)):
            shape = tuple(x.shape[d] for d in order)
            yield one("transpose %s %s" % (kind, order), [x], out(shape, kind), "transpose(p0), dimensions={%d,%d,%d}" % order)
        for dims in ("0", "1,2", "0,1,2", ""):
            yield one("reverse %s {%s}" % (kind, dims), [x], shape_of(x), "reverse(p0), dimensions={%s}" % dims)
        for a, dims, shape in (((), "", (3, 4)), ((3,), "0", (3, 4)), ((4,), "1", (3, 4)), ((3, 4), "0,2", (3, 5, 4)),
                               ((1,), "0", (1, 7)), ((2, 1), "1,2", (4, 2, 1)), ((0,), "1", (5, 0))):
            v = values(kind, a, 1)
            yield one("broadcast %s %s to %s" % (kind, a, shape), [v], out(shape, kind), "broadcast(p0), dimensions={%s}" % dims)
        yield one("slice %s" % kind, [x], out((2, 1, 2), kind), "slice(p0), slice={[1:4:2], [2:3], [0:5:3]}")
        yield one("slice of nothing %s" % kind, [x], out((2, 0, 5), kind), "slice(p0), slice={[1:3], [2:2], [0:5]}")
        y, z = values(kind, (4, 0, 5), 2), values(kind, (4, 2, 5), 3)
        yield one("concatenate %s" % kind, [x, y, z], out((4, 5, 5), kind), "concatenate(p0, p1, p2), dimensions={1}")
        yield one("concatenate twice %s" % kind, [x], out((8, 3, 5), kind), "concatenate(p0, p0), dimensions={0}")
        yield one("reshape %s" % kind, [x], out((5, 12), kind), "reshape(p0)")
    large = values("f32", (70, 33, 40), 5)
    yield one("transpose of much", [large], out((40, 33, 70), "f32"), "transpose(p0), dimensions={2,1,0}")
    for shape, order in (((128, 65), (1, 0)), ((2, 3, 4, 5), (0, 2, 1, 3)), ((2, 3, 4, 5), (3, 0, 2, 1)), ((1, 6, 1, 2), (2, 3, 1, 0))):
        x = values("f32", shape, 1)
        yield one("transpose %s %s" % (shape, order), [x], out(tuple(shape[d] for d in order), "f32"),
                  "transpose(p0), dimensions={%s}" % ",".join(map(str, order)))


def paddings():
    for kind in WIDTHS:
        v = values(kind, (), 9)
        for n in (0, 1, 5):
            for low, high, interior in ((0, 0, 0), (2, 1, 0), (0, 0, 2), (-1, -2, 0), (-2, 3, 1), (3, -4, 2), (-1, -1, 3), (1, 0, 1)):
                length = max(n - 1, 0) * interior + n + low + high
                if length < 0:
                    continue
                x = values(kind, (2, n), 1)
                yield one("pad %s %d by %d_%d_%d" % (kind, n, low, high, interior), [x, v], out((2, length), kind),
                          "pad(p0, p1), padding=0_0x%d_%d_%d" % (low, high, interior))


def created():
    for kind in FLOATS + INTEGERS:
        for dim in (0, 1, 2):
            yield one("iota %s %d" % (kind, dim), [], out((3, 4, 2), kind), "iota(), iota_dimension=%d" % dim)
        yield one("iota of nothing %s" % kind, [], out((0,), kind), "iota(), iota_dimension=0")


def dynamic():
    for kind in WIDTHS:
        for index in ("s32", "s64", "u8", "u32"):
            x, u = values(kind, (6, 5), 1), values(kind, (2, 3), 2)
            for start in ((0, 0), (3, 1), (100, 4), (-3, 2)):
                if index[0] == "u" and min(start) < 0:
                    continue
                at = [np.asarray(TYPES[index](s)) for s in start]
                yield one("dynamic-slice %s by %s %s" % (kind, index, start), [x, *at], out((2, 3), kind),
                          "dynamic-slice(p0, p1, p2), dynamic_slice_sizes={2,3}")
                yield one("dynamic-update-slice %s by %s %s" % (kind, index, start), [x, u, *at], out((6, 5), kind),
                          "dynamic-update-slice(p0, p1, p2, p3)")
    x, u, i = values("f32", (6,), 1), values("f32", (2,), 2), np.asarray(np.int32(3))
    yield Case("dynamic-update-slice in place", entry([x, u, i], """  n = f32[6]{0} negate(p0)
  d = f32[6]{0} dynamic-update-slice(n, p1, p2)
  ROOT r = f32[6]{0} dynamic-update-slice(d, p1, p2)"""), [x, u, i], 0)


def gathers():
    for kind in WIDTHS:
        x = values(kind, (5, 4, 3), 1)
        i = np.array([[0, 2], [4, 3], [-1, 9], [3, 1]], np.int32)
        for name, result, attributes in (
                ("rows", (4, 3), "offset_dims={1}, collapsed_slice_dims={0,1}, start_index_map={0,1}, index_vector_dim=1, slice_sizes={1,1,3}"),
                ("blocks", (4, 2, 2, 3), "offset_dims={1,2,3}, collapsed_slice_dims={}, start_index_map={1,0}, index_vector_dim=1, slice_sizes={2,2,3}"),
                ("blocks, offsets first", (2, 3, 4), "offset_dims={0,1}, collapsed_slice_dims={0}, start_index_map={0,1}, index_vector_dim=1, slice_sizes={1,2,3}"),
                ("elements", (4,), "offset_dims={}, collapsed_slice_dims={0,1,2}, start_index_map={0,1}, index_vector_dim=1, slice_sizes={1,1,1}")):
            yield one("gather %s %s" % (name, kind), [x, i], out(result, kind), "gather(p0, p1), " + attributes)
        j = np.array([[1, 0], [4, 7]], np.int64)
        yield one("gather as an embedding %s" % kind, [x, j], out((2, 2, 4, 3), kind), "gather(p0, p1), offset_dims={2,3}, "
                  "collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=2, slice_sizes={1,4,3}")
        k = np.array([[0], [3], [2], [9], [1]], np.int32)
        yield one("gather in batches %s" % kind, [x, k], out((5, 3), kind), "gather(p0, p1), offset_dims={1}, "
                  "collapsed_slice_dims={1}, start_index_map={1}, operand_batching_dims={0}, "
                  "start_indices_batching_dims={0}, index_vector_dim=1, slice_sizes={1,1,3}")
        yield one("gather of nothing %s" % kind, [x, np.zeros((0, 2), np.int32)], out((0, 3), kind), "gather(p0, p1), offset_dims={1}, "
                  "collapsed_slice_dims={0,1}, start_index_map={0,1}, index_vector_dim=1, slice_sizes={1,1,3}")


def computation(kind, body):
    return "f {\n  a = %s[] parameter(0)\n  b = %s[] parameter(1)\n%s\n}\n" % (kind, kind, body)


def scatters():
    i = np.array([[0, 2], [4, 3], [0, 2], [-1, 1], [3, 9], [3, 1]], np.int32)
    for kind in ("f32", "bf16", "s32", "u8", "f64"):
        x, u, w = values(kind, (5, 4, 3), 11), values(kind, (6, 3), 12), values(kind, (6, 2, 2, 3), 13)
        if kind in FLOATS:
            x, u, w = [np.clip(np.nan_to_num(a.astype(np.float64)), -50, 50).astype(TYPES[kind]) for a in (x, u, w)]
        for name, body in (("adding", "add(a, b)"), ("assigning", "copy(b)"), ("multiplying", "multiply(b, a)"), ("maximum", "maximum(a, b)"),
                           ("by more", None)):
            lines = "  ROOT r = %s[] %s" % (kind, body) if body else "  d = %s[] subtract(a, b)\n  ROOT r = %s[] multiply(d, b)" % (kind, kind)
            for where, updates, attributes in (
                    ("rows", u, "update_window_dims={1}, inserted_window_dims={0,1}, scatter_dims_to_operand_dims={0,1}, index_vector_dim=1"),
                    ("blocks", w, "update_window_dims={1,2,3}, inserted_window_dims={}, scatter_dims_to_operand_dims={1,0}, index_vector_dim=1")):
                yield Case("scatter %s %s %s" % (where, name, kind), entry(
                    [x, i, updates], "  ROOT r = %s scatter(p0, p1, p2), %s, to_apply=f" % (shape_of(x), attributes),
                    computation(kind, lines)), [x, i, updates], 4, scale=1e-6)
    x, y = values("f32", (7,), 1), values("s32", (7,), 2)
    j, u, v = np.array([[1], [5], [1]], np.int32), np.float32([1, 2, 3]), np.int32([4, 5, 6])
    both = """f {
  a = f32[] parameter(0)
  b = s32[] parameter(1)
  c = f32[] parameter(2)
  d = s32[] parameter(3)
  l = pred[] compare(a, c), direction=LT
  s = f32[] select(l, c, a)
  t = s32[] select(l, d, b)
  ROOT r = (f32[], s32[]) tuple(s, t)
}
"""
    yield Case("scatter of two arrays", entry([x, y, j, u, v], "  ROOT r = (f32[7]{0}, s32[7]{0}) scatter(p0, p1, p2, p3, p4), "
               "update_window_dims={}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=f",
               both), [x, y, j, u, v], 0)


def sorts():
    for kind in ("f32", "s32", "u8", "bf16", "f64"):
        for shape, dim in (((37,), 0), ((4, 9), 1), ((9, 4), 0), ((3, 5, 2), 1), ((0,), 0), ((1,), 0)):
            x = np.nan_to_num(values(kind, shape, 3).astype(np.float64)).astype(TYPES[kind]) if kind in FLOATS else values(kind, shape, 3)
            for direction in ("LT", "GT"):
                f = computation(kind, "  ROOT r = pred[] compare(a, b), direction=%s" % direction)
                yield Case("sort %s %s %s" % (kind, shape, direction), entry(
                    [x], "  ROOT r = %s sort(p0), dimensions={%d}, is_stable=true, to_apply=f" % (shape_of(x), dim), f), [x], 0)
    x = values("f32", (700,), 4)
    x[::7] = x[3]
    n = np.arange(700, dtype=np.int32)
    f = """f {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  c = s32[] parameter(2)
  d = s32[] parameter(3)
  ROOT r = pred[] compare(a, b), direction=GT, type=TOTALORDER
}
"""
    yield Case("sort of pairs in total order", entry([x, n], "  ROOT r = (f32[700]{0}, s32[700]{0}) sort(p0, p1), dimensions={0}, "
               "is_stable=true, to_apply=f", f), [x, n], 0)


def cases():
    for family in (moves, paddings, created, dynamic, gathers, scatters, sorts):
        yield from family()
