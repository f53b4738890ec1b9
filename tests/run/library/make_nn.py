"""Computes data/nn.npz, what PyTorch gives in f64 for the layers and losses of nn.flow: parameters, inputs, results, and the
derivatives of the sum of the results, each times its own weight. Run: python3 tests/run/library/make_nn.py (torch 2.15 is needed)."""
import pathlib

import numpy as np
import torch
from torch.nn import functional as F

torch.set_default_dtype(torch.float64)
g = torch.Generator().manual_seed(4)
out = {}


def draw(*shape):
    return torch.randn(*shape, generator=g, requires_grad=True)


def keep(name, result, **inputs):
    """Inputs, the result, and of a loss itself, of an array a weighted sum the derivatives by all inputs."""
    leaves = {k: v for k, v in inputs.items() if v.requires_grad}
    weight = torch.cos(torch.arange(result.numel(), dtype=torch.float64)).reshape(result.shape)
    grads = torch.autograd.grad((result * weight).sum(), list(leaves.values()))
    out[f"{name}_out"] = result.detach().numpy()
    out.update({f"{name}_{k}": v.detach().numpy() for k, v in inputs.items()})
    out.update({f"{name}_d{k}": v.numpy() for k, v in zip(leaves, grads)})


x, w, b = draw(5, 4), draw(3, 4), draw(3)
keep("dense", F.linear(x, w, b), x=x, w=w, b=b)
x, w, b = draw(2, 3, 6, 5), draw(4, 3, 3, 2), draw(4)
for name, options in {"conv": {}, "conv_stride": {"stride": 2, "padding": 1}, "conv_wide": {"padding": 2}}.items():
    keep(name, F.conv2d(x, w, b, **options), x=x, w=w, b=b)
keep("max_pool", F.max_pool2d(x, 2), x=x)
keep("max_pool_stride", F.max_pool2d(x, 3, stride=1), x=x)
keep("avg_pool", F.avg_pool2d(x, 2), x=x)
keep("avg_pool_stride", F.avg_pool2d(x, 3, stride=2), x=x)

x, w, b = draw(6, 4), draw(4), draw(4)
mean, var = torch.zeros(4), torch.ones(4)
keep("batch_norm", F.batch_norm(x, mean, var, w, b, training=True, momentum=0.1), x=x, w=w, b=b)
out["batch_norm_mean"], out["batch_norm_var"] = mean.numpy().copy(), var.numpy().copy()
keep("batch_norm_eval", F.batch_norm(x, mean, var, w, b, training=False), x=x, w=w, b=b)
x, w, b = draw(3, 2, 4, 5), draw(2), draw(2)
mean, var = torch.zeros(2), torch.ones(2)
keep("batch_norm2d", F.batch_norm(x, mean, var, w, b, training=True, momentum=0.1), x=x, w=w, b=b)
out["batch_norm2d_mean"], out["batch_norm2d_var"] = mean.numpy().copy(), var.numpy().copy()

x = (3 * torch.randn(4, 6, generator=g)).requires_grad_()
for name in ("relu", "leaky_relu", "elu", "gelu", "sigmoid", "silu", "softplus"):
    keep(name, getattr(F, name)(x) if name != "sigmoid" else torch.sigmoid(x), x=x)
keep("softmax", F.softmax(x, 1), x=x)
keep("log_softmax", F.log_softmax(x, 1), x=x)

y, label = torch.randn(4, 6, generator=g), torch.tensor([3, 0, 5, 3])
p, t = torch.rand(4, 6, generator=g).requires_grad_(), torch.rand(4, 6, generator=g)
keep("cross_entropy", F.cross_entropy(x, label), x=x, label=label)
keep("mse", F.mse_loss(x, y), x=x, y=y)
keep("mae", F.l1_loss(x, y), x=x, y=y)
keep("huber", F.huber_loss(x, y), x=x, y=y)
keep("huber_delta", F.huber_loss(x, y, delta=2.5), x=x, y=y)
keep("bce", F.binary_cross_entropy(p, t), x=p, y=t)
keep("bce_logits", F.binary_cross_entropy_with_logits(x, t), x=x, y=t)

x, w, u, b = draw(5, 3, 4), draw(8, 4), draw(8, 2), draw(8)
lstm = torch.nn.LSTM(4, 2)
_, (h, c) = torch.func.functional_call(
    lstm, {"weight_ih_l0": w, "weight_hh_l0": u, "bias_ih_l0": b, "bias_hh_l0": torch.zeros(8)}, (x,))
keep("lstm", torch.cat([h[0], c[0]], 1), x=x, w=w, u=u, b=b)
x, h, w, u, b, v = draw(3, 4), draw(3, 2), draw(6, 4), draw(6, 2), draw(6), draw(6)
gru = torch.nn.GRUCell(4, 2)
keep("gru", torch.func.functional_call(gru, {"weight_ih": w, "weight_hh": u, "bias_ih": b, "bias_hh": v}, (x, h)),
     x=x, h=h, w=w, u=u, b=b, v=v)
np.savez_compressed(pathlib.Path(__file__).parent / "data" / "nn.npz", **out)
