#!/usr/bin/env python3
"""Check that a shared library exports what the public headers declare, and nothing else.

    exports.py libxlaprof.so
    exports.py libxlalazy.so xl_
    exports.py libxlaprof_pjrt.so GetPjrtApi

What is declared: names behind XP_API and XL_OP in include/xlaprof/*.h, and variables of threads (extern __thread), of the
prefix that follows the library (xp_ if none does); or the names that follow it.
"""
import pathlib
import re
import subprocess
import sys

HEADERS = pathlib.Path(__file__).resolve().parent.parent / "include" / "xlaprof"
COMMENT = re.compile(r"/\*.*?\*/", re.S)
DECLARATION = re.compile(r"\b(?:XP_API|extern __thread)\b[^;{}()=]*?\b(x[pl]_\w+)\s*(?:[(;]|__attribute__)")
OPERATION = re.compile(r"^XL_OP\((\w+),", re.M)


def declared(prefix):
    for header in sorted(HEADERS.glob("*.h")):
        text = re.sub(r"^\s*#.*(\\\n.*)*$", "", COMMENT.sub("", header.read_text()), flags=re.M)
        yield from (name for name in DECLARATION.findall(text) if name.startswith(prefix))
        yield from (name for name in ("xl_%s_at" % word for word in OPERATION.findall(text)) if name.startswith(prefix))


def exported(library):
    listing = subprocess.run(["nm", "--dynamic", "--defined-only", "--format=posix", library], check=True,
                             capture_output=True, text=True).stdout
    return {line.split()[0].split("@")[0] for line in listing.splitlines()}


def main():
    words = sys.argv[2:] or ["xp_"]
    is_prefix = words[0].endswith("_")
    want, got = set(declared(words[0]) if is_prefix else words), exported(sys.argv[1])
    for name in sorted(want - got):
        print("%s: declared, but not exported" % name)
    for name in sorted(got - want):
        print("%s: exported, but not declared with XP_API" % name)
    print("%d symbols" % len(got))
    sys.exit(1 if want != got or not want else 0)


if __name__ == "__main__":
    main()
