"""What a program records, by both routes: held against what the program says it recorded, and read by others."""
import contextlib
import gzip
import json
import pathlib
import shutil
import sys
import tempfile

from harness import HERE, must, only_file, output_of, run_program, same, serving

CLOCKS_DIFFER_NS = 300_000  # the recorder's clock is set by the system's once, at the start
HIDDEN = {"_pt", "_p", "_ct", "_c", "_r"}  # stats that upstream leaves out of trace.json.gz


@contextlib.contextmanager
def recorded(programs, route):
    """A capture of record_pattern.c by "session" or "server", and the events that it says it recorded."""
    with tempfile.TemporaryDirectory() as logdir:
        if route == "session":
            told = output_of(programs.built("record_pattern"), "here", logdir)
        else:
            with serving(programs.built("record_pattern"), "serve") as (port, server):
                programs.captured("127.0.0.1:%d" % port, logdir)
                server.stdin.close()
                told = server.stdout.read()
        yield only_file(logdir, "*.xplane.pb"), [json.loads(line) for line in told.splitlines()]


def our_events(programs, capture):
    return programs.ours("events", "--limit", "0", capture)["rows"]


def shape(rows):
    """Lines and events without times; ids of flows are numbered as they come."""
    flows = {}
    found = []
    for r in sorted(rows, key=lambda r: r["start_ps"]):
        args = {k: flows.setdefault(v, len(flows)) if k in ("_p", "_c") else v for k, v in r["args"].items()}
        found.append((r["plane"], r["line"], r["name"], args))
    return found


def check_capture_has_what_a_program_recorded(programs):
    for route in ("session", "server"):
        with recorded(programs, route) as (capture, told):
            rows = sorted(our_events(programs, capture), key=lambda r: (r["line"], r["start_ps"]))
            told.sort(key=lambda t: (t["line"], t["begin"][0]))
            same("events by the %s" % route, [(r["line"], r["name"], r["args"]) for r in rows],
                 [(t["line"], t["name"], t["args"]) for t in told])
            start_ns = programs.ours("info", capture)["session"]["start_unix_ns"]
        for r, t in zip(rows, told):
            begin = start_ns + r["start_ps"] / 1000
            must("%s began at %d, the program says %r" % (r["name"], begin, t["begin"]),
                 t["begin"][0] - CLOCKS_DIFFER_NS < begin < t["begin"][1] + CLOCKS_DIFFER_NS)
            if r["name"] != "instant":
                least, most = t["end"][0] - t["begin"][1], t["end"][1] - t["begin"][0]
                must("%s lasted %d ps, the program says %d to %d ns" % (r["name"], r["dur_ps"], least, most),
                     least * 0.999 - 1000 < r["dur_ps"] / 1000 < most * 1.001 + 1000)


def check_both_routes_give_the_same_capture(programs):
    found = {}
    for route in ("session", "server"):
        with recorded(programs, route) as (capture, _):
            info, steps = programs.ours("info", capture), programs.ours("steps", capture)
            found[route] = (sorted((p["name"], p["lines"], p["events"]) for p in info["planes"]), info["warnings"],
                            [(s["name"], s["num"], s["complete"]) for s in steps["steps"]],
                            shape(our_events(programs, capture)), shape(rows_of_jax(programs, capture)))
    same("planes, warnings, steps, events, and events as JAX reads them", found["server"], found["session"])


def rows_of_jax(programs, capture):
    """What JAX reads, in the form of our_events."""
    planes = json.loads(programs.in_peers(HERE / "dump.py", capture))
    return [{"plane": plane, "line": line, "name": name, "start_ps": start * 1000, "dur_ps": dur * 1000, "args": stats}
            for plane, lines in planes for line, events in lines for name, start, dur, stats in events]


