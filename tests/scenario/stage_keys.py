"""The key of a stage says what it computes, and nothing of what else a script does: random scripts of chains of functions that go
past the budget of calls (compiler/sema/budget.c), with stages that call into the chains; stages that are added before, behind, or
that call the same functions with other arguments, leave the keys of the others."""
import pathlib
import random
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from scenario_kit import Place, check, finish

place = Place()
TERMS = ["sqrt(x * x + {c}.0)", "x * {c}.5", "(if x > {c}.0 {{ x - 1.0 }} else {{ x + {c}.0 }})", "max(x, {c}.25)", "abs(x - {c}.0)"]


def chain(numbers, name, depth):
    """Functions that each call the one before twice or more, with bodies of several sizes."""
    lines = [f"fn {name}0(x: f64) -> f64 = x + {numbers.randrange(9)}.0"]
    for k in range(1, depth):
        calls = " + ".join(f"{name}{k - 1}(x{numbers.choice(['', ' + 1.0'])}) * 0.5" for _ in range(numbers.choice([2, 2, 3])))
        more = "".join(" + " + numbers.choice(TERMS).format(c=numbers.randrange(9)) for _ in range(numbers.choice([0, 2, 12])))
        lines.append(f"fn {name}{k}(x: f64) -> f64 = {calls}{more}")
    return lines


def stage(numbers, name, chains, depth):
    calls = " + ".join(f"{numbers.choice(chains)}{numbers.randrange(depth // 2, depth)}(x)" for _ in range(numbers.randrange(1, 4)))
    if numbers.random() < 0.3:
        calls = f"sum(for i in 0..3: ({calls}) * f64(i))"
    return f"stage {name}(x: f64) -> f64 = {calls}"


def keys(lines):
    place.write("s.flow", "\n".join(lines) + "\n")
    done = place.run("build", "s.flow", "--emit", "ir", "-o", "s.ir", "-O0")
    if done.returncode:
        return None
    return dict(re.findall(r"^stage @(\w+)\(.* key ([0-9a-f]{32})", (place.path / "s.ir").read_text(), re.M))


for seed in range(12):
    numbers = random.Random(seed)
    depth = numbers.choice([8, 14, 20])
    functions = [line for name in "fgh" for line in chain(numbers, name, depth)]
    names = [f"s{k}" for k in range(5)]
    stages = {name: stage(numbers, name, "fgh", depth) for name in names}
    calls = {name: f"print({name}({k}.0))" for k, name in enumerate(names)}
    all_keys = keys([*functions, *stages.values(), *calls.values()])
    check(all_keys is not None and set(all_keys) == set(names), f"seed {seed}: five stages have keys", str(all_keys))
    for _ in range(3):
        some = numbers.sample(names, numbers.randrange(1, 5))
        found = keys([*functions, *(stages[name] for name in some), *(calls[name] for name in some)])
        check(found == {name: all_keys[name] for name in some}, f"seed {seed}: {some} alone have the keys that they have beside the others",
              f"{found} {all_keys}")
finish()
