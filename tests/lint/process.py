#!/usr/bin/env python3
"""What a process has once: a run and a compilation live in processes of others, so nothing of them is shared and nothing of
the process is theirs. Read from the objects that were built, so that no way of writing it is missed: data that may be written
(sections .data and .bss; thread-local ones too), and calls of functions of the C library that change the process or keep
something between calls. Each that there is stands below with its reason; one that is gone is to be struck off. Prints
"N passed, N failed"."""
import os
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from scenario_kit import ROOT, check, finish

BUILD = pathlib.Path(os.environ.get("FLOWC", ROOT / "build/flowc")).parent

# (file, name without what the compiler adds): why it may be there.
DATA = {
    ("compiler/base/base.c", "guard"): "the guard around what the thread does: every function may ask for memory",
    ("compiler/codegen/llvm_target.c", "once"): "LLVM's targets and options, those of this module's own LLVM",
    ("runtime/base/cpu.c", "known"): "what the processor is; the same for all",
    ("runtime/exec/strips.c", "known"): "from how many bytes on products are made strip by strip, as the environment says; the same for all",
    ("runtime/data/unwritten.c", "known"): "from how many rows on columns stay unwritten, as the environment says; the same for all",
    ("runtime/kern/regex.c", "mine"): "compiled patterns of the thread, by their text",
    ("runtime/kern/regex.c", "at_end"): "what frees them when the thread ends",
    ("runtime/kern/regex.c", "once"): "makes that",
    ("runtime/part/linalg_buffers.c", "list"): "the lock in place of the one that OpenBLAS lacks",
    ("runtime/part/linalg_identity.c", "identity"): "what OpenBLAS and the processor are; the same for all",
    ("runtime/part/linalg_identity.c", "once"): "finds that out",
    ("runtime/process/crash.c", "library"): "who is asked in a handler of signals",
    ("runtime/process/printed.c", "printed"): "the buffer of standard output",
    ("runtime/process/printed.c", "begun"): "that it is there",
    ("runtime/sched/pool.c", "here"): "which worker the thread is: a body is called with its own arguments on whatever thread",
}
# Calls, and who may: whole rooms end in /.
MAINS = {"runtime/process/": "the main program's", "compiler/cli/": "flowc's own"}
CALLS = {
    "_exit exit quick_exit atexit": {**MAINS, "runtime/io/child.c": "leaves a child that was forked here"},
    "abort": {"compiler/codegen/llvm_memory.c": "a bug of LLVM", "compiler/base/base.c": "no memory, or a bug, outside of every guard"},
    "signal sigaction sigwait sigtimedwait raise pause alarm setitimer": {"runtime/process/": "the main program's", "runtime/io/child.c": "in the child",
                                                                      "compiler/base/spawn.c": "takes the SIGPIPE of a child that reads no more"},
    "sigprocmask pthread_sigmask": {"runtime/process/": "the main program's", "runtime/io/child.c": "in the child", "runtime/base/stack.c": "of a thread of ours, while it is made", "runtime/base/thread.c": "likewise",
                                    "compiler/codegen/link.c": "of this thread, while the linker runs", "compiler/base/spawn.c": "of this thread, while a child is written to",
                                    "compiler/cli/command_bench.c": "of the only thread, while a run is measured"},
    "fork vfork": {"runtime/process/launch.c": "the launcher of ranks", "compiler/cli/": "flowc test", "runtime/io/child.c": "readers that libraries may crash"},
    "prctl setrlimit": {"runtime/process/launch.c": "it ends when this process does", "runtime/io/child.c": "in the child", "runtime/base/child_limits.c": "in the child", "compiler/cli/sample.c": "likewise"},
    "mallopt setvbuf": {"runtime/process/": "the main program's"},
    "malloc_trim": {"runtime/base/machine.c": "gives back what is free: nobody has it"},
    "LLVMParseCommandLineOptions LLVMInstallFatalErrorHandler": {"compiler/codegen/llvm_target.c": "of this module's own LLVM",
                                                                 "compiler/codegen/llvm_memory.c": "likewise"},
    "setlocale chdir fchdir umask setenv unsetenv putenv clearenv sched_setaffinity setpriority nice tzset srand srandom rand random "
    "drand48 lrand48 strtok localtime gmtime ctime asctime getpwnam getpwuid getgrgid tmpnam mktemp system popen getopt getopt_long "
    "hcreate lgamma lgammaf ptsname ttyname dup2 dup3 freopen pthread_atfork": {"runtime/process/launch.c": "in the child", "compiler/cli/": "flowc's own", "runtime/io/child.c": "in the child",
        "runtime/part/linalg_buffers.c": "before the program begins, and taken back at once: OpenBLAS is told nothing otherwise",
        "runtime/io/standard_input.c": "a script that reads `-` takes the standard input of the process"},
    "longjmp __longjmp_chk": {"compiler/base/base.c": "out of a guard", "runtime/io/jpeg.c": "out of libjpeg"},
}

