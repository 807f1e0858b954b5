#!/usr/bin/env python3
"""Put the real output of the program into the pages that show it.

    docs/refresh.py [--xlaprof PROGRAM] [--check]

A block of README.md or docs/*.md that begins with ```console and a line "$ COMMAND" is run in tests/data/captures, where
COMMAND is xlaprof or one of the EXAMPLES, and what the program prints replaces the rest of the block.  $SCRATCH is an empty
folder of each block.  --check changes nothing and exits with status 1 if a block is not what the program prints now.
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
BLOCK = re.compile(r"^```console\n\$ ((?:[A-Z_]+=\S+ )?(?:xlaprof|%s)\b.*)\n(?:.*\n)*?```$" % "|".join(EXAMPLES), re.M)


def output_of(command, program):
    path = "%s:%s:%s" % (program.parent, program.parent / "examples", os.environ["PATH"])
    with tempfile.TemporaryDirectory() as scratch:
        env = dict(os.environ, PATH=path, LC_ALL="C.UTF-8", SCRATCH=scratch)
        run = subprocess.run(["sh", "-c", command], cwd=TREE / "tests/data/captures", env=env, stdin=subprocess.DEVNULL,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60)
    return run.stdout.decode().replace("\r\n", "\n")


def refreshed(text, program):
    def block(match):
        return "```console\n$ %s\n%s```" % (match[1], output_of(match[1], program))
    return BLOCK.sub(block, text)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--xlaprof", default=TREE / "build" / "xlaprof", type=pathlib.Path, metavar="PROGRAM")
    parser.add_argument("--check", action="store_true", help="change nothing; status 1 if a page is out of date")
    args = parser.parse_args()
    stale = []
    for page in [TREE / "README.md", *sorted((TREE / "docs").glob("*.md"))]:
        text = page.read_text()
        new = refreshed(text, args.xlaprof.resolve())
        if new != text:
            stale.append(page.relative_to(TREE).as_posix())
            if not args.check:
                page.write_text(new)
    print(" ".join(stale) + (" out of date" if args.check else " refreshed") if stale else "all pages are up to date")
    sys.exit(1 if stale and args.check else 0)


if __name__ == "__main__":
    main()
