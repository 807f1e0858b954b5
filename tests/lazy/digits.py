#!/usr/bin/env python3
"""examples/mlp_digits and examples/convnet learn what a plain implementation in NumPy learns from the same pictures.

    digits.py MLP_DIGITS CONVNET

Pictures, initial values, batches and the update are those of the examples, computed a second time here in double; only the
glyphs are read from examples/digits.c.  Losses of every epoch agree to a part in a thousand, accuracies to 1 % of the test
pictures; and one program is compiled for all steps, one for all tests.
"""
import json
import pathlib
import re
import subprocess
import sys

import numpy as np

TREE = pathlib.Path(__file__).resolve().parent.parent.parent
SIDE, CLASSES, BATCH = 8, 10, 50
TRAINING, TEST = 4000, 1000
EPOCHS = {"mlp_digits": 6, "convnet": 1}


# ---------------------------------------------------------------- the pictures

def random(seed, indices):
    """Numbers of a sequence (splitmix64), in [0, 1)."""
    z = np.uint64(seed) + (np.asarray(indices, np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z = z ^ (z >> np.uint64(31))
    return (z >> np.uint64(40)).astype(np.float64) / 2**24


def glyphs():
    rows = re.findall(r'"([01]{5})"', (TREE / "examples" / "digits.c").read_text())
    return np.array([[int(c) for c in row] for row in rows], np.float64).reshape(CLASSES, 7, 5)


def pictures(count, seed):
    shapes, labels = glyphs(), np.arange(count) % CLASSES
    numbers = random(seed, np.arange(count * (SIDE * SIDE + 2))).reshape(count, -1)
    made = numbers[:, 2:].reshape(count, SIDE, SIDE) - 0.5
    for picture, label, x, y in zip(made, labels, (numbers[:, 0] * 4).astype(int), (numbers[:, 1] * 2).astype(int)):
        picture[y:y + 7, x:x + 5] += shapes[label]
    return made.reshape(count, -1), labels


def parameter(number, shape, inputs):
    return ((2 * random(10 + number, np.arange(np.prod(shape))) - 1) / np.sqrt(inputs)).reshape(shape)


# ---------------------------------------------------------------- models: parameters, forward, backward

class Mlp:
    rate = 0.3

    def __init__(self):
        self.p = [parameter(0, (64, SIDE * SIDE), 64), parameter(1, (64,), 64),
                  parameter(2, (CLASSES, 64), 64), parameter(3, (CLASSES,), 64)]

    def forward(self, x):
        self.x, self.h = x, np.maximum(x @ self.p[0].T + self.p[1], 0)
        return self.h @ self.p[2].T + self.p[3]

    def backward(self, g):
        gh = (g @ self.p[2]) * (self.h > 0)
        return [gh.T @ self.x, gh.sum(0), g.T @ self.h, g.sum(0)]


def patches(x):
    """[n, c, h, w] to [n, h, w, c * 9]: what a 3x3 kernel sees at every place, with zeros around."""
    padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), axis=(2, 3))
    n, c, h, w = x.shape
    return windows.transpose(0, 2, 3, 1, 4, 5).reshape(n, h, w, c * 9)


def convolve(x, weight):
    return (patches(x) @ weight.reshape(len(weight), -1).T).transpose(0, 3, 1, 2)


def conv_gradients(x, weight, g):
    """Of the input, the weight and the bias."""
    gw = np.tensordot(g.transpose(0, 2, 3, 1), patches(x), ((0, 1, 2), (0, 1, 2))).reshape(weight.shape)
    back = weight[:, :, ::-1, ::-1].transpose(1, 0, 2, 3)
    return convolve(g, back), gw, g.sum((0, 2, 3))


class Convnet:
    rate = 0.15

    def __init__(self):
        self.p = [parameter(0, (8, 1, 3, 3), 9), parameter(1, (8,), 9), parameter(2, (16, 8, 3, 3), 72),
                  parameter(3, (16,), 72), parameter(4, (CLASSES, 256), 256), parameter(5, (CLASSES,), 256)]

    def forward(self, x):
        p = self.p
        self.x = x.reshape(-1, 1, SIDE, SIDE)
        self.a = np.maximum(convolve(self.x, p[0]) + p[1][:, None, None], 0)
        self.b = np.maximum(convolve(self.a, p[2]) + p[3][:, None, None], 0)
        self.f = self.b.reshape(-1, 16, 4, 2, 4, 2).mean((3, 5)).reshape(len(x), -1)
        return self.f @ p[4].T + p[5]

    def backward(self, g):
        gf = (g @ self.p[4]).reshape(-1, 16, 4, 1, 4, 1) / 4
        gb = np.broadcast_to(gf, (len(g), 16, 4, 2, 4, 2)).reshape(self.b.shape) * (self.b > 0)
        ga, gw2, gb2 = conv_gradients(self.a, self.p[2], gb)
        _, gw1, gb1 = conv_gradients(self.x, self.p[0], ga * (self.a > 0))
        return [gw1, gb1, gw2, gb2, g.T @ self.f, g.sum(0)]


def train(model, epochs):
    """[{"loss", "accuracy"}] of each epoch."""
    x, y = pictures(TRAINING, 1)
    test_x, test_y = pictures(TEST, 2)
    result = []
    for _ in range(epochs):
        losses = []
        for start in range(0, TRAINING, BATCH):
            labels = y[start:start + BATCH]
            z = model.forward(x[start:start + BATCH])
            z = z - z.max(1, keepdims=True)
            probabilities = np.exp(z) / np.exp(z).sum(1, keepdims=True)
            losses.append(-np.log(probabilities[np.arange(BATCH), labels]).mean())
            probabilities[np.arange(BATCH), labels] -= 1
            for value, slope in zip(model.p, model.backward(probabilities / BATCH)):
                value -= model.rate * slope
        found = model.forward(test_x).argmax(1)
        result.append({"loss": np.mean(losses), "accuracy": (found == test_y).mean()})
    return result


# ---------------------------------------------------------------- the comparison

def compare(program, model):
    name = pathlib.Path(program).name
    epochs = EPOCHS[name]
    run = subprocess.run([program, "--epochs", str(epochs), "--json"], capture_output=True, text=True)
    if run.returncode != 0:
        return ["%s: exit status %d\n%s" % (name, run.returncode, run.stderr)]
    got, want, problems = json.loads(run.stdout), train(model, epochs), []
    for epoch, (ours, plain) in enumerate(zip(got["epochs"], want, strict=True), 1):
        print("%s, epoch %d: loss %.6f (NumPy %.6f), accuracy %.3f (%.3f)" % (
            name, epoch, ours["loss"], plain["loss"], ours["accuracy"], plain["accuracy"]))
        if abs(ours["loss"] - plain["loss"]) > 1e-3 * plain["loss"] or abs(ours["accuracy"] - plain["accuracy"]) > 0.01:
            problems.append("%s: epoch %d is not that of NumPy" % (name, epoch))
    if got["steps"] != epochs * TRAINING // BATCH:
        problems.append("%s: %d steps" % (name, got["steps"]))
    return problems + (["%s: %d programs" % (name, got["programs"])] if got["programs"] > 4 else [])


def main():
    np.seterr(over="ignore")
    problems = compare(sys.argv[1], Mlp()) + compare(sys.argv[2], Convnet())
    print("\n".join(problems) or "ok")
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
