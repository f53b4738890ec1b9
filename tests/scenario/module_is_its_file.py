#!/usr/bin/env python3
"""A module is its file: reached by several paths and links it is loaded once and has its params once, in every command; params
of one name of two modules are an error that an alias mends."""
import os
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from scenario_kit import Place, check, finish

place = Place()
(place.path / "sub").mkdir()
(place.path / "other").mkdir()
place.write("config.flow", "param level: i64 = 1  ## how much\nlet twice = 2 * level\n")
place.write("sub/uses.flow", 'import "../config.flow"\nfn level() -> i64 = config.level\nlet twice = config.twice\n')
os.symlink("../config.flow", place.path / "other" / "link.flow")
os.symlink("sub", place.path / "folder")
place.write("other/beside.flow", "fn tens() -> i64 = 10\n")
place.write("other/real.flow", 'import "beside.flow"\nfn hundred() -> i64 = 10 * beside.tens()\n')
os.symlink("other/real.flow", place.path / "hundred.flow")
place.write("main.flow", """import "config.flow", "sub/uses.flow"
import "other/link.flow" as again
import "folder/../config.flow" as third
import "./config.flow" as fourth
import "folder/uses.flow" as more
import "hundred.flow"
stage s(n: i64) -> i64 = n + uses.level()
print("{config.level} {uses.level()} {again.level} {third.level} {fourth.twice} {more.level()} {uses.twice} {s(1)} {hundred.hundred()}")
test "once" { assert config.level == again.level }
""")

p = place.run("run", "main.flow", "--config.level", "5")
check(p.stdout == "5 5 5 5 10 5 10 6 100\n", "one module by all paths", p.stdout + p.stderr)
p = place.run("run", "--interp", "main.flow", "--config.level", "7")
check(p.stdout == "7 7 7 7 14 7 14 8 100\n", "interpreted too", p.stdout + p.stderr)
p = place.run("run", "main.flow", "--help")
check(p.stdout.count("level") == 1, "one param in the help", p.stdout)
p = place.run("build", "main.flow", "-o", "model")
check(p.returncode == 0, "builds", p.stderr)
p = subprocess.run(["./model", "--config.level", "3"], cwd=place.path, env=place.env, capture_output=True, text=True)
check(p.stdout == "3 3 3 3 6 3 6 4 100\n", "the binary sets the one", p.stdout + p.stderr)
p = place.run("test", "main.flow")
check(p.stdout == "1 passed, 0 failed\n", "flowc test", p.stdout + p.stderr)
p = place.run("why", "main.flow")
check(p.returncode == 0, "flowc why takes it", p.stdout + p.stderr)

# The script's alias names the params, wherever else the module is imported.
place.write("named.flow", 'import "sub/uses.flow"\nimport "config.flow" as setting\nprint("{uses.level()} {setting.level}")\n')
p = place.run("run", "named.flow", "--setting.level", "4")
check(p.stdout == "4 4\n", "the alias of the script", p.stdout + p.stderr)

# A file that imports itself by another path is a circle.
place.write("circle.flow", 'import "sub/../circle.flow" as me\nprint("{me.x}")\n')
p = place.run("run", "circle.flow")
check(p.returncode == 3 and "E0221" in p.stderr, "a circle by another path", p.stderr)

# Two modules of one name.
place.write("sub/config.flow", "param level: i64 = 100\nparam other: i64 = 2\n")
place.write("sub/far.flow", 'import "config.flow"\nfn far() -> i64 = config.level\n')
place.write("two.flow", 'import "config.flow"\nimport "sub/far.flow"\nprint("{config.level} {far.far()}")\n')
for command in ("run", "build", "check", "test"):
    p = place.run(command, "two.flow")
    said = p.stdout + p.stderr
    check(p.returncode == 3 and "E0224" in said and "as other" in said, f"params of one name: {command}", said)
place.write("two.flow", 'import "config.flow"\nimport "sub/config.flow" as inner\nimport "sub/far.flow"\n'
            'print("{config.level} {far.far()} {inner.other}")\n')
p = place.run("run", "two.flow", "--config.level", "5", "--inner.level", "6")
check(p.stdout == "5 6 2\n", "the alias mends it", p.stdout + p.stderr)

# A link that leads elsewhere in the next run.
place.write("a.flow", "param n: i64 = 1\n")
place.write("b.flow", "param n: i64 = 1\nlet more = 1\n")
os.symlink("a.flow", place.path / "now.flow")
place.write("links.flow", 'import "a.flow"\nimport "now.flow"\nprint("{a.n} {now.n}")\n')
p = place.run("run", "links.flow", "--a.n", "3")
check(p.stdout == "3 3\n", "the link to the one", p.stdout + p.stderr)
(place.path / "now.flow").unlink()
os.symlink("b.flow", place.path / "now.flow")
p = place.run("run", "links.flow", "--a.n", "3")
check(p.stdout == "3 1\n", "the link to the other", p.stdout + p.stderr)
finish()
