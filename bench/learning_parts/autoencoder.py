"""autoencoder.py: cost and gradient of a sparse autoencoder 64-25-64, for bench/learning; what lbfgs.py trains."""
TITLE = "sparse autoencoder 64-25-64, weight decay, f64"
ENGINES = ["numpy", "jax", "torch"]
H, V, DECAY, SPARSITY, RHO = 25, 64, 1e-4, 3.0, 0.01
CASES = [{"name": f"cost and gradient, {n:,} patches", "args": ["--n", str(n), "--times", str(max(12, min(200, 400_000 // n))), "--iters", "0"],
          "stage": "derivative", "n": n, "iters": 0, "bar": [("numpy", 4.0)]} for n in (1_000, 10_000, 100_000)]


def data(np, n):
    rng = np.random.default_rng(1)
    r = (6 / (H + V + 1)) ** 0.5
    p = np.concatenate([rng.uniform(-r, r, 2 * H * V), np.zeros(H + V)])
    return p, rng.uniform(0.1, 0.9, (n, V))


def cut(p):
    k = H * V
    return p[:k].reshape(H, V), p[k:2 * k].reshape(V, H), p[2 * k:2 * k + H], p[2 * k + H:]


def by_hand(np, p, x):
    """Cost and gradient in numpy, without a derivative of anything that is computed twice."""
    n = len(x)
    w1, w2, b1, b2 = cut(p)
    a2 = 1 / (1 + np.exp(-(x @ w1.T + b1)))
    a3 = 1 / (1 + np.exp(-(a2 @ w2.T + b2)))
    rho = a2.mean(0)
    d = a3 - x
    kl = (RHO * np.log(RHO / rho) + (1 - RHO) * np.log((1 - RHO) / (1 - rho))).sum()
    cost = (d * d).sum() / (2 * n) + DECAY / 2 * ((w1 * w1).sum() + (w2 * w2).sum()) + SPARSITY * kl
    d3 = d * a3 * (1 - a3)
    sparse = SPARSITY * ((1 - RHO) / (1 - rho) - RHO / rho)
    d2 = (d3 @ w2 + sparse) * a2 * (1 - a2)
    g1, g2 = d2.T @ x / n + DECAY * w1, d3.T @ a2 / n + DECAY * w2
    return cost, np.concatenate([g1.ravel(), g2.ravel(), d2.sum(0) / n, d3.sum(0) / n])


def cost(np, p, x):
    """The same in the operations of numpy or jax.numpy."""
    w1, w2, b1, b2 = cut(p)
    a2 = 1 / (1 + np.exp(-(x @ w1.T + b1)))
    a3 = 1 / (1 + np.exp(-(a2 @ w2.T + b2)))
    rho = a2.mean(0)
    kl = (RHO * np.log(RHO / rho) + (1 - RHO) * np.log((1 - RHO) / (1 - rho))).sum()
    return ((a3 - x) ** 2).sum() / (2 * len(x)) + DECAY / 2 * ((w1 ** 2).sum() + (w2 ** 2).sum()) + SPARSITY * kl


def with_torch(p, x):
    import torch

    p, x = torch.tensor(p, requires_grad=True), torch.tensor(x)

    def loss(p):
        w1, w2, b1, b2 = cut(p)
        a2 = torch.sigmoid(x @ w1.T + b1)
        a3 = torch.sigmoid(a2 @ w2.T + b2)
        rho = a2.mean(0)
        kl = (RHO * torch.log(RHO / rho) + (1 - RHO) * torch.log((1 - RHO) / (1 - rho))).sum()
        return ((a3 - x) ** 2).sum() / (2 * len(x)) + DECAY / 2 * ((w1 ** 2).sum() + (w2 ** 2).sum()) + SPARSITY * kl

    return p, loss


def engine(name, case, threads):
    import numpy as np

    p, x = data(np, case["n"])
    if name == "torch":
        import torch

        q, loss = with_torch(p, x)

        def derived(point):
            """What scipy's minimiser asks."""
            with torch.no_grad():
                q.copy_(torch.from_numpy(point))
            value = loss(q)
            (g,) = torch.autograd.grad(value, q)
            return value.item(), g.numpy()
    elif name == "jax":
        import jax
        import jax.numpy as jnp

        held, both = jnp.asarray(x), jax.jit(jax.value_and_grad(lambda p, x: cost(jnp, p, x)))

        def derived(point):
            value, g = both(point, held)
            return float(value), np.asarray(g)
    else:
        def derived(point):
            return by_hand(np, point, x)
    if not case["iters"]:
        return lambda: derived(p)
    import scipy.optimize

    settings = {"maxiter": case["iters"], "maxcor": 10, "ftol": 0.0, "gtol": 0.0, "maxfun": 10 ** 6}
    return lambda: scipy.optimize.minimize(derived, p, jac=True, method="L-BFGS-B", options=settings)
