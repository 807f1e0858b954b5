"""Annotate, profile and capture programs with libxlaprof, from Python.  One file, ctypes only.

    import xlaprof

    server = xlaprof.start_server(9012)           # lives as long as the object
    for step, batch in enumerate(data):
        with xlaprof.StepTrace("train", step_num=step):
            with xlaprof.Trace("forward"):
                ...

    xlaprof.start_trace("logs"); ...; xlaprof.stop_trace()         # this process
    xlaprof.trace("localhost:9012", "logs", duration_ms=2000)      # another one

The names and their arguments are those of torch_xla.debug.profiler and torch_xla.debug.metrics.  Failures raise
xlaprof.Error, a RuntimeError.

The shared library is looked for in $XLAPROF_LIBRARY, in build/ beside this file's folder, in the library folders of the
prefix that this file is installed in, and where the system looks.  A program that has imported jax gets a
jax.named_scope with every Trace, so that the name reaches what JAX traces inside of it.

Threads: everything may be used from any thread; a Trace ends on the thread that began it, the innermost one first.  So a
Trace must not hold an `await` or a `yield` if others can begin in between: its end would raise xlaprof.Error.
"""
import ctypes
import ctypes.util
import functools
import operator
import os
import pathlib
import sys
import threading

__all__ = ["Error", "Server", "StepTrace", "Trace", "set_step_barrier", "start_server", "start_trace", "stop_trace",
           "trace", "scope", "metrics_report", "short_metrics_report", "counter_names", "counter_value", "metric_names",
           "metric_data", "metric_percentile", "metric_rate", "executed_fallback_ops", "clear_counters",
           "clear_metrics", "clear_all"]


class Error(RuntimeError):
    """What the library answered; status is its code (xlaprof/error.h)."""

    def __init__(self, status, text):
        super().__init__(text)
        self.status = status


# ---------------------------------------------------------------- the library

def _find_library():
    here = pathlib.Path(__file__).resolve().parent
    named = os.environ.get("XLAPROF_LIBRARY")
    if named:
        return named
    prefix = here.parent.parent  # <prefix>/share/xlaprof/xlaprof.py
    folders = [here.parent / "build", prefix / "lib", *sorted(prefix.glob("lib/*-linux-gnu")), prefix / "lib64", here]
    for folder in folders:
        if (folder / "libxlaprof.so").exists():
            return str(folder / "libxlaprof.so")
    found = ctypes.util.find_library("xlaprof")
    if not found:
        raise ImportError("libxlaprof.so is not here: build it (make), install it (make install), or name it in "
                          "$XLAPROF_LIBRARY")
    return found


class _Error(ctypes.Structure):
    _fields_ = [("status", ctypes.c_int), ("text", ctypes.c_char * 768)]


class _Value(ctypes.Union):
    _fields_ = [("i", ctypes.c_int64), ("u", ctypes.c_uint64), ("d", ctypes.c_double), ("s", ctypes.c_char_p)]


class _Arg(ctypes.Structure):
    _fields_ = [("key", ctypes.c_char_p), ("type", ctypes.c_int), ("len", ctypes.c_uint32), ("value", _Value)]


class _Trace(ctypes.Structure):
    _fields_ = [("thread", ctypes.c_void_p), ("depth", ctypes.c_uint32), ("serial", ctypes.c_uint32)]


_BARRIER = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.POINTER(_Error))


class _Barrier(ctypes.Structure):
    _fields_ = [("wait", _BARRIER), ("context", ctypes.c_void_p)]


class _SessionOptions(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("host_tracer_level", ctypes.c_uint32),
                ("device_tracer_level", ctypes.c_uint32), ("python_tracer_level", ctypes.c_uint32),
                ("enable_hlo_proto", ctypes.c_bool), ("keep", ctypes.c_int), ("buffer_limit_bytes", ctypes.c_uint64),
                ("holder", ctypes.c_char_p), ("expected_ns", ctypes.c_uint64), ("logdir", ctypes.c_char_p),
                ("advanced", ctypes.POINTER(ctypes.c_char_p))]


