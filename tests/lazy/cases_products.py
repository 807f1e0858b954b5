"""Products of matrices, convolution, pooling and attention.

The references of convolution and pooling go through the positions of the window, one after the other.
"""
import numpy as np

from cases import FLOATS, INTEGERS, VIEWS, Case, Wrong, close, floating, normal, positive, same
import xl

NUMBERS = FLOATS + INTEGERS


# ---------------------------------------------------------------- products

MATRICES = [((3, 4), (4, 5)), ((1, 1), (1, 1)), ((0, 3), (3, 2)), ((2, 0), (0, 3))]
BATCHES = [((2, 3, 4), (2, 4, 5)), ((0, 3, 4), (0, 4, 5)), ((2, 0, 4), (2, 4, 5)), ((2, 3, 0), (2, 0, 5))]
RANKS = [((2, 3, 4), (2, 4, 5)), ((4,), (4, 3)), ((3, 4), (4,)), ((3, 4), (4, 2)), ((2, 3, 4), (4,)),
         ((2, 3, 4), (4, 5)), ((4,), (2, 4, 3)), ((3, 4), (2, 4, 5)), ((2, 1, 3, 4), (5, 4, 2)), ((1, 3, 4), (2, 4, 5)),
         ((3, 1, 2, 4), (1, 2, 4, 3)), ((2, 0, 4), (4, 3)), ((2, 3, 0), (0,)), ((0, 3, 4), (1, 4, 2))]


def linear(x, weight, bias):
    return x @ weight.T + bias


# ---------------------------------------------------------------- windows

def how(**options):
    """All options of a convolution."""
    return {"stride": (1, 1), "padding": (0, 0), "dilation": (1, 1), "groups": 1, **options}


def conv2d(x, weight, bias=None, options=None):
    stride, padding, dilation, groups = how(**options or {}).values()
    padded = np.pad(x, ((0, 0), (0, 0), (padding[0],) * 2, (padding[1],) * 2))
    out = [(padded.shape[2 + i] - (weight.shape[2 + i] - 1) * dilation[i] - 1) // stride[i] + 1 for i in range(2)]
    result = np.zeros((x.shape[0], weight.shape[0], *out), x.dtype)
    inputs, features = x.shape[1] // groups, weight.shape[0] // groups
    for g in range(groups):
        for i in range(weight.shape[2]):
            for j in range(weight.shape[3]):
                top, left = i * dilation[0], j * dilation[1]
                part = padded[:, g * inputs:(g + 1) * inputs, top:top + (out[0] - 1) * stride[0] + 1:stride[0],
                              left:left + (out[1] - 1) * stride[1] + 1:stride[1]]
                result[:, g * features:(g + 1) * features] += np.einsum(
                    "nchw,oc->nohw", part, weight[g * features:(g + 1) * features, :, i, j])
    return result if bias is None else result + bias[None, :, None, None]


def avg_pool2d(x, size, stride):
    out = [(extent - size) // stride + 1 for extent in x.shape[-2:]]
    total = np.zeros((*x.shape[:-2], *out))
    for i in range(size):
        for j in range(size):
            total += x[..., i:i + (out[0] - 1) * stride + 1:stride, j:j + (out[1] - 1) * stride + 1:stride]
    return total / size**2


def convolution(name, shapes, kinds=(), **options):
    """A case with a bias, for all types, and one without."""
    full = how(**options) if options else None
    return [
        Case("conv2d " + name, lambda x, w, b: conv2d(x, w, b, options), [s + ((s[1][0],),) for s in shapes],
             NUMBERS, call=lambda x, w, b: xl.conv2d(x, w, b, full), scale=4, kinds=kinds, grad=[0, 1, 2]),
        Case("conv2d without bias, " + name, lambda x, w: conv2d(x, w, None, options), shapes[:1],
             call=lambda x, w: xl.conv2d(x, w, None, full), scale=4, grad=[0, 1], kinds=()),
    ]


CONVOLUTIONS = (
    convolution("of usual windows", [((2, 3, 5, 6), (4, 3, 3, 3)), ((1, 1, 1, 1), (1, 1, 1, 1)), ((2, 3, 4, 4), (2, 3, 4, 4)),
                                     ((0, 2, 4, 4), (3, 2, 3, 3)), ((2, 3, 4, 5), (4, 3, 1, 1)), ((1, 2, 5, 4), (3, 2, 1, 3))], VIEWS)
    + convolution("with padding", [((2, 2, 4, 5), (3, 2, 3, 3)), ((1, 2, 3, 3), (2, 2, 3, 2))], padding=(1, 1))
    + convolution("with more padding than window", [((1, 2, 3, 4), (2, 2, 2, 1))], padding=(2, 3))
    + convolution("with strides", [((2, 2, 6, 7), (3, 2, 3, 3)), ((1, 2, 8, 5), (2, 2, 2, 2))], stride=(2, 3))
    + convolution("with strides and padding", [((2, 2, 6, 6), (2, 2, 3, 3)), ((1, 1, 7, 5), (2, 1, 2, 4))], stride=(2, 2),
                  padding=(1, 1))
    + convolution("with stride above window", [((1, 2, 7, 8), (2, 2, 2, 1))], stride=(3, 4))
    + convolution("with dilation", [((1, 2, 7, 6), (2, 2, 3, 2))], dilation=(2, 3))
    + convolution("in groups", [((2, 4, 4, 4), (6, 2, 3, 3)), ((1, 2, 3, 3), (2, 1, 2, 2))],
                  groups=2, padding=(1, 0))
    + convolution("of single channels", [((2, 3, 5, 5), (6, 1, 3, 3))], groups=3, stride=(2, 1), padding=(1, 2), dilation=(1, 2))
)


# ---------------------------------------------------------------- attention

def softmax(x):
    with np.errstate(all="ignore"):
        e = np.exp(x - np.max(x, axis=-1, keepdims=True))
        return np.nan_to_num(e / np.sum(e, axis=-1, keepdims=True), nan=0)


def attention(q, k, v, mask=None):
    scores = q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1])
    if mask is not None:
        scores = np.where(mask, scores, -np.inf) if mask.dtype == bool else scores + mask
    return softmax(scores) @ v


