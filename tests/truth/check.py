#!/usr/bin/env python3
"""Hold what xlaprof says of gaps against what the host and the device wrote down themselves.

    check.py TRUTH XLAPROF [--seeds N] [--only SCENARIO] [--keep FOLDER]

TRUTH makes gaps on purpose and leaves a capture and a ledger (ledger.h).  The truth about each moment in which the
device did no operation follows from the ledger alone:

  in_program          a run had begun and not ended, and the call that launched it had returned
  value_request, wait the call that launches the next work had returned, but the host was in a read or a wait
  launch              it had returned
  dispatch            the host was in a call that launches
  else                what the host's stretch says; the walk through a graph that is compiled is tracing

The sums of each class in each gap must be the parts of the gap, class by class, with their scopes, within the larger
of 5 % and 200 us; what was not made must not be read, within 200 us; the largest is the cause; the trigger follows from
the reads and waits of the ledger; and each time of the device without an operation must be a gap.

The ledger tells how long each thread was kept from the processor.  If that was more than 200 us around every gap that
is wrong the scenario is run again, with the same acts, up to ATTEMPTS times in all; each is printed.  A wrong gap that
was not disturbed fails, with one exception in all: a virtual machine may be stopped where no thread can see it, so the
first one fails only if it does not go away in the next two attempts.
"""
import argparse
import bisect
import collections
import json
import os
import pathlib
import subprocess
import sys
import tempfile

SCENARIOS = {  # each, and the classes that it must have made for 1 ms at least
    "host": ["host"],
    "input": ["input"],
    "graph": ["compile", "tracing"],
    "transfer": ["value_request", "upload"],
    "latency": ["launch", "wait", "value_request"],
    "pause": ["in_program"],
    "dispatch": ["dispatch"],
    "devices": ["wait", "value_request"],
}
SHARE, LEAST_US, ATTEMPTS = 0.05, 200, 8
CLASSES = ["in_program", "compile", "value_request", "wait", "upload", "tracing", "input", "dispatch", "host", "launch"]

Row = collections.namedtuple("Row", "kind cls scope device number start end late")
Act = collections.namedtuple("Act", "cls scope start end")  # a piece of a gap, in ns


def allowed_ns(ns):
    return max(ns * SHARE, LEAST_US * 1000)


class Ledger:
    """Rows by what they are, their times in ns since the session began."""

    def __init__(self, path, session_unix_ns):
        lines = [line.rstrip("\n").split("\t") for line in open(path)]
        first, lines = lines[0], lines[1:]
        shift = int(first[6]) - int(first[5]) - session_unix_ns
        rows = [Row(*l[:3], *[int(n) + (shift if i in (2, 3) else 0) for i, n in enumerate(l[3:])]) for l in lines]
        rows.sort(key=lambda r: r.start)
        self.stretches = [r for r in rows if r.kind == "stretch"]
        self.marks = [r for r in rows if r.kind == "mark"]
        self.calls = [r for r in rows if r.kind in ("stretch", "walk", "execute")]
        self.executes = {(r.device, r.number): r for r in rows if r.kind == "execute"}
        self.runs = collections.defaultdict(list)
        self.ops = collections.defaultdict(list)
        for r in rows:
            if r.kind in ("run", "op"):
                (self.runs if r.kind == "run" else self.ops)[r.device].append(r)

    def idle(self, device, start, end):
        """The idle stretches of a device within a time, each with the operation that follows."""
        ops = self.ops[device]
        i = bisect.bisect_right([o.start for o in ops], start) - 1
        time = max(start, ops[i].end) if i >= 0 else start
        for op in ops[i + 1:]:
            if time >= end:
                return
            if op.start > time:
                yield time, min(op.start, end), op
            time = max(time, op.end)

    def pieces(self, device, start, end):
        """What happened in a time of a device, piece by piece."""
        for a, b, op in self.idle(device, start, end):
            call = self.executes[device, op.number]
            bounds = {a, b, call.start, call.end}
            inside = [r for r in self.runs[device] + self.calls if r.start < b and r.end > a]
            for r in inside:
                bounds |= {r.start, r.end}
                if r.kind == "run":
                    bounds.add(self.executes[device, r.number].end)
            bounds = sorted(t for t in bounds if a <= t <= b)
            for x, y in zip(bounds, bounds[1:]):
                yield self.piece(device, x, y, call, inside)

    def piece(self, device, x, y, call, inside):
        at = {r.kind: r for r in inside if r.start <= x and r.end >= y}
        stretch = at.get("stretch")
        cls, scope = (stretch.cls, stretch.scope) if stretch else ("", "")
        if "run" in at and x >= self.executes[device, at["run"].number].end:
            cls, scope = "in_program", ""
        elif x >= call.end:
            cls = cls if cls in ("wait", "value_request") else "launch"
        elif "execute" in at:
            cls = "dispatch"
        elif cls == "compile" and ("walk" in at or any(stretch.start <= e.end <= x for e in self.executes.values())):
            cls = "tracing"  # before and after the compile itself
        return Act(cls, scope, x, y)

    def late(self, start, end):
        """How long a thread was kept from the processor, at most, between two marks or ends of runs that follow each
        other, and how long the host spent between two stretches."""
        late = [b.start - a.end for a, b in zip(self.stretches, self.stretches[1:]) if a.end < end and b.start > start]
        for rows in [self.marks] + list(self.runs.values()):
            late += [b.late - a.late for a, b in zip(rows, rows[1:]) if a.end < end and b.end > start]
        return max(late, default=0)

    def triggers(self, start, end, launch_end):
        """What may have made the host late: the reads and waits that a gap of these bounds can have as its trigger,
        with whether they surely are."""
        lead = max(50e3, (end - start) / 10)
        found = {}
        for r in self.stretches:
            if r.cls not in ("value_request", "wait") or r.start >= min(launch_end, end):
                continue
            length = r.end - r.start
            margin = (r.end - (start - lead)) / 1000
            if margin < -LEAST_US or (r.cls == "wait" and length < 20e3):
                continue
            sure = margin > LEAST_US and (r.cls != "wait" or length > 100e3) and r.start < launch_end - 1000
            found[r.cls] = found.get(r.cls, False) or sure
        return found


