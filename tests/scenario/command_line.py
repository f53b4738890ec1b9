#!/usr/bin/env python3
"""The command line of flowc: every command x every option of its table is shown by --help and works, before and behind the file; what is not in the
table is refused with the closest name; files, folders, names and standard input; the exit status of each kind of failure; what --json and --junit
write is well formed whatever texts are in it."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as xml

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from scenario_kit import FLOWC, ROOT, Place, check, finish

table = (ROOT / "compiler/cli/commands.def").read_text()
table = table[table.index("#endif\n\nFL_COMMAND"):]
ID = dict(re.findall(r'^FL_COMMAND\((\w+), "(\w+)"', table, re.M))
FLAGS = [(on, name, other, value) for on, name, other, value in
         re.findall(r'^FL_FLAG\(\w+, (.*?), "(-[\w-]+)", (NULL|"-\w"), (NULL|"\w+")', table, re.M)]
OPTIONS = {ID[c]: [(n, o.strip('"'), v) for on, n, o, v in FLAGS if on == "~0u" or f"ON({c})" in on] for c in ID}
check(len(ID) >= 12 and all(OPTIONS.values()), "the table is read", OPTIONS)

place = Place()
place.write("a.flow", 'stage s(n: i64) -> i64 = n + 1\nparam n: i64 = 3  ## how many\nprint("{s(n)}")\ntest "t" {\n  assert s(1) == 2\n}\n')
place.write("bad.flow", "let x = = 1\n")
place.write("wrong.flow", "print(y)\n")
place.write("red.flow", 'test "red" { assert 1 == 2 }\ntest "green" { assert 1 == 1 }\n')
place.write("fails.flow", 'param f: file = "nothing.csv"\ntype R = (a: i64)\nlet t: R[_] = read_csv(f)\nshow(t)\n')
place.write("stops.flow", "assert 1 == 2\n")
place.write("rough.flow", "let   x=1\nshow( x )\n")
place.write("d.csv", "a,b\n1,x\n")


def run(*words, cwd=".", env=(), stdin=None, raw=False):
    return subprocess.run([FLOWC, *words], cwd=place.path / cwd, env=dict(place.env, **dict(env)), capture_output=True, text=not raw,
                          input=stdin, timeout=300)


def expect(status, *words, what="", **more):
    p = run(*words, **more)
    check(p.returncode == status, f"status {status}: flowc {' '.join(words)} {what}", f"{p.returncode}\n{p.stdout}{p.stderr}")
    return p


# ---- help ----
listed = expect(0, "help").stdout
check(listed == run("--help").stdout == run("-h").stdout and run().returncode == 2, "help, --help, -h; without a word status 2")
for name, options in OPTIONS.items():
    check(re.search(rf"^  {name} ", listed, re.M), f"`flowc help` lists {name}", listed)
    page = expect(0, name, "--help").stdout
    check(page == run(name, "-h").stdout == run("help", name).stdout, f"one page for {name} -h, --help, help {name}", page)
    for option, other, value in options:
        check(re.search(rf"^  (-\w, )?{re.escape(option)}( |$)", page, re.M), f"{name} --help shows {option}", page)
    shown = re.findall(r"^  (?:-\w, )?(--?[\w-]+)", page.split("\noptions of every script")[0], re.M)
    check(sorted(shown) == sorted(o for o, _, _ in options), f"{name} --help shows no other", shown)
check("--workers" in run("run", "--help").stdout and "--n " in run("run", "a.flow", "--help").stdout, "run --help; run FILE --help")
check("FLOW_CACHE" in expect(0, "help", "environment").stdout, "help environment")
expect(2, "help", "nothing")
check("did you mean `check`" in expect(2, "chekc").stderr, "a misspelt command")

# ---- each option works, before and behind what it is about ----
WORKS = {
    ("run", "-O0"): (["a.flow"], lambda p: p.stdout == "4\n"), ("run", "--interp"): (["a.flow", "--n", "5"], lambda p: p.stdout == "6\n"),
    ("run", "-c"): (["--quiet"], lambda p: p.stdout == "7\n"),
    ("build", "-O0"): (["a.flow"], lambda p: (place.path / "a").exists()),
    ("build", "--output"): (["a.flow"], lambda p: (place.path / "out.bin").exists()),
    ("build", "--mcpu"): (["a.flow"], lambda p: "processor: x86-64-v3" in run("version", "a").stdout),
    ("build", "--ranks"): (["a.flow"], lambda p: b"ld-linux" in (place.path / "a").read_bytes()),
    ("build", "--emit"): (["a.flow"], lambda p: p.stdout.startswith("module")),
    ("fmt", "--check"): (["a.flow"], lambda p: p.stdout == ""), ("fmt", "--stdout"): (["rough.flow"], lambda p: p.stdout == "let x = 1\nshow(x)\n"),
    ("cache", "--limit"): (["gc"], lambda p: "removed" in p.stdout), ("cache", "--cache"): (["ls"], lambda p: "elsewhere" in p.stdout),
    ("test", "--interp"): (["a.flow"], lambda p: p.stdout.endswith(" passed, 0 failed\n")),
    ("explain", "--profile"): (["a.flow"], lambda p: "the last run took" in p.stdout),
    ("graph", "--form"): (["a.flow"], lambda p: p.stdout.startswith("digraph")),
    ("doc", "--html"): (["linear"], lambda p: (place.path / "pages/linear.html").exists()),
    ("diff", "--key"): (["a.flow", "a.flow"], lambda p: "what is shown is the same" in p.stdout),
    ("diff", "--cache"): (["a.flow", "a.flow"], lambda p: "what is shown is the same" in p.stdout),
    ("explain", "--ranks"): (["a.flow"], lambda p: "over 3 ranks" in p.stdout),
    ("bench", "--runs"): (["a.flow"], lambda p: "a.flow: 2 runs with" in p.stdout),
    ("bench", "--cache"): (["a.flow"], lambda p: "the run " in p.stdout),
    ("doctor", "--hosts"): ([], lambda p: "localhost: ssh: this machine answers" in p.stdout),
    ("why", "--cache"): (["a.flow"], lambda p: "s: run" in p.stdout),
}
VALUES = {"--output": "out.bin", "--mcpu": "x86-64-v3", "--emit": "ir", "--junit": "report.xml", "--limit": "1G", "--cache": "elsewhere", "--form": "dot", "--html": "pages", "--key": "n", "--hosts": "localhost", ("explain", "--ranks"): "3", "--runs": "2", "-c": 'print("7")'}
run("run", "a.flow", "--cache", "elsewhere"), run("run", "a.flow")
for name, options in OPTIONS.items():
    for option, other, value in options:
        if option == "--help": continue
        if option in ("--json", "--junit"):
            words, holds = [] if name == "doctor" else ["a.flow"], lambda p: (json.loads(p.stdout) if option == "--json" else xml.parse(place.path / "report.xml"))
        else:
            check((name, option) in WORKS, f"this test knows {name} {option}")
            words, holds = WORKS.get((name, option), ([], bool))
        given = VALUES.get((name, option)) or VALUES.get(option)
        check((given is not None) == (value != "NULL"), f"{option} has a value or none")
        forms = [[option, given], [f"{option}={given}"], *([[other, given]] if other != "NULL" else [])] if given else [[option]]
        for form in forms:
            for line in ([*form, *words], [*words, *form]):
                p = expect(0 if option != "--hosts" or shutil.which("mpirun") else 1, name, *line)
                check(holds(p), f"{name} {' '.join(line)} does it", p.stdout + p.stderr)
        if given:
            check("needs a value" in expect(2, name, *words, option).stderr, f"{name} {option} without its value")
            if name != "run":
                check("twice" in expect(2, name, *words, option, given, f"{option}={given}").stderr, f"{name} {option} twice")
        elif option.startswith("--"):
            check("no value" in expect(2, name, f"{option}=1", *words).stderr, f"{name} {option}=1")

# ---- what is not in the table ----
for name, options in OPTIONS.items():
    for line in (["--xyzzy", "a.flow"], ["a.flow", "--xyzzy"], ["-x", "a.flow"]):
        p = expect(2, name, *line)
        check("xyzzy" in p.stderr or "-x" in p.stderr, f"{name} {line}: named", p.stderr)
    for option, _, value in options:
        if len(option) < 5: continue
        spoilt = option[:-2] + option[-1] + option[-2]
        p = expect(2, name, spoilt, *(["v"] if value != "NULL" else []))
        check(option in p.stderr, f"{name} {spoilt}: `{option}` is proposed", p.stderr)
check("--workers" in expect(2, "run", "a.flow", "--worksers", "2").stderr, "run: behind the script")
check("--f" in expect(2, "run", "fails.flow", "--ff", "2").stderr, "run: a param")
for line in (["new"], ["new", "x", "y"], ["explain", "E0101", "E0102"], ["why", "a.flow", "s", "t"], ["cache"], ["cache", "list"], ["cache", "ls", "a", "b"],
             ["check"], ["test"], ["fmt"], ["schema"], ["run"], ["build", "a.flow", "red.flow"], ["cache", "ls", "--limit", "1G"],
             ["cache", "gc", "--limit", "much"], ["build", "a.flow", "--emit", "irr"], ["build", "a.flow", "--mcpu", "nonsense"],
             ["build", "a.flow", "--mcpu", "i386"], ["build", "a.flow", "--mcpu", ""], ["build", "a.flow", "-o", "-"]):
    check(expect(2, *line).stderr, f"{line}: a message")
check("`skylake`" in run("build", "a.flow", "--mcpu", "skylak").stderr, "a misspelt processor")


def needs(*words):
    """What the binary says that its processor must have."""
    program = next(line for line in run("build", "a.flow", "--emit", "llvm", *words).stdout.splitlines() if line.startswith("@flow_program"))
    return int(program.split(" ")[-2])


check(needs() == needs("--mcpu", "x86-64-v2") != needs("--mcpu", "x86-64-v3") != 0, "what is built for all processors needs x86-64-v2, by LLVM's own word")

# ---- the exit status of each failure ----
(place.path / "folder.flow").mkdir()
for name in ("run", "build", "check", "test", "fmt", "explain", "version"):
    expect(2, name, "missing.flow")
    expect(3, name, "bad.flow")
    if name != "fmt": expect(3, name, "wrong.flow")
expect(1, "schema", "missing.csv"), expect(1, "run", "fails.flow"), expect(1, "run", "stops.flow"), expect(1, "test", "red.flow")
expect(1, "fmt", "--check", "rough.flow"), expect(1, "version", "d.csv"), expect(1, "why", "red.flow"), expect(2, "new", "folder.flow")
expect(3, "run", "--interp", "wrong.flow"), expect(2, "run", "a.flow", "--n", "x"), expect(2, "run", "folder.flow"), expect(2, "explain", "E9999")
expect(3, "test", "red.flow", "bad.flow"), expect(3, "check", "a.flow", "bad.flow", "a.flow"), expect(2, "check", "a.flow", "missing.flow")
for name, words in {"help": [], "check": ["a.flow", "--json"], "version": [], "explain": [], "cache": ["ls"], "schema": ["d.csv"],
                    "build": ["--emit=ir", "a.flow"], "fmt": ["--stdout", "a.flow"]}.items():
    with open("/dev/full", "w") as full:
        status = subprocess.run([FLOWC, name, *words], cwd=place.path, env=place.env, stdout=full, stderr=subprocess.PIPE).returncode
    check(status == 4, f"{name} to a full disk: status 4", status)
expect(4, "check", "a.flow", "--junit", "/dev/full"), expect(4, "check", "a.flow", "--junit", "a.flow/report.xml")

check(expect(0, "build", "a.flow", "--emit=ir", "-o", "-").stdout.startswith("module") and not (place.path / "-").exists(),
      "build -o -: to standard output")

# ---- files, folders, names, standard input ----
(place.path / "folder.flow").rmdir()
for name, text in {"tree/a.flow": 'test "a" {\n  assert 1 == 1\n}\n',
                   "tree/sub/b.flow": 'test "b" {\n  assert 1 == 1\n}\ntest "c" {\n  assert 1 == 2\n}\n',
                   "tree/.hidden.flow": "let = 1\n", "tree/.flow/cache/x.flow": "let = 1\n", "tree/notes.txt": "let = 1\n",
                   "empty/notes.txt": ""}.items():
    (place.path / name).parent.mkdir(parents=True, exist_ok=True)
    place.write(name, text)
(place.path / "tree/sub/up").symlink_to("..")
(place.path / "tree/again.flow").symlink_to("sub/b.flow")
(place.path / "to").symlink_to("tree")
for spelled, cwd in (("tree", "."), ("tree/", "."), ("./tree", "."), (str(place.path / "tree"), "/"), (".", "tree"), ("..", "tree/sub"), ("to", ".")):
    p = expect(1, "test", spelled, cwd=cwd)
    check(p.stdout.endswith("2 passed, 1 failed\n"), f"test {spelled} in {cwd}: each file once", p.stdout)
    expect(0, "check", spelled, cwd=cwd), expect(0, "fmt", "--check", spelled, cwd=cwd)
p = expect(1, "test", "tree", "tree/a.flow", "tree/sub", "tree/a")
check(p.stdout.endswith("2 passed, 1 failed\n"), "what is named twice runs once", p.stdout)
check(expect(0, "test", "tree/a").stdout == "1 passed, 0 failed\n", "a name without its ending")
for name in ("check", "test", "fmt"):
    check("no script" in expect(2, name, "empty").stderr, f"{name} of a folder without scripts")
    check(expect(0, name, "-", stdin='test "t" { assert 1 == 1 }\n').stderr == "", f"{name} -")
    check("(standard input):1:" in expect(3, name, "-", stdin="let = 1\n").stderr, f"{name} -: messages name it")
check(run("fmt", "-", stdin="let   x=1\n").stdout == "let x = 1\n", "fmt - prints")
expect(1, "fmt", "--check", "-", stdin="let   x=1\n")
check(run("test", "-", stdin='test "r" { assert 1 == 2 }\n').stdout.endswith("0 passed, 1 failed\n"), "test - with a test that fails")
for way in ([], ["-O0"], ["--interp"]):
    check(expect(0, "run", *way, "-", "--k", "4", stdin='import "a"\nparam k: i64\nprint(k)\n'.replace('import "a"\n', "")).stdout == "4\n", f"run {way} -")
place.write("tree/m.flow", "fn twice(x: i64) -> i64 = 2 * x\n")
check(run("run", "-", cwd="tree", stdin='import "m.flow"\nprint(m.twice(4))\n').stdout == "8\n", "imports of standard input are beside this folder")
expect(2, "build", "-", stdin="print(1)\n")
expect(0, "build", "-", "-o", "piped", stdin="print(17)\n")
check(subprocess.run([place.path / "piped"], capture_output=True, text=True, env=place.env).stdout == "17\n", "build - -o")
check("script" in expect(0, "version", "-", stdin="print(1)\n").stdout and expect(0, "explain", "-", stdin="print(1)\n").stdout, "version -, explain -")
place.write("-x.flow", "print(1)\n")
check(expect(0, "check", "--", "-x.flow").stderr == "", "-- ends the options")

# ---- JSON and JUnit of hostile texts ----
hostile = ['<&>"\'', "]]>", "\\u{0}".replace("\\u{0}", "\\u{1}"), "\\u{7f}\\u{85}\\u{FFFD}", "\\n\\t", "\\u{1F600}", "{{", "&#0;", "-->", "\\u{2028}"]
body = "".join(f'test "{t.replace(chr(34), chr(92) + chr(34))}" {{ assert 1 == 1, "{t.replace(chr(34), chr(92) + chr(34)).replace("{{", "x")}" }}\n'
               for t in hostile[:2] + ["plain", "\U0001F600 \u2028", "a\tb"])
body += 'test "says" { assert 1 == 2, "<\\u{1}\\u{1b}[31m]]>&" }\n'
place.write("tests.flow", body)
place.write("odd.flow", '# \x01 \x7f \ufffe <&">\nlet s = "\\q <]]>&"\nprint(s, `a\x02`)\n')
(place.path / "bytes.flow").write_bytes(b'let s = "\xff\xfe\xed\xa0\x80\xf4\x90\x80\x80"\nprint(t)\n')
name = b"n\xff\x01<&.flow"
(pathlib.Path(os.fsdecode(os.fsencode(place.path) + b"/" + name))).write_bytes(b"print(q)\n")
good = re.compile("[^\t\n\r\x20-\x7e\x80-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
for command in ("check", "test", "fmt"):
    words = [command, "--json", "--junit", "r.xml", "tests.flow", "odd.flow", "bytes.flow", os.fsdecode(name), "missing.flow", "a.flow",
             *(["--check"] if command == "fmt" else [])]
    p = run(*words, raw=True)
    text = p.stdout.decode("utf-8")
    found = json.loads(text)
    junit = xml.parse(place.path / "r.xml").getroot()
    cases = list(junit.iter("testcase"))
    check(found["format"] == 1 and found["command"] == command and found["passed"] + found["failed"] == len(found["results"]) == len(cases),
          f"{command}: JSON and JUnit have the same cases", text[:2000])
    check([r["passed"] for r in found["results"]] == [len(c) == 0 for c in cases] and
          int(junit[0].get("tests")) == len(cases) and int(junit[0].get("failures")) == len(list(junit.iter("failure"))) and
          int(junit[0].get("errors")) == len(list(junit.iter("error"))), f"{command}: and say the same of them")
    check(all((r["status"] == 0) == r["passed"] and (r["passed"] or r["output"] or r["messages"]) for r in found["results"]),
          f"{command}: what failed says why")
    check(not good.search(text) and not good.search((place.path / "r.xml").read_text()), f"{command}: no character that XML or JSON cannot hold")
    messages = [m for r in found["results"] for m in r["messages"]]
    check(messages and all(re.fullmatch(r"[EW]\d{4}", m["code"]) and m["line"] > 0 and m["column"] > 0 for m in messages), f"{command}: messages have places")
    check(p.returncode == 3 and b" error " not in p.stderr, f"{command}: with --json messages are not printed again", p.stderr)
found = json.loads(run("test", "--json", "tests.flow").stdout)["results"]
check(len(found) == 6 and [r["test"] for r in found if not r["passed"]] == ["says"] and found[-1]["line"] == 6, "the tests by name and line", found)
check(json.loads(run("fmt", "--json", "rough.flow").stdout)["results"][0]["output"] == "it was formatted", "fmt --json says what was formatted")
expect(2, "fmt", "--json", "--stdout", "a.flow")
check(json.loads(run("check", "--json", "wrong.flow").stdout)["results"][0]["messages"][0] ==
      {"code": "E0201", "level": "error", "file": "wrong.flow", "line": 1, "column": 7, "length": 1, "message": "there is no `y`", "notes": [], "help": None,
       "edits": []}, "a message in JSON")

# ---- values that look like options ----
place.write("titled.flow", "param title: text\nparam n: i64 = 3\nprint(title, n)\n")
expect(0, "build", "titled.flow", "-o", "titled")
AS_VALUE = ["a", "-", "-4", "-.5", "-inf", "", "é"]
AS_OPTION = ["-O0", "-x", "--n", "--", "-h", "--help", "-infinite"]
for word in AS_VALUE + AS_OPTION:
    for p in (place.run("run", "titled.flow", f"--title={word}"), place.run_binary("titled", f"--title={word}")):
        check(p.returncode == 0 and p.stdout == f"{word} 3\n", f"--title={word}", p.stdout + p.stderr)
for word in AS_VALUE:
    for p in (place.run("run", "titled.flow", "--title", word), place.run_binary("titled", "--title", word, "--n", "-4")):
        check(p.returncode == 0 and p.stdout in (f"{word} 3\n", f"{word} -4\n"), f"--title {word}", p.stdout + p.stderr)
for word in AS_OPTION:
    p = place.run_binary("titled", "--title", word)
    check(p.returncode == 2 and f"and `{word}` looks like an option" in p.stderr and f"`--title={word}`" in p.stderr, f"--title {word}", p.stderr)
    p = place.run("run", "titled.flow", "--title", word)
    check(p.returncode == 2 and "needs a value" in p.stderr, f"run --title {word}", p.stderr)
p = place.run("run", "titled.flow", "--title", "-O0")  # which flowc takes for its own
check(p.returncode == 2 and "`--title=VALUE`" in p.stderr, "--title -O0 of flowc run", p.stderr)
check("looks like an option" in expect(2, "build", "titled.flow", "-o", "-q").stderr, "-o -q")
for words in (("-q", "-"), ("-", "-q"), ("--quiet", "-")):  # before and after what is run
    check(expect(0, "run", *words, stdin="print(3 + 4)\n").stdout == "7\n", f"run {words}")
check(expect(0, "run", "-q", "-c", "print(3 + 4)").stdout == "7\n", "run -q -c")
finish()
