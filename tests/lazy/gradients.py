"""Gradients against central differences of the NumPy reference, which computes in float64."""
import numpy as np

import xl

STEP = 1e-5
BF16_TOLERANCE = 4e-2  # of the largest one: 8 bits for each value, and again for each operation on the way


def differences(function, array):
    """The derivative of a number by each element of an array, which is changed and put back."""
    flat, result = array.reshape(-1), np.empty(array.size)
    for i in range(flat.size):
        value = flat[i]
        flat[i] = value + STEP
        above = function()
        flat[i] = value - STEP
        result[i] = (above - function()) / (2 * STEP)
        flat[i] = value
    return result.reshape(array.shape)


def reference_of(case, inputs, types, weights):
    """By how much the weighted sum of the results grows with each element of the bases."""
    bases = [i.base.astype(np.float64) if i.base.dtype == np.float32 else i.base for i in inputs]

    def weighted():
        with np.errstate(all="ignore"):
            out = case.reference(*[i.view(b) for i, b in zip(inputs, bases)], *case.args)
        return float(np.sum(np.asarray(out) * weights))

    return {k: differences(weighted, bases[k]) for k in case.grad}


def gradients_of(case, inputs, weights, kind):
    """The same by the library."""
    uploaded = [i.upload()[0] for i in inputs]
    for k in case.grad:
        uploaded[k].requires_grad()
    result = case.call(*[i.lazy_view(base) for i, base in zip(inputs, uploaded)])
    result.backward(xl.tensor(weights, kind))
    for k in case.grad:
        assert uploaded[k].grad is not None, "input %d has no gradient" % k
    return {k: uploaded[k].grad for k in case.grad}


def compare(case, kind, got, want):
    """Why they differ, or nothing."""
    tolerance = BF16_TOLERANCE if kind == "bf16" else case.grad_tolerance
    for k, right in want.items():
        array = got[k].numpy()
        if array.shape != right.shape:
            return "the gradient of input %d has the shape %s, right is %s" % (k, array.shape, right.shape)
        allowed = tolerance * max(1.0, float(np.max(np.abs(right), initial=0)))
        wrong = ~(np.abs(array - right) <= allowed)
        if np.any(wrong):
            at = tuple(int(i) for i in np.argwhere(wrong)[0])
            return "the gradient of input %d at %s is %r, the difference is %r" % (k, at, float(array[at]), float(right[at]))
    return None
