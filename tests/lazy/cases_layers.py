"""Softmax, normalisations and losses."""
import numpy as np

from cases import FLOATS, VIEWS, Case, Wrong, close, fails, floating, normal, same
import xl

SPECIAL = VIEWS + ("special",)


# ---------------------------------------------------------------- softmax

def softmax(x, dim):
    if np.ndim(x) == 0:
        return softmax(np.reshape(x, 1), 0)[0]
    e = np.exp(x - np.max(x + 0.0, axis=dim, keepdims=True, initial=-np.inf))
    return e / np.sum(e, axis=dim, keepdims=True)


def log_softmax(x, dim):
    if np.ndim(x) == 0:
        return log_softmax(np.reshape(x, 1), 0)[0]
    below_max = x - np.max(x + 0.0, axis=dim, keepdims=True, initial=-np.inf)
    return below_max - np.log(np.sum(np.exp(below_max), axis=dim, keepdims=True))


# ---------------------------------------------------------------- normalisations

def normalised(x, axes, epsilon):
    centred = x - x.mean(axis=axes, keepdims=True)
    return centred / np.sqrt((centred**2).mean(axis=axes, keepdims=True) + epsilon)


def layer_norm(x, weight=1, bias=0, *, dims=1, epsilon=1e-5):
    return normalised(x, tuple(range(x.ndim - dims, x.ndim)), epsilon) * weight + bias


def over_channels(x, array):
    return np.reshape(array, (-1,) + (1,) * (x.ndim - 2)) if np.ndim(array) else array


