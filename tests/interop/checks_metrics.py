"""The metrics report and what is read by name, beside torch_xla's."""
import json
import re
import tempfile

from harness import HERE, TREE, must, output_of, same

# What is not as in torch_xla, on purpose: docs/lazy.md has the reasons.  (torch_xla, here); 0: the report has no such line.
DIFFERENT = {
    "lazy": {"samples of LazyTracing": (87, 18), "CreateDataHandles": (28, 20), "DestroyXlaTensor": (47, 55),
             "DestroyLtcTensor": (47, 55), "xla::detach_copy": (19, 0), "xla::_propagate_xla_data": (8, 0),
             "sum of TensorsGraphSize": (79, 67)},
    "eager": {"samples of LazyTracing": (134, 27), "DestroyXlaTensor": (77, 85), "DestroyLtcTensor": (77, 85),
              "xla::detach_copy": (30, 0), "xla::_propagate_xla_data": (12, 0), "sum of TensorsGraphSize": (232, 223)},
}
UNITS = {"d": 86400e9, "h": 3600e9, "m": 60e9, "s": 1e9, "ms": 1e6, "us": 1e3, "B": 1, "KB": 1024, "MB": 1024 ** 2,
         "GB": 1024 ** 3}


def amount(text):
    """(a number, ns or bytes; whether it is a time)"""
    text = text.replace(" / second", "")
    parts = re.findall(r"([\d.]+)([a-zA-Z]*)", text)
    return sum(float(n) * UNITS.get(unit, 1) for n, unit in parts), text.endswith("us")


def rows_of(report):
    """{"Metric: ExecuteTime": {"TotalSamples": "2", ..}}, in the order of the report"""
    rows = {}
    for block in re.split(r"^(?=Metric: |Counter: )", report, flags=re.MULTILINE):
        lines = block.splitlines()
        if lines:
            rows.setdefault(lines[0], dict(line.strip().split(": ", 1) for line in lines[1:] if line.strip()))
    return rows


def counts_of(report):
    """What two runs of a program can be compared by: all but times."""
    counts = {}
    for title, row in rows_of(report).items():
        kind, name = title.split(": ")
        if kind == "Counter":
            counts[name] = int(row["Value"])
            continue
        counts["samples of " + name] = int(row["TotalSamples"])
        total, is_time = amount(row["Accumulator"])
        if not is_time:
            counts["sum of " + name] = total
    return counts


def check_lines_of_the_labs_report_are_those_of_torch_xla_or_listed(programs):
    for mode, different in DIFFERENT.items():
        theirs = counts_of(output_of(programs.python_of("torch"), HERE / "torch_lab_peer.py", mode))
        ours = counts_of(output_of(programs.built("lab_report"), mode))
        for name in sorted({*theirs, *ours, *different}):
            pair = theirs.get(name, 0), ours.get(name, 0)
            wanted = different.get(name, (pair[0], pair[0]))
            same("%s of the %s lab in torch_xla and here" % (name, mode), pair, wanted)


# ---------------------------------------------------------------- by name

def same_amount(what, theirs, ours):
    """torch_xla rounds parts of a time up without taking that off the next part: it may say a ms, s or minute more."""
    (a, is_time), (b, _) = amount(theirs), amount(ours)
    slack = 0.011 + 1e-4 * abs(b)  # rates are of times that Python has as fractions of a second
    extra = [x + y + z for x in (0, 1e6) for y in (0, 1e9) for z in (0, 60e9)] if is_time else [0]
    must("%s: %s in torch_xla, %s here" % (what, theirs, ours), any(abs(a - b - e) <= slack for e in extra))


def same_rows(what, theirs, ours):
    theirs, ours = rows_of(theirs), rows_of(ours)
    same("rows of %s" % what, sorted(ours), sorted(theirs))
    for title, row in theirs.items():
        same("lines of %s, %s" % (what, title), list(ours[title]), list(row))
        for key, value in row.items():
            for a, b in zip(value.split("; "), ours[title][key].split("; ")):
                name = "%s of %s, %s" % (key, what, title)
                if key == "Percentiles":
                    same("label in %s" % name, b.split("=")[0], a.split("=")[0])
                    a, b = a.split("=")[1], b.split("=")[1]
                same_amount(name, a, b)


def check_reports_and_values_by_name_are_those_of_torch_xla(programs):
    peer = HERE / "metrics_peer.py"
    theirs = json.loads(output_of(programs.python_of("torch"), peer))
    with tempfile.NamedTemporaryFile("w", suffix=".json") as raised:
        json.dump(theirs["raised"], raised)
        raised.flush()
        ours = json.loads(output_of(programs.python, peer, programs.folder / "libxlaprof.so", TREE / "python", raised.name))
    for what in ("counter_names", "metric_names", "fallback_ops", "values", "unknown", "cleared"):
        same(what, ours[what], theirs[what])
    for name, (total, accumulator, samples) in theirs["data"].items():
        same("samples of %s" % name, ours["data"][name][0], total)
        same("sum of %s" % name, ours["data"][name][1], accumulator)
        same("values of %s" % name, [v for _, v in ours["data"][name][2]], [v for _, v in samples])
    for what in ("report", "short", "chosen"):
        same_rows(what, theirs[what], ours[what])
