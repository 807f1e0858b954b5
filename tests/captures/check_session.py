#!/usr/bin/env python3
"""Hold a capture that the library has just recorded against what its program did.

    check_session.py SESSION_PATTERN

The capture is read with wire.py, the trace.json.gz with Python's json; tests/interop/session_pattern.c says what the
program does.
"""
import gzip
import json
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import session
import wire


def record(program, logdir):
    """What was recorded, and the directory with the files."""
    printed = subprocess.run([program, logdir], check=True, stdout=subprocess.PIPE).stdout.decode()
    return session.decode(printed), pathlib.Path(logdir, "plugins", "profile", "run")


def read_capture(path):
    planes, hosts = wire.load(path.read_bytes())
    by_name = {p.name: p for p in planes}
    session.check_equal("planes", [p.name for p in planes], ["/host:metadata", "/host:CPU", "Task Environment"])
    session.check_equal("hosts", hosts, [os.uname().nodename])
    environment = by_name["Task Environment"].stats
    lines = {l.name: [{"name": e.name, "start_ns": e.start / 1000, "dur_ns": e.dur / 1000, "args": e.own}
                      for e in l.events] for l in by_name["/host:CPU"].lines}
    return {"start_ns": environment["profile_start_time"], "stop_ns": environment["profile_stop_time"],
            "lines": lines}, by_name


def check_programs(metadata):
    entries = [(row[0], row[2]) for row in metadata.values()]
    session.check_equal("programs", entries, [("jit_f(12)", {"Hlo Proto": b"hlo bytes", "program_id": 12})])


def as_texts(args):
    """Arguments as the trace shows them: texts, without those that only programs read."""
    shown = {k: v for k, v in args.items() if k not in ("_r", "_pt", "_p", "_ct", "_c")}
    return {k: v if isinstance(v, str) else "%g" % v if isinstance(v, float) else str(v) for k, v in shown.items()}


def check_trace(path, lines):
    with gzip.open(path) as f:
        trace = json.load(f)
    rows = trace["traceEvents"]
    session.check_equal("end of the trace", rows[-1], {})
    names = {r["tid"]: r["args"]["name"] for r in rows if r.get("name") == "thread_name"}
    shown = {}
    for r in rows:
        if r.get("ph") == "X":
            shown.setdefault(names[r["tid"]], []).append(r)
    session.check_equal("lines of the trace", sorted(shown), sorted(lines))
    for line, events in lines.items():
        session.check_equal("events of the trace", [r["name"] for r in shown[line]], [e["name"] for e in events])
        for r, e in zip(shown[line], events):
            session.check_equal("arguments of the trace", r.get("args", {}), as_texts(e["args"]))
            if abs(r["ts"] * 1000 - e["start_ns"]) > 0.01 or abs(r["dur"] * 1000 - e["dur_ns"]) > 0.01:
                raise AssertionError("times of %s in the trace: %r, in the capture %r" % (e["name"], r, e))


def main():
    with tempfile.TemporaryDirectory() as logdir:
        expected, run = record(sys.argv[1], logdir)
        found, planes = read_capture(run / "host.xplane.pb")
        session.check(expected, found)
        session.check_equal("process", planes["/host:CPU"].stats["process_id"], expected[0]["pid"])
        check_programs(planes["/host:metadata"].metadata)
        check_trace(run / "host.trace.json.gz", found["lines"])
        session.check_equal("files", sorted(p.name for p in run.iterdir()), ["host.trace.json.gz", "host.xplane.pb"])
    print("%d events agree" % (len(expected) - 1))


if __name__ == "__main__":
    main()
