#!/usr/bin/env python3
"""Hold random programs of views, updates in place and arithmetic against NumPy.

    tests/lazy/programs.py --library build/libxlalazy.so [--plugin PATH] [--count 400] [--first 0]

Each program runs in several modes: as one graph, with barriers at random places, eagerly, and each with fresh views as
well.  All tensors that are alive at its end are compared, and those that are read on the way.  A failed program is named
by its number: --first N --count 1 runs it alone, and --verbose tells its operations.

Whole numbers are used, so that all results are exact.  A tensor of the reference is a base and, for each element, its
place there: so every view shares memory, also where NumPy would copy.
"""
import argparse
import gc
import pathlib
import random
import sys

import numpy as np

import xl

KINDS = ("i32", "i64", "u8")
LENGTH = 40  # operations of a program
MOST = 14  # tensors alive


class Mirror:
    """What a tensor should be."""

    def __init__(self, base, places, kind, is_repeated=False):
        self.base, self.places, self.type, self.is_repeated = base, places, kind, is_repeated

    @staticmethod
    def of(array, kind):
        array = np.asarray(array).astype(xl.DTYPES[kind])
        return Mirror(array.reshape(-1).copy(), np.arange(array.size).reshape(array.shape), kind)

    def value(self):
        return self.base[self.places]

    @property
    def shape(self):
        return self.places.shape

    def view(self, places, repeats=False):
        return Mirror(self.base, places, self.type, self.is_repeated or repeats)


