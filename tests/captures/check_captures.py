#!/usr/bin/env python3
"""Hold the program's answers about real captures against an independent recomputation.

    check_captures.py XLAPROF [CAPTURE...]       every capture of tests/data/captures, or those named
    check_captures.py --self-test [SCENARIO...]  the recomputation alone, against the answers of tests/data/scenarios

The program is run as `XLAPROF <gaps|steps|counters|names|ops|info|report> --json CAPTURE`; what it answers is
compared with oracle.py (exactly: all times are whole picoseconds), chains.py (causes, within 2 us) and
known.json (facts that the recorded programs themselves reported).  README.md lists the checks.

Prints a line for each comparison that failed, then "N passed, M failed" alone on the last line.
Exit status 1 if one failed, or if nothing was compared.
"""
import collections
import fnmatch
import glob
import json
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
DATA = os.path.join(HERE, "..", "data")
sys.path.insert(0, HERE)

import chains
import oracle

TIMEOUT_S = 60
SLACK_PS = 2 * oracle.US           # parts and causes of chains.py
CLASSES = set(oracle.ORDER) | {"profiler"}


class Score:
    """Counts comparisons and prints those that failed."""

    def __init__(self):
        self.passed, self.failed = 0, 0
        self.where = ""

    def ok(self, right, what, detail=""):
        if right:
            self.passed += 1
            return True
        self.failed += 1
        print("%s: %s%s" % (self.where, what, ": " + detail if detail else ""))
        return False

    def same(self, got, want, what):
        return self.ok(got == want and isinstance(got, bool) == isinstance(want, bool), what,
                       "program %s, right is %s" % (short(got), short(want)))

    def close(self, got, want, slack, what):
        if want is None or got is None:
            return self.same(got, want, what)
        return self.ok(isinstance(got, (int, float)) and abs(got - want) <= slack, what,
                       "program %s, right is %s" % (short(got), short(want)))

    def within(self, got, bounds, what):
        return self.ok(got is not None and bounds[0] <= got <= bounds[1], what,
                       "program %s, right is %s to %s" % (short(got), *bounds))


def short(value):
    text = json.dumps(value, default=str)
    return text if len(text) < 160 else text[:157] + "..."


def rows(answer, key):
    found = answer.get(key) if isinstance(answer, dict) else None
    return [r for r in found if isinstance(r, dict)] if isinstance(found, list) else []


# ---------------------------------------------------------------- gaps

def device_row(capture, d):
    collective, wait = capture.collectives(d)
    return {"window_ps": list(d.window), "busy_ps": d.busy, "copy_ps": d.copy, "idle_ps": d.idle_ps,
            "gap_count": len(d.gaps), "lead_in_ps": d.lead_in, "tail_ps": d.tail,
            "collective_ps": collective, "collective_wait_ps": wait}


def check_devices(score, capture, gaps):
    table = {r.get("name"): r for r in rows(gaps, "devices")}
    for d in capture.devices:
        row = table.get(d.name, {})
        if not score.ok(row, "device %s is missing" % d.name):
            continue
        for key, value in device_row(capture, d).items():
            score.same(row.get(key), value, "%s %s" % (d.name, key))
    names = {d.name for d in capture.devices}
    extra = [n for n, r in table.items() if n not in names and (r.get("busy_ps") or r.get("copy_ps"))]
    score.same(extra, [], "devices that are none")


def inside(gaps, device=None):
    return [g for g in rows(gaps, "gaps") if g.get("where", "inside") == "inside"
            and (device is None or g.get("device") == device)]


def check_gap_list(score, capture, gaps):
    for d in capture.devices:
        got = sorted((g.get("start_ps"), g.get("dur_ps")) for g in inside(gaps, d.name))
        want = [(a, b - a) for a, b in d.gaps]
        if score.same(len(got), len(want), "%s number of gaps" % d.name):
            wrong = [(g, w) for g, w in zip(got, want) if g != w]
            score.ok(not wrong, "%s gaps" % d.name, "program %s, right is %s" % wrong[0] if wrong else "")
        edges = {g.get("where"): g for g in rows(gaps, "gaps") if g.get("device") == d.name}
        for where, dur in (("lead_in", d.lead_in), ("tail", d.tail)):
            if dur:
                score.same(edges.get(where, {}).get("dur_ps"), dur, "%s length of the %s" % (d.name, where))


