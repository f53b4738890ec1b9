"""pi.py: example 05 as a parallel loop of numba. Prints `pi S`, seconds of the second call (the first compiles).

Usage: pi.py THREADS SAMPLES"""
import random
import sys
import time

import numba


@numba.njit(parallel=True)
def hits(n):
    count = 0
    for _ in numba.prange(n):
        x, y = random.random(), random.random()
        count += x * x + y * y < 1
    return count


numba.set_num_threads(min(int(sys.argv[1]), numba.config.NUMBA_NUM_THREADS))
samples = int(sys.argv[2])
hits(1000)
start = time.perf_counter()
count = hits(samples)
print("pi", time.perf_counter() - start)
assert abs(4 * count / samples - 3.14159) < 0.01
