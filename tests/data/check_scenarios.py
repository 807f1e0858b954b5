#!/usr/bin/env python3
"""Run xlaprof on captures with known answers and compare.

    check_scenarios.py XLAPROF FOLDER [NAME...]

For every FOLDER/NAME.expect.json the program is run on NAME.xplane.pb (or the directory NAME) as
`XLAPROF <gaps|steps|ops|names|counters> --json CAPTURE`, for those of the keys that the expectation holds.
The meaning of the keys is at the head of tools/make_scenarios.py.  NAME may be a pattern (s1*); without any all
cases are run.  One line for every failure, with the first difference, then "N passed, M failed" alone on the
last line.  Exit status 1 if a case failed, or if there was none.

How answers are compared: an object may hold more keys than the expectation, and null is the same as a missing
key.  Devices are matched by (host, name), gaps inside the window in order of device and start, lead-ins
and tails by (device, where), summaries by name, ops by key, scopes by name, steps in order of start.  Parts of a gap
are added up by cause, and by (cause, scope) where the expectation has a scope.  An expectation without a host
leaves the host open.  For a key with alternatives under "accept" one answer of them has to match.
"""
import fnmatch
import glob
import json
import os
import subprocess
import sys

TIMEOUT_S = 120
SUFFIX = ".expect.json"


def differ(want, got, path=""):
    """First difference where `got` has to contain `want`, or None; lists in order."""
    if isinstance(want, dict):
        if not isinstance(got, dict):
            return "%s: not an object" % path
        for key, value in want.items():
            found = differ(value, got.get(key), "%s.%s" % (path, key)) if key != "note" else None
            if found:
                return found
        return None
    if isinstance(want, list):
        if not isinstance(got, list):
            return "%s: not a list" % path
        if len(want) != len(got):
            return "%s: %d rows, right is %d" % (path, len(got), len(want))
        return first(differ(a, b, "%s[%d]" % (path, n)) for n, (a, b) in enumerate(zip(want, got)))
    if want is not None and got is None:
        return "%s: missing, right is %r" % (path, want)
    same = want == got and isinstance(want, bool) == isinstance(got, bool)
    return None if same else "%s: %r, right is %r" % (path, got, want)


def first(differences):
    """The first that is not None."""
    return next((d for d in differences if d), None)


def without(row, *keys):
    return {k: v for k, v in row.items() if k not in keys}


def rows_of(got, key):
    rows = got.get(key) if isinstance(got, dict) else None
    return [r for r in rows if isinstance(r, dict)] if isinstance(rows, list) else []


def find(want, rows, keys, path):
    """(the only row with the keys (and the host, if given) of `want`, None) or (None, complaint)."""
    keys = [k for k in keys if k in want]
    found = [r for r in rows if all(r.get(k) == want[k] for k in keys)]
    label = "%s[%s]" % (path, " ".join(str(want[k]) for k in keys))
    if len(found) == 1:
        return found[0], None
    return None, "%s: %s" % (label, "missing" if not found else "%d such rows" % len(found))


# ---------------------------------------------------------------- gaps

def differ_gaps(want, got):
    return (differ(without(want, "devices", "gaps", "edges"), got, "gaps")
            or differ_devices(want, got) or differ_inside(want, got) or differ_edges(want, got))


def differ_devices(want, got):
    if "devices" not in want:
        return None
    rows = rows_of(got, "devices")
    for device in want["devices"]:
        row, problem = find(device, rows, ("host", "name"), "gaps.devices")
        problem = problem or differ(device, row, "gaps.devices[%s]" % device["name"])
        if problem:
            return problem
    names = {d["name"] for d in want["devices"]}
    extra = [r.get("name") for r in rows if r.get("name") not in names and (r.get("busy_ps") or r.get("copy_ps"))]
    return "gaps.devices: %r is no device" % extra[0] if extra else None