def check_parts(score, gaps):
    """What holds for the parts of every gap."""
    for g in rows(gaps, "gaps"):
        label = "gap %s %s %s" % (g.get("device"), g.get("where"), g.get("start_ps"))
        parts = rows(g, "parts")
        sums = collections.Counter()
        for p in parts:
            sums[p.get("cause")] += p.get("ps", 0)
        if not score.same(sum(sums.values()), g.get("dur_ps"), label + " sum of its parts"):
            continue
        score.same(sorted(set(sums) - CLASSES), [], label + " classes that are none")
        ranked = {c: ps for c, ps in sums.items() if c in oracle.ORDER}
        if g.get("where", "inside") == "inside" and ranked:
            score.same(g.get("cause"), chains.cause_of(ranked), label + " cause of the largest sum")
            largest = max((p["ps"] for p in parts if p["cause"] == g.get("cause")), default=None)
            scopes = {p.get("scope") for p in parts if p["cause"] == g.get("cause") and p["ps"] == largest}
            score.ok(g.get("scope") in scopes, label + " scope of its largest part",
                     "program %s, right is %s" % (short(g.get("scope")), short(list(scopes))))


def check_sums(score, capture, gaps):
    idle = sum(d.idle_ps for d in capture.devices)
    short_ps = sum(b - a for d in capture.devices for a, b in d.all_gaps if b - a < oracle.US)
    short_count = sum(len(d.all_gaps) - len(d.gaps) for d in capture.devices)
    causes = [r for r in rows(gaps, "causes") if r.get("where", "inside") == "inside"]
    score.same(sum(r.get("ps", 0) for r in causes), idle, "sum of the causes")
    folded = [r for r in causes if r.get("cause") == "short"]
    score.same(sum(r.get("ps", 0) for r in folded), short_ps, "sum of the short gaps")
    score.same(sum(r.get("gaps", 0) for r in folded), short_count, "number of short gaps")
    key = ("cause", "trigger", "scope", "trigger_scope")
    want = collections.Counter()
    for g in inside(gaps):
        want[tuple(g.get(k) or "" for k in key)] += g.get("dur_ps", 0)
    got = collections.Counter()
    for r in causes:
        if r.get("cause") != "short":
            got[tuple(r.get(k) or "" for k in key)] += r.get("ps", 0)
    score.ok(got == want, "table of causes", "program %s, gaps say %s" % (short(list((got - want).items())),
                                                                         short(list((want - got).items()))))
    unknown = sum(p.get("ps", 0) for g in inside(gaps) for p in rows(g, "parts") if p.get("cause") == "unknown")
    coverage = gaps.get("coverage") or {}
    score.same(coverage.get("idle_ps"), idle, "coverage idle_ps")
    score.same(coverage.get("explained_ps"), idle - unknown - short_ps, "coverage explained_ps")


def check_chains(score, right, gaps, unlinked):
    """Why a device waited, gap by gap."""
    name = right.d.name
    score.same(sum(r.call is None for r in right.runs), unlinked, "%s runs without a launch" % name)
    table = {(g.get("where"), g.get("start_ps")): g for g in rows(gaps, "gaps") if g.get("device") == name}
    for a, b in right.d.gaps:
        check_gap(score, right, a, b, table.get(("inside", a), {}), "gap %s %d " % (name, a))
    start, (a, b), stop = right.h.start, right.d.window, right.h.stop
    if a > start:
        got = table.get(("lead_in", start), {})
        check_gap_parts(score, right, right.parts(start, a), got, "%s lead-in " % name)
        check_trigger(score, right, start, a, got, "%s lead-in " % name)
        check_gap_step(score, right, a, got, "%s lead-in " % name)
    if stop is not None and stop > b:
        check_gap_parts(score, right, right.tail(b, stop), table.get(("tail", b), {}), "%s tail " % name)


