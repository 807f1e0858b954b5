"""Control flow, tuples, aliases, random numbers, programs that JAX makes, and programs that must be refused."""
import jax
import jax.numpy as jnp
import numpy as np
from jaxlib import xla_client

from eval_cases_compute import numbers
from eval_cases_element import values
from eval_cases_shape import computation
from eval_hlo import FLOATS, TYPES, Case, entry, shape_of

LOOP = """body {
  s = (s32[], f32[5]{0}, f32[5]{0}) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  x = f32[5]{0} get-tuple-element(s), index=1
  w = f32[5]{0} get-tuple-element(s), index=2
  one = s32[] constant(1)
  n = s32[] add(i, one)
  y = f32[5]{0} multiply(x, w)
  z = f32[5]{0} add(y, w)
  ROOT r = (s32[], f32[5]{0}, f32[5]{0}) tuple(n, z, w)
}
condition {
  s = (s32[], f32[5]{0}, f32[5]{0}) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  most = s32[] constant(%d)
  ROOT r = pred[] compare(i, most), direction=LT
}
"""
SWAP = """body {
  s = (s32[], f32[4]{0}, f32[4]{0}) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  a = f32[4]{0} get-tuple-element(s), index=1
  b = f32[4]{0} get-tuple-element(s), index=2
  one = s32[] constant(1)
  n = s32[] add(i, one)
  ROOT r = (s32[], f32[4]{0}, f32[4]{0}) tuple(n, b, a)
}
condition {
  s = (s32[], f32[4]{0}, f32[4]{0}) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  most = s32[] constant(3)
  ROOT r = pred[] compare(i, most), direction=LT
}
"""


def control():
    x, w = numbers("f32", (5,), 1), numbers("f32", (5,), 2)
    for trips in (0, 1, 2, 7):
        i = np.asarray(np.int32(0))
        yield Case("while %d" % trips, entry([i, x, w], """  n = f32[5]{0} negate(p2)
  t = (s32[], f32[5]{0}, f32[5]{0}) tuple(p0, p1, n)
  l = (s32[], f32[5]{0}, f32[5]{0}) while(t), condition=condition, body=body
  a = s32[] get-tuple-element(l), index=0
  b = f32[5]{0} get-tuple-element(l), index=1
  c = f32[5]{0} get-tuple-element(l), index=2
  d = f32[5]{0} add(b, n)
  ROOT r = (s32[], f32[5]{0}, f32[5]{0}, f32[5]{0}) tuple(a, b, c, d)""", LOOP % trips), [i, x, w], 8, scale=1e-6)
    i, a, b = np.asarray(np.int32(0)), numbers("f32", (4,), 1), numbers("f32", (4,), 2)
    yield Case("while that swaps", entry([i, a, b], """  t = (s32[], f32[4]{0}, f32[4]{0}) tuple(p0, p1, p2)
  ROOT l = (s32[], f32[4]{0}, f32[4]{0}) while(t), condition=condition, body=body""", SWAP), [i, a, b], 0)
    branches = "".join("b%d {\n  q = f32[5]{0} parameter(0)\n  ROOT r = f32[5]{0} %s(q)\n}\n" % (k, o) for k, o in
                       enumerate(("negate", "abs", "sine")))
    for choice in (-1, 0, 1, 2, 9):
        i = np.asarray(np.int32(choice))
        yield Case("conditional %d" % choice, entry([i, x, w], "  ROOT r = f32[5]{0} conditional(p0, p1, p2, p1), "
                   "branch_computations={b0, b1, b2}", branches), [i, x, w], 4)
    for choice in (False, True):
        i = np.asarray(choice)
        yield Case("conditional %s" % choice, entry([i, x, w], "  ROOT r = f32[5]{0} conditional(p0, p1, p2), "
                   "true_computation=b0, false_computation=b1", branches), [i, x, w], 0)
    callee = "g {\n  q = f32[5]{0} parameter(0)\n  v = f32[5]{0} parameter(1)\n  m = f32[5]{0} subtract(q, v)\n" \
             "  ROOT r = (f32[5]{0}, f32[5]{0}, f32[5]{0}) tuple(m, q, m)\n}\n"
    yield Case("call", entry([x, w], "  ROOT c = (f32[5]{0}, f32[5]{0}, f32[5]{0}) call(p0, p1), to_apply=g", callee), [x, w], 0)
    yield Case("tuples in tuples", entry([x, w], """  a = f32[5]{0} add(p0, p1)
  t = (f32[5]{0}, f32[5]{0}) tuple(a, p1)
  u = ((f32[5]{0}, f32[5]{0}), f32[5]{0}) tuple(t, p0)
  o = ((f32[5]{0}, f32[5]{0}), f32[5]{0}) opt-barrier(u)
  g = (f32[5]{0}, f32[5]{0}) get-tuple-element(o), index=0
  h = f32[5]{0} get-tuple-element(g), index=1
  c = f32[5]{0} constant({1, 2, 3, 4, 5})
  k = f32[5]{0} copy(a)
  ROOT r = (f32[5]{0}, f32[5]{0}, f32[5]{0}, f32[5]{0}, f32[5]{0}) tuple(h, a, c, a, k)"""), [x, w], 0)
    m = numbers("f32", (2, 3), 1)
    yield Case("constant in another layout", entry([m], "  c = f32[2,3]{0,1} constant({{1, 2, 3}, {4, 5, 6}})\n"
               "  ROOT r = f32[2,3]{1,0} add(p0, c)"), [m], 0)


