#!/usr/bin/env python3
"""Put the real output of the program into the pages that show it.

    docs/refresh.py [--xlaprof PROGRAM] [--check]

A block of README.md or docs/*.md that begins with ```console and a line "$ COMMAND" is run in tests/data/captures,
where COMMAND is xlaprof or one of the EXAMPLES, and what the program prints replaces the rest of the block.  Pages to
walk through run in the root of the tree, where their readers are.  $SCRATCH is an empty folder of each block.  --check
changes nothing and exits with status 1 if a block is not what the program prints now.
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile

TREE = pathlib.Path(__file__).resolve().parent.parent
EXAMPLES = ("tutorial",)
WALKS = ("lesson.md", "tutorial.md")
BLOCK = re.compile(r"^```console\n\$ ((?:[A-Z_]+=\S+ )?(?:xlaprof|%s)\b.*)\n(?:.*\n)*?```$" % "|".join(EXAMPLES), re.M)


def output_of(command, program, folder):
    path = "%s:%s:%s" % (program.parent, program.parent / "examples", os.environ["PATH"])
    with tempfile.TemporaryDirectory() as scratch:
        env = dict(os.environ, PATH=path, LC_ALL="C.UTF-8", SCRATCH=scratch)
        run = subprocess.run(["sh", "-c", command], cwd=folder, env=env, stdin=subprocess.DEVNULL,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60)
    return run.stdout.decode().replace("\r\n", "\n")


def refreshed(page, program):
    folder = TREE if page.name in WALKS else TREE / "tests/data/captures"

    def block(match):
        return "```console\n$ %s\n%s```" % (match[1], output_of(match[1], program, folder))
    return BLOCK.sub(block, page.read_text())


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--xlaprof", default=TREE / "build" / "xlaprof", type=pathlib.Path, metavar="PROGRAM")
    parser.add_argument("--check", action="store_true", help="change nothing; status 1 if a page is out of date")
    args = parser.parse_args()
    stale = []
    for page in [TREE / "README.md", *sorted((TREE / "docs").glob("*.md"))]:
        text = page.read_text()
        new = refreshed(page, args.xlaprof.resolve())
        if new != text:
            stale.append(page.relative_to(TREE).as_posix())
            if not args.check:
                page.write_text(new)
    print(" ".join(stale) + (" out of date" if args.check else " refreshed") if stale else "all pages are up to date")
    sys.exit(1 if stale and args.check else 0)


if __name__ == "__main__":
    main()
