#!/usr/bin/env python3
"""Rules of the house that a program can check: which room includes which, how long files are, what each file starts
with, where LLVM may be seen, what lies at the top, a page and a row for every message. Prints "N passed, N failed"."""
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from scenario_kit import ROOT, check, finish, git

# What a room may include beside itself and flow/. "exec.h" of exec/ is what every bulk operator sees of a run.
RUNTIME = {
    "base": set(),
    "data": {"base"},
    "sched": {"base"},
    "kern": {"base", "data"},
    "memo": {"base"},
    "report": {"base"},
    "ranks": {"base"},
    "part": {"base", "data", "kern", "sched", "exec/exec.h", "report/report.h"},
    "io": {"base", "data", "kern", "sched", "exec/exec.h", "part/dictionary.h", "part/fill.h"},
    "exec": {"base", "data", "sched", "kern", "memo", "report", "ranks", "io", "part"},
    "process": {"base", "exec/exec.h", "exec/command_line.h", "ranks", "sched"},
    "start": {"base"},
}
COMPILER = {
    "base": set(),
    "diag": {"base"},
    "syntax": {"base", "diag"},
    "types": {"base", "diag", "syntax"},
    "ir": {"base", "diag"},
    "ad": {"base", "diag", "ir"},
    "sema": {"base", "diag", "syntax", "types", "ir", "ad"},
    "opt": {"base", "diag", "ir"},
    "plan": {"base", "diag", "ir", "opt"},
    "interp": {"base", "diag", "ir", "plan"},
    "codegen": {"base", "diag", "ir", "plan"},
    "lsp": {"base", "diag", "syntax", "ir", "sema"},
    "cli": {"base", "diag", "syntax", "types", "ir", "sema", "opt", "plan", "interp", "codegen", "lsp"},
}
# What the rest of sema/ sees of its rooms.
SEMA = {"verbs": {"verbs.h", "groups.h", "column_set.h"}, "builtins": {"builtin.h", "derivative.h", "plot.h"},
        "files": {"reader.h", "paths.h"}}
LONGEST = 800


def sources():
    """The C files and the like of the folders that hold any."""
    found = [p for top in ("compiler", "runtime", "tests", "bench") for p in (ROOT / top).rglob("*")]
    return sorted(p for p in found if p.suffix in {".c", ".h", ".re", ".y", ".def"} and p.is_file())


def includes(text):
    return re.findall(r'^\s*#\s*include\s+"([^"]+)"', text, re.M)


for path in sources():
    name = str(path.relative_to(ROOT))
    text = path.read_text()
    top, room = (path.relative_to(ROOT).parts + ("", ""))[:2]
    lines = text.count("\n")
    check(lines <= LONGEST, f"{name} is at most {LONGEST} lines long ({lines})")
    check(re.match(r"\s*(%include\s*\{\s*)?/[/*]", text), f"{name} starts with a comment that says what it is")
    marks = re.findall(r"\b(TODO|FIXME|XXX|HACK)\b|#if 0", text)
    check(not marks, f"{name} has no unfinished marks ({marks})")
    sees_llvm = re.search(r"#\s*include\s*<llvm", text)
    blind = re.findall(r"switch \(\(int\).*", text) if top in ("compiler", "runtime") else []
    check(not blind, f"{name}: the compiler looks whether a switch has every case, so none is over a cast ({blind})")
    if top == "compiler":
        for body in re.findall(r"switch \([^\n]*(?:code|\bop)\) \{\n(.*?)\n(?:  )*\}\n", text, re.S):
            check("FL_OP" not in body or not re.search(r"^\s*default:", body, re.M),
                  f"{name}: a switch over operators has no `default`: it would hide a new one (ir/families.def)")
    opens = re.findall(r"\b(?:f?open|realpath|access|l?stat|opendir|getenv|dlopen|fl_read_file|fl_file_sample|fl_library_\w+|"
                       r"fl_io_(?:glob|schema|schema_of|column_texts|arrays_of|saved_type|npy_type|sql_schema|comes_once))\(", text)
    check(not opens or top != "compiler" or room != "sema" or path.name == "world.c",
          f"{name}: sema asks its world, and opens nothing itself ({opens})")
    check(not sees_llvm or (top == "compiler" and path.name.startswith("llvm_")), f"{name} does not see LLVM")
    if top == "compiler" and room in {"codegen", "interp"}:
        asked = re.findall(r"\b(?:fl_ir_is_kernel|fl_ir_may_fault|fl_lifetime_\w+|fl_in_place_\w+)\(", text)
        check(not asked, f"{name} reads what is decided from the plan and does not ask again ({asked})")
    rules = {"runtime": RUNTIME, "compiler": COMPILER}.get(top)
    if not rules or room not in rules:
        continue
    for included in includes(text):
        where = included.split("/")[0]
        if where == room or "/" not in included or where == "flow":
            ok = True
        elif top == "compiler" and where not in COMPILER:
            ok = where in RUNTIME and not included.endswith("_internal.h")
        else:
            ok = (where in rules[room] or included in rules[room]) and not included.endswith("_internal.h")
        inner = included.split("/")[1:-1]
        if where == "sema" and inner and path.parent.name != inner[0]:
            ok = ok and included.split("/")[-1] in SEMA[inner[0]]
        check(ok, f'{name} may include "{included}"')

rows = set(re.findall(r"^FL_DIAG\((\w+),", (ROOT / "compiler/diag/diag.def").read_text(), re.M))
pages = {p.stem for p in (ROOT / "docs/errors").glob("*.md")}
for code in sorted(rows):
    check(code in pages, f"{code} has its page docs/errors/{code}.md")
for code in sorted(pages):
    check(code in rows or code in {"README"}, f"docs/errors/{code}.md belongs to a row of diag.def")
for page in sorted((ROOT / "docs").rglob("*.md")) + sorted(ROOT.glob("*.md")):
    for link in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page.read_text()):
        if "://" not in link:
            check((page.parent / link).exists(), f"{page.relative_to(ROOT)}: {link} exists")

# What git tracks at the top, and nothing that a build or a test left behind. Without git (a source archive) there is
# nothing to ask.
TOP = {".clang-format", ".gitignore", "ARCHITECTURE.md", "CHANGELOG.md", "CMakeLists.txt", "CONTRIBUTING.md", "LICENSE", "README.md",
       "build.sh", ".ci", "bench", "compiler", "docs", "editors", "examples", "runtime", "stdlib", "tests"}
tracked = (git("ls-files", "-z") or "").split("\0")[:-1]
for name in sorted({path.split("/")[0] for path in tracked}):
    check(name in TOP, f"{name} belongs at the top of the repository")
left = [p for p in tracked if re.search(r"(^|/)(build|\.flow|node_modules|__pycache__)/|\.(o|a|so|bc|pyc|log)$", p)]
check(not left, f"no built or generated file is tracked ({left[:5]})")

finish()