def check_gap(score, right, a, b, got, label):
    want = right.parts(a, b)
    check_gap_parts(score, right, want, got, label)
    check_trigger(score, right, a, b, got, label)
    sums = chains.by_class(want)
    top = sorted(sums.values())[-2:]
    if len(top) < 2 or top[1] - top[0] > 2 * SLACK_PS:
        score.same(got.get("cause"), chains.cause_of(sums), label + "cause")
    check_gap_step(score, right, b, got, label)
    for key, at, work in (("before", a, [w for w in right.d.work + right.d.copies if w.end == a]),
                          ("after", b, [w for w in right.d.work + right.d.copies if w.start == b])):
        op = (got.get(key) or {}).get("op")
        score.ok(op in [w.key for w in work], label + key, "program %s, right is %s at %d"
                 % (short(op), short([w.key for w in work]), at))


def check_gap_step(score, right, end, got, label):
    """The step that launched the work after the gap; only where the program annotated its steps."""
    if right.steps:
        step, found = right.step_of(right.next_launch(end)), got.get("step")
        score.same(found and [found.get("name"), found.get("num")], step and list(step[:2]), label + "step")


def check_gap_parts(score, right, want, got, label):
    """Sums by class, and by class and scope.  Class host falls back on an event where no scope is open; which one
    of several is left open here."""
    sums, scopes = collections.Counter(), collections.Counter()
    for p in rows(got, "parts"):
        sums[p.get("cause")] += p.get("ps", 0)
        scopes[p.get("cause"), p.get("scope")] += p.get("ps", 0)
    wrong = differences(sums, chains.by_class(want))
    if score.ok(not wrong, label + "parts", "program " + "; ".join(wrong)):
        def keep(table):
            return {k: v for k, v in table.items() if k[0] != "host" or k[1] in right.scope_names}
        wrong = differences(keep(scopes), keep(want))
        score.ok(not wrong, label + "scopes of parts", "program " + "; ".join(wrong))


def differences(got, want):
    return ["%s %d, right is %d" % (k if isinstance(k, str) else "%s in %s" % k, got.get(k, 0), want.get(k, 0))
            for k in sorted(set(got) | set(want), key=str) if abs(got.get(k, 0) - want.get(k, 0)) > SLACK_PS]


def check_trigger(score, right, a, b, got, label):
    trigger, scopes = right.triggers(a, b)
    if score.same(got.get("trigger"), trigger, label + "trigger") and scopes:
        score.ok(got.get("trigger_scope") in scopes, label + "scope of the trigger",
                 "program %s, right is %s" % (short(got.get("trigger_scope")), short(sorted(map(str, scopes)))))


# ---------------------------------------------------------------- steps, names, ops, counters, info

def check_steps(score, capture, steps, found):
    want = capture.steps()
    score.same(steps.get("source"), want["source"], "source of the steps")
    got = sorted((r for r in rows(steps, "steps") if r.get("name") != "outside steps"),
                 key=lambda r: (r.get("start_ps", 0), str(r.get("name"))))
    right = sorted(want["steps"], key=lambda r: (r["start_ps"], str(r["name"])))
    if score.same(len(got), len(right), "number of steps"):
        for g, w in zip(got, right):
            label = "step %s %s " % (w["name"], w["num"])
            for key in ("start_ps", "dur_ps", "complete") + (("name", "num") if want["source"] == "annotation" else ()):
                score.same(g.get(key), w[key], label + key)
    table = {r.get("name"): r for r in rows(steps, "summary") if r.get("name") != "outside steps"}
    if want["source"] != "annotation":
        table = {want["summary"][0]["name"]: next(iter(table.values()), {})} if want["summary"] else {}
    for w in want["summary"]:
        g = table.get(w["name"], {})
        score.same((g.get("complete"), g.get("partial")), (w["complete"], w["partial"]),
                   "summary of %s: complete, partial" % w["name"])
        score.close(g.get("period_ps"), w["period_ps"], 1, "summary of %s: period" % w["name"])
        score.close(g.get("duration_ps"), w["duration_ps"], 1, "summary of %s: duration" % w["name"])
    if want["source"] == "annotation":
        check_step_counters(score, capture, got, right)
        busy = [c.step_busy() for c in found]
        for g, w in zip(got, right):
            times = [b.get((w["name"], w["num"], w["start_ps"]), 0) for b in busy]
            score.close(g.get("busy_ps"), sum(times) / max(1, len(times)), 1, "step %s %s busy" % (w["name"], w["num"]))


