#!/usr/bin/env python3
"""JAX on a PJRT plugin.  Runs inside the environment of JAX.

    jax_device_peer.py PLUGIN    lists the devices, moves an array there and back, and tries to compute; prints JSON
"""
import json
import os
import sys

os.environ["JAX_PLATFORMS"] = "xlaprof"

# pylint: disable=wrong-import-position
import jax
import numpy
from jax._src import xla_bridge


def main(path):
    xla_bridge.register_plugin("xlaprof", library_path=path)
    array = jax.device_put(numpy.arange(6, dtype=numpy.float32).reshape(2, 3))
    try:
        problem = str(jax.numpy.add(array, 1))
    except jax.errors.JaxRuntimeError as error:
        problem = str(error)
    print(json.dumps({"devices": [d.device_kind for d in jax.devices()], "array": numpy.asarray(array).tolist(),
                      "problem": problem}))


if __name__ == "__main__":
    main(sys.argv[1])