def objects():
    """(file of the source, object) of all that is linked into flowc, its module and what it makes."""
    for top in ("compiler", "runtime"):
        for path in sorted((BUILD / top / "CMakeFiles").rglob("*.o")):
            found = re.match(r".*?\.dir/(.*)\.o$", str(path.relative_to(BUILD / top / "CMakeFiles")))
            tool = path.parts[len((BUILD / top / "CMakeFiles").parts)]
            if found and (ROOT / top / found[1]).exists() and not tool.startswith("make_"):
                yield f"{top}/{found[1]}", path


if "FLOW_SANITIZE" in os.environ:  # which add data of their own
    finish()
    raise SystemExit

allowed = {name: files for names, files in CALLS.items() for name in names.split()}
seen_data, seen_calls, n = set(), set(), 0
for source, path in objects():
    n += 1
    table = subprocess.run(["objdump", "-t", path], capture_output=True, text=True, check=True).stdout
    for line in table.splitlines():
        section = re.search(r"\s(\.(?:data|bss|tdata|tbss)\S*)\s+([0-9a-f]+)\s+(?:\.\w+ )?(\S+)$", line)
        if section and not section[1].startswith(".data.rel.ro") and int(section[2], 16) and not section[3].startswith("."):
            parts = section[3].split(".")  # of a variable within a function: `name.0` by gcc, `function.name` by Clang
            name = parts[0] if len(parts) == 1 or parts[1].isdigit() else parts[1]
            seen_data.add((source, name))
            check((source, name) in DATA, f"{source}: `{name}` may be written, and is one for the process: pass it along, or say why in {__file__}")
        undefined = re.search(r"\*UND\*\s+\S+\s+(\S+)$", line)
        name = undefined and undefined[1].split("@")[0]
        if name in allowed:
            may = [who for who in allowed[name] if source == who or who.endswith("/") and source.startswith(who)]
            seen_calls.update((name, who) for who in may)
            check(may, f"{source} calls {name}, which is for the owner of a process: {', '.join(allowed[name])}")
check(n > 200, f"the objects of a build lie in {BUILD} ({n})")
for row in sorted(DATA.keys() - seen_data):
    check(False, f"{row[0]} has `{row[1]}` still, as the table says")
for names, files in CALLS.items():
    for who in files:
        check(any((name, who) in seen_calls for name in names.split()), f"{who} calls one of `{names}` still, as the table says")
for path in sorted((ROOT / "runtime").rglob("*.c")) + sorted((ROOT / "compiler").rglob("*.c")):
    name = str(path.relative_to(ROOT))
    owner = re.match(r"runtime/(process|start)/|compiler/cli/", name)
    check(owner or '#include "process/' not in path.read_text(), f"{name} includes nothing of the room of the process")

for room in ("syntax", "types", "diag", "ir", "ad", "sema", "opt", "plan"):
    for path in sorted((ROOT / "compiler" / room).rglob("*.c")):
        asks = re.findall(r"\b(?:malloc|calloc|realloc)\(", path.read_text())
        check(not asks, f"{path.relative_to(ROOT)} asks base/ for memory (fl_piece_new), so that a guard frees it")

finish()
