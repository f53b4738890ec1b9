"""flowc schema: for each format the type to paste, and as comments how the file is written and what is in it."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from scenario_kit import ROOT, SHORT, Place, check, finish

place = Place()


def says(name, want, *options):
    done = place.run("schema", *options, name)
    check(done.stdout == want, f"flowc schema {name}", done.stdout + done.stderr)


place.write("t.csv", "when;x;n;odd name;größe\n2024-05-01;1,5;3;;ä\n2024-05-02;-0,25;3;NA;ö\n")
says("t.csv", '''# t.csv: 2 rows
# found: sep = ";", quote = "\\"", header = true, decimal = ",", comment = ""
# column    type   nulls  distinct  range
# when      date       0         2  2024-05-01 .. 2024-05-02
# x         f64        0         2  -0.25 .. 1.5
# n         i64        0         1  3
# odd name  text?      1         1  NA
# größe     text       0         2  ä .. ö
type Row = (
  when: date,
  x: f64,
  n: i64,
  `odd name`: text?,
  größe: text,
)
''')
place.write("e.csv", "a,b;c\nx,y;z\n")
done = place.run("schema", "e.csv", "t.csv")
check(done.returncode == 1 and "E0954" in done.stderr and "# t.csv: 2 rows" in done.stdout, "an error, and the next file",
      done.stderr)
says("e.csv", '''# e.csv: 1 rows
# found: quote = "\\"", header = true, decimal = ".", comment = ""
# column  type  nulls  distinct  range
# a       text      0         1  x
# b;c     text      0         1  y;z
type Row = (
  a: text,
  `b;c`: text,
)
''', "sep=,")
place.write("make.flow", """let t = [for i in 0..1000: (id = i, half = i / 2, odd = i % 2 == 1, s = "n{i % 7}", d = hours(i))]
write_json(select(t, id, half, s), "t.json")
write_arrow(t, "t.arrow")
write_npy([for i in 0..10: if i == 3 { nan } else { i / 4 }], "x.npy")
write_csv(select(t, id), "t.csv.zst")
""")
done = place.run("run", "make.flow")
check(done.returncode == 0, "makes files", done.stderr)
stats = '''# column  type  nulls  distinct  range
# id      i64       0      1000  0 .. 999
# half    f64       0      1000  0.0 .. 499.5
'''
says("t.json", "# t.json: 1000 rows\n" + stats + "# s       text      0         7  n0 .. n6\ntype Row = (\n  id: i64,\n  half: f64,\n  s: text,\n)\n")
done = place.run("schema", "t.arrow")
check(" odd     bool" in done.stdout and "false .. true" in done.stdout and "  d: duration,\n" in done.stdout, "Arrow",
      done.stdout + done.stderr)
# Categories, whose levels come behind all columns; options of readers other than CSV.
samples = ROOT / "tests/run/files/formats"
(place.path / "c.arff").write_bytes((samples / "all.arff").read_bytes())
done = place.run("schema", "c.arff")
check("# the kind  category?      1         6\n" in done.stdout and "# note      text           0         7  % no comment" in done.stdout
      and "  `the kind`: category?,\n" in done.stdout, "categories of ARFF", done.stdout + done.stderr)
(place.path / "c.arrow").write_bytes((samples / "polars.arrow").read_bytes())
done = place.run("schema", "c.arrow")
check("# c       text          0         2  u .. v\n" in done.stdout and "# e       category      0         2\n" in done.stdout and "# x       f64?          1         2  1.5 .. 2.5\n" in done.stdout,
      "categories of Arrow", done.stdout + done.stderr)
(place.path / "c.db").write_bytes((samples / "shop.db").read_bytes())
done = place.run("schema", "table=sales", "c.db")
check("# name    text           0         3  apple .. plüm\n" in done.stdout, "a table of a database", done.stdout + done.stderr)
says("x.npy", "# x.npy\n# distinct 10, range 0.0 .. 2.25, 1 nan\nf64[10]\n")
done = place.run("schema", "t.csv.zst")
check("# id      i64       0      1000  0 .. 999\n" in done.stdout, "compressed", done.stdout + done.stderr)

# Types come from the head and from pieces: a value between them that does not fit is told.
rows = ["a,b\n"] + ["1,2\n"] * 2_500_000
rows[1_300_007] = "x,2\n"
(place.path / "late.csv").write_text("".join(rows))
done = place.run("schema", "late.csv")
check("# not all of it fits the types of its first rows: `late.csv` line 1300008: column `a` is i64, but here it is `x`\n"
      in done.stdout and "  a: i64,\n" in done.stdout, "a late text", done.stdout + done.stderr)
if not SHORT:
    (place.path / "large.csv").write_text("a,b\n" + "".join(rows[1:1_300_000]) * 52)
    done = place.run("schema", "large.csv")
    first = done.stdout.splitlines()[0]
    check(first.startswith("# large.csv: ") and first.endswith(" rows in its first 64 MB"), "a large file", first)
done = place.run("schema")
check(done.returncode == 2 and "usage: flowc schema" in done.stderr, "usage", done.stderr)
# What is no value of an option, and an option of another format, is said; it is no file.
for name, word, status, said in (("people.csv", "header=maybe", 1, 'header = "maybe" is not possible'), ("people.csv", "skip=x", 1, "a number of lines"),
                                 ("people.csv", "sep=ab", 1, "sep"), ("lines.jsonl", "sep=;", 2, "`read_jsonl` has no option `sep`")):
    place.write(name, "a,b\n1,2\n" if name.endswith("csv") else '{"a": 1}\n')
    done = place.run("schema", name, word)
    check(done.returncode == status and said in done.stderr and not done.stdout, f"schema {name} {word}", done.stderr)
finish()
