"""flowc build without a name: which script is meant, where the binary goes to, and that no script is ever written over. flowc run: what a
misspelt option before the script is told."""
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from scenario_kit import Place, check, finish

place = Place()
here = place.path / "work"
here.mkdir()


def build(*words, status=0):
    done = subprocess.run(place.command("build", *words), cwd=here, env=place.env, capture_output=True, text=True)
    check(done.returncode == status, f"build {' '.join(words)}: status {status}", f"{done.returncode}: {done.stderr}")
    return done.stderr


def prints(binary):
    return subprocess.run([f"./{binary}"], cwd=here, env=place.env, capture_output=True, text=True).stdout


(here / ".flow").mkdir()  # where runs are remembered: no script
check("no script" in build(status=2), "an empty folder is said to be so")
(here / "first.flow").write_text('print("first")\n')
build()
check(prints("first") == "first\n", "the only script")
(here / "second.flow").write_text('print("second")\n')
check("several" in build(status=2), "two scripts are too many")
(here / "model.flow").write_text('print("model")\n')
build()
check(prints("model") == "model\n", "model.flow of several")
(here / "sub").mkdir()
(here / "sub/third.flow").write_text('print("third")\n')
build("sub/third.flow")
check(prints("third") == "third\n" and not (here / "sub/third").exists(), "the binary stands in this folder")
build("second.flow", "-o", "other")
check(prints("other") == "second\n", "-o names it")
(here / "plain").write_text('print("plain")\n')
check("-o OUT" in build("plain", status=2), "no ending to leave out")
check("-o OUT" in build("second.flow", "-o", "second.flow", status=2), "the script itself")
check((here / "second.flow").read_text() == 'print("second")\n' and (here / "plain").read_text() == 'print("plain")\n', "scripts are as before")
(here / "fourth.flow").write_text("print(4)\n")
(here / "fourth").mkdir()
check("folder" in build("fourth.flow", status=2), "a folder has the name")
check("--mcpu" in build("--mcp", status=2), "an unknown option: a suggestion")
done = subprocess.run(place.command("run", "--wrokers", "2", "first.flow"), cwd=here, env=place.env, capture_output=True, text=True)
check(done.returncode == 2 and "--wrokers" in done.stderr and "--workers" in done.stderr, "run: an unknown option before the script", done.stderr)
(here / "flag.flow").write_text("param loud: bool = false\nparam n: i64 = 1\nprint(loud, n)\n")
done = subprocess.run(place.command("run", "--workers", "2", "--loud", "--n=3", "flag.flow"), cwd=here, env=place.env, capture_output=True, text=True)
check(done.stdout == "true 3\n", "run: the script's own options may stand before it where it is clear", done.stdout + done.stderr)
finish()
