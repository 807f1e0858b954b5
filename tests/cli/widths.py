#!/usr/bin/env python3
"""No line of text is wider than the terminal: every command, on every capture, at several widths; and the help, at 80.

    widths.py XLAPROF

The captures are those in tests/data/captures and ones that are made here, with names and paths that are longer than any
line: in one word, of wide characters, of characters that are none.  Widths are in columns of a terminal, as Unicode has
them.  The last line is "N passed, M failed", with a line above it for each output that has lines that are too wide.
"""
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unicodedata

DATA = pathlib.Path(__file__).resolve().parent.parent / "data"
sys.path.insert(0, str(DATA / "tools"))
import xspace  # noqa: E402

COMMANDS = [["report"], ["gaps"], ["gaps", "--top", "0"], ["steps"], ["counters"], ["ops"], ["ops", "--by", "scope"], ["names"],
            ["check", "--step", "denoise", "--scopes", "unet,no/such/scope"], ["info"], ["events", "--limit", "200"], ["events", "--by-name"]]
WIDTHS = [40, 60, 80, 120]
HELP_WIDTH = 80
US = 1000000


def columns(line):
    """Columns that a terminal gives a line; a character that is no character takes more than any line has."""
    total = 0
    for c in line:
        code = ord(c)
        if code & 0xfffe == 0xfffe or unicodedata.category(c) in ("Cc", "Cf"):
            return 10**6
        if unicodedata.category(c) not in ("Mn", "Me"):
            total += 2 if unicodedata.east_asian_width(c) in "WF" else 1
    return total


def capture_with(name, far=False):
    """A loop of 12 steps on one device in which everything that can have a name has this one, with a number behind it.

    far: the session lasts days, and the steps are close together at its end."""
    space = xspace.Space()
    start = 200000000000 * US if far else 0
    space.task_environment(10**18, 10**18 + start // 1000 + 3 * 10**6)
    host, device = space.plane("/host:CPU", 1), space.plane("/device:TPU:0", 2)
    thread, modules, ops = host.line(f"{name}0", 1), device.line("XLA Modules", 1), device.line("XLA Ops", 2)
    for k in range(12):
        at = start + (10 + 100 * k) * US
        thread.event(f"{name}1", at, 90 * US, {"_r": 1, "step_num": k})
        thread.event(f"{name}2", at + US, 40 * US)
        thread.event("np.asarray(jax.Array)", at + 2 * US, 20 * US)
        thread.event(f"{name}3", at + 42 * US, 20 * US, {name: name})
        thread.event("PJRT_LoadedExecutable_Execute", at + 65 * US, US, {"run_id": k})
        modules.event(f"{name}4(1)", at + 70 * US, 20 * US, {"run_id": k})
        ops.event(f"{name}5", at + 70 * US, 20 * US, {"run_id": k, "tf_op": f"{name}2/{name}6/{name}7:X", "hlo_category": name})
    return space.encode()


def make_captures(folder):
    names = {"one_word": "L" * 3000, "path": "jit(train_step)/transformer/" * 8, "wide": "漢字" * 60, "no_character": "\uffff\U0010fffe",
             "combining": "e\u0301" * 200, "words": "a b " * 300}
    long_folder = folder / "/".join(["a_folder_with_a_long_name"] * 8)
    long_folder.mkdir(parents=True)
    paths = [long_folder / f"{key}.xplane.pb" for key in names]
    for path, name in zip(paths, names.values()):
        path.write_bytes(capture_with(name))
    paths.append(folder / "far.xplane.pb")
    paths[-1].write_bytes(capture_with("a", far=True))
    paths.append(long_folder / "torch_denoise.xplane.pb")
    for name in ("torch_denoise.xplane.pb", "torch_denoise.metrics.txt"):
        (long_folder / name).write_bytes((DATA / "captures" / name).read_bytes())
    return paths + [long_folder / "torch_denoise.metrics.txt"]


def check(job):
    """None, or what is wrong with one output."""
    program, command, path, width = job
    run = subprocess.run([program, *command, str(path), "--width", str(width)], capture_output=True, timeout=60)
    if run.returncode not in (0, 1, 5):
        return f"{' '.join(command)} {path.name} --width {width}: exit status {run.returncode}"
    wide = [line for line in run.stdout.decode("utf-8").split("\n") if columns(line) > width]
    if not wide:
        return None
    return f"{' '.join(command)} {path.name} --width {width}: {len(wide)} lines are wider, the first: {wide[0][:150]!r}"


def check_help(program):
    """(outputs, what is wrong with them): of `xlaprof help`, and of each command that it lists, as --help prints it."""
    def wide_lines(*words):
        run = subprocess.run([program, *words, "--help"], capture_output=True, text=True, timeout=60, check=True)
        return run.stdout, [f"{' '.join(words)} --help: {line!r}" for line in run.stdout.split("\n") if columns(line) > HELP_WIDTH]
    text, problems = wide_lines()
    commands = re.findall(r"^  (\w+) +\S", text[text.index("\nCommands\n"):text.index("\nExit status")], re.M)
    if not {"report", "view", "demo"} <= set(commands):
        problems.append(f"help lists other commands: {commands}")
    for command in commands:
        problems += wide_lines(command)[1]
    return 1 + len(commands), problems


def main():
    program = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory(prefix="xlaprof-widths-") as scratch:
        paths = sorted((DATA / "captures").glob("*.xplane.pb")) + make_captures(pathlib.Path(scratch))
        jobs = [(program, command, path, width) for path in paths for command in COMMANDS for width in WIDTHS
                if path.suffix == ".pb" or command == ["counters"]]
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            problems = [p for p in pool.map(check, jobs) if p is not None]
    helps, wide = check_help(program)
    problems += wide
    print("".join(f"FAILED {p}\n" for p in problems), end="")
    print(f"{len(jobs) + helps - len(problems)} passed, {len(problems)} failed")
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