class _ExportOptions(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("run", ctypes.c_char_p), ("host", ctypes.c_char_p),
                ("write_trace_json", ctypes.c_bool)]


class _ServerOptions(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("address", ctypes.c_char_p), ("port", ctypes.c_uint16),
                ("port_file", ctypes.c_char_p), ("buffer_limit_bytes", ctypes.c_uint64)]


_TELL = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_char_p)


class _CaptureOptions(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("duration_ms", ctypes.c_uint64), ("host_tracer_level", ctypes.c_uint32),
                ("device_tracer_level", ctypes.c_uint32), ("python_tracer_level", ctypes.c_int32),
                ("attempts", ctypes.c_uint32), ("delay_ms", ctypes.c_uint64), ("interval_ms", ctypes.c_uint64),
                ("timeout_ms", ctypes.c_uint64), ("save_on_server", ctypes.c_bool), ("session_id", ctypes.c_char_p),
                ("advanced", ctypes.POINTER(ctypes.c_char_p)), ("tell", _TELL), ("tell_context", ctypes.c_void_p),
                ("cancel", ctypes.POINTER(ctypes.c_int))]


class _CaptureResult(ctypes.Structure):
    _fields_ = [("target", ctypes.c_char_p), ("outcome", ctypes.c_int), ("bytes", ctypes.c_uint64),
                ("tries", ctypes.c_uint32), ("path", ctypes.c_char_p), ("message", ctypes.c_char_p)]


class _MetricSample(ctypes.Structure):  # pylint: disable=too-few-public-methods
    _fields_ = [("time_ns", ctypes.c_int64), ("value", ctypes.c_double)]


class _MetricData(ctypes.Structure):  # pylint: disable=too-few-public-methods
    _fields_ = [("unit", ctypes.c_int), ("total", ctypes.c_uint64), ("sum", ctypes.c_double),
                ("count", ctypes.c_size_t), ("samples", ctypes.POINTER(_MetricSample))]


_error_p, _arg_p = ctypes.POINTER(_Error), ctypes.POINTER(_Arg)
_FUNCTIONS = {
    "xp_trace_begin_copy": (_Trace, [ctypes.c_char_p, ctypes.c_size_t, _arg_p, ctypes.c_size_t]),
    "xp_step_begin_copy": (_Trace, [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_int64]),
    "xp_trace_end": (ctypes.c_int, [_Trace, _error_p]),
    "xp_trace_add": (None, [_Trace, _Arg]),
    "xp_scope_current": (ctypes.c_size_t, [ctypes.c_char_p, ctypes.c_size_t]),
    "xp_set_step_barrier": (None, [ctypes.POINTER(_Barrier)]),
    "xp_session_start": (ctypes.c_int, [ctypes.POINTER(_SessionOptions), _error_p]),
    "xp_session_save": (ctypes.c_int, [ctypes.POINTER(_ExportOptions), ctypes.POINTER(ctypes.c_void_p), _error_p]),
    "xp_export_wait": (ctypes.c_int, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t, _error_p]),
    "xp_server_start": (ctypes.c_int, [ctypes.POINTER(_ServerOptions), ctypes.POINTER(ctypes.c_void_p), _error_p]),
    "xp_server_port": (ctypes.c_uint16, [ctypes.c_void_p]),
    "xp_server_stop": (None, [ctypes.c_void_p]),
    "xp_capture_run": (ctypes.c_int, [ctypes.POINTER(ctypes.c_char_p), ctypes.c_size_t, ctypes.c_char_p,
                                      ctypes.POINTER(_CaptureOptions),
                                      ctypes.POINTER(ctypes.POINTER(_CaptureResult)), _error_p]),
    "xp_capture_results_free": (None, [ctypes.POINTER(_CaptureResult), ctypes.c_size_t]),
    "xp_metrics_report_text": (ctypes.c_void_p, []),
    "xp_metrics_report_short": (ctypes.c_void_p, [ctypes.POINTER(ctypes.c_char_p), ctypes.POINTER(ctypes.c_char_p)]),
    "xp_counter_names": (ctypes.POINTER(ctypes.c_char_p), [ctypes.POINTER(ctypes.c_size_t)]),
    "xp_metric_names": (ctypes.POINTER(ctypes.c_char_p), [ctypes.POINTER(ctypes.c_size_t)]),
    "xp_fallback_names": (ctypes.POINTER(ctypes.c_char_p), [ctypes.POINTER(ctypes.c_size_t)]),
    "xp_counter_read": (ctypes.c_bool, [ctypes.c_char_p, ctypes.POINTER(ctypes.c_int64)]),
    "xp_metric_read": (ctypes.POINTER(_MetricData), [ctypes.c_char_p]),
    "xp_metric_percentile": (ctypes.c_bool, [ctypes.c_char_p, ctypes.c_double, ctypes.POINTER(ctypes.c_double)]),
    "xp_metric_rate": (ctypes.c_bool, [ctypes.c_char_p, ctypes.POINTER(ctypes.c_double),
                                       ctypes.POINTER(ctypes.c_double)]),
    "xp_counters_clear": (None, []),
    "xp_metrics_clear": (None, []),
    "xp_metrics_clear_all": (None, []),
}