def rows_and_holes(random, shape, kind):
    """A mask that leaves out some, and all of one row."""
    mask = random.random(shape) < 0.6
    mask[..., 0, :] = False
    return mask


HEADS = [((2, 2, 3, 4), (2, 2, 5, 4), (2, 2, 5, 2)), ((3, 4), (5, 4), (5, 2)), ((2, 1, 4), (2, 1, 4), (2, 1, 3))]


CASES = [
    Case("mm", np.matmul, MATRICES, NUMBERS, scale=8, grad=[0, 1]),
    Case("mm of many elements", np.matmul, [((33, 300), (300, 17))], scale=16, kinds=()),
    Case("bmm", np.matmul, BATCHES, NUMBERS, scale=4, grad=[0, 1]),
    Case("matmul", np.matmul, RANKS, NUMBERS, scale=4, grad=[0, 1]),
    Case("matmul of vectors", np.matmul, [((4,), (4,)), ((0,), (0,)), ((1,), (1,))], FLOATS, scale=4, values=positive,
         kinds=("sliced", "flipped"), grad=[0, 1]),
    Case("addmm", lambda b, x, y: b + x @ y, [((5,), (3, 4), (4, 5)), ((3, 1), (3, 4), (4, 5)), ((), (0, 2), (2, 3))],
         NUMBERS, scale=4, bf16_ulps=2, grad=[0, 1, 2]),
    Case("linear", linear, [((3, 4), (5, 4), (5,)), ((4,), (5, 4), (5,)), ((2, 3, 4), (5, 4), (5,)),
                            ((2, 1, 3, 4), (1, 4), (1,)), ((0, 4), (5, 4), (5,)), ((2, 0, 4), (5, 4), (5,))],
         NUMBERS, scale=4, bf16_ulps=2, grad=[0, 1, 2]),
    Case("linear without bias", lambda x, w: x @ w.T, [((3, 4), (5, 4)), ((4,), (5, 4)), ((2, 3, 4), (5, 4))],
         call=lambda x, w: xl.linear(x, w, None), scale=4, grad=[0, 1]),
    *CONVOLUTIONS,
    *[Case("avg_pool2d of size %d, stride %d" % (size, stride), avg_pool2d, [(s,) for s in shapes],
           args=(size, stride), ulps=2, scale=1, grad=[0])
      for size, stride, shapes in [(2, 2, [(2, 3, 4, 6), (3, 5, 4), (0, 2, 4, 4)]), (3, 1, [(1, 2, 5, 4)]),
                                   (2, 3, [(1, 2, 8, 7)]), (3, 2, [(2, 1, 6, 7)]), (1, 1, [(1, 1, 2, 3)])]],
    Case("attention", attention, HEADS, call=lambda q, k, v: xl.attention(q, k, v, None), scale=8, bf16_ulps=3,
         values=normal, grad=[0, 1, 2]),
    Case("attention with a number as mask", attention, [HEADS[0] + ((3, 5),), HEADS[1] + ((3, 5),)],
         FLOATS + (("bf16", "bf16", "bf16", "f32"),), promote=[0, 1, 2], scale=8, bf16_ulps=3, values=normal,
         grad=[0, 1, 2, 3]),
    Case("attention with a mask of bools", attention, [HEADS[0] + ((2, 1, 3, 5),), HEADS[1] + ((3, 5),)],
         [("f32", "f32", "f32", "bool"), ("bf16", "bf16", "bf16", "bool")], promote=[0, 1, 2], scale=8, bf16_ulps=3,
         values=(normal,) * 3 + (rows_and_holes,), kinds=VIEWS[:2], grad=[0, 1, 2]),
    Wrong("mm of shapes", lambda: xl.mm(xl.zeros("f32", (2, 3)), xl.zeros("f32", (4, 5))), "xl_mm", "f32[2,3]", "f32[4,5]"),
    Wrong("mm of ranks", lambda: xl.mm(xl.zeros("f32", (2, 3, 4)), xl.zeros("f32", (4, 5))), "f32[2,3,4]", "f32[4,5]"),
    Wrong("mm of bools", lambda: xl.mm(xl.zeros("bool", (2, 2)), xl.zeros("bool", (2, 2))), "xl_mm", "bools"),
    Wrong("bmm of batches", lambda: xl.bmm(xl.zeros("f32", (2, 3, 4)), xl.zeros("f32", (1, 4, 5))), "xl_bmm", "f32[2,3,4]",
          "f32[1,4,5]"),
    Wrong("matmul of batches", lambda: xl.matmul(xl.zeros("f32", (2, 3, 4)), xl.zeros("f32", (3, 4, 5))), "xl_matmul",
          "f32[2,3,4]", "f32[3,4,5]"),
    Wrong("matmul of a single value", lambda: xl.matmul(xl.zeros("f32", ()), xl.zeros("f32", (4, 5))), "f32[]", "f32[4,5]"),
    Wrong("matmul of vectors", lambda: xl.matmul(xl.zeros("f32", (3,)), xl.zeros("f32", (4,))), "f32[3]", "f32[4]"),
    Wrong("addmm of a bias", lambda: xl.addmm(xl.zeros("f32", (3,)), xl.zeros("f32", (2, 3)), xl.zeros("f32", (3, 4))),
          "xl_addmm", "f32[3]", "f32[2,4]"),
    Wrong("linear of shapes", lambda: xl.linear(xl.zeros("f32", (2, 3)), xl.zeros("f32", (4, 5)), None), "xl_linear",
          "f32[2,3]", "f32[4,5]"),
    Wrong("conv2d of channels", lambda: xl.conv2d(xl.zeros("f32", (1, 3, 4, 4)), xl.zeros("f32", (2, 2, 3, 3)), None, None),
          "xl_conv2d", "f32[1,3,4,4]", "f32[2,2,3,3]"),
    Wrong("conv2d of ranks", lambda: xl.conv2d(xl.zeros("f32", (3, 4, 4)), xl.zeros("f32", (2, 3, 3, 3)), None, None),
          "f32[3,4,4]", "f32[2,3,3,3]"),
    Wrong("conv2d of groups",
          lambda: xl.conv2d(xl.zeros("f32", (1, 4, 4, 4)), xl.zeros("f32", (3, 2, 3, 3)), None, how(groups=2)), "2 groups"),
    Wrong("conv2d of a large window",
          lambda: xl.conv2d(xl.zeros("f32", (1, 1, 4, 4)), xl.zeros("f32", (1, 1, 3, 3)), None, how(dilation=(2, 2))),
          "3 x 3", "f32[1,1,4,4]"),
    Wrong("conv2d of a bias",
          lambda: xl.conv2d(xl.zeros("f32", (1, 1, 4, 4)), xl.zeros("f32", (2, 1, 3, 3)), xl.zeros("f32", (3,)), None),
          "f32[3]", "f32[2,1,3,3]"),
    *[Wrong("conv2d of %s" % wrong, lambda w=wrong: xl.conv2d(xl.zeros("f32", (1, 1, 4, 4)), xl.zeros("f32", (1, 1, 3, 3)),
                                                              None, how(**w)), "at least")
      for wrong in ({"stride": (0, 1)}, {"padding": (0, -1)}, {"dilation": (1, 0)}, {"groups": 0},
                    {"padding": (2**62, 0)})],
    Wrong("avg_pool2d of a large window", lambda: xl.avg_pool2d(xl.zeros("f32", (1, 1, 4, 4)), 5, 1), "xl_avg_pool2d", "5 x 5"),
    Wrong("avg_pool2d of a rank", lambda: xl.avg_pool2d(xl.zeros("f32", (4, 4)), 2, 2), "f32[4,4]"),
    Wrong("avg_pool2d of a stride", lambda: xl.avg_pool2d(xl.zeros("f32", (1, 1, 4, 4)), 2, 0), "stride"),
    Wrong("attention of shapes", lambda: xl.attention(*[xl.zeros("f32", s) for s in ((2, 3), (2, 4), (2, 3))], None),
          "xl_attention", "f32[2,3]", "f32[2,4]"),
]