class Table:
    """What was made, and how far off the reading was, by class."""

    def __init__(self):
        self.rows = {c: [0, 0, 0.0, 0.0] for c in CLASSES}

    def add(self, cls, truth_ns, error_ns):
        row = self.rows[cls]
        row[0] += 1
        row[1] += truth_ns
        row[2] = max(row[2], error_ns)
        row[3] = max(row[3], error_ns / truth_ns)

    def merge(self, other):
        for cls, (count, ns, error, share) in other.rows.items():
            row = self.rows[cls]
            row[:] = [row[0] + count, row[1] + ns, max(row[2], error), max(row[3], share)]

    def text(self):
        lines = ["class          gaps  made ms  worst error us  worst share"]
        for cls, (count, ns, error, share) in self.rows.items():
            lines.append("%-13s %5d %8.1f %15.1f %11.2f%%" % (cls, count, ns / 1e6, error / 1e3, share * 100))
        return "\n".join(lines)


def check_sums(truth, parts, what, faults):
    """Two tables of sums in ns."""
    for key in sorted(set(truth) | set(parts), key=str):
        made, read = truth.get(key, 0), parts.get(key, 0)
        if abs(made - read) > allowed_ns(made):
            faults.append("%s %s: %.1f us were made, %.1f us are read" % (what, key, made / 1e3, read / 1e3))


def device_of(gap):
    return int(gap["device"].rsplit(":", 1)[1])


def check_gap(ledger, gap, table):
    """The faults of a gap, as texts."""
    start, end = gap["start_ps"] / 1000, (gap["start_ps"] + gap["dur_ps"]) / 1000
    device = device_of(gap)
    faults, truth, scoped, read, read_scoped = [], {}, {}, {}, {}
    for act in ledger.pieces(device, start, end):
        truth[act.cls] = truth.get(act.cls, 0) + act.end - act.start
        key = (act.cls, act.scope)
        if act.cls not in ("in_program", "launch", "dispatch", ""):
            scoped[key] = scoped.get(key, 0) + act.end - act.start
    unlogged = truth.pop("", 0)
    scoped = {k: ns for k, ns in scoped.items() if k[1]}
    for part in gap["parts"]:
        read[part["cause"]] = read.get(part["cause"], 0) + part["ps"] / 1000
        key = (part["cause"], part["scope"])
        if key in scoped:
            read_scoped[key] = read_scoped.get(key, 0) + part["ps"] / 1000
    check_sums(truth, read, "class", faults)
    check_sums(scoped, read_scoped, "scope", faults)
    if abs(sum(truth.values()) + unlogged - (end - start)) > LEAST_US * 1000:
        faults.append("the device was idle for %.1f us of %.1f us" % (sum(truth.values()) / 1e3, (end - start) / 1e3))
    for cls, ns in truth.items():
        if ns >= 1e6 and cls in table.rows:
            table.add(cls, ns, abs(ns - read.get(cls, 0)))
    order = sorted(truth.values())
    clear = len(order) < 2 or order[-1] - order[-2] > 2 * allowed_ns(order[-1])
    cause = max(truth, key=truth.get)
    if clear and gap["cause"] != cause:
        faults.append("the cause is %s and not %s" % (gap["cause"], cause))
    check_trigger(ledger, gap, device, start, end, truth, faults)
    return faults


