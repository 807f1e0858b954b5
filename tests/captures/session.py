"""What the program session_pattern recorded, held against what a reader found in its capture.

check(expected, found) raises AssertionError with what differs.  expected: the lines that the program printed, decoded.
found: {"start_ns", "stop_ns", "lines": {line name: [{"name", "start_ns", "dur_ns", "args"}, ..]}}, times in relation to
the start of the session, which is Unix ns.
"""
import json

SLACK_NS = 5000  # the recorder's clock and the system's drift apart a little


def decode(printed):
    return [json.loads(row) for row in printed.splitlines()]


def check_bounds(what, value, bounds):
    if not bounds[0] - SLACK_NS <= value <= bounds[1] + SLACK_NS:
        raise AssertionError("%s: %r is not within %r" % (what, value, bounds))


def check_equal(what, found, right):
    if found != right or type(found) is not type(right):
        raise AssertionError("%s: %r, right is %r" % (what, found, right))


def check(expected, found):
    session, events = expected[0], expected[1:]
    check_bounds("start of the session", found["start_ns"], [session["start_ns"], events[0]["start"][0]])
    check_bounds("end of the session", found["stop_ns"], [max(e["end"][0] for e in events), session["stop_ns"]])
    check_equal("lines", sorted(found["lines"]), sorted({e["line"] for e in events}))
    for line, rows in found["lines"].items():
        right = [e for e in events if e["line"] == line]
        check_equal("names of " + line, [r["name"] for r in rows], [e["name"] for e in right])
        for row, event in zip(rows, right):
            start = found["start_ns"] + round(row["start_ns"])
            check_bounds("start of " + event["name"], start, event["start"])
            check_bounds("end of " + event["name"], start + round(row["dur_ns"]), event["end"])
            check_equal("arguments of " + event["name"], row["args"], event["args"])