def whole_steps(rows, numbers):
    """{what a step looks like: its numbers}, of the steps of record_steps.py that are whole."""
    looks = {}
    for step in (r for r in rows if r["name"] == "train" and r["args"]["step_num"] in numbers):
        inside = [(r["plane"], r["line"], r["name"], sorted((k, v) for k, v in r["args"].items() if k != "step_num"))
                  for r in rows if step["start_ps"] <= r["start_ps"] < step["start_ps"] + step["dur_ps"]]
        looks.setdefault(json.dumps(inside, ensure_ascii=False), []).append(step["args"]["step_num"])
    return looks


def check_both_routes_give_the_same_steps_of_a_python_program(programs):
    script = HERE / "record_steps.py"
    with tempfile.TemporaryDirectory() as here, tempfile.TemporaryDirectory() as there:
        output_of(sys.executable, script, "here", here)
        with serving(sys.executable, script, "serve") as (port, _):
            programs.captured("127.0.0.1:%d" % port, there)
        looks, planes = {}, {}
        for route, logdir in (("session", here), ("server", there)):
            capture = only_file(logdir, "*.xplane.pb")
            whole = [s["num"] for s in programs.ours("steps", capture)["steps"] if s["complete"]]
            must("whole steps by the %s: %r" % (route, whole), len(whole) > 20 and route == "server" or whole == [*range(30)])
            ours, jax = (whole_steps(rows, whole) for rows in (our_events(programs, capture), rows_of_jax(programs, capture)))
            same("steps as JAX reads them", jax, ours)
            same("what a step looks like by the %s: %r" % (route, ours), len(ours), 1)
            looks[route] = next(iter(ours))
            planes[route] = [(p["name"], p["lines"]) for p in programs.ours("info", capture)["planes"]]
        same("what a step looks like", looks["server"], looks["session"])
        same("planes", planes["server"], planes["session"])
        same("events of a step", [e[2] for e in json.loads(looks["session"])],
             ["train", "load", "forward", "layer", "layer", "backward", "größe"])


def check_jax_reads_what_we_read(programs):
    for route in ("session", "server"):
        with recorded(programs, route) as (capture, _):
            ours, theirs = (sorted((r["plane"], r["line"], r["start_ps"] // 1000, r["dur_ps"] // 1000, r["name"],
                                    sorted((k, type(v).__name__, v) for k, v in r["args"].items())) for r in rows)
                            for rows in (our_events(programs, capture), rows_of_jax(programs, capture)))
            same("events by the %s" % route, theirs, ours)
            planes = json.loads(programs.in_peers(HERE / "read.py", capture))[str(capture)]["planes"]
            same("planes", sorted(planes), sorted([p["name"], p["lines"], p["events"]]
                                                  for p in programs.ours("info", capture)["planes"]))


def check_trace_json_has_the_events_of_the_capture(programs):
    with recorded(programs, "session") as (capture, _):
        rows = our_events(programs, capture)
        with gzip.open(only_file(capture.parent, "*.trace.json.gz"), "rt") as file:
            events = [e for e in json.load(file)["traceEvents"] if e]
    threads = {e["tid"]: e["args"]["name"] for e in events if e["name"] == "thread_name"}
    theirs = sorted(((e["ts"], threads[e["tid"]], e["name"], e["dur"], e.get("args", {})) for e in events if e["ph"] == "X"),
                    key=lambda e: e[0])
    ours = sorted((r["start_ps"] / 1e6, r["line"], r["name"], r["dur_ps"] / 1e6,
                   {k: str(v) for k, v in r["args"].items() if k not in HIDDEN}) for r in rows)
    same("events", [(e[1], e[2], e[4]) for e in theirs], [(e[1], e[2], e[4]) for e in ours])
    for a, b in zip(theirs, ours):
        must("%s: %r, in the capture %r us" % (a[2], a, b), abs(a[0] - b[0]) < 1e-3 and abs(a[3] - b[3]) < 1e-3)


# ---------------------------------------------------------------- XProf and xprof-rs

