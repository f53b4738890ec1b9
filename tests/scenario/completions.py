"""What shells complete and the page of the manual: made from the table of the command line, so every command and option of it is there, asked
in the shell itself where it is installed, and nothing else is; a script's own parameters are completed behind `run`."""
import os
import pathlib
import pty
import re
import select
import shutil
import signal
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from scenario_kit import FLOWC, ROOT, Place, check, finish

table = (ROOT / "compiler/cli/commands.def").read_text()
table = table[table.index("#endif\n\nFL_COMMAND"):]
ID = dict(re.findall(r'^FL_COMMAND\((\w+), "(\w+)"', table, re.M))
FLAGS = re.findall(r'^FL_FLAG\(\w+, (.*?), "(-[\w-]+)", (?:NULL|"(-\w)"), (?:NULL|"(\w+)")', table, re.M)
EVERY = re.findall(r'FL_OPTION\(\w+, "([\w-]+)", (?:NULL|"(\w+)")', (ROOT / "runtime/exec/command_line.h").read_text())
OPTIONS = {name: {n for on, option, other, _ in FLAGS for n in (option, other) if n and (on == "~0u" or f"ON({id})" in on)} for id, name in ID.items()}
OPTIONS["run"] |= {f"--{name}" for name, _ in EVERY}
check(len(ID) >= 14 and {"--workers", "-O0", "-c"} <= OPTIONS["run"], "the tables are read", OPTIONS["run"])

place = Place(fit__flow="param rate: f64 = 0.5  ## how fast\nparam data_file: text = \"x\"\nprint(rate)\n", other__csv="a\n1\n")
bin_folder = place.path / "bin"
bin_folder.mkdir()
(bin_folder / "flowc").symlink_to(FLOWC)
place.env["PATH"] = f"{bin_folder}:{place.env['PATH']}"
place.env["HOME"] = str(place.path)
for shell in ("bash", "zsh", "fish"):
    done = place.run("help", shell)
    check(done.returncode == 0 and done.stderr == "", f"help {shell}", done.stderr)
    place.write(f"flowc.{shell}", done.stdout)

BASH = """source flowc.bash
compopt() { :; }
COMP_WORDS=("$@"); COMP_CWORD=$(($#-1)); _flowc; printf '%s\\n' "${COMPREPLY[@]}" """
ZSH = """_describe() { print -l -- ${commands%%:*} }
_arguments() { for a in "$@"; do case $a in -S|:) ;; '*:'*) eval "compadd() { shift 2; print -l -- \\$w }; _files() { print -l -- *(N) }; ${${a#*\\{}%\\}}" ;; *) print -r -- "${a%%\\[*}" ;; esac; done }
words=("$@"); CURRENT=$#
source flowc.zsh"""


def in_bash(*words):
    return ["bash", "-c", BASH, "bash", *words]


def in_zsh(*words):
    return ["zsh", "-f", "-c", ZSH, "zsh", *words]


def in_fish(*words):
    return ["fish", "-c", "source flowc.fish; complete -C \"$argv\"", " ".join(words)]


for shell, asked in (("bash", in_bash), ("zsh", in_zsh), ("fish", in_fish)):
    if not shutil.which(shell):
        continue

    def completed(*words):
        """The completions of the last word."""
        done = subprocess.run(asked(*words), cwd=place.path, env=place.env, capture_output=True, text=True)
        check(done.returncode == 0 and done.stderr == "", f"{shell} {words}: no error", (done.returncode, done.stderr))
        found = {line.split("\t")[0] for line in done.stdout.splitlines()} - {""}
        return {w for w in found if w.startswith(words[-1])}

    check(completed("flowc", "") - {p.name for p in place.path.iterdir()} == set(ID.values()), f"{shell}: the commands", completed("flowc", ""))
    for name in ID.values():
        own = {"--rate", "--data_file"} if name == "run" else set()
        for dashes in ("-", "--"):
            words = ["flowc", name, *(["fit.flow"] if own else []), dashes]
            found, wanted = completed(*words), {o for o in OPTIONS[name] | own if o.startswith(dashes)}
            check(found - {"--help", "-h"} == wanted - {"--help", "-h"}, f"{shell}: options of {name}, {dashes}", found ^ wanted)
    check(completed("flowc", "cache", "v") == {"verify"} and "build" in completed("flowc", "help", ""), f"{shell}: words that stand for operands")
    check("fit.flow" in completed("flowc", "check", "f"), f"{shell}: files")
    if shell != "zsh":  # values behind options: zsh's own _arguments does them
        check("fit.flow" in completed("flowc", "build", "-o", "f") and completed("flowc", "run", "--workers", "f") == set(), f"{shell}: values")
        check(completed("flowc", "explain", "--ranks", "f") == set() and "fit.flow" in completed("flowc", "build", "--ranks", "f"),
              f"{shell}: an option that has a value for one command and none for another")

