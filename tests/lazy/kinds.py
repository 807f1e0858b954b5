"""Kinds of inputs: how the values of a tensor lie in memory, and which they are.

Each input is a base array and a view of it.  The view of NumPy stands for that of the library; so an update of the view
shows in the base on both sides, and the gradient of the base is that of the view brought back.
"""
import numpy as np

import xl
from xl import FLOATS

SPECIAL_FLOATS = (np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 1.5, 3e38, -3e38, 1e-6, 100.0)
SPECIAL_INTEGERS = {"i32": (0, 1, -1, 2, -7, 2**31 - 1, -2**31), "i64": (0, 1, -1, 2, -7, 2**63 - 1, -2**63),
                    "u8": (0, 1, 2, 7, 255), "bool": (False, True)}


class Input:
    def __init__(self, base, kind, view=lambda x: x, lazy_view=lambda x: x):
        self.base, self.type, self.view, self.lazy_view = xl.rounded(base, kind), kind, view, lazy_view

    def array(self):
        return self.view(self.base)

    def upload(self):
        """The base, and its view."""
        base = xl.tensor(self.base, self.type)
        return base, self.lazy_view(base)


def dense(random, shape, kind, values):
    return Input(values(random, shape, kind), kind)


def transposed(random, shape, kind, values):
    if len(shape) < 2:
        return dense(random, shape, kind, values)
    turned = (shape[-1],) + shape[1:-1] + (shape[0],)
    return Input(values(random, turned, kind), kind, lambda x: x.swapaxes(0, -1), lambda x: xl.transpose(x, 0, -1))


def sliced(random, shape, kind, values):
    """Every second one of the last dimension, from the second on."""
    if len(shape) < 1:
        return dense(random, shape, kind, values)
    extent = 2 * shape[-1]
    return Input(values(random, shape[:-1] + (extent + 1,), kind), kind, lambda x: x[..., 1:extent:2],
                 lambda x: xl.slice(x, -1, 1, extent, 2))


def expanded(random, shape, kind, values):
    if len(shape) < 1:
        return dense(random, shape, kind, values)
    return Input(values(random, (1,) + shape[1:], kind), kind, lambda x: np.broadcast_to(x, shape),
                 lambda x: xl.expand(x, shape))


def flipped(random, shape, kind, values):
    if len(shape) < 1:
        return dense(random, shape, kind, values)
    return Input(values(random, shape, kind), kind, lambda x: x[..., ::-1], lambda x: xl.flip(x, -1))


def with_specials(random, shape, kind, values):
    """Some of the values are special ones."""
    array = np.array(xl.rounded(values(random, shape, kind), kind))
    flat, specials = array.reshape(-1), SPECIAL_FLOATS if kind in FLOATS else SPECIAL_INTEGERS[kind]
    for i in random.permutation(flat.size)[:max(1, flat.size // 3)]:
        flat[i] = specials[random.integers(len(specials))]
    return Input(array, kind)


MAKERS = {"dense": dense, "transposed": transposed, "sliced": sliced, "expanded": expanded, "flipped": flipped}


def all_specials(types, specials):
    """Every special value of each input beside every one of the others; specials: in place of the usual ones of floats."""
    lists = [np.asarray((specials or SPECIAL_FLOATS) if t in FLOATS else SPECIAL_INTEGERS[t]) for t in types]
    return [Input(g.reshape(-1), t) for g, t in zip(np.meshgrid(*lists, indexing="ij"), types)]


def inputs_of(case, shapes, types, kind, values, random):
    """The inputs of one call."""
    if kind == "special" and case.is_elementwise:
        return all_specials(types, case.specials)
    if kind == "special":
        return [with_specials(random, *each) for each in zip(shapes, types, values)]
    made = []
    for i, each in enumerate(zip(shapes, types, values)):
        is_updated = case.in_place and i == 0
        maker = dense if is_updated and kind in ("expanded", "flipped") else MAKERS[kind]
        made.append(maker(random, *each))
    return made
