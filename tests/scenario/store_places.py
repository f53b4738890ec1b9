#!/usr/bin/env python3
"""Which store is meant: `why` and `cache` look where the run of the script that is named has left its results, from any folder, by any spelling, for
scripts and binaries; stores are private, whatever the umask; a binary says which flow made it of which source."""
import os
import pathlib
import re
import shutil
import stat
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from scenario_kit import FLOWC, Place, check, finish

place = Place()
del place.env["FLOW_CACHE"]
place.env["HOME"] = str(place.path / "home")
here = place.path
for folder in ("p/sub", "q", "home"):
    (here / folder).mkdir(parents=True)
SCRIPT = "stage {0}(n: i64) -> i64 = n + 1\nparam n: i64 = 1\nprint({0}(n))\n"
place.write("p/x.flow", SCRIPT.format("first"))
place.write("q/x.flow", SCRIPT.format("second"))
(here / "p/sub/to.flow").symlink_to("../x.flow")
(here / "link").symlink_to("p")


def run(*words, cwd=".", binary=None, **env):
    return subprocess.run([binary or FLOWC, *words], cwd=here / cwd, env=dict(place.env, **env), capture_output=True, text=True)


SPELLED = [("p", "x.flow"), (".", "p/x.flow"), ("q", "../p/x.flow"), ("q", "../link/x.flow"), ("/", str(here / "p/x.flow")), (".", "link/../p/x.flow"),
           ("p/sub", "to.flow"), (".", "p/sub/to.flow")]
old_mask = os.umask(0)
run("run", "q/x.flow")
n = 0
for cwd, script in SPELLED:  # run by one spelling, asked by each
    n += 1
    p = run("run", script, "--n", str(n), cwd=cwd)
    check(p.returncode == 0 and p.stdout == f"{n + 1}\n" and "1 run, 0 cached" in p.stderr, f"run {script} in {cwd}", p.stdout + p.stderr)
    for cwd_2, script_2 in SPELLED:
        p = run("why", script_2, cwd=cwd_2)
        check(p.returncode == 0 and p.stdout.startswith("first: run") and ("argument 1 changed" in p.stdout or n == 1 or "n:" in p.stdout),
              f"ran as {cwd}: {script}, why {script_2} in {cwd_2}", p.stdout + p.stderr)
for cwd, script in SPELLED:
    p = run("cache", "ls", script, cwd=cwd)
    check(p.stdout.count(" first\n") == n and "second" not in p.stdout, f"cache ls {script} in {cwd}", p.stdout + p.stderr)
    check("0 damaged" in run("cache", "verify", script, cwd=cwd).stdout, f"cache verify {script} in {cwd}")
check(" second\n" in run("cache", "ls", "q/x.flow").stdout and " second\n" in run("cache", "ls", cwd="q").stdout and
      " second\n" in run("cache", "ls", "q").stdout and " second\n" in run("cache", "ls", "q/.flow/cache").stdout and
      " second\n" in run("cache", "ls", "--cache", "q/.flow/cache").stdout, "cache ls of a script, of this folder, of another, of a store")
check("second: run" in run("why", cwd="q").stdout and "second: run" in run("why", "q/x.flow", "second").stdout, "why of what ran last here, of a stage")
check(run("why", "second", cwd="q").returncode == 0 and run("why", "third", cwd="q").returncode == 1, "why STAGE alone")
check(not (here / ".flow").exists() and not (here / "p/sub/.flow").exists(), "asking makes no store, a link has none of its own")
run("cache", "clear", "q/x.flow")
check("second" not in run("cache", "ls", "q/x.flow").stdout and " first\n" in run("cache", "ls", "p/x.flow").stdout, "cache clear of one script's store")
check(run("cache", "ls", "nothing.flow").returncode == 2, "a script that is not there")
run("run", "q/x.flow", "--cache", str(here / "own"))
check("second: run" in run("why", "q/x.flow", "--cache", "own").stdout, "why --cache")
del place.env["FLOW_CODE_CACHE"]  # beside the results then, and there before them
for n_cached in (0, 1):
    p = run("run", "q/x.flow", FLOW_CACHE=str(here / "beside"))
    check(f"{n_cached} cached" in p.stderr and "warning" not in p.stderr, "FLOW_CACHE names a folder that is not there", p.stderr)
