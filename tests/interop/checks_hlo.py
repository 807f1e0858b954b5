"""HLO: what XLA makes of our messages, and of messages that we have read and written again."""
import pathlib
import tempfile

from checks_pjrt import NEW, OLD
from harness import HERE, TREE, must, output_of, same


def peer(programs, command, *words):
    return output_of(programs.python, HERE / "hlo_peer.py", command, *words)


def printed(programs, paths):
    """The texts that XLA prints of messages, by the names of their files."""
    peer(programs, "print", *paths)
    return {path.name: pathlib.Path(str(path) + ".xla").read_text() for path in paths}


def must_survive(programs, paths):
    """What we have read and written is the same program to XLA."""
    output_of(programs.built("hlo_modules"), "again", *paths)
    before = printed(programs, paths)
    after = printed(programs, [pathlib.Path(str(path) + ".again") for path in paths])
    for path in paths:
        same("%s, written again" % path.name, after[path.name + ".again"], before[path.name])
    return before


def must_print_alike(path, text):
    same("our text of %s" % path.name, pathlib.Path(str(path) + ".ours").read_text(), text)


def must_infer_alike(programs, paths):
    """Our builder infers the shapes that XLA wrote."""
    told = output_of(programs.built("hlo_infer"), *paths)
    must("instructions built again: %s" % told, int(told.split()[0]) > 100)


def check_xla_prints_built_modules_as_we_do(programs):
    with tempfile.TemporaryDirectory() as folder:
        output_of(programs.built("hlo_modules"), "build", folder)
        paths = sorted(pathlib.Path(folder).glob("*.hlo"))
        must("samples: %r" % paths, len(paths) >= 8)
        for path, text in zip(paths, printed(programs, paths).values()):
            must_print_alike(path, text)
        must_infer_alike(programs, [p for p in paths if p.stem not in ("custom", "sources")])


def check_xla_compiles_built_modules(programs):
    """And what its compiler makes of them comes through our reader."""
    for plugin in (OLD, NEW):
        with tempfile.TemporaryDirectory() as folder:
            output_of(programs.built("hlo_modules"), "build", folder)
            for path in sorted(p for p in pathlib.Path(folder).glob("*.hlo") if p.stem != "custom"):
                optimised = pathlib.Path(str(path) + ".optimised")
                told = output_of(programs.built("plugin_run"), programs.plugin(*plugin), "optimized", path, "hlo",
                                 optimised)
                must("%s of %s: %s" % (path.name, plugin[0], told), "error:" not in told and optimised.exists())
                output_of(programs.built("hlo_modules"), "again", optimised)
                text = pathlib.Path(str(optimised) + ".ours").read_text()
                must("an entry in\n%s" % text, "ENTRY %" in text)


def check_modules_that_xla_parsed(programs):
    with tempfile.TemporaryDirectory() as folder:
        peer(programs, "parse", folder)
        paths = sorted(pathlib.Path(folder).glob("*.hlo"))
        must("texts: %r" % paths, len(paths) >= 8)
        for path, text in zip(paths, must_survive(programs, paths).values()):
            if path.stem != "kept":
                must_print_alike(path, text)
        must_infer_alike(programs, [p for p in paths if p.stem not in ("consts", "kept", "misc")])


def check_programs_of_captures_survive(programs):
    seen = 0
    for capture in sorted((TREE / "tests" / "data" / "captures").glob("*.xplane.pb")):
        with tempfile.TemporaryDirectory() as folder:
            output_of(programs.built("hlo_modules"), "extract", capture, folder)
            paths = sorted(pathlib.Path(folder).glob("*.hlo"))
            for path in paths:
                path.write_bytes(inner_module(path.read_bytes()))
            if paths:
                must_survive(programs, paths)
            seen += len(paths)
    must("programs in the captures: %d" % seen, seen > 20)


def inner_module(proto):
    """The HloModuleProto of an HloProto, which has it as field 1, first."""
    must("an HloProto", proto[:1] == b"\n")
    length = shift = 0
    for at, byte in enumerate(proto[1:], 2):
        length |= (byte & 0x7f) << shift
        shift += 7
        if byte < 0x80:
            return proto[at:at + length]
    raise AssertionError("a length without an end")


def check_graphs_of_torch_xla_survive(programs):
    with tempfile.TemporaryDirectory() as folder:
        output_of(programs.python_of("torch"), HERE / "hlo_peer.py", "torch", folder)
        paths = sorted(pathlib.Path(folder).glob("*.hlo"))
        must("graphs: %r" % paths, len(paths) >= 14)
        for path, text in zip(paths, must_survive(programs, paths).values()):
            must_print_alike(path, text)
        must_infer_alike(programs, paths)
