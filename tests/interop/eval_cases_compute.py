"""Reductions, windows, products, convolutions and normalisations, over numbers of ordinary size."""
import itertools

import numpy as np

from eval_cases_element import out, values
from eval_cases_shape import computation
from eval_hlo import EPSILON, FLOATS, TYPES, Case, entry, shape_of


def numbers(kind, shape, seed):
    """Random numbers near 1, or integers of one digit."""
    random = np.random.default_rng(seed)
    if kind in FLOATS:
        return np.asarray(random.standard_normal(shape)).astype(TYPES[kind])
    if kind == "pred":
        return np.asarray(random.integers(0, 2, shape)).astype(TYPES[kind])
    return np.asarray(random.integers(0 if kind[0] == "u" else -9, 9, shape)).astype(TYPES[kind])


def of(kind, text):
    """A constant of a type."""
    return "%s[] constant(%s)" % (kind, text)


def identity(opcode, kind):
    """What a reduction begins with.  XLA may use it more than once, so it must not change anything."""
    if opcode in ("maximum", "minimum", "and") and kind not in FLOATS + ("pred",):
        info = np.iinfo(TYPES[kind])
        value = {"maximum": info.min, "minimum": info.max, "and": -1 if info.min else info.max}[opcode]
    elif kind == "pred":
        value = opcode in ("multiply", "minimum", "and")
    else:
        value = {"add": 0, "multiply": 1, "maximum": -np.inf, "minimum": np.inf, "or": 0, "xor": 0}[opcode]
    return np.asarray(np.array(value).astype(TYPES[kind]))


def tolerance(kind, terms=64):
    return EPSILON.get(kind, 0) * terms**0.5


def reduces():
    shapes = (((4, 5, 6), "0"), ((4, 5, 6), "1"), ((4, 5, 6), "2"), ((4, 5, 6), "0,2"), ((4, 5, 6), "2,1"), ((4, 5, 6), "0,1,2"),
              ((4, 5, 6), ""), ((3, 700), "1"), ((700, 3), "0"), ((2, 1, 1300), "1,2"), ((0, 3), "0"), ((3, 0), "0"), ((1, 1, 7, 1), "1,2"))
    for kind in ("f32", "bf16", "f16", "f64", "s32", "u8", "s64", "pred", "s16"):
        for opcode in ("add", "multiply", "maximum", "minimum", "and", "or", "xor"):
            if (opcode in ("and", "or", "xor")) != (kind not in FLOATS) and kind in FLOATS:
                continue
            for shape, dims in shapes:
                x = numbers(kind, shape, 1) if opcode != "maximum" else values(kind, shape, 1)
                start = identity(opcode, kind)
                rest = tuple(n for d, n in enumerate(shape) if str(d) not in dims.split(","))
                f = computation(kind, "  ROOT r = %s[] %s(a, b)" % (kind, opcode))
                yield Case("reduce %s %s %s {%s}" % (opcode, kind, shape, dims), entry(
                    [x, start], "  ROOT r = %s reduce(p0, p1), dimensions={%s}, to_apply=f" % (out(rest, kind), dims), f),
                    [x, start], 64 if opcode == "multiply" else 8, scale=tolerance(kind, 1 if opcode != "add" else 64))
    argmax = """f {
  a = %(k)s[] parameter(0)
  i = s32[] parameter(1)
  b = %(k)s[] parameter(2)
  j = s32[] parameter(3)
  g = pred[] compare(a, b), direction=GT
  e = pred[] compare(a, b), direction=EQ
  l = pred[] compare(i, j), direction=LT
  t = pred[] and(e, l)
  c = pred[] or(g, t)
  v = %(k)s[] select(c, a, b)
  n = s32[] select(c, i, j)
  ROOT r = (%(k)s[], s32[]) tuple(v, n)
}
"""
    for kind in ("f32", "bf16", "s32"):
        for shape, dim in (((200, 9), 1), ((9, 200), 0), ((4, 5, 300), 2), ((11,), 0), ((1, 5000), 1), ((3, 2, 131), 2), ((257, 3), 0)):
            x, n = numbers(kind, shape, 3), np.broadcast_to(np.arange(shape[dim], dtype=np.int32).reshape(
                [-1 if d == dim else 1 for d in range(len(shape))]), shape).copy()
            rest = tuple(v for d, v in enumerate(shape) if d != dim)
            low, zero = np.asarray(np.array(-100).astype(TYPES[kind])), np.asarray(np.int32(0))
            yield Case("argmax %s %s" % (kind, shape), entry([x, n, low, zero],
                       "  ROOT r = (%s, %s) reduce(p0, p1, p2, p3), dimensions={%d}, to_apply=f" % (out(rest, kind), out(rest, "s32"), dim),
                       argmax % {"k": kind}), [x, n, low, zero], 0)
    x = numbers("f32", (6, 7), 1)
    f = computation("f32", "  c = f32[] constant(2)\n  d = f32[] multiply(b, c)\n  ROOT r = f32[] add(a, d)")
    zero = np.asarray(np.float32(0))
    yield Case("reduce by more than one operation", entry([x, zero], "  ROOT r = f32[7]{0} reduce(p0, p1), dimensions={0}, to_apply=f", f),
               [x, zero], 8, scale=1e-6)
    yield Case("map", entry([x, x], "  ROOT r = f32[6,7]{1,0} map(p0, p1), dimensions={0,1}, to_apply=f", f), [x, x], 4)


