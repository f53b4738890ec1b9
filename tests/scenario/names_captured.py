"""Names that are bound again: a lambda, wherever it is written and called, sees what its names meant where it was written (LANGUAGE 3),
as the closures of a Python model do whose names are copied. Random programs of bindings, variables, blocks, functions and lambdas that call
lambdas, with few names, compiled and interpreted; many names in one scope, which are looked up another way; a name that is bound only later is
an error. From the seed and as many rounds as the first two arguments say."""
import pathlib
import random
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from scenario_kit import SHORT, Place, check, finish

SEED = int(sys.argv[1]) if len(sys.argv) > 1 else 1
ROUNDS = int(sys.argv[2]) if len(sys.argv) > 2 else 4 if SHORT else 6
place = Place()


class Program:
    """Lines of flow, and what they print by the model: values are numbers, or functions of one."""

    def __init__(self, seed):
        self.r = random.Random(seed)
        self.lines, self.printed, self.functions, self.depth = [], [], [], 0

    def expr(self, env, param=None):
        """(text, a function of the parameter that gives its value): what is around is read now."""
        numbers = [n for n, v in env.items() if not callable(v)]
        lambdas = [n for n, v in env.items() if callable(v)]
        kind = self.r.random()
        if lambdas and kind < 0.3:
            f, (text, value) = env[name := self.r.choice(lambdas)], self.expr({n: env[n] for n in numbers}, param)
            return f"{name}({text})", lambda p: f(value(p))
        if kind < 0.7 and numbers:
            v, (text, value), k = env[name := self.r.choice(numbers)], self.expr({}, param), self.r.randrange(2, 9)
            return f"({name} * {k} + {text}) % 1009", lambda p: (v * k + value(p)) % 1009
        if param and kind < 0.95:
            return param, lambda p: p
        k = self.r.randrange(100)
        return str(k), lambda p: k

    def statement(self, env, variables, indent, top):
        kind, name = self.r.random(), self.r.choice("abcd")
        if kind < 0.35 or name in variables and kind < 0.5:
            text, value = self.expr(env)
            assigns = name in variables
            self.lines.append(f"{indent}{'' if assigns else 'let '}{name} = {text}")
            env[name] = value(None)
        elif kind < 0.45 and name not in env:
            self.lines.append(f"{indent}var {name} = 7")
            variables.add(name)
            env[name] = 7
        elif kind < 0.75:
            text, value = self.expr(dict(env), "y")
            name = self.r.choice("fgh")
            self.lines.append(f"{indent}let {name} = y => {text}")
            env[name] = value
        elif kind < 0.85 and self.depth < 2 and name not in variables:
            self.lines.append(f"{indent}let {name} = {{")
            self.depth += 1
            within = dict(env)
            for _ in range(self.r.randrange(1, 5)):
                self.statement(within, set(), indent + "  ", False)
            text, value = self.expr(within)
            self.depth -= 1
            self.lines += [f"{indent}  {text}", f"{indent}}}"]
            env[name] = value(None)
        elif top:
            text, value = self.expr(env)
            self.lines.append(f"print({text})")
            self.printed.append(value(None))

    def function(self, name):
        self.lines.append(f"fn {name}(q: i64) -> i64 {{")
        begin, body = len(self.lines), self.r.randrange(1 << 30)

        def model(q):
            at = len(self.lines)
            r, self.r = self.r, random.Random(body)
            env = {"q": q}
            for _ in range(8):
                self.statement(env, set(), "  ", False)
            text, value = self.expr(env)
            self.lines.append(f"  {text}")
            self.r = r
            made = self.lines[at:]
            del self.lines[at:]
            return made, value(None)

        self.lines += [*model(1)[0], "}"]
        check(self.lines[begin:-1] == model(5)[0], "the model's text does not depend on the argument")
        return lambda q: model(q)[1]

    def make(self):
        functions = {name: self.function(name) for name in ("one", "two")}
        env, variables = {}, set()
        for _ in range(40):
            self.statement(env, variables, "", True)
            if self.r.random() < 0.1:
                name, k = self.r.choice(list(functions)), self.r.randrange(50)
                self.lines.append(f"print({name}({k}))")
                self.printed.append(functions[name](k))
        return "\n".join(self.lines) + "\n", "".join(f"{v}\n" for v in self.printed)


for seed in range(SEED, SEED + ROUNDS):
    text, wanted = Program(seed).make()
    place.write("p.flow", text)
    for way in ([], ["--interp"], ["-O0", "--workers", "3"]):
        done = place.run("run", *way, "--no-cache", "p.flow")
        check(done.returncode == 0 and done.stdout == wanted, f"seed {seed}, {way}: what the model prints", text + done.stdout + done.stderr)

# Many names of one scope.
many = "".join(f"let n{k} = {k}\n" for k in range(40))
place.write("many.flow", many + "let x = 4\nlet g = y => y + x + n7\n" + many.replace("let n", "let m") + "let x = 100\nlet n7 = 9\nlet h = y => y + x + n7\n"
            "print(g(1))\nprint(h(1))\n")
done = place.run("run", "--no-cache", "many.flow")
check(done.stdout == "12\n110\n", "many names", done.stdout + done.stderr)

# What is bound only later is not there.
place.write("later.flow", "let g = y => y + later\nlet later = 3\nprint(g(1))\n")
done = place.run("run", "--no-cache", "later.flow")
check(done.returncode == 3 and "later.flow:1:18: error E0201" in done.stderr, "a name that is bound later", done.stderr)
finish()
