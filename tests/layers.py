#!/usr/bin/env python3
"""Check that a layer includes only headers of its own folder and of layers above it.

The order is the numbered list under "## Layers" in docs/architecture.md.  A folder of src/ that the list lacks is an
error, too; so is an include of src/ that names no layer ("arena.h" for "base/arena.h").  Every layer may include the public headers
("xlaprof/annotate.h").
"""
import pathlib
import re
import sys

TREE = pathlib.Path(__file__).resolve().parent.parent
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.M)


def layers():
    """Names of the layers, lowest first."""
    text = (TREE / "docs" / "architecture.md").read_text()
    section = text.split("\n## Layers\n", 1)[1].split("\n## ", 1)[0]
    return re.findall(r"^\d+\. `(\w+)`", section, re.M)


def complaints(order):
    for folder in sorted(p.name for p in (TREE / "src").iterdir() if p.is_dir() and any(p.rglob("*.[ch]"))):
        if folder not in order:
            yield "src/%s: no such layer in docs/architecture.md" % folder
            continue
        allowed = [*order[:order.index(folder) + 1], "xlaprof"]
        for source in sorted((TREE / "src" / folder).rglob("*.[ch]")):
            for header in INCLUDE.findall(source.read_text()):
                if header.split("/")[0] not in allowed:
                    yield '%s: "%s" is not of %s' % (source.relative_to(TREE), header, " ".join(allowed))


def main():
    order = layers()
    found = list(complaints(order)) if order else ["no list of layers in docs/architecture.md"]
    print("\n".join(found) or "layers: " + " ".join(order))
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
