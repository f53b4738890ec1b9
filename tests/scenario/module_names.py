#!/usr/bin/env python3
"""Names between files: `_name` is private to its module in every kind of declaration and place of use; no param of a script has the name of
one of its options; circles of imports are one short error by whatever spelling; `check`, `test` and `run` take a file by any spelling."""
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from scenario_kit import FLOWC, Place, check, finish

place = Place()
for folder in ("lib/deep", "other", "a", "b", "c"):
    (place.path / folder).mkdir(parents=True)

# ---- `_name`: kind of declaration x place of use ----
place.write("lib/m.flow", """import "deep/h.flow" as h
type _T = (a: f64)
param _k: i64 = 3
param open: i64 = 4
let _c = 2.0
let (_one, both) = (1.0, 2.0)
fn _help(x: f64) -> f64 = x + _c
fn _many(x: f64[n]) -> f64 = sum(x) + _one
stage _stage(x: f64) -> f64 = x + _c
fn made(a: f64) -> _T = (a = a)
fn out(x: f64) -> f64 = _help(x) + _stage(x) + _k + h.g() + _many([x]) + made(x).a
test "inside" { assert out(1.0) == 22.0 }
""")
place.write("lib/deep/h.flow", "fn g() -> f64 = _g()\nfn _g() -> f64 = 10.0\n")
USES = {
    "called": "print(m._help(1.0))", "piped": "1.0 |> m._help |> show", "stage": "print(m._stage(1.0))",
    "let": "print(m._c)", "pattern": "print(m._one)", "param": "print(m._k)",
    "type": "let t: m._T = (a = 1.0)\nprint(t.a)", "argument type": "fn f(t: m._T) -> f64 = t.a\nprint(f((a = 1.0)))",
    "function value": "let f = m._help\nprint(f(1.0))", "grad": "print(grad(m._help)(1.0))",
    "verb": "table(a = [1.0]) |> derive(b = m._help(a)) |> show",
    "aggregate": "table(a = [1.0]) |> summarize(b = m._many(a), by = a) |> show",
    "each": "table(a = [1.0]) |> derive(each(all(), m._help)) |> show",
    "in a function": "fn f(x: f64) -> f64 = m._help(x)\nprint(f(1.0))",
    "never called": "fn f(x: f64) -> f64 = m._help(x)\nprint(1)",
    "in a test": "test \"t\" { assert m._help(1.0) == 3.0 }\nprint(1)",
}
for name, use in USES.items():
    place.write("use.flow", f'import "lib/m.flow"\n{use}\n')
    p = place.run("check", "use.flow")
    codes = re.findall(r"error (E\d+)", p.stderr)
    check(p.returncode == 3 and codes and set(codes) == {"E0225"} and "the module `m`" in p.stderr and "(lib/m.flow:" in p.stderr,
          f"private: {name}", p.stdout + p.stderr)
place.write("use.flow", 'import "lib/m.flow" as other\nprint(other._help(1.0))\n')
check("private to the module `other`" in place.run("check", "use.flow").stderr, "the module has the script's name for it")
place.write("use.flow", 'import "lib/m.flow"\nprint(m._nothing)\n')
check("E0205" in place.run("check", "use.flow").stderr, "a private name that is not there")
place.write("use.flow", 'import "lib/m.flow"\nprint(m.help(1.0))\n')
p = place.run("check", "use.flow")
check("E0205" in p.stderr and "_help" not in p.stderr.split("help:")[-1], "private names are not proposed", p.stderr)
# What a module gives may be of private types, made by private functions; columns and fields may begin with `_`.
place.write("use.flow", 'import "lib/m.flow"\nlet t = table(_a = [1.0], b = [2.0])\nlet (_x, y) = (m.made(1.0), (_f = 3))\n'
            "t |> derive(_c = _a + b) |> select(_c) |> show\nprint(m.out(1.0), _x.a, y._f)\n")
for way in ((), ("-O0",), ("--interp",)):
    p = place.run("run", *way, "use.flow")
    check(p.stdout.endswith("22.0 1.0 3\n"), f"private names inside of their module {way}", p.stdout + p.stderr)
p = place.run("run", "use.flow", "--help")
check("--m.open" in p.stdout and "_k" not in p.stdout, "a private param of a module is no option", p.stdout)
check(place.run("run", "use.flow", "--m._k", "4").returncode == 2, "nor taken as one")
place.write("lib/needs.flow", "param _k: i64\nfn f() -> i64 = _k\n")
place.write("use.flow", 'import "lib/needs.flow"\nprint(needs.f())\n')
check("E0220" in place.run("check", "use.flow").stderr, "a private param needs its default")
place.write("use.flow", "param _k: i64 = 1\nprint(_k)\n")
check(place.run("run", "use.flow", "--_k", "5").stdout == "5\n", "in the script itself it is an option")

