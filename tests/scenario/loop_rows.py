#!/usr/bin/env python3
"""The first rows of tables in the record of a run, of scripts with loops in loops, branches and calls of stages: of each step those of the first
round of its loops, and of a stage those of that call, as a model in Python has them; nothing of a step that the run did not come to. Random scripts,
in every way of running. `loop_rows.py ROUNDS SEED`."""
import pathlib
import random
import sys
import urllib.parse

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from scenario_kit import SHORT, Place, check, finish

# seconds: 40
ROUNDS = int(sys.argv[1]) if len(sys.argv) > 1 else 25 if SHORT else 80
SEED = int(sys.argv[2]) if len(sys.argv) > 2 else 1
HEAD = b"flow run 5\n"
CALLS = 4  # of a stage that are seen


def in_record(place):
    """{(line, call of a stage or None): (rows, columns of the table, {name: its first cells}, whether it is in a loop)} of steps, and how often each line has rows."""
    for p in place.store.glob("records/*/*"):
        data = p.read_bytes()
        at = data.find(HEAD)
        if at < 0:
            continue
        lines = [line.split(" ") for line in data[at:].split(b"\n---\n")[0].decode().split("\n")]
        calls = []
        for words in lines:
            if words[0] == "stage":
                args = [urllib.parse.unquote(w.split(":", 1)[1]) for w in words[14:] if ":" in w]
                args = [a for a, behind in zip(args, args[1:] + [""]) if a.split("=")[0] != behind]  # but for sizes of arrays
                calls.append(words[1] + "(" + ", ".join(a.replace("=", " = ") for a in args if "=" in a) + ")")
        found, times = {}, {}
        for words in lines:
            if words[0] == "rows" and words[1] == "step":
                cells = {}
                call = calls[int(words[10])] if int(words[10]) >= 0 else None
                found[int(words[3]), call] = (int(words[8]), int(words[9]), cells, words[11] == "1")
                times[int(words[3])] = times.get(int(words[3]), 0) + 1
            elif words[0] == "rows":
                cells = {}
            elif words[0] == "cells":
                cells[words[2]] = [int(w, 16) - (1 << 64) * (int(w, 16) >> 63) for w in words[4:]]
        return found, times
    return {}, {}


