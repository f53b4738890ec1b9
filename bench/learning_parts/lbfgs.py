"""lbfgs.py: training a sparse autoencoder 64-25-64 by 400 iterations of L-BFGS, for bench/learning: the time of the whole run, and of
an iteration, by patches and workers. The engines' derivatives go to scipy's L-BFGS-B."""
from autoencoder import engine  # noqa: F401, for bench/peers/learning.py

SCRIPT = "autoencoder"
TITLE = "sparse autoencoder 64-25-64, 400 iterations of L-BFGS, f64"
ENGINES = ["numpy", "jax", "torch"]
ITERATIONS = 400
SHARE = ("mean time of an iteration", ITERATIONS)
CASES = [{"name": f"{n:,} patches", "args": ["--n", str(n), "--times", "0", "--iters", str(ITERATIONS)], "stage": "trained", "n": n,
          "iters": ITERATIONS, "bar": [("numpy", 4.0)], "once": True} for n in (1_000, 10_000, 100_000)]
