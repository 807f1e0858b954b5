"""Captures that are in the tree, and one recorded by JAX on the spot: what we read of them, and what others read."""
import json
import sys
import tempfile

from harness import HERE, TREE, output_of, same

CAPTURES = sorted((TREE / "tests" / "data" / "captures").glob("*.xplane.pb"))


def check_events_by_name_agree_with_xprof_rs(programs):
    for capture in CAPTURES:
        ours = {r["name"]: (r["count"], r["total_ps"], r["min_ps"], r["max_ps"])
                for r in programs.ours("events", "--by-name", capture)["rows"]}
        table = json.loads(output_of(programs.xprof_rs, "aggregate_xplane_events", capture))
        peer = {r["event"]: (r["count"], r["total_duration_ps"], r["min_duration_ps"], r["max_duration_ps"])
                for r in table["aggregates"]}
        same(capture.name, ours, peer)


def check_planes_and_names_agree_with_jax(programs):
    peers = json.loads(programs.in_peers(HERE / "read.py", *CAPTURES))
    for capture in CAPTURES:
        peer = peers[str(capture)]
        planes = [[p["name"], p["lines"], p["events"]] for p in programs.ours("info", capture)["planes"]]
        same(capture.name, sorted(planes), sorted(peer["planes"]))
        names = {r["name"]: [r["count"], r["total_ps"]] for r in programs.ours("events", "--by-name", capture)["rows"]}
        same(capture.name, names, peer["names"])


def check_scenarios_can_be_read_by_jax(programs):
    output_of(sys.executable, TREE / "tests" / "data" / "tools" / "make_scenarios.py", "--check", "--jax", programs.python)


def check_program_recorded_now_is_read_as_it_ran(programs):
    """See record.py for what the program does."""
    with tempfile.TemporaryDirectory() as logdir:
        programs.in_peers(HERE / "record.py", logdir)
        steps, counters, gaps, names = (programs.ours(c, logdir) for c in ("steps", "counters", "gaps", "names"))
    same("source of the steps", steps["source"], "annotation")
    same("steps", [(s["name"], s["num"], s["complete"]) for s in steps["steps"]],
         [("train", n, True) for n in range(7, 17)])
    for counter, right in (("compiles", 0), ("executes", 10), ("reads", 10), ("uploads", 10)):
        same(counter, counters[counter], right)
    loads = [r for r in gaps["causes"] if (r["cause"], r["scope"]) == ("input", "load") and r.get("where", "inside") == "inside"]
    same("gaps because of the scope load", sum(r["gaps"] for r in loads), 9)
    if not sum(r["ps"] for r in loads) >= 9 * 15e9:
        raise AssertionError("the scope load: %r, it slept 9 times 15 ms" % loads)
    same("scopes of the device", {"fwd", "loss", "sgd"} - {s["scope"] for s in names["scopes"]}, set())