place.env["FLOW_CODE_CACHE"] = str(here / ".code")
run("run", "q/x.flow", FLOW_CACHE=str(here / "named"))
check("second: run" in run("why", "q/x.flow", FLOW_CACHE=str(here / "named")).stdout, "FLOW_CACHE is everybody's")

# ---- binaries ----
check(run("build", "p/x.flow", "-o", "q/model").returncode == 0, "it builds")
for cwd, binary in (("q", "./model"), (".", "q/model"), ("/", str(here / "q/model"))):
    n += 1
    check(run("--n", str(n), cwd=cwd, binary=str(here / "q/model")).returncode == 0, "the binary runs")
    p = run("why", binary, cwd=cwd)
    check(p.returncode == 0 and p.stdout.startswith("first: run"), f"why {binary} in {cwd}", p.stdout + p.stderr)
    check(" first\n" in run("cache", "ls", binary, cwd=cwd).stdout, f"cache ls {binary} in {cwd}")
said = run("--version", binary=str(here / "q/model")).stdout
facts = dict(re.findall(r"^(\w+): (.*)$", said, re.M))
check(set(facts) == {"script", "flow", "source", "processor"} and facts["script"] == "x.flow" and run("version").stdout == f"flow {facts['flow']}\n",
      "./model --version", said)
shutil.copy(here / "q/model", here / "copy")
os.chmod(here / "copy", 0o600)  # not even executable
for spelled in ("q/model", "copy"):
    check([line.strip() for line in run("version", spelled).stdout.splitlines()[1:]] == said.splitlines(), f"flowc version {spelled}")
subprocess.run(["strip", str(here / "copy")], capture_output=True)
check(facts["source"] in run("version", "copy").stdout, "a binary without symbols says it too")
digest = lambda script, *more: re.search(r"source: (\w+)", run("version", script, *more).stdout)[1]
check(digest("p/x.flow") == facts["source"], "of the script itself")
place.write("p/uses.flow", 'import "x.flow" as x\nprint(1)\n'.replace("x.flow", "m.flow").replace("as x", "as m"))
place.write("p/m.flow", "let a = 1\n")
before = digest("p/uses.flow")
check(digest("link/uses.flow") == before != digest("p/m.flow"), "by another path it is the same source")
place.write("p/m.flow", "let a = 2\n")
check(digest("p/uses.flow") != before, "what it imports is part of its source")
for ways in ((), ("-O0",), ("--interp",)):
    check(f"source: {facts['source']}" in run("run", *ways, "p/x.flow", "--version").stdout, f"flowc run {ways} x.flow --version")
check(run("version", FLOWC).returncode == 1 and run("version", "p").returncode == 1 and run("version", "no").returncode == 1, "no binary of flow")

# ---- the processor ----
check(run("build", "p/x.flow", "--mcpu", "bdver4", "-o", "other").returncode == 0, "a binary for another processor is built")
if not {"xop", "fma4"} <= set(re.findall(r"\w+", pathlib.Path("/proc/cpuinfo").read_text())):
    p = run(binary=str(here / "other"))
    check(p.returncode == 4 and "bdver4" in p.stderr and "xop" in p.stderr and "--mcpu" in p.stderr and not p.stdout, "elsewhere it says what is missing", p.stderr)
for cpu in ("native", "x86-64-v2"):
    check(run("build", "p/x.flow", "--mcpu", cpu, "-o", "own-cpu").returncode == 0 and run(binary=str(here / "own-cpu")).stdout == "2\n", f"--mcpu {cpu} runs here")

# ---- without the code generator ----
(here / "alone").mkdir()
shutil.copy(FLOWC, here / "alone/flowc")
p = run("run", "p/x.flow", binary=str(here / "alone/flowc"), FLOW_CODE_CACHE="")
check(p.returncode not in (0, 70) and "libflow_llvm.so" in p.stderr and "install" in p.stderr, "flowc without its code generator says so", p.stderr)
check(run("run", "--interp", "p/x.flow", binary=str(here / "alone/flowc")).stdout == "2\n", "the interpreter needs none")

# ---- stores are private ----
for top in ("p/.flow/cache", "own", "named", "home/.local", "q/.flow"):
    for path in [here / top, *(here / top).rglob("*")]:
        if path.name in (".flow", ".local", "state", "CACHEDIR.TAG"):
            continue
        mode = stat.S_IMODE(path.lstat().st_mode)
        check(mode & 0o077 == 0, f"{path.relative_to(here)} is private", oct(mode))
os.umask(old_mask)
finish()