def check_products_keep_nan_and_infinity():
    x = np.array([[np.nan, 1], [np.inf, 1], [1, 2]], np.float32)
    y = np.array([[0, 1], [1, 1]], np.float32)
    with np.errstate(all="ignore"):
        same(xl.mm(xl.tensor(x), xl.tensor(y)), x @ y)
        same(xl.conv2d(xl.tensor(x.reshape(1, 3, 1, 2)), xl.tensor(np.ones((1, 3, 1, 1), np.float32)), None, None),
             np.array([[[[np.nan, 4]]]], np.float32))
    pooled = xl.avg_pool2d(xl.tensor(np.array([[[1, np.inf, 1, -np.inf], [2, 3, 4, np.inf]]], np.float32)), 2, 2)
    same(pooled, np.array([[[np.inf, np.nan]]], np.float32))


def check_sums_of_bf16_are_formed_in_f32():
    """In bf16, 256 + 1 is 256."""
    ones = xl.tensor(np.ones((1, 515)), "bf16")
    want = np.array([[516]], np.float32)  # the bf16 next to 515
    same(xl.mm(ones, xl.transpose(ones, 0, 1)), want)
    image = xl.tensor(np.ones((1, 515, 1, 1)), "bf16")
    same(xl.conv2d(image, image, None, None), want.reshape(1, 1, 1, 1))
    same(xl.avg_pool2d(xl.tensor(np.full((1, 24, 24), 3), "bf16"), 24, 1), np.array([[[3]]], np.float32))


