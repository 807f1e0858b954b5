"""Names of lazy tensors: from the traces of a program to what compilers make of it, and to what XProf shows."""
import json
import math
import pathlib
import tempfile

from checks_device import must_lie_in_scopes, trace_rows
from checks_pjrt import NEW, OLD
from harness import HERE, must, only_file, output_of, same

SCOPES = ("fwd", "bwd/fwd", "opt")  # the backward pass of an operation has the scope of that operation, too
SOURCE = HERE / "lazy_step.c"


def lines_with(*parts):
    """Numbers of the lines of lazy_step.c that call something."""
    return {i + 1 for i, line in enumerate(SOURCE.read_text().splitlines()) if any(part in line for part in parts)}


def lines_of():
    """The lines that the operations under each scope may come from."""
    forward = lines_with("xl_linear(", "xl_cross_entropy(")
    return {"fwd": forward, "bwd/fwd": forward | lines_with("xl_backward("), "opt": lines_with("xl_add_scaled_(")}


def devices(programs):
    """(name, plugin as lazy_step takes it, as plugin_run takes it)"""
    for plugin in (OLD, NEW):
        yield plugin[0], programs.plugin(*plugin), programs.plugin(*plugin)
    yield "embedded", "embedded", programs.built("libxlaprof_pjrt.so")


def optimised(programs, library, program):
    """(opcode, name, op_name, file, line) of the instructions of a program, as a plugin's compiler leaves it."""
    output_of(programs.built("plugin_run"), library, "optimized", program, "hlo", program.with_suffix(".optimised"))
    text = output_of(programs.built("hlo_modules"), "names", program.with_suffix(".optimised"))
    rows = [line.split("\t") for line in text.splitlines()]
    must("instructions: %d" % len(rows), len(rows) > 20)
    return rows


def stepped(programs, plugin, gate, program, *logdir):
    """Losses of the steps; the program is written."""
    words = output_of(programs.built("lazy_step"), plugin, gate, program, *logdir).split()
    return [float(words[i + 1]) for i, word in enumerate(words) if word.startswith("loss")]


def scope_of(op_name):
    return next((s for s in SCOPES if op_name.startswith(s + "/")), None)


def must_carry_scopes(name, rows):
    """Every instruction with a name has one of the scopes, and a line under it; arguments are named as what they are."""
    lines, seen, fusions = lines_of(), set(), 0
    for opcode, instruction, op_name, file, line in rows:
        if op_name == "" or opcode == "parameter" and op_name == "xla__device_data":
            continue
        scope = scope_of(op_name)
        must("%s on %s has no scope: %r" % (instruction, name, op_name), scope is not None)
        must("%s (%s) on %s comes from line %s of %s" % (instruction, op_name, name, line, file),
             file.endswith(SOURCE.name) and int(line) in lines[scope])
        seen.add(scope)
        fusions += opcode == "fusion"
    same("scopes on %s" % name, seen, set(SCOPES))
    nameless = [row for row in rows if row[2] == "" and row[0] not in ("parameter", "tuple", "get-tuple-element", "bitcast")]
    same("instructions without a name on %s" % name, nameless, [])
    must("fusions with a name on %s: %d" % (name, fusions), fusions > 5 or name == "embedded")


def check_optimised_programs_of_lazy_tensors_carry_scopes_and_lines(programs):
    with tempfile.TemporaryDirectory() as folder:
        losses = {}
        for name, plugin, library in devices(programs):
            program = pathlib.Path(folder) / (name + ".hlo")
            losses[name] = stepped(programs, plugin, "open", program)
            must_carry_scopes(name, optimised(programs, library, program))
        same("losses", len(losses["embedded"]), 3)
        for name, values in losses.items():
            must("losses on %s: %s, embedded: %s" % (name, values, losses["embedded"]),
                 all(math.isclose(a, b, rel_tol=1e-5) for a, b in zip(values, losses["embedded"])))


def check_optimised_programs_of_lazy_tensors_have_no_names_while_the_gate_is_closed(programs):
    with tempfile.TemporaryDirectory() as folder:
        for name, plugin, library in devices(programs):
            program = pathlib.Path(folder) / (name + ".hlo")
            stepped(programs, plugin, "closed", program)
            named = [row for row in optimised(programs, library, program) if row[2] != "" or row[4] != "0"]
            same("instructions with names on %s" % name, named, [])


def check_captured_steps_of_lazy_tensors_lie_in_scopes_and_xprof_nests_them(programs):
    with tempfile.TemporaryDirectory() as logdir:
        stepped(programs, "embedded", "open", pathlib.Path(logdir) / "step.hlo", logdir)
        names = programs.ours("names", logdir)
        must("device time: %d ps" % names["device_ps"], names["device_ps"] > 0)
        same("device time in scopes", names["named_ps"], names["device_ps"])
        same("scopes", {row["scope"] for row in names["scopes"] if row["self_ps"] > 0}, {"train/" + s for s in SCOPES})
        capture = only_file(logdir, "*.xplane.pb")
        rows = trace_rows(output_of(programs.python_of("xprof"), HERE / "xprof_peer.py", "tool", "trace_viewer", capture))
        for scope, products in (("fwd", 2), ("bwd", 3)):  # of weights and inputs, but for the first input
            must_lie_in_scopes(rows, "train/%s/" % scope, scope, "dot", 3 * products)
        same("steps", len(rows["Steps"]), 3)


def check_captured_steps_of_lazy_tensors_without_names_say_how_to_get_them(programs):
    with tempfile.TemporaryDirectory() as logdir:
        stepped(programs, "embedded", "closed", pathlib.Path(logdir) / "step.hlo", logdir)
        names = programs.ours("names", logdir)
        same("device time in scopes", (names["named_ps"], names["gate"]), (0, "off"))
