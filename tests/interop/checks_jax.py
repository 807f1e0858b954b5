"""JAX: our client against its server, our annotations in its programs; XProf's client against our server."""
import tempfile
import time

from checks_torch import must_have_steps_of_training
from harness import HERE, must, only_file, output_of, run_program, same, serving


def check_our_client_captures_jax(programs):
    with serving(programs.python, HERE / "jax_peer.py", "serve") as (port, _), tempfile.TemporaryDirectory() as logdir:
        programs.captured("localhost:%d" % port, logdir)
        steps = programs.ours("steps", logdir)["steps"]
        must("steps of JAX: %r" % steps[:5], len(steps) > 5 and {s["name"] for s in steps} == {"jax_step"})
        numbers = [s["num"] for s in steps]
        same("their numbers", numbers, list(range(numbers[0], numbers[0] + len(numbers))))
        rows = programs.ours("events", "--match", "^forward$", "--limit", "0", logdir)["rows"]
        must("forward: %d for %d steps" % (len(rows), len(steps)), abs(len(rows) - len(steps)) < 3)
        must("its argument: %r" % rows[:3], all(r["args"]["batch"] in range(7) for r in rows))
        must("the report", "jax_step" in output_of(programs.xlaprof, "report", logdir))
        run = run_program(programs.xlaprof, "counters", "localhost:%d" % port)
        must("counters of JAX: %d %s" % (run.returncode, run.stderr), run.returncode == 3 and "UNIMPLEMENTED" in run.stderr)


def check_xprof_captures_our_program(programs):
    with programs.training() as port, tempfile.TemporaryDirectory() as logdir:
        output_of(programs.python_of("xprof"), HERE / "xprof_peer.py", "trace", "localhost:%d" % port, logdir)
        same("name of the file", only_file(logdir, "*.xplane.pb").name, "localhost_%d.xplane.pb" % port)
        must_have_steps_of_training(programs, logdir)


def check_annotations_reach_programs_of_jax(programs):
    text = output_of(programs.python, HERE / "jax_peer.py", "lower")
    for name in ("forward pass/dot_general", "forward pass/decorated/tanh", "train/add"):
        must("%r is the name of an operation in\n%s" % (name, text[-3000:]), name in text)


def check_counters_of_a_running_program(programs):
    with programs.training() as port:
        time.sleep(0.3)

        def steps():
            report = programs.ours("counters", "localhost:%d" % port)["report"]
            metric = {m["name"]: m for m in report["metrics"]}["StepTime"]
            must("StepTime: %r" % metric, abs(metric["samples"] - report["counters"]["Steps"]) <= 1)
            must("its sum: %r" % metric, metric["unit"] == "ns" and metric["sum"] >= metric["samples"] * 5e6)
            return report["counters"]["Steps"]
        first = steps()
        time.sleep(0.1)
        must("steps are counted", steps() > first > 0)
        text = output_of(programs.xlaprof, "counters", "localhost:%d" % port)
        must("the text has them: %s" % text, "Steps" in text and "StepTime" in text)
