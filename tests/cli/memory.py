#!/usr/bin/env python3
"""Tables of any length take no memory: their rows are written as they come.

    memory.py XLAPROF

Holds the peak of commands that print every gap and step of a capture against that of `info`, which prints a few lines:
what they take more is below 8 MB, however many rows they print.
"""
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "data" / "tools"))
import xspace  # noqa: E402

COMMANDS = ["gaps --top 0", "gaps --csv", "gaps --json", "steps --top 0", "steps --csv", "ops --top 0", "report --json"]
STEPS = 12000
MOST_KB = 8000
US = 1000000


def capture():
    """Steps with one run each, so that there is a gap in each."""
    space = xspace.Space()
    space.task_environment(10**18, 10**18 + STEPS * 10000 + 10**6)
    host, device = space.plane("/host:CPU", 1).line("python", 1), space.plane("/device:TPU:0", 2)
    modules, ops = device.line("XLA Modules", 1), device.line("XLA Ops", 2)
    for k in range(STEPS):
        at = (10 + 10 * k) * US
        host.event("step", at, 9 * US, {"_r": 1, "step_num": k})
        host.event("PJRT_LoadedExecutable_Execute", at + 5 * US, US, {"run_id": k})
        modules.event("jit_f(1)", at + 6 * US, 2 * US, {"run_id": k})
        ops.event("add", at + 6 * US, 2 * US, {"run_id": k})
    return space.encode()


def peak_kb(arguments):
    """Peak memory of a run, in KB, as the kernel counts it for the process that was waited for."""
    pid = os.fork()
    if pid == 0:
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 1)
        os.execv(arguments[0], arguments)
    _, status, usage = os.wait4(pid, 0)
    return usage.ru_maxrss if status == 0 else None


def make(path):
    with open(path, "wb") as file:
        file.write(capture())


def main():
    program = os.path.abspath(sys.argv[1])
    failed = 0
    with tempfile.TemporaryDirectory(prefix="xlaprof-memory-") as scratch:
        path = os.path.join(scratch, "many.xplane.pb")
        subprocess.run([sys.executable, __file__, "--make", path], check=True) # the peak of a run begins with our own
        base = peak_kb([program, "info", path])
        for command in COMMANDS:
            kb = peak_kb([program, *command.split(), path])
            if base is None or kb is None or kb > base + MOST_KB:
                print(f"FAILED {command}: {kb} KB, info {base} KB")
                failed += 1
    print(f"{len(COMMANDS) - failed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    if sys.argv[1] == "--make":
        make(sys.argv[2])
    else:
        main()
