"""The bits of every operator are those that its version in compiler/ir/ops.def stands for, those of every reader of tables those
of its version in flow/formats.def: what is remembered under a version has the bits that are computed now.

tests/meaning/bits.txt has lines `operator.case version digest`. SCALAR operators are run on fixed arguments of every type by
build/tests/unit_interp_meaning; of the others each stage `operator__case` of tests/meaning/cases.flow is one case. An operator
without a line needs one in exempt.txt that says why. When a line differs: if bits were to change, raise the operator's version
in its table by one and run

    python3 tests/scenario/meaning.py --bless

which writes the lines of new versions and new cases, and never changes the digest of a version that is there."""
import hashlib
import pathlib
import re
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from scenario_kit import FLOWC, ROOT, Place, check, finish, git

HERE = ROOT / "tests/meaning"
ROW = re.compile(r'^FL_OP\(\w+, "(\w+)", (\w+), "[^"]*", [A-Z |0]+, \w+, \w+, [\d.]+, (\d+)\)', re.M)
BITS = HERE / "bits.txt"
HEAD = """# The digests of what operators give on fixed arguments: operator.case, version of its meaning, digest. Written by
# tests/scenario/meaning.py --bless, which says what to do where they differ. Lines of a version are never changed.
"""


def lines_of(text):
    found = {}
    for line in text.splitlines():
        if line and line[0] != "#":
            name, version, digest = line.split()
            found[name, int(version)] = digest
    return found


def is_made_of(functions, name, op, seen):
    """Does function `name` of the printed IR, or what it calls, hold this operator?"""
    body = functions.get(name, "")
    seen.add(name)
    pattern = rf"<[^>]*\bformat={op}\b" if operators[op][0] == "FORMAT" else rf"(?:^|= ){op}\b"
    return bool(re.search(pattern, body, re.M)) or any(
        is_made_of(functions, other, op, seen) for other in re.findall(r"@(\w+)", body) if other not in seen)


operators = {name: (kind, int(version)) for name, kind, version in ROW.findall((ROOT / "compiler/ir/ops.def").read_text())}
rows = len(re.findall(r"^FL_OP\(", (ROOT / "compiler/ir/ops.def").read_text(), re.M))
check(len(operators) == rows > 200, f"every row of ops.def is read: {len(operators)} of {rows}")
FORMATS = ROOT / "runtime/include/flow/formats.def"
readers = dict(re.findall(r'^FL_TABLE_READER\((\w+), "[^"]*", "[^"]*", (\d+),', FORMATS.read_text(), re.M))
check(len(readers) == len(re.findall(r"^FL_TABLE_READER\(", FORMATS.read_text(), re.M)) > 5, "every reader of formats.def is read", readers)
operators.update({f"read_{name}": ("FORMAT", int(version)) for name, version in readers.items()})
exempt = dict(line.split(": ", 1) for line in (HERE / "exempt.txt").read_text().splitlines() if line[0] != "#")

found = {}
scalars = subprocess.run([pathlib.Path(FLOWC).parent / "tests/unit_interp_meaning", "--print"], capture_output=True, text=True)
check(scalars.returncode == 0, "scalar operators are run", scalars.stdout[-500:] + scalars.stderr)
found.update(lines_of(scalars.stdout))

source = (HERE / "cases.flow").read_text()
cases = re.findall(r"^stage (\w+)__(\w+)\(", source, re.M)
place = Place()
for file in (HERE / "data").iterdir():
    shutil.copy(file, place.path)
place.write("m.flow", source + "".join(f'save({op}__{case}(), "out/{op}.{case}")\n' for op, case in cases))
done = place.run("run", "--no-cache", "m.flow")
check(done.returncode == 0, "the cases run", done.stderr[-3000:])
for op, case in cases:
    path = place.path / f"out/{op}.{case}"
    if path.exists():
        found[f"{op}.{case}", operators.get(op, (None, 0))[1]] = hashlib.sha256(path.read_bytes()).hexdigest()[:32]
printed = place.run("build", "-O0", "--emit=ir", "m.flow").stdout
functions = dict(re.findall(r"^(?:stage|func|main) @(\w+)\([^\n]*\n(.*?)^\}", printed, re.M | re.S))
for op, case in cases:
    check(op in operators and is_made_of(functions, f"{op}__{case}", op, set()), f"the case {op}__{case} holds the operator `{op}`")

known = lines_of(BITS.read_text()) if BITS.exists() else {}
if "--bless" in sys.argv:
    new = {key: digest for key, digest in found.items() if key not in known}
    BITS.write_text(HEAD + "".join(f"{name} {version} {digest}\n" for (name, version), digest in sorted({**known, **new}.items())))
    print(f"{len(new)} new lines; those that were there stay as they are")
    sys.exit(0)

covered = {name.split(".")[0] for name, _ in found}
for name in operators:
    check((name in covered) != (name in exempt), f"`{name}` has either cases or a reason in exempt.txt to have none")
for name in exempt:
    check(name in operators, f"`{name}` of exempt.txt is an operator")
for (name, version), digest in sorted(found.items()):
    op = name.split(".")[0]
    if (name, version) not in known:
        check(False, f"{name} version {version} has no line in tests/meaning/bits.txt",
              "a new case or version: python3 tests/scenario/meaning.py --bless, and look at the difference")
    else:
        check(known[name, version] == digest, f"`{op}` gives other bits in the case {name} than its version {version} stands for",
              f"found {digest}, expected {known[name, version]}.\nIf bits are to change: raise the version in the row `{op}` of "
              "compiler/ir/ops.def or flow/formats.def by one,\nthen python3 tests/scenario/meaning.py --bless. Else this is a defect.")
for name, version in known:
    op = name.split(".")[0]
    check(op not in operators or version <= operators[op][1], f"the version of `{op}` went back from {version}")

# The digest of a version is the one that was first committed, as far as the history is here.
first = {}
for line in (git("log", "--reverse", "--format=", "-p", "-U0", "--", str(BITS)) or "").splitlines():
    if re.match(r"\+\S+ \d+ [0-9a-f]{32}$", line):
        (key, digest), = lines_of(line[1:]).items()
        first.setdefault(key, digest)
for key, digest in known.items():
    check(first.get(key, digest) == digest, f"the line {key[0]} {key[1]} of bits.txt is as it was committed first")
finish()