def aliases():
    """Outputs in the memory of inputs, read from the bytes since XLA's client here does not donate."""
    a, b = numbers("f32", (6,), 1), numbers("f32", (6,), 2)
    header = "m, input_output_alias={ {0}: (0, {}, may-alias), {1}: (1, {}, may-alias) }"
    for name, body in (
            ("update", "  s = f32[6]{0} subtract(p0, p1)\n  n = f32[6]{0} negate(p1)\n  ROOT r = (f32[6]{0}, f32[6]{0}) tuple(s, n)"),
            ("read later", "  s = f32[6]{0} subtract(p0, p1)\n  n = f32[6]{0} add(p0, s)\n  ROOT r = (f32[6]{0}, f32[6]{0}) tuple(s, n)"),
            ("swapped", "  ROOT r = (f32[6]{0}, f32[6]{0}) tuple(p1, p0)"), ("unchanged", "  ROOT r = (f32[6]{0}, f32[6]{0}) tuple(p0, p1)"),
            ("not element by element", "  v = f32[6]{0} reverse(p0), dimensions={0}\n  w = f32[6]{0} add(v, p1)\n  u = f32[6]{0} reverse(w), dimensions={0}\n"
             "  ROOT r = (f32[6]{0}, f32[6]{0}) tuple(u, w)")):
        yield Case("alias, " + name, entry([a, b], body, module=header), [a, b], 0)


def bits():
    for algorithm, words in (("rng_default", 3), ("rng_philox", 2), ("rng_philox", 3), ("rng_three_fry", 2)):
        for kind in ("u32", "u64", "u16", "u8", "s32"):
            for dims in ((), (0,), (5,), (8,), (3, 5), (4, 6), (3, 3, 3), (1, 3)):
                state = np.array([0x123456789abcdef0, 0xfffffffffffffffd, 0xffffffffffffffff][:words], np.uint64)
                result = shape_of(np.zeros(dims, TYPES[kind]))
                yield Case("rng-bit-generator %s %d %s %s" % (algorithm, words, kind, dims), entry(
                    [state], "  ROOT r = (%s, %s) rng-bit-generator(p0), algorithm=%s" % (shape_of(state), result, algorithm)), [state], 0)


def spread(kind, mean, deviation, low=-np.inf, high=np.inf):
    def check(outputs):
        x = np.frombuffer(outputs[0], TYPES[kind]).astype(np.float64)
        near = abs(x.mean() - mean) < deviation / 20 and abs(x.std() - deviation) < deviation / 20
        inside = (x >= low).all() and (x < high).all()
        return None if near and inside and len(np.unique(x)) > 2 else "mean %g, deviation %g, %g to %g" % (x.mean(), x.std(), x.min(), x.max())
    return check


