#!/usr/bin/env python3
"""Test python/xlaprof.py with the standard library alone.

    test_xlaprof.py LIBXLAPROF LAYOUT XLAPROF

LAYOUT is the program of layout.c.  What is recorded is read back with the program XLAPROF.
"""
import contextlib
import json
import os
import pathlib
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest

os.environ["XLAPROF_LIBRARY"], LAYOUT, XLAPROF = sys.argv[1:4]
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "python"))
import xlaprof  # noqa: E402

STRUCTURES = {"xp_error": "_Error", "xp_arg": "_Arg", "xp_trace": "_Trace", "xp_step_barrier": "_Barrier",
              "xp_session_options": "_SessionOptions", "xp_export_options": "_ExportOptions",
              "xp_server_options": "_ServerOptions", "xp_capture_options": "_CaptureOptions",
              "xp_capture_result": "_CaptureResult", "xp_metric_sample": "_MetricSample",
              "xp_metric_data": "_MetricData"}
BUSY, IDLE, USAGE, IO = 9, 10, 8, 2  # xlaprof/error.h


def read(command, path, *options):
    run = subprocess.run([XLAPROF, command, path, "--json", *options], capture_output=True, text=True, check=True)
    return json.loads(run.stdout)


class Recorded:
    """What a `with recorded() as r` block recorded: after it, r.events has (line, name, start, end, args)."""

    def load(self, path):
        self.line_sizes = [line["events"] for p in read("info", path)["planes"] for line in p["line_list"]]
        self.steps = [(s["name"], s["num"], s["complete"]) for s in read("steps", path)["steps"]]
        self.events = [(r["line"], r["name"], r["start_ps"], r["start_ps"] + r["dur_ps"], r["args"])
                       for r in read("events", path, "--limit", "0")["rows"]]

    def names(self):
        return [e[1] for e in self.events]

    def event(self, name):
        found = [e for e in self.events if e[1] == name]
        assert len(found) == 1, "%d events %s in %r" % (len(found), name, self.events)
        return found[0]

    def args(self, name):
        return self.event(name)[4]


@contextlib.contextmanager
def recorded():
    with tempfile.TemporaryDirectory() as logdir:
        result = Recorded()
        xlaprof.start_trace(logdir)
        try:
            yield result
        finally:
            path = xlaprof.stop_trace()
        result.load(path)


def in_new_thread(test):
    """Scopes are numbered by thread: a new one begins with 1."""
    def run(self):
        failures = []

        def work():
            try:
                test(self)
            except BaseException as failure:  # pylint: disable=broad-except
                failures.append(failure)

        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        if failures:
            raise failures[0]
    return run


def is_inside(inner, outer):
    return outer[2] <= inner[2] and inner[3] <= outer[3]


class Layout(unittest.TestCase):
    def test_structures_lie_in_memory_as_in_c(self):
        lines = subprocess.run([LAYOUT], capture_output=True, text=True, check=True).stdout.splitlines()
        self.assertEqual(sorted(line.split()[0] for line in lines), sorted(STRUCTURES))
        for line in lines:
            name, size, *words = line.split()
            ours = getattr(xlaprof, STRUCTURES[name])
            fields = [(n, getattr(ours, n).offset, getattr(ours, n).size) for n, _ in ours._fields_]
            right = [(words[i], int(words[i + 1]), int(words[i + 2])) for i in range(0, len(words), 3)]
            self.assertEqual((name, xlaprof.ctypes.sizeof(ours), fields), (name, int(size), right))