def _load():
    library = ctypes.CDLL(_find_library())
    for name, (result, arguments) in _FUNCTIONS.items():
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    return library


_lib = _load()
_libc = ctypes.CDLL(None)
_libc.free.argtypes, _libc.free.restype = [ctypes.c_void_p], None


def _check(status, error):
    if status:
        raise Error(status, error.text.decode(errors="replace"))


def _text(value):
    """A path or name as bytes that end at their NUL."""
    if value is None:
        return None
    text = os.fsencode(value)
    if b"\0" in text:
        raise ValueError(f"{value!r} has a NUL in it")
    return text


def _number(what, value, most):
    """ctypes would cut a number that is too large without a word."""
    number = operator.index(value)
    if not 0 <= number <= most:
        raise ValueError(f"{what} is {number}; it must be between 0 and {most}")
    return number


def _milliseconds(what, seconds):
    if not 0 <= seconds < 2**31:
        raise ValueError(f"{what} is {seconds}; it must be a number of seconds from 0 on, below 2**31")
    return int(seconds * 1000)


def _pairs(options):
    """{"key": value} as the library wants further options: key and value in turn, NULL at the end."""
    texts = []
    for key, value in (options or {}).items():
        texts += [str(key).encode(), (str(value).lower() if isinstance(value, bool) else str(value)).encode()]
    return (ctypes.c_char_p * (len(texts) + 1))(*texts, None)


# ---------------------------------------------------------------- annotations

_trace_begin, _trace_end = _lib.xp_trace_begin_copy, _lib.xp_trace_end

_INT, _UINT, _DOUBLE, _BOOL, _STR, _STR_COPY = range(6)
_keys = {}  # keys must live as long as the process: each is kept once


@functools.lru_cache(4096)
def _utf8(text):
    """What is no text, such as the name of a file in another encoding, gets a "?": it is no reason to stop a program."""
    return text.encode(errors="replace")


def _arg(key, value):
    kept = _keys.setdefault(key, _utf8(key))
    if isinstance(value, bool):
        return _Arg(kept, _BOOL, 0, _Value(i=int(value)))
    if isinstance(value, int) and -2**63 <= value < 2**63:
        return _Arg(kept, _INT, 0, _Value(i=value))
    if isinstance(value, int) and 0 <= value < 2**64:
        return _Arg(kept, _UINT, 0, _Value(u=value))
    if isinstance(value, float):
        return _Arg(kept, _DOUBLE, 0, _Value(d=value))
    text = _utf8(str(value))[:65535]
    return _Arg(kept, _STR_COPY, len(text), _Value(s=text))


def _jax_scope(name):
    """The named_scope of a program that uses JAX; importing it for those that do not would cost them seconds."""
    jax = sys.modules.get("jax")
    return jax.named_scope(_utf8(name).decode()) if jax is not None and hasattr(jax, "named_scope") else None