def random():
    for kind in ("f32", "f64", "bf16", "f16", "s32"):
        a, b = np.asarray(np.array(-2).astype(TYPES[kind])), np.asarray(np.array(6).astype(TYPES[kind]))
        yield Case("rng uniform %s" % kind, entry([a, b], "  ROOT r = %s[100,100]{1,0} rng(p0, p1), distribution=rng_uniform" % kind), [a, b],
                   check=spread(kind, 1.5 if kind == "s32" else 2, 2.29 if kind == "s32" else 8 / 12**0.5, -2, 6))
        if kind in FLOATS:
            yield Case("rng normal %s" % kind, entry([a, b], "  ROOT r = %s[100,100]{1,0} rng(p0, p1), distribution=rng_normal" % kind),
                       [a, b], check=spread(kind, -2, 6))
    yield Case("rng-get-and-update-state", entry([], "  ROOT r = u64[2]{0} rng-get-and-update-state(), delta=7"), [],
               check=lambda outputs: None if len(outputs[0]) == 16 else "wrong size")


class JaxCase(Case):
    """A function as JAX lowers it."""

    def __init__(self, name, function, inputs, ulps=16, scale=2e-6):
        lowered = jax.jit(function).lower(*inputs)
        self.name, self.inputs, self.ulps, self.scale = name, inputs, ulps, scale
        self.error = self.check = None
        self.proto = lowered.compiler_ir("hlo").as_serialized_hlo_module_proto()


def model(w, x):
    h = jax.nn.gelu(x @ w["a"] + w["b"], approximate=False)
    h = (h - h.mean(-1, keepdims=True)) / jnp.sqrt(h.var(-1, keepdims=True) + 1e-5)
    return h @ w["c"]


def attention(q, k, v):
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) / np.float32(np.sqrt(q.shape[-1]))
    mask = jnp.tril(jnp.ones(scores.shape[-2:], bool))
    return jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(jnp.where(mask, scores, -jnp.inf), -1), v)


def pooled(x, k):
    y = jax.lax.conv_general_dilated(x, k, (2, 2), "SAME", dimension_numbers=("NCHW", "OIHW", "NCHW"))
    return jax.lax.reduce_window(jax.nn.relu(y), -jnp.inf, jax.lax.max, (1, 1, 2, 2), (1, 1, 2, 2), "VALID")


