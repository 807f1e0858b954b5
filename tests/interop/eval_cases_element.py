"""Element-wise operations in every type, over values that are ordinary, large, tiny, negative, infinite and NaN."""
import numpy as np

from eval_hlo import FLOATS, INTEGERS, SIGNED, TYPES, Case, entry, shape_of

UNARY_FLOAT = {  # opcode: (ulps, scale): how far XLA and the device may be apart
    "abs": 0, "ceil": 0, "cosine": 4, "erf": 12, "exponential": 4, "exponential-minus-one": 8, "floor": 0, "log": 4,
    "log-plus-one": 6, "logistic": 6, "negate": 0, "round-nearest-afz": 0, "round-nearest-even": 0, "rsqrt": 3, "cbrt": 4,
    "sign": 0, "sine": 4, "sqrt": 2, "tan": 8, "tanh": 8, "is-finite": 0}
BINARY_FLOAT = {"add": 0, "subtract": 0, "multiply": 0, "divide": 1, "remainder": 0, "maximum": 0, "minimum": 0,
                "power": 8, "atan2": 6}
UNARY_INTEGER = ("not", "negate", "popcnt", "count-leading-zeros", "abs", "sign")
BINARY_INTEGER = ("add", "subtract", "multiply", "divide", "remainder", "maximum", "minimum", "and", "or", "xor",
                  "shift-left", "shift-right-logical", "shift-right-arithmetic")
DIRECTIONS = ("EQ", "NE", "GE", "GT", "LE", "LT")
SHAPES = ((), (0,), (7, 3), (1531,))  # a scalar, nothing, small, more than a chunk


def values(kind, shape, seed):
    """Random numbers of many magnitudes; special ones among them where there is room."""
    random = np.random.default_rng(seed)
    dtype = TYPES[kind]
    if kind == "pred":
        return random.integers(0, 2, shape).astype(dtype)
    if kind in INTEGERS:
        info = np.iinfo(dtype)
        array = random.integers(info.min, info.max, shape, dtype=dtype, endpoint=True)
        small = random.integers(-9 if info.min < 0 else 0, 9, shape).astype(dtype)
        array = np.asarray(np.where(random.random(shape) < 0.5, array, small))
        specials = [0, 1, info.min, info.max, 2, info.max - 1, -1 if info.min < 0 else 3]
    else:
        array = np.asarray(random.standard_normal(shape) * 10.0**random.integers(-3, 3, shape)).astype(dtype)
        specials = [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 0.5, -0.5, 2.5, -1.5, 88.8, -103.0, 1e4, -6e4, 3e38, 1e-3]
    if array.size > 100:
        flat = array.reshape(-1)
        with np.errstate(over="ignore"):
            chosen = np.array(specials).astype(dtype) if kind in FLOATS else np.array(specials, dtype=dtype)
        for i in range(len(chosen)):  # each special value against each other one, in neighbouring arrays
            flat[i * 3 + seed % 2 * 3 * ((i * 7) % 5)] = chosen[(i + seed) % len(chosen)]
    return array


def out(shape, kind):
    return shape_of(np.zeros(shape, TYPES[kind]))


def unary(opcode, kind, ulps, result=None):
    for shape in SHAPES:
        x = values(kind, shape, 1)
        yield Case("%s %s %s" % (opcode, kind, shape), entry([x], "  ROOT r = %s %s(p0)" % (out(shape, result or kind), opcode)),
                   [x], ulps)


def binary(opcode, kind, ulps):
    for shape in SHAPES:
        a, b = values(kind, shape, 1), values(kind, shape, 2)
        yield Case("%s %s %s" % (opcode, kind, shape), entry([a, b], "  ROOT r = %s %s(p0, p1)" % (out(shape, kind), opcode)),
                   [a, b], ulps)


def arithmetic():
    for kind in FLOATS:
        for opcode, ulps in UNARY_FLOAT.items():
            if opcode == "log-plus-one" and kind == "f64":
                ulps = 100  # XLA's own is that far from the exact value
            half = kind in ("f16", "bf16") and ulps
            yield from unary(opcode, kind, min(ulps, 2) if half else ulps, "pred" if opcode == "is-finite" else None)
        for opcode, ulps in BINARY_FLOAT.items():
            yield from binary(opcode, kind, 1 if kind in ("f16", "bf16") else ulps)
    for kind in INTEGERS:
        for opcode in UNARY_INTEGER:
            if kind in SIGNED or opcode not in ("abs", "sign"):
                yield from unary(opcode, kind, 0)
        for opcode in BINARY_INTEGER:
            yield from binary(opcode, kind, 0)
    yield from unary("not", "pred", 0)
    for opcode in ("and", "or", "xor", "maximum", "minimum", "add", "multiply"):
        yield from binary(opcode, "pred", 0)