def check_step_counters(score, capture, got, right):
    """Counters of a step: events that start within it, on any thread; an execute of a pool also by the time at
    which it was asked for."""
    counted = capture.counted()
    for g, w in zip(got, right):
        a, b = w["start_ps"], w["start_ps"] + w["dur_ps"]
        for key in ("compiles", "executes", "reads", "uploads"):
            if g.get(key) is None:
                continue
            numbers = {sum(a <= s < b for s, _, _ in counted[key])}
            if key == "executes":
                numbers.add(sum(a <= asked(capture, s, t) < b for s, t, _ in counted[key]))
            score.ok(g[key] in numbers, "step %s %s %s" % (w["name"], w["num"], key),
                     "program %s, right is %s" % (g[key], sorted(numbers)))


def asked(capture, start, thread):
    """When the pool task that runs at `start` was handed to the pool."""
    begun = [e for e in thread.timed if e.name == "ThreadpoolListener::StartRegion" and e.start <= start]
    if not begun:
        return start
    ident = max(begun, key=lambda e: e.start).stats.get("_c")
    return next((e.start for h in capture.hosts for t in h.threads for e in t.timed
                 if e.name == "ThreadpoolListener::Record" and e.stats.get("_p") == ident), start)


def check_names(score, capture, names):
    want = capture.names()
    score.same(want["mixed"], 0, "fusions over several scopes")
    for key in ("device_ps", "named_ps", "unnamed_ps", "gate"):
        score.same(names.get(key), want[key], key)
    table = {r.get("scope"): r for r in rows(names, "scopes") if r.get("scope")}
    score.same(sorted(k for k, r in table.items() if r.get("ps")), sorted(want["scopes"]), "scopes")
    for scope, row in want["scopes"].items():
        for key, value in row.items():
            score.same(table.get(scope, {}).get(key), value, "scope %s %s" % (scope, key))


def check_ops(score, capture, ops):
    want = capture.ops()
    score.same(ops.get("total_ps"), want["total_ps"], "ops total_ps")
    score.same(ops.get("attributed_ps"), want["attributed_ps"], "ops attributed_ps")
    table = {r.get("key"): r for r in rows(ops, "rows")}
    score.same(len(table), len(rows(ops, "rows")), "ops: one row for a key")
    extra, missing = set(table) - set(want["rows"]), set(want["rows"]) - set(table)
    score.ok(not extra and not missing, "keys of ops", "not to be there %s, missing %s"
             % (short(sorted(map(str, extra))), short(sorted(missing))))
    for key, row in want["rows"].items():
        if key in table:
            got = {k: table[key].get(k) for k in row}
            score.ok(got == row, "op %s" % short(key), "program %s, right is %s" % (short(got), short(row)))


def check_counters(score, capture, counters, found):
    for key, value in capture.counters().items():
        score.same(counters.get(key), value, key)
    want = collections.Counter()
    for key, events in capture.counted().items():
        for start, thread, event in events:
            if key == "executes":
                start, thread = found[0].asked_for(event, thread)
            want[found[0].scope_at(thread, start, start), key] += 1
    got = {(r.get("scope"), k): r[k] for r in rows(counters, "by_scope") for k in capture.counters() if r.get(k)}
    score.ok(got == dict(want), "counters by scope", "program %s, right is %s"
             % (short([*got.items()]), short([*want.items()])))


