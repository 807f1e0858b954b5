"""libxlalazy for the tests: every operation of include/xlaprof/lazy_ops.h as a function, with NumPy arrays in and out.

    xl.load(path)                      once
    y = xl.add(xl.tensor([1, 2], "f32"), xl.tensor([3, 4], "f32"))
    y.numpy()                          float32 [4, 6]
    xl.sum_dims(x, [0, 1], True)       pointer and count are one list; shapes are tuples; structures are dicts
    xl.linear(x, w, None)              None is XL_NONE

The functions are made from the header, so they have its names and its order of arguments.  bf16 is float32 on the side
of NumPy, with values that bf16 has.  An error of the library is raised as xl.Error.
"""
import ctypes
import pathlib
import re

import numpy as np

TREE = pathlib.Path(__file__).resolve().parent.parent.parent
TYPES = ("f32", "bf16", "i32", "i64", "u8", "bool")  # the order of xl_type
FLOATS, INTEGERS = ("f32", "bf16"), ("i32", "i64", "u8")
WIDTH = ("bool", "u8", "i32", "i64", "bf16", "f32")  # of two types a result has the later one
DTYPES = {"f32": np.float32, "bf16": np.float32, "i32": np.int32, "i64": np.int64, "u8": np.uint8, "bool": np.bool_}
MAX_RANK = 8


class Error(Exception):
    """What an error of the library says."""


class Handle(ctypes.Structure):
    _fields_ = [("index", ctypes.c_uint32), ("generation", ctypes.c_uint32)]


class Shape(ctypes.Structure):
    _fields_ = [("rank", ctypes.c_size_t), ("dims", ctypes.c_int64 * MAX_RANK)]


class Report(ctypes.Structure):
    _fields_ = [("status", ctypes.c_int), ("text", ctypes.c_char * 768)]


class DeviceOptions(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("plugin", ctypes.c_char_p), ("number", ctypes.c_int),
                ("options", ctypes.POINTER(ctypes.c_char_p))]


SIMPLE = {"xl_tensor": Handle, "xl_shape": Shape, "xl_type": ctypes.c_int, "double": ctypes.c_double, "int": ctypes.c_int,
          "int64_t": ctypes.c_int64, "size_t": ctypes.c_size_t, "bool": ctypes.c_bool}
library = None
functions = {}  # name: what xl.<name> is


# ---------------------------------------------------------------- bf16

def to_bf16(array):
    """The upper halves of float32 values, rounded to even."""
    bits = np.ascontiguousarray(array, np.float32).view(np.uint32)
    rounded = ((bits.astype(np.uint64) + 0x7FFF + (bits >> 16 & 1)) >> 16).astype(np.uint16)
    return np.where(np.isnan(array), np.uint16(0x7FC0), rounded).astype(np.uint16).reshape(np.shape(array))


def from_bf16(halves):
    return (halves.astype(np.uint32).reshape(-1) << 16).view(np.float32).reshape(halves.shape)


def rounded(array, kind):
    """Values as a type has them, in the dtype that stands for it."""
    with np.errstate(all="ignore"):
        array = np.asarray(array).astype(DTYPES[kind])
    return from_bf16(to_bf16(array)) if kind == "bf16" else array


# ---------------------------------------------------------------- tensors

class Tensor:
    """Owns a handle, with others: what is updated in place gives the same handle again, and so does a gradient."""

    owners = {}

    def __init__(self, handle):
        self.handle, self.key = handle, (handle.index, handle.generation)
        self.owners[self.key] = self.owners.get(self.key, 0) + 1

    def __del__(self):
        self.owners[self.key] -= 1
        if self.owners[self.key] == 0:
            del self.owners[self.key]
            if library is not None and self.handle.index != 0:
                library.xl_free_at(None, self.handle)

    def describe(self):
        kind, shape, report = ctypes.c_int(), Shape(), Report()
        library.xl_describe_at(None, self.handle, ctypes.byref(kind), ctypes.byref(shape), ctypes.byref(report))
        raise_report(report)
        return TYPES[kind.value], tuple(shape.dims[:shape.rank])

    @property
    def type(self):
        return self.describe()[0]

    @property
    def shape(self):
        return self.describe()[1]

    def numpy(self):
        kind, shape = self.describe()
        array = np.empty(shape, np.uint16 if kind == "bf16" else DTYPES[kind])
        report = Report()
        library.xl_to_host_at(None, self.handle, array.ctypes.data_as(ctypes.c_void_p), ctypes.c_size_t(array.nbytes),
                              ctypes.byref(report))
        raise_report(report)
        return from_bf16(array) if kind == "bf16" else array

    def requires_grad(self, is_wanted=True):
        library.xl_requires_grad_at(None, self.handle, is_wanted)
        raise_error()
        return self

    @property
    def grad(self):
        """A tensor, or None."""
        found = Tensor(library.xl_grad_at(None, self.handle))
        raise_error()
        return found if found.handle.index != 0 else None

    def zero_grad(self):
        library.xl_zero_grad_at(None, self.handle)

    def backward(self, gradient=None, keep_graph=False):
        if gradient is None:
            library.xl_backward_at(None, self.handle)
        else:
            library.xl_backward_from_at(None, self.handle, gradient.handle, keep_graph)
        raise_error()


