#!/usr/bin/env python3
"""Run the program as a user calls it, and compare what it prints with what is stored.

    run.py [--xlaprof PROGRAM] [--data DIR] [--update] [FILTER...]

A case is a folder cases/TOPIC/CASE with the files

    cmd      lines for the shell, with $XLAPROF and $DATA (the folder tests/data)
    stdout   what it prints there; no file: nothing
    stderr   what it prints there; no file: not compared
    exit     the exit status; no file: 0
    mask     lines s/REGEX/TEXT/ (Python's re, any separator) for what differs from run to run; optional.
             $DATA, $XLAPROF and the scratch folder are put back for their paths without being asked.

Every case runs in an empty scratch folder of its own, with a fixed environment: no colour, no terminal, UTC, English.
$DATA is a link of a fixed length to the data, so that lines break at the same words wherever the tree lies.
A FILTER selects cases whose TOPIC/CASE contains it.  --update stores what the program prints now: read the difference
before you commit it.  The last line is "N passed, M failed"; exit status 1 if a case failed or there was none.
"""
import argparse
import concurrent.futures
import difflib
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
TREE = HERE.parent.parent
TIMEOUT_S = 120


def masks_of(case):
    """[(compiled regex, replacement)] of the case's file `mask`."""
    path = case / "mask"
    masks = []
    for line in path.read_text().splitlines() if path.exists() else []:
        if line and not line.startswith("#"):
            _, regex, text, _ = line.split(line[1], 3)
            masks.append((re.compile(regex.encode(), re.M), text.encode()))
    return masks


def run_case(case, program, data):
    """{"stdout": bytes, "stderr": bytes, "exit": int} of one case."""
    with tempfile.TemporaryDirectory(prefix="xlaprof-cli-", dir="/tmp") as scratch:
        keep = {k: v for k, v in os.environ.items() if k in ("PATH", "ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS")}
        env = dict(keep, XLAPROF=program, DATA=data, HOME=scratch, TMPDIR=scratch, LC_ALL="C.UTF-8", TZ="UTC")
        run = subprocess.run(["sh", "-c", (case / "cmd").read_text()], cwd=scratch, env=env, stdin=subprocess.DEVNULL,
                             capture_output=True, timeout=TIMEOUT_S)
        got = {"stdout": run.stdout, "stderr": run.stderr, "exit": run.returncode}
        for stream in ("stdout", "stderr"):
            for path, name in ((data, "$DATA"), (program, "$XLAPROF"), (scratch, "$SCRATCH")):
                got[stream] = got[stream].replace(path.encode(), name.encode())
            for regex, text in masks_of(case):
                got[stream] = regex.sub(text, got[stream])
    return got


def read_expected(case):
    """The same, as stored; None where the case does not say."""
    def stored(name):
        path = case / name
        return path.read_bytes() if path.exists() else None
    return {"stdout": stored("stdout") or b"", "stderr": stored("stderr"), "exit": int(stored("exit") or 0)}


def store(case, got):
    for name, content in (("stdout", got["stdout"]), ("stderr", got["stderr"]),
                          ("exit", b"%d\n" % got["exit"] if got["exit"] else b"")):
        path = case / name
        if content:
            path.write_bytes(content)
        elif path.exists():
            path.unlink()


def differences(want, got):
    """Lines that show where `got` is not what is wanted; none if it is."""
    lines = []
    if want["exit"] != got["exit"]:
        lines.append("exit status %d, right is %d" % (got["exit"], want["exit"]))
        if want["stderr"] is None:
            lines += got["stderr"].decode(errors="backslashreplace").splitlines()[-20:]
    for stream in ("stdout", "stderr"):
        if want[stream] is not None and want[stream] != got[stream]:
            a, b = (text.decode(errors="backslashreplace").splitlines() for text in (want[stream], got[stream]))
            lines += difflib.unified_diff(a, b, stream + " as stored", stream + " now", lineterm="", n=2)
    return lines


def run_all(cases, names, args, data):
    """How many failed."""
    def check(case):
        try:
            got = run_case(case, str(args.xlaprof.resolve()), data)
        except subprocess.TimeoutExpired:
            return ["no end within %d s" % TIMEOUT_S]
        if args.update:
            store(case, got)
        return differences(read_expected(case), got)

    failed = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for case, lines in zip(cases, pool.map(check, cases)):
            failed += bool(lines)
            if lines:
                print("FAILED %s: %s" % (names[case], (case / "cmd").read_text().strip()))
                print("\n".join("    " + line for line in lines))
    return failed


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--xlaprof", default=TREE / "build" / "xlaprof", type=pathlib.Path, metavar="PROGRAM")
    parser.add_argument("--data", default=TREE / "tests" / "data", type=pathlib.Path, metavar="DIR")
    parser.add_argument("--update", action="store_true", help="store what the program prints now")
    parser.add_argument("filters", nargs="*", metavar="FILTER", help="run the cases whose TOPIC/CASE contains this")
    args = parser.parse_args()

    root = HERE / "cases"
    cases = sorted(path.parent for path in root.glob("*/*/cmd"))
    names = {case: case.relative_to(root).as_posix() for case in cases}
    cases = [c for c in cases if not args.filters or any(f in names[c] for f in args.filters)]

    with tempfile.TemporaryDirectory(prefix="xp-", dir="/tmp") as links:
        data = pathlib.Path(links) / "data"
        data.symlink_to(args.data.resolve())
        failed = run_all(cases, names, args, str(data))
    print("%d passed, %d failed" % (len(cases) - failed, failed))
    sys.exit(1 if failed or not cases else 0)


if __name__ == "__main__":
    main()