class Trace:
    """A trace: an event on the host's time line, and a scope for the operations inside.  Keywords become its stats.

    As a context manager, or a decorator of a function.
    """

    def __init__(self, name, /, **kwargs):
        self.name, self.kwargs = name, kwargs
        self._open = []  # a decorated function may call itself

    def _begin(self):
        name = _utf8(self.name)
        if not self.kwargs:
            return _trace_begin(name, len(name), None, 0)
        args = [_arg(k, v) for k, v in self.kwargs.items()]
        return _trace_begin(name, len(name), (_Arg * len(args))(*args), len(args))

    def _end(self, trace_):
        if _trace_end(trace_, None):  # refused, so it stays open: the second call says why
            error = _Error()
            _check(_trace_end(trace_, error), error)

    def __enter__(self):
        jax_scope = _jax_scope(self.name)
        self._open.append((self._begin(), jax_scope))
        if jax_scope is not None:
            jax_scope.__enter__()
        return self

    def __exit__(self, *exc):
        trace_, jax_scope = self._open[-1]
        self._end(trace_)  # raises if it is out of order, or on another thread: it stays open
        self._open.pop()
        if jax_scope is not None:
            jax_scope.__exit__(*exc)
        return False

    def set_metadata(self, **kwargs):
        """Further stats for the event, while it is open."""
        for key, value in kwargs.items():
            _lib.xp_trace_add(self._open[-1][0], _arg(key, value))

    def __call__(self, function):
        @functools.wraps(function)
        def traced(*args, **kwargs):
            with type(self)(self.name, **self.kwargs):
                return function(*args, **kwargs)
        return traced


class StepTrace(Trace):
    """A trace that marks one step.  Its end waits for the barrier (set_step_barrier), then closes the event."""

    def _begin(self):
        name, kwargs = _utf8(self.name), dict(self.kwargs)
        number = int(kwargs.pop("step_num", 0))
        if not -2**63 <= number < 2**63:
            raise ValueError(f"step_num is {number}; it must fit into 64 bits")
        trace_ = _lib.xp_step_begin_copy(name, len(name), number)
        for key, value in kwargs.items():
            _lib.xp_trace_add(trace_, _arg(key, value))
        return trace_

    def _end(self, trace_):
        error = _Error()
        _check(_trace_end(trace_, error), error)

    def __exit__(self, *exc):
        super().__exit__(*exc)
        failure, _barrier_failure.exception = getattr(_barrier_failure, "exception", None), None
        if failure is not None:
            raise failure
        return False


def scope():
    """The calling thread's scope: "train.1/forward.2"; empty outside of traces."""
    room = ctypes.create_string_buffer(4096)
    _lib.xp_scope_current(room, len(room))
    return room.value.decode(errors="replace")


_barrier_kept = None
_barrier_failure = threading.local()  # exceptions cannot pass through C: they wait here for the end of their step


def set_step_barrier(function):
    """What the end of every StepTrace waits for, such as torch_xla.sync; None takes it away."""
    global _barrier_kept
    if function is None:
        _lib.xp_set_step_barrier(None)
        _barrier_kept = None
        return

    def wait(_context, _error):
        try:
            function()
            return 0
        except BaseException as failure:  # pylint: disable=broad-except
            _barrier_failure.exception = failure
            return 0

    kept = _Barrier(_BARRIER(wait), None)
    _lib.xp_set_step_barrier(kept)
    _barrier_kept = kept


# ---------------------------------------------------------------- sessions

