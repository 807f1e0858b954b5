#!/usr/bin/env python3
"""Check that tools of torch_xla find the right numbers in a metrics report of ours.

    metrics_text.py PROGRAM

PROGRAM prints the report (metrics_text.c).  What such tools look for, as torch_xla/debug/metrics_compare_utils.py does:
a name without white space, and behind it, with white space only in between, the number of samples and the accumulator,
or the value; times are parts with the units d h m s ms us, of which only us has decimals; bytes are a number with a unit.
"""
import re
import subprocess
import sys

METRIC = re.compile(r"Metric:\s(\S+)\s+TotalSamples:\s([0-9]+)\s+Accumulator:\s(\S+)")
COUNTER = re.compile(r"Counter:\s(\S+)\s+Value:\s([0-9]+)")
PARTS = [("d", 86400, r"\d+"), ("h", 3600, r"\d+"), ("m", 60, r"\d+"), ("s", 1, r"\d+"), ("ms", 1e-3, r"\d+"),
         ("us", 1e-6, r"[\d.]+")]
TIME = re.compile("".join("(?:(%s)%s)?" % (number, unit) for unit, _, number in PARTS))
BYTES = re.compile(r"([\d.]+)([KMGTP]?B)")


def amount(text):
    """The number of an accumulator (seconds, bytes or as it is) and its kind."""
    try:
        return float(text), "value"
    except ValueError:
        pass
    if BYTES.fullmatch(text):
        number, unit = BYTES.fullmatch(text).groups()
        return float(number) * 1024 ** "BKMGTP".index(unit[0]), "bytes"
    parts = TIME.fullmatch(text)
    if not parts:
        sys.exit("%s is no amount" % text)
    return sum(float(n) * seconds for n, (_, seconds, _) in zip(parts.groups(), PARTS) if n), "time"


def main():
    report = subprocess.run([sys.argv[1]], check=True, capture_output=True, text=True).stdout
    metrics = {name: (int(samples), *amount(sum_)) for name, samples, sum_ in METRIC.findall(report)}
    counters = {name: int(value) for name, value in COUNTER.findall(report)}
    right = {"ExecuteTime": (3, 93784.0000004 + 59.99 + 0.0167, "time"), "InboundData": (2, 3 * 1024 ** 2, "bytes"),
             "TensorsGraphSize": (1, 427, "value"), r"a\x20name\x0a\x20\x20TotalSamples:\x209": (1, 1, "value")}
    odd = r"Forged\x0a\x20\x20Value:\x201\x0aCounter:\x20MarkStep"
    wrong = [n for n in {*metrics, *right} if n not in metrics or n not in right or metrics[n][::2] != right[n][::2]
             or abs(metrics[n][1] - right[n][1]) > 1e-9 * right[n][1]]
    if wrong or counters != {"MarkStep": 9, "aten::nonzero": 8, odd: 77}:
        sys.exit("%s\nfound %r and %r, wrong are %r" % (report, metrics, counters, wrong))
    print("%d metrics and %d counters" % (len(metrics), len(counters)))


if __name__ == "__main__":
    main()