def differ_inside(want, got):
    if "gaps" not in want:
        return None
    if not isinstance(got.get("gaps"), list):
        return "gaps.gaps: missing"
    inside = [r for r in rows_of(got, "gaps") if r.get("where", "inside") == "inside"]

    def order(row):
        return (str(row.get("device")), row.get("start_ps") or 0, str(row.get("host")))
    right, inside = sorted(want["gaps"], key=order), sorted(inside, key=order)
    for a, b in zip(right, inside):
        label = "gaps.gaps[%s %d]" % (a["device"], a["start_ps"])
        problem = differ(without(a, "parts"), b, label) or differ_parts(a, b, label)
        if problem:
            return problem
    return None if len(right) == len(inside) else "gaps.gaps: %d inside, right is %d" % (len(inside), len(right))


def differ_edges(want, got):
    rows = [r for r in rows_of(got, "gaps") if r.get("where") in ("lead_in", "tail")]
    for edge in want.get("edges", []):
        row, problem = find(edge, rows, ("host", "device", "where"), "gaps.edges")
        label = "gaps.edges[%s %s]" % (edge["device"], edge["where"])
        problem = problem or differ(without(edge, "parts"), row, label) or differ_parts(edge, row, label)
        if problem:
            return problem
    return None


def differ_parts(want, got, path):
    """Parts add up to the gap, and by cause, and by (cause, scope), to those of the expectation."""
    if "parts" not in want and "parts" not in got:
        return None
    found = rows_of(got, "parts")
    if sum(p.get("ps", 0) for p in found) != got.get("dur_ps"):
        return "%s.parts: they do not add up to dur_ps" % path
    if "parts" not in want:
        return None

    def total(rows, cause, *scope):
        return sum(p.get("ps", 0) for p in rows if p.get("cause") == cause and (not scope or p.get("scope") == scope[0]))
    for cause in dict.fromkeys(p.get("cause") for p in want["parts"] + found):
        right, ps = total(want["parts"], cause), total(found, cause)
        if ps != right:
            return "%s.parts: %s %d ps, right is %d" % (path, cause, ps, right)
    for part in want["parts"]:
        cause, scope = part["cause"], part.get("scope")
        if scope is None:
            continue
        right, ps = total(want["parts"], cause, scope), total(found, cause, scope)
        if ps != right:
            return "%s.parts: %s in scope %r %d ps, right is %d" % (path, cause, scope, ps, right)
        if "maybe" in part and any(p.get("maybe") != part["maybe"] for p in found
                                   if (p.get("cause"), p.get("scope")) == (cause, scope)):
            return "%s.parts: %s in scope %r without maybe %s" % (path, cause, scope, part["maybe"])
    return None


# ---------------------------------------------------------------- steps, ops, names, counters

def differ_steps(want, got):
    problem = differ(without(want, "steps", "summary"), got, "steps")
    if problem:
        return problem
    if "steps" in want:
        def order(step):
            return (step.get("start_ps") or 0, str(step.get("name")))
        problem = differ(sorted(want["steps"], key=order), sorted(rows_of(got, "steps"), key=order), "steps.steps")
        if problem:
            return problem
    if "summary" in want:
        rows = rows_of(got, "summary")
        for right in want["summary"]:
            row, problem = find(right, rows, ("host", "name"), "steps.summary")
            problem = problem or differ(right, row, "steps.summary[%s]" % right.get("name", ""))
            if problem:
                return problem
        if len(rows) != len(want["summary"]):
            return "steps.summary: %d rows, right is %d" % (len(rows), len(want["summary"]))
    return None


def differ_ops(want, got):
    problem = differ(without(want, "rows"), got, "ops")
    if problem:
        return problem
    for right in want.get("rows", []):
        row, problem = find(right, rows_of(got, "rows"), ("key",), "ops.rows")
        problem = problem or differ(right, row, "ops.rows[%s]" % right["key"])
        if problem:
            return problem
    return None


