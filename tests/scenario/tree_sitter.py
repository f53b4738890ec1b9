"""The grammar of tree-sitter (editors/tree-sitter) and the compiler agree on what is syntax: no error node in any script of stdlib,
examples and tests/run, nor in random valid programs (tests/random; --all: 10,000); over mutants of them and over the samples of wrong syntax, an error where the compiler has one. The queries
compile, and colour the sample of editors/test as they should. parser.c is what the tree-sitter CLI (0.22, TREE_SITTER or in the path) makes of grammar.js.

    tree_sitter.py [SEED [COUNT]]

Needs the library tree-sitter with its header (Debian: libtree-sitter-dev); without it nothing is tested, with a note.
# seconds: 8"""
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
sys.path.insert(1, str(pathlib.Path(__file__).resolve().parent.parent / "random"))
import generate  # noqa: E402
from scenario_kit import ALL, FLOWC, PATIENCE, ROOT, SHORT, Place, check, finish  # noqa: E402

GRAMMAR = ROOT / "editors/tree-sitter"
SEED = int(sys.argv[1]) if len(sys.argv) > 1 else 1
PROGRAMS = 10_000 if ALL else 100 if SHORT else 400
COUNT = int(sys.argv[2]) if len(sys.argv) > 2 else 300 if SHORT else 1500
# What only the compiler's tree builders see: numbers too large, words that name, chains, targets, mixed tuples, `_` as a value; and the limit of depth.
BEYOND_THE_GRAMMAR = {"E0007", "E0008", "E0010", "E0104", "E0105", "E0106", "E0107", "E0108", "E0113", "E0114", "E0115"}
PIECES = ["(", ")", "[", "]", "{", "}", ",", ";", "\n", " ", "'", "\"", "\"\"\"", "`", "\\", "#", "=", "==", "=>", "|>", "->", "..", ".", "?", "??", ":", "@",
          "_", "1", "1.", "0x", "1e5", "1_0", "é", "“", " let ", " var ", " fn ", " if ", " else ", " for ", " in ", " match ", " by ", " as ", " from ",
          " type ", " stage ", " param ", " test ", " assert ", " import ", " not ", " and ", " outer.", " col.", " new ", " true ", " null ", " x ", " x = "]
place = Place()


def build():
    """The program that parses, or None where the library is not there."""
    program = place.path / "parse"
    source = [str(GRAMMAR / name) for name in ("test/parse.c", "src/parser.c", "src/scanner.c")]
    done = subprocess.run([os.environ.get("CC", "cc"), "-O0", f"-I{GRAMMAR}/src", *source, "-ltree-sitter", "-o", str(program)],
                          capture_output=True, text=True, timeout=120 * PATIENCE)
    if done.returncode:
        missing = "tree_sitter/api.h" in done.stderr or "-ltree-sitter" in done.stderr
        check(missing, "the grammar compiles", done.stderr)
        print("skipped: the library tree-sitter is not installed (Debian: libtree-sitter-dev)")
        finish()
    return program


def parsed(program, paths):
    """Path -> the line of the first error, 0 for none."""
    out = {}
    for start in range(0, len(paths), 500):
        done = subprocess.run([str(program), *map(str, paths[start:start + 500])], capture_output=True, text=True, timeout=60 * PATIENCE)
        check(done.returncode == 0, "the parser ends well", done.stderr)
        for line in done.stdout.splitlines():
            what, path, *at = line.split(" ")
            out[path] = int(at[0]) if what == "bad" else 0
    return out


def errors_of_compiler(folder):
    """Path -> codes of what the compiler says of the syntax of each script in a folder."""
    done = subprocess.run([FLOWC, "fmt", "--check", "--json", str(folder)], capture_output=True, text=True, timeout=120 * PATIENCE)
    return {entry["file"]: {m["code"] for m in entry["messages"] if m["code"] and m["level"] == "error"} for entry in json.loads(done.stdout)["results"]}


