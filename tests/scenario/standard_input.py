#!/usr/bin/env python3
"""`-` where a file may stand: data on standard input, for each format x pipe and redirected file x way of running; read twice, keyed by content, types from
the default or declared; and a folder `.flow` that disturbs no pattern."""
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from scenario_kit import FLOWC, Place, check, finish

place = Place()
FORMATS = {"csv": "read_csv", "tsv": "read_csv", "json": "read_json", "jsonl": "read_jsonl", "arrow": "read_arrow", "npy": "read_npy", "flowdata": "load"}
place.write("make.flow", "let t = table(a = [1, 2, 3], b = [0.5, 1.5, 2.5])\nlet n = 400_000\nlet big = table(a = [for i in 0..n: i], b = [for i in 0..n: 0.5])\n" +
            "".join(f'write_{f}({"big" if big else "t"}, "{"big" if big else "small"}.{f}")\n' for f in ("csv", "tsv", "json", "jsonl", "arrow") for big in ((0, 1) if f in ("csv", "jsonl", "arrow") else (0,))) +
            'write_npy([1.0, 2.0, 3.0], "small.npy")\nsave(t, "small.flowdata")\n')
p = place.run("run", "make.flow")
check(p.returncode == 0, "files of each format", p.stderr)


def with_input(command, name, piped):
    data = (place.path / name).read_bytes()
    if piped:
        return subprocess.run(command, cwd=place.path, env=place.env, input=data, capture_output=True, timeout=300)
    with open(place.path / name, "rb") as f:
        return subprocess.run(command, cwd=place.path, env=place.env, stdin=f, capture_output=True, timeout=300)


for name, read in FORMATS.items():
    kind = {"npy": "f64[_]", "flowdata": "R[_]"}.get(name, "R[_]")
    value = "sum(t)" if name == "npy" else "sum(t.a) + len(t)"
    place.write(f"{name}.flow", f"type R = (a: i64, b: f64)\nparam data: file\nparam more: file = \"-\"\nstage total(f: file) -> f64 {{\n  let t: {kind} = {read}(f)\n"
                f"  f64({value})\n}}\nlet t: {kind} = {read}(data)\nlet u: {kind} = {read}(more)\nprint(total(data), {value}, len(u))\n")
    place.run("build", f"{name}.flow", "-o", f"{name}.bin")
    for size, expected in (("small", b"6.0 6.0 3\n" if name == "npy" else b"9.0 9 3\n"), ("big", b"79999800000.0 79999800000 400000\n".replace(b"79999800000", b"80000200000"))):
        if not (place.path / f"{size}.{name}").exists():
            continue
        ways = [["run"], ["run", "-O0"], ["run", "--interp"], None] if size == "small" else [["run"]]
        for way in ways:
            for piped in (True, False):
                command = [FLOWC, *way, f"{name}.flow", "--data", "-"] if way else [f"./{name}.bin", "--data=-"]
                p = with_input(command, f"{size}.{name}", piped)
                check(p.returncode == 0 and p.stdout == expected, f"{size}.{name} {way} {'piped' if piped else 'redirected'}", p.stdout + p.stderr)
p = with_input([FLOWC, "run", "csv.flow", "--data", "-"], "small.csv", True)
check(b"0 run, 1 cached" in p.stderr, "a stage knows what came on standard input by its content", p.stderr)
place.write("other.csv", "a,b\n7,1\n")
p = with_input([FLOWC, "run", "csv.flow", "--data", "-"], "other.csv", True)
check(b"1 run, 0 cached" in p.stderr and p.stdout == b"8.0 8 1\n", "and other content is not it", p.stdout + p.stderr)
p = subprocess.run(["sh", "-c", f"(read line; {FLOWC} run csv.flow --data - --more small.csv) < two.csv"], cwd=place.path, env=place.env, capture_output=True) \
    if (place.path / "two.csv").write_text("a line before\na,b\n1,2\n") else None
check(p.stdout == b"2.0 2 3\n", "a redirected file from where it stands", p.stdout + p.stderr)

# Types: from the default's file, from what is declared, never from what comes.
place.write("typed.flow", 'param data: file = "small.csv"\nparam all: file[_] = "small.csv"\nlet t = read_csv(data)\nprint(sum(t.a), len(read_csv(all)))\n')
check(with_input([FLOWC, "run", "typed.flow", "--data", "-"], "other.csv", True).stdout == b"7 3\n", "the columns of the default")
check(with_input([FLOWC, "run", "typed.flow", "--all", "-"], "other.csv", True).stdout == b"6 1\n", "for a pattern, too")
place.write("constant.flow", 'type R = (a: i64)\nlet t: R[_] = read_csv("-")\nlet u: R[_] = read_csv(file("-"))\nprint(sum(t.a), sum(u.a))\n')
for way in ([], ["-O0"], ["--interp"]):
    check(with_input([FLOWC, "run", *way, "constant.flow"], "other.csv", True).stdout == b"7 7\n", f"read_csv(\"-\") {way}")
place.write("unknown.flow", 'show(read_csv("-"))\n')
p = with_input([FLOWC, "check", "unknown.flow"], "other.csv", True)
check(p.returncode == 3 and b"E0945" in p.stderr, "columns that nobody declares", p.stderr)
place.write("wrong.csv", "x\n1\n")
p = with_input([FLOWC, "run", "constant.flow"], "wrong.csv", True)
check(p.returncode == 1 and b"/dev/stdin" in p.stderr, "an error names standard input", p.stderr)
for command, status in (([FLOWC, "run", "csv.flow", "--data", "-"], 2), ([FLOWC, "run", "constant.flow"], 1)):
    p = subprocess.run(command, cwd=place.path, env=place.env, stdin=subprocess.DEVNULL, capture_output=True)
    check(p.returncode == status and b"nothing comes on standard input" in p.stderr, "nothing comes", p.stderr)
p = with_input([FLOWC, "run", "-"], "constant.flow", True)
check(p.returncode == 1 and b"nothing comes on standard input" in p.stderr, "the script itself was there", p.stderr)
p = with_input([FLOWC, "run", "-", "--data", "small.csv", "--more", "small.csv"], "csv.flow", True)
check(p.stdout == b"9.0 9 3\n", "a script on standard input reads files", p.stderr)
p = with_input([FLOWC, "schema", "-"], "small.csv", True)
check(b"a: i64" in p.stdout and b"b: f64" in p.stdout, "flowc schema -", p.stdout + p.stderr)

# A folder of results beside data.
(place.path / "d/.flow/cache").mkdir(parents=True), (place.path / "d/e/.flow").mkdir(parents=True)
for name in ("d/x.csv", "d/e/y.csv"):
    place.write(name, "a\n1\n")
for name in ("d/.flow/z.csv", "d/.flow/cache/z.csv", "d/e/.flow/z.csv", "d/e/.flow.csv"):
    place.write(name, "other\nz\n")
for pattern, n in (("d/*.csv", 1), ("d/*/*.csv", 1), ("d/.[a-z]*/*.csv", 0), ("d/**/*.csv", 1), ("d/[.ef]*/*.csv", 1), ("d/.flow/*.csv", 1), ("*/*/*.csv", 1), ("d/*", 1),
                   ("*/.[a-z]*/*/*.csv", 0), ("d/e/*", 1), ("d/?flow/*", 0)):
    place.write("many.flow", f'show(files("{pattern}") |> len)\n')
    p = place.run("run", "many.flow")
    check(p.stdout == f"{n}\n" if n else p.returncode == 1 and "E0282" in p.stderr, f"{pattern}: {n}", p.stdout + p.stderr)
finish()
