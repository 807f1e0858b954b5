#!/usr/bin/env python3
"""Programs that JAX lowers, for a PJRT plugin that runs them through our client, held against numpy.

Runs inside the peers' environment.

    pjrt_peer.py CHECK PLUGIN_RUN PLUGIN.so [...]     CHECK is a function below
    pjrt_peer.py program FILE                         writes a program with names of scopes: tanh(x @ y) + 1

Fails with an assertion.
"""
import pathlib
import re
import subprocess
import sys
import tempfile

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np

# PJRT_Buffer_Type
TYPES = {"bool": 1, "int8": 2, "int32": 4, "int64": 5, "uint8": 6, "uint32": 8, "float16": 10, "float32": 11, "float64": 12,
         "bfloat16": 13, "complex64": 14}


# ---------------------------------------------------------------- programs with small instruction ids

def fields(message):
    """(number, wire type, value) of a protobuf message; a value is a number, or bytes."""
    at = 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = message[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(message):
        key = varint()
        size = {1: 8, 5: 4}.get(key & 7)
        if key & 7 == 0:
            yield key >> 3, 0, varint()
        else:
            size = varint() if size is None else size
            at += size
            yield key >> 3, key & 7, message[at - size:at]


def varint_bytes(value):
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes(out + bytes([value]))


def field_bytes(number, kind, value):
    key = varint_bytes(number << 3 | kind)
    if kind == 0:
        return key + varint_bytes(value)
    return key + (varint_bytes(len(value)) if kind == 2 else b"") + value


def rewritten(message, change):
    return b"".join(field_bytes(n, k, change(n, k, v)) for n, k, v in fields(message))


def renumbered(module):
    """The same HloModuleProto with ids 1, 2, 3...: JAX's have more than 32 bits, which old compilers abort on."""
    small = {}

    def new(number):
        return small.setdefault(number, len(small) + 1)

    def ids(kind, value):
        if kind == 0:
            return new(value)
        at, numbers = 0, []
        while at < len(value):
            end = at
            while value[end] > 127:
                end += 1
            numbers.append(sum((b & 127) << 7 * i for i, b in enumerate(value[at:end + 1])))
            at = end + 1
        return b"".join(varint_bytes(new(n)) for n in numbers)

    def instruction(number, kind, value):  # id, operand, control predecessor, called computation
        return ids(kind, value) if number in (35, 36, 37, 38) else value

    def computation(number, kind, value):  # instructions, id, root
        return rewritten(value, instruction) if number == 2 else ids(kind, value) if number in (5, 6) else value

    def top(number, kind, value):  # computations, entry
        return rewritten(value, computation) if number == 3 else ids(kind, value) if number == 6 else value

    return rewritten(module, top)


def lowered(function, *arguments, **options):
    """HloModuleProto and MLIR text."""
    low = jax.jit(function, keep_unused=True, **options).lower(*arguments)
    return renumbered(low.compiler_ir("hlo").as_serialized_hlo_module_proto()), low.as_text().encode()


# ---------------------------------------------------------------- running

class Plugin:
    def __init__(self, runner, library, folder):
        self.runner, self.library, self.folder = runner, library, pathlib.Path(folder)

    def call(self, *words):
        done = subprocess.run([self.runner, self.library, *map(str, words)], capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, (words, done.returncode, done.stdout[-500:], done.stderr[-500:])
        return done.stdout

    def saved(self, name, data):
        (self.folder / name).write_bytes(data)
        return self.folder / name

    def argument(self, i, array):
        path = self.saved("argument-%d" % i, np.ascontiguousarray(array).tobytes())
        return "%d:%s%s" % (TYPES[array.dtype.name], "".join("%d%s" % (n, "x" if d + 1 < array.ndim else ":")
                                                               for d, n in enumerate(array.shape)), path)

    def run(self, program, *arguments, fmt="hlo", keep=()):
        """(arrays, which arguments are gone)"""
        words = [self.argument(i, a) + ("!" if i in keep else "") for i, a in enumerate(arguments)]
        text = self.call("run", self.saved("program", program), fmt, self.folder, *words)
        assert "error" not in text, text
        assert set(re.findall(r"^as the program says: (.*)$", text, re.M)) <= {"1"}, text
        outputs = []
        names = {number: name for name, number in TYPES.items()}
        for i, row in enumerate(re.findall(r"^output \d+: (.*)$", text, re.M)):
            kind, *shape = map(int, row.split())
            dtype = getattr(ml_dtypes, names[kind], None) if names[kind] == "bfloat16" else np.dtype(names[kind])
            outputs.append(np.frombuffer((self.folder / ("output-%d" % i)).read_bytes(), dtype).reshape(shape))
        assert len(outputs) == int(re.search(r"^outputs: (\d+)$", text, re.M).group(1)), text
        return outputs, [int(x) for x in re.search(r"^deleted:(.*)$", text, re.M).group(1).split()]


def close(got, *expected):
    assert len(got) == len(expected), (len(got), len(expected))
    for g, e in zip(got, expected):
        e = np.asarray(e)
        assert g.dtype == e.dtype and g.shape == e.shape, (g.dtype, g.shape, e.dtype, e.shape)
        np.testing.assert_allclose(g.astype(np.complex64 if g.dtype.kind == "c" else np.float64),
                                   e.astype(np.complex64 if g.dtype.kind == "c" else np.float64), rtol=2e-5, atol=1e-6)


# ---------------------------------------------------------------- checks

def values(plugin):
    """Results of both formats are those of numpy, for all kinds of arrays that a runtime passes."""
    rng = np.random.default_rng(7)
    a, b = rng.standard_normal((33, 17)).astype(np.float32), rng.standard_normal((17, 5)).astype(np.float32)
    i = rng.integers(-9, 9, (4, 6)).astype(np.int32)
    half = a.astype(ml_dtypes.bfloat16)
    flags = a > 0
    empty = np.zeros((0, 3), np.float32)
    scalar = np.float32(2.5)
    cases = [
        (lambda x, y: x @ y, (a, b), (a @ b,)),
        (lambda x: (x + 1, jnp.sum(x), x * 2), (i.astype(np.float32),),
         (i.astype(np.float32) + 1, np.float32(i.sum()), i.astype(np.float32) * 2)),
        (lambda x: x * 3 - 1, (i,), (i * 3 - 1,)),
        (lambda x: x.T, (i,), (i.T,)),
        (lambda x: x + x, (half,), (half + half,)),
        (lambda x: jnp.logical_not(x), (flags,), (~flags,)),
        (lambda x: x + 1, (empty,), (empty,)),
        (lambda x: x * x, (np.asarray(scalar),), (np.float32(6.25),)),
        (lambda x: x.astype(jnp.uint8), (flags,), (flags.astype(np.uint8),)),
        (lambda x: x.astype(jnp.complex64) * 1j, (a,), (a.astype(np.complex64) * np.complex64(1j),)),
    ]
    for function, arguments, expected in cases:
        hlo, mlir = lowered(function, *arguments)
        close(plugin.run(hlo, *arguments)[0], *expected)
        close(plugin.run(mlir, *arguments, fmt="mlir")[0], *expected)


def donation(plugin):
    """A donated argument is gone afterwards, unless the caller keeps it; the result is the same."""
    a = np.arange(4096, dtype=np.float32)
    hlo, _ = lowered(lambda x, y: (x + y, jnp.sum(y)), a, a, donate_argnums=0)
    expected = (a + a, np.float32(a.sum()))
    for keep, gone in (((), [1, 0]), ((0,), [0, 0])):
        outputs, deleted = plugin.run(hlo, a, a, keep=keep)
        close(outputs, *expected)
        assert deleted == gone, (keep, deleted)
    plain, _ = lowered(lambda x, y: x + y, a, a)
    assert plugin.run(plain, a, a)[1] == [0, 0]


def many(plugin):
    """1000 executions in flight, two threads at once, a second device: every callback comes, and no sum is lost."""
    hlo, _ = lowered(lambda x: x + 1, np.float32(0))
    program = plugin.saved("program", hlo)
    assert plugin.call("flight", program, 1000).splitlines()[1:] == \
        ["chain 0: good 1000", "called back: 1000", "with an error: 0"]
    assert plugin.call("threads", program, 500).splitlines()[1:] == \
        ["chain 0: good 500", "chain 1: good 10500", "called back: 1000", "with an error: 0"]
    assert plugin.call("second", program).splitlines()[1:] == \
        ["chain 0: good 3", "called back: 3", "with an error: 0", "copy: 41"]


def errors(plugin):
    """The plugin's own words reach the caller, with the name of the function and the code."""
    a = np.ones(3, np.float32)
    hlo, _ = lowered(lambda x: x + 1, a)
    program = plugin.saved("program", hlo)

    def run(path, fmt, *arguments):
        return plugin.call("run", path, fmt, plugin.folder, *arguments)

    def error(text, pattern):
        assert re.search(r"^error: 12 %s" % pattern, text, re.M), text

    nonsense = plugin.saved("nonsense", b"func.func @main() { nonsense }")
    error(run(nonsense, "mlir"), r"PJRT_Client_Compile of the plugin \S+ failed: .*")
    error(run(nonsense, "hlo"), r"PJRT_Client_Compile of the plugin \S+ failed: .*")
    error(run(program, "klingon"), r"PJRT_Client_Compile .*(?i:format).*\(\w+\)")
    error(run(program, "hlo"), r"PJRT_LoadedExecutable_Execute .*\(INVALID_ARGUMENT\)")
    two = plugin.argument(0, np.ones(2, np.float32))
    error(run(program, "hlo", two), r"PJRT_LoadedExecutable_Execute .*size 12 .*size 8 .*\(INVALID_ARGUMENT\)")


def optimized(plugin):
    """The program that the compiler made has the operations' names, in a format that says which it is."""
    with_names(plugin.saved("program", program_with_names()), plugin,
               lambda program, saved: plugin.call("optimized", program, "hlo", saved))


def ahead(plugin, topology, devices):
    """The same without a device."""
    text = with_names(plugin.saved("program", program_with_names()), plugin,
                      lambda program, saved: plugin.call("topology", topology, program, saved))
    assert "platform: tpu\ndevices: %s\n" % devices in text, text
    assert "cannot be executed" in text, text


def with_names(program, plugin, call):
    saved = plugin.folder / "optimized"
    text = call(program, saved)
    assert re.search(r"^format: hlo_with_config$", text, re.M), text
    module = next(v for n, _, v in fields(saved.read_bytes()) if n == 1)
    names = set()
    for number, _, computation in fields(module):
        for n, _, value in fields(computation) if number == 3 else ():
            metadata = [v for m, _, v in fields(value) if m == 7] if n == 2 else []
            names |= {v.decode() for block in metadata for m, _, v in fields(block) if m == 2}
    assert any("forward" in name for name in names), names
    return text


def program_with_names():
    def step(x, y):
        with jax.named_scope("forward"):
            return jnp.tanh(x @ y) + 1

    return lowered(step, jnp.ones((64, 32)), jnp.ones((32, 16)))[0]


if __name__ == "__main__":
    if sys.argv[1] == "program":
        pathlib.Path(sys.argv[2]).write_bytes(program_with_names())
    else:
        with tempfile.TemporaryDirectory() as place:
            globals()[sys.argv[1]](Plugin(*sys.argv[2:4], place), *sys.argv[4:])