def powers():
    for kind in INTEGERS:
        a = np.array([0, 1, 2, 3, 7, 2, 5, 1], TYPES[kind])
        b = np.array([0, 5, 6, 3, 2, 0, 1, 7], TYPES[kind])
        if kind in SIGNED:
            a, b = np.append(a, TYPES[kind]([-1, -1, -2, 1, 2, -3])), np.append(b, TYPES[kind]([3, -2, 3, -5, -1, 2]))
        yield Case("power %s" % kind, entry([a, b], "  ROOT r = %s power(p0, p1)" % shape_of(a)), [a, b], 0)


def comparisons():
    for kind in TYPES:
        for direction in DIRECTIONS:
            a, b = values(kind, (801,), 1), values(kind, (801,), 2)
            b[::5] = a[::5]
            result = out((801,), "pred")
            yield Case("compare %s %s" % (direction, kind),
                       entry([a, b], "  ROOT r = %s compare(p0, p1), direction=%s" % (result, direction)), [a, b])
            if kind in FLOATS:
                yield Case("compare %s %s total order" % (direction, kind), entry(
                    [a, b], "  ROOT r = %s compare(p0, p1), direction=%s, type=TOTALORDER" % (result, direction)), [a, b])


def choices():
    for kind in TYPES:
        n = (650,)
        which, a, b = values("pred", n, 3), values(kind, n, 1), values(kind, n, 2)
        one = np.asarray(values("pred", (), 5))
        yield Case("select %s" % kind, entry([which, a, b], "  ROOT r = %s select(p0, p1, p2)" % out(n, kind)), [which, a, b], 0)
        yield Case("select %s by a scalar" % kind, entry([one, a, b], "  ROOT r = %s select(p0, p1, p2)" % out(n, kind)),
                   [one, a, b], 0)
        if kind == "pred":
            continue
        low = np.asarray(np.array(-2).astype(TYPES[kind]) if kind in FLOATS + SIGNED else TYPES[kind](2))
        high = np.asarray(np.array(3).astype(TYPES[kind]))
        yield Case("clamp %s" % kind, entry([low, a, high], "  ROOT r = %s clamp(p0, p1, p2)" % out(n, kind)), [low, a, high], 0)
        c = values(kind, n, 4)
        yield Case("clamp %s by arrays" % kind, entry([b, a, c], "  ROOT r = %s clamp(p0, p1, p2)" % out(n, kind)), [b, a, c], 0)


def conversions():
    for source in TYPES:
        for target in TYPES:
            x = values(source, (901,), 1)
            yield Case("convert %s to %s" % (source, target), entry([x], "  ROOT r = %s convert(p0)" % out((901,), target)), [x],
                       1 if target in ("f16", "bf16") else 0)
    for source, target, shape in (("f32", "s32", (5, 3)), ("f64", "u64", (4,)), ("bf16", "u16", (9,)), ("s8", "u8", ())):
        x = values(source, shape, 1)
        yield Case("bitcast-convert %s to %s" % (source, target),
                   entry([x], "  ROOT r = %s bitcast-convert(p0)" % out(shape, target)), [x], 0)
    x = values("u64", (3, 2), 1)
    yield Case("bitcast-convert to more elements", entry([x], "  ROOT r = u32[3,2,2]{2,1,0} bitcast-convert(p0)"), [x])
    x = values("u8", (3, 4), 1)
    yield Case("bitcast-convert to fewer elements", entry([x], "  ROOT r = u32[3]{0} bitcast-convert(p0)"), [x])
    for kind, bits in (("f32", (8, 7)), ("f32", (5, 10)), ("f32", (3, 2)), ("f64", (8, 23)), ("bf16", (5, 4)), ("f16", (4, 3))):
        x = values(kind, (500,), 1)
        yield Case("reduce-precision %s to %d, %d" % (kind, *bits), entry(
            [x], "  ROOT r = %s reduce-precision(p0), exponent_bits=%d, mantissa_bits=%d" % (shape_of(x), *bits)), [x], 0)


def chains():
    """Scalars that stand for arrays, and results in the place of operands."""
    for kind in ("f32", "bf16", "s32"):
        x = values(kind, (40, 30), 6) if kind == "s32" else np.clip(values(kind, (40, 30), 7).astype(np.float32), -9, 9).astype(TYPES[kind])
        x = np.nan_to_num(x.astype(np.float64), nan=1.0).astype(TYPES[kind])
        two = np.asarray(np.array(2).astype(TYPES[kind]))
        body = """  b = {s} broadcast(p1), dimensions={{}}
  m = {s} multiply(p0, b)
  a = {s} add(m, p0)
  n = {s} negate(a)
  q = {s} multiply(n, n)
  w = {s} broadcast(p1), dimensions={{}}
  d = {s} subtract(w, q)
  ROOT t = ({s}, {s}) tuple(d, a)""".format(s=shape_of(x))
        yield Case("chain %s" % kind, entry([x, two], body), [x, two], 4, scale=2e-7)


def cases():
    for family in (arithmetic, powers, comparisons, choices, conversions, chains):
        yield from family()