def tensor(values, kind=None):
    """A tensor with the values of an array, of a type, or of the type of its dtype."""
    array = np.asarray(values)
    if kind is None:
        kind = next(k for k in TYPES if DTYPES[k] == array.dtype)
    with np.errstate(all="ignore"):
        array = np.asarray(array.astype(DTYPES[kind]), order="C")
    return __getattr__("from_host")(kind, array.shape, to_bf16(array) if kind == "bf16" else array)


# ---------------------------------------------------------------- errors

def raise_report(report):
    if report.status != 0:
        raise Error(report.text.decode())


def raise_error():
    report = Report()
    library.xl_error(ctypes.byref(report))
    raise_report(report)


# ---------------------------------------------------------------- functions of the header

def structures_of(text):
    """The structures of options, as ctypes has them."""
    found = {}
    for body, name in re.findall(r"typedef struct \{(.*?)\} (xl_\w+);", re.sub(r"/\*.*?\*/", "", text, flags=re.S), re.S):
        fields = []
        for kind, names in re.findall(r"(\w+) ([^;]+);", body):
            for field, count in re.findall(r"(\w+)(?:\[(\d+)\])?", names):
                fields.append((field, SIMPLE[kind] * int(count) if count else SIMPLE[kind]))
        found[name] = type(name, (ctypes.Structure,), {"_fields_": fields})
    return found


class Parameter:
    """One parameter of C: its type, and whether a list of Python gives it together with the count behind it."""

    def __init__(self, text, structures):
        kind, self.name = re.fullmatch(r"(?:const )?(\w+ \*?)(\w+)", text.strip()).groups()
        self.is_pointer = kind.endswith("*")
        self.kind = kind.rstrip(" *")
        self.structure = structures.get(self.kind)
        self.type = ctypes.c_void_p if self.is_pointer else SIMPLE[self.kind]

    def is_count_of(self, other):
        return self.kind == "size_t" and other is not None and other.is_pointer and other.kind != "void"


def handle_of(value):
    return value.handle if value is not None else Handle(0, 0)


def value_of(parameter, value):
    """What ctypes takes: a value and what must live as long as the call."""
    if parameter.structure is not None:
        if value is None:
            return None, None
        kept = parameter.structure()
        for name, field in value.items():
            is_tensor = field is None or isinstance(field, Tensor)
            setattr(kept, name, handle_of(field) if is_tensor else tuple(field) if isinstance(field, (list, tuple)) else field)
        return ctypes.addressof(kept), kept
    if parameter.kind == "void":
        kept = np.ascontiguousarray(value)
        return kept.ctypes.data, kept
    if parameter.is_pointer:
        kept = (SIMPLE[parameter.kind] * max(len(value), 1))(
            *[handle_of(v) if parameter.kind == "xl_tensor" else v for v in value])
        return ctypes.addressof(kept), kept
    if parameter.kind == "xl_tensor":
        return handle_of(value), None
    if parameter.kind == "xl_shape":
        kept = Shape(len(value))
        kept.dims[:min(len(value), MAX_RANK)] = value[:MAX_RANK]
        return kept, None
    return TYPES.index(value) if parameter.kind == "xl_type" else value, None


