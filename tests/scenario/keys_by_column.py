"""What enters the key of a stage that gets a table: the columns that it reads, and no others."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from scenario_kit import Place, check, finish, stages

place = Place()
place.write("t.csv", "id,x,note\n1,1.5,a\n2,2.5,b\n")
place.write("s.flow", """let t = read_csv("t.csv")
type Row = typeof(t[0])
fn only_x(t: Row[_]) -> f64[_] = t.x
stage total(t: Row[_]) -> f64 = sum(only_x(t))
stage filtered(t: (x: f64, id: i64, ..)[_]) = t |> where(id > 0) |> summarize(s = sum(x))
stage notes(t: Row[_]) -> i64 = count(t.note == "a")
stage rows(t: _[_]) -> i64 = len(t)
print(total(t), notes(t), rows(t))
show(filtered(t))
""")
first = place.run("run", "s.flow")
check(first.returncode == 0 and stages(first) == (4, 0), "at first all stages run", first.stdout + first.stderr)


def again(what, text, expected):
    place.write("t.csv", text)
    done = place.run("run", "s.flow")
    check(done.returncode == 0 and stages(done) == expected, f"{what}: {expected} run and cached", done.stderr)


again("nothing new", "id,x,note\n1,1.5,a\n2,2.5,b\n", (0, 4))
again("a note: only `notes` runs", "id,x,note\n1,1.5,a\n2,2.5,changed\n", (1, 3))
again("an id: only `filtered` runs", "id,x,note\n1,1.5,a\n3,2.5,changed\n", (1, 3))
again("a value: all but `notes` and `rows`", "id,x,note\n1,1.5,a\n3,7.5,changed\n", (2, 2))
again("another column", "more,id,x,note\n0,1,1.5,a\n0,3,7.5,changed\n", (0, 4))
again("one row more: all run", "more,id,x,note\n0,1,1.5,a\n0,3,7.5,changed\n0,4,1.0,z\n", (4, 0))

place.write("f.flow", """param f: file = "t.csv"
stage total(f: file) -> f64 = sum(read_csv(f).x)
print(total(f))
""")
one = place.run("run", "f.flow")
check(one.returncode == 0 and stages(one) == (1, 0), "a stage of a file", one.stderr)
place.write("copy.csv", (place.path / "t.csv").read_text())
two = place.run("run", "f.flow", "--f", "copy.csv")
check(stages(two) == (0, 1), "the same content under another path", two.stderr)
finish()
