#!/usr/bin/env python3
"""Builds and tries flow in the places where people put it, before a release: `./build.sh places [NAME ...]`.

  debian12-gcc debian12-clang debian13-gcc debian13-clang
            a fresh Debian (debootstrap), a clone of what is committed, the two commands of the README
  spaces    cloned to and installed under a path with spaces and letters of other alphabets, then used from elsewhere
  user      another user than who built it, in a folder of his own
  home      without HOME, and with one that is not there
  readonly  the script, its folder and its data cannot be written, and neither can flow's own folder
  cgroup    a container with little memory and half a processor
  editors   Debian 13 with Neovim 0.10, Emacs 30 and Vim, which drive the `flowc lsp` of this tree's build folder, and say what they colour;
            under a minute once the room is there ($PLACES/editors)

In: the working tree's last commit (of the editors: the tree and its build folder); $PLACES (build-places) holds what debootstrap made. Needs root: changes to other
users, mounts, and makes cgroups; everything that it mounts or makes outside of $PLACES is taken away again.
Environment: PLACES_TESTS="NAME ...": which tests run in each Debian ("": all). Ends with "N passed, N failed".
"""
import contextlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from scenario_kit import ROOT, check, finish  # noqa: E402

PLACES = pathlib.Path(os.environ.get("PLACES", ROOT / "build-places")).resolve()
TESTS = os.environ.get("PLACES_TESTS", "").split()
DEBIANS = {"debian12": "bookworm", "debian13": "trixie"}
CLEAN = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C.UTF-8", "NO_COLOR": "1"}
OTHER_USER = 12345  # of no name: as many containers start programs

SCRIPT = """let t = read_csv("flights.csv")
stage late(limit: i64) = t |> where(dep_delay > limit) |> group_by(carrier) |> summarize(n = count()) |> sort(carrier)
show(late(60))
"""


def say(text):
    print(f"{time.strftime('%H:%M:%S')} {text}", flush=True)


def run(command, env=None, **options):
    """A command with what a fresh login has in its environment; its output as text."""
    options = dict(dict(cwd="/", capture_output=True, text=True, errors="replace"), **options)
    return subprocess.run([str(word) for word in command], env=dict(CLEAN, **(env or {})), **options)


def succeeds(what, done, pattern=""):
    text = done.stdout + done.stderr
    which = "\n".join(re.findall("^FAILED.*", text, re.M))
    log = PLACES / f"{re.sub(r'[^a-z0-9]+', '-', what)}.log"
    log.write_text(text)
    check(done.returncode == 0 and re.search(pattern, text), what, f"{text[-2000:]}\nstatus {done.returncode}, the whole in {log}\n{which}")
    return done.returncode == 0


def clone(to):
    shutil.rmtree(to, ignore_errors=True)
    to.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run(["git", "clone", "--quiet", "--no-hardlinks", str(ROOT), str(to)], check=True)


# ---- a fresh Debian ---------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def mounted(root):
    """The file systems of the kernel, as a container has them."""
    points = [("proc", "proc", root / "proc"), ("sysfs", "sysfs", root / "sys"), ("devpts", "devpts", root / "dev/pts"),
              ("tmpfs", "tmpfs", root / "dev/shm")]
    done = []
    try:
        for kind, source, at in points:
            at.mkdir(exist_ok=True)
            if subprocess.run(["mount", "-t", kind, source, str(at)], capture_output=True).returncode == 0:
                done.append(at)
        yield
    finally:
        for at in reversed(done):
            subprocess.run(["umount", "-l", str(at)], check=False)


def base_of(name):
    """The folder of a Debian with nothing in it but what is always there, and certificates; not to be changed."""
    base = PLACES / f"{name}.base"
    if not (base / "complete").exists():
        shutil.rmtree(base, ignore_errors=True)
        base.mkdir(parents=True)
        subprocess.run(["debootstrap", "--variant=minbase", "--include=ca-certificates", DEBIANS[name], str(base)], check=True,
                       stdout=subprocess.DEVNULL)
        (base / "complete").touch()
    return base


def fresh(name):
    """A copy of it, made anew."""
    base, root = base_of(name), PLACES / name
    shutil.rmtree(root, ignore_errors=True)
    subprocess.run(["cp", "-a", "--reflink=auto", str(base), str(root)], check=True)
    return root