def windows():
    for kind in ("f32", "bf16", "s32"):
        x, start = numbers(kind, (2, 3, 9, 8), 1), np.asarray(numbers(kind, (), 2))
        for window, shape in (("size=1x1x2x2 stride=1x1x2x2", (2, 3, 4, 4)), ("size=1x1x3x3 stride=1x1x2x2 pad=0_0x0_0x1_1x1_1", (2, 3, 5, 4)),
                              ("size=1x1x2x3 stride=1x1x1x2 pad=0_0x0_0x0_0x2_1 rhs_dilate=1x1x3x2", (2, 3, 6, 4)),
                              ("size=1x1x3x2 lhs_dilate=1x1x2x3 pad=0_0x0_0x1_0x0_2", (2, 3, 16, 23)), ("size=2x2x1x1", (1, 2, 9, 8)),
                              ("size=1x1x9x1 pad=0_0x0_0x8_0x0_0", (2, 3, 9, 8)), ("size=1x1x2x2 pad=0_0x0_0x-1_-2x0_0", (2, 3, 5, 7))):
            for opcode in ("add", "maximum"):
                f = computation(kind, "  ROOT r = %s[] %s(a, b)" % (kind, opcode))
                yield Case("reduce-window %s %s %s" % (opcode, kind, window), entry(
                    [x, start], "  ROOT r = %s reduce-window(p0, p1), window={%s}, to_apply=f" % (out(shape, kind), window), f),
                    [x, start], 8, scale=tolerance(kind, 16))
    for kind, opcodes in (("f32", "add multiply maximum minimum"), ("bf16", "add maximum"), ("f16", "add minimum"), ("s8", "add maximum"), ("u64", "add")):
        x = numbers(kind, (3, 40, 17), 3)
        for opcode in opcodes.split():
            if kind == "f32" and opcode[0] == "m":
                x[1, 20, 3] = x[0, 7, 16] = np.nan
            f = computation(kind, "  ROOT r = %s[] %s(a, b)" % (kind, opcode))
            start = np.asarray(np.array({"add": 0, "multiply": 1, "maximum": -100, "minimum": 100}[opcode]).astype(TYPES[kind]))
            for dim in range(3):
                for side in ("%d_0", "0_%d"):
                    size, pad = ["1"] * 3, ["0_0"] * 3
                    size[dim], pad[dim] = str(x.shape[dim]), side % (x.shape[dim] - 1)
                    window = "size=%s pad=%s" % ("x".join(size), "x".join(pad))
                    yield Case("reduce-window %s so far %s %s" % (opcode, kind, window), entry(
                        [x, start], "  ROOT r = %s reduce-window(p0, p1), window={%s}, to_apply=f" % (shape_of(x), window), f),
                        [x, start], 8, scale=tolerance(kind, 64))
    two = """f {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  c = f32[] parameter(2)
  d = f32[] parameter(3)
  s = f32[] add(a, c)
  m = f32[] maximum(b, d)
  ROOT r = (f32[], f32[]) tuple(s, m)
}
"""
    y, z = numbers("f32", (300,), 4), np.asarray(np.float32(-1))
    yield Case("reduce-window of two arrays", entry([y, z], "  ROOT r = (f32[149]{0}, f32[149]{0}) reduce-window(p0, p0, p1, p1), "
               "window={size=4 stride=2}, to_apply=f", two), [y, z], 8, scale=1e-6)
    for kind in ("f32", "bf16", "s32"):
        x, start = numbers(kind, (2, 3, 8, 9), 5), np.asarray(np.array(0).astype(TYPES[kind]))
        for window, shape in (("size=1x1x2x2 stride=1x1x2x2", (2, 3, 4, 4)), ("size=1x1x3x3 stride=1x1x2x2 pad=0_0x0_0x1_1x1_1", (2, 3, 4, 5)),
                              ("size=1x1x3x3 pad=0_0x0_0x1_1x1_1", (2, 3, 8, 9)), ("size=1x2x2x1 stride=1x2x3x1 pad=0_0x1_0x0_0x0_0", (2, 2, 3, 9))):
            s = numbers(kind, shape, 6)
            before = computation(kind, "  ROOT r = %s[] add(a, b)" % kind) + computation(
                kind, "  ROOT r = pred[] compare(a, b), direction=GE").replace("f {", "g {")
            yield Case("select-and-scatter %s %s" % (kind, window), entry(
                [x, s, start], "  ROOT r = %s select-and-scatter(p0, p1, p2), window={%s}, select=g, scatter=f" % (shape_of(x), window),
                before), [x, s, start], 8, scale=tolerance(kind, 9))


