#!/usr/bin/env python3
"""XLA's side of the checks of HLO.  Runs inside the environment of JAX, but for `torch`.

    hlo_peer.py print FILE...     writes FILE.xla, the text that XLA prints of an HloModuleProto
    hlo_peer.py parse FOLDER      writes FOLDER/NAME.hlo: modules that XLA parsed from text (hlo_texts.py)
    hlo_peer.py torch FOLDER      writes FOLDER/NAME.hlo: graphs of torch_xla, in its environment
"""
import pathlib
import sys


def module_of(path):
    from jaxlib import _hlo
    return _hlo.HloModule.from_serialized_hlo_module_proto(pathlib.Path(path).read_bytes())


def print_modules(*paths):
    for path in paths:
        module = module_of(path)
        pathlib.Path(path + ".xla").write_text(module.to_string())


def parse(folder):
    from jaxlib import _hlo
    from hlo_texts import texts
    for name, text in texts():
        module = _hlo.hlo_module_from_text(text)
        (pathlib.Path(folder) / (name + ".hlo")).write_bytes(module.as_serialized_hlo_module_proto())


def graphs_of_torch():
    import torch
    import torch.nn.functional as F
    import torch_xla
    device = torch_xla.device()
    image = torch.randn(2, 4, 8, 8, device=device)
    matrix = torch.randn(6, 5, device=device)
    index = torch.tensor([0, 3, 1], device=device)
    yield "softmax", matrix.softmax(-1)
    yield "matmul", torch.addmm(torch.ones(6, device=device), matrix, matrix.T)
    yield "conv", F.conv2d(image, torch.randn(6, 4, 3, 3, device=device), padding=1, stride=2)
    yield "pool", F.max_pool2d(image, 2) + F.avg_pool2d(image, 2)
    yield "norm", F.group_norm(image, 2) + F.layer_norm(image, [8, 8])
    yield "embedding", F.embedding(index, matrix)
    yield "scatter", torch.zeros(6, 5, device=device).index_add(0, index, torch.ones(3, 5, device=device))
    yield "sort", matrix.sort(0).values + matrix.topk(6, 0).values
    yield "argmax", matrix.argmax(1)
    yield "loss", F.cross_entropy(matrix, torch.tensor([0, 1, 2, 3, 4, 0], device=device))
    yield "slices", torch.cat([matrix[1:4, ::2], matrix[:3, 1:4]], 1)
    yield "dropout", F.dropout(matrix, 0.5, True)
    yield "half", (matrix.bfloat16() @ matrix.bfloat16().T).float().clamp(-1, 1)
    w = torch.randn(5, 5, device=device, requires_grad=True)
    F.gelu(matrix @ w).mean().backward()
    yield "backward", w.grad


def torch(folder):
    import torch_xla
    for name, tensor in graphs_of_torch():
        (pathlib.Path(folder) / (name + ".hlo")).write_bytes(torch_xla._XLAC._get_xla_tensors_hlo_proto([tensor]))


if __name__ == "__main__":
    {"print": print_modules, "parse": parse, "torch": torch}[sys.argv[1]](*sys.argv[2:])