class Program:
    def __init__(self, number, mode, log):
        self.choose, self.chance = random.Random(number), random.Random("%d %s" % (number, mode))
        self.has_barriers, self.log, self.pairs = "barriers" in mode, log, []

    # ---------------------------------------------------------------- choices

    def any(self):
        return self.choose.choice(self.pairs)

    def any_of_rank(self, least):
        found = [p for p in self.pairs if len(p[1].shape) >= least]
        return self.choose.choice(found) if found else None

    def any_dim(self, mirror):
        return self.choose.randrange(-len(mirror.shape), len(mirror.shape))

    def extents(self, rank):
        return tuple(self.choose.choice((1, 2, 2, 3, 3, 4, 5, 0) if self.choose.random() < 0.2 else (1, 2, 3, 4))
                     for _ in range(rank))

    def add(self, text, tensor, mirror):
        self.log("%s -> #%d %s%s" % (text, len(self.pairs), mirror.type, list(mirror.shape)))
        self.pairs.append((tensor, mirror))
        if tensor.shape != mirror.shape or tensor.type != mirror.type:
            raise AssertionError("%s gives %s%s, right is %s%s" % (text, tensor.type, tensor.shape, mirror.type,
                                                                  mirror.shape))

    def name(self, pair):
        return "#%d" % next(i for i, p in enumerate(self.pairs) if p is pair)

    # ---------------------------------------------------------------- operations

    def make(self):
        kind, shape = self.choose.choice(KINDS), self.extents(self.choose.randrange(4))
        which = self.choose.randrange(3)
        number = self.choose.randrange(9)
        if which == 0:
            self.add("full %d" % number, xl.full(kind, shape, number), Mirror.of(np.full(shape, number), kind))
        elif which == 1:
            n = self.choose.randrange(8)
            self.add("arange %d" % n, xl.arange(kind, 0, n, 1), Mirror.of(np.arange(n), kind))
        else:
            values = np.random.default_rng(number).integers(0, 100, shape).astype(xl.DTYPES[kind])
            self.add("from_host", xl.tensor(values, kind), Mirror.of(values, kind))

    def reshape(self):
        pair = self.any()
        x, m = pair
        sizes = [m.places.size] if m.places.size else [0, 3]
        for n in (2, 3, 4):
            if sizes[-1] % n == 0 and sizes[-1] > 0 and self.choose.random() < 0.5:
                sizes = sizes[:-1] + [n, sizes[-1] // n]
        self.choose.shuffle(sizes)
        if m.places.size == 1 and self.choose.random() < 0.5:
            sizes = []
        self.add("reshape %s" % self.name(pair), xl.reshape(x, tuple(sizes)), m.view(m.places.reshape(sizes)))

    def permute(self):
        pair = self.any_of_rank(2)
        if pair is None:
            return
        x, m = pair
        order = list(range(len(m.shape)))
        self.choose.shuffle(order)
        self.add("permute %s %s" % (self.name(pair), order), xl.permute(x, order), m.view(m.places.transpose(order)))

    def transpose(self):
        pair = self.any_of_rank(1)
        if pair is None:
            return
        x, m = pair
        a, b = self.any_dim(m), self.any_dim(m)
        self.add("transpose %s %d %d" % (self.name(pair), a, b), xl.transpose(x, a, b), m.view(m.places.swapaxes(a, b)))

    def slice(self):
        pair = self.any_of_rank(1)
        if pair is None:
            return
        x, m = pair
        dim, start, end = self.any_dim(m), self.choose.randrange(-4, 4), self.choose.randrange(-3, 7)
        step = self.choose.randrange(1, 4)
        index = [np.s_[:]] * len(m.shape)
        index[dim] = np.s_[start:end:step]
        self.add("slice %s %d %d:%d:%d" % (self.name(pair), dim, start, end, step), xl.slice(x, dim, start, end, step),
                 m.view(m.places[tuple(index)]))

    def select(self):
        pair = self.any_of_rank(1)
        if pair is None:
            return
        x, m = pair
        dim = self.any_dim(m)
        if m.shape[dim] == 0:
            return
        at = self.choose.randrange(-m.shape[dim], m.shape[dim])
        self.add("select %s %d %d" % (self.name(pair), dim, at), xl.select(x, dim, at),
                 m.view(np.take(m.places, at, dim)))

    def expand(self):
        pair = self.any()
        x, m = pair
        shape = [self.choose.randrange(4) if n == 1 and self.choose.random() < 0.5 else n for n in m.shape]
        shape = list(self.extents(self.choose.randrange(2))) + shape
        if len(shape) > 5:
            return
        places = np.broadcast_to(m.places, shape)
        self.add("expand %s" % self.name(pair), xl.expand(x, tuple(shape)), m.view(places, places.size not in (0, m.places.size)))

    def unsqueeze(self):
        pair = self.any()
        x, m = pair
        if len(m.shape) > 4:
            return
        dim = self.choose.randrange(-len(m.shape) - 1, len(m.shape) + 1)
        self.add("unsqueeze %s %d" % (self.name(pair), dim), xl.unsqueeze(x, dim), m.view(np.expand_dims(m.places, dim)))

    def squeeze(self):
        pair = self.any_of_rank(1)
        if pair is None:
            return
        x, m = pair
        dim = self.any_dim(m)
        self.add("squeeze %s %d" % (self.name(pair), dim), xl.squeeze(x, dim),
                 m.view(m.places.squeeze(dim) if m.shape[dim] == 1 else m.places))

    def flatten(self):
        pair = self.any_of_rank(1)
        if pair is None:
            return
        x, m = pair
        a = self.choose.randrange(len(m.shape))
        b = self.choose.randrange(a, len(m.shape))
        shape = m.shape[:a] + (int(np.prod(m.shape[a:b + 1])),) + m.shape[b + 1:]
        self.add("flatten %s %d %d" % (self.name(pair), a, b), xl.flatten(x, a, b), m.view(m.places.reshape(shape)))

    def detach(self):
        pair = self.any()
        self.add("detach %s" % self.name(pair), xl.detach(pair[0]), pair[1].view(pair[1].places))

    def copy(self):
        pair = self.any()
        which = self.choose.choice(("clone", "flip", "neg")) if pair[1].shape else "clone"
        if which == "flip":
            got, want = xl.flip(pair[0], 0), np.flip(pair[1].value(), 0)
        elif which == "neg" and pair[1].type != "u8":
            got, want = xl.neg(pair[0]), -pair[1].value()
        else:
            got, want = xl.clone(pair[0]), pair[1].value()
        self.add("%s %s" % (which, self.name(pair)), got, Mirror.of(want, pair[1].type))

    def fitting(self, shape, *, may_grow):
        """Another tensor that can be broadcast against a shape, to that shape unless it may grow."""
        def fits(mirror):
            try:
                result = np.broadcast_shapes(mirror.shape, shape)
            except ValueError:
                return False
            return len(result) <= 5 and np.prod(result) <= 200 if may_grow else result == shape
        found = [p for p in self.pairs if fits(p[1])]
        return self.choose.choice(found) if found else None

    def arithmetic(self):
        pair = self.any()
        other = self.fitting(pair[1].shape, may_grow=True)
        if other is None:
            return
        which = self.choose.choice(("add", "sub", "mul"))
        function = {"add": np.add, "sub": np.subtract, "mul": np.multiply}[which]
        kind = max(pair[1].type, other[1].type, key=xl.WIDTH.index)
        want = function(pair[1].value().astype(xl.DTYPES[kind]), other[1].value().astype(xl.DTYPES[kind]))
        self.add("%s %s %s" % (which, self.name(pair), self.name(other)), getattr(xl, which)(pair[0], other[0]),
                 Mirror.of(want, kind))

    def join(self):
        pair = self.any()
        others = [p for p in self.pairs if p[1].shape == pair[1].shape]
        parts = [self.choose.choice(others) for _ in range(self.choose.randrange(1, 4))]
        if len(pair[1].shape) > 4 or pair[1].places.size > 100:
            return
        kind = max((p[1].type for p in parts), key=xl.WIDTH.index)
        dim = self.choose.randrange(len(pair[1].shape) + 1)
        self.add("stack %s" % " ".join(self.name(p) for p in parts), xl.stack([p[0] for p in parts], dim),
                 Mirror.of(np.stack([p[1].value().astype(xl.DTYPES[kind]) for p in parts], dim), kind))

    # ---------------------------------------------------------------- updates

    def update(self):
        pair = self.any()
        x, m = pair
        other = self.fitting(m.shape, may_grow=False)
        which = self.choose.choice(("add_", "sub_", "mul_", "copy_", "fill_", "zero_", "add_scalar_", "mul_scalar_",
                                    "relu_", "add_scaled_", "addcmul_"))
        kind = max(m.type, other[1].type, key=xl.WIDTH.index)
        a, b = m.value().astype(xl.DTYPES[kind]), other[1].value().astype(xl.DTYPES[kind])
        number = self.choose.randrange(-3, 4) if m.type != "u8" else self.choose.randrange(4)
        y = other[0]
        call, want = {
            "add_": (lambda: xl.add_(x, y), a + b),
            "sub_": (lambda: xl.sub_(x, y), a - b),
            "mul_": (lambda: xl.mul_(x, y), a * b),
            "copy_": (lambda: xl.copy_(x, y), np.broadcast_to(b, m.shape)),
            "fill_": (lambda: xl.fill_(x, number), np.full(m.shape, number)),
            "zero_": (lambda: xl.zero_(x), np.zeros(m.shape)),
            "add_scalar_": (lambda: xl.add_scalar_(x, number), m.value() + np.asarray(number).astype(m.value().dtype)),
            "mul_scalar_": (lambda: xl.mul_scalar_(x, number), m.value() * np.asarray(number).astype(m.value().dtype)),
            "relu_": (lambda: xl.relu_(x), np.maximum(m.value(), 0)),
            "add_scaled_": (lambda: xl.add_scaled_(x, y, 2), a + b * 2),
            "addcmul_": (lambda: xl.addcmul_(x, y, y, 3), a + 3 * (b * b)),
        }[which]
        self.log("%s %s %s%s" % (which, self.name(pair), self.name(other), ", refused" if m.is_repeated else ""))
        if m.is_repeated:
            try:
                call()
            except xl.Error as error:
                assert "clone" in str(error), error
                return
            raise AssertionError("an update of memory that several elements share was not refused")
        call()
        m.base[m.places] = np.asarray(want).astype(m.base.dtype)

    # ---------------------------------------------------------------- looking, freeing, barriers

    def check(self, pair):
        got, want = pair[0].numpy(), pair[1].value()
        if not np.array_equal(got, want):
            raise AssertionError("%s is\n%s\nright is\n%s" % (self.name(pair), got, want))

    def free(self):
        del self.pairs[self.choose.randrange(len(self.pairs))]

    def barrier(self):
        which = self.chance.randrange(4)
        self.log("barrier %d" % which)
        if which < 2:
            xl.sync()
        elif which == 2:
            xl.sync_tensors([p[0] for p in self.pairs if self.chance.random() < 0.5])
        else:
            self.check(self.chance.choice(self.pairs))

    def run(self):
        views = (self.reshape, self.permute, self.transpose, self.slice, self.select, self.expand, self.unsqueeze,
                 self.squeeze, self.flatten, self.detach)
        others = (self.copy, self.arithmetic, self.join)
        self.make()
        for _ in range(LENGTH):
            draw = self.choose.random()
            if len(self.pairs) < 3 or draw < 0.08:
                self.make()
            elif draw < 0.45:
                self.choose.choice(views)()
            elif draw < 0.6:
                self.choose.choice(others)()
            elif draw < 0.93:
                self.update()
            while len(self.pairs) > MOST or (len(self.pairs) > 3 and self.choose.random() < 0.1):
                self.free()
            if self.has_barriers and self.chance.random() < 0.2:
                self.barrier()
        for pair in self.pairs:
            self.check(pair)


MODES = ("lazy", "lazy barriers", "lazy barriers fresh", "eager", "eager fresh")


def run(kind, number, mode, log):
    """Why a program failed, or nothing."""
    xl.set_eager("eager" in mode)
    xl.library.xl_set_fresh_views("fresh" in mode)
    try:
        kind(number, mode, log).run()
    except (xl.Error, AssertionError) as error:
        return "program %d, %s: %s" % (number, mode, error)
    finally:
        xl.set_eager(False)
        xl.library.xl_set_fresh_views(False)
    return None


def main(kind, text):
    parser = argparse.ArgumentParser(description=text.splitlines()[0])
    parser.add_argument("--library", required=True, help="libxlalazy.so")
    parser.add_argument("--plugin", default="embedded", help="the device to run on")
    parser.add_argument("--first", type=int, default=0, help="number of the first program")
    parser.add_argument("--count", type=int, default=400, help="how many programs")
    parser.add_argument("--verbose", action="store_true", help="print each operation")
    args = parser.parse_args()
    xl.load(pathlib.Path(args.library).resolve())
    xl.library.xl_set_fresh_views.argtypes = [xl.ctypes.c_bool]
    xl.open_device(args.plugin)
    log = print if args.verbose else lambda text: None
    np.seterr(over="ignore")
    problems = [p for n in range(args.first, args.first + args.count) for m in MODES if (p := run(kind, n, m, log))]
    for problem in problems[:10]:
        print(problem)
    gc.collect()
    left = xl.nodes_alive()
    print("%d programs in %d modes, %d failed, %d nodes left" % (args.count, len(MODES), len(problems), left))
    xl.shutdown()
    sys.exit(1 if problems or left > 64 else 0)


if __name__ == "__main__":
    main(Program, __doc__)
