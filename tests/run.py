#!/usr/bin/env python3
"""Runs every test of the repository and ends with the plain line "N passed, N failed".

What is found:
  build/tests/unit_*        unit programs; each prints its own "N passed, N failed"
  tests/run/**/x.flow       a script; beside it what it prints (x.out), says on standard error (x.err), the plot that
                            it writes (x.svg) and its exit status (a line "# status: 1" in the script); one test per
                            way of running it
  tests/diag/**/x.flow      a script that does not compile: x.err, status 3 unless the script says another
  build/tests/golden_*      programs that compare with goldens of their own (tests/lex, parse, fmt), likewise
  tests/verbs/TYPE.flow     a script with many cases, each behind a line "## NAME", and what they print (TYPE.out, written
                            by generate.py with other tools); compiled and with --interp; each case counts as one
  tests/groups/x.flow       likewise: expressions of grouped tables, functions x places x verbs x origins of the table
  tests/emit/**/x.flow      x.tokens, x.ast, x.ir: what `flowc build --emit=` gives
  tests/plan/**/x.flow      x.plan: what `flowc explain x.flow` gives; x.ir -> x.out: the plan itself (unit_opt_golden)
  examples/*.flow           as tests/run, also as built binaries
  stdlib/*.flow             `flowc test`: the test blocks of the library
  README.md, docs/*.md      each ```flow block runs; a ```text block directly after it is what it prints
  docs/errors/*.md          their samples give the codes that stand beside them (tests/scenario/error_pages.py)
  tests/lint/*.py           rules of the house
  tests/scenario/*.py       longer stories (the store across runs, killed runs, the command line of binaries); among
                            them oracle_*.py: random pipelines and programs against the models of tests/oracle.
                            "# seconds: N" in one says about how long it takes: the longest start first, so that all
                            cores have work to the end. "# shards: N": it runs as N tests, each of which does its part
                            of the seeds (FLOW_TEST_SHARD=K/N; scenario_kit.SHARD, SHARDS)

Every way of running a script must give the same bytes. A script runs in a folder of its own that holds links to
the files beside it, with an empty store, so that nothing is remembered from one way to the next. Comment lines in
a script that mean something here:
  # status: N               the exit status (0; tests/diag: 3)
  # args: --name value      the command line of the script
  # modes: build            beside all others, also build a binary and run that
  # modes: compiled         all others but --interp, which would take minutes; a smaller script beside it takes all
  # tolerance: 1e-12        --interp may differ in numbers by this much, relatively (products by BLAS)
  # needs: duckdb           left out, with a note, where DuckDB's library is not found: FLOW_DUCKDB names it, else
                            bench/peers.sh puts it into the build folder

At the end it says what all took, in seconds and in seconds of processors, and which tests took longest. Environment: FLOW_TEST_SHORT=1 shortens the longest scenarios (fewer random programs, fewer killed runs), 0 does not;
--all has them take all that they take a sample of otherwise.
Builds with sanitizers (CMake: FLOW_SANITIZE) are run with time limits and options that suit them, and shortened
unless it is 0.
"""
import argparse
import concurrent.futures
import difflib
import os
import pathlib
import re
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
SUMMARY = re.compile(r"^(\d+) passed, (\d+) failed$", re.M)
GOLDEN = {".out", ".err", ".svg", ".tokens", ".ast", ".ir", ".plan"}
TIMEOUT = 120

# Names of ways to run a script, with the options of `flowc run` that make them.
MODES = {
    "workers-1": ["--workers", "1"],
    "workers-2": ["--workers", "2"],
    "workers-3": ["--workers", "3"],
    "workers-8": ["--workers", "8"],
    "O0": ["-O0", "--workers", "2"],
    "interp": ["--interp"],
    "tried": ["--workers", "2"],
}
# Where optimised loops are tested: small data alone would not be worth making them.
OPTIMISED = {"workers-2", "workers-3", "workers-8"}
# Where operators do what they would on older processors.
LEVELS = {"O0": "2", "workers-3": "3"}
# Where columns of few texts have codes, and are these alone as long as nobody reads them, from two rows on.
CODED = {"workers-3"}
# As users run a new text: interpreted for a moment, and where that is not enough once more, with code.
TRIED = {"tried"}


