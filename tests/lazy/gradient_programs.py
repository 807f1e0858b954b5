#!/usr/bin/env python3
"""Hold gradients of random programs of views, updates in place and arithmetic against derivatives that NumPy carries along.

    tests/lazy/gradient_programs.py --library build/libxlalazy.so [--plugin PATH] [--count 400] [--first 0]

The programs are those of programs.py in f32, with leaves, and steps inside of XL_NO_GRAD.  The reference has, beside each
element, its derivatives by all elements of all leaves (forward, where the library goes backward).  Memory that was
detached is the same memory with other derivatives.  What torch refuses has to be refused: updates of leaves, of views of
them, of views that were taken inside of XL_NO_GRAD, and uses of these after an update.  What a gradient needs is cloned,
so that no update is in its way.
"""
import numpy as np

import programs
import xl

LENGTH = 30  # operations of a program
MOST = 12  # tensors alive
LEAVES = ((2, 3), (4,), ())
PARAMETERS = sum(int(np.prod(shape)) for shape in LEAVES)
NUMBERS = (-1.5, -0.5, 0.25, 0.5, 1.5)


class Memory:
    """Elements, and how often they were updated."""

    def __init__(self, values):
        self.values, self.updates = values, 0


class Base:
    """What gradients know: the derivatives of the elements of a memory."""

    def __init__(self, derivatives, has_gradient, is_leaf=False):
        self.derivatives, self.has_gradient, self.is_leaf = derivatives, has_gradient, is_leaf


class Mirror:
    """What a tensor should be.  A view that was taken inside of XL_NO_GRAD is constant."""

    is_recording = True

    def __init__(self, memory, base, places, *, is_repeated=False, is_constant=False, is_view=False):
        self.memory, self.base, self.places, self.type = memory, base, places, "f32"
        self.is_repeated, self.is_constant, self.is_view, self.seen = is_repeated, is_constant, is_view, memory.updates

    @staticmethod
    def of(values, derivatives=None, has_gradient=False, is_leaf=False):
        values = np.asarray(values, np.float64)
        if derivatives is None or not has_gradient:
            derivatives = np.zeros(values.shape + (PARAMETERS,))
        return Mirror(Memory(values.reshape(-1).copy()), Base(derivatives.reshape(-1, PARAMETERS).copy(), has_gradient, is_leaf),
                      np.arange(values.size).reshape(values.shape))

    @property
    def shape(self):
        return self.places.shape

    @property
    def has_gradient(self):
        return self.base.has_gradient and not self.is_constant

    def value(self):
        return self.memory.values[self.places]

    def derivatives(self):
        found = self.base.derivatives[self.places]
        return np.zeros_like(found) if self.is_constant else found

    def view(self, places, repeats=False):
        return Mirror(self.memory, self.base, places, is_repeated=self.is_repeated or repeats, is_view=True,
                      is_constant=self.is_constant or not Mirror.is_recording)

    def detached(self):
        zeros = np.zeros((self.memory.values.size, PARAMETERS))
        return Mirror(self.memory, Base(zeros, False), self.places, is_repeated=self.is_repeated)

    def may_be_used(self):
        fell_behind = self.is_constant and self.seen != self.memory.updates
        return not (Mirror.is_recording and fell_behind and self.base.has_gradient)

    def may_be_updated(self, has_gradient):
        if not Mirror.is_recording or not (has_gradient or self.base.has_gradient):
            return True
        return not (self.base.is_leaf or (self.is_view and self.is_constant))

    def update(self, values, derivatives, has_gradient):
        self.memory.values[self.places] = values
        self.memory.updates += 1
        if Mirror.is_recording:
            self.base.derivatives[self.places] = derivatives
            self.base.has_gradient |= has_gradient


def times(derivatives, values):
    return derivatives * np.asarray(values)[..., None]


def spread(derivatives, shape):
    return np.broadcast_to(derivatives.reshape((1,) * (len(shape) - derivatives.ndim + 1) + derivatives.shape),
                           tuple(shape) + (PARAMETERS,))


