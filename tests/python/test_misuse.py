#!/usr/bin/env python3
"""xlaprof.py against what Python programs do to it: numbers that C would cut, Ctrl-C, exceptions, texts that are none.

    test_misuse.py LIBXLAPROF
"""
import contextlib
import os
import pathlib
import signal
import sys
import tempfile
import threading
import time
import unittest
import unittest.mock

os.environ["XLAPROF_LIBRARY"] = sys.argv.pop(1)
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "python"))
import xlaprof  # pylint: disable=wrong-import-position


class Numbers(unittest.TestCase):
    """C takes the low bits of a number that is too large."""

    def test_a_port_that_is_none_is_refused(self):
        for port in (70000, -1):
            with self.assertRaisesRegex(ValueError, "port is %d; it must be between 0 and 65535" % port):
                xlaprof.start_server(port)
        with self.assertRaises(TypeError):
            xlaprof.start_server("9012")

    def test_options_of_a_session_are_refused_before_it_starts(self):
        for wrong in ({"host_tracer_level": -1}, {"device_tracer_level": 2**32}, {"buffer_limit_bytes": -1},
                      {"buffer_limit_bytes": 2**64 + 5}):
            with self.assertRaises(ValueError):
                xlaprof.start_trace("unused", **wrong)
        with self.assertRaisesRegex(TypeError, "logdir is None"):
            xlaprof.start_trace(None)  # nothing could stop it
        with self.assertRaisesRegex(ValueError, "NUL"):
            xlaprof.start_trace("a\0b")
        with self.assertRaisesRegex(xlaprof.Error, "No profile started"):
            xlaprof.stop_trace()

    def test_options_of_a_capture_are_refused_before_anybody_is_asked(self):
        for wrong in ({"duration_ms": -1}, {"delay_ms": -1}, {"timeout_s": -1}, {"interval_s": 2**40},
                      {"timeout_s": float("nan")}, {"num_tracing_attempts": 2**32}):
            with self.assertRaises(ValueError, msg=wrong):
                xlaprof.trace("localhost:1", "unused", **wrong)

    def test_the_number_of_a_step_has_64_bits(self):
        with self.assertRaisesRegex(ValueError, "step_num"):
            with xlaprof.StepTrace("step", step_num=2**63):
                pass
        with xlaprof.StepTrace("step", step_num=-2**63):
            pass
        self.assertEqual(xlaprof.scope(), "")


class Captures(unittest.TestCase):
    """xlaprof.trace blocks for up to minutes."""

    def test_a_signal_handler_that_raises_gives_the_capture_up(self):
        threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
        began = time.monotonic()
        with tempfile.TemporaryDirectory() as logdir, self.assertRaises(KeyboardInterrupt):
            xlaprof.trace("localhost:1", logdir, timeout_s=60, interval_s=30)
        self.assertLess(time.monotonic() - began, 20)

    def test_an_exception_of_tell_gives_the_capture_up(self):
        def tell(text):
            raise KeyError(text)
        began = time.monotonic()
        with tempfile.TemporaryDirectory() as logdir, self.assertRaisesRegex(KeyError, "Nothing listens"):
            xlaprof.trace("localhost:1", logdir, timeout_s=60, interval_s=30, tell=tell)
        self.assertLess(time.monotonic() - began, 20)

    def test_a_program_can_capture_itself_through_its_server(self):
        is_over = threading.Event()

        def work():
            while not is_over.is_set():
                with xlaprof.Trace("work"):
                    time.sleep(0.001)
        with tempfile.TemporaryDirectory() as logdir, xlaprof.start_server() as server:
            worker = threading.Thread(target=work)
            worker.start()
            try:
                paths = xlaprof.trace("localhost:%d" % server.port, logdir, duration_ms=50, timeout_s=20)
            finally:
                is_over.set()
                worker.join()
            self.assertIn(b"work", pathlib.Path(paths[0]).read_bytes())


class Annotations(unittest.TestCase):
    """An annotation does not stop the program that it describes."""

    def test_what_is_no_text_is_recorded_with_question_marks(self):
        with tempfile.TemporaryDirectory() as logdir:
            xlaprof.start_trace(logdir)
            with xlaprof.Trace("file \udcff", path="dir \udcfe"):
                pass
            content = pathlib.Path(xlaprof.stop_trace()).read_bytes()
        self.assertIn(b"file ?", content)
        self.assertIn(b"dir ?", content)

    def test_the_scope_of_jax_gets_a_text_that_is_one(self):
        names = []

        class FakeJax:  # what Trace finds when a program has imported jax
            @staticmethod
            def named_scope(name):
                names.append(name)
                return contextlib.nullcontext()
        with unittest.mock.patch.dict(sys.modules, {"jax": FakeJax}):
            with xlaprof.Trace("block \udcff"):
                pass
        self.assertEqual(names, ["block ?"])

    def test_exceptions_pass_through_traces_and_leave_none_open(self):
        with self.assertRaisesRegex(KeyError, "mine"):
            with xlaprof.Trace("outer"):
                with xlaprof.StepTrace("inner", step_num=1):
                    raise KeyError("mine")
        self.assertEqual(xlaprof.scope(), "")


if __name__ == "__main__":
    unittest.main()