def debian(name, compiler):
    root = fresh(name)
    clone(root / "root/flow")

    def inside(command):
        env = {"HOME": "/root", "CC": compiler, "DEBIAN_FRONTEND": "noninteractive"}
        return run(["chroot", root, "bash", "-c", f"cd /root/flow && {command}"], env)

    with mounted(root):
        if compiler == "clang":
            succeeds(f"{name}: clang is installed", inside("apt-get -qq update && apt-get -qq install -y --no-install-recommends clang"))
        if not succeeds(f"{name}, {compiler}: builds and runs the main example", inside("./build.sh run examples/02_flights.flow"),
                        "SkyWest Airlines"):
            return
        used = inside("grep CMAKE_C_COMPILER:FILEPATH build/CMakeCache.txt")
        check(compiler in used.stdout or compiler == "gcc", f"{name}: {compiler} compiled it", used.stdout)
        succeeds(f"{name}, {compiler}: passes the tests", inside(" ".join(["./build.sh", "test", *TESTS])), r"(?m)^[1-9]\d* passed, 0 failed$")
    shutil.rmtree(root, ignore_errors=True)


# ---- one installation, used from everywhere ---------------------------------------------------------------------------


def installed():
    """flowc, installed below a path with spaces; built there once."""
    home = PLACES / "a path, with späces & 'quotes'"
    flowc = home / "to install/bin/flowc"
    commit = subprocess.run(["git", "-C", str(ROOT), "rev-parse", "HEAD"], capture_output=True, text=True, check=True).stdout
    mark = home / "commit"
    if not (flowc.exists() and mark.exists() and mark.read_text() == commit):
        clone(home / "the tree")
        done = run(["./build.sh", "install"], {"HOME": "/root", "PREFIX": str(home / "to install")}, cwd=home / "the tree")
        if not succeeds("spaces: builds and installs", done):
            finish()
        mark.write_text(commit)
    for folder in (home, *home.parents):
        if PLACES in (folder, *folder.parents):
            folder.chmod(0o755)
    return flowc


