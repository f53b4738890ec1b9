#!/usr/bin/env python3
"""A format of files is its rows in flow/formats.def and its own files: nobody else in the compiler or the runtime names it, so
that no second list has to be kept. Each function that a row makes stands in docs/files.md and in a script of the tests.
Prints "N passed, N failed"."""
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from scenario_kit import ROOT, check, finish

TABLE = ROOT / "runtime/include/flow/formats.def"
HABITS = [*sorted((ROOT / "compiler/sema").glob("habits*.def")), ROOT / "compiler/syntax/foreign_calls.def"]  # what messages suggest for names of other languages, compiled by scenario/habits
# Who names a format although it is not its own file, and what for.
EXEMPT = {
    ("compiler/cli/command_new.c", "csv"): "the script that `flowc new` writes",
    ("compiler/cli/command_schema.c", "csv"): "what a file is read as whose name says nothing",
    ("compiler/sema/files/exec.c", "csv"): "the format of programs, if nothing is said",
    ("compiler/sema/files/saved.c", "json"): "write_json writes any value",
    ("compiler/ir/ops.def", "json"): "write_json writes any value",
    ("compiler/sema/builtins/effects.c", "csv"): "what a message suggests",
    ("runtime/io/sql.c", "csv"): "what a message suggests",
    ("runtime/io/sql.c", "parquet"): "DuckDB's function of this name in queries, and what a message suggests",
    ("compiler/sema/builtins/builtins.def", "json"): "write_json writes any value",
    ("compiler/sema/builtins/builtins.def", "jsonl"): "write_jsonl writes any value",
}

def code_of(text):
    """Without comments."""
    return re.sub(r"/\*.*?\*/", "", text, flags=re.S)


def listed_again(text, name):
    """The places where code names a format: a string, or the functions of that name."""
    return re.findall(rf'"(?:read_|write_)?{name}"|\b(?:fl_)?(?:read|write)_{name}\b|\bFL_OP_\w*_{name.upper()}\b', text)


def own(text, path, name):
    """Whether the file is one of the format's: it holds its reader or writer, or has its name."""
    of = re.findall(r"const FlTable(?:Reader|Writer) fl_(?:read|write)_(\w+) =", text)
    return name in of or re.match(rf"(exec_)?{name.rstrip('l')}", path.name) is not None


rows = re.findall(r"^FL_TABLE_(READER|WRITER)\((\w+),", TABLE.read_text(), re.M)
names = sorted({name for _, name in rows})
check(len(names) >= 7, f"formats.def is read: {names}")
sources = [p for top in ("compiler", "runtime") for p in sorted((ROOT / top).rglob("*")) if p.suffix in {".c", ".h", ".def", ".re", ".y"} and p not in (TABLE, *HABITS)]
met = set()
for path in sources:
    text, place = code_of(path.read_text()), str(path.relative_to(ROOT))
    for name in names:
        if name not in text.lower():
            continue
        found = listed_again(text, name) if not (path.parent == ROOT / "runtime/io" and own(text, path, name)) else []
        met |= {(place, name)} if found else set()
        check(not found or (place, name) in EXEMPT, f"{place} names the format {name} ({', '.join(sorted(set(found)))}): what it needs to know belongs into the row of flow/formats.def")
for entry in EXEMPT:
    check(entry in met, f"{entry[0]} still names {entry[1]}: else it is no exemption of this lint")
# The lint finds what it is for.
check(listed_again('if (strcmp(format, "parquet") == 0) {', "parquet") and listed_again("case FL_OP_READ_CSV:", "csv") and
      not listed_again(code_of("/* as read_csv has it */"), "csv"), "a format that is listed again is found")

pages = (ROOT / "docs/files.md").read_text()
tried = [*(ROOT / "tests/run").rglob("?*.flow"), *(ROOT / "tests/scenario").glob("*.py")]
scripts = "".join(p.read_text(errors="replace") for p in sorted(tried))
for kind, name in rows:
    function = ("read_" if kind == "READER" else "write_") + name
    check(f"{function}(" in pages or f"`{function}`" in pages, f"docs/files.md speaks of {function}")
    check(f"{function}(" in scripts, f"a script of the tests calls {function}")
finish()