def dots():
    table = (((7, 5), (5, 9), "", "1", "", "0", (7, 9)), ((5, 7), (9, 5), "", "0", "", "1", (7, 9)), ((4, 7, 5), (4, 5, 9), "0", "2", "0", "1", (4, 7, 9)),
             ((7, 4, 5), (9, 4, 5), "1", "2", "1", "2", (4, 7, 9)), ((6,), (6,), "", "0", "", "0", ()), ((3, 6), (6,), "", "1", "", "0", (3,)),
             ((6,), (6, 3), "", "0", "", "0", (3,)), ((2, 3, 4), (4, 3, 5), "", "1,2", "", "1,0", (2, 5)), ((3,), (4,), "", "", "", "", (3, 4)),
             ((2, 3, 4, 5), (3, 2, 5, 6), "0,1", "3", "1,0", "2", (2, 3, 4, 6)), ((0, 3), (3, 2), "", "1", "", "0", (0, 2)), ((2, 0), (0, 3), "", "1", "", "0", (2, 3)),
             ((3, 2, 5), (4, 5), "", "2", "", "1", (3, 2, 4)), ((100, 300), (300, 70), "", "1", "", "0", (100, 70)), ((1, 40), (40, 1100), "", "1", "", "0", (1, 1100)),
             ((200, 33), (33, 1), "", "1", "", "0", (200, 1)), ((130, 520), (99, 520), "", "1", "", "1", (130, 99)))
    for kind in ("f32", "bf16", "f16", "f64", "s32", "u8", "s64"):
        for a, b, lb, lc, rb, rc, result in table:
            x, y = numbers(kind, a, 1), numbers(kind, b, 2)
            parts = [n + "={%s}" % v for n, v in (("lhs_batch_dims", lb), ("lhs_contracting_dims", lc), ("rhs_batch_dims", rb),
                                                   ("rhs_contracting_dims", rc)) if v or "contracting" in n]
            yield Case("dot %s %s %s" % (kind, a, b), entry([x, y], "  ROOT r = %s dot(p0, p1), %s" % (out(result, kind), ", ".join(parts))),
                       [x, y], 4, scale=tolerance(kind))
    for kind, wide in (("bf16", "f32"), ("f16", "f32"), ("s8", "s32"), ("u8", "u32"), ("f32", "f64")):
        x, y = numbers(kind, (17, 30), 1), numbers(kind, (30, 21), 2)
        yield Case("dot %s as %s" % (kind, wide), entry([x, y], "  ROOT r = %s dot(p0, p1), lhs_contracting_dims={1}, rhs_contracting_dims={0}"
                   % out((17, 21), wide)), [x, y], 4, scale=tolerance(wide))


