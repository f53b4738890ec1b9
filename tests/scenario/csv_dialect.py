"""A CSV file that is written in another way than while compiling is an error in a built program; run again, it is read anew."""
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from scenario_kit import Place, check, finish

place = Place()
place.write("mean.flow", 'param f: file = "t.csv"\nlet t = read_csv(f)\nprint("{sum(t.x):.3f} {len(t)}")\n')
files = {
    "points": "id;x\n1;1.5\n2;2.25\n",
    "commas": "id;x\n1;1,5\n2;2,25\n",
    "tabs": "id\tx\n1\t1.5\n2\t2.25\n",
    "quotes": "'id';'x'\n'1';'1.5'\n'2';'2.25'\n",
    "comments": "# a\nid;x\n1;1.5\n2;2.25\n",
    "longer": "id;x\n1;1.5\n2;2.25\n3;4.0\n",
    "wholes": "id;x\n1;1.0\n",
    "none": "id;x\n",
}
for name, text in files.items():
    place.write(f"{name}.csv", text)
says = {"points": "3.750 2", "commas": "3.750 2", "tabs": "3.750 2", "quotes": "3.750 2", "comments": "3.750 2",
        "longer": "7.750 3", "wholes": "1.000 1", "none": "0.000 0"}
for compiled in ("points", "commas"):
    place.write("t.csv", files[compiled])
    built = place.run("build", "mean.flow", "-o", f"{compiled}.exe")
    check(built.returncode == 0, f"builds with {compiled}", built.stderr)
    for name in files:
        done = subprocess.run([place.path / f"{compiled}.exe", "--f", f"{name}.csv"], cwd=place.path,
                              capture_output=True, text=True, env=place.env)
        said = done.stdout.strip()
        # Never another number: what is right, or an error; and what is written alike is read.
        alike = {"points": {"points", "longer", "wholes", "none"}, "commas": {"commas", "none"}}[compiled]
        if name in alike:
            check(said == says[name], f"compiled with {compiled}, reads {name}", done.stdout + done.stderr)
        else:
            check(done.returncode == 1 and "E0950" in done.stderr, f"compiled with {compiled}, {name} is an error",
                  done.stdout + done.stderr)
for name in files:
    if name == "none":
        continue
    place.write("t.csv", files[name])
    done = place.run("run", "mean.flow")
    check(done.stdout.strip() == says[name], f"run anew with {name}", done.stdout + done.stderr)

# What is written reads back the same, whatever names and texts look like.
place.write("w.flow", """let t = table(`2019` = [1, 2], `2020` = [3, 4], `a;b` = ["x;y", "'z'"], `#c` = ["# no", "1,5"], `d|"e"` = ["", "\\t"])
write_csv(t, "plain.csv")
write_csv(t, "semi.csv", sep = ";", decimal = ",", null = "-")
write_csv(select(t, `2019`, `2020`), "numbers.csv")
write_csv(select(t, `#c`), "one.csv")
write_csv(t, "bare.csv", header = false)
write_tsv(t, "tabs.tsv")
""")
done = place.run("run", "w.flow")
check(done.returncode == 0, "writes", done.stderr)
place.write("r.flow", """let t = table(`2019` = [1, 2], `2020` = [3, 4], `a;b` = ["x;y", "'z'"], `#c` = ["# no", "1,5"], `d|"e"` = ["", "\\t"])
let p = read_csv("plain.csv")
let s = read_csv("semi.csv", null = "-", types = (`#c`: text))
let u = read_csv("tabs.tsv")
let n = read_csv("numbers.csv")
let o = read_csv("one.csv")
let b = read_csv("bare.csv", header = false)
assert all(p.`2019` == t.`2019`) and all(p.`a;b` == t.`a;b`) and all(p.`#c` == t.`#c`) and all(p.`d|"e"` == t.`d|"e"`)
assert all(s.`2020` == t.`2020`) and all(s.`a;b` == t.`a;b`) and all(s.`#c` == t.`#c`) and all(s.`d|"e"` == t.`d|"e"`)
assert all(u.`2020` == t.`2020`) and all(u.`a;b` == t.`a;b`) and all(u.`#c` == t.`#c`) and all(u.`d|"e"` == t.`d|"e"`)
assert all(n.`2020` == t.`2020`) and len(n) == 2
assert all(o.`#c` == t.`#c`)
assert all(b.column_1 == t.`2019`) and all(b.column_4 == t.`#c`)
print("same")
""")
done = place.run("run", "r.flow")
check(done.stdout == "same\n", "reads back", done.stdout + done.stderr)
finish()
