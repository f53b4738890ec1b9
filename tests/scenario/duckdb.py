"""DuckDB's library: what is said where it is missing or another, in every way of running; and where it is there,
Parquet files written and read back the same, queries remembered by text and content, files that change."""
import ctypes
import os
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from scenario_kit import Place, check, finish, stages

LIBRARY = os.environ.get("FLOW_DUCKDB", "")
place = Place()

# -- without the library
place.env["FLOW_DUCKDB"] = "/nowhere/libduckdb.so"
place.write("declared.flow", """let t: (i: i64)[_] = read_parquet(file("t.parquet"))
show(t)
""")
place.write("asked.flow", 'show(sql("select 1 as one"))\n')
place.write("written.flow", 'write_parquet(table(i = [1, 2]), "out/t.parquet")\n')
place.write("t.parquet", "not really")
done = place.run("check", "declared.flow")
check(done.returncode == 0, "a script that says its types compiles without the library", done.stderr)
done = place.run("run", "asked.flow")
check(done.returncode == 3 and "E0995" in done.stderr and "FLOW_DUCKDB" in done.stderr,
      "without a type the library is needed to compile", done.stderr)
for script in ("declared.flow", "written.flow"):
    for options in ([], ["--interp"]):
        done = place.run("run", *options, script)
        check(done.returncode == 1 and "E0995" in done.stderr and "/nowhere/libduckdb.so" in done.stderr,
              f"{script} {options}: missing when it runs", done.stderr)
check(not any((place.path / "out").glob("*")), "nothing is left of a file that was not written")
done = place.run("build", "written.flow", "-o", "written")
check(done.returncode == 0, "it is built without the library", done.stderr)
done = subprocess.run(["./written"], cwd=place.path, env=place.env, capture_output=True, text=True)
check(done.returncode == 1 and "E0995" in done.stderr, "the binary says so too", done.stderr)
place.env["FLOW_DUCKDB"] = "libz.so.1"
done = place.run("run", "written.flow")
check(done.returncode == 1 and "E0995" in done.stderr and "has no function duckdb_" in done.stderr,
      "another library is not taken for it", done.stderr)

if not os.path.exists(LIBRARY):
    print("note: the rest needs DuckDB's library (FLOW_DUCKDB, or bench/peers.sh) and is left out")
    finish()
place.env["FLOW_DUCKDB"] = LIBRARY

# -- which column needs it
place.write("lists.flow", """write_parquet(table(i = [1, 2], v = [[1.0, 2.0], [3.0, 4.0]]), "lists.parquet")
""")
place.write("named.flow", 'show(read_parquet("lists.parquet"))\n')
place.write("typed.flow", """let t: (i: i64, v: f64[2])[_] = read_parquet(file("lists.parquet"))
show(t)
""")
place.write("other.flow", """let t: (i: i64, w: f64)[_] = read_parquet(file("lists.parquet"))
show(t)
""")
done = place.run("run", "lists.flow")
check(done.returncode == 0, "a file with arrays in rows is written", done.stderr)
place.env["FLOW_DUCKDB"] = "/nowhere/libduckdb.so"
for script, column in ("named", "v"), ("typed", "v"), ("other", "w"):
    done = place.run("run", f"{script}.flow")
    check("E0995" in done.stderr and f"column `{column}` of `lists.parquet`" in done.stderr,
          f"{script}: the message names the column", done.stderr)
place.env["FLOW_DUCKDB"] = LIBRARY

# -- files, there and back
place.write("write.flow", """let n = 200_000
let t = table(
  i = [for i in 0..n: i],
  x = [for i in 0..n: random_normal(1, i)],
  name = [for i in 0..n: if i % 3 == 0 { "" } else { "a rather long name {i}" }],
  maybe = try_parse_i64([for i in 0..n: if i % 5 == 0 { "none" } else { text(i) }]),
  v = [for i in 0..n, k in 0..3: f32(i * k)])
write_parquet(t, "out/t.parquet")
save(t, "out/t.flowdata")
""")
place.write("read.flow", """let a = load("out/t.flowdata")
let b = read_parquet("out/t.parquet")
assert all(a.i == b.i) and all(a.x == b.x) and all(a.name == b.name) and all(a.v == b.v)
assert all((a.maybe ?? -1) == (b.maybe ?? -1)) and sum(is_null(b.maybe)) == 40_000
print("{len(b)} the same")
""")
done = place.run("run", "write.flow")
check(done.returncode == 0, "a table is written", done.stderr)
for options in (["--workers", "1"], ["--workers", "3"], ["--interp"]):
    done = place.run("run", *options, "read.flow")
    check(done.stdout == "200000 the same\n", f"read back the same {options}", done.stdout + done.stderr)
