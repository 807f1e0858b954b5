#!/usr/bin/env python3
"""Print what the reader of JAX finds in captures, as JSON.  Runs inside the peers' environment.

    read.py FILE...

{FILE: {"planes": [[name, lines, events], ..], "names": {event name: [count, total duration in ps]}}}
"""
import json
import sys

from jax.profiler import ProfileData


def read(path):
    planes, names = [], {}
    for plane in ProfileData.from_file(path).planes:
        lines = events = 0
        for line in plane.lines:
            lines += 1
            for event in line.events:
                events += 1
                row = names.setdefault(event.name, [0, 0])
                row[0] += 1
                row[1] += round(event.duration_ns * 1000)
        planes.append([plane.name, lines, events])
    return {"planes": planes, "names": names}


if __name__ == "__main__":
    json.dump({path: read(path) for path in sys.argv[1:]}, sys.stdout)