class Script:
    """Lines of a script, and what a run of it does: functions of the values of names and of how it is seen."""

    def __init__(self, draw):
        self.draw, self.lines, self.n, self.want, self.indent = draw, [], 0, {}, 0
        self.loops = {}
        self.stages = []

    def put(self, text):
        self.lines.append("  " * self.indent + text)
        return len(self.lines)

    def come(self, line, seen, table):
        """The run is at a step. In a stage it may come there again with the same p and another table, of the script once."""
        of = self.want.setdefault((line, seen.call), [])
        if not of or seen.call:
            of.append(table)

    def name(self):
        self.n += 1
        return f"t{self.n}"

    def step(self, tables, numbers):
        """The text of a step, and what it does with rows {name: [..]}; numbers: names of numbers that are there."""
        k, m = self.draw.randrange(1, 6), self.draw.randrange(2, 5)
        by, plus = (self.draw.choice(numbers),) * 2 if numbers and self.draw.random() < 0.7 else (None, str(k))
        value = (lambda env: env[by]) if by else (lambda env: k)
        kind = self.draw.randrange(5)
        if kind == 0:
            return f"where((a + {plus}) % {m} != 0)", lambda t, env: pick(t, [i for i, a in enumerate(t["a"]) if (a + value(env)) % m != 0])
        if kind == 1:
            return f"derive(c = a * {m} + {plus})", lambda t, env: {**t, "c": [a * m + value(env) for a in t["a"]]}
        if kind == 2:
            return "sort(-b, a)", lambda t, env: pick(t, sorted(range(len(t["a"])), key=lambda i: (-t["b"][i], t["a"][i])))
        if kind == 3:
            return f"head({k + 3})", lambda t, env: pick(t, range(min(k + 3, len(t["a"]))))
        return f"select(a, b = b + {plus})", lambda t, env: {"a": t["a"], "b": [b + value(env) for b in t["b"]]}

    def pipe(self, head, first, tables, numbers, looped):
        """Lines `head = first |> .. |> ..`, and what they do: gives the value."""
        self.put(f"{head}{first}")
        steps = []
        for _ in range(self.draw.randrange(1, 4)):
            text, does = self.step(tables, numbers)
            line = self.put("  |> " + text)
            self.loops[line] = looped
            steps.append((line, does))

        def run(env, seen):
            t = env[first]
            for line, does in steps:
                t = does(t, env)
                if seen.on:
                    self.come(line, seen, t)
            return t
        return run

    def statements(self, tables, numbers, depth, looped):
        """Some statements, and what they do."""
        todo, tables = [], list(tables)
        for _ in range(self.draw.randrange(1, 4)):
            kind = self.draw.randrange(8)
            if kind < 3 or depth > 2 and kind > 3:
                name, first = self.name(), self.draw.choice(tables)
                run = self.pipe(f"let {name} = ", first, tables, numbers, looped)
                self.put(f"show({name}, rows = 2)")
                todo.append(lambda env, seen, name=name, run=run: env.__setitem__(name, run(env, seen)))
                tables.append(name)
            elif kind == 3 and self.stages:
                name, first = self.name(), self.draw.choice(tables)
                stage, body = self.draw.choice(self.stages)
                by = self.draw.choice(numbers + ["1", "2"])
                self.put(f"let {name} = {stage}({first} |> select(a, b), {by})")
                line = len(self.lines)
                self.loops[line] = looped
                self.put(f"show({name}, rows = 2)")

                def call(env, seen, name=name, first=first, stage=stage, body=body, by=by, line=line):
                    p = env[by] if by in env else int(by)
                    t = {c: env[first][c] for c in "ab"}
                    if seen.on:
                        self.come(line, seen, t)
                    env[name] = body({"t": t, "p": p}, Seen(f"{stage}(p = {p})"))
                todo.append(call)
                tables.append(name)
            elif kind == 4 or kind == 5:
                name, lo, hi = f"i{self.n}", self.draw.randrange(3), self.draw.randrange(5)
                self.n += 1
                self.put(f"for {name} in {lo}..{hi} {{")
                self.indent += 1
                inner = self.statements(tables, numbers + [name], depth + 1, True)
                self.indent -= 1
                self.put("}")
                todo.append(lambda env, seen, name=name, lo=lo, hi=hi, inner=inner: loop(env, seen, [{name: i} for i in range(lo, hi)], inner))
            elif kind == 6:
                name, hi = f"w{self.n}", self.draw.randrange(4)
                self.n += 1
                self.put(f"var {name} = 0")
                self.put(f"while {name} < {hi} {{")
                self.indent += 1
                inner = self.statements(tables, numbers + [name], depth + 1, True)
                self.put(f"{name} += 1")
                self.indent -= 1
                self.put("}")
                todo.append(lambda env, seen, name=name, hi=hi, inner=inner: loop(env, seen, [{name: i} for i in range(hi)], inner))
            else:
                if numbers and self.draw.random() < 0.7:
                    by, m = self.draw.choice(numbers), self.draw.randrange(3)
                    self.put(f"if {by} > {m} {{")
                    holds = lambda env, by=by, m=m: env[by] > m
                else:
                    of, m = self.draw.choice(tables), self.draw.randrange(12)
                    self.put(f"if len({of}) > {m} {{")
                    holds = lambda env, of=of, m=m: len(env[of]["a"]) > m
                both = []
                for k in range(2):
                    self.indent += 1
                    both.append(self.statements(tables, numbers, depth + 1, looped))
                    self.indent -= 1
                    self.put("} else {" if k == 0 else "}")
                todo.append(lambda env, seen, holds=holds, both=both: both[0 if holds(env) else 1](dict(env), seen))
        return lambda env, seen: [do(env, seen) for do in todo]

    def script(self):
        sizes = [self.draw.choice([0, 1, 7, 30]), self.draw.randrange(5, 15)]
        for k, n in enumerate(sizes):
            self.put(f"let r{k} = table(a = [for i in 0..{n}: i * {k + 3} % 11], b = [for i in 0..{n}: i - {k}])")
        for k in range(2):
            self.put(f"stage s{k}(t: (a: i64, b: i64)[n], p: i64) {{")
            self.indent += 1
            run = self.pipe("let u = ", "t", ["t"], ["p"], False)
            if self.draw.random() < 0.6:
                self.put("var last = 0")
                self.put("for j in 0..3 {")
                self.indent += 1
                inner = self.pipe("let v = ", "u", ["u"], ["p", "j"], True)
                self.put("last += if len(v) > 0 { v.a[0] + v.b[len(v) - 1] } else { 0 }")
                self.indent -= 1
                self.put("}")
                self.put("assert last < 1000000")
                body = lambda env, seen, run=run, inner=inner: after(env, seen, run, inner)
            else:
                body = lambda env, seen, run=run: run(env, seen)
            self.put("u |> select(a, b)")
            line = len(self.lines)
            self.loops[line] = False

            def whole(env, seen, body=body, line=line):
                u = body(env, seen)
                t = {c: u[c] for c in "ab"}
                if seen.on:
                    self.come(line, seen, t)
                return t
            self.indent -= 1
            self.put("}")
            self.stages.append((f"s{k}", whole))
        run = self.statements(["r0", "r1"], [], 0, False)
        env = {f"r{k}": {"a": [i * (k + 3) % 11 for i in range(n)], "b": [i - k for i in range(n)]} for k, n in enumerate(sizes)}
        run(env, Seen(None))
        return "\n".join(self.lines) + "\n"