def start_trace(logdir, host_tracer_level=2, device_tracer_level=1, python_tracer_level=0, enable_hlo_proto=True,
                keep_newest=False, buffer_limit_bytes=512 << 20, options=None):
    """Starts recording this process; stop_trace writes the capture below logdir."""
    error = _Error()
    if logdir is None:
        raise TypeError("logdir is None: give a directory, for stop_trace writes the capture there")
    levels = [_number(what, level, 2**32 - 1) for what, level in (("host_tracer_level", host_tracer_level),
                                                                 ("device_tracer_level", device_tracer_level),
                                                                 ("python_tracer_level", python_tracer_level))]
    o = _SessionOptions(ctypes.sizeof(_SessionOptions), *levels, bool(enable_hlo_proto), bool(keep_newest),
                        _number("buffer_limit_bytes", buffer_limit_bytes, 2**64 - 1), b"an in-process session", 0,
                        _text(logdir), _pairs(options))
    _check(_lib.xp_session_start(o, error), error)


def stop_trace(trace_json=True):
    """Stops recording, writes the capture, and returns its path."""
    error, handle, path = _Error(), ctypes.c_void_p(), ctypes.create_string_buffer(4096)
    o = _ExportOptions(ctypes.sizeof(_ExportOptions), None, None, trace_json)
    _check(_lib.xp_session_save(o, ctypes.byref(handle), error), error)
    _check(_lib.xp_export_wait(handle, path, len(path), error), error)
    return os.fsdecode(path.value)


class Server:
    """A running profiler server; it stops with the object."""

    def __init__(self, port=0, address=None, port_file=None):
        error, handle = _Error(), ctypes.c_void_p()
        self._handle = None
        o = _ServerOptions(ctypes.sizeof(_ServerOptions), _text(address), _number("port", port, 65535),
                           _text(port_file), 0)
        _check(_lib.xp_server_start(o, ctypes.byref(handle), error), error)
        self._handle = handle
        self.port = _lib.xp_server_port(handle)

    def stop(self):
        handle, self._handle = self._handle, None
        if handle is not None:
            _lib.xp_server_stop(handle)

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.stop()

    def __del__(self):
        if getattr(self, "_handle", None) is not None:
            self.stop()


def start_server(port=0, address=None):
    """Starts a profiler server on the loopback address (or another one); keep the object as long as it shall live."""
    return Server(port, address)


# ---------------------------------------------------------------- other programs

def trace(service_addr, logdir, duration_ms=1000, num_tracing_attempts=3, host_tracer_level=2, device_tracer_level=1,
          delay_ms=0, timeout_s=120, interval_s=5, session_id=None, save_on_server=False, options=None, tell=None):
    """Captures the programs at "HOST:PORT[,HOST:PORT..]" and returns the paths of their captures.

    Asks again every interval_s until timeout_s is over; tell(text) hears why, on a thread of its own.  Blocks, without
    the GIL; Ctrl-C and other exceptions of signal handlers give the capture up.
    """
    targets = [_text(t) for t in service_addr.split(",")]
    run = _CaptureRun(targets, _text(logdir), tell, _CaptureOptions(
        ctypes.sizeof(_CaptureOptions), _number("duration_ms", duration_ms, 2**64 - 1),
        _number("host_tracer_level", host_tracer_level, 2**32 - 1),
        _number("device_tracer_level", device_tracer_level, 2**32 - 1), -1,
        _number("num_tracing_attempts", num_tracing_attempts, 2**32 - 1), _number("delay_ms", delay_ms, 2**64 - 1),
        _milliseconds("interval_s", interval_s), _milliseconds("timeout_s", timeout_s), save_on_server,
        _text(session_id), _pairs(options)))
    thread = threading.Thread(target=run, name="xlaprof.trace")
    thread.start()
    try:
        thread.join()
    finally:
        run.cancel.value = 1  # of no effect if it is over
        thread.join()
    if run.failure is not None:
        raise run.failure
    _check(run.status, run.error)
    return run.paths