# ---- names of files with spaces and quotes are one word ----
place.write("two words.flow", ""), place.write("it's.flow", "")
for typed, name in ((["check", "two"], "two words.flow"), (["build", "--output", "two"], "two words.flow"), (["check", "it"], "it's.flow")):
    done = subprocess.run(in_bash("flowc", *typed), cwd=place.path, env=place.env, capture_output=True, text=True)
    check(done.stdout == name + "\n", f"bash: {name} behind {typed}", done.stdout)


# ---- zsh as somebody types in it: its own _arguments reads what is made ----
class Zsh:
    def __init__(self):
        place.write("_flowc", (place.path / "flowc.zsh").read_text())
        self.child, self.at = pty.fork()
        if self.child == 0:
            os.chdir(place.path)
            os.execvpe("zsh", ["zsh", "-f", "-i"], dict(place.env, TERM="dumb"))
        self.shown = ""
        self.say(f"stty cols 400; fpath=('{place.path}' $fpath); autoload -Uz compinit; compinit -u -D; LISTMAX=9999; PS1=; echo re''ady\n")
        check(self.wait(lambda: "ready" in self.shown), "zsh starts", self.shown)

    def say(self, text):
        os.write(self.at, text.encode())

    def wait(self, holds):
        end = time.monotonic() + 20
        while time.monotonic() < end and not holds():
            if select.select([self.at], [], [], 0.2)[0]: self.shown += os.read(self.at, 65536).decode(errors="replace")
        return holds()

    def shows(self, typed, words):
        self.shown = ""
        self.say(typed + "\t")
        right = self.wait(lambda: all(re.search(rf"(?<![\w-]){re.escape(w)}(?![\w-])", self.shown.replace("\r", "")) for w in words))
        check(right and "_arguments" not in self.shown, f"zsh shows {sorted(words)} behind `{typed}`", self.shown)
        self.say("\x15echo do''ne\n")
        self.wait(lambda: "done" in self.shown)


if shutil.which("zsh"):
    shell = Zsh()
    shell.shows("flowc ", ID.values())
    for name in ID.values():
        wanted = {o for o in OPTIONS[name] if o.startswith("--")}
        if len(wanted) > 1: shell.shows(f"flowc {name} --", wanted)
    for typed, word in (("flowc run fi", "fit.flow"), ("flowc build -o oth", "other.csv"), ("flowc run fit.flow --ra", "--rate"), ("flowc cache v", "verify")):
        shell.shows(typed, [word])
    os.kill(shell.child, signal.SIGKILL)
    os.waitpid(shell.child, 0)

manual = place.run("help", "manual")
check(manual.returncode == 0 and manual.stdout.startswith(".TH FLOWC 1"), "the page of the manual", manual.stderr)
plain = re.sub(r"\\f[BRI]", "", manual.stdout.replace("\\-", "-"))
for name in ID.values():
    check(f'.SS "flowc {name}' in plain, f"the manual has {name}")
for option in set().union(*OPTIONS.values()) - {"-h"}:
    check(re.search(rf"^(.*, )?{option}\b", plain, re.M), f"the manual has {option}")
if shutil.which("groff"):
    done = subprocess.run(["groff", "-man", "-ww", "-Tutf8", "-z"], input=manual.stdout, capture_output=True, text=True)
    check(done.returncode == 0 and done.stderr == "", "groff has nothing to say of it", done.stderr)
if shutil.which("mandoc"):
    done = subprocess.run(["mandoc", "-T", "lint", "-W", "error"], input=manual.stdout, capture_output=True, text=True)
    check(done.returncode == 0, "neither has mandoc", done.stdout)
finish()
