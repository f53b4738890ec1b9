"""fourier.py: the power of the real Fourier transform of many clips, for bench/learning."""
TITLE = "power of the Fourier transform, f64"
ENGINES = ["scipy"]
CASES = [{"name": "2,000 clips of 65,536 samples", "args": ["--clips", "2000", "--samples", "65536", "--times", "5"], "stage": "power",
          "shape": (2_000, 65_536), "bar": [("scipy", 1.5)]},
         {"name": "100,000 clips of 1,000 samples", "args": ["--clips", "100000", "--samples", "1000", "--times", "5"], "stage": "power",
          "shape": (100_000, 1_000), "bar": [("scipy", 1.5)]}]


def engine(name, case, threads):
    import os

    import numpy as np
    import scipy.fft

    x = np.random.default_rng(1).uniform(-0.5, 0.5, case["shape"])
    threads = int(os.environ["OMP_NUM_THREADS"])

    def power():
        """The size squared in place, which is faster than the squares of both parts."""
        p = np.abs(scipy.fft.rfft(x, workers=threads))
        p *= p
        return p

    return power
