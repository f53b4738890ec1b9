"""network.py: training of networks on handwritten digits, 1,797 images of 8 x 8, by Adam with mini-batches of 64, for bench/learning."""
import pathlib

TITLE = "networks on 1,797 digits, Adam, batches of 64"
ENGINES = ["numpy", "torch"]
HIDDEN, BATCH, RATE = 128, 64, 1e-3
CASES = [
    {"name": "64-128-10, 5 epochs, f64", "args": ["--kind", "f64"], "stage": "in_f64", "kind": "f64", "epochs": 5,
     "bar": [("numpy", 1.0), ("torch", 1.0)]},
    {"name": "64-128-10, 5 epochs, f32", "args": ["--kind", "f32"], "stage": "in_f32", "kind": "f32", "epochs": 5,
     "bar": [("numpy", 1.0), ("torch", 1.0)]},
    {"name": "two convolutions and poolings, 2 epochs, f64", "args": ["--kind", "convolutional", "--epochs", "2", "--times", "6"], "stage": "convolutional",
     "kind": "convolutional", "epochs": 2, "bar": [("torch", 1.0)]},
]


def data(np, dtype):
    path = pathlib.Path(__file__).resolve().parent.parent.parent / "examples/data/digits.csv"
    rows = np.loadtxt(path, delimiter=",", skiprows=1)
    return (rows[:, :64] / 16).astype(dtype), rows[:, 64].astype(np.int64)


def with_numpy(case):
    """Forward, backward and Adam by hand, in place where numpy can."""
    import numpy as np

    dtype = np.dtype(case["kind"].replace("f", "float"))
    x, y = data(np, dtype)

    def train():
        rng = np.random.default_rng(1)
        p = [rng.uniform(-r, r, s).astype(dtype) for r, s in ((0.3, (64, HIDDEN)), (0, HIDDEN), (0.2, (HIDDEN, 10)), (0, 10))]
        first, second = [np.zeros_like(a) for a in p], [np.zeros_like(a) for a in p]
        steps = 0
        for _ in range(case["epochs"]):
            order = rng.permutation(len(x))
            for b in range(0, len(x), BATCH):
                rows = order[b:b + BATCH]
                xb, n = x[rows], len(rows)
                h = np.maximum(xb @ p[0] + p[1], 0)
                s = h @ p[2] + p[3]
                s -= s.max(1, keepdims=True)
                np.exp(s, out=s)
                s /= s.sum(1, keepdims=True)
                s[np.arange(n), y[rows]] -= 1
                s /= n
                dh = s @ p[2].T
                dh *= h > 0
                steps += 1
                size = RATE * (1 - 0.999 ** steps) ** 0.5 / (1 - 0.9 ** steps)
                for a, m, v, g in zip(p, first, second, (xb.T @ dh, dh.sum(0), h.T @ s, s.sum(0))):
                    m *= 0.9
                    m += 0.1 * g
                    v *= 0.999
                    v += 0.001 * g * g
                    a -= size * m / (np.sqrt(v) + 1e-8)

    return train


def with_torch(case):
    import numpy as np
    import torch
    from torch import nn

    dtype = torch.float32 if case["kind"] == "f32" else torch.float64
    x, y = (torch.from_numpy(a) for a in data(np, np.float64))
    x = x.to(dtype)

    def train():
        if case["kind"] == "convolutional":
            held = x.reshape(-1, 1, 8, 8)
            net = nn.Sequential(nn.Conv2d(1, 8, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(8, 16, 3, padding=1), nn.ReLU(),
                                nn.MaxPool2d(2), nn.Flatten(), nn.Linear(64, 10)).to(dtype)
        else:
            held = x
            net = nn.Sequential(nn.Linear(64, HIDDEN), nn.ReLU(), nn.Linear(HIDDEN, 10)).to(dtype)
        adam, loss = torch.optim.Adam(net.parameters(), lr=RATE, fused=True), nn.CrossEntropyLoss()
        for _ in range(case["epochs"]):
            order = torch.randperm(len(held))
            for b in range(0, len(held), BATCH):
                rows = order[b:b + BATCH]
                adam.zero_grad()
                loss(net(held[rows]), y[rows]).backward()
                adam.step()

    return train


def engine(name, case, threads):
    if name == "torch":
        return with_torch(case)
    return None if case["kind"] == "convolutional" else with_numpy(case)