def sums_by_name(rows):
    """{name: [count, sum, shortest, longest]} of events, or of a tool's answer."""
    return {r["name"]: [r["count"], r["total_ps"], r["min_ps"], r["max_ps"]] for r in rows}


def sums_of_peer(text):
    return {r["event"]: [r["count"], r["total_duration_ps"], r["min_duration_ps"], r["max_duration_ps"]]
            for r in json.loads(text)["aggregates"]}


def must_agree(theirs, ours):
    """Counts exactly; sums but for the last picosecond of each event, since peers go through floating-point numbers."""
    same("numbers of events", {n: row[0] for n, row in theirs.items()}, {n: row[0] for n, row in ours.items()})
    for name, row in theirs.items():
        must("%s: %r, the peer says %r" % (name, ours[name], row),
             all(abs(a - b) <= row[0] for a, b in zip(row[1:], ours[name][1:])))


@contextlib.contextmanager
def copied(capture):
    """XProf leaves files beside what it reads."""
    with tempfile.TemporaryDirectory() as folder:
        run = pathlib.Path(folder) / "plugins" / "profile" / "run"
        run.mkdir(parents=True)
        yield shutil.copy(capture, run)


def xprof(programs, *words):
    run = run_program(programs.python_of("xprof"), *words)
    must("%s: exit status %d\n%s" % (words, run.returncode, run.stderr[-1500:]), run.returncode == 0)
    return run.stdout


def check_xprof_rs_reads_our_capture(programs):
    with recorded(programs, "session") as (capture, _):
        ours = sums_by_name(programs.ours("events", "--by-name", capture)["rows"])
        must_agree(sums_of_peer(output_of(programs.xprof_rs, "aggregate_xplane_events", capture)), ours)
        overview = json.loads(output_of(programs.xprof_rs, "get_overview", capture))
        step_time_agrees(programs, capture, overview)


def step_time_agrees(programs, capture, overview):
    steps = [s["dur_ps"] / 1e9 for s in programs.ours("steps", capture)["steps"]]
    same("mean time of a step in ms", overview["performance_summary"]["steptime_ms_average"],
         "%.1f" % (sum(steps) / len(steps)))


def check_xprof_reads_our_capture(programs):
    with recorded(programs, "server") as (capture, _), copied(capture) as copy:
        ours = sums_by_name(programs.ours("events", "--by-name", capture)["rows"])
        cli = ("-m", "xprof.cli.xprof_cli")
        must_agree(sums_of_peer(xprof(programs, *cli, "aggregate_xplane_events", copy)), ours)
        step_time_agrees(programs, capture, json.loads(xprof(programs, *cli, "get_overview", copy)))
        for tool in ("overview_page", "input_pipeline_analyzer", "framework_op_stats"):
            json.loads(xprof(programs, HERE / "xprof_peer.py", "tool", tool, copy))


def check_xprof_draws_our_capture(programs):
    """Its trace viewer finds the events, gives the steps their numbers, and connects the two ends of a flow."""
    with recorded(programs, "session") as (capture, _), copied(capture) as copy:
        rows = our_events(programs, capture)
        drawn = json.loads(xprof(programs, HERE / "xprof_peer.py", "tool", "trace_viewer", copy))["traceEvents"]
    drawn = [e for e in drawn if e and e["ph"] in "Xi"]
    names = [r["name"] + (" %d" % r["args"]["step_num"] if r["name"] == "epoch" else "") for r in rows]
    same("events", sorted((e["name"], round(e["ts"] * 1e6)) for e in drawn),
         sorted((n, r["start_ps"]) for n, r in zip(names, rows)))
    flows = {}
    for e in drawn:
        if "flow" in e.get("args", {}):
            flows.setdefault(int(e["args"]["flow"]) >> 2, set()).add(e["name"])
    same("ends of flows", list(flows.values()), [{"hand over", "take over"}] * 2)