def convolutions():
    table = (((2, 3, 8, 9), (4, 3, 3, 3), "size=3x3", "bf01_oi01->bf01", (2, 4, 6, 7), ""),
             ((2, 3, 8, 9), (4, 3, 3, 3), "size=3x3 pad=1_1x1_1", "bf01_oi01->bf01", (2, 4, 8, 9), ""),
             ((2, 3, 8, 9), (4, 3, 3, 2), "size=3x2 stride=2x3 pad=0_1x2_0", "bf01_oi01->bf01", (2, 4, 4, 4), ""),
             ((2, 3, 9, 9), (4, 3, 3, 3), "size=3x3 rhs_dilate=2x3", "bf01_oi01->bf01", (2, 4, 5, 3), ""),
             ((2, 3, 4, 5), (4, 3, 3, 3), "size=3x3 pad=2_2x2_2 lhs_dilate=2x3", "bf01_oi01->bf01", (2, 4, 9, 15), ""),
             ((2, 3, 8, 9), (4, 3, 3, 3), "size=3x3 pad=1_1x1_1 rhs_reversal=1x1", "bf01_oi01->bf01", (2, 4, 8, 9), ""),
             ((2, 3, 8, 9), (4, 3, 3, 3), "size=3x3 pad=-1_-2x1_0", "bf01_oi01->bf01", (2, 4, 3, 8), ""),
             ((2, 8, 9, 3), (3, 3, 3, 4), "size=3x3 pad=1_1x1_1", "b01f_01io->b01f", (2, 8, 9, 4), ""),
             ((2, 8, 9, 3), (3, 3, 3, 4), "size=3x3 stride=2x2", "b01f_01io->b01f", (2, 3, 4, 4), ""),
             ((2, 6, 8, 9), (4, 3, 3, 3), "size=3x3", "bf01_oi01->bf01", (2, 4, 6, 7), ", feature_group_count=2"),
             ((2, 6, 8, 9), (6, 1, 3, 3), "size=3x3", "bf01_oi01->bf01", (2, 6, 6, 7), ", feature_group_count=6"),
             ((2, 8, 9, 6), (3, 3, 3, 4), "size=3x3", "b01f_01io->b01f", (2, 6, 7, 4), ", feature_group_count=2"),
             ((4, 3, 8, 9), (6, 3, 3, 3), "size=3x3", "bf01_oi01->bf01", (2, 6, 6, 7), ", batch_group_count=2"),
             ((2, 6, 17, 19), (6, 1, 3, 3), "size=3x3 stride=2x2 pad=1_1x1_1", "bf01_oi01->bf01", (2, 6, 9, 10), ", feature_group_count=6"),
             ((2, 6, 17, 19), (12, 1, 5, 3), "size=5x3 pad=4_4x1_1 rhs_dilate=2x1", "bf01_oi01->bf01", (2, 12, 17, 19), ", feature_group_count=6"),
             ((2, 6, 9, 10), (6, 1, 3, 3), "size=3x3 pad=1_1x1_2 lhs_dilate=2x2", "bf01_oi01->bf01", (2, 6, 17, 20), ", feature_group_count=6"),
             ((2, 6, 17, 19), (2, 6, 9, 10), "size=9x10 pad=1_1x1_1 rhs_dilate=2x2", "fb01_io01->fb01", (6, 1, 3, 3), ", batch_group_count=6"),
             ((2, 6, 17, 19), (2, 12, 17, 19), "size=17x19 pad=1_1x1_1", "fb01_io01->fb01", (12, 2, 3, 3), ", batch_group_count=3"),
             ((2, 17, 19, 6), (3, 3, 1, 6), "size=3x3 pad=1_1x1_1 rhs_reversal=1x0", "b01f_01io->b01f", (2, 17, 19, 6), ", feature_group_count=6"),
             ((2, 4, 30), (4, 2, 5), "size=5 stride=2", "bf0_oi0->bf0", (2, 4, 13), ", feature_group_count=2"),
             ((1, 4, 5, 6, 7), (4, 1, 2, 3, 2), "size=2x3x2 pad=0_0x1_1x0_1", "bf012_oi012->bf012", (1, 4, 4, 6, 7), ", feature_group_count=4"),
             ((3, 2, 8, 9), (4, 2, 6, 7), "size=6x7", "fb01_io01->bf01", (2, 2, 3, 3), ""),
             ((3, 2, 8, 9), (3, 4, 6, 7), "size=6x7", "fb01_io01->fb01", (4, 2, 3, 3), ""),
             ((2, 3, 7), (4, 3, 2), "size=2", "bf0_oi0->bf0", (2, 4, 6), ""), ((2, 3, 4, 5, 6), (4, 3, 2, 2, 2), "size=2x2x2", "bf012_oi012->bf012", (2, 4, 3, 4, 5), ""),
             ((2, 3), (4, 3), "", "bf_oi->bf", (2, 4), ""), ((0, 3, 8, 9), (4, 3, 3, 3), "size=3x3", "bf01_oi01->bf01", (0, 4, 6, 7), ""),
             ((3, 5, 20, 21), (70, 5, 3, 3), "size=3x3 pad=1_1x1_1", "bf01_oi01->bf01", (3, 70, 20, 21), ""), ((1, 40, 33, 17), (9, 40, 1, 1), "size=1x1", "bf01_oi01->bf01", (1, 9, 33, 17), ""),
             ((2, 3, 2, 2), (4, 3, 3, 3), "size=3x3", "bf01_oi01->bf01", (2, 4, 0, 0), ""),
             ((2, 3, 4, 5), (4, 3, 3, 3), "size=3x3 pad=4_4x4_4 lhs_dilate=2x2 rhs_dilate=2x3", "bf01_oi01->bf01", (2, 4, 11, 11), ""),
             ((2, 4, 5, 3), (3, 3, 3, 4), "size=3x3 pad=2_2x2_2 lhs_dilate=2x2", "b01f_01io->b01f", (2, 9, 11, 4), ""),
             ((2, 3, 4, 5), (4, 3, 1, 1), "size=1x1 pad=0_1x0_0 lhs_dilate=2x3", "bf01_oi01->bf01", (2, 4, 8, 13), ""),
             ((2, 6, 4, 5), (4, 3, 3, 3), "size=3x3 pad=2_2x2_2 lhs_dilate=2x2", "bf01_oi01->bf01", (2, 4, 9, 11), ", feature_group_count=2"),
             ((2, 3, 4, 5), (4, 3, 3, 3), "size=3x3 pad=2_2x2_2 lhs_dilate=2x2 rhs_reversal=1x1", "bf01_oi01->bf01", (2, 4, 9, 11), ""),
             ((2, 3, 4, 5), (4, 3, 3, 3), "size=3x3 stride=3x2 pad=2_2x2_2 lhs_dilate=2x2", "bf01_oi01->bf01", (2, 4, 3, 6), ""),
             ((2, 40, 32, 32), (2, 4, 30, 30), "size=30x30", "fb01_io01->fb01", (4, 40, 3, 3), ""))
    for kind in ("f32", "bf16", "f64", "s32", "f16"):
        for a, b, window, labels, result, more in table:
            if labels.startswith("fb01_io01->bf01"):
                b, result = (3, 4, 6, 7), (2, 4, 3, 3)
            x, k = numbers(kind, a, 1), numbers(kind, b, 2)
            window = "window={%s}, " % window if window else ""
            yield Case("convolution %s %s %s %s%s" % (kind, a, labels, window, more), entry(
                [x, k], "  ROOT r = %s convolution(p0, p1), %sdim_labels=%s%s" % (out(result, kind), window, labels, more)), [x, k], 4,
                scale=2 * tolerance(kind))


