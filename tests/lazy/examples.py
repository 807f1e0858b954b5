#!/usr/bin/env python3
"""examples/lab.c and examples/tutorial.c print what their pages say of them.

    examples.py LAB TUTORIAL

Right values are those of the lesson (23 compiles; 27, 58 and 89 executes), and sums and gradients by hand.
"""
import os
import re
import subprocess
import sys
import tempfile

PARTS = {  # of the tutorial: what its output must contain
    "graph": [r"%0 = f32\[3\] xla::device_data\(\)", r"%2 = f32\[3\] xla::add\(%0, %1\), .*ROOT=0$"],
    "program": [r"^HloModule SyncTensorsGraph", r"f32\[3\]\{0\} add\("],
    "read": [r"graph is built: +compiles 0, executes 0, reads 0$", r"value was read: +compiles 1, executes 1, reads 1$",
             r"^11 22 33$"],
    "again": [r"step %d: +compiles 1, executes %d, reads 0$" % (step, step + 1) for step in range(3)],
    "gradient": [r"^2 4 6$"],
    "cut": [r"compiles 2, executes 4, reads 2$"],
    "names": [r"aten::relu\(%0\), scope=layer/first, location=names@tutorial\.c:\d+$", r"xla::add.*scope=layer, "],
    "capture": [],
}
problems = []


def output_of(*command, names=True):
    run = subprocess.run(command, capture_output=True, text=True, env=dict(os.environ, XLA_HLO_DEBUG=str(int(names))))
    if run.returncode != 0 or run.stderr:
        problems.append("%s: exit status %d\n%s" % (" ".join(command), run.returncode, run.stderr))
    return run.stdout


def check_lab(lab, options, compiles, executes, names):
    text = output_of(lab, *options, names=names)
    steps = re.findall(r"^step (\d): loss +(-?[\d.]+), compiles (\d+), executes (\d+)$", text, re.M)
    losses = [float(loss) for _, loss, _, _ in steps]
    counts = [(int(c), int(e)) for _, _, c, e in steps]
    if counts != list(zip(compiles, executes)) or losses != sorted(losses, reverse=True) or len(set(losses)) != len(losses):
        problems.append("lab %s: %s" % (options, steps))
    return losses


def main():
    lab, tutorial = sys.argv[1:]
    os.environ.pop("XL_PJRT_PLUGIN", None)
    lazy = check_lab(lab, [], [1, 1, 1], [1, 2, 3], names=True)
    eager = check_lab(lab, ["--eager"], [23, 23, 23], [27, 58, 89], names=False)
    if max(abs(a - b) for a, b in zip(lazy, eager)) > 1e-5:
        problems.append("lab: the losses are %s lazily and %s eagerly" % (lazy, eager))
    with tempfile.TemporaryDirectory() as folder:
        for part, wanted in PARTS.items():
            text = output_of(tutorial, part, folder)
            problems.extend("tutorial %s: nothing like %s in\n%s" % (part, want, text) for want in wanted
                            if not re.search(want, text, re.M))
        if sum(name.endswith(".xplane.pb") for _, _, names in os.walk(folder) for name in names) != 1:
            problems.append("tutorial capture: there is no capture")
    print("\n".join(problems) or "ok")
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
