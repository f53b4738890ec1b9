"""Files that never end, and what is no file: commands that read a script stop with a message, at any depth of folders
and imports; under limits of address space (ulimit -v) a run gives its result, or ends with 4 and says why."""
import os
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from scenario_kit import FLOWC, PATIENCE, Place, check, finish

SANITIZED = "FLOW_SANITIZE" in os.environ  # needs address space without end
LIMIT = "unlimited" if SANITIZED else 8_000_000  # KiB: what runs away stops here

place = Place(
    a__flow="print(1 + 1)\n",
    zero__flow='import "/dev/zero"\nprint(1)\n',
    text__flow="@memo(never)\nstage f(n: i64) -> i64 { var s = \"\"; for i in 0..n { s = s + \"x{i}\" }; n_chars(s) }\n"
    "print(f(20000), sum([for i in 0..500000: f64(i)]))\n",
)
(place.path / "endless").mkdir()
(place.path / "endless/e.flow").symlink_to("/dev/zero")


def limited(kib, command, env=None):
    return subprocess.run(["bash", "-c", f"ulimit -v {kib}; {command}"], cwd=place.path, env=dict(place.env, **(env or {})),
                          capture_output=True, text=True, errors="replace", timeout=60 * PATIENCE)


for command in ("check /dev/zero", "fmt /dev/zero", "fmt endless", "run /dev/zero", "explain /dev/zero", "test /dev/zero",
                "build /dev/zero", "check zero.flow", "run zero.flow", "fmt /dev/urandom", "check ."):
    done = limited(LIMIT, f"{FLOWC} {command}")
    check(done.returncode in (1, 2, 3), f"flowc {command}: ends with a status for what is no script", done.returncode)
    check(done.stderr.strip() != "", f"flowc {command}: says why")
done = limited(LIMIT, f"yes | {FLOWC} fmt -")
check(done.returncode == 2 and "64 MB" in done.stderr, "flowc fmt - of text that never ends", done.stderr[:300])

# A script whose compiling takes much more than loading the code generator does, so that memory ends in the midst of it.
place.write("large.flow", "let n = 1000\n" + "".join(
    f"let x{i} = [for i in 0..n: sin(f64(i) * {i}.5) + sqrt(f64(i + {i}))]\n"
    f"let t{i} = table(a = x{i}, b = [for i in 0..n: \"k{{i % 7}}\"])\n"
    f"print(t{i} |> group_by(b) |> summarize(s = sum(a), m = median(a)) |> sort(b) |> head(1))\n" for i in range(60)))
expected = "" if SANITIZED else place.run("run", "--quiet", "--no-cache", "large.flow").stdout
for step, kib in () if SANITIZED else enumerate([40_000, 70_000, *range(345_000, 375_000, 1500), 450_000]):
    done = limited(kib, f"{FLOWC} run --quiet --no-cache large.flow", {"FLOW_CODE_CACHE": str(place.path / f"large{step}")})
    fine = done.returncode == 0 and done.stdout == expected != ""
    told = done.returncode == 4 and "E0712" in done.stderr and done.stdout == ""
    check(fine or told, f"ulimit -v {kib}, a large script: the result, or 4 and a message",
          f"{done.returncode}: {done.stderr[:500]}")
for mode in () if SANITIZED else ("", "--interp"):
    for kib in (60_000, 100_000, 150_000, 220_000, 300_000, 500_000, 900_000):
        store = place.path / f"code{kib}{mode}"  # nothing is compiled already
        done = limited(kib, f"{FLOWC} run --quiet {mode} text.flow", {"FLOW_CODE_CACHE": str(store)})
        fine = done.returncode == 0 and done.stdout == "108890 124999750000.0\n"
        told = done.returncode == 4 and "memory" in done.stderr
        check(fine or told, f"ulimit -v {kib} {mode}: the result, or 4 and a message",
              f"{done.returncode}: {done.stdout} {done.stderr[:500]}")
finish()
