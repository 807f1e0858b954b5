#!/usr/bin/env python3
"""The two questions that only a capture of a device answers: is the name of the step on its instructions, and are the gaps
those that were predicted?

    examples/pending_half.py [--plugin LIBRARY] [--xlaprof PROGRAM] [--logdir FOLDER] [--no-names]

It can be pasted into a notebook with a TPU as it is (needed there: torch_xla, and the program xlaprof).  It trains a small
network with torch_xla, with the profiler's server in the same process; each step is wrapped in StepTrace, with XLA_HLO_DEBUG=1.
`xlaprof capture` asks the server for a capture, and `xlaprof check` answers the questions.  The loop reads its loss after every
step, and then works on the host for 30 ms: one gap a step, with the cause `host`, in `log`, after a read.  How many steps
the capture can have follows from how many were run, and how long they took.

    --plugin    runs on the device of this PJRT plugin, such as libxlaprof_pjrt.so; without it on that of $PJRT_DEVICE
    --no-names  leaves XLA_HLO_DEBUG alone: nothing fails, and the names do not arrive
    --logdir    keeps the capture there

Exit status: that of `xlaprof check`.
"""
import argparse
import json
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import time

CAPTURE_S = 1.5


def predicted(steps, longest_s):
    """The gaps, from the steps that were run around the capture, and the longest of them."""
    least = max(1, int(CAPTURE_S / longest_s) - 2)  # whole steps in any 1.5 s; at their ends one may be cut, or unknown
    return [
        {"scope": "log", "cause": "host", "trigger": "value_request", "trigger_scope": "log", "min_ps": 25 * 10**9,
         "count": [least, steps]},
        {"cause": "in_program", "count": [0, None]},  # pauses inside a program, in which the host has no part
        {"cause": "unknown", "count": [0, 2]},  # the capture begins within a step, and does not know what was open before
    ]


def options():
    home = pathlib.Path(globals().get("__file__", "examples/x")).resolve().parent.parent
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--plugin", type=os.path.abspath, metavar="LIBRARY", help="a PJRT plugin to run on")
    parser.add_argument("--xlaprof", default=shutil.which("xlaprof") or home / "build" / "xlaprof", metavar="PROGRAM")
    parser.add_argument("--logdir", metavar="FOLDER", help="keep the capture there")
    parser.add_argument("--no-names", action="store_true", help="leave XLA_HLO_DEBUG alone")
    return parser.parse_known_args()[0]  # notebooks have words of their own


def use_plugin(path):
    from torch_xla.experimental import plugins

    class Plugin(plugins.DevicePlugin):
        def library_path(self):
            return path

        def physical_chip_count(self):
            return 1

    plugins.register_plugin("XLAPROF", Plugin())


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as free:
        return free.getsockname()[1]


class Training:
    def __init__(self, torch, torch_xla):
        torch.manual_seed(1)
        device = torch_xla.device()
        self.model = torch.nn.Sequential(torch.nn.Linear(256, 512), torch.nn.ReLU(), torch.nn.Linear(512, 256)).to(device)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1)
        self.x = torch.randn(128, 256).to(device)

    def step(self, xp, number):
        with xp.StepTrace("train_step", step_num=number):
            with xp.Trace("fwd"):
                loss = (self.model(self.x) - self.x).square().mean()
            loss.backward()
            with xp.Trace("opt"):
                self.optimizer.step()
                self.optimizer.zero_grad()
        with xp.Trace("log"):
            value = loss.item()
            time.sleep(0.03)  # stands for writing it somewhere
        return value


def train_until(done, training, xp):
    """The number of steps, how long the longest one took, and the last loss."""
    number, longest_s = 0, 0
    while not done():
        start = time.monotonic()
        value = training.step(xp, number)
        longest_s = max(longest_s, time.monotonic() - start)
        number += 1
    return number, longest_s, value


def say_what_this_can_show(torch_xla, o):
    kind = os.environ.get("PJRT_DEVICE", "the default")
    print("Device: %s (%s)" % (torch_xla.device(), kind))
    if kind == "CPU":
        print("XLA's CPU client has no plane of its own: the operations are events of the host's threads, with the names of\n"
              "their instructions. That shows whether names arrive, and the order of work and gaps. It does not show the\n"
              "times of a chip, nor what a chip's compiler fuses: names may be lost there that are here.")
    elif o.plugin:
        print("The device has a plane of its own, as a chip has, with the names on its instructions. Its times are not\n"
              "those of a chip.")
    sys.stdout.flush()


def main():
    o = options()
    if o.plugin:
        os.environ["PJRT_DEVICE"] = "XLAPROF"
    if not o.no_names:
        os.environ["XLA_HLO_DEBUG"] = "1"  # read when torch_xla is imported
    import torch
    import torch_xla
    import torch_xla.debug.profiler as xp
    if o.plugin:
        use_plugin(o.plugin)
    say_what_this_can_show(torch_xla, o)
    training = Training(torch, torch_xla)
    train_until(iter([False, False, False, True]).__next__, training, xp)  # compiles
    port = free_port()
    server = xp.start_server(port)
    with tempfile.TemporaryDirectory() as scratch:
        logdir, expected = o.logdir or scratch, pathlib.Path(scratch) / "predicted.json"
        capture = subprocess.Popen([o.xlaprof, "capture", "localhost:%d" % port, logdir, "--duration-ms",
                                    "%d" % (CAPTURE_S * 1000)])
        steps, longest_s, value = train_until(lambda: capture.poll() is not None, training, xp)
        expected.write_text(json.dumps(predicted(steps, longest_s), indent=1))
        print("%d steps while the capture was made; loss %.5f" % (steps, value), flush=True)
        del server
        if capture.returncode != 0:
            return capture.returncode
        check = [o.xlaprof, "check", logdir, "--step", "train_step", "--scopes", "fwd,opt", "--expect", expected]
        print("\n$", *check, "\n", flush=True)
        return subprocess.run(check, check=False).returncode


if __name__ == "__main__":
    status = main()
    if "ipykernel" not in sys.modules:  # a notebook shows what was printed
        sys.exit(status)