class Program(programs.Program):
    def __init__(self, number, mode, log):
        super().__init__(number, mode, log)
        self.random, self.picked, self.leaves = np.random.default_rng(number), [], []

    # ---------------------------------------------------------------- choices

    def any(self):
        self.picked.append(super().any())
        return self.picked[-1]

    def any_of_rank(self, least):
        found = super().any_of_rank(least)
        self.picked += [found] if found else []
        return found

    def fitting(self, shape, *, may_grow):
        found = super().fitting(shape, may_grow=may_grow)
        self.picked += [found] if found else []
        return found

    def values(self, shape):
        return self.random.integers(-6, 7, shape) / 4

    def pure(self, pair):
        """A clone of a tensor, which nobody updates."""
        return xl.clone(pair[0])

    # ---------------------------------------------------------------- operations

    def make_leaves(self):
        first = 0
        for shape in LEAVES:
            values, size = self.values(shape), int(np.prod(shape))
            derivatives = np.eye(PARAMETERS)[first:first + size].reshape(tuple(shape) + (PARAMETERS,))
            leaf = xl.tensor(values.astype(np.float32), "f32").requires_grad()
            self.add("leaf", leaf, Mirror.of(values, derivatives, True, True))
            self.leaves.append(leaf)
            first += size

    def make(self):
        values = self.values(self.extents(self.choose.randrange(4)))
        self.add("from_host", xl.tensor(values.astype(np.float32), "f32"), Mirror.of(values))

    def detach(self):
        pair = self.choose.choice(self.pairs)
        self.add("detach %s" % self.name(pair), xl.detach(pair[0]), pair[1].detached())

    def computed(self, values, derivatives, *operands):
        return Mirror.of(values, derivatives, Mirror.is_recording and any(m.has_gradient for m in operands))

    def copy(self):
        pair = self.any()
        x, m = pair
        which = self.choose.choice(("clone", "neg", "mul_scalar"))
        factor = {"clone": 1, "neg": -1, "mul_scalar": 0.5}[which]
        got = xl.mul_scalar(x, 0.5) if which == "mul_scalar" else getattr(xl, which)(x)
        self.add("%s %s" % (which, self.name(pair)), got, self.computed(factor * m.value(), factor * m.derivatives(), m))

    def arithmetic(self):
        pair = self.any()
        other = self.fitting(pair[1].shape, may_grow=True)
        if other is None:
            return
        (x, m), (y, n) = pair, other
        which = self.choose.choice(("add", "sub", "mul"))
        a, b = m.value(), n.value()
        shape = np.broadcast_shapes(a.shape, b.shape)
        da, db = spread(m.derivatives(), shape), spread(n.derivatives(), shape)
        if which == "mul":
            got = xl.mul(self.pure(pair), self.pure(other))
            want = a * b, times(da, np.broadcast_to(b, shape)) + times(db, np.broadcast_to(a, shape))
        else:
            sign = 1 if which == "add" else -1
            got, want = getattr(xl, which)(x, y), (a + sign * b, da + sign * db)
        self.add("%s %s %s" % (which, self.name(pair), self.name(other)), got, self.computed(*want, m, n))

    def join(self):
        pair = self.any()
        self.add("stack %s twice" % self.name(pair), xl.stack([pair[0], pair[0]], 0),
                 self.computed(np.stack([pair[1].value()] * 2), np.stack([pair[1].derivatives()] * 2), pair[1])) \
            if len(pair[1].shape) < 4 else None

    # ---------------------------------------------------------------- updates

    def update(self):
        pair = self.any()
        other = self.fitting(pair[1].shape, may_grow=False)
        (x, m), (y, n) = pair, other
        which = self.choose.choice(("add_", "sub_", "mul_", "copy_", "copy_", "fill_", "zero_", "mul_scalar_", "add_scaled_"))
        number = self.choose.choice(NUMBERS)
        a, b, da, db = m.value(), n.value(), m.derivatives(), spread(n.derivatives(), m.shape)
        none = np.zeros_like(da)
        call, values, derivatives, has_operand = {
            "add_": (lambda: xl.add_(x, y), a + b, da + db, True),
            "sub_": (lambda: xl.sub_(x, y), a - b, da - db, True),
            "mul_": (lambda: xl.mul_(x, self.pure(other)), a * b, times(da, np.broadcast_to(b, a.shape)) + times(db, a), True),
            "copy_": (lambda: xl.copy_(x, y), np.broadcast_to(b, a.shape), db, True),
            "fill_": (lambda: xl.fill_(x, number), np.full(a.shape, number), none, False),
            "zero_": (lambda: xl.zero_(x), np.zeros(a.shape), none, False),
            "mul_scalar_": (lambda: xl.mul_scalar_(x, number), a * number, da * number, False),
            "add_scaled_": (lambda: xl.add_scaled_(x, y, 0.5), a + 0.5 * b, da + 0.5 * db, True),
        }[which]
        has_gradient = Mirror.is_recording and has_operand and n.has_gradient
        self.log("%s %s %s %g" % (which, self.name(pair), self.name(other), number))
        is_refused = not m.may_be_updated(has_gradient) or not m.may_be_used() or (has_operand and not n.may_be_used())
        if m.is_repeated or is_refused:
            self.is_refused(call, "XL_NO_GRAD" if not m.is_repeated else "")
            return
        call()
        m.update(values, derivatives, has_gradient)

    @staticmethod
    def is_refused(call, words):
        try:
            call()
        except xl.Error as error:
            assert words in str(error), error
            return
        raise AssertionError("it was not refused")

    # ---------------------------------------------------------------- steps

    def do(self, function):
        """One operation, which is refused if what it takes is a view of before."""
        self.picked, count = [], len(self.pairs)
        try:
            function()
        except xl.Error as error:
            if "XL_NO_GRAD" not in str(error) or all(m.may_be_used() for _, m in self.picked):
                raise
            self.log("refused")
            return
        if len(self.pairs) > count and not all(m.may_be_used() for _, m in self.picked):
            raise AssertionError("the use of a view was not refused")

    def step(self, function):
        Mirror.is_recording = self.choose.random() < 0.85
        self.log("recording" if Mirror.is_recording else "not recording")
        xl.set_grad_mode(Mirror.is_recording)
        try:
            self.do(function)
        finally:
            xl.set_grad_mode(True)
            Mirror.is_recording = True

    def free(self):
        del self.pairs[self.choose.randrange(len(self.pairs))]

    def check(self, pair):
        np.testing.assert_allclose(pair[0].numpy(), pair[1].value(), rtol=1e-4, atol=1e-4, err_msg=self.name(pair))

    def backward(self):
        """Of all that is there, weighed."""
        total, want = None, np.zeros(PARAMETERS)
        for x, m in self.pairs:
            if m.has_gradient and m.may_be_used():
                weights = self.values(m.shape)
                part = xl.sum(xl.mul(self.pure((x, m)), xl.tensor(weights.astype(np.float32), "f32")))
                total = part if total is None else xl.add(total, part)
                want += np.tensordot(weights, m.derivatives(), weights.ndim)
        if total is None:
            return
        total.backward()
        got = [np.zeros(s) if leaf.grad is None else leaf.grad.numpy() for s, leaf in zip(LEAVES, self.leaves)]
        np.testing.assert_allclose(np.concatenate([g.reshape(-1) for g in got]), want, rtol=1e-4,
                                   atol=1e-4 * max(1, np.abs(want).max()), err_msg="gradients")

    def run(self):
        views = (self.reshape, self.permute, self.transpose, self.slice, self.select, self.expand, self.unsqueeze,
                 self.squeeze, self.flatten, self.detach)
        others = (self.copy, self.arithmetic, self.join)
        self.make_leaves()
        for _ in range(LENGTH):
            draw = self.choose.random()
            self.step(self.make if draw < 0.08 else self.choose.choice(views) if draw < 0.45 else
                      self.choose.choice(others) if draw < 0.65 else self.update)
            while len(self.pairs) > MOST or (len(self.pairs) > 3 and self.choose.random() < 0.1):
                self.free()
            if self.has_barriers and self.chance.random() < 0.2:
                self.barrier()
        self.backward()
        for pair in self.pairs:
            self.check(pair)


if __name__ == "__main__":
    programs.main(Program, __doc__)