def check_a_product_is_no_view_of_another_tensor():
    x = xl.tensor(np.ones((2, 3, 4), np.float32))
    y = xl.matmul(x, xl.tensor(np.ones((4, 2), np.float32)))
    xl.add_scalar_(y, 1)
    same(y, np.full((2, 3, 2), 5, np.float32))
    close(x, np.ones((2, 3, 4), np.float32))


def check_gradients_of_large_convolutions():
    """Of more elements than a device takes at a time."""
    random = np.random.default_rng(9)
    x, w = (random.standard_normal(s).astype(np.float32) for s in ((8, 8, 32, 32), (6, 8, 3, 3)))
    for stride, out in ((1, 32), (2, 16)):
        g = random.standard_normal((8, 6, out, out)).astype(np.float32)
        padded, by_weight = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1))), np.empty_like(w)
        by_padded = np.zeros_like(padded)
        for i in range(3):
            for j in range(3):
                at = np.s_[:, :, i:i + stride * out:stride, j:j + stride * out:stride]
                by_weight[:, :, i, j] = np.einsum("nohw,nchw->oc", g, padded[at])
                by_padded[at] += np.einsum("nohw,oc->nchw", g, w[:, :, i, j])
        image, weight = xl.tensor(x).requires_grad(), xl.tensor(w).requires_grad()
        xl.conv2d(image, weight, None, how(stride=(stride, stride), padding=(1, 1))).backward(xl.tensor(g))
        close(image.grad, by_padded[:, :, 1:-1, 1:-1], 1e-4)
        np.testing.assert_allclose(weight.grad.numpy(), by_weight, rtol=1e-4, atol=1e-3)