def check_info(score, capture, info, path):
    files = rows(info, "files")
    score.same([f.get("bytes") for f in files], [os.path.getsize(path)], "bytes of the file")
    score.same([f.get("status") for f in files], ["ok"], "status of the file")
    h = capture.hosts[0]
    session = info.get("session") or {}
    score.same(session.get("start_unix_ns"), h.start_ns, "start of the session")
    score.same(session.get("dur_ps"), h.stop, "length of the session")
    want = collections.Counter((p.name, len(p.lines), sum(len(line.events) for line in p.lines)) for p in h.planes)
    got = collections.Counter((p.get("name"), count(p.get("lines")), p.get("events")) for p in rows(info, "planes"))
    score.ok(got == want, "planes, lines, events", "program %s, right is %s"
             % (short(list((got - want).items())), short(list((want - got).items()))))
    score.same(info.get("events"), sum(n[2] * k for n, k in want.items()), "events")
    table = {p.get("name"): p for p in rows(info, "planes")}
    for p in h.planes:
        timed = [e for line in p.lines for e in line.timed]
        if timed:
            row = table.get(p.name, {})
            score.same((row.get("first_ps"), row.get("last_ps")),
                       (min(e.start for e in timed), max(e.end for e in timed)), "%s first and last" % p.name)


def count(lines):
    return len(lines) if isinstance(lines, list) else lines


def check_events(score, capture, events):
    """Counts and lengths of events by name; untimed and stray events count, but have no length."""
    want = {}
    for h in capture.hosts:
        for p in h.planes:
            for line in p.lines:
                for e in line.events:
                    row = want.setdefault(e.name, {"count": 0, "total_ps": 0})
                    row["count"] += 1
                    row["total_ps"] += e.dur
    table = {r.get("name"): {k: r.get(k) for k in ("count", "total_ps")} for r in rows(events, "rows")}
    score.same(events.get("total"), sum(r["count"] for r in want.values()), "events: total")
    wrong = [k for k in set(want) | set(table) if want.get(k) != table.get(k)]
    score.ok(not wrong, "events by name", "%d names, %s" % (len(wrong), "; ".join(
        "%s program %s, right is %s" % (short(k), short(table.get(k)), short(want.get(k))) for k in wrong[:1])))


# ---------------------------------------------------------------- known facts

def known_counters(score, capture, fact, answers):
    for key, value in fact.items():
        score.same(answers["counters"].get(key), value, "known %s" % key)


def known_report(score, capture, fact, answers):
    found = answers["counters"].get("report") or {}
    for key, value in fact.items():
        score.same(found.get(key), value, "known: metrics report, %s" % key)


def known_positive(score, capture, fact, answers):
    for key in fact:
        score.ok((answers["counters"].get(key) or 0) > 0, "known: %s > 0" % key)


def known_steps(score, capture, fact, answers):
    for name, numbers in fact.items():
        got = [r.get("num") for r in rows(answers["steps"], "steps") if r.get("name") == name and r.get("complete")]
        score.same(got, numbers, "known: whole steps %s" % name)


def known_step_counts(score, capture, fact, answers):
    for name, number in fact.items():
        got = [r for r in rows(answers["steps"], "steps") if r.get("name") == name and r.get("complete")]
        score.same(len(got), number, "known: whole steps %s" % name)


def known_devices(score, capture, fact, answers):
    got = [d for d in rows(answers["gaps"], "devices") if d.get("busy_ps")]
    score.same(len(got), fact, "known: devices that work")


def known_gate(score, capture, fact, answers):
    score.same(answers["names"].get("gate"), fact, "known: gate of the names")


