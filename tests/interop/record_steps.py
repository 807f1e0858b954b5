#!/usr/bin/env python3
"""Train in a loop under the annotations of python/xlaprof.py.

    record_steps.py here LOGDIR    30 steps, in a session of its own
    record_steps.py serve          prints the port of its profiler server; runs steps until standard input ends
"""
import sys
import threading
import time

import xlaprof


@xlaprof.Trace("forward", layers=2)
def forward():
    for layer in range(2):
        with xlaprof.Trace("layer", index=layer, kind="dense"):
            pass


def step(number):
    with xlaprof.StepTrace("train", step_num=number, lr=0.5):
        with xlaprof.Trace("load") as load:
            time.sleep(0.001)
            load.set_metadata(examples=64)
        forward()
        with xlaprof.Trace("backward"):
            with xlaprof.Trace("größe"):
                pass


def here(logdir):
    xlaprof.start_trace(logdir)
    for number in range(30):
        step(number)
    xlaprof.stop_trace()


def serve():
    ended = threading.Event()
    with xlaprof.start_server() as server:
        threading.Thread(target=lambda: (sys.stdin.read(), ended.set()), daemon=True).start()
        print(server.port, flush=True)
        number = 0
        while not ended.is_set():
            step(number)
            number += 1


if __name__ == "__main__":
    {"here": here, "serve": serve}[sys.argv[1]](*sys.argv[2:])
