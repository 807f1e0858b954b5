"""Write a training step of JAX with and without scopes, as HLO and as MLIR.  Runs inside the peers' environment.

    aot_programs.py FOLDER
"""
import contextlib
import pathlib
import sys

import jax
import jax.numpy as jnp


def lowered(scope):
    def loss(weights, x, y):
        with scope("fwd"):
            h = jnp.tanh(x @ weights[0])
            with scope("head"):
                out = h @ weights[1]
        with scope("loss"):
            return ((out - y) ** 2).mean()

    def step(weights, x, y):
        value, gradients = jax.value_and_grad(loss)(weights, x, y)
        with scope("sgd"):
            return [w - 0.1 * g for w, g in zip(weights, gradients)], value

    weights = [jnp.ones((256, 256)), jnp.ones((256, 128))]
    return jax.jit(step).lower(weights, jnp.ones((512, 256)), jnp.ones((512, 128)))


folder = pathlib.Path(sys.argv[1])
for name, scope in (("named", jax.named_scope), ("plain", lambda _: contextlib.nullcontext())):
    program = lowered(scope)
    (folder / (name + ".pb")).write_bytes(program.compiler_ir("hlo").as_serialized_hlo_module_proto())
    (folder / (name + ".mlir")).write_text(program.as_text(debug_info=True))
