#!/usr/bin/env python3
"""Print what the reader of JAX finds in a capture of the library, as tests/captures/session.py wants it.  Runs inside the
peers' environment.

    session_read.py FILE
"""
import json
import sys

from jax.profiler import ProfileData


def value_of(value):
    """Bytes that are no text come as text, too."""
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value


def read(path):
    planes = {p.name: p for p in ProfileData.from_file(path).planes}
    environment = dict(planes["Task Environment"].stats)
    lines = {line.name: [{"name": e.name, "start_ns": e.start_ns, "dur_ns": e.duration_ns,
                          "args": {k: value_of(v) for k, v in e.stats}} for e in line.events]
             for line in planes["/host:CPU"].lines}
    return {"start_ns": environment["profile_start_time"], "stop_ns": environment["profile_stop_time"],
            "planes": list(planes), "lines": lines}


if __name__ == "__main__":
    json.dump(read(sys.argv[1]), sys.stdout)