done = place.run("schema", "out/t.parquet")
check("maybe: i64?" in done.stdout and "i: i64,\n" in done.stdout and "v: f32[_]" in done.stdout
      and "200000 rows" in done.stdout, "flowc schema says its type", done.stdout + done.stderr)
done = place.run("run", "written.flow")
first = (place.path / "out/t.parquet").read_bytes()
done = place.run("run", "written.flow", "--workers", "1")
check(first == (place.path / "out/t.parquet").read_bytes(), "the same table gives the same bytes", done.stderr)
place.write("device.flow", 'write_parquet(table(i = [1]), "/dev/full")\n')
done = place.run("run", "device.flow")
check(done.returncode == 1 and "E0942" in done.stderr, "not to a device", done.stderr)

# -- queries are remembered
place.write("query.flow", """param least: i64 = 3
let t: (i: i64)[_] = read_parquet(file("out/t.parquet"))
let r: (n: i64, s: i64)[_] = sql("select count(*) as n, sum(i) as s from t where i >= $least", t = t, least = least)
let f: (n: i64)[_] = sql("select count(*) as n from f", f = file("out/t.parquet"))
print("{r.n[0]} {r.s[0]} {f.n[0]}")
""")


def ran(*args):
    done = place.run("run", "query.flow", *args)
    return done.stdout.strip(), (stages(done) or (-1, 0))[0]


check(ran("--least", "1") == ("2 3 2", 2), "two queries run")
check(ran("--least", "1") == ("2 3 2", 0), "and are remembered")
check(ran("--least", "2") == ("1 2 2", 1), "another value: one runs again")
place.edit("written.flow", "[1, 2]", "[1, 2, 4]")
place.run("run", "written.flow")
check(ran("--least", "2") == ("2 6 3", 2), "another file: both run again")

# -- in parallel, and larger
place.write("large.flow", """let n = 300_000
let t = table(g = [for i in 0..n: i % 1000], x = [for i in 0..n: random(1, i)])
let a: (g: i64, n: i64)[_] = sql("select g, count(*) as n from t group by g order by g", t = t, parallel = true)
let b: (s: f64)[_] = sql("select sum(x) as s from t", t = t)
print("{sum(a.n)} {len(a)} {b.s[0]}")
""")
outputs = {place.run("run", "--workers", str(w), "large.flow").stdout for w in (1, 2, 4)}
check(len(outputs) == 1 and next(iter(outputs)).startswith("300000 1000 "), "the same on any number of workers", outputs)

# -- a database of DuckDB's
library = ctypes.CDLL(LIBRARY)
database, connection = ctypes.c_void_p(), ctypes.c_void_p()
library.duckdb_open(str(place.path / "towns.duckdb").encode(), ctypes.byref(database))
library.duckdb_connect(database, ctypes.byref(connection))
library.duckdb_query(connection, b"create table town as select i as id, 'town ' || i as name from range(3) r(i)", None)
library.duckdb_disconnect(ctypes.byref(connection))
library.duckdb_close(ctypes.byref(database))
place.write("database.flow", '''let r = sql("select d.name, t.x from t join d.main.town d on d.id = t.id order by 1 desc",
  d = file("towns.duckdb"), t = table(id = [1, 2], x = [0.5, 1.5]))
print("{r.name[0] ?? ""} {r.x[0] ?? 0.0} {len(r)}")
''')
done = place.run("run", "database.flow")
check(done.stdout == "town 2 1.5 2\n", "a database is read beside a table", done.stdout + done.stderr)
place.write("none.flow", 'show(sql("select count(*) as n from d.main.t", d = file("none.duckdb")))\n')
done = place.run("run", "none.flow")
check(done.returncode == 3 and "E0930" in done.stderr, "a database that is not there", done.stderr)
finish()