def norms():
    for kind in ("f32", "bf16", "f64"):
        for shape, feature in (((4, 3, 5, 6), 1), ((4, 5, 6, 3), 3), ((7, 2), 1), ((3, 9), 0)):
            n = shape[feature]
            x, g = numbers(kind, shape, 1), numbers(kind, shape, 2)
            scale, offset, mean = (numbers(kind, (n,), s) for s in (3, 4, 5))
            variance = np.abs(numbers(kind, (n,), 6)) + TYPES[kind](0.5)
            s, v = shape_of(x), shape_of(scale)
            tail = ", epsilon=0.001, feature_index=%d" % feature
            where = "%s %s %d" % (kind, shape, feature)
            close = {"scale": 32 * EPSILON[kind]}
            yield Case("batch-norm-training " + where, entry([x, scale, offset], "  ROOT r = (%s, %s, %s) batch-norm-training(p0, p1, p2)%s"
                       % (s, v, v, tail)), [x, scale, offset], 16, **close)
            yield Case("batch-norm-inference " + where, entry([x, scale, offset, mean, variance],
                       "  ROOT r = %s batch-norm-inference(p0, p1, p2, p3, p4)%s" % (s, tail)), [x, scale, offset, mean, variance], 16, **close)
            yield Case("batch-norm-grad " + where, entry([x, scale, mean, variance, g],
                       "  ROOT r = (%s, %s, %s) batch-norm-grad(p0, p1, p2, p3, p4)%s" % (s, v, v, tail)), [x, scale, mean, variance, g], 16, **close)


def cases():
    for family in (reduces, windows, dots, convolutions, norms):
        yield from family()