def programs():
    f = lambda shape, seed: numbers("f32", shape, seed)
    w = {"a": f((12, 20), 1), "b": f((20,), 2), "c": f((20, 5), 3)}
    x, y = f((7, 12), 4), np.arange(7) % 5
    loss = lambda a, b, c, x, y: -jnp.take_along_axis(jax.nn.log_softmax(model({"a": a, "b": b, "c": c}, x)), y[:, None], 1).mean()
    yield JaxCase("JAX: training of a small model", jax.value_and_grad(loss, (0, 1, 2)), [w["a"], w["b"], w["c"], x, y], 64, 1e-5)
    q = [f((2, 6, 3, 8), s) for s in range(3)]
    yield JaxCase("JAX: attention", attention, q)
    yield JaxCase("JAX: gradient of attention", jax.grad(lambda *a: (attention(*a)**2).sum(), (0, 1, 2)), q, 64, 1e-5)
    image, kernel = f((2, 3, 16, 16), 1), f((4, 3, 3, 3), 2)
    yield JaxCase("JAX: convolution and pooling", pooled, [image, kernel])
    yield JaxCase("JAX: gradient of convolution and pooling", jax.grad(lambda *a: (pooled(*a)**2).sum(), (0, 1)), [image, kernel], 64, 1e-5)
    depthwise = lambda x, k: jax.lax.conv_general_dilated(x, k, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"), feature_group_count=4)
    x4, k4 = f((2, 9, 9, 4), 1), f((3, 3, 1, 8), 2)
    yield JaxCase("JAX: gradient of a depthwise convolution", jax.grad(lambda *a: (depthwise(*a)**2).sum(), (0, 1)), [x4, k4], 64, 1e-5)
    v = f((6, 50), 5)
    for name, g in (("sort", lambda a: jnp.sort(a, -1)), ("argsort", lambda a: jnp.argsort(a, 0)), ("argmax", lambda a: jnp.argmax(a, 1)),
                    ("cumsum", lambda a: jnp.cumsum(a, 1)), ("cumulative maximum", lambda a: jax.lax.cummax(a, 0)), ("top_k", lambda a: jnp.sort(a, -1)[:, -3:]),
                    ("median", lambda a: jnp.median(a, 1)), ("logsumexp", lambda a: jax.nn.logsumexp(a, 1)), ("flip and roll", lambda a: jnp.roll(a[::-1], 3, 1)),
                    ("nan to number", lambda a: jnp.nan_to_num(jnp.log(a))), ("one hot", lambda a: jax.nn.one_hot(jnp.argmax(a, 1), 50)),
                    ("threefry", lambda a: a + jax.random.normal(jax.random.key(3), a.shape)), ("scan", lambda a: jax.lax.scan(lambda c, r: (c * 0.5 + r, c.sum()), a[0], a)),
                    ("while", lambda a: jax.lax.while_loop(lambda s: s[0].sum() < 1e3, lambda s: (s[0] * 1.5 + 1, s[1] + 1), (jnp.abs(a), 0))),
                    ("interpolation", lambda a: jax.image.resize(a, (9, 31), "bilinear")), ("unique rows", lambda a: jnp.searchsorted(jnp.sort(a[0]), a[1])),
                    ("index update", lambda a: a.at[jnp.array([0, 2, 2])].add(1.0).at[:, 3].set(0)), ("cond", lambda a: jax.lax.cond(a[0, 0] > 0, jnp.sin, jnp.cos, a))):
        yield JaxCase("JAX: " + name, g, [v], 32, 4e-6)
    yield JaxCase("JAX: bfloat16 model", lambda a, b: jax.nn.silu((a.astype(jnp.bfloat16) @ b.astype(jnp.bfloat16))).astype(jnp.float32), [x, w["a"]], 0, 2e-2)


def refused():
    x, c = numbers("f32", (4, 4), 1), np.zeros((4,), np.complex64)
    yield Case("an opcode that is not supported", entry([x], "  ROOT %fft.3 = c64[4,3]{1,0} fft(p0), fft_type=RFFT, fft_length={4}"), [x],
               error="opcode fft of instruction %fft.3 is not supported by this device")
    yield Case("an opcode that is not supported", entry([x], "  ROOT ch = f32[4,4]{1,0} cholesky(p0), lower=true"), [x],
               error="opcode cholesky of instruction %ch is not supported by this device")
    yield Case("a custom call that is not known", entry([x], '  ROOT q = f32[4,4]{1,0} custom-call(p0), custom_call_target="lapack_sgeqrf"'), [x],
               error='the target "lapack_sgeqrf" of custom-call %q is not supported by this device')
    narrow = np.zeros((4,), np.int8)
    yield Case("a type that is not supported", entry([narrow], "  k = s4[4]{0} convert(p0)\n  ROOT r = s8[4]{0} convert(k)"), [narrow],
               error="type s4 of instruction %k is not supported by this device")
    f = "f {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  v = f32[3]{0} broadcast(a), dimensions={}\n  w = f32[1]{0} slice(v), slice={[0:1]}\n" \
        "  s = f32[] reshape(w)\n  ROOT r = f32[] add(s, b)\n}\n"
    zero = np.asarray(np.float32(0))
    yield Case("a computation of arrays", entry([x, zero], "  ROOT r = f32[4]{0} reduce(p0, p1), dimensions={0}, to_apply=f", f), [x, zero],
               error="reduce of instruction %r.1: it calls a computation that is more than operations on scalars")
    yield Case("annotations", entry([x], '  ROOT s = f32[4,4]{1,0} custom-call(p0), custom_call_target="Sharding"'), [x],
               check=lambda outputs: None if outputs[0] == x.tobytes() else "changed")


def cases():
    for family in (control, aliases, bits, random, programs, refused):
        yield from family()