@contextlib.contextmanager
def project(owner=None):
    """A folder elsewhere with a script and data; the example's flights."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="flow places "))
    folder.chmod(0o755)
    shutil.copy(ROOT / "examples/data/flights.csv", folder)
    (folder / "model.flow").write_text(SCRIPT)
    if owner is not None:
        for path in (folder, *folder.iterdir()):
            os.chown(path, owner, owner)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def as_user(command):
    return ["setpriv", f"--reuid={OTHER_USER}", f"--regid={OTHER_USER}", "--clear-groups", *command]


def tries(what, flowc, folder, wrap=list, env=None, remembers=True, builds=True):
    """Runs, remembers, checks and builds in a folder; `wrap` makes of a command one that runs as somebody else."""
    def flow(*words):
        return run(wrap([flowc, *words]), env, cwd=folder)

    succeeds(f"{what}: check", flow("check", "model.flow"))
    first = flow("run", "model.flow")
    succeeds(f"{what}: run", first, r"1 stages?: 1 run, 0 cached")
    again = flow("run", "model.flow")
    succeeds(f"{what}: run again", again, r"1 stages?: 0 run, 1 cached" if remembers else r"1 stages?: 1 run, 0 cached")
    check(first.stdout == again.stdout and len(first.stdout.splitlines()) > 5, f"{what}: the same table twice", again.stdout)
    if builds and succeeds(f"{what}: build", flow("build", "model.flow")):
        alone = run(wrap(["./model"]), env, cwd=folder)
        check(alone.returncode == 0 and alone.stdout == first.stdout, f"{what}: the binary prints the same", alone.stderr)
    return first, again


def spaces():
    flowc = installed()
    with project() as folder:
        tries("spaces", flowc, folder, env={"HOME": str(folder)})
    tree = PLACES / "a path, with späces & 'quotes'/the tree"
    done = run(["./build.sh", "test", *(TESTS or ["tests/run/tables", "tests/scenario/binary", "tests/lint", "examples/"])],
               {"HOME": "/root"}, cwd=tree)
    succeeds("spaces: passes tests", done, r"(?m)^[1-9]\d* passed, 0 failed$")


def user():
    flowc = installed()
    with project(OTHER_USER) as folder:
        tries("user", flowc, folder, as_user, {"HOME": str(folder)})
        check(all(path.stat().st_mode & 0o077 == 0 for path in (folder / ".flow").rglob("*") if path.name != "CACHEDIR.TAG"),
              "user: the store is private")
        stranger = run([flowc, "run", "model.flow"], {"HOME": str(folder / "root")}, cwd=folder)
        check(stranger.returncode == 0, "user: root runs the same script beside a store that is not root's", stranger.stderr)


def home():
    flowc = installed()
    with project() as folder:
        tries("no HOME", flowc, folder)
    with project(OTHER_USER) as folder:
        tries("a HOME that is not there", flowc, folder, as_user, {"HOME": "/not/there"})
    with project(OTHER_USER) as folder:
        tries("a HOME of somebody else", flowc, folder, as_user, {"HOME": "/root"})


def readonly():
    flowc = installed()
    with project() as folder:  # of root: the other user can only read
        first, again = tries("readonly", flowc, folder, as_user, {"HOME": "/not/there"}, remembers=False, builds=False)
        check("not remembered" in first.stderr, "readonly: says that nothing is remembered", first.stderr)
        elsewhere = {"HOME": "/not/there", "FLOW_CACHE": tempfile.mkdtemp(prefix="flow-places-")}
        os.chown(elsewhere["FLOW_CACHE"], OTHER_USER, OTHER_USER)
        tries("readonly, store elsewhere", flowc, folder, as_user, elsewhere, builds=False)
        shutil.rmtree(elsewhere["FLOW_CACHE"])
        done = run(as_user([flowc, "build", "model.flow"]), {"HOME": "/not/there"}, cwd=folder)
        check(done.returncode in (1, 4) and "model" in done.stderr and "internal" not in done.stderr, "readonly: build says what it cannot write",
              f"status {done.returncode}\n{done.stderr}")
        done = run(as_user([flowc, "build", "model.flow", "-o", f"{tempfile.gettempdir()}/flow places model"]), {"HOME": "/not/there"}, cwd=folder)
        succeeds("readonly: builds to elsewhere", done)
        pathlib.Path(tempfile.gettempdir(), "flow places model").unlink(missing_ok=True)
    with project() as folder:  # a file system that nobody can write
        subprocess.run(["mount", "--bind", str(folder), str(folder)], check=True)
        try:
            subprocess.run(["mount", "-o", "remount,ro,bind", str(folder)], check=True)
            tries("read-only file system", flowc, folder, remembers=False, builds=False)
        finally:
            subprocess.run(["umount", str(folder)], check=True)


# ---- a container ------------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def cgroup(memory, processors):
    """A function that makes of a command one within limits; cgroups of version 1 or 2. None: cannot be made here."""
    base, name = pathlib.Path("/sys/fs/cgroup"), f"flow-places-{os.getpid()}"
    period = 100000
    if (base / "cgroup.controllers").exists():
        folders = {base / name: {"memory.max": memory, "cpu.max": f"{int(period * processors)} {period}"}}
        with contextlib.suppress(OSError):
            (base / "cgroup.subtree_control").write_text("+memory +cpu")
    else:
        folders = {base / "memory" / name: {"memory.limit_in_bytes": memory},
                   base / "cpu" / name: {"cpu.cfs_period_us": period, "cpu.cfs_quota_us": int(period * processors)}}
    try:
        for folder, settings in folders.items():
            folder.mkdir()
            for key, value in settings.items():
                (folder / key).write_text(str(value))
    except OSError as reason:
        say(f"cgroup: left out, {reason}")
        folders = {folder: None for folder in folders if folder.exists()}
        yield None
    else:
        enter = "; ".join(f"echo $$ > '{folder}/cgroup.procs'" for folder in folders)
        yield lambda command: ["bash", "-c", enter + '; exec "$@"', "bash", *map(str, command)]
    finally:
        for folder in folders:
            with contextlib.suppress(OSError):
                folder.rmdir()


def container():
    flowc = installed()
    with project() as folder, cgroup(256 << 20, 0.5) as wrap:
        if wrap is None:
            return
        tries("cgroup", flowc, folder, wrap, {"HOME": str(folder)})
        (folder / "big.flow").write_text("let x = [for i in 0..50_000_000: random(1, i)]\nprint(sort(x)[25_000_000])\n")
        done = run(wrap([flowc, "run", "--no-cache", "big.flow"]), {"HOME": str(folder)}, cwd=folder)
        succeeds("cgroup: sorts 400 MB in 256 MB", done, r"^0\.\d+")
        free = run([flowc, "run", "--no-cache", "big.flow"], {"HOME": str(folder)}, cwd=folder)
        check(free.stdout == done.stdout, "cgroup: the same as without a limit", free.stdout + done.stdout)


# ---- editors ----------------------------------------------------------------------------------------------------------

ROOM = ["neovim", "emacs-nox", "vim-nox", "libxxhash0"]  # the last is flowc's


def editors_room():
    """A Debian 13 with editors, which stays."""
    root, mark = PLACES / "editors", PLACES / "editors/room"
    if not (mark.exists() and mark.read_text() == " ".join(ROOM)):
        shutil.rmtree(root, ignore_errors=True)
        subprocess.run(["cp", "-a", "--reflink=auto", str(base_of("debian13")), str(root)], check=True)
        with mounted(root):
            done = run(["chroot", root, "bash", "-c", f"apt-get -qq update && apt-get -qq install -y --no-install-recommends {' '.join(ROOM)}"],
                       {"DEBIAN_FRONTEND": "noninteractive", "HOME": "/root"})
        if not succeeds("editors: the room has them", done):
            return None
        mark.write_text(" ".join(ROOM))
    return root


def editors():
    if not (ROOT / "build/flowc").exists():
        check(False, "editors: `./build.sh` has made build/flowc")
        return
    root = editors_room()
    if root is None:
        return
    flow, parser = root / "root/flow", root / "root/flow.so"
    source = ROOT / "editors/tree-sitter/src"
    done = run(["cc", "-O2", "-shared", "-fPIC", f"-I{source}", "-o", parser, *sorted(source.glob("*.c"))])
    if not succeeds("editors: the grammar compiles", done):
        return
    flow.mkdir(exist_ok=True)
    subprocess.run(["mount", "--bind", str(ROOT), str(flow)], check=True)
    try:
        subprocess.run(["mount", "-o", "remount,ro,bind", str(flow)], check=True)
        env = {"HOME": "/root", "FLOWC": "/root/flow/build/flowc", "PARSER": "/root/flow.so", "TERM": "dumb"}
        with mounted(root):
            versions = run(["chroot", root, "bash", "-c", "nvim --version | head -1; emacs --version | head -1; vim --version | head -1"], env)
            found = versions.stdout.strip().replace("\n", ", ")
            say(found)
            check(re.match(r"NVIM v0\.10.*Emacs 30.*VIM", found), "editors: Neovim 0.10, Emacs 30 and Vim", found)
            for part in ("vim", "neovim", "neovim-colours", "emacs"):
                start = time.monotonic()
                done = run(["chroot", root, "/root/flow/editors/test/run.sh", part], env)
                if succeeds(f"editors: {part}", done, r"(?m)^\d+ passed, 0 failed$"):
                    say(f"{part}: {', '.join(re.findall(r'(?m)^.*passed, 0 failed$', done.stdout + done.stderr))}, {time.monotonic() - start:.1f} s")
    finally:
        subprocess.run(["umount", "-l", str(flow)], check=True)


KINDS = {**{f"{name}-{compiler}": (lambda n=name, c=compiler: debian(n, c)) for name in DEBIANS for compiler in ("gcc", "clang")},
         "spaces": spaces, "user": user, "home": home, "readonly": readonly, "cgroup": container, "editors": editors}


def main():
    wanted = sys.argv[1:] or list(KINDS)
    unknown = [name for name in wanted if name not in KINDS]
    if unknown:
        sys.exit(f"no such place: {' '.join(unknown)}; there are: {' '.join(KINDS)}")
    if os.geteuid() != 0:
        sys.exit("places are made as root: other users, mounts, cgroups")
    PLACES.mkdir(parents=True, exist_ok=True)
    for name in wanted:
        say(name)
        KINDS[name]()
    finish()


if __name__ == "__main__":
    main()