# ---- a param of each option's name ----
place.write("use.flow", "print(1)\n")
options = re.findall(r"^  --([a-z-]+)", place.run("run", "use.flow", "--help").stdout, re.M)
check({"help", "memory", "workers", "no-cache"} <= set(options), "the options that the help names", options)
place.write("use.flow", "".join(f"param {o.replace('-', '_')}: i64 = 1\n" for o in options) + "print(1)\n")
p = place.run("check", "use.flow")
check(p.returncode == 3 and p.stderr.count("error E0226") == len(options), "params named as options", p.stderr)
place.write("lib/named.flow", "".join(f"param {o.replace('-', '_')}: i64 = 1\n" for o in options) + "let twice = 2 * memory\n")
place.write("use.flow", 'import "lib/named.flow"\nprint(named.twice)\n')
check(place.run("run", "use.flow", "--named.memory", "4").stdout == "8\n", "in a module they are `--module.name`")

# ---- circles ----
place.write("a/x.flow", 'import "../b/y.flow" as y\nfn f(x: i64) -> i64 = y.g(x)\n')
place.write("b/y.flow", 'import "../c/z.flow" as z\nfn g(x: i64) -> i64 = z.h(x)\n')
place.write("c/z.flow", 'import "../a/../b/.././a/x.flow" as x\nfn h(x: i64) -> i64 = x\n')
place.write("main.flow", 'import "a/../b/y.flow" as y\nprint(y.g(1))\n')
(place.path / "link").symlink_to("a")
for cwd, script in ((".", "a/x.flow"), (".", "./a/../a/x.flow"), (".", "link/x.flow"), ("b", "../a/x.flow"), (".", "main.flow"),
                    ("/", str(place.path / "a/x.flow")), ("c", "z.flow"), (".", "b/y.flow")):
    for command in ("check", "run", "test", "build"):
        words = ["-o", str(place.path / "out")] if command == "build" else []
        p = subprocess.run([FLOWC, command, script, *words], cwd=place.path / cwd, env=place.env, capture_output=True, text=True)
        heads = [line for line in p.stderr.splitlines() if " error " in line]
        check(p.returncode == 3 and len(heads) == 1 and "E0221" in heads[0] and heads[0].count("..") <= 4 and "which imports" in p.stderr,
              f"a circle: {command} {script} in {cwd}", p.stderr)
place.write("self.flow", 'import "self.flow" as me\nprint(1)\n')
check("`self.flow` imports itself" in place.run("check", "self.flow").stderr, "a file that imports itself")
# Behind a link `..` leads elsewhere than the letters of the path say.
(place.path / "far/deep").mkdir(parents=True)
place.write("far/t.flow", 'fn v() -> text = "far"\n')
place.write("far/deep/s.flow", 'import "../t.flow"\nfn v() -> text = t.v()\n')
place.write("t.flow", 'fn v() -> text = "near"\n')
(place.path / "deep").symlink_to("far/deep")
place.write("use.flow", 'import "deep/s.flow"\nimport "deep/../t.flow" as up\nprint(s.v(), up.v())\n')
check(place.run("run", "use.flow").stdout == "far far\n", "`..` behind a link", place.run("run", "use.flow").stderr)

# ---- any spelling of the file, from any folder ----
place.write("other/plain.txt", "")
(place.path / "other/lm.flow").symlink_to("../lib/m.flow")
(place.path / "lib2").symlink_to("lib")
for cwd, spelled in ((".", "lib/m.flow"), (".", "./lib/m.flow"), (".", "lib/deep/../m.flow"), (".", "other/lm.flow"), (".", "lib2/m.flow"),
                     ("other", "../lib/m.flow"), ("other", "lm.flow"), ("/", str(place.path / "lib/m.flow")), ("lib", "m.flow"),
                     ("lib/deep", ".././m.flow")):
    for command, said in (("check", ""), ("test", "1 passed, 0 failed\n")):
        p = subprocess.run([FLOWC, command, spelled], cwd=place.path / cwd, env=place.env, capture_output=True, text=True)
        check(p.returncode == 0 and p.stdout == said, f"{command} {spelled} in {cwd}", p.stdout + p.stderr)
finish()
