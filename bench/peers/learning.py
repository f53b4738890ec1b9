"""learning.py: one case of a subject of bench/learning with one engine: the seconds that a call of it takes.

Comes in: subject, engine, case, threads. Goes out: the answer where the case wants it, the median of some calls after a first, or nothing where the engine has no such
case. What always holds: the data are made, and what is compiled is compiled, before a clock runs."""
import importlib
import pathlib
import statistics
import sys
import time

subject, engine, name, threads = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
LEAST, MOST = 5, 60  # calls
BUDGET = 2.0  # seconds, once there are LEAST

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "learning_parts"))
module = importlib.import_module(subject)
if engine == "data":
    module.prepare()
    sys.exit(0)
if engine == "torch":
    import torch

    torch.set_num_threads(threads)
if engine == "jax":
    import jax

    jax.config.update("jax_enable_x64", True)
case = next(c for c in module.CASES if c["name"] == name)
work = module.engine(engine, case, threads)
if work is None:
    sys.exit(0)


def seconds():
    global answer
    begin = time.perf_counter()
    answer = work()
    return time.perf_counter() - begin


answer = None
first = seconds()
taken = [seconds() for _ in range(case.get("calls", 0))]
while "calls" not in case and not case.get("once") and len(taken) < MOST and (len(taken) < LEAST or sum(taken) < BUDGET):
    taken.append(seconds())
if "agree" in case:
    print("answer", *answer)
print(statistics.median(taken) if taken else first)
