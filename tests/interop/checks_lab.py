"""The lab of `xlaprof demo lab` beside torch_xla, and on PJRT plugins of others."""
import json
import tempfile

from checks_pjrt import NEW, OLD
from harness import HERE, must, output_of, same


def lab_on(programs, *options):
    """What `xlaprof demo lab` counts; in a capture of the run, too, and it says so by its exit status."""
    with tempfile.TemporaryDirectory() as folder:
        counts = json.loads(output_of(programs.xlaprof, "demo", "lab", "--json", "--capture", folder, *options))
        read = programs.ours("counters", folder)
        for name in ("compiles", "executes"):
            same("%s that `xlaprof counters` finds in the capture" % name, read[name],
                 sum(mode[name][-1] for mode in counts.values()))
    return counts


def check_lab_compiles_and_executes_as_often_as_torch_xla_does(programs):
    theirs = json.loads(output_of(programs.python_of("torch"), HERE / "torch_lab_peer.py"))
    same("counts of the lab", lab_on(programs), theirs)


def check_lab_counts_the_same_on_cpu_plugins_of_two_ages(programs):
    embedded = lab_on(programs)
    for plugin in (OLD, NEW):
        same("counts of the lab on %s" % plugin[0], lab_on(programs, "--plugin", programs.plugin(*plugin)), embedded)


def check_lab_on_a_plugin_without_a_profiler_says_that_the_counts_are_all_it_knows(programs):
    with tempfile.TemporaryDirectory() as folder:
        text = output_of(programs.xlaprof, "demo", "lab", "--plugin", programs.plugin(*NEW), "--capture", folder)
        for words in ("The capture shows the host alone", "What could be checked of the lab is what was predicted",
                      "1. Counts of the capture: ok"):
            must("%r in\n%s" % (words, text), words in text)
        must("no word on why a device waited:\n%s" % text, "The device waited" not in text)


def check_digits_are_learned_alike_on_cpu_plugins_of_two_ages(programs):
    def learn(example, *environment):
        program = programs.built("examples/" + example)
        return json.loads(output_of("env", *environment, program, "--epochs", "1", "--json"))

    for example in ("mlp_digits", "convnet"):
        ours = learn(example)
        for plugin in (OLD, NEW):
            theirs = learn(example, "XL_PJRT_PLUGIN=%s" % programs.plugin(*plugin))
            same("programs of %s" % example, theirs["programs"], ours["programs"])
            for name, tolerance in (("loss", 1e-3), ("accuracy", 0.01)):
                a, b = ours["epochs"][0][name], theirs["epochs"][0][name]
                must("%s of %s: %r here, %r on %s" % (name, example, a, b, plugin[0]), abs(a - b) <= tolerance)