def group_norm(x, weight=1, bias=0, *, groups=2, epsilon=1e-5):
    split = x.reshape(x.shape[0], groups, int(np.prod(x.shape[1:])) // groups)
    return normalised(split, (2,), epsilon).reshape(x.shape) * over_channels(x, weight) + over_channels(x, bias)


def batch_norm(x, weight=1, bias=0, mean=None, var=None, epsilon=1e-5):
    if mean is None:
        normal = normalised(x, (0,) + tuple(range(2, x.ndim)), epsilon)
    else:
        normal = (x - over_channels(x, mean)) / np.sqrt(over_channels(x, var) + epsilon)
    return normal * over_channels(x, weight) + over_channels(x, bias)


def batch_norm_options(weight=None, bias=None, mean=None, var=None, is_training=True, momentum=0.1):
    return {"weight": weight, "bias": bias, "running_mean": mean, "running_var": var, "is_training": is_training,
            "momentum": momentum, "epsilon": 1e-5}


def positive(random, shape, kind):
    return random.random(shape) * 2 + 0.5


# ---------------------------------------------------------------- losses

def nll_loss(x, target):
    classes = 1 if x.ndim > 1 else 0
    moved = np.moveaxis(x, classes, -1)
    counts = target != -100
    picked = np.take_along_axis(moved, np.where(counts, target, 0)[..., None].astype(int), -1)[..., 0]
    return -np.sum(np.where(counts, picked, 0)) / np.sum(counts)


def cross_entropy(x, target):
    return nll_loss(log_softmax(x, 1 if x.ndim > 1 else 0), target)


def classes(random, shape, kind):
    """Some targets do not count."""
    chosen = random.integers(0, 5, shape)
    return np.where(random.random(shape) < 0.2, -100, chosen) if len(shape) else chosen


TARGETS = [((6, 5), (6,)), ((5,), ()), ((2, 5, 3), (2, 3)), ((0, 5), (0,))]

CASES = [
    Case("softmax", softmax, [((3, 4),), ((2, 3, 4),), ((0, 3),), ((3, 0),)], args=(-1,),
         kinds=SPECIAL, ulps=8, scale=2, grad=[0]),
    Case("softmax of another dimension", softmax, [((3, 4, 2),), ((3, 1, 2),)], args=(1,), ulps=8, scale=2, grad=[0],
         call=lambda x: xl.softmax(x, 1)),
    Case("softmax of a single value", softmax, [((),)], args=(0,), call=lambda x: xl.softmax(x, 0), kinds=(), grad=[0]),
    Case("log_softmax", log_softmax, [((3, 4),), ((2, 3, 4),), ((0, 3),), ((3, 0),)], args=(-1,),
         kinds=SPECIAL, ulps=4, scale=2, grad=[0]),
    Case("log_softmax of another dimension", log_softmax, [((3, 4, 2),)], args=(0,), ulps=4, scale=2, grad=[0],
         call=lambda x: xl.log_softmax(x, 0)),
    Case("log_softmax of a single value", log_softmax, [((),)], args=(-1,), call=lambda x: xl.log_softmax(x, -1), kinds=()),

    Case("layer_norm", layer_norm, [((3, 4), (4,), (4,)), ((2, 3, 5), (5,), (5,)), ((0, 4), (4,), (4,)), ((5,), (5,), (5,))],
         FLOATS + (("bf16", "f32", "f32"),), call=lambda x, w, b: xl.layer_norm(x, 1, w, b, 1e-5),
         promote=[0], scale=8, values=normal, grad=[0, 1, 2], grad_tolerance=1e-4),
    Case("layer_norm over two dimensions", lambda x, w, b: layer_norm(x, w, b, dims=2), [((2, 3, 4), (3, 4), (3, 4))],
         call=lambda x, w, b: xl.layer_norm(x, 2, w, b, 1e-5), scale=8, values=normal, grad=[0, 1, 2], grad_tolerance=1e-4),
    Case("layer_norm without weight and bias", layer_norm, [((3, 4),)],
         call=lambda x: xl.layer_norm(x, 1, None, None, 1e-5), scale=8, grad=[0], grad_values=normal, grad_tolerance=1e-4),
    Case("layer_norm with a bias alone", lambda x, b: layer_norm(x, 1, b), [((3, 4), (4,))],
         call=lambda x, b: xl.layer_norm(x, 1, None, b, 1e-5), scale=8, values=normal, grad=[0, 1], grad_tolerance=1e-4),
    Case("group_norm", group_norm, [((2, 4, 3, 2), (4,), (4,)), ((3, 6, 5), (6,), (6,)), ((2, 4), (4,), (4,)),
                                    ((0, 4, 3), (4,), (4,))],
         FLOATS + (("bf16", "f32", "f32"),), call=lambda x, w, b: xl.group_norm(x, 2, w, b, 1e-5), promote=[0], scale=8,
         values=normal, kinds=VIEWS, grad=[0, 1, 2], grad_tolerance=1e-4),
    Case("group_norm with a weight alone", lambda x, w: group_norm(x, w, groups=1), [((2, 4, 3), (4,))],
         call=lambda x, w: xl.group_norm(x, 1, w, None, 1e-5), scale=8, values=normal, grad=[0, 1], grad_tolerance=1e-4),
    Case("group_norm without weight and bias", lambda x: group_norm(x, groups=4), [((2, 4, 3),)],
         call=lambda x: xl.group_norm(x, 4, None, None, 1e-5), scale=8, values=normal, grad=[0], grad_tolerance=1e-4),
    Case("batch_norm in training", batch_norm, [((3, 2, 3, 2), (2,), (2,)), ((4, 3), (3,), (3,)), ((2, 3, 4), (3,), (3,))],
         FLOATS + (("bf16", "f32", "f32"),), call=lambda x, w, b: xl.batch_norm(x, batch_norm_options(w, b)), promote=[0],
         scale=8, values=normal, kinds=("transposed", "sliced", "flipped"), grad=[0, 1, 2], grad_tolerance=1e-4),
    Case("batch_norm in training without weight and bias", batch_norm, [((4, 3, 2),)],
         call=lambda x: xl.batch_norm(x, batch_norm_options()), scale=8, values=normal, grad=[0], grad_tolerance=1e-4),
    Case("batch_norm of running statistics", batch_norm, [((3, 2, 3, 2), (2,), (2,), (2,), (2,)),
                                                          ((1, 3), (3,), (3,), (3,), (3,)),
                                                          ((0, 2, 4), (2,), (2,), (2,), (2,))],
         FLOATS + (("bf16", "f32", "f32", "f32", "f32"),), promote=[0],
         call=lambda x, w, b, m, v: xl.batch_norm(x, batch_norm_options(w, b, m, v, False)), ulps=4, scale=2,
         values=(normal, normal, normal, normal, positive), grad=[0, 1, 2]),
    Case("batch_norm of running statistics alone", lambda x, m, v: batch_norm(x, 1, 0, m, v), [((3, 2, 4), (2,), (2,))],
         call=lambda x, m, v: xl.batch_norm(x, batch_norm_options(None, None, m, v, False)), ulps=4, scale=2,
         values=(normal, normal, positive), grad=[0]),

    Case("mse_loss", lambda x, y: np.mean((x - y)**2), [((3, 4), (3, 4)), ((2, 3), (3,)), ((), ()), ((0, 2), (0, 2))],
         FLOATS + (("i64", "f32"), ("f32", "bool"), ("bool", "bf16")), ulps=4, bf16_ulps=3, grad=[0, 1]),
    Case("nll_loss", nll_loss, TARGETS, [("f32", "i64"), ("bf16", "i64"), ("f32", "i32")], promote=False,
         values=(normal, classes), ulps=4, scale=1, kinds=("transposed", "sliced", "flipped"), grad=[0]),
    Case("cross_entropy", cross_entropy, TARGETS, [("f32", "i64"), ("bf16", "i64"), ("f32", "i32")], promote=False,
         values=(normal, classes), ulps=8, bf16_ulps=3, kinds=("transposed", "sliced", "flipped"), grad=[0]),

    Wrong("softmax of a dimension", lambda: xl.softmax(xl.zeros("f32", (2, 3)), 2), "xl_softmax", "f32[2,3]"),
    Wrong("log_softmax of a dimension", lambda: xl.log_softmax(xl.zeros("f32", ()), 1), "xl_log_softmax", "f32[]"),
    Wrong("layer_norm of a weight",
          lambda: xl.layer_norm(xl.zeros("f32", (2, 3)), 1, xl.zeros("f32", (2,)), None, 1e-5), "xl_layer_norm", "weight",
          "f32[2]", "f32[3]"),
    Wrong("layer_norm over no dimension", lambda: xl.layer_norm(xl.zeros("f32", (2, 3)), 0, None, None, 1e-5), "f32[2,3]"),
    Wrong("layer_norm over too many", lambda: xl.layer_norm(xl.zeros("f32", (2, 3)), 3, None, None, 1e-5), "f32[2,3]"),
    Wrong("group_norm of groups", lambda: xl.group_norm(xl.zeros("f32", (2, 6, 4)), 4, None, None, 1e-5), "xl_group_norm",
          "f32[2,6,4]", "4 groups"),
    Wrong("group_norm of a vector", lambda: xl.group_norm(xl.zeros("f32", (6,)), 2, None, None, 1e-5), "f32[6]"),
    Wrong("batch_norm of one value", lambda: xl.batch_norm(xl.zeros("f32", (1, 3)), batch_norm_options()), "xl_batch_norm",
          "f32[1,3]"),
    Wrong("batch_norm without statistics",
          lambda: xl.batch_norm(xl.zeros("f32", (2, 3)), batch_norm_options(is_training=False)), "running"),
    Wrong("batch_norm of statistics",
          lambda: xl.batch_norm(xl.zeros("f32", (2, 3)), batch_norm_options(mean=xl.zeros("f32", (2,)))), "running mean",
          "f32[2]", "f32[3]"),
    Wrong("batch_norm without options", lambda: xl.batch_norm(xl.zeros("f32", (2, 3)), None), "options"),
    Wrong("mse_loss of shapes", lambda: xl.mse_loss(xl.zeros("f32", (2, 3)), xl.zeros("f32", (4,))), "xl_mse_loss",
          "f32[2,3]", "f32[4]"),
    Wrong("nll_loss of shapes", lambda: xl.nll_loss(xl.zeros("f32", (2, 3)), xl.zeros("i64", (3,))), "xl_nll_loss",
          "f32[2,3]", "i64[3]"),
    Wrong("cross_entropy of a type", lambda: xl.cross_entropy(xl.zeros("f32", (2, 3)), xl.zeros("f32", (2,))),
          "xl_cross_entropy", "f32[2,3]", "f32[2]"),
]


def check_softmax_of_large_numbers_is_finite():
    x = np.array([[1e4, 1e4 + 1], [-3e38, 0], [-np.inf, 5]], np.float32)
    close(xl.softmax(xl.tensor(x), 1), softmax(x.astype(np.float64), 1), 1e-6)
    close(xl.log_softmax(xl.tensor(x), 1), log_softmax(x.astype(np.float64), 1), 1e-6)


def check_variance_keeps_its_digits_where_the_mean_is_large():
    x = (np.arange(32, dtype=np.float32) % 4 + 10000).reshape(2, 16)
    close(xl.layer_norm(xl.tensor(x), 1, None, None, 1e-5), layer_norm(x.astype(np.float64)), 1e-3)


def check_batch_norm_follows_the_batch_in_place():
    random = np.random.default_rng(5)
    mean, var = np.array([1, -1, 0.5], np.float32), np.array([1, 2, 3], np.float32)
    running = [xl.tensor(mean), xl.tensor(var)]
    for _ in range(3):
        x = random.standard_normal((4, 3, 2)).astype(np.float32)
        options = batch_norm_options(mean=running[0], var=running[1], momentum=0.25)
        close(xl.batch_norm(xl.tensor(x).requires_grad(), options), batch_norm(x), 1e-5)
        mean = 0.75 * mean + 0.25 * x.mean(axis=(0, 2))
        var = 0.75 * var + 0.25 * x.var(axis=(0, 2), ddof=1)
    close(running[0], mean, 1e-6)
    close(running[1], var, 1e-6)
    options = batch_norm_options(mean=running[0], var=running[1], is_training=False)
    close(xl.batch_norm(xl.tensor(x), options), batch_norm(x, 1, 0, mean, var), 1e-5)
    close(running[0], mean, 1e-6)


def check_targets_that_are_no_class_make_the_loss_nan():
    x = xl.tensor(np.zeros((2, 3), np.float32))
    for wrong in (3, -1):
        same(xl.nll_loss(x, xl.tensor(np.array([0, wrong]))), np.float32(np.nan))
    same(xl.nll_loss(x, xl.tensor(np.array([-100, -100]))), np.float32(np.nan))  # of nothing


def check_the_weight_is_kept_and_the_bias_is_not():
    """As in torch, a bias may be updated before the backward pass, a weight may not."""
    x, weight, bias = (xl.tensor(np.ones(s, np.float32)) for s in ((2, 3), (3,), (3,)))
    weight.requires_grad()
    y = xl.sum(xl.layer_norm(x, 1, weight, bias, 1e-5))
    xl.add_scalar_(bias, 1)
    y.backward()
    y = xl.sum(xl.layer_norm(xl.add_scalar(x, 0).requires_grad(), 1, weight, bias, 1e-5))
    was_on = xl.set_grad_mode(False)
    xl.add_scalar_(weight, 1)
    xl.set_grad_mode(was_on)
    fails(y.backward, "native_layer_norm", "in place")
