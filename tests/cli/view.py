#!/usr/bin/env python3
"""`xlaprof view` as a user starts it: the address, the page, the data, and how it ends.

    view.py XLAPROF
"""
import contextlib
import http.client
import json
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

TREE = pathlib.Path(__file__).resolve().parent.parent.parent
CAPTURE = TREE / "tests" / "data" / "captures" / "torch_denoise.xplane.pb"
ADDRESS = re.compile(r"http://127\.0\.0\.1:(\d+)(/[0-9a-f]{32}/)\n")
XLAPROF = sys.argv[1]


class Viewer:
    def __init__(self, process, port, base):
        self.process, self.port, self.base = process, port, base

    def get(self, path, **headers):
        """(status, body) of what is behind the token."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        with contextlib.closing(connection):
            connection.request("GET", self.base + path, headers=headers)
            answer = connection.getresponse()
            return answer.status, answer.read()

    def json(self, path):
        status, body = self.get(path)
        assert status == 200, (path, status, body)
        return json.loads(body)

    def ready(self):
        deadline = time.monotonic() + 60
        while (meta := self.json("data/meta"))["state"] != "ready":
            assert time.monotonic() < deadline and meta["state"] != "failed", meta
            time.sleep(0.02)
        return meta

    def end(self, number=signal.SIGINT):
        """Exit status and messages after a signal."""
        self.process.send_signal(number)
        _, messages = self.process.communicate(timeout=60)
        return self.process.returncode, messages


@contextlib.contextmanager
def viewing(*words):
    process = subprocess.Popen([XLAPROF, "view", *map(str, words)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True)
    try:
        line = process.stdout.readline()
        match = ADDRESS.fullmatch(line)
        assert match, (line, process.communicate(timeout=60))
        yield Viewer(process, int(match[1]), match[2])
    finally:
        process.kill()
        process.communicate()


def run(*words):
    return subprocess.run([XLAPROF, *map(str, words)], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          timeout=60)


def check_page_and_data():
    """The page is there, and its data say what the commands say."""
    with viewing(CAPTURE) as viewer:
        meta = viewer.ready()
        report = json.loads(run("report", "--json", CAPTURE).stdout)
        status, page = viewer.get("")
        assert status == 200 and b"<script" in page
        for name in re.findall(rb'(?:src|href)="([^"#:]+)"', page):
            assert viewer.get(name.decode())[0] == 200, name
        assert meta["events"] == report["info"]["events"] == 4321
        summary = viewer.json("data/summary")
        for key in ("verdict", "advice"):
            assert summary[key] == report[key], key
        assert summary["devices"] == report["gaps"]["devices"]
        assert viewer.json("data/table/steps") == report["steps"]
        assert viewer.json("data/table/ops") == report["ops"]
        gaps = viewer.json("data/table/gaps?sort=start&limit=1000")
        assert [row["gap"] for row in gaps["rows"]] == report["gaps"]["gaps"]
        status, csv = viewer.get("data/table/gaps?format=csv")
        assert status == 200 and csv.decode() == run("gaps", "--csv", CAPTURE).stdout.replace("\n", "\r\n")
        assert viewer.end()[0] == 0


def check_idle_adds_up():
    """The bar of each device adds up to its total, for devices of all kinds."""
    for name in ("torch_denoise", "rocm_conv_8gpu", "jax_multi"):
        with viewing(CAPTURE.with_name(name + ".xplane.pb")) as viewer:
            viewer.ready()
            for bar in viewer.json("data/summary")["idle"]:
                parts = bar["busy_ps"] + bar["copy_ps"] + sum(cause["ps"] for cause in bar["causes"])
                assert parts == bar["total_ps"], (name, bar)


def check_causes_are_those_of_the_report():
    """Options that change causes change them as those of `report` do."""
    plain = json.loads(run("gaps", "--json", CAPTURE).stdout)
    for options in (("--input", "^watermark$"), ("--min-gap", "1ms")):
        gaps = json.loads(run("gaps", "--json", CAPTURE, *options).stdout)
        assert gaps["causes"] != plain["causes"], options
        with viewing(CAPTURE, *options) as viewer:
            viewer.ready()
            told = viewer.json("data/table/gaps?sort=start&limit=1000")
            assert [row["gap"] for row in told["rows"]] == gaps["gaps"], options
            found = viewer.json("data/summary")["findings"][0]
            assert (found["cause"], found["ps"]) == (gaps["causes"][0]["cause"], gaps["causes"][0]["ps"]), options
    wrong = run("view", CAPTURE, "--input", "(")
    assert wrong.returncode == 2 and "no regular expression" in wrong.stderr, wrong


def sample_keys(page, heading):
    """The keys of the object that the page of the protocol shows below a heading."""
    sample = page.split("\n## %s\n" % heading)[1].split("```")[1]
    depth, last, keys = 0, "", set()
    for token in re.findall(r'"(?:[^"\\]|\\.)*"|[][{}:]', sample):
        depth += (token in "{[") - (token in "}]")
        if token == ":" and depth == 1:
            keys.add(last.strip('"'))
        last = token
    return keys


def check_protocol_page():
    """docs/view-protocol.md shows the keys that the server sends, and says when a refusal is no JSON."""
    page = (TREE / "docs" / "view-protocol.md").read_text()
    with viewing(CAPTURE) as viewer:
        viewer.ready()
        for name in ("meta", "summary", "tracks"):
            assert sample_keys(page, name) == set(viewer.json("data/" + name)), name
        refusals = page.split("\n## Refusals\n")[1].split("\n## ")[0]
        for path, headers, status, is_json in (("data/item", {}, 400, True), ("x" * 9000, {}, 414, True),
                                               ("", {"X": "x" * 100000}, 431, False)):
            told, body = viewer.get(path, **headers)
            assert told == status and body.startswith(b'{"error": "' if is_json else b"<html>"), (told, body)
        assert "32 kB" in refusals and "(414, 431)" in refusals, refusals


def check_refusals():
    with viewing(CAPTURE) as viewer:
        viewer.ready()
        assert viewer.get("data/meta", Host="evil.example")[0] == 403
        assert viewer.get("data/meta", Origin="http://evil.example")[0] == 403
        assert viewer.get("data/meta", **{"Sec-Fetch-Site": "cross-site"})[0] == 403
        assert viewer.get("../" * 8 + "etc/passwd")[0] == 404
        viewer.base = "/" + "0" * 32 + "/"
        assert viewer.get("")[0] == 403


def check_assets():
    """A folder is served as it is at the moment of the request."""
    with tempfile.TemporaryDirectory() as folder:
        page = pathlib.Path(folder) / "index.html"
        page.write_text("first")
        with viewing(CAPTURE, "--assets", folder) as viewer:
            assert viewer.get("") == (200, b"first")
            page.write_text("second")
            assert viewer.get("") == (200, b"second")
            assert viewer.get("main.js")[0] == 404


def check_ports():
    with viewing(CAPTURE) as first, viewing(CAPTURE) as second:
        assert first.port != second.port
        taken = run("view", CAPTURE, "--port", first.port)
        assert taken.returncode == 3 and "Leave --port out" in taken.stderr and not taken.stdout, taken
    with socket.create_server(("127.0.0.1", 0)) as probe:
        free = probe.getsockname()[1]
    with viewing(CAPTURE, "--port", free) as viewer:
        assert viewer.port == free
    assert run("view", CAPTURE, "--port", "65536").returncode == 2


def check_captures_that_cannot_be_read():
    """No address is printed for what cannot be opened; what can be read in part is shown and told."""
    with tempfile.TemporaryDirectory() as folder:
        empty = pathlib.Path(folder) / "empty.xplane.pb"
        empty.write_bytes(b"")
        for path in (empty, pathlib.Path(folder) / "missing.xplane.pb", folder):
            result = run("view", path)
            assert result.returncode == 3 and not result.stdout and result.stderr, result
    with viewing(TREE / "tests" / "data" / "scenarios" / "s20_truncated.xplane.pb") as viewer:
        assert viewer.ready()["partial"]
        assert viewer.json("data/meta")["hosts"][0]["status"] == "truncated"
        status, messages = viewer.end()
        assert status == 5 and "truncated" in messages, (status, messages)


def check_signals():
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        with viewing(CAPTURE) as viewer:
            viewer.ready()
            status, messages = viewer.end(number)
            assert status == 0 and "Ctrl-C" in messages, (status, messages)
    with viewing(CAPTURE) as viewer:  # perhaps while it is still being read
        assert viewer.end()[0] == 0


def check_nothing_is_written():
    with tempfile.TemporaryDirectory() as folder:
        copy = pathlib.Path(folder) / "vm.xplane.pb"
        shutil.copy(CAPTURE, copy)
        with viewing(folder) as viewer:
            viewer.ready()
            viewer.json("data/table/gaps")
            viewer.end()
        assert [path.name for path in pathlib.Path(folder).rglob("*")] == ["vm.xplane.pb"]


def main():
    checks = [check for name, check in sorted(globals().items()) if name.startswith("check_")]
    for check in checks:
        check()
    print("%d checks passed" % len(checks))


main()