def known_largest_gap(score, capture, fact, answers):
    gap = max(inside(answers["gaps"]), key=lambda g: g.get("dur_ps", 0), default={})
    score.within(gap.get("dur_ps", 0) / 1e9, fact["ms"], "known: largest gap, ms")
    for key in ("cause", "scope", "trigger"):
        score.same(gap.get(key), fact[key], "known: largest gap, %s" % key)


def known_gap_groups(score, capture, fact, answers):
    for group in fact:
        label = "known: gaps of trigger %s in %s" % (group["trigger"], group["trigger_scope"])
        got = [g for g in inside(answers["gaps"]) if g.get("trigger") == group["trigger"]
               and g.get("trigger_scope") == group["trigger_scope"]]
        score.same(len(got), group["gaps"], label)
        score.within(sum(g["dur_ps"] for g in got) / 1e9, group["ms"], label + ", ms")
        most = sum(p["ps"] for g in got for p in rows(g, "parts") if p["cause"] == group["most"])
        score.ok(2 * most > sum(g["dur_ps"] for g in got), label + ", mostly %s" % group["most"],
                 "program %.3f ms of it" % (most / 1e9))


def known_verdict(score, capture, fact, answers):
    verdict = answers["report"].get("verdict")
    text = verdict if isinstance(verdict, str) else json.dumps(verdict)
    for pattern in fact:
        score.ok(re.search(pattern, text), "known: verdict says /%s/" % pattern, "program %s" % short(text))


def known_advice(score, capture, fact, answers):
    text = json.dumps(answers["report"].get("advice"))
    for pattern in fact:
        score.ok(re.search(pattern, text), "known: advice says /%s/" % pattern, "program %s" % short(text))


def known_linked(score, capture, fact, answers):
    for device in fact:
        loose = [g.get("start_ps") for g in inside(answers["gaps"], device) if g.get("cause") == "unknown"]
        score.same(loose, [], "known: gaps of %s without a link" % device)


def known_without_launch(score, capture, fact, answers):
    score.same(answers["counters"].get("executions_without_launch"), fact, "known: executions without launch")
    text = json.dumps(answers["report"])
    score.ok(re.search(r"\b%d\b[^\"]{0,40}\bexecutions?\b[^\"]{0,20}\bno launch\b" % fact, text),
             "known: %d executions without launch" % fact, "the report does not say so")


def known_cut_points(score, capture, fact, answers):
    got = {r.get("scope"): r.get("count") for r in rows(answers["report"], "cut_points")}
    score.same(got, fact, "known: cut points by scope")


def known_part_before_step(score, capture, fact, answers):
    """The part of a gap that ends where the run begins that a step launched."""
    launches = {}
    for h in capture.hosts:
        for t in h.threads:
            for e in oracle.host_events(h, t):
                if "run_id" in e.stats and oracle.class_of(e.name) == "dispatch":
                    launches.setdefault(e.stats["run_id"], e.start)
    for _, name, num, step in capture.annotations():
        bounds = fact["ms"].get(str(num))
        ids = {k for k, start in launches.items() if step.start <= start < step.end}
        for d in capture.devices if bounds else ():
            begins = {r.start for r in oracle.runs(d) if r.key in ids}
            gaps = [g for g in inside(answers["gaps"], d.name) if g["start_ps"] + g["dur_ps"] in begins]
            ps = sum(p["ps"] for g in gaps for p in rows(g, "parts")
                     if p.get("cause") == fact["cause"] and p.get("scope") == fact["scope"])
            score.within(ps / 1e9, bounds, "known: %s in %s before %s %d on %s, ms"
                         % (fact["cause"], fact["scope"], name, num, d.name))


KNOWN = {
    "counters": known_counters, "counters_positive": known_positive, "metrics_report": known_report,
    "steps": known_steps, "step_counts": known_step_counts, "devices": known_devices, "gate": known_gate,
    "largest_gap": known_largest_gap, "gap_groups": known_gap_groups, "part_before_step": known_part_before_step,
    "cut_points": known_cut_points, "without_launch": known_without_launch, "linked": known_linked,
    "verdict": known_verdict, "advice": known_advice,
}


