"""torch_xla: its client against our server, our client against its server."""
import contextlib
import re
import subprocess
import tempfile
import time

from harness import HERE, environment, errors_of, must, only_file, output_of, run_program, same, serving


def traced_by_torch(programs, port, logdir):
    """What torch_xla's client prints while it captures a program; it asks again every second, for 20 s."""
    return output_of(programs.python_of("torch"), HERE / "torch_peer.py", "trace", "localhost:%d" % port, logdir)


def must_have_steps_of_training(programs, logdir):
    """What a capture of examples/train.c must hold."""
    only_file(logdir, "*.xplane.pb")
    steps = [(s["name"], s["num"], s["complete"]) for s in programs.ours("steps", logdir)["steps"]]
    whole = [num for name, num, complete in steps if complete]
    must("steps: %r" % steps, len(whole) > 10 and {name for name, _, _ in steps} == {"train"})
    same("numbers of the steps", [num for _, num, _ in steps], list(range(steps[0][1], steps[0][1] + len(steps))))
    counts = {r["name"]: r["count"] for r in programs.ours("events", "--by-name", logdir)["rows"]}
    for name in ("gradient", "update", "device", "load"):
        must("%r has about %d events %r" % (counts, len(whole), name), abs(counts.get(name, 0) - len(whole)) < 3)
    must("the report", "Steps" in output_of(programs.xlaprof, "report", logdir))


def check_torch_xla_captures_our_program(programs):
    with programs.training() as port, tempfile.TemporaryDirectory() as logdir:
        traced_by_torch(programs, port, logdir)
        must_have_steps_of_training(programs, logdir)


@contextlib.contextmanager
def capturing(programs, port, logdir, duration_ms):
    """Our client, while it captures a program: the process."""
    ours = subprocess.Popen([programs.xlaprof, "capture", "localhost:%d" % port, logdir, "--duration-ms", str(duration_ms)],
                            env=environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        time.sleep(0.5)
        yield ours
    finally:
        ours.kill()
        ours.wait()


def check_torch_xla_asks_again_while_our_server_is_busy(programs):
    with programs.training() as port, tempfile.TemporaryDirectory() as ours, tempfile.TemporaryDirectory() as theirs:
        target = "localhost:%d" % port
        command = [programs.python_of("torch"), HERE / "torch_peer.py", "ask", target, theirs]
        with serving(*command) as (_, torch), capturing(programs, port, ours, 5000) as first:
            busy = programs.capture(target, theirs, "--timeout-s", "1", "--attempts", "1")
            same("our second client", (busy["outcome"], busy["status"]), ("busy", 8))
            must("it is told for how long: %(message)s" % busy, re.search(r"for another \d\.\d s", busy["message"]))
            torch.stdin.write("\n")
            torch.stdin.flush()
            must("torch_xla's client fails: %s" % errors_of(torch), torch.wait(60) == 0)
            must("it was refused first: %s" % errors_of(torch), "Another profiling session active." in errors_of(torch))
            same("the first client", first.wait(20), 0)
        must_have_steps_of_training(programs, theirs)
        must_have_steps_of_training(programs, ours)


def check_our_client_captures_torch_xla(programs):
    with serving(programs.python_of("torch"), HERE / "torch_peer.py", "serve") as (port, _):
        for options in [], ["--save-on-server"]:  # it knows no emit_xspace: it always saves on its own disk, which is ours
            with tempfile.TemporaryDirectory() as logdir:
                programs.captured("localhost:%d" % port, logdir, *options)
                must_have_steps_of_torch(programs, logdir)
        run = run_program(programs.xlaprof, "counters", "localhost:%d" % port)
        same("exit status of counters", run.returncode, 3)
        must("counters explains: %s" % run.stderr, "UNIMPLEMENTED" in run.stderr and "metrics_report" in run.stderr)


def must_have_steps_of_torch(programs, logdir):
    only_file(logdir, "*.xplane.pb")
    steps = programs.ours("steps", logdir)["steps"]
    must("steps of torch_xla: %r" % steps[:5], len(steps) > 5 and {s["name"] for s in steps} == {"torch_step"})
    counts = {r["name"]: r["count"] for r in programs.ours("events", "--by-name", logdir)["rows"]}
    must("build_graph: %r for %d steps" % (counts.get("build_graph"), len(steps)),
         abs(counts.get("build_graph", 0) - len(steps)) < 3)
    must("the report", "torch_step" in output_of(programs.xlaprof, "report", logdir))
