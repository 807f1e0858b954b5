#!/usr/bin/env python3
"""XProf as a client, and as a reader of captures.  Runs inside the environment of XProf.

    xprof_peer.py trace TARGET LOGDIR    captures 300 ms of a program with XProf's client, in one attempt
    xprof_peer.py tool TOOL FILE         what XProf's converter makes of a capture: trace_viewer, overview_page, ..
    xprof_peer.py names FILE             as JSON, {event name: [count, sum of durations in ns]} by XProf's own reader
"""
import json
import sys

from xprof.convert import _pywrap_profiler_plugin, raw_to_tool_data


def trace(target, logdir):
    _pywrap_profiler_plugin.trace(target, logdir, "", False, 300, 1, {"host_tracer_level": 2})


def tool(name, path):
    data, _ = raw_to_tool_data.xspace_to_tool_data([path], name, {})
    print(data.decode() if isinstance(data, bytes) else data)


def names(path):
    from xprof.profile_data import ProfileData
    found = {}
    with open(path, "rb") as file:
        for plane in ProfileData.from_serialized_xspace(file.read()).planes:
            for line in plane.lines:
                for event in line.events:
                    row = found.setdefault(event.name, [0, 0])
                    row[0] += 1
                    row[1] += int(event.duration_ns)
    print(json.dumps(found))


if __name__ == "__main__":
    {"trace": trace, "tool": tool, "names": names}[sys.argv[1]](*sys.argv[2:])