# ---------------------------------------------------------------- running

def ask(score, binary, command, path, *options):
    """The program's answer as an object, {} with a failed comparison otherwise."""
    try:
        run = subprocess.run([binary, command, "--json", *options, path], capture_output=True, timeout=TIMEOUT_S)
    except (OSError, subprocess.TimeoutExpired) as e:
        score.ok(False, "%s: %s" % (command, e))
        return {}
    said = run.stderr.decode("utf-8", "replace").strip().splitlines()[-1:]
    score.ok(run.returncode == 0, "%s: exit status %d %s" % (command, run.returncode, "".join(said)[:120]))
    try:
        answer = json.loads(run.stdout)
    except ValueError as e:
        answer = None
        score.ok(False, "%s: no JSON (%s)" % (command, e))
    if not isinstance(answer, dict):
        return {}
    score.ok(str(answer.get("schema", "")).startswith("xlaprof.%s/" % command), "%s: schema" % command)
    return answer


def check_capture(score, binary, path, known):
    capture = oracle.Capture([path])
    answers = {}
    for command in ("gaps", "steps", "counters", "names", "ops", "info", "report"):
        answers[command] = ask(score, binary, command, path)
    check_devices(score, capture, answers["gaps"])
    check_gap_list(score, capture, answers["gaps"])
    check_parts(score, answers["gaps"])
    check_sums(score, capture, answers["gaps"])
    found = [chains.Chains(capture, d) for d in capture.devices]
    for right in found:
        check_chains(score, right, answers["gaps"], known.get("without_launch", 0))
    check_steps(score, capture, answers["steps"], found)
    check_names(score, capture, answers["names"])
    check_ops(score, capture, answers["ops"])
    check_counters(score, capture, answers["counters"], found)
    check_info(score, capture, answers["info"], path)
    check_events(score, capture, ask(score, binary, "events", path, "--by-name"))
    for key, fact in known.items():
        if key in KNOWN:
            KNOWN[key](score, capture, fact, answers)


def check_all(score, binary, wanted):
    with open(os.path.join(HERE, "known.json"), encoding="utf-8") as f:
        known = json.load(f)
    names = [os.path.basename(p)[:-len(".xplane.pb")]
             for p in sorted(glob.glob(os.path.join(DATA, "captures", "*.xplane.pb")))]
    for name in names:
        if wanted and not any(fnmatch.fnmatchcase(name, w) for w in wanted):
            continue
        score.where = name
        check_capture(score, binary, os.path.join(DATA, "captures", name + ".xplane.pb"), known.get(name, {}))
    score.where = "known.json"
    score.same(sorted(set(known) - set(names)), [], "captures that are missing")


# ---------------------------------------------------------------- self-test

def self_test(score, wanted):
    folder = os.path.join(DATA, "scenarios")
    for path in sorted(glob.glob(os.path.join(folder, "*.expect.json"))):
        base = path[:-len(".expect.json")]
        score.where = os.path.basename(base)
        if wanted and not any(fnmatch.fnmatchcase(score.where, w) for w in wanted):
            continue
        with open(path, encoding="utf-8") as f:
            want = json.load(f)
        files = [base + ".xplane.pb"] if os.path.exists(base + ".xplane.pb") else sorted(
            glob.glob(os.path.join(base, "**", "*.xplane.pb"), recursive=True))
        if files:
            test_scenario(score, oracle.Capture(files, partial=want.get("exit_code") == 5), want)