class Seen:
    """How what runs is seen: in which call of a stage, and whether in the first round of all loops."""

    def __init__(self, call):
        self.call, self.on = call, True


def pick(t, at):
    at = list(at)
    return {c: [v[i] for i in at] for c, v in t.items()}


def loop(env, seen, rounds, inner):
    before = seen.on
    for values in rounds:
        inner({**env, **values}, seen)
        seen.on = False
    seen.on = before


def after(env, seen, run, inner):
    u = run(env, seen)
    loop({**env, "u": u}, seen, [{"j": j} for j in range(3)], inner)
    return u


known = wanted = in_loops = in_stages = 0
for seed in range(SEED, SEED + ROUNDS):
    writer = Script(random.Random(seed))
    text = writer.script()
    place = Place(main__flow=text)
    first = None
    for way in (["--workers", "1"], ["--workers", "2"], ["-O0"], ["--interp"]):
        place.run("cache", "clear")
        done = place.run("run", *way, "main.flow")
        check(done.returncode == 0, f"seed {seed} {way} runs", done.stderr + text)
        found, times = in_record(place)
        for (line, call), (n, of, cells, looped) in found.items():
            # p is no argument of a stage where what it gives does not depend on it
            wants = [w for (at, of), its in writer.want.items() if at == line and (of == call or call and call.endswith("()") and of) for w in its]
            says = f"seed {seed} {way}: line {line}, {call}"
            check(wants, f"{says}: the run came there in a first round", (n, cells, text))
            of_size = [w for w in wants if (n, of) == (len(w["a"]), len(w))]
            check(of_size or not wants, f"{says}: its number of rows", (n, of, wants, text))
            check(not of_size or any(all(cells[c] == w[c][:20] for c in cells) for w in of_size), f"{says}: its rows", (cells, wants, text))
            check(looped == writer.loops[line], f"{says}: in a loop", (looped, text))
        check(all(n <= CALLS for n in times.values()), f"seed {seed} {way}: at most {CALLS} calls of a stage", times)
        if way[0] == "--workers":
            known += len(found)
            wanted += len(writer.want)
            in_loops += sum(f[3] for f in found.values())
            in_stages += sum(call is not None for _, call in found)
print(f"{known} of {wanted} steps have rows, {in_loops} in loops, {in_stages} in stages")
check(known > wanted / 2 and in_loops > known / 10 and in_stages > known / 20, "most steps have rows", (known, wanted, in_loops, in_stages))
finish()