def mutant(text, draw):
    """A script with some letters or words lost, doubled, swapped or put in."""
    tokens = re.findall(r"\w+|[^\w]", text)
    start = draw.randrange(len(tokens))
    tokens = tokens[start // 2:start // 2 + 400] if len(tokens) > 400 else tokens
    for _ in range(draw.choice([0, 1, 1, 1, 2, 3])):
        at = draw.randrange(len(tokens))
        way = draw.randrange(4)
        if way == 0:
            del tokens[at]
        elif way == 1:
            tokens.insert(at, draw.choice(PIECES))
        elif way == 2:
            other = draw.randrange(len(tokens))
            tokens[at], tokens[other] = tokens[other], tokens[at]
        else:
            tokens[at] = draw.choice(PIECES)
        if not tokens:
            return ""
    return "".join(tokens)


def compare(program, folder, what):
    paths = sorted(folder.glob("?*.flow"))
    trees, compiler = parsed(program, paths), errors_of_compiler(folder)
    wrong = []
    for path in paths:
        codes = compiler.get(str(path), set())
        expected = bool(codes)
        if expected == bool(trees[str(path)]) or (expected and codes <= BEYOND_THE_GRAMMAR):
            continue
        wrong.append(f"{path.name}: the compiler says {sorted(codes) or 'nothing'}, the grammar an error on line {trees[str(path)] or 'none'}")
        if "KEEP" in os.environ:
            shutil.copy(path, os.environ["KEEP"])
    check(not wrong, f"{what}: errors where the compiler has them, in {len(paths)} scripts", "\n".join(wrong))
    return sum(bool(line) for line in trees.values()), len(paths)


def test_scripts(program):
    paths = [p for folder in ("stdlib", "examples", "tests/run") for p in sorted((ROOT / folder).rglob("?*.flow"))]
    trees = parsed(program, paths)
    for path in paths:
        check(not trees[str(path)], f"{path.relative_to(ROOT)} has no error node", f"line {trees[str(path)]}")
    return paths


def test_mutants(program, paths):
    draw = random.Random(SEED)
    folder = place.path / "mutants"
    folder.mkdir()
    texts = [p.read_text() for p in paths]
    for i in range(COUNT):
        (folder / f"m{i}.flow").write_text(mutant(draw.choice(texts), draw))
    wrong, count = compare(program, folder, f"mutants of seed {SEED}")
    check(wrong > count // 4 and wrong < count, "some mutants are wrong, some are not", f"{wrong} of {count}")


def test_generated(program):
    folder = place.path / "generated"
    folder.mkdir()
    for i in range(PROGRAMS // 10):
        (folder / f"g{i}.flow").write_text(generate.script(SEED + i, 10))
    wrong, count = compare(program, folder, f"{PROGRAMS} programs")
    check(wrong == 0, f"no error node in {PROGRAMS} valid programs", f"{wrong} of {count} scripts")


def test_samples(program):
    folder = place.path / "samples"
    folder.mkdir()
    for kind in ("diag", "parse", "lex", "fmt"):
        for path in sorted((ROOT / "tests" / kind).rglob("?*.flow")):
            try:
                if "\0" in path.read_text("utf-8"):
                    continue
            except UnicodeDecodeError:  # what an editor does with other bytes is its own affair
                continue
            shutil.copyfile(path, folder / f"{kind}-{path.parent.name}-{path.name}")
    compare(program, folder, "samples")


def test_queries(program):
    queries = sorted((GRAMMAR / "queries").glob("*.scm")) + sorted((ROOT / "editors/helix/queries").glob("*.scm")) + \
        sorted((ROOT / "editors/zed/languages/flow").glob("*.scm"))
    done = subprocess.run([str(program), "-q", *map(str, queries)], capture_output=True, text=True)
    check(done.stdout.count("good ") == len(queries) > 5, "queries compile", done.stdout)
    done = subprocess.run([str(program), "-c", str(GRAMMAR / "queries/highlights.scm"), str(ROOT / "editors/test/sample.flow")],
                          capture_output=True, text=True)
    seen = {}
    for line in done.stdout.splitlines()[1:]:
        row, column, capture, text = line.split(" ", 3)
        seen.setdefault((int(row), text), set()).add(capture)
    lines = (ROOT / "editors/test/sample.flow").read_text().splitlines()
    for line, word, capture in [("fn ridge", "fn", "keyword"), ("fn ridge", "ridge", "function"), ("fn ridge", "f64", "type.builtin"),
                                ("solve(x'", "solve", "function.builtin"), ("stage features", "stage", "keyword"),
                                ("for i in", "for", "keyword.repeat"), ("for i in", "in", "keyword.operator"),
                                ("param n", "n", "variable.parameter"), ("where(distance", "where", "function.builtin"),
                                ("where(distance", "and", "keyword.operator"), ("== null", "null", "constant.builtin")]:
        row = next(i for i, text in enumerate(lines) if line in text)
        check(capture in seen.get((row, word), ()), f"{word} in {line!r} is {capture}", seen.get((row, word)))


def test_made_again():
    cli = os.environ.get("TREE_SITTER") or shutil.which("tree-sitter")
    version = subprocess.run([cli, "--version"], capture_output=True, text=True).stdout.split() if cli else []
    if not version or not version[1].startswith("0.22.") or not shutil.which("node"):
        print("parser.c was not made again: it takes the tree-sitter CLI 0.22 (TREE_SITTER) and node")
        return
    copy = place.path / "grammar"
    shutil.copytree(GRAMMAR, copy)
    done = subprocess.run([cli, "generate", "--abi", "14", "--no-bindings"], cwd=copy, capture_output=True, text=True, timeout=120)
    check(done.returncode == 0, "the grammar has no conflicts", done.stderr)
    for name in ("parser.c", "grammar.json", "node-types.json"):
        check((copy / "src" / name).read_bytes() == (GRAMMAR / "src" / name).read_bytes(), f"{name} is up to date: tree-sitter generate --abi 14")


program = build()
test_mutants(program, test_scripts(program))
test_generated(program)
test_samples(program)
test_queries(program)
test_made_again()
finish()
