#!/usr/bin/env python3
"""What xlaprof aot says when a plugin's compiler crashes, ends the process, or is no plugin.

    aot.py XLAPROF

The plugins are made here, with the C compiler.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

PLUGINS = {
    "aborts": 'fprintf(stderr, "F0000 check.cc:7] Check failed: ids < INT32_MAX\\nstack\\n"); abort();',
    "ends": 'fputs("cannot find the machine\\n", stderr); exit(3);',
    "is_null": "",
}
SOURCE = "#include <stdio.h>\n#include <stdlib.h>\nconst void *GetPjrtApi(void) { %s return NULL; }\n"
EXPECTED = {
    "aborts": r"The compiler of \S+aborts\.so crashed \(Aborted\)\. Its last words: F0000 check\.cc:7\] Check failed: ids < INT32_MAX",
    "ends": r"The compiler of \S+ends\.so ended the process without an answer\. Its last words: cannot find the machine",
    "is_null": r"is_null\.so",
}


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        mlir = folder / "program.mlir"
        mlir.write_text("module @m {}\n")
        for plugin, body in PLUGINS.items():
            (folder / "p.c").write_text(SOURCE % body)
            library = folder / (plugin + ".so")
            subprocess.run([os.environ.get("CC", "cc"), "-shared", "-fPIC", "-o", library, folder / "p.c"], check=True)
            run = subprocess.run([sys.argv[1], "aot", mlir, "--plugin", library, "--topology", "v5e:2x2x1"],
                                 capture_output=True, text=True)
            if run.returncode != 3 or run.stdout or not re.search(EXPECTED[plugin], run.stderr):
                sys.exit("%s: exit status %d, stdout %r, stderr %r" % (plugin, run.returncode, run.stdout, run.stderr))


if __name__ == "__main__":
    main()
