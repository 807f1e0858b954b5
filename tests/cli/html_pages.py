#!/usr/bin/env python3
"""Check the pages of `xlaprof report --html` with the parser of Python's standard library.

    html_pages.py PROGRAM

For every capture and scenario of the tree: each element that is opened is closed, in order; nothing on the page names
another address or runs anything; the verdict stands in it; a bar's pieces fill it and tell the times of `xlaprof gaps
--json`.  Names that look like markup stay text.  The file is new or there is none: nothing is overwritten, and nothing is
left behind where it cannot be written.
"""
import html.parser
import json
import pathlib
import re
import subprocess
import sys
import tempfile

DATA = pathlib.Path(__file__).resolve().parent.parent / "data"
EMPTY_ELEMENTS = {"meta", "link", "br", "hr", "img", "input"}
ALLOWED = set("html head meta title style body main h1 h2 p b span code figure figcaption svg rect g foreignobject div "
              "table thead tbody tr th td".split())


class Page(html.parser.HTMLParser):
    """The elements of a page, with the texts in them; complaints about its form."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.open, self.complaints, self.texts, self.elements = [], [], {}, []
        self.feed(text)
        self.close()
        self.complaints += ["<%s> is not closed" % tag for tag in self.open]

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in ALLOWED:
            self.complaints.append("<%s> does not belong here" % tag)
        for name, value in attrs:
            if name.startswith("on") or name in ("src", "href", "style", "xlink:href"):
                self.complaints.append("%s=%r in <%s>" % (name, value, tag))
        if tag not in EMPTY_ELEMENTS:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        self.open.pop()

    def handle_endtag(self, tag):
        if not self.open or self.open[-1] != tag:
            self.complaints.append("</%s> closes %s" % (tag, self.open[-1:] or "nothing"))
        else:
            self.open.pop()

    def handle_data(self, data):
        for tag in set(self.open):
            self.texts[tag] = self.texts.get(tag, "") + data

    def handle_decl(self, decl):
        if decl != "DOCTYPE html":
            self.complaints.append("<!%s>" % decl)


def run(program, *words, status=(0, 5)):
    done = subprocess.run([program, *map(str, words)], capture_output=True, timeout=120)
    assert done.returncode in status, (words, done.returncode, done.stderr.decode())
    return done


def bars(text):
    """The pieces of every bar: [[(cause, percent)]]."""
    found = re.findall(r'<svg class="bar".*?</svg>', text, re.S)
    return [[(cause, float(width)) for cause, width in re.findall(r'<rect class="(\w+)" x="[\d.]+%" width="([\d.]+)%"', bar)]
            for bar in found]


def check_bars(text, gaps):
    """Paper calculation from the gaps: the share of each cause in the window of each device."""
    working = [d for d in gaps["devices"] if d["window_ps"]][:64]
    drawn = bars(text)
    assert len(drawn) == len(working), (len(drawn), len(working))
    for device, bar in zip(working, drawn):
        window = device["window_ps"][1] - device["window_ps"][0]
        want = {"busy": device["busy_ps"], "short": device["short_ps"],
                "copies": window - device["busy_ps"] - device["idle_ps"]}
        for gap in gaps["gaps"]:
            if (gap["host"], gap["device"], gap["where"]) == (device["host"], device["name"], "inside"):
                want[gap["cause"]] = want.get(gap["cause"], 0) + gap["dur_ps"]
        want = {cause: 100 * ps / window for cause, ps in want.items() if ps > 0}
        assert set(want) == {cause for cause, _ in bar}, (device["name"], want, bar)
        for cause, percent in bar:
            assert abs(want[cause] - percent) < 0.002, (device["name"], cause, want[cause], percent)
        assert abs(sum(percent for _, percent in bar) - 100) < 0.01, bar


def check_page(program, capture, folder):
    path = folder / "page.html"
    path.unlink(missing_ok=True)
    done = subprocess.run([program, "report", capture, "--html", path], capture_output=True, timeout=120)
    if done.returncode == 3:
        assert not path.exists(), "a page of what cannot be read"
        return None
    assert done.returncode in (0, 5) and done.stdout == b"", done
    text = path.read_bytes().decode("utf-8")
    page = Page(text)
    assert not page.complaints, page.complaints[:5]
    report = json.loads(run(program, "report", capture, "--json").stdout)
    assert report["verdict"].replace("`", "") in page.texts["p"], report["verdict"]
    assert "`" not in page.texts["main"], "names in sentences are set as code"
    assert text.count("<code>") >= report["verdict"].count("`") / 2, report["verdict"]
    check_bars(text, report["gaps"])
    steps = min(8, len(report["steps"]["summary"]))
    assert text.count('<figure class="strip">') <= steps and ("strip" in text or not report["steps"]["steps"]), steps
    return text


def check_hostile(program, folder):
    """Names of the same length as those of the capture, so that its bytes stay in place."""
    capture = folder / "hostile.xplane.pb"
    data = (DATA / "captures" / "torch_denoise.xplane.pb").read_bytes()
    for old, new in ((b"watermark", b"<i>\"'&</i"), (b"scheduler.step", b"<img src=x on>")):
        assert old in data and len(old) == len(new)
        data = data.replace(old, new)
    capture.write_bytes(data)
    text = check_page(program, capture, folder)
    assert "<img" not in text and "<i>" not in text and "&lt;img src=x on&gt;" in text and "&lt;i&gt;&quot;&#39;&amp;&lt;/i" in text


def check_files(program, folder):
    capture, path = DATA / "captures" / "jax_small.xplane.pb", folder / "old.html"
    path.write_text("old")
    for words, said in (((path,), b"exists"), ((folder / "none" / "x.html",), b"No such file"), (("",), b"no name"),
                        ((str(folder) + "/",), b"no name")):
        done = run(program, "report", capture, "--html", *words, status=(2, 3))
        assert said in done.stderr, done.stderr
    assert path.read_text() == "old"
    done = run(program, "gaps", capture, "--html", folder / "x.html", status=(2,))
    assert b"--html acts on report" in done.stderr, done.stderr
    left = sorted(p.name for p in folder.iterdir() if p.name.startswith(".xlaprof"))
    assert not left, left


def main():
    program = pathlib.Path(sys.argv[1]).resolve()
    captures = sorted(DATA.glob("captures/*.xplane.pb")) + sorted(DATA.glob("scenarios/*.xplane.pb")) + [DATA / "scenarios" / "s26_two_hosts"]
    with tempfile.TemporaryDirectory(prefix="xlaprof-html-") as scratch:
        folder = pathlib.Path(scratch)
        for capture in captures:
            try:
                check_page(program, capture, folder)
            except AssertionError as problem:
                raise AssertionError("%s: %s" % (capture.name, problem)) from problem
        check_hostile(program, folder)
        check_files(program, folder)
    print("%d pages are well formed and say what the commands say" % len(captures))


if __name__ == "__main__":
    main()
