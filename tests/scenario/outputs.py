"""What writers do where the path is no ordinary file: links are followed, devices and pipes are written as they stand,
folders are an error."""
import os
import pathlib
import subprocess
import sys
import threading

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from scenario_kit import Place, check, finish

WRITERS = {"csv": "write_csv(t, {path})", "json": "write_json(t, {path})", "npy": "write_npy([1.5, 2.5], {path})",
           "flowdata": "save(t, {path})"}
CSV = "x\n1\n2\n"


def script(writer, path):
    return "let t = table(x = [1, 2])\nprint(\"before\")\n" + WRITERS[writer].format(path=f'"{path}"') + '\nprint("after")\n'


def run(writer, path, **options):
    place.write("w.flow", script(writer, path))
    return place.run("run", "w.flow", **options)


place = Place()
here = place.path
plain = {}
for writer in WRITERS:
    done = run(writer, f"plain.{writer}")
    check(done.returncode == 0, f"{writer}: an ordinary file", done.stderr)
    plain[writer] = (here / f"plain.{writer}").read_bytes()

    (here / "real").mkdir(exist_ok=True)
    file, link, chain = here / f"real/{writer}", here / f"link.{writer}", here / f"chain.{writer}"
    file.write_text("old")
    link.symlink_to(f"real/{writer}")
    chain.symlink_to(link)
    done = run(writer, chain.name)
    check(done.returncode == 0 and link.is_symlink() and chain.is_symlink(), f"{writer}: links stay", done.stderr)
    check(file.read_bytes() == plain[writer] and not file.is_symlink(), f"{writer}: what they point to is replaced")

    file.unlink()
    done = run(writer, link.name)
    check(done.returncode == 0 and link.is_symlink() and file.read_bytes() == plain[writer],
          f"{writer}: a link to a file that is not there yet makes it", done.stderr)

    done = run(writer, "real")
    check(done.returncode == 1 and "it is a folder" in done.stderr and (here / "real").is_dir(), f"{writer}: a folder",
          done.stderr)

    pipe, got = here / f"pipe.{writer}", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: got.append(pipe.read_bytes()))
    reader.start()
    done = run(writer, pipe.name)
    reader.join(timeout=0 if done.returncode else 30)
    if reader.is_alive():  # nobody wrote: let it go
        os.close(os.open(pipe, os.O_RDWR | os.O_NONBLOCK))
    check(done.returncode == 0 and got == [plain[writer]] and pipe.is_fifo(), f"{writer}: a pipe", done.stderr)

(here / "around").symlink_to("around")
done = run("csv", "around")
check(done.returncode == 1 and "around" in done.stderr and (here / "around").is_symlink(), "links in a circle", done.stderr)

device = os.stat("/dev/null")
done = run("csv", "/dev/null")
check(done.returncode == 0 and os.stat("/dev/null").st_rdev == device.st_rdev, "a device", done.stderr)
for path in ("/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"):
    done = run("csv", path)
    check(done.stdout == f"before\n{CSV}after\n", f"{path}: in its place among what is printed", done.stdout + done.stderr)
    with open(here / "all.txt", "w") as out:
        out.write("first\n")
        out.flush()
        done = subprocess.run(place.command("run", "w.flow"), cwd=here, env=place.env, stdout=out,
                              stderr=subprocess.PIPE, text=True)
    check((here / "all.txt").read_text() == f"first\nbefore\n{CSV}after\n", f"{path}: sent to a file",
          (here / "all.txt").read_text() + done.stderr)
done = run("csv", "/dev/fd/77")
check(done.returncode == 1 and "/dev/fd/77" in done.stderr, "a descriptor that is not open", done.stderr)

left = [p.name for p in here.rglob("*.tmp")]
check(left == [], "nothing is left", left)
place.write("plain.flow", "print(1)\n")
done = place.run("build", "plain.flow", "-o", "/dev/null")
check(done.returncode != 0 and "ordinary file" in done.stderr and os.stat("/dev/null").st_rdev == device.st_rdev,
      "a binary does not replace a device", done.stderr)
place.write("untidy.flow", "print( 1 )\n")
(here / "tidy.flow").symlink_to("untidy.flow")
done = place.run("fmt", "tidy.flow")
check((here / "tidy.flow").is_symlink() and (here / "untidy.flow").read_text() == "print(1)\n", "fmt follows links", done.stderr)
finish()
