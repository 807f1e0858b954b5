#!/usr/bin/env python3
"""Print all that the reader of JAX finds in a capture, as JSON.  Runs inside the peers' environment.

    dump.py FILE

[[plane, [[line, [[event, start in ns, duration in ns, {stat: value}], ..]], ..]], ..]
"""
import json
import sys

from jax.profiler import ProfileData


def events_of(line):
    return [[e.name, e.start_ns, e.duration_ns, dict(e.stats)] for e in line.events]


if __name__ == "__main__":
    planes = ProfileData.from_file(sys.argv[1]).planes
    json.dump([[p.name, [[line.name, events_of(line)] for line in p.lines]] for p in planes], sys.stdout)