def test_scenario(score, capture, want):
    gaps = want.get("gaps", {})
    for row in gaps.get("devices", []):
        d = next((d for d in capture.devices if d.name == row["name"]
                  and row.get("host", d.host.name) == d.host.name), None)
        if not score.ok(d, "device %s is missing" % row["name"]):
            continue
        for key, value in device_row(capture, d).items():
            if key in row:
                score.same(value, row[key], "%s %s" % (d.name, key))
    if "devices" in gaps:
        score.same(len(capture.devices), len(gaps["devices"]), "number of devices")
    if "gaps" in gaps:
        score.same(sorted((d.name, a, b - a) for d in capture.devices for a, b in d.gaps),
                   sorted((g["device"], g["start_ps"], g["dur_ps"]) for g in gaps["gaps"]), "gaps")
        test_chains(score, capture, gaps["gaps"])
    if "steps" in want:
        test_steps(score, capture.steps(), want["steps"])
    if "names" in want:
        got = capture.names()
        for key in ("device_ps", "named_ps", "unnamed_ps", "gate"):
            if key in want["names"]:
                score.same(got[key], want["names"][key], key)
        if "scopes" in want["names"]:
            score.same(sorted(got["scopes"]), sorted(r["scope"] for r in want["names"]["scopes"]), "scopes")
            for row in want["names"]["scopes"]:
                for key in ("ps", "self_ps", "ops"):
                    if key in row:
                        score.same(got["scopes"].get(row["scope"], {}).get(key), row[key], row["scope"] + " " + key)
    if "ops" in want:
        got = capture.ops()
        for key in ("total_ps", "attributed_ps"):
            if key in want["ops"]:
                score.same(got[key], want["ops"][key], "ops " + key)
        for row in want["ops"].get("rows", []):
            for key in ("count", "total_ps", "self_ps"):
                if key in row:
                    score.same(got["rows"].get(row["key"], {}).get(key), row[key], "%s %s" % (row["key"], key))
    if "counters" in want:
        got = capture.counters()
        answers = [want["counters"]] + want.get("accept", {}).get("counters", [])
        score.ok(any(all(got.get(k) == v for k, v in a.items() if k in got) for a in answers), "counters",
                 "found %s, right is %s" % (got, answers))


def test_chains(score, capture, wanted):
    for d in capture.devices:
        right = {g["start_ps"]: g for g in wanted if g["device"] == d.name and "parts" in g
                 and g.get("host", d.host.name) == d.host.name}
        found = chains.Chains(capture, d)
        for a, b in d.gaps:
            if a not in right:
                continue
            sums = collections.Counter()
            for p in right[a]["parts"]:
                sums[p["cause"]] += p["ps"]
            label = "gap %s %d " % (d.name, a)
            by_scope = found.parts(a, b)
            for p in right[a]["parts"]:
                if p.get("scope"):
                    score.same(by_scope.get((p["cause"], p["scope"])), p["ps"],
                               label + "%s in %s" % (p["cause"], p["scope"]))
            parts = chains.by_class(by_scope)
            score.same(parts, dict(sums), label + "parts")
            score.same(chains.cause_of(parts), right[a]["cause"], label + "cause")
            score.same(found.triggers(a, b)[0], right[a]["trigger"], label + "trigger")


def test_steps(score, got, want):
    if "source" in want:
        score.same(got["source"], want["source"], "source of the steps")
    if "steps" in want:
        right = sorted(want["steps"], key=lambda r: r["start_ps"])
        if score.same(len(got["steps"]), len(right), "number of steps"):
            for g, w in zip(got["steps"], right):
                for key, value in w.items():
                    if key in g:
                        score.same(g[key], value, "step %s" % key)
    for row in want.get("summary", []):
        found = [r for r in got["summary"] if "name" not in row or r["name"] == row["name"]]
        if score.same(len(found), 1, "summaries"):
            for key, value in row.items():
                if key in found[0] and key != "name":
                    score.close(found[0][key], value, 1, "summary %s" % key)


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__.split("\n\n")[1])
    score = Score()
    if sys.argv[1] == "--self-test":
        self_test(score, sys.argv[2:])
    else:
        check_all(score, sys.argv[1], sys.argv[2:])
    print("%d passed, %d failed" % (score.passed, score.failed))
    sys.exit(1 if score.failed or not score.passed else 0)


if __name__ == "__main__":
    main()