def differ_names(want, got):
    problem = differ(without(want, "scopes"), got, "names")
    if problem or "scopes" not in want:
        return problem
    rows = [r for r in rows_of(got, "scopes") if r.get("scope")]
    for right in want["scopes"]:
        row, problem = find(right, rows, ("scope",), "names.scopes")
        problem = problem or differ(right, row, "names.scopes[%s]" % right["scope"])
        if problem:
            return problem
    known = {s["scope"] for s in want["scopes"]}
    extra = [r["scope"] for r in rows if r["scope"] not in known and r.get("ps")]
    return "names.scopes: %r is no scope" % extra[0] if extra else None


def differ_counters(want, got):
    return differ(want, got, "counters")


COMPARE = {"gaps": differ_gaps, "steps": differ_steps, "ops": differ_ops, "names": differ_names,
           "counters": differ_counters}


# ---------------------------------------------------------------- cases

def check_case(binary, capture, expect):
    """None, or the first difference between the program's answers and the expectation."""
    for key, compare in COMPARE.items():
        if key not in expect:
            continue
        run = subprocess.run([binary, key, "--json", capture], capture_output=True, timeout=TIMEOUT_S)
        right = expect.get("exit_code", 0)
        if run.returncode != right:
            said = run.stderr.decode("utf-8", "replace").strip().splitlines()[-1:]
            return "%s: exit status %d, right is %d %s" % (key, run.returncode, right, "".join(said)[:120])
        try:
            got = json.loads(run.stdout)
        except ValueError as e:
            return "%s: no JSON (%s)" % (key, e)
        if not isinstance(got, dict):
            return "%s: not an object" % key
        others = expect.get("accept", {}).get(key, [])
        problems = [compare(answer, got) for answer in [expect[key]] + others]
        if all(problems):
            return problems[0] + (" (nor is it one of %d other answers)" % len(others) if others else "")
    if "warnings_contain" in expect:
        run = subprocess.run([binary, "info", "--json", capture], capture_output=True, timeout=TIMEOUT_S)
        said = (run.stdout + run.stderr).decode("utf-8", "replace").lower()
        missing = [w for w in expect["warnings_contain"] if w.lower() not in said]
        if missing:
            return "info: no word of %r" % missing[0]
    return None


def check_folder(binary, folder, names=()):
    """(number of cases passed, [one line for each failure])."""
    passed, failures, matched = 0, [], set()
    for path in sorted(glob.glob(os.path.join(glob.escape(folder), "*" + SUFFIX))):
        base = path[:-len(SUFFIX)]
        name = os.path.basename(base)
        hits = {n for n in names if fnmatch.fnmatchcase(name, n)}
        if names and not hits:
            continue
        matched |= hits
        with open(path, encoding="utf-8") as f:
            expect = json.load(f)
        if not any(key in expect for key in [*COMPARE, "warnings_contain"]):
            continue                                   # nothing that a command could answer
        capture = next((c for c in (base + ".xplane.pb", base) if os.path.exists(c)), None)
        if capture is None and expect.get("generated"):
            continue                                   # too big to be kept
        try:
            problem = check_case(binary, capture, expect) if capture else "no capture"
        except subprocess.TimeoutExpired as e:
            problem = "%s: no answer in %d s" % (e.cmd[1], TIMEOUT_S)
        except OSError as e:
            problem = str(e)
        if problem:
            failures.append("%s: %s" % (name, problem))
        else:
            passed += 1
    failures += ["%s: no such case" % n for n in names if n not in matched]
    return passed, failures


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__.split("\n\n")[1].strip())
    passed, failures = check_folder(sys.argv[1], sys.argv[2], sys.argv[3:])
    for line in failures:
        print(line)
    print("%d passed, %d failed" % (passed, len(failures)))
    sys.exit(1 if failures or not passed else 0)


if __name__ == "__main__":
    main()
