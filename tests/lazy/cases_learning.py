"""Small networks learn as NumPy computes it, with gradients by hand: the losses of 20 steps of gradient descent."""
import numpy as np

from cases import close
import xl

STEPS = 20


def losses_of(loss_of, arrays, rate):
    parameters, losses = [xl.tensor(a, "f32").requires_grad() for a in arrays], []
    for _ in range(STEPS):
        loss = loss_of(*parameters)
        loss.backward()
        was_on = xl.set_grad_mode(False)
        for p in parameters:
            xl.add_scaled_(p, p.grad, -rate)
            p.zero_grad()
        xl.set_grad_mode(was_on)
        losses.append(loss)
    return np.array([loss.numpy() for loss in losses])


def reference_of(step, arrays, rate):
    """step gives the loss and the gradients of all arrays."""
    losses = []
    for _ in range(STEPS):
        loss, gradients = step(*arrays)
        arrays = [a - rate * g for a, g in zip(arrays, gradients)]
        losses.append(loss)
    return np.array(losses)


def learns(loss_of, step, arrays, rate):
    arrays = [a.astype(np.float32).astype(np.float64) for a in arrays]
    got, want = losses_of(loss_of, arrays, rate), reference_of(step, arrays, rate)
    close(got, want, 1e-5)
    assert got[-1] < 0.6 * got[0], got


def check_a_perceptron_learns():
    random = np.random.default_rng(3)
    x, target = random.standard_normal((16, 8)), random.integers(0, 4, 16)
    inputs, targets = xl.tensor(x, "f32"), xl.tensor(target)

    def loss_of(a, b, c, d):
        return xl.cross_entropy(xl.linear(xl.relu(xl.linear(inputs, a, b)), c, d), targets)

    def step(a, b, c, d):
        before = x @ a.T + b
        hidden = np.maximum(before, 0)
        exponentials = np.exp(hidden @ c.T + d)
        chances = exponentials / exponentials.sum(1, keepdims=True)
        by_logits = (chances - np.eye(4)[target]) / 16
        by_hidden = by_logits @ c * (before > 0)
        return (-np.mean(np.log(chances[np.arange(16), target])),
                (by_hidden.T @ x, by_hidden.sum(0), by_logits.T @ hidden, by_logits.sum(0)))

    learns(loss_of, step, [random.standard_normal(s) * 0.5 for s in ((12, 8), (12,), (4, 12), (4,))], 0.2)


def check_a_convolutional_network_learns():
    random = np.random.default_rng(4)
    x, target = random.standard_normal((4, 2, 6, 6)), random.standard_normal((4, 2))
    padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    windows = {(i, j): padded[:, :, i:i + 6, j:j + 6] for i in range(3) for j in range(3)}
    images, targets = xl.tensor(x, "f32"), xl.tensor(target, "f32")
    options = {"stride": (1, 1), "padding": (1, 1), "dilation": (1, 1), "groups": 1}

    def loss_of(w, b, v, c):
        pooled = xl.avg_pool2d(xl.relu(xl.conv2d(images, w, b, options)), 2, 2)
        return xl.mse_loss(xl.linear(xl.flatten(pooled, 1, -1), v, c), targets)

    def step(w, b, v, c):
        before = b[:, None, None] + sum(np.einsum("nchw,oc->nohw", x, w[:, :, i, j]) for (i, j), x in windows.items())
        pooled = np.maximum(before, 0).reshape(4, 3, 3, 2, 3, 2).mean((3, 5)).reshape(4, 27)
        result = pooled @ v.T + c
        by_result = 2 * (result - target) / result.size
        by_pooled = (by_result @ v).reshape(4, 3, 3, 3) / 4
        by_before = by_pooled.repeat(2, 2).repeat(2, 3) * (before > 0)
        by_weight = np.empty_like(w)
        for (i, j), part in windows.items():
            by_weight[:, :, i, j] = np.einsum("nohw,nchw->oc", by_before, part)
        return (np.mean((result - target)**2),
                (by_weight, by_before.sum((0, 2, 3)), by_result.T @ pooled, by_result.sum(0)))

    learns(loss_of, step, [random.standard_normal(s) * 0.3 for s in ((3, 2, 3, 3), (3,), (2, 27), (2,))], 0.2)
