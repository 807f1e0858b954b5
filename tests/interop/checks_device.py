"""The embedded device as a plugin of torch_xla and JAX, and its captures in XProf."""
import json
import math
import os
import tempfile

from harness import HERE, must, only_file, output_of, same


def values(programs, name, *plugin):
    """What a program of torch_programs.py prints: {name: value}."""
    text = output_of(programs.python_of("torch"), HERE / "torch_programs.py", name, *plugin)
    return {word: float(number) for word, number in (line.split() for line in text.splitlines())}


def must_agree(programs, name, tolerance):
    """The device computes what torch_xla's own CPU client does."""
    theirs, ours = values(programs, name), values(programs, name, programs.built("libxlaprof_pjrt.so"))
    same("names of the values of %s" % name, sorted(ours), sorted(theirs))
    for word, value in theirs.items():
        must("%s of %s: %r, the CPU client says %r" % (word, name, ours[word], value),
             math.isclose(ours[word], value, rel_tol=tolerance, abs_tol=1e-6))


def check_device_runs_the_lab_of_torch_xla(programs):
    must_agree(programs, "lab", 1e-5)


def check_device_runs_the_lab_in_eager_mode(programs):
    must_agree(programs, "lab_eager", 1e-5)


def check_device_runs_a_diffusion_pipeline_of_torch_xla(programs):
    must_agree(programs, "diffusion", 1e-3)


def check_device_runs_a_diffusion_pipeline_in_bfloat16(programs):
    must_agree(programs, "diffusion_bf16", 2e-2)  # 8 bits of mantissa, and sums in another order


def check_device_is_captured_by_torch_xla_and_shown_by_xprof(programs):
    with tempfile.TemporaryDirectory() as logdir:
        values(programs, "lab", programs.built("libxlaprof_pjrt.so"), logdir)
        capture = only_file(logdir, "*.xplane.pb")
        planes = {p["name"]: p for p in programs.ours("info", capture)["planes"]}
        must("planes: %s" % sorted(planes), "/device:CUSTOM:xlaprof:0" in planes and "/host:metadata" in planes)
        counts = programs.ours("counters", capture)
        same("launches and executions", (counts["launches"], counts["executions"]), (3, 3))
        rows = trace_rows(output_of(programs.python_of("xprof"), HERE / "xprof_peer.py", "tool", "trace_viewer", capture))
        must_lie_in_scopes(rows, "fwd", "fwd", "dot", 6)  # products of two layers, three steps


def trace_rows(text):
    """{name of a line: its events} of the trace JSON that XProf makes."""
    events = json.loads(text)["traceEvents"]
    lines = {(e["pid"], e["tid"]): e["args"]["name"] for e in events if e.get("name") == "thread_name"}
    rows = {}
    for event in events:
        if event.get("ph") == "X":
            rows.setdefault(lines.get((event["pid"], event["tid"])), []).append(event)
    return rows


def must_lie_in_scopes(rows, prefix, scope, operation, count):
    """So many operations of a name that begins like this, each within an event of the scope on the line of scopes."""
    scopes = [e for e in rows["Framework Name Scope"] if e["name"].startswith(scope)]
    inside = [e for e in rows["XLA Ops"]
              if e["args"].get("tf_op", "").startswith(prefix) and e["name"].startswith(operation)]
    same("operations %s under %s" % (operation, prefix), len(inside), count)
    for op in inside:
        must("%r lies in no scope of %r" % (op, scopes), any(
            s["ts"] <= op["ts"] + 1e-6 and op["ts"] + op["dur"] <= s["ts"] + s["dur"] + 1e-6 for s in scopes))


def check_device_is_listed_by_jax_whose_programs_it_refuses_with_the_reason(programs):
    told = json.loads(output_of(programs.python, HERE / "jax_device_peer.py", programs.built("libxlaprof_pjrt.so")))
    same("devices", told["devices"], ["xlaprof embedded device"])
    same("the array that went there and back", told["array"], [[0, 1, 2], [3, 4, 5]])
    must(told["problem"], 'compiles programs of format "hlo"' in told["problem"] and 'not "mlir"' in told["problem"])


def check_profiler_of_the_device_is_called_as_those_of_other_plugins(programs):
    steps = programs.trace_plugin(programs.built("libxlaprof_pjrt.so"), os.devnull)
    same("steps", steps, dict.fromkeys(["open", "start", "stop", "collect", "destroy"], "ok"))
