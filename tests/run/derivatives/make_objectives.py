"""make_objectives.py: writes gmm.npy, bundle.npy and lstm.npy, the values and gradients that the scripts of these names are compared with.

The objectives are those of ADBench (F. Srajer, Z. Kukelova, A. Fitzgibbon, "A benchmark of selected algorithmic differentiation tools on
some problems in computer vision and machine learning", 2018), written anew. Each file holds the value and then the gradient by every
parameter, each the imaginary part of the objective at a step of 1e-40 i, which no subtraction makes inexact (W. Squire, G. Trapp, "Using
complex variables to estimate derivatives of real functions", 1998). Needs numpy; inputs are small fractions, the same as in the scripts."""
import math

import numpy as np


def numbers(seed, rows, columns):
    i, j = np.arange(rows)[:, None], np.arange(columns)[None, :]
    return ((i * 7 + j * 13 + i * j + seed * 5) % 17) / 17 - 0.45


def log_sum_exp(x, axis):
    top = x.real.max(axis=axis, keepdims=True)
    return (top + np.log(np.exp(x - top).sum(axis=axis, keepdims=True))).squeeze(axis)


def gmm(alpha, mean, icf, x, gamma, m):
    """Log-likelihood of a mixture of normals with a Wishart prior; icf: logarithms of the diagonals of the inverse covariances' factors, and
    then what is below them, by columns."""
    n, d = x.shape
    k = len(alpha)
    diagonal, sums = np.exp(icf[:, :d]), icf[:, :d].sum(1)
    q = np.zeros((k, d, d), dtype=icf.dtype)
    at = d
    for c in range(d):
        q[:, c, c] = diagonal[:, c]
        for r in range(c + 1, d):
            q[:, r, c] = icf[:, at]
            at += 1
    y = np.einsum("krc,nkc->nkr", q, x[:, None, :] - mean[None])
    inner = alpha + sums - 0.5 * (y * y).sum(2)
    prior = (0.5 * gamma ** 2 * ((diagonal ** 2).sum(1) + (icf[:, d:] ** 2).sum(1)) - m * sums).sum()
    w = d + m + 1
    log_gamma = 0.25 * d * (d - 1) * math.log(math.pi) + sum(math.lgamma(0.5 * w - 0.5 * j) for j in range(d))
    constant = w * d * (math.log(gamma) - 0.5 * math.log(2)) - log_gamma
    return (-n * d * 0.5 * math.log(2 * math.pi) + log_sum_exp(inner, 1).sum() - n * log_sum_exp(alpha[None], 1)[0]
            + prior - k * constant)


def project(camera, point):
    r, c, f, x0, kappa = camera[:3], camera[3:6], camera[6], camera[7:9], camera[9:11]
    x, square = point - c, (r * r).sum()
    if square != 0:
        theta = np.sqrt(square)
        w = r / theta
        x = x * np.cos(theta) + np.cross(w, x) * np.sin(theta) + w * (w * x).sum() * (1 - np.cos(theta))
    else:
        x = x + np.cross(r, x)
    p = x[:2] / x[2]
    s = (p * p).sum()
    return p * (1 + kappa[0] * s + kappa[1] * s * s) * f + x0


def bundle(cameras, points, weights, feats, camera_of, point_of):
    """Squares of the errors of bundle adjustment, and of 1 - w^2 of its weights."""
    total = ((1 - weights * weights) ** 2).sum()
    for o in range(len(weights)):
        e = weights[o] * (project(cameras[camera_of[o]], points[point_of[o]]) - feats[o])
        total = total + (e * e).sum()
    return total


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def lstm(main, extra, state, sequence):
    """Mean loss of predicting each row of a sequence from those before by layers of diagonal LSTM cells."""
    layers, b = len(main) // 2, sequence.shape[1]
    hidden, cell = state[0::2].astype(main.dtype), state[1::2].astype(main.dtype)
    total = 0
    for t in range(len(sequence) - 1):
        x = sequence[t] * extra[0]
        for a in range(layers):
            w, o = main[2 * a].reshape(4, b), main[2 * a + 1].reshape(4, b)
            forget, ingate = sigmoid(x * w[0] + o[0]), sigmoid(hidden[a] * w[1] + o[1])
            out, change = sigmoid(x * w[2] + o[2]), np.tanh(hidden[a] * w[3] + o[3])
            cell[a] = cell[a] * forget + ingate * change
            hidden[a] = out * np.tanh(cell[a])
            x = hidden[a]
        y = x * extra[1] + extra[2]
        total = total + (sequence[t + 1] * (y - np.log(np.exp(y).sum() + 2))).sum()
    return -total / ((len(sequence) - 1) * b)


def by_complex_step(f, parameters):
    """The value, and the derivative by each element of each parameter."""
    out = [f(*parameters)]
    for k, p in enumerate(parameters):
        for at in np.ndindex(p.shape):
            q = [x.astype(complex) for x in parameters]
            q[k][at] += 1e-40j
            out.append(f(*q).imag / 1e-40)
    return np.array(out, dtype=float)


n, d, k = 12, 4, 3
mixture = [numbers(1, 1, k)[0], numbers(2, k, d), numbers(3, k, d * (d + 1) // 2)]
np.save("gmm.npy", by_complex_step(lambda *p: gmm(*p, 4 * numbers(4, n, d), 1.5, 2), mixture))

cameras = numbers(5, 3, 11)
cameras[:, 6] += 2
cameras[0, :3] = 0  # no rotation
points = numbers(6, 5, 3) + [0, 0, 3]
camera_of, point_of = np.arange(14) % 3, np.arange(14) % 5
feats, weights = numbers(7, 14, 2), 1 + numbers(8, 1, 14)[0]
np.save("bundle.npy", by_complex_step(lambda *p: bundle(*p, feats, camera_of, point_of), [cameras, points, weights]))

layers, b, c = 2, 5, 9
np.save("lstm.npy", by_complex_step(lambda *p: lstm(*p, numbers(11, 2 * layers, b), 2 * numbers(12, c, b)), [numbers(9, 2 * layers, 4 * b), numbers(10, 3, b)]))
