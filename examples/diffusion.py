"""What the diffusion examples of torch_xla and JAX share: the watermark, the options, and the end: report and check."""
import argparse
import contextlib
import pathlib
import shutil
import subprocess
import tempfile

import numpy

HERE = pathlib.Path(__file__).resolve().parent
IMAGES, STEPS = 2, 5


def watermark(image):
    """Hides a pattern in the spectrum of an image, block by block as libraries for it do: work for the host, in NumPy."""
    pattern = numpy.random.default_rng(7).standard_normal((3, 512, 512))
    image = numpy.kron(image, numpy.ones((512 // image.shape[1], 512 // image.shape[2])))
    for _ in range(4):
        spectrum = numpy.fft.fft2(image)
        image = numpy.fft.ifft2(spectrum + 0.01 * pattern * numpy.abs(spectrum)).real
    return float(numpy.abs(image).mean())


def options(doc):
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fixed", action="store_true", help="the scheduler works on the device")
    parser.add_argument("--plain", action="store_true", help="no annotations")
    parser.add_argument("--logdir", metavar="FOLDER", help="keep the capture there")
    parser.add_argument("--xlaprof", default=shutil.which("xlaprof") or HERE.parent / "build" / "xlaprof", metavar="PROGRAM")
    return parser


def folder(o):
    """Where the capture goes, as a context: it is removed at the end unless the user named it."""
    return contextlib.nullcontext(o.logdir) if o.logdir else tempfile.TemporaryDirectory()


def report_and_check(o, logdir, marks, scopes="text,unet,scheduler.step,vae"):
    """The exit status of the check."""
    print("watermarks:", *("%.4f" % m for m in marks), flush=True)
    subprocess.run([o.xlaprof, "report", logdir], check=True)
    print(flush=True)
    expected = HERE / ("diffusion_fixed.json" if o.fixed else "diffusion.json")
    command = [o.xlaprof, "check", logdir, "--step", "denoise", "--scopes", scopes, "--expect", expected,
               "--floor", "5"]  # a device made of processors is interrupted by whatever else they do
    return subprocess.run(command, check=False).returncode