def check_trigger(ledger, gap, device, start, end, truth, faults):
    after = [op for a, b, op in ledger.idle(device, start + 1000, end + 1000)]
    if not after:
        return
    call_end = ledger.executes[device, after[-1].number].end
    found = ledger.triggers(start, end, call_end)
    wanted = ["value_request", "wait"]
    possible = set(found) if found else set()
    for cls in wanted:  # the first sure one hides what comes behind it
        if found.get(cls):
            possible &= set(wanted[:wanted.index(cls) + 1])
            break
    else:
        if truth.get("compile", 0) < LEAST_US * 1000:
            possible.add("none")
        if any(r.cls == "compile" and r.end > start and r.start < end for r in ledger.stretches):
            possible.add("compile")
    if gap["trigger"] not in possible:
        faults.append("the trigger is %s and not %s" % (gap["trigger"], " or ".join(sorted(possible))))


def missing(ledger, gaps):
    """Times of a device without an operation that are no gap."""
    faults = []
    for device in ledger.ops:
        found = [(g["start_ps"] / 1000, (g["start_ps"] + g["dur_ps"]) / 1000) for g in gaps
                 if g["where"] == "inside" and device_of(g) == device]
        ops = [op for op in ledger.ops[device] if op.start >= 0]  # the session's
        for start, end, _ in ledger.idle(device, ops[0].end, ops[-1].end) if ops else ():
            margin = LEAST_US * 1000
            if end - start > 2 * margin and not any(a < start + margin and b > end - margin for a, b in found):
                place = "%.1f us of idleness at %.1f us on device %d" % ((end - start) / 1e3, start / 1e3, device)
                faults.append((place, ["there is no such gap"], ledger.late(start, end)))
    return faults


def run(truth, xlaprof, scenario, seed, folder):
    """One attempt: faults with whether they were disturbed, and the table."""
    folder.mkdir(parents=True)
    options = subprocess.run([truth, scenario, str(seed), str(folder)], check=True, stdout=subprocess.PIPE).stdout
    read = lambda command: json.loads(subprocess.run([xlaprof, command, str(folder), "--json"], check=True,
                                                     stdout=subprocess.PIPE).stdout)
    gaps, info = read("gaps"), read("info")
    ledger = Ledger(folder / "ledger.tsv", info["session"]["start_unix_ns"])
    table, faults = Table(), []
    for gap in gaps["gaps"]:
        if gap["where"] != "inside" or gap["dur_ps"] < 200e6:
            continue
        start, end = gap["start_ps"] / 1000, (gap["start_ps"] + gap["dur_ps"]) / 1000
        found = check_gap(ledger, gap, table)
        late = ledger.late(start, end)
        if found:
            place = "gap of %.1f us at %.1f us on %s" % ((end - start) / 1e3, start / 1e3, gap["device"])
            faults.append((place, found, late))
    faults += missing(ledger, gaps["gaps"])
    for cls in SCENARIOS[scenario]:
        if table.rows[cls][0] == 0:
            faults.append(("the scenario", ["no gap has %s for 1 ms" % cls], 0))
    return options.decode().strip(), faults, table


class Attempts:
    """Runs scenarios until they are undisturbed."""

    def __init__(self, arguments, folder):
        self.arguments, self.folder = arguments, folder
        self.may_be_stopped = True  # once

    def check(self, scenario, seed, table):
        """True if all is attributed."""
        wanted = 1  # attempts without a fault, one after the other
        for attempt in range(1, ATTEMPTS + 1):
            place = self.folder / ("%s-%d-%d" % (scenario, seed, attempt))
            options, faults, made = run(self.arguments.truth, self.arguments.xlaprof, scenario, seed, place)
            what = "seed %d %s (%s)" % (seed, scenario, options)
            if not faults:
                print("%s: all attributed, attempt %d" % (what, attempt), flush=True)
                wanted -= 1
                if wanted == 0:
                    table.merge(made)
                    return True
                continue
            undisturbed = [f for f in faults if f[2] <= LEAST_US * 1000]
            print("%s: attempt %d of %d, %d gaps are wrong, %d of them disturbed" % (
                what, attempt, ATTEMPTS, len(faults), len(faults) - len(undisturbed)))
            for where, texts, late in faults:
                print("  %s, threads late by %.0f us: %s" % (where, late / 1e3, "; ".join(texts)), flush=True)
            if undisturbed:
                if len(undisturbed) > 1 or not self.may_be_stopped:
                    return False
                self.may_be_stopped, wanted = False, 2
        return False


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("truth")
    parser.add_argument("xlaprof")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--only", default="", help="a scenario")
    parser.add_argument("--keep", help="a folder for captures and ledgers")
    arguments = parser.parse_args()
    environment_names = [name for name in os.environ if name.startswith("XLAPROF_DEVICE_")]
    for name in environment_names:
        del os.environ[name]
    table, passed = Table(), True
    with tempfile.TemporaryDirectory() as scratch:
        attempts = Attempts(arguments, pathlib.Path(arguments.keep or scratch))
        for seed in range(1, arguments.seeds + 1):
            for scenario in SCENARIOS:
                if arguments.only in scenario:
                    passed = attempts.check(scenario, seed, table) and passed
    print(table.text())
    sys.exit(0 if passed else 1)


if __name__ == "__main__":
    main()
