#!/usr/bin/env python3
"""Check that every symbol which the library shows to the linker begins with xp_, or xl_ (lazy tensors), and is defined once.

    names.py libxp.a
"""
import collections
import subprocess
import sys


def main():
    listing = subprocess.run(["nm", "--extern-only", "--defined-only", "--format=posix", sys.argv[1]],
                             check=True, capture_output=True, text=True).stdout
    symbols = [line.split()[0] for line in listing.splitlines() if len(line.split()) > 1]
    foreign = [s for s in symbols if not s.startswith(("xp_", "xl_"))]
    for symbol in foreign:
        print("%s: not static, and its name does not begin with xp_ or xl_" % symbol)
    twice = sorted(name for name, count in collections.Counter(symbols).items() if count > 1)
    for symbol in twice:
        print("%s: defined in several files; a program that needs both can't be linked" % symbol)
    print("%d symbols" % len(symbols))
    sys.exit(1 if foreign or twice or not symbols else 0)


if __name__ == "__main__":
    main()
