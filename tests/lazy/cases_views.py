"""Views.  What they share with their base is in programs.py, and in tests/unit/test_lazy_views.c."""
import numpy as np

from cases import ALL, Case, Wrong, fails, same
import xl


def view(name, reference, *shapes, args=(), **more):
    """A view in all types, and its gradient."""
    return Case(name, reference, [(s,) for s in shapes], ALL, args=args, grad=[0],
                kinds=("transposed", "sliced", "expanded", "flipped", "special"), **more)


def flattened(x, first, last):
    first, last = first % x.ndim, last % x.ndim
    return x.reshape(x.shape[:first] + (-1,) + x.shape[last + 1:])


def sliced(x, dim, start, end, step):
    return x[(np.s_[:],) * (dim % x.ndim) + (np.s_[start:end:step],)]


FAR = 2**62

CASES = [
    view("t", np.transpose, (3, 4), (1, 3), (0, 2)),
    view("transpose 0 1", np.swapaxes, (3, 4), (2, 3, 4), args=(0, 1)),
    view("transpose 0 -1", np.swapaxes, (2, 3, 4), (2, 0), (5,), args=(0, -1)),
    view("transpose 1 1", np.swapaxes, (3, 4), args=(1, 1)),
    view("permute 2 0 1", np.transpose, (2, 3, 4), (0, 2, 3), args=([2, 0, 1],)),
    view("permute with negative ones", lambda x, order: np.transpose(x, (1, 0, 2)), (2, 3, 4), args=([-2, 0, -1],)),
    view("permute of four", np.transpose, (2, 3, 1, 4), args=([3, 1, 0, 2],)),
    view("reshape to a row", np.reshape, (3, 4), (12,), (2, 3, 2), args=((12,),)),
    view("reshape with an open extent", np.reshape, (3, 4), (2, 6), args=((2, -1, 3),)),
    view("reshape of one", np.reshape, (1, 1), (), args=((),)),
    view("reshape to one", np.reshape, (), (1,), args=((1, 1, 1),)),
    view("reshape of none", np.reshape, (0, 3), (2, 0), args=((5, 0),)),
    view("flatten all", flattened, (2, 3, 2), (4,), (0, 3), args=(0, -1)),
    view("flatten the middle", flattened, (2, 3, 2, 2), args=(1, 2)),
    view("flatten one", flattened, (2, 3), args=(1, 1)),
    view("squeeze 1", lambda x, dim: x[:, 0], (3, 1, 2), (3, 1), args=(1,)),
    view("squeeze what is not 1", lambda x, dim: x, (3, 2), (3, 0), args=(-1,)),
    view("unsqueeze 0", np.expand_dims, (3, 2), (), (0,), args=(0,)),
    view("unsqueeze -1", np.expand_dims, (3, 2), (), args=(-1,)),
    view("expand", lambda x, shape: np.broadcast_to(x, (2, 3, 4)), (3, 1), (1, 4), (3, 4), (), args=((2, 3, 4),)),
    view("expand with -1", lambda x, shape: np.broadcast_to(x, (2, 3, 4)), (3, 1), args=((2, -1, 4),)),
    view("expand to none", lambda x, shape: np.broadcast_to(x, shape), (1, 3), args=((0, 3),)),
    view("slice 0 1:3", sliced, (5, 2), (2, 2), (0, 1), args=(0, 1, 3, 1)),
    view("slice -1 ::2", sliced, (3, 5), (3, 0), (4,), args=(-1, 0, FAR, 2)),
    view("slice -3:-1", sliced, (5, 2), (2,), args=(0, -3, -1, 1)),
    view("slice 1::3", sliced, (5, 2), (8,), args=(0, 1, FAR, 3)),
    view("slice of nothing", sliced, (5, 2), args=(0, 3, 2, 1)),
    view("slice from far to far", sliced, (5, 2), args=(0, -FAR, FAR, FAR)),
    view("select 0 1", lambda x, dim, i: x[1], (3, 4), (2,), (2, 0), args=(0, 1)),
    view("select -1 -1", lambda x, dim, i: x[..., -1], (3, 4), (5,), (0, 2), args=(-1, -1)),
    view("detach", lambda x: x, (3, 4), ()),

    Wrong("t of a vector", lambda: xl.t(xl.zeros("f32", (3,))), "xl_t", "f32[3]"),
    Wrong("transpose of a dimension", lambda: xl.transpose(xl.zeros("f32", (3, 2)), 0, 2), "xl_transpose", "dimension 2",
          "f32[3,2]"),
    Wrong("permute with one twice", lambda: xl.permute(xl.zeros("f32", (3, 2)), [0, -2]), "xl_permute", "twice"),
    Wrong("reshape to another size", lambda: xl.reshape(xl.zeros("f32", (3, 2)), (4, 2)), "xl_reshape", "f32[3,2]",
          "f32[4,2]"),
    Wrong("reshape to a size that is no multiple", lambda: xl.reshape(xl.zeros("f32", (3, 2)), (4, -1)), "xl_reshape",
          "f32[3,2]"),
    Wrong("reshape with two open extents", lambda: xl.reshape(xl.zeros("f32", (3, 2)), (-1, -1)), "xl_reshape", "-1"),
    Wrong("reshape of none with an open extent", lambda: xl.reshape(xl.zeros("f32", (0, 2)), (0, -1)), "xl_reshape",
          "f32[0,2]"),
    Wrong("reshape below -1", lambda: xl.reshape(xl.zeros("f32", (3, 2)), (-3, -2)), "xl_reshape"),
    Wrong("reshape to too many dimensions", lambda: xl.reshape(xl.zeros("f32", (1,)), (1,) * 9), "xl_reshape", "8"),
    Wrong("flatten the wrong way", lambda: xl.flatten(xl.zeros("f32", (3, 2)), 1, 0), "xl_flatten"),
    Wrong("squeeze of a dimension", lambda: xl.squeeze(xl.zeros("f32", (3, 2)), 2), "xl_squeeze", "dimension 2"),
    Wrong("unsqueeze of a dimension", lambda: xl.unsqueeze(xl.zeros("f32", (3, 2)), 3), "xl_unsqueeze", "dimension 3"),
    Wrong("unsqueeze of eight", lambda: xl.unsqueeze(xl.zeros("f32", (1,) * 8), 0), "xl_unsqueeze", "8"),
    Wrong("expand of an extent", lambda: xl.expand(xl.zeros("f32", (3, 2)), (3, 4)), "xl_expand", "f32[3,2]", "f32[3,4]"),
    Wrong("expand to fewer", lambda: xl.expand(xl.zeros("f32", (3, 2)), (2,)), "xl_expand", "f32[3,2]", "f32[2]"),
    Wrong("expand by -1 in front", lambda: xl.expand(xl.zeros("f32", (2,)), (-1, 2)), "xl_expand", "f32[2]"),
    Wrong("expand beyond all", lambda: xl.expand(xl.zeros("f32", (1,)), (2**31, 2**31, 2**31)), "xl_expand"),
    Wrong("slice by 0", lambda: xl.slice(xl.zeros("f32", (3,)), 0, 0, 3, 0), "xl_slice", "step"),
    Wrong("slice backwards", lambda: xl.slice(xl.zeros("f32", (3,)), 0, 3, 0, -1), "xl_slice", "xl_flip"),
    Wrong("slice of a dimension", lambda: xl.slice(xl.zeros("f32", (3,)), 1, 0, 3, 1), "xl_slice", "dimension 1"),
    Wrong("select beyond", lambda: xl.select(xl.zeros("f32", (3, 2)), 0, 3), "xl_select", "3", "f32[3,2]"),
    Wrong("select before", lambda: xl.select(xl.zeros("f32", (3, 2)), 0, -4), "xl_select", "-4", "f32[3,2]"),
    Wrong("select of none", lambda: xl.select(xl.zeros("f32", (0, 2)), 0, 0), "xl_select", "f32[0,2]"),
]
CASES[[c.name for c in CASES].index("detach")].grad = ()


