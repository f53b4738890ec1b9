#!/usr/bin/env python3
"""Names of columns and fields that nobody expects: empty, with backticks, quotes, line ends, escapes, names that look like types.
They come from JSON that Python wrote, go through tables, stages, saved values, types that are printed and read back, and must be
the same when Python reads them again. Prints "N passed, N failed"."""
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import scenario_kit as kit  # noqa: E402
from scenario_kit import check  # noqa: E402

NAMES = ["", "a`b", "`", "``", "\\", "a\\", "\\`", "\\n", "\\x41", "a\nb", "\t", "\x01", "\x1b[31m", "\x7f", "a: i64, b", "a: i64", "a)", "(", "[_]",
         "a`: i64, `b", '"', "'", "{x}", "#", "0", "1e5", "_", "if", "true", "inf", "é", "日本", " ", "a,b", "%s%n", "-", ";", "\r", "x" * 3000]
place = kit.Place()

# All of them in one table, and each alone: shown, saved, loaded, handed through a stage, written again.
rows = [{name: k for k, name in enumerate(NAMES)}, {name: -k for k, name in enumerate(NAMES)}]
(place.path / "all.json").write_text(json.dumps(rows))
place.write("all.flow", """stage same(t: _[n]) -> _[n] = t
let t = read_json("all.json")
show(t)
write_json(same(t), "out.json")
save((rows = t, first = t[0]), "all.flowdata")
""")
place.write("again.flow", 'let v = load("all.flowdata")\nshow(v.first)\nwrite_json(v.rows, "again.json")\nwrite_json(v.first, "first.json")\n')
for way in ([], ["--interp"]):
    for script in ("all.flow", "again.flow"):
        done = place.run("run", *way, script)
        check(done.returncode == 0, f"{script} {way} runs", done.stderr)
        check("\x1b" not in done.stdout + done.stderr and "\x01" not in done.stdout, f"{script} shows no control characters")
    for name, want in (("out.json", rows), ("again.json", rows), ("first.json", rows[0])):
        check(json.loads((place.path / name).read_text()) == want, f"{name} {way} has the names that went in")

# The type that `schema` prints, pasted into a script, is the type of the file; the empty name cannot be written.
named = [{name: k for k, name in enumerate(NAMES) if name}]
(place.path / "named.json").write_text(json.dumps(named))
done = place.run("schema", "named.json")
place.write("pasted.flow", done.stdout + '\nlet t: Row[_] = read_json("named.json")\nwrite_json(t, "pasted.json")\n')
done = place.run("run", "pasted.flow")
check(done.returncode == 0, "what schema prints is a type", done.stderr)
check(done.returncode == 0 and json.loads((place.path / "pasted.json").read_text()) == named, "and it is that of the file")
place.write("by_name.flow", 'let t = read_json("named.json")\nprint(t.`a\\`b`[0], t.`\\\\`[0], t.`a\\nb`[0], t.`\\x1b[31m`[0])\n')
done = place.run("run", "by_name.flow")
check(done.stdout.split() == [str(NAMES.index(n)) for n in ("a`b", "\\", "a\nb", "\x1b[31m")], "any name can be written", done.stderr)

# A name that looks like more of the type is one name: in messages, and in what stages remember.
(place.path / "one.json").write_text(json.dumps([{"a: i64, b": 1}]))
(place.path / "two.json").write_text(json.dumps([{"a": 2, "b": 3}]))
place.write("keys.flow", """stage names(t: _[n]) = column_count(t)
fn column_count(t) = describe(t).column
let one = read_json("one.json")
let two = read_json("two.json")
print(names(one))
print(names(two))
""")
for _ in range(2):
    done = place.run("run", "keys.flow")
    check(done.stdout == "[a: i64, b]\n[a, b]\n", "tables whose names look like types are not mixed up", done.stdout + done.stderr)
place.write("wrong.flow", 'let t = read_json("one.json")\nlet n: i64 = t\n')
done = place.run("check", "wrong.flow")
check(done.returncode == 3 and "(`a: i64, b`: i64)[_]" in done.stderr, "a message quotes the name", done.stderr)
kit.finish()
