"""Programs of HLO text, run by XLA's CPU client and by eval_run, and compared."""
import pathlib
import struct
import subprocess
import tempfile

import jax
import ml_dtypes
import numpy as np
from jaxlib import _jax, xla_client

jax.config.update("jax_enable_x64", True)
CLIENT = jax.devices("cpu")[0].client

TYPES = {"pred": np.bool_, "s8": np.int8, "s16": np.int16, "s32": np.int32, "s64": np.int64, "u8": np.uint8,
         "u16": np.uint16, "u32": np.uint32, "u64": np.uint64, "f16": np.float16, "bf16": ml_dtypes.bfloat16,
         "f32": np.float32, "f64": np.float64}
FLOATS = ("f16", "bf16", "f32", "f64")
SIGNED = ("s8", "s16", "s32", "s64")
UNSIGNED = ("u8", "u16", "u32", "u64")
INTEGERS = SIGNED + UNSIGNED
# Units in the last place that results may differ by.
EPSILON = {"f16": 2.0**-10, "bf16": 2.0**-7, "f32": 2.0**-23, "f64": 2.0**-52}


def name_of(array):
    return next(name for name, dtype in TYPES.items() if array.dtype == dtype)


def shape_of(array):
    """The shape as HLO text has it."""
    layout = ",".join(str(d) for d in reversed(range(array.ndim)))
    return "%s[%s]%s" % (name_of(array), ",".join(str(d) for d in array.shape), "{%s}" % layout if array.ndim else "")


def entry(arrays, body, before="", module="m"):
    """A module whose entry has a parameter p0, p1, .. for each array, then the lines of `body`."""
    lines = ["  p%d = %s parameter(%d)" % (i, shape_of(a), i) for i, a in enumerate(arrays)]
    return "HloModule %s\n%s\nENTRY e {\n%s\n%s\n}\n" % (module, before, "\n".join(lines), body)


class Case:
    expected = None  # what XLA gave, once asked

    def __init__(self, name, text, inputs, ulps=4, scale=0.0, error=None, check=None):
        """ulps: allowed difference in units in the last place; scale: allowed difference per unit of the largest finite
        result's magnitude, for sums; error: the expected message instead; check: a function of the outputs instead."""
        self.name, self.text, self.inputs = name, text, [np.asarray(i) for i in inputs]
        self.ulps, self.scale, self.error, self.check = ulps, scale, error, check
        self.proto = xla_client.hlo.hlo_module_from_text(text).as_serialized_hlo_module_proto()


def by_xla(case):
    """Results of XLA's CPU client, flat."""
    program = bytes(_jax.mlir.hlo_to_stablehlo(case.proto))
    executable = CLIENT.compile_and_load(program, _jax.DeviceList(tuple(jax.devices("cpu"))), xla_client.CompileOptions())
    return [np.asarray(out) for out in executable.execute([jax.device_put(i) for i in case.inputs])]


def by_device(program, cases, isa=()):
    """For each case (status, text, outputs as bytes).  isa: an instruction set below the processor's, or none."""
    with tempfile.TemporaryDirectory() as folder:
        source, target = pathlib.Path(folder, "cases"), pathlib.Path(folder, "results")
        with source.open("wb") as f:
            for case in cases:
                f.write(struct.pack("<Q", len(case.proto)) + case.proto + struct.pack("<Q", len(case.inputs)))
                for array in case.inputs:
                    data = np.ascontiguousarray(array).tobytes()
                    f.write(struct.pack("<Q", len(data)) + data)
        subprocess.run([program, str(source), str(target), *isa], check=True)
        data, at, results = target.read_bytes(), 0, []

        def number():
            nonlocal at
            at += 8
            return struct.unpack_from("<Q", data, at - 8)[0]

        def piece():
            nonlocal at
            length = number()
            at += length
            return data[at - length:at]

        for _ in cases:
            status, text = number(), piece().decode()
            results.append((status, text, [piece() for _ in range(number())]))
        return results


def difference(got, want, case):
    """None, or a sentence about the first place where two arrays differ by more than the case allows."""
    kind = name_of(want)
    if kind not in FLOATS:
        wrong = got != want
    else:
        g, w = got.astype(np.float64), want.astype(np.float64)
        finite = w[np.isfinite(w)]
        largest = np.abs(finite).max() if finite.size else 0.0
        # XLA's client flushes what is below the smallest normal number to zero.
        tiny = {"f16": 2.0**-14, "bf16": 2.0**-126, "f32": 2.0**-126, "f64": 2.0**-1022}[kind]
        allowed = case.ulps * EPSILON[kind] * np.abs(w) + case.scale * largest + tiny
        with np.errstate(invalid="ignore"):
            close = (np.isnan(g) & np.isnan(w)) | (g == w) | (np.abs(g - w) <= allowed)
            # a result that one side rounds to infinity and the other to the largest number
            edge = float(ml_dtypes.finfo(TYPES[kind]).max)
            close |= (np.abs(g) >= edge) & (np.abs(w) >= edge) & (np.sign(g) == np.sign(w)) & (case.ulps > 0)
        wrong = ~close
    if not wrong.any():
        return None
    place = tuple(int(i[0]) for i in np.nonzero(wrong)) if wrong.ndim else ()
    return "%d of %d differ, first at %s: %s, XLA has %s" % (wrong.sum(), wrong.size, place, got[place], want[place])


def verdict(case, result):
    """None, or what is wrong."""
    status, text, outputs = result
    if case.error is not None:
        return None if status != 0 and case.error in text else "error %r, expected %r" % (text, case.error)
    if status != 0:
        return text
    if case.check is not None:
        return case.check(outputs)
    if case.expected is None:
        case.expected = by_xla(case)
    expected = case.expected
    if len(expected) != len(outputs):
        return "%d outputs, XLA has %d" % (len(outputs), len(expected))
    for i, want in enumerate(expected):
        if len(outputs[i]) != want.nbytes:
            return "output %d has %d bytes, XLA's %d" % (i, len(outputs[i]), want.nbytes)
        wrong = difference(np.frombuffer(outputs[i], want.dtype).reshape(want.shape), want, case)
        if wrong:
            return "output %d: %s" % (i, wrong)
    return None