class Result:
    """Counts, and the text to show for what failed."""

    def __init__(self, name, passed=0, failed=0, text=""):
        self.name, self.passed, self.failed, self.text = name, passed, failed, text


def diff(expected, found, name):
    """Lines of a unified diff of two byte strings."""
    lines = [text.decode("utf-8", "backslashreplace").splitlines() for text in (expected, found)]
    shown = list(difflib.unified_diff(*lines, f"{name} (expected)", f"{name} (found)", lineterm="", n=2))
    if not shown:
        shown = [f"{name}: differs only in line ends: expected {expected[-20:]!r}, found {found[-20:]!r}"]
    return "\n".join("    " + line for line in shown[:60])


# Where messages say that the library lies, which is another place on each machine.
LIBRARY = re.compile(rb"/[^\s(`]*/stdlib/(?=\w+\.flow)")
NUMBER = re.compile(rb"[-+]?(?:\d+\.\d+(?:[eE][-+]?\d+)?|\d+[eE][-+]?\d+)")


def close_enough(expected, found, tolerance):
    """Equal but for floats, which may differ by `tolerance` relative to the larger."""
    if NUMBER.sub(b"#", expected) != NUMBER.sub(b"#", found):
        return False
    for a, b in zip(map(float, NUMBER.findall(expected)), map(float, NUMBER.findall(found))):
        if a != b and abs(a - b) > tolerance * max(abs(a), abs(b)):
            return False
    return True


class Script:
    """A .flow file with its directives and goldens."""

    def __init__(self, path, default_status=0):
        self.path = path
        self.name = str(path.relative_to(ROOT))
        self.options = {}
        for line in path.read_bytes().decode("utf-8", "replace").splitlines():
            found = re.match(r"\s*#\s*(status|args|modes|tolerance|needs):\s*(.*?)\s*$", line)
            if found:
                self.options[found[1]] = found[2]
        self.status = int(self.options.get("status", default_status))
        self.args = shlex.split(self.options.get("args", ""))
        self.tolerance = float(self.options.get("tolerance", 0))

    def golden(self, extension):
        return self.path.with_suffix(extension)

    def expected(self, extension):
        path = self.golden(extension)
        return path.read_bytes() if path.exists() else None

    def folder(self, scratch):
        """A new folder with links to what lies beside the script, as its working directory: at the same path each time, as
        compiled code is remembered for a path. Not to hidden names nor `out`: a store, or files, that a run by hand left there are no input."""
        where = pathlib.Path(scratch, self.name.replace("/", "+"))
        where.mkdir()
        for other in self.path.parent.iterdir():
            if other.name[0] != "." and other.name != "out" and other.suffix not in GOLDEN and (other == self.path or other.suffix != ".flow" or is_module(other)):
                (where / other.name).symlink_to(other)
        return where


def is_module(path):
    """Files that others import are named *_module.flow and are no tests themselves."""
    return path.stem.endswith("_module")


# Programs with sanitizers: a report ends them with a status that no script has. Nothing is suppressed but races
# inside of LLVM and DuckDB (tests/tsan.supp).
# intercept_tls_get_addr: the runtime of gcc 12 takes a thread-local block whose address ends in 0x010 (as that of
# libLLVM, which is loaded late, may) for one with a header of glibc 2.19, and the leak checker crashes on the size
# that it reads there (DTLS_on_tls_get_addr, sanitizer_tls_get_addr.cpp). The allocator knows these blocks anyway.
SANITIZER_OPTIONS = {
    "ASAN_OPTIONS": "exitcode=99:intercept_tls_get_addr=0:detect_stack_use_after_return=1",
    "LSAN_OPTIONS": "exitcode=99",
    "UBSAN_OPTIONS": "exitcode=99:print_stacktrace=1",
    # die_after_fork=0: rows that the language server shows are made in a forked process, which starts threads of its own
    "TSAN_OPTIONS": f"exitcode=99:die_after_fork=0:suppressions={ROOT / 'tests/tsan.supp'}",
}