class Traces(unittest.TestCase):
    def setUp(self):
        self.assertEqual(xlaprof.scope(), "")

    def tearDown(self):
        self.assertEqual(xlaprof.scope(), "")

    @in_new_thread
    def test_traces_nest_and_name_the_scope(self):
        with recorded() as r:
            with xlaprof.StepTrace("train", step_num=7):
                with xlaprof.Trace("forward"):
                    self.assertEqual(xlaprof.scope(), "train.1/forward.1")
                with xlaprof.Trace("backward"):
                    self.assertEqual(xlaprof.scope(), "train.1/backward.2")
        self.assertEqual(r.names(), ["train", "forward", "backward"])
        self.assertTrue(is_inside(r.event("forward"), r.event("train")))
        self.assertLessEqual(r.event("forward")[3], r.event("backward")[2])
        self.assertEqual(r.steps, [("train", 7, True)])

    def test_keywords_become_arguments_of_their_type(self):
        with recorded() as r:
            with xlaprof.Trace("t", least=-2**63, most=2**64 - 1, huge=2**64, share=0.25, yes=True, word="größe\0#",
                               name="a", self="b", none=None) as t:
                t.set_metadata(later=5, batch="x")
        self.assertEqual(r.args("t"), {"least": -2**63, "most": 2**64 - 1, "huge": "18446744073709551616", "share": 0.25,
                                       "yes": 1, "word": "größe\0#", "name": "a", "self": "b", "none": "None", "later": 5,
                                       "batch": "x"})

    def test_a_decorated_function_is_traced_each_time(self):
        @xlaprof.Trace("factorial", kind="recursive")
        def factorial(n):
            """n!"""
            return n * factorial(n - 1) if n else 1

        with recorded() as r:
            self.assertEqual(factorial(5), 120)
        self.assertEqual(r.names(), ["factorial"] * 6)
        self.assertTrue(all(is_inside(b, a) for a, b in zip(r.events, r.events[1:])))
        self.assertEqual(r.events[0][4], {"kind": "recursive"})
        self.assertEqual((factorial.__name__, factorial.__doc__), ("factorial", "n!"))

    def test_exceptions_end_the_trace_and_pass(self):
        with recorded() as r:
            with self.assertRaisesRegex(KeyError, "lost"):
                with xlaprof.Trace("outer"), xlaprof.Trace("inner"):
                    raise KeyError("lost")
            self.assertEqual(xlaprof.scope(), "")
        self.assertEqual(r.names(), ["outer", "inner"])
        self.assertNotIn("unfinished", r.args("outer"))

    @in_new_thread
    def test_ending_out_of_order_names_both_and_ends_nothing(self):
        a, b = xlaprof.Trace("first"), xlaprof.Trace("second")
        a.__enter__()
        b.__enter__()
        with self.assertRaisesRegex(xlaprof.Error, "(?s)first.*second|second.*first") as failure:
            a.__exit__(None, None, None)
        self.assertEqual(failure.exception.status, USAGE)
        self.assertEqual(xlaprof.scope(), "first.1/second.1")
        b.__exit__(None, None, None)
        a.__exit__(None, None, None)

    def test_a_trace_ends_on_its_own_thread(self):
        failures = []
        trace = xlaprof.Trace("mine")
        trace.__enter__()

        def end():
            try:
                trace.__exit__(None, None, None)
            except xlaprof.Error as error:
                failures.append(error)

        thread = threading.Thread(target=end)
        thread.start()
        thread.join()
        self.assertEqual([f.status for f in failures], [USAGE])
        self.assertIn("mine", str(failures[0]))
        trace.__exit__(None, None, None)

    def test_threads_have_lines_of_their_own(self):
        def work(name):
            for _ in range(100):
                with xlaprof.Trace(name):
                    self.assertEqual(xlaprof.scope().split(".")[0], name)

        with recorded() as r:
            threads = [threading.Thread(target=work, args=("work%d" % i,)) for i in range(4)]
            for t in threads:
                t.start()
            for t in threads:
                t.join()
            self.assertEqual(xlaprof.scope(), "")
        self.assertEqual({name: [e[1] for e in r.events].count(name) for name in set(r.names())},
                         {"work%d" % i: 100 for i in range(4)})
        self.assertEqual(r.line_sizes, [100] * 4)

    def test_a_step_that_was_open_before_the_session_is_not_whole(self):
        with tempfile.TemporaryDirectory() as logdir:
            with xlaprof.StepTrace("train", step_num=1):
                xlaprof.start_trace(logdir)
            with xlaprof.StepTrace("train", step_num=2):
                pass
            step = xlaprof.StepTrace("train", step_num=3)
            step.__enter__()
            path = xlaprof.stop_trace()
            step.__exit__(None, None, None)
            r = Recorded()
            r.load(path)
        self.assertEqual(r.steps, [("train", 1, False), ("train", 2, True), ("train", 3, False)])
        self.assertEqual([e[4].get("unfinished") for e in r.events], [None, None, 1])


class Barriers(unittest.TestCase):
    def tearDown(self):
        xlaprof.set_step_barrier(None)

    def test_the_end_of_a_step_waits_for_the_barrier_outside_of_its_scope(self):
        scopes = []

        def wait():
            scopes.append(xlaprof.scope())
            time.sleep(0.02)

        xlaprof.set_step_barrier(wait)
        with recorded() as r:
            with xlaprof.StepTrace("step", step_num=1):
                pass
            with xlaprof.Trace("no step"):
                pass
        self.assertEqual(scopes, [""])
        start, end = r.event("step")[2:4]
        self.assertGreater(end - start, 20e9)

    def test_exceptions_of_the_barrier_come_out_of_the_step(self):
        def fail():
            raise ZeroDivisionError("the device is gone")

        xlaprof.set_step_barrier(fail)
        with recorded() as r:
            with self.assertRaisesRegex(ZeroDivisionError, "the device is gone"):
                with xlaprof.StepTrace("step", step_num=1):
                    pass
            with self.assertRaises(ZeroDivisionError) as failure:
                with xlaprof.StepTrace("step", step_num=2):
                    raise KeyError("lost")
            self.assertIsInstance(failure.exception.__context__, KeyError)
            self.assertEqual(xlaprof.scope(), "")
            xlaprof.set_step_barrier(None)
            with xlaprof.StepTrace("step", step_num=3):
                pass
        self.assertEqual(r.steps, [("step", n, True) for n in (1, 2, 3)])


