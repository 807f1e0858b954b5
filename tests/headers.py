#!/usr/bin/env python3
"""Check the public headers as users of C and C++ compile them, and what is left with XP_DISABLE.

    headers.py libxp.a

With the warnings that a strict project turns on.  clang is tried where it is installed; without a C++ compiler that part
is left out.
"""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

TREE = pathlib.Path(__file__).resolve().parent.parent
HERE = TREE / "tests" / "headers"
STRICT = ["-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Wpedantic", "-Werror", "-I", str(TREE / "include")]
C = ["-std=c11", "-Wstrict-prototypes"]
CXX = ["-std=c++17", "-Wold-style-cast", "-Wzero-as-null-pointer-constant"]
# Which only another header includes.
PARTS = ("annotate_inline.h", "annotate_off.h", "lazy_ops.h", "lazy_here.h", "lazy_loader.h")
failures = []


def run(*command):
    """Output of a command; None, and a failure, if it fails."""
    done = subprocess.run([str(c) for c in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        failures.append("%s: exit status %d\n%s" % (" ".join(map(str, command)), done.returncode, done.stdout))
        return None
    return done.stdout


def found(*names):
    return [name for name in names if shutil.which(name)]


def check_c(folder):
    for compiler in found("gcc", "clang-14"):
        for options in (["-O0"], ["-O2"], ["-O2", "-DXP_DISABLE"]):
            run(compiler, *STRICT, *C, *options, "-c", HERE / "all.c", "-o", folder / "all.o")


def check_cxx(folder, library):
    """The blocks in C++, run; every header alone; and all compiled out."""
    for compiler in found("g++", "clang++-14"):
        run(compiler, *STRICT, *CXX, "-DXP_DISABLE", "-c", HERE / "blocks.cpp", "-o", folder / "off.o")
        program = folder / "blocks"
        if run(compiler, *STRICT, *CXX, "-O1", HERE / "blocks.cpp", library, "-lz", "-lzstd", "-lpthread", "-o",
               program) is not None:
            run(program)
        for header in sorted((TREE / "include" / "xlaprof").glob("*.h")):
            if header.name in PARTS:
                continue
            source = folder / "one.cpp"
            source.write_text('#include "xlaprof/%s"\n' % header.name)
            run(compiler, *STRICT, *CXX, "-c", source, "-o", folder / "one.o")


def check_lazy(folder, library):
    """The macros of lazy.h in both languages, run; and every operation has one."""
    languages = [(found("gcc", "clang-14"), [*C, "-xc"]), (found("g++", "clang++-14"), [*CXX, "-xc++"]),
                 (found("g++", "clang++-14"), [*CXX, "-std=c++11", "-xc++"])]
    for compilers, options in languages:
        for compiler in compilers:
            run(compiler, *STRICT, *options, "-DXP_DISABLE", "-c", HERE / "lazy.c", "-o", folder / "off.o")
            if run(compiler, *STRICT, *options, "-O1", "-c", HERE / "lazy.c", "-o", folder / "lazy.o") is None:
                continue
            run(compiler, folder / "lazy.o", library, "-lnghttp2", "-lz", "-lzstd", "-lm", "-ldl", "-lpthread", "-o",
                folder / "lazy")
            run(folder / "lazy")
    ops, here = ((TREE / "include" / "xlaprof" / name).read_text() for name in ("lazy_ops.h", "lazy_here.h"))
    macros = dict(re.findall(r"^#define xl_(\w+)\(\.\.\.\) +xl_(\w+)_at\(XL_HERE, __VA_ARGS__\)$", here, re.M))
    operations = re.findall(r"^XL_OP\((\w+),", ops, re.M)
    if macros != {name: name for name in operations}:
        failures.append("lazy_here.h: its macros are not the operations of lazy_ops.h: %s" %
                        " ".join(sorted(set(macros) ^ set(operations))))


def check_page(folder, page):
    """The examples of a page of the documentation compile as they stand there."""
    for language, code in re.findall(r"^```(c|c\+\+)\n(.*?)^```", page.read_text(), re.M | re.S):
        source = folder / ("example.cpp" if language == "c++" else "example.c")
        source.write_text(code)
        for compiler in found("g++", "clang++-14") if language == "c++" else found("gcc", "clang-14"):
            run(compiler, *STRICT, *(CXX if language == "c++" else C), "-c", source, "-o", folder / "example.o")


def symbols(path, kinds):
    listing = run("nm", "--format=posix", path) or ""
    return [line.split()[0] for line in listing.splitlines() if line.split()[1] in kinds]


def code_of(path):
    """The instructions of the function `work`, without addresses."""
    listing = run("objdump", "--disassemble=work", "--no-show-raw-insn", "--no-addresses", path) or ""
    body = listing.split("<work>:", 1)[-1]
    return [re.sub(r"\s+", " ", line).strip() for line in body.splitlines() if line.strip()]


def check_disabled(folder):
    for compiler in found("gcc", "clang-14"):
        objects = {}
        for name, options in (("all", ["-DXP_DISABLE"]), ("plain", [])):
            for level in ("-O0", "-O2"):
                objects[name, level] = folder / (name + level + ".o")
                run(compiler, *STRICT, *C, *options, level, "-c", HERE / (name + ".c"), "-o", objects[name, level])
        for level in ("-O0", "-O2"):
            for symbol in symbols(objects["all", level], "U"):
                if symbol.startswith("xp_"):
                    failures.append("%s %s -DXP_DISABLE refers to %s" % (compiler, level, symbol))
        if code_of(objects["all", "-O2"]) != code_of(objects["plain", "-O2"]):
            failures.append("%s -O2 -DXP_DISABLE leaves code:\n%s" % (
                compiler, "\n".join(code_of(objects["all", "-O2"]))))


def main():
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        check_c(folder)
        check_cxx(folder, sys.argv[1])
        check_lazy(folder, sys.argv[1])
        for page in ("annotate.md", "embedding.md", "lazy.md", "tutorial.md"):
            check_page(folder, TREE / "docs" / page)
        check_disabled(folder)
    print("\n".join(failures) or "headers: " + " ".join(found("gcc", "clang-14", "g++", "clang++-14")))
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
