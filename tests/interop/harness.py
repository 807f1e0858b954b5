"""What the checks of tests/interop/run share: peers and programs, programs that serve, comparing.

Nothing here waits without end: every program has a time limit, and those that serve are ended whatever happens.
"""
import contextlib
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading

HERE = pathlib.Path(__file__).resolve().parent
TREE = HERE.parent.parent
LIMIT_S = 300


class Missing(Exception):
    """What a check needs cannot be had on this machine."""


class Programs:
    """What the checks run; peers are installed when a check asks for them."""

    def __init__(self, xlaprof):
        self.xlaprof = xlaprof
        self.folder = xlaprof.parent
        self.grpc_echo = xlaprof.with_name("grpc_echo")
        self.groups = {}  # of peers: the folder, or why there is none

    def peer(self, group):
        """The folder of a group of scripts/peers.txt."""
        if group not in self.groups:
            self.groups[group] = install(group)
        if isinstance(self.groups[group], Missing):
            raise self.groups[group]
        return self.groups[group]

    def python_of(self, group):
        return self.peer(group) / "bin" / "python"

    @property
    def python(self):
        return self.python_of("readers")

    @property
    def plugins(self):
        return self.peer("readers").parent / "plugins"

    @property
    def xprof_rs(self):
        return self.python.with_name("xprof-rs")

    def grpc_peer(self, group):
        """The command that runs grpc_peers.py or grpc_peers.js."""
        if group == "grpcio":
            return [self.python_of(group), HERE / "grpc_peers.py"]
        return ["node", HERE / "grpc_peers.js", self.peer(group)]

    def tool(self, name, package):
        if shutil.which(name) is None:
            raise Missing("%s is missing: install the Debian package %s" % (name, package))
        return name

    def call(self, port, path, request="x", timeout_ms=20000):
        """What our client of gRPC says: end, code, bytes, hash, message."""
        line = output_of(self.grpc_echo, "call", "127.0.0.1:%d" % port, path, request, str(timeout_ms))
        end, code, size, digest, _, _, message = line[:-1].split(" ", 6)
        return end, int(code), int(size), int(digest, 16), message

    def ours(self, *words):
        return json.loads(output_of(self.xlaprof, *words, "--json"))

    def capture(self, target, logdir, *options):
        """What `xlaprof capture` says of one program; asks for 300 ms, for some seconds."""
        run = run_program(self.xlaprof, "capture", target, logdir, "--duration-ms", "300", "--timeout-s", "20",
                          "--interval-s", "1", "--json", *options)
        if not run.stdout:
            raise AssertionError("capture %s: exit status %d\n%s" % (target, run.returncode, run.stderr[-2000:]))
        return {"status": run.returncode, "told": run.stderr, **json.loads(run.stdout)["hosts"][0]}

    def captured(self, target, logdir, *options):
        """The path of a capture that must succeed."""
        result = self.capture(target, logdir, *options)
        same("outcome of the capture (%s)" % result["message"], result["outcome"], "saved")
        return pathlib.Path(result["path"])

    def in_peers(self, script, *words):
        return output_of(self.python, script, *words)

    def built(self, name):
        """A program that the build makes for these checks."""
        if not (self.folder / name).exists():
            raise AssertionError("%s is not built: run `make interop`" % (self.folder / name))
        return self.folder / name

    @contextlib.contextmanager
    def training(self, *options):
        """examples/train.c with its server on: the port."""
        with serving(self.built("examples/train"), "--port", "0", "--steps", "1000000", *options,
                     reads_input=False) as (port, _):
            yield port

    def plugin(self, package, version, library):
        """The shared library of a plugin on PyPI, which is large and therefore kept outside of the environment."""
        place = self.plugins / ("%s-%s" % (package, version))
        if not (place / library).exists():
            print("Installing %s into %s" % (package, place), file=sys.stderr)
            pip = subprocess.run([self.python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps",
                                  "--target", place, "%s==%s" % (package, version)], capture_output=True, text=True)
            if pip.returncode != 0 or not (place / library).exists():
                raise Missing("pip cannot install %s %s: %s" % (package, version, pip.stderr.strip()[-300:]))
        return place / library

    def trace_plugin(self, library, capture):
        """How each step of tracing a plugin ended, by its name."""
        text = output_of(self.built("plugin_profile"), library, capture)  # a plugin may print among it
        return dict(re.findall(r"^(open|start|stop|collect|destroy): (.*)$", text, re.M))


