#!/usr/bin/env python3
"""Check that a shared library exports what the public headers declare, and nothing else.

    exports.py libxlaprof.so
    exports.py libxlaprof_pjrt.so GetPjrtApi

What is declared: names behind XP_API in include/xlaprof/*.h, and variables of threads (extern __thread); or those that
follow the library.
"""
import pathlib
import re
import subprocess
import sys

HEADERS = pathlib.Path(__file__).resolve().parent.parent / "include" / "xlaprof"
COMMENT = re.compile(r"/\*.*?\*/", re.S)
DECLARATION = re.compile(r"\b(?:XP_API|extern __thread)\b[^;{}()=]*?\b(xp_\w+)\s*(?:[(;]|__attribute__)")


def declared():
    for header in sorted(HEADERS.glob("*.h")):
        text = COMMENT.sub("", header.read_text())
        yield from DECLARATION.findall(re.sub(r"^\s*#.*(\\\n.*)*$", "", text, flags=re.M))


def exported(library):
    listing = subprocess.run(["nm", "--dynamic", "--defined-only", "--format=posix", library], check=True,
                             capture_output=True, text=True).stdout
    return {line.split()[0].split("@")[0] for line in listing.splitlines()}


def main():
    want, got = set(sys.argv[2:] or declared()), exported(sys.argv[1])
    for name in sorted(want - got):
        print("%s: declared, but not exported" % name)
    for name in sorted(got - want):
        print("%s: exported, but not declared with XP_API" % name)
    print("%d symbols" % len(got))
    sys.exit(1 if want != got or not want else 0)


if __name__ == "__main__":
    main()
