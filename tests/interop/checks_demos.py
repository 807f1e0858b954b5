"""The demonstrations sd21 and sdxl on PJRT plugins of others, and the program of the lab's step on a TPU's compiler."""
import json
import pathlib
import tempfile
import zlib

from checks_aot import aot
from checks_pjrt import NEW, OLD
from harness import must, run_program, same


def demo(programs, folder, words, *options):
    """(what the demo says as JSON, the picture's bytes); exit status 5: the capture has no work of a device."""
    image = pathlib.Path(folder) / "image.png"
    run = run_program(programs.xlaprof, "demo", *words, *options, "--json", "--capture", folder, "--image", image)
    told = json.loads(run.stdout)
    must("%s: exit status %d\n%s" % (words, run.returncode, run.stderr),
         run.returncode in (0, 1) if told["device_seen"] else run.returncode == 5)
    packed = image.read_bytes()
    at = packed.index(b"IDAT")
    return told, zlib.decompress(packed[at + 4:at + 4 + int.from_bytes(packed[at - 4:at], "big")])


def must_look_the_same(name, picture, wanted):
    """Two devices round differently, and eight steps carry that on: some steps of 256 here and there."""
    same("bytes of the picture", len(picture), len(wanted))
    far = sum(abs(a - b) > 3 for a, b in zip(picture, wanted))
    must("%s: %d of %d bytes differ by more than 3" % (name, far, len(wanted)), far < len(wanted) / 1000)


def check_demos_on_cpu_plugins_count_the_same_and_say_that_no_device_is_seen(programs):
    """These plugins have no profiler extension, so a capture has the host's side alone."""
    for words in (["sd21"], ["sdxl", "--plain"]):
        with tempfile.TemporaryDirectory() as folder:
            embedded, picture = demo(programs, folder, words)
        for plugin in (OLD, NEW):
            with tempfile.TemporaryDirectory() as folder:
                told, other = demo(programs, folder, words, "--plugin", programs.plugin(*plugin))
                same("%s on %s: (ok, device seen)" % (words, plugin[0]), (told["ok"], told["device_seen"]), (True, False))
                for run in ("second", "captured"):
                    same("%s on %s: counters, %s" % (words, plugin[0], run), told["counters"][run], embedded["counters"][run])
                must_look_the_same("%s on %s" % (words, plugin[0]), other, picture)
                same("devices in the capture", programs.ours("gaps", folder)["devices"], [])
    text = run_program(programs.xlaprof, "demo", "sd21", "--plugin", programs.plugin(*NEW))
    same("exit status as text", text.returncode, 5)
    for words in ("The capture shows the host alone", "1. Names: not checked", "2. Gaps: not checked", "3. Counters: ok"):
        must("%r in\n%s" % (words, text.stdout), words in text.stdout)


def check_demo_on_the_shared_device_is_that_on_the_embedded_one(programs):
    """The same device as a plugin, with its profiler: names and gaps are seen there, too."""
    with tempfile.TemporaryDirectory() as folder:
        told, picture = demo(programs, folder, ["sdxl"], "--plugin", programs.built("libxlaprof_pjrt.so"))
        same("device seen", told["device_seen"], True)
        same("names", told["check"]["names"]["ok"], True)
        same("the largest gap is in", told["longest_gap"]["scope"], "watermark")
    with tempfile.TemporaryDirectory() as folder:
        must("the picture is the same", demo(programs, folder, ["sdxl"])[1] == picture)


def check_names_of_the_labs_step_reach_a_tpu_and_only_through_the_gate(programs):
    with tempfile.TemporaryDirectory() as folder:
        for options, status in ([], 0), (["--plain"], 1):
            program = pathlib.Path(folder) / ("step%s.hlo.pb" % "".join(options))
            run = run_program(programs.xlaprof, "demo", "lab", "--program", program, *options)
            same("exit status of the lab", (run.returncode, run.stderr), (0, ""))
            found, out, err = aot(programs, program, "--json", "--require-names")
            same("exit status of aot (%s)" % err, found, status)
            rows = {row["scope"]: row for row in json.loads(out)["scopes"]}
            if options:
                same("instructions with a scope", json.loads(out)["executed_with_scope"], 0)
                continue
            for scope in ("train/fwd", "train/bwd/fwd", "train/opt"):
                must("%s: %r" % (scope, rows.get(scope)), rows[scope]["compiled"] > 0 and not rows[scope]["lost"])
