#!/usr/bin/env python3
"""Which HLO does torch_xla emit?  Runs torch_programs.py on the CPU client and lists what XLA was given to compile.

    torch_opcodes.py PYTHON_OF_TORCH_XLA > tests/data/torch_xla_opcodes.txt

XLA itself writes the programs: `--xla_dump_to` has a file `*.before_optimizations.txt` for every program that was compiled,
as torch_xla sent it.
"""
import collections
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
PROGRAMS = ("lab", "lab_eager", "diffusion", "diffusion_bf16")
INSTRUCTION = re.compile(r"^ +(?:ROOT )?%?(\S+) = (\(.*?\)|\S+) ([a-z][a-z0-9-]*)\((.*?)\)((?:, [a-z_]+=.*)?)$")
LAYOUT = re.compile(r"\{[0-9,]*\}|\[[^\]]*\]|/\*.*?\*/")
# Attributes whose values decide what an evaluator needs; of the others the name is enough.
TELLING = {"algorithm", "direction", "dim_labels", "feature_index", "rng_state", "distribution"}

HEAD = """\
# What torch_xla {version} gives XLA to compile for tests/interop/torch_programs.py, on its CPU client.
# Made by tests/interop/torch_opcodes.py.
#
# First the opcodes, with the number of instructions in each program (compiled programs, all computations, every compile once).
# Then the kinds of instructions: opcode, operand types, result type, and the attributes that occur.
"""


def kind_of(types, shape, opcode, operands, attributes):
    names = re.findall(r"%([\w.-]+)", operands)
    inputs = " ".join(types.get(n, "?") for n in names)
    told = []
    for name, value in re.findall(r", ([a-z_]+)=(\{\{.*?\}\}|\{.*?\}|[^,]+)", attributes):
        if name not in ("metadata", "sharding", "backend_config"):
            told.append("%s=%s" % (name, value) if name in TELLING else name)
    return "%s(%s) -> %s%s" % (opcode, inputs, LAYOUT.sub("", shape), " " + " ".join(told) if told else "")


def read(path, counts, kinds, name):
    types = {}
    for line in path.read_text().splitlines():
        match = INSTRUCTION.match(line)
        if match:
            instruction, shape, opcode, operands, attributes = match.groups()
            types[instruction] = LAYOUT.sub("", shape).replace(" ", "")
            counts[opcode][name] += 1
            if opcode != "tuple":  # of any number of anything
                kinds.add(kind_of(types, shape, opcode, operands, attributes))
        elif " = " in line:
            sys.exit("%s: an instruction that this script does not read: %s" % (path, line))


def main(python):
    counts, kinds = collections.defaultdict(collections.Counter), set()
    for name in PROGRAMS:
        with tempfile.TemporaryDirectory() as folder:
            env = dict(os.environ, PJRT_DEVICE="CPU", XLA_FLAGS="--xla_dump_to=%s --xla_dump_hlo_as_text" % folder)
            subprocess.run([python, HERE / "torch_programs.py", name], env=env, check=True, stdout=subprocess.DEVNULL)
            for path in sorted(pathlib.Path(folder).glob("*.before_optimizations.txt")):
                read(path, counts, kinds, name)
    version = subprocess.run([python, "-c", "import importlib.metadata as m; print(m.version('torch_xla'))"],
                             check=True, capture_output=True, text=True).stdout.strip()
    print(HEAD.format(version=version))
    print("%-22s" % "opcode" + "".join("%16s" % name for name in PROGRAMS))
    for opcode in sorted(counts):
        print("%-22s" % opcode + "".join("%16d" % counts[opcode][name] for name in PROGRAMS))
    print()
    print("\n".join(sorted(kinds)))


if __name__ == "__main__":
    main(sys.argv[1])
