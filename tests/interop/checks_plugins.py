"""Messages as protobuf writes them, and the profilers of real PJRT plugins."""
import os
import pathlib
import re
import tempfile

from harness import HERE, Missing, same


def check_messages_agree_with_protobuf(programs):
    programs.in_peers(HERE / "messages.py", programs.built("profile_messages"))


def check_plugin_without_a_profiler_is_told_from_a_broken_one(programs):
    library = programs.plugin("xla-cpu-pjrt", "0.0.1", "xla_plugins/xla_cpu_pjrt/xla_cpu_pjrt.so")
    steps = programs.trace_plugin(library, os.devnull)
    same("steps", list(steps), ["open"])
    same("open", "no profiler extension" in steps["open"], True)


def check_plugin_of_a_device_that_is_not_there_fails_with_its_own_words(programs):
    """libtpu starts the profiler of its host, finds no TPU, and says so; destroying the profiler ends what had begun."""
    if list(pathlib.Path("/dev").glob("accel*")):
        raise Missing("this machine has a TPU; the check is about machines without")
    library = programs.plugin("libtpu", "0.0.52", "libtpu/libtpu.so")
    steps = programs.trace_plugin(library, os.devnull)
    same("steps", list(steps), ["open", "start", "destroy"])
    same("open", steps["open"], "ok")
    same("start", re.search(r"could not start: .*ACTIVITY_TRACING.* \(code 12\)$", steps["start"]) is not None, True)
    same("destroy", steps["destroy"], "ok")


def check_plugin_of_a_gpu_gives_its_capture(programs):
    """XLA's CUDA plugin profiles without a GPU, too: then its capture has only the plane of programs, empty."""
    library = programs.plugin("jax-cuda12-pjrt", "0.10.2", "jax_plugins/xla_cuda12/xla_cuda_plugin.so")
    with tempfile.TemporaryDirectory() as folder:
        capture = pathlib.Path(folder) / "gpu.xplane.pb"
        steps = programs.trace_plugin(library, capture)
        same("steps", steps, dict.fromkeys(["open", "start", "stop", "collect", "destroy"], "ok"))
        planes = [p["name"] for p in programs.ours("info", capture)["planes"]]
    same("the plane of programs is there", "/host:metadata" in planes, True)