def function_of(name, parameters):
    function = getattr(library, "xl_%s_at" % name, None)
    if function is None:
        def missing(*_):
            raise AssertionError("the library has no xl_%s" % name)
        return missing
    function.restype = Handle
    function.argtypes = [ctypes.c_void_p] + [p.type for p in parameters]

    def call(*arguments):
        words, kept, rest, last = [], [], list(arguments), None
        for parameter in parameters:
            if parameter.is_count_of(last):
                words.append(len(counted))
            else:
                counted = rest.pop(0)
                word, memory = value_of(parameter, counted)
                words.append(word)
                kept.append(memory)
            last = parameter
        if rest:
            raise TypeError("xl.%s takes %d arguments fewer" % (name, len(rest)))
        result = Tensor(function(None, *words))
        raise_error()
        return result

    call.__name__ = name
    return call


def load(path):
    """Loads the library and makes the functions."""
    global library
    loaded = ctypes.CDLL(str(path), mode=ctypes.RTLD_GLOBAL)
    loaded.xl_free_at.argtypes = [ctypes.c_void_p, Handle]
    loaded.xl_grad_at.argtypes, loaded.xl_grad_at.restype = [ctypes.c_void_p, Handle], Handle
    loaded.xl_requires_grad_at.argtypes = [ctypes.c_void_p, Handle, ctypes.c_bool]
    loaded.xl_zero_grad_at.argtypes = [ctypes.c_void_p, Handle]
    loaded.xl_backward_at.argtypes = [ctypes.c_void_p, Handle]
    loaded.xl_backward_from_at.argtypes = [ctypes.c_void_p, Handle, Handle, ctypes.c_bool]
    loaded.xl_describe_at.argtypes = [ctypes.c_void_p, Handle] + [ctypes.c_void_p] * 3
    loaded.xl_to_host_at.argtypes = [ctypes.c_void_p, Handle, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p]
    loaded.xl_device_name.restype, loaded.xl_device_name.argtypes = ctypes.c_char_p, [ctypes.c_void_p]
    loaded.xl_device_use.argtypes = [ctypes.c_void_p]
    loaded.xl_set_eager.argtypes = [ctypes.c_bool]
    loaded.xl_set_grad_mode.argtypes, loaded.xl_set_grad_mode.restype = [ctypes.c_bool], ctypes.c_bool
    loaded.xl_manual_seed.argtypes = [ctypes.c_uint64]
    loaded.xl_sync_at.argtypes = [ctypes.c_void_p, ctypes.c_bool, ctypes.c_void_p]
    loaded.xl_sync_tensors_at.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_bool, ctypes.c_void_p]
    loaded.xl_node_bytes.argtypes, loaded.xl_node_bytes.restype = [ctypes.c_void_p], ctypes.c_size_t
    library = loaded
    text = (TREE / "include" / "xlaprof" / "lazy_ops.h").read_text()
    structures = structures_of(text)
    for name, parameters in re.findall(r"^XL_OP\((\w+), (.*?)\);", text, re.S | re.M):
        functions[name] = function_of(name, [Parameter(p, structures) for p in parameters.split(",")])


def __getattr__(name):
    try:
        return functions[name]
    except KeyError:
        raise AttributeError("lazy_ops.h has no operation %s" % name) from None


# ---------------------------------------------------------------- the rest of lazy.h

def open_device(plugin="embedded"):
    """Opens a device and uses it; gives its handle for use_device."""
    options = DeviceOptions(ctypes.sizeof(DeviceOptions), str(plugin).encode(), 0, None)
    device, report = ctypes.c_void_p(), Report()
    library.xl_device_open(ctypes.byref(options), ctypes.byref(device), ctypes.byref(report))
    raise_report(report)
    return device


def use_device(device):
    library.xl_device_use(device)


def device_name(device):
    return library.xl_device_name(device).decode()


def sync():
    report = Report()
    library.xl_sync_at(None, True, ctypes.byref(report))
    raise_report(report)


def sync_tensors(tensors):
    handles = (Handle * max(len(tensors), 1))(*[t.handle for t in tensors])
    report = Report()
    library.xl_sync_tensors_at(None, handles, len(tensors), True, ctypes.byref(report))
    raise_report(report)


def set_eager(is_eager):
    library.xl_set_eager(is_eager)


def set_grad_mode(is_on):
    return library.xl_set_grad_mode(is_on)


def manual_seed(seed):
    library.xl_manual_seed(seed)


def nodes_alive():
    count = ctypes.c_size_t()
    library.xl_node_bytes(ctypes.byref(count))
    return count.value


def shutdown():
    global library
    library.xl_shutdown()
    library = None