class Sessions(unittest.TestCase):
    def test_only_one_runs_at_a_time(self):
        with tempfile.TemporaryDirectory() as logdir:
            xlaprof.start_trace(logdir)
            with self.assertRaisesRegex(xlaprof.Error, "^Profile has already been started. Only one profile may be run at "
                                                       "a time. Held by an in-process session since") as failure:
                xlaprof.start_trace(logdir)
            self.assertEqual(failure.exception.status, BUSY)
            path = pathlib.Path(xlaprof.stop_trace(trace_json=False))
            self.assertEqual([p for p in pathlib.Path(logdir).rglob("*") if p.is_file()], [path])

    def test_stop_without_start_is_an_error(self):
        with self.assertRaisesRegex(xlaprof.Error, "No profile started") as failure:
            xlaprof.stop_trace()
        self.assertEqual(failure.exception.status, IDLE)

    def test_places_that_cannot_be_written_to_are_refused_at_the_start(self):
        for logdir in ("s3://bucket/logs", "/proc/nowhere"):
            with self.assertRaisesRegex(xlaprof.Error, "s3://|/proc/nowhere"):
                xlaprof.start_trace(logdir)
        with recorded():
            pass

    def test_nothing_is_recorded_above_the_level(self):
        with tempfile.TemporaryDirectory() as logdir:
            xlaprof.start_trace(logdir, host_tracer_level=0)
            with xlaprof.Trace("t"):
                pass
            path = xlaprof.stop_trace()
            self.assertEqual(read("info", path)["events"], 0)