class _CaptureRun:  # pylint: disable=too-few-public-methods,too-many-instance-attributes
    """A call of xp_capture_run, for a thread: the main thread must be free to run Python's signal handlers."""

    def __init__(self, targets, logdir, tell, options):
        self.targets, self.logdir, self.options = targets, logdir, options
        self.tell, self.failure, self.cancel = tell, None, ctypes.c_int(0)
        self.status, self.error, self.paths = None, _Error(), []
        self.options.tell = self.told = _TELL(self.hear)
        self.options.cancel = ctypes.pointer(self.cancel)

    def hear(self, _context, text):
        """Exceptions cannot pass through C: the first one gives the capture up and waits for its end."""
        try:
            if self.tell:
                self.tell(text.decode(errors="replace"))
        except BaseException as failure:  # pylint: disable=broad-except
            self.failure = self.failure or failure
            self.cancel.value = 1

    def __call__(self):
        count, results = len(self.targets), ctypes.POINTER(_CaptureResult)()
        self.status = _lib.xp_capture_run((ctypes.c_char_p * count)(*self.targets), count, self.logdir, self.options,
                                          ctypes.byref(results), self.error)
        self.paths = [os.fsdecode(results[i].path) for i in range(count) if results and results[i].path]
        _lib.xp_capture_results_free(results, count)


# ---------------------------------------------------------------- counters and metrics

def _taken(text):
    """A text of the library, which is freed."""
    if not text:
        raise MemoryError("No memory for the metrics report")
    report = ctypes.string_at(text).decode(errors="replace")
    _libc.free(text)
    return report


def metrics_report():
    """The counters and metrics of this process, as text."""
    return _taken(_lib.xp_metrics_report_text())


def _name_list(names):
    return (ctypes.c_char_p * (len(names) + 1))(*map(_text, names), None) if names else None


def short_metrics_report(counter_names=None, metric_names=None):  # pylint: disable=redefined-outer-name
    """The report of some names only, or of the most important ones, and all operations that fell back to the host."""
    return _taken(_lib.xp_metrics_report_short(_name_list(counter_names), _name_list(metric_names)))


def _names(function):
    count = ctypes.c_size_t()
    names = function(ctypes.byref(count))
    if not names:
        raise MemoryError("No memory for the names of the metrics")
    found = [names[i].decode(errors="surrogateescape") for i in range(count.value)]
    _libc.free(ctypes.cast(names, ctypes.c_void_p))
    return found


def counter_names():
    """The names of the counters that are not 0."""
    return _names(_lib.xp_counter_names)


def metric_names():
    """The names of the metrics that have samples."""
    return _names(_lib.xp_metric_names)


def executed_fallback_ops():
    """The operations that fell back to the host."""
    return _names(_lib.xp_fallback_names)


def counter_value(name):
    """The value of a counter; None for one that is 0 or not there."""
    value = ctypes.c_int64()
    return value.value if _lib.xp_counter_read(_text(name), ctypes.byref(value)) else None


def metric_data(name):
    """(number of samples, their sum, the latest of them as (time, value)), or None for a metric without samples.

    Values are nanoseconds, bytes, or as they are; times are seconds of time.monotonic().
    """
    data = _lib.xp_metric_read(_text(name))
    if not data:
        return None
    held = data.contents
    samples = [(held.samples[i].time_ns * 1e-9, held.samples[i].value) for i in range(held.count)]
    result = (held.total, held.sum, samples)
    _libc.free(ctypes.cast(data, ctypes.c_void_p))
    return result


def metric_percentile(name, percent):
    """The latest sample of a metric at a percentile, from 0 to 100; None for a metric without samples."""
    if not 0 <= percent <= 100:
        raise ValueError(f"percent is {percent}; it must be between 0 and 100")
    value = ctypes.c_double()
    return value.value if _lib.xp_metric_percentile(_text(name), percent, ctypes.byref(value)) else None


def metric_rate(name):
    """(samples in a second, their sum in a second) of the latest samples; None where no time lies between two."""
    samples, total = ctypes.c_double(), ctypes.c_double()
    found = _lib.xp_metric_rate(_text(name), ctypes.byref(samples), ctypes.byref(total))
    return (samples.value, total.value) if found else None


def clear_counters():
    """Sets all counters to 0."""
    _lib.xp_counters_clear()


def clear_metrics():
    """Forgets all samples."""
    _lib.xp_metrics_clear()


def clear_all():
    """Clears counters and metrics."""
    _lib.xp_metrics_clear_all()