# ---------------------------------------------------------------- programs

def install(group):
    """The folder of a group of peers, or why it is missing.  What the installer says is shown, since it may take minutes."""
    run = subprocess.Popen([TREE / "scripts" / "install-peers", group], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                           text=True)
    said = []
    for line in run.stderr:
        said.append(line.strip())
        print(said[-1], file=sys.stderr, flush=True)
    folder, _ = run.communicate()
    return pathlib.Path(folder.strip()) if run.returncode == 0 else Missing("; ".join(said[-2:]))


def environment():
    """No search for accelerators and their metadata servers; no proxies; our module for Python."""
    return {**os.environ, "JAX_PLATFORMS": "cpu", "PJRT_DEVICE": "CPU", "TPU_SKIP_MDS_QUERY": "1", "no_proxy": "*",
            "PYTHONPATH": str(TREE / "python"), "PYTHONUNBUFFERED": "1"}


def run_program(*command, limit_s=LIMIT_S):
    try:
        return subprocess.run(command, capture_output=True, text=True, env=environment(), stdin=subprocess.DEVNULL,
                              timeout=limit_s)
    except subprocess.TimeoutExpired:
        raise AssertionError("%s: not done in %d s" % (" ".join(map(str, command)), limit_s)) from None


def output_of(*command):
    run = run_program(*command)
    if run.returncode != 0:
        raise AssertionError("%s: exit status %d\n%s" % (" ".join(map(str, command)), run.returncode,
                                                         (run.stdout + run.stderr)[-2000:]))
    return run.stdout


def port_of(server):
    """The number at the end of its first line that has one."""
    limit = threading.Timer(120, server.kill)
    limit.start()
    try:
        for line in server.stdout:
            number = re.search(r"(\d+)$", line.strip())
            if number:
                return int(number.group())
    finally:
        limit.cancel()
    raise AssertionError("%s tells no port:\n%s" % (" ".join(map(str, server.args)), errors_of(server)))


def errors_of(server):
    """The end of what a program of `serving` wrote to stderr."""
    server.errors.seek(0)
    return server.errors.read()[-4000:]


@contextlib.contextmanager
def serving(*command, reads_input=True):
    """A program that prints its port, and serves until its standard input ends: (port, process).

    One that does not read its input is ended by a signal.  process.errors is a file with what it wrote to stderr."""
    with tempfile.TemporaryFile("w+") as errors:
        server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, text=True,
                                  env=environment())
        server.errors = errors
        try:
            yield port_of(server), server
        finally:
            server.send_signal(signal.SIGCONT)
            server.stdin.close()
            if not reads_input:
                server.terminate()
            try:
                server.wait(20)
            except subprocess.TimeoutExpired:
                server.kill()
                server.wait()
                raise AssertionError("%s does not end" % server.args[0]) from None
            finally:
                server.stdout.close()


def free_port():
    """One that was free just now."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        return free.getsockname()[1]


def only_file(folder, pattern):
    found = sorted(pathlib.Path(folder).rglob(pattern))
    same("number of files %s below %s" % (pattern, folder), len(found), 1)
    return found[0]


# ---------------------------------------------------------------- comparing

def same(what, got, want):
    """Raises unless two values, or two tables (with the rows that differ), are equal."""
    if got == want:
        return
    if isinstance(got, dict) and isinstance(want, dict):
        rows = [k for k in sorted({*got, *want}) if got.get(k) != want.get(k)]
        raise AssertionError("%s: %d rows differ" % (what, len(rows)) + "".join(
            "\n    %s: %r, the peer says %r" % (k, got.get(k), want.get(k)) for k in rows[:5]))
    if isinstance(got, list) and isinstance(want, list) and len(got) + len(want) > 8:
        rows = [(i, a, b) for i, (a, b) in enumerate(zip(got, want)) if a != b]
        raise AssertionError("%s: %d rows, right are %d" % (what, len(got), len(want)) + "".join(
            "\n    row %d: %r, right is %r" % row for row in rows[:5]))
    raise AssertionError("%s: %r, right is %r" % (what, got, want))


def must(what, is_so):
    if not is_so:
        raise AssertionError(what)