def check_the_gradient_of_a_chain_of_views():
    x = xl.tensor(np.arange(24, dtype=np.float32).reshape(2, 3, 4)).requires_grad()
    y = xl.reshape(xl.slice(xl.permute(x, [2, 0, 1]), 0, 1, 4, 2), (2, 6))
    weights = np.arange(12, dtype=np.float32).reshape(2, 6)
    y.backward(xl.tensor(weights))
    want = np.zeros((2, 3, 4), np.float32)
    want[:, :, 1::2] = weights.reshape(2, 2, 3).transpose(1, 2, 0)
    same(x.grad, want)


def check_two_views_of_a_leaf_sum_their_gradients():
    x = xl.tensor(np.ones((3, 3), np.float32)).requires_grad()
    total = xl.add(xl.sum(xl.select(x, 0, 1)), xl.sum(xl.mul_scalar(xl.select(x, 1, 1), 2)))
    total.backward()
    same(x.grad, [[0, 2, 0], [1, 3, 1], [0, 2, 0]])


def check_an_expanded_tensor_is_refused_where_it_repeats():
    x = xl.ones("f32", (1, 3))
    fails(lambda: xl.add_(xl.expand(x, (2, 3)), x), "xl_add_", "expanded")
    xl.add_(xl.expand(x, (1, 1, 3)), x)
    same(x, [[2, 2, 2]])