class Runner:
    def __init__(self, options):
        self.options = options
        self.build = ROOT / options.build
        self.flowc = self.build / "flowc"
        settings = self.build / "CMakeCache.txt"
        found = re.search(r"^FLOW_SANITIZE:\w+=(.+)$", settings.read_text(), re.M) if settings.exists() else None
        self.patience = 5 if found else 1  # programs with sanitizers take longer
        short = os.environ.get("FLOW_TEST_SHORT", "1" if found else "0")
        self.scratch = tempfile.mkdtemp(prefix="flow-tests-")
        self.used = threading.local()  # .seconds of the processors by the test that a thread runs
        self.env = dict(os.environ, NO_COLOR="1", FLOWC=str(self.flowc), LC_ALL="C.UTF-8")
        self.duckdb = os.environ.get("FLOW_DUCKDB") or str(self.build / "peers/libduckdb.so")
        for name in [name for name in self.env if name.startswith("FLOW_")]:
            del self.env[name]
        self.env["FLOW_DUCKDB"] = self.duckdb
        self.left_out = []
        self.env["FLOW_TEST_SHORT"] = short
        if options.all:
            self.env["FLOW_TEST_ALL"] = "1"
        if found:
            self.env["FLOW_SANITIZE"] = found[1]
            self.env.update(SANITIZER_OPTIONS)
        # Compiled code may be remembered from one way of running to the next; results of stages may not.
        self.env["FLOW_KERNELS"] = "late"  # what is tested is code, but where a test says otherwise
        self.env["FLOW_CODE_CACHE"] = os.path.join(self.scratch, "code")

    def run_command(self, command, cwd, env, timeout=TIMEOUT):
        """(status, stdout, stderr); a command that takes too long has status "timeout". What it and its children took of
        the processors is added to what this thread's test took."""
        try:
            child = subprocess.Popen(command, cwd=cwd, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        except OSError as reason:
            return "none", b"", f"cannot start {command[0]}: {reason}\n".encode()
        late, said, ended = [], {}, []

        def end():
            late.append(True)
            if not ended:  # not child.kill(), which may take the status that wait4 is to get
                os.kill(child.pid, signal.SIGKILL)

        timer = threading.Timer(timeout * self.patience, end)
        readers = [threading.Thread(target=lambda f=f: said.update({f: f.read()}), daemon=True) for f in (child.stdout, child.stderr)]
        for thread in (timer, *readers):
            thread.start()
        child.stdin.close()
        _, status, used = os.wait4(child.pid, 0)  # not child.wait(), which does not say what was used
        ended.append(True)
        child.returncode = os.waitstatus_to_exitcode(status)
        for thread in readers:  # what it started may hold the pipes
            while thread.is_alive() and not late:
                thread.join(1)
            thread.join(5)
        timer.cancel()
        self.used.seconds = getattr(self.used, "seconds", 0) + used.ru_utime + used.ru_stime
        out, err = (said.get(f, b"") for f in (child.stdout, child.stderr))
        return ("timeout" if late else child.returncode), out, LIBRARY.sub(b"stdlib/", err)

    def run_script(self, script, mode, *options):
        """(status, out, err, the plot x.svg or None) of one way of running it, with more options of `flowc run`."""
        where = script.folder(self.scratch)
        env = dict(self.env, FLOW_CACHE=str(where / ".flow"))
        if mode in OPTIMISED:
            env["FLOW_KERNELS"] = "once"
        if mode in TRIED:
            del env["FLOW_KERNELS"]
        if mode in LEVELS:
            env["FLOW_CPU_LEVEL"] = LEVELS[mode]
        if mode in CODED:
            env["FLOW_UNWRITTEN_FROM"] = "2"
            env["FLOW_STRIPS_FROM"] = "1"
        try:
            if mode == "build":
                command = [str(self.flowc), "build", script.path.name, "-o", "program.bin"]
                status, out, err = self.run_command(command, where, env)
                if status != 0:
                    return status, out, err, None
                command = ["./program.bin", *script.args]
            else:
                command = [str(self.flowc), "run", *MODES[mode], *options, script.path.name, *script.args]
            ended = self.run_command(command, where, env)
            plot = where / script.golden(".svg").name
            return *ended, plot.read_bytes() if plot.exists() else None
        finally:
            shutil.rmtree(where, ignore_errors=True)

    def check(self, script, label, status, found):
        """Compares with the goldens, or writes them with --bless. found: extension -> bytes."""
        problems = []
        if status != script.status:
            problems.append(f"    exit status {status}, expected {script.status}")
        for extension, text in found.items():
            expected = script.expected(extension)
            if self.options.bless and not (extension == ".err" and expected is None and not text):
                script.golden(extension).write_bytes(text)
            elif expected is None:
                if extension == ".err" and script.status == 0:
                    continue
                problems.append(f"    no {script.golden(extension).name}; run with --bless to write it")
            elif expected != text and not (
                label == "interp" and script.tolerance and close_enough(expected, text, script.tolerance)
            ):
                problems.append(diff(expected, text, script.golden(extension).name))
        if problems and status != script.status and found.get(".err"):
            problems.append("    standard error:\n" + diff(b"", found[".err"][-4000:], "stderr"))
        if not problems:
            return Result(script.name, 1)
        return Result(script.name, 0, 1, f"{script.name} [{label}]\n" + "\n".join(problems))

    def lacks(self, script):
        """Whether what the script needs is not here; remembered for the note at the end."""
        if script.options.get("needs") != "duckdb" or os.path.exists(self.duckdb):
            return False
        self.left_out.append(script.name)
        return True

    def run_modes(self, script, also_build):
        """All ways of running, each against the goldens. With --bless the first one writes them."""
        if self.lacks(script):
            return Result(script.name)
        left_out = {"workers-2"}  # of cases only; -O0 runs on two workers
        if "compiled" in script.options.get("modes", ""):
            left_out.add("interp")
        modes = [m for m in MODES if m not in left_out]
        if also_build or "build" in script.options.get("modes", ""):
            modes.append("build")
        total = Result(script.name)
        for mode in modes:
            status, out, err, plot = self.run_script(script, mode)
            found = {".out": out, ".err": err}
            if plot is not None or script.golden(".svg").exists():
                found[".svg"] = plot or b""
            result = self.check(script, mode, status, found)
            total.passed += result.passed
            total.failed += result.failed
            total.text += result.text + "\n" if result.text else ""
            if self.options.bless:
                break
        return total

    def run_diag(self, script):
        if self.lacks(script):
            return Result(script.name)
        where = script.folder(self.scratch)
        status, _, err = self.run_command([str(self.flowc), "run", script.path.name], where, self.env)
        shutil.rmtree(where, ignore_errors=True)
        return self.check(script, "compile", status, {".err": err})

    def run_emit(self, script):
        where = script.folder(self.scratch)
        total = Result(script.name)
        for extension in (".tokens", ".ast", ".ir"):
            if not script.golden(extension).exists():
                continue
            command = [str(self.flowc), "build", f"--emit={extension[1:]}", script.path.name]
            status, out, _ = self.run_command(command, where, self.env)
            result = self.check(script, extension[1:], status, {extension: out})
            total.passed += result.passed
            total.failed += result.failed
            total.text += result.text + "\n" if result.text else ""
        shutil.rmtree(where, ignore_errors=True)
        if total.passed + total.failed == 0:
            return Result(script.name, 0, 1, f"{script.name}: no .tokens, .ast or .ir beside it")
        return total

    def run_plan(self, script):
        if self.lacks(script):
            return Result(script.name)
        where = script.folder(self.scratch)
        env = dict(self.env, FLOW_CACHE=str(where / ".flow"))
        status, out, err = self.run_command([str(self.flowc), "explain", *script.args, script.path.name], where, env)
        shutil.rmtree(where, ignore_errors=True)
        return self.check(script, "explain", status, {".plan": out, ".err": err})

    def run_verbs(self, script):
        """The cases of one type. A name that starts with ~ compares numbers within 1e-12."""
        def cases(text):
            found = {}
            for part in text.split("## ")[1:]:
                names, _, body = part.partition("\n")
                names, rows = names.split("\t"), [row.split("\t") for row in body.rstrip("\n").split("\n")]
                for k, name in enumerate(names):  # several names: each has a column of what follows
                    found[name] = "\n".join("\t".join(row) if len(names) == 1 else row[k] if k < len(row) else "?" for row in rows)
            return found

        expected, problems = cases(script.golden(".out").read_text()), {}
        for mode in ("workers-2", "interp"):
            # Results are not stored: a case is one stage, and writing a file takes longer than what it says.
            status, out, err, _ = self.run_script(script, mode, "--no-cache")
            found = cases(out.decode("utf-8", "replace"))
            if status != 0 or list(found) != list(expected):
                return Result(script.name, 0, len(expected), f"{script.name} [{mode}]: exit status {status}, {len(found)} of "
                              f"{len(expected)} cases\n{err.decode('utf-8', 'replace')[-4000:]}")
            for name, body in expected.items():
                same = found[name] == body or name.startswith("~") and close_enough(body.encode(), found[name].encode(), 1e-12)
                if not same:
                    problems.setdefault(name, f"{name} [{mode}]\n" + diff(body.encode(), found[name].encode(), name))
        text = "\n".join([f"{script.name}: {len(problems)} cases", *list(problems.values())[:10]]) if problems else ""
        return Result(script.name, len(expected) - len(problems), len(problems), text)

    def run_page(self, path):
        """The scripts in a page of documentation, in the folder of the examples so that they find the data."""
        name = str(path.relative_to(ROOT))
        total = Result(name)
        blocks = re.compile(r"^```flow\n(.*?)^```\n(?:\s*```text\n(.*?)^```\n)?", re.S | re.M)
        for number, (source, expected) in enumerate(blocks.findall(path.read_text()), 1):
            where = pathlib.Path(tempfile.mkdtemp(dir=self.scratch))
            (where / "page.flow").write_text(source)
            (where / "data").symlink_to(ROOT / "examples/data")
            env = dict(self.env, FLOW_CACHE=str(where / ".flow"))
            mode = "test" if re.search(r"^test ", source, re.M) else "run"
            status, out, err = self.run_command([str(self.flowc), mode, "page.flow"], where, env)
            shutil.rmtree(where, ignore_errors=True)
            if status == 0 and (not expected or out == expected.encode()):
                total.passed += 1
                continue
            total.failed += 1
            total.text += f"{name}: block {number}: exit status {status}\n"
            total.text += diff(expected.encode(), out, "output") + "\n" if expected else ""
            total.text += err.decode("utf-8", "replace")[-2000:]
        return total

    def run_program(self, name, command, timeout, shard=""):
        """A program that counts its own tests."""
        status, out, err = self.run_command(command, ROOT, dict(self.env, FLOW_TEST_SHARD=shard), timeout)
        counts = SUMMARY.findall(out.decode("utf-8", "replace"))
        passed, failed = (int(n) for n in counts[-1]) if counts else (0, 0)
        if status == 0 and counts and failed == 0:
            return Result(name, passed)
        text = (out + err).decode("utf-8", "replace").strip()
        return Result(name, passed, max(failed, 1), f"{name}: exit status {status}\n{text[-6000:]}")

    def tests(self):
        """(name, function) of every test there is, longest first."""
        found, seconds = [], {}

        def scripts(folder, function, *more, **script_options):
            for path in sorted((ROOT / folder).rglob("?*.flow")):
                if not is_module(path):
                    script = Script(path, **script_options)
                    found.append((script.name, lambda s=script: function(s, *more)))

        for path in sorted([*(ROOT / "tests/scenario").glob("*.py"), *(ROOT / "tests/lint").glob("*.py")]):
            name, command = str(path.relative_to(ROOT)), [sys.executable, "-B", str(path)]
            said = dict(re.findall(r"^# (seconds|shards): (\d+)$", path.read_text(), re.M))
            shards = int(said.get("shards", 1))
            for k in range(shards):
                shard = f"{k}/{shards}" if shards > 1 else ""
                shown = f"{name} {shard}".rstrip()
                seconds[shown] = int(said.get("seconds", 0)) / shards
                found.append((shown, lambda n=shown, c=command, s=shard: self.run_program(n, c, 900, s)))
        scripts("tests/verbs", self.run_verbs)
        scripts("tests/groups", self.run_verbs)
        for path in sorted((ROOT / "examples").glob("?*.flow")):
            script = Script(path)
            found.append((script.name, lambda s=script: self.run_modes(s, True)))
        for path in sorted([*(self.build / "tests").glob("unit_*"), *(self.build / "tests").glob("golden_*")]):
            if path.is_file() and os.access(path, os.X_OK):
                golden = path.name.startswith("golden_")
                words = ([*(["--bless"] if self.options.bless else []), str(ROOT)]) if golden else []
                found.append((path.name, lambda p=path, w=words: self.run_program(p.name, [str(p), *w], 300)))
        for path in sorted((ROOT / "stdlib").glob("?*.flow")):
            name = f"stdlib/{path.name}"
            command = [str(self.flowc), "test", str(path)]
            found.append((name, lambda n=name, c=command: self.run_program(n, c, 300)))
        for path in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]:
            if path.exists() and "```flow" in path.read_text():
                found.append((str(path.relative_to(ROOT)), lambda p=path: self.run_page(p)))
        scripts("tests/run", self.run_modes, False)
        scripts("tests/diag", self.run_diag, default_status=3)
        scripts("tests/emit", self.run_emit)
        scripts("tests/plan", self.run_plan)
        found.sort(key=lambda test: -seconds.get(test[0], 0))
        wanted = self.options.names
        return [test for test in found if not wanted or any(name in test[0] for name in wanted)]

    def main(self):
        tests = self.tests()
        results, times, began = [], [], time.monotonic()

        def timed(name, function):
            began, self.used.seconds = time.monotonic(), 0
            result = function()
            took = time.monotonic() - began
            times.append((took, name))
            if self.options.times:
                with open(self.options.times, "a") as file:
                    file.write(f"{self.used.seconds:8.2f} {took:8.2f} {name}\n")
            return result

        with concurrent.futures.ThreadPoolExecutor(self.options.jobs) as pool:
            futures = {pool.submit(timed, name, function): name for name, function in tests}
            for future in concurrent.futures.as_completed(futures):
                result = future.result()
                results.append(result)
                if result.failed:
                    print(f"FAILED {result.text.rstrip()}", flush=True)
                elif self.options.verbose:
                    print(f"{futures[future]}: {result.passed} passed", flush=True)
        shutil.rmtree(self.scratch, ignore_errors=True)
        passed, failed = sum(r.passed for r in results), sum(r.failed for r in results)
        if self.left_out:
            print(f"note: {len(self.left_out)} scripts that need DuckDB's library were left out (FLOW_DUCKDB)")
        if len(results) > 100:
            used = resource.getrusage(resource.RUSAGE_CHILDREN)
            print(f"{time.monotonic() - began:.0f} s, of the processors {used.ru_utime + used.ru_stime:.0f} s")
            print("longest: " + ", ".join(f"{name} {took:.0f} s" for took, name in sorted(times, reverse=True)[:40] if took >= 5))
        if not results:
            print("no such test" if self.options.names else "no tests found")
            failed += 1
        print(f"{passed} passed, {failed} failed")
        return 1 if failed else 0


def main():
    parser = argparse.ArgumentParser(description="Run the tests.")
    parser.add_argument("names", nargs="*", help="only tests whose path contains one of these")
    parser.add_argument("--bless", action="store_true", help="write what is found as what is expected")
    parser.add_argument("--build", default="build", help="build folder, from the repository's root")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() + 1, help="tests at the same time; one more than there are processors, as some only wait")
    parser.add_argument("--all", action="store_true", help="all that scenarios take a sample of otherwise, as FLOW_TEST_ALL=1 has it: hours")
    parser.add_argument("--times", metavar="FILE", help="add a line for each test that ended: seconds of processors, seconds, name (sort -rn)")
    parser.add_argument("--verbose", action="store_true", help="also name what passes")
    sys.exit(Runner(parser.parse_args()).main())


if __name__ == "__main__":
    main()