class Servers(unittest.TestCase):
    def connects(self, port):
        try:
            socket.create_connection(("127.0.0.1", port), 5).close()
        except ConnectionRefusedError:
            return False
        return True

    def test_a_server_lives_as_long_as_its_object(self):
        server = xlaprof.start_server()
        port = server.port
        self.assertTrue(self.connects(port))
        del server
        self.assertFalse(self.connects(port))
        with xlaprof.start_server(port) as server:
            self.assertEqual(server.port, port)
            self.assertTrue(self.connects(port))
        self.assertFalse(self.connects(port))
        server.stop()

    def test_a_port_that_is_taken_is_an_error(self):
        with xlaprof.start_server() as server:
            with self.assertRaisesRegex(xlaprof.Error, str(server.port)) as failure:
                xlaprof.start_server(server.port)
            self.assertEqual(failure.exception.status, IO)

    def test_the_port_is_written_to_a_file(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "port"
            with xlaprof.Server(port_file=path) as server:
                self.assertEqual(int(path.read_text()), server.port)

    def test_a_program_captures_itself(self):
        ended = threading.Event()

        def work():
            while not ended.wait(0.001):
                with xlaprof.Trace("working"):
                    pass

        with xlaprof.start_server() as server, tempfile.TemporaryDirectory() as logdir:
            thread = threading.Thread(target=work)
            thread.start()
            paths = xlaprof.trace("localhost:%d" % server.port, logdir, duration_ms=100, timeout_s=5)
            ended.set()
            thread.join()
            self.assertEqual(len(paths), 1)
            r = Recorded()
            r.load(paths[0])
            self.assertEqual(set(r.names()), {"working"})

    def test_the_command_that_capture_names_works_in_a_shell(self):
        ended = threading.Event()

        def work():
            while not ended.wait(0.001):
                with xlaprof.Trace("working"):
                    pass

        with xlaprof.start_server() as server, tempfile.TemporaryDirectory() as folder:
            thread = threading.Thread(target=work)
            thread.start()
            run = subprocess.run([XLAPROF, "capture", "grpc://localhost:%d" % server.port, "ada's logs", "--timeout-s", "5",
                                  "--duration-ms", "50"], capture_output=True, text=True, cwd=folder, check=True)
            ended.set()
            thread.join()
            self.assertIn("/localhost_%d.xplane.pb" % server.port, run.stdout)
            command = run.stdout.splitlines()[-1].strip()
            self.assertTrue(command.startswith("xlaprof report "), command)
            report = subprocess.run("'%s'%s" % (XLAPROF, command[len("xlaprof"):]), shell=True, capture_output=True,
                                    text=True, check=False)
            self.assertEqual((report.returncode, report.stderr), (0, ""))

    def test_why_a_capture_failed_is_told(self):
        told = []
        with xlaprof.start_server() as server:
            port = server.port
        with tempfile.TemporaryDirectory() as logdir:
            with self.assertRaisesRegex(xlaprof.Error, "Nothing listens on 127.0.0.1:%d" % port):
                xlaprof.trace("127.0.0.1:%d" % port, logdir, timeout_s=0.3, interval_s=0.1, tell=told.append)
        self.assertGreater(len(told), 0)

    def test_a_child_process_has_neither_server_nor_session(self):
        with xlaprof.start_server() as server, recorded():
            child = os.fork()
            if child == 0:
                status = 1
                try:
                    server.stop()
                    with recorded() as r, xlaprof.Trace("child"):
                        pass
                    status = 0 if r.names() == ["child"] else 2
                finally:
                    os._exit(status)
            self.assertEqual(os.waitpid(child, 0)[1], 0)
            self.assertTrue(self.connects(server.port))


class Metrics(unittest.TestCase):
    """Read by name.  A program raises counters and metrics in C, so these go through the library itself."""

    def setUp(self):
        library = xlaprof.ctypes.CDLL(os.environ["XLAPROF_LIBRARY"])
        handle, number = xlaprof.ctypes.c_void_p, xlaprof.ctypes.c_double
        library.xp_counter_get.restype = library.xp_metric_get.restype = handle
        library.xp_counter_add.argtypes = [handle, xlaprof.ctypes.c_int64]
        library.xp_metric_add_at.argtypes = [handle, number, xlaprof.ctypes.c_int64]
        xlaprof.clear_all()
        library.xp_counter_add(library.xp_counter_get(b"MarkStep"), 3)
        library.xp_counter_add(library.xp_counter_get(b"aten::nonzero"), 2)
        for i, value in enumerate((4, 6, 2)):
            library.xp_metric_add_at(library.xp_metric_get(b"TensorsGraphSize", 0), value, i * 500_000_000)

    def tearDown(self):
        xlaprof.clear_all()

    def test_counters_have_names_and_values(self):
        self.assertEqual(xlaprof.counter_names(), ["MarkStep", "aten::nonzero"])
        self.assertEqual(xlaprof.counter_value("MarkStep"), 3)
        self.assertIsNone(xlaprof.counter_value("NoSuch"))
        self.assertEqual(xlaprof.executed_fallback_ops(), ["aten::nonzero"])

    def test_metrics_have_names_samples_percentiles_and_rates(self):
        self.assertEqual(xlaprof.metric_names(), ["TensorsGraphSize"])
        self.assertEqual(xlaprof.metric_data("TensorsGraphSize"), (3, 12.0, [(0.0, 4.0), (0.5, 6.0), (1.0, 2.0)]))
        self.assertEqual(xlaprof.metric_percentile("TensorsGraphSize", 50), 4)
        self.assertEqual(xlaprof.metric_rate("TensorsGraphSize"), (3, 12))
        self.assertRaises(ValueError, xlaprof.metric_percentile, "TensorsGraphSize", 101)
        for read in (xlaprof.metric_data, xlaprof.metric_rate, lambda name: xlaprof.metric_percentile(name, 50)):
            self.assertIsNone(read("NoSuch"))

    def test_a_short_report_has_what_is_asked_for_and_the_fallbacks(self):
        fallback = "Counter: aten::nonzero\n  Value: 2\n"
        self.assertEqual(xlaprof.short_metrics_report(), "Counter: MarkStep\n  Value: 3\n" + fallback)
        self.assertEqual(xlaprof.short_metrics_report(counter_names=["NoSuch"]), fallback)
        short = xlaprof.short_metrics_report(["NoSuch"], ["TensorsGraphSize"])
        self.assertEqual(short, xlaprof.metrics_report().replace("Counter: MarkStep\n  Value: 3\n", ""))

    def test_counters_and_metrics_are_cleared_apart_and_together(self):
        xlaprof.clear_counters()
        self.assertEqual((xlaprof.counter_names(), xlaprof.metric_names()), ([], ["TensorsGraphSize"]))
        self.setUp()
        xlaprof.clear_metrics()
        self.assertEqual((xlaprof.counter_names(), xlaprof.metric_names()), (["MarkStep", "aten::nonzero"], []))
        xlaprof.clear_all()
        self.assertEqual(xlaprof.metrics_report(), "")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
