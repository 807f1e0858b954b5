#!/usr/bin/env python3
"""The same counters and metrics in torch_xla and in libxlaprof, read in every way that torch_xla.debug.metrics has.

    metrics_peer.py                             inside the environment of torch_xla: raises them by small programs
    metrics_peer.py LIBXLAPROF FOLDER RAISED    raises what the file says again, by the library; FOLDER has xlaprof.py

Both print what they read, as JSON.
"""
import ctypes
import json
import os
import sys
import time

CHOSEN = ["UncachedCompile", "MarkStep", "NoSuch"], ["InboundData", "TensorsGraphSize", "NoSuch", "CompileTime"]


def raise_theirs():
    import torch  # pylint: disable=import-outside-toplevel
    import torch_xla  # pylint: disable=import-outside-toplevel
    import torch_xla.debug.metrics as met  # pylint: disable=import-outside-toplevel
    x = torch.randn(64, 64).to(torch_xla.device())
    torch_xla.sync(wait=True)
    met.clear_all()
    for i in range(3):
        y = (x @ x + i * 3.5).sum()
        torch_xla.sync(wait=True)
        y.item()
    (x > 0).nonzero().cpu()
    time.sleep(0.3)  # another thread adds the samples of executions
    return met


def raise_ours(library, raised):
    """Units are those of the report's text, which the other side read."""
    library.xp_counter_get.restype = library.xp_metric_get.restype = ctypes.c_void_p
    library.xp_counter_add.argtypes = [ctypes.c_void_p, ctypes.c_int64]
    library.xp_metric_add_at.argtypes = [ctypes.c_void_p, ctypes.c_double, ctypes.c_int64]
    for name, value in raised["counters"].items():
        library.xp_counter_add(library.xp_counter_get(name.encode()), value)
    for name, samples in raised["metrics"].items():
        metric = library.xp_metric_get(name.encode(), raised["units"][name])
        for seconds, value in samples:
            library.xp_metric_add_at(metric, value, round((seconds - samples[0][0]) * 1e9))


def unit_of(report, name):
    line = report.split("Metric: %s\n" % name)[1].split("\n")[1]
    return 1 if line.endswith("us") else 2 if line.endswith("B") else 0


def read(met):
    report = met.metrics_report()
    counters, metrics = sorted(met.counter_names()), sorted(met.metric_names())
    data = {name: met.metric_data(name) for name in metrics}
    values = {name: met.counter_value(name) for name in counters}
    result = {
        "counter_names": counters, "metric_names": metrics, "values": values, "data": data,
        "fallback_ops": sorted(met.executed_fallback_ops()), "unknown": [met.counter_value("No"), met.metric_data("No")],
        "report": report, "short": met.short_metrics_report(), "chosen": met.short_metrics_report(*CHOSEN),
        "raised": {"counters": values, "metrics": {name: row[2] for name, row in data.items()},
                   "units": {name: unit_of(report, name) for name in metrics}}}
    met.clear_all()
    result["cleared"] = [met.counter_names(), met.metric_names(), met.executed_fallback_ops(),
                         met.counter_value(counters[0]), met.metric_data(metrics[0]), met.metrics_report()]
    return result


def main():
    if len(sys.argv) == 1:
        met = raise_theirs()
    else:
        os.environ["XLAPROF_LIBRARY"] = sys.argv[1]
        sys.path.insert(0, sys.argv[2])
        import xlaprof as met  # pylint: disable=import-outside-toplevel
        with open(sys.argv[3], encoding="utf-8") as raised:
            raise_ours(ctypes.CDLL(sys.argv[1]), json.load(raised))
    print(json.dumps(read(met)))


if __name__ == "__main__":
    main()
