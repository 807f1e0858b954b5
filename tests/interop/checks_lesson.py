"""The examples that check themselves: names on the device, and gaps that are those that were predicted."""
import os
import re
import subprocess
import tempfile

from harness import TREE, Missing, environment, must, same

EXAMPLES = TREE / "examples"
ATTEMPTS = 4  # gaps are times: where others keep the processors busy, some are not those of the program
BUSY = 1.5  # programs that want to run, for each processor
LIMIT_S = 300


def run_example(programs, python, name, *options):
    """(exit status of its check, what it printed, the capture's folder as a temporary one)"""
    logdir = tempfile.TemporaryDirectory()
    run = subprocess.run([python, EXAMPLES / name, "--xlaprof", programs.xlaprof, "--logdir", logdir.name, *options],
                         capture_output=True, text=True, env=environment(), timeout=LIMIT_S, check=False)
    must("%s ends with status %d:\n%s" % (name, run.returncode, run.stderr[-3000:]), run.returncode in (0, 1))
    must("%s runs to its check:\n%s" % (name, run.stdout[-2000:]), "1. Names: " in run.stdout)
    return run.returncode, run.stdout, logdir


def must_hold(programs, python, name, *options):
    """The check of an example passes, in one of some attempts; the names are there in each.  The answer of check --json.

    Without an attempt that passes on a busy machine the check is told as skipped."""
    for _ in range(ATTEMPTS):
        status, text, logdir = run_example(programs, python, name, *options)
        with logdir:
            must("the names are there:\n%s" % text, "1. Names: ok" in text)
            if status == 0:
                return dict(answer(programs, name, logdir.name), text=text)
    load = os.getloadavg()[0] / os.cpu_count()
    if load > BUSY:
        raise Missing("the names are there; the gaps are not only those of the example, with %.1f programs for each processor" % load)
    raise AssertionError("%d attempts, the last of which says\n%s" % (ATTEMPTS, text[text.index("\n1. Names: "):]))


def answer(programs, name, logdir):
    step = "train_step" if name == "pending_half.py" else "denoise"
    told = programs.ours("check", logdir, "--step", step)
    planes = programs.ours("info", logdir)["planes"]
    told["planes"] = [p["name"] for p in planes]
    told["lines"] = [line["name"] for p in planes for line in p["line_list"]]
    told["causes"] = [c for c in programs.ours("gaps", logdir)["causes"] if c["where"] == "inside"]
    return told


def must_be_in_watermark(told):
    """The largest cause of idle time is the lesson's: other code on the host, in `watermark`, after a read there."""
    first = told["causes"][0]
    same("the largest cause", [first[k] for k in ("cause", "scope", "trigger", "trigger_scope", "gaps")],
         ["host", "watermark", "value_request", "watermark", 1])


def names_of(told):
    return {s["name"]: s["instructions"] for s in told["names"]["scopes"]}


def must_have_names_of_torch_xla(told):
    same("frontend", told["names"]["frontend"], "torch_xla")
    must("the step: %r" % told["names"]["step"], told["names"]["step"]["instructions"] > 50)
    must("an op name: %r" % told["names"]["step"], re.match(r"denoise\.\d+/unet\.\d+/", told["names"]["step"]["op_name"]))
    must("scopes: %r" % names_of(told), all(names_of(told)[n] > 0 for n in ("text", "unet", "scheduler.step")))


def check_diffusion_of_torch_xla_has_the_predicted_gaps(programs):
    for options in [], ["--fixed"]:
        told = must_hold(programs, programs.python_of("torch"), "diffusion_torch_xla.py", *options)
        must_be_in_watermark(told)
        must_have_names_of_torch_xla(told)


def check_diffusion_of_torch_xla_on_the_device_has_the_predicted_gaps(programs):
    plugin = ["--plugin", programs.built("libxlaprof_pjrt.so")]
    for options in [], ["--fixed"]:
        told = must_hold(programs, programs.python_of("torch"), "diffusion_torch_xla.py", *plugin, *options)
        must_be_in_watermark(told)
        must_have_names_of_torch_xla(told)
        same("instructions in a scope", told["names"]["scoped"], told["names"]["instructions"])
        must("planes: %r" % told["planes"], "/device:CUSTOM:xlaprof:0" in told["planes"])


def check_diffusion_of_jax_has_the_predicted_gaps(programs):
    for options in [], ["--fixed"]:
        told = must_hold(programs, programs.python, "diffusion_jax.py", *options)
        must_be_in_watermark(told)
        same("frontend", told["names"]["frontend"], "jax")
        same("instructions with the step's name", told["names"]["step"]["instructions"], 0)
        must("scopes: %r" % names_of(told), all(names_of(told)[n] > 0 for n in ("text", "unet", "scheduler.step")))


def must_fail_without_names(programs, python, name, *options):
    status, text, logdir = run_example(programs, python, name, *options)
    with logdir:
        same("exit status of the check", status, 1)
        must("what is missing, and the remedy:\n%s" % text, "1. Names: FAILED" in text and "MISSING" in text)
        return text


def check_diffusion_without_annotations_fails_with_the_remedy(programs):
    text = must_fail_without_names(programs, programs.python_of("torch"), "diffusion_torch_xla.py", "--plain")
    must(text, "The program has no annotations" in text and "XLA_HLO_DEBUG=1" in text and "2. Gaps: FAILED" in text)
    text = must_fail_without_names(programs, programs.python, "diffusion_jax.py", "--plain")
    must(text, "jax.named_scope" in text and "2. Gaps: FAILED" in text)


def must_bound_the_gaps_by_the_steps(told):
    """As many gaps as steps at most, and not just any number."""
    steps, = re.findall(r"^(\d+) steps while the capture was made", told["text"], re.M)
    found, least, most = re.search(r"row 1 ok: (\d+) gaps? \(predicted: (\d+) to (\d+)\)", told["text"]).groups()
    must("gaps: %s of %s to %s, in %s steps" % (found, least, most, steps), 1 <= int(least) <= int(found) <= int(most) == int(steps))


def check_pending_half_on_the_cpu_client(programs):
    told = must_hold(programs, programs.python_of("torch"), "pending_half.py")
    must_bound_the_gaps_by_the_steps(told)
    must("no plane of a device: %r" % told["planes"], not [p for p in told["planes"] if p.startswith("/device:")])
    must("scopes: %r" % names_of(told), names_of(told)["fwd"] > 0 and names_of(told)["opt"] > 0)


def check_pending_half_on_the_device(programs):
    plugin = programs.built("libxlaprof_pjrt.so")
    told = must_hold(programs, programs.python_of("torch"), "pending_half.py", "--plugin", plugin)
    must_bound_the_gaps_by_the_steps(told)
    must("planes: %r" % told["planes"], "/device:CUSTOM:xlaprof:0" in told["planes"])
    must("lines: %r" % told["lines"], {"XLA Modules", "XLA Ops", "Framework Name Scope"} <= set(told["lines"]))
    must("an op name: %r" % told["names"]["step"], told["names"]["step"]["op_name"].startswith("train_step."))
    must("scopes: %r" % names_of(told), names_of(told)["fwd"] > 0 and names_of(told)["opt"] > 0)


def check_pending_half_without_names_fails_with_the_remedy(programs):
    plugin = programs.built("libxlaprof_pjrt.so")
    text = must_fail_without_names(programs, programs.python_of("torch"), "pending_half.py", "--no-names", "--plugin", plugin)
    must(text, "Set XLA_HLO_DEBUG=1" in text)
