"""Files that programs of rows (rows.py) read, and statements that read them: rows as they are, filtered and derived, and groups with
aggregates, of few groups and of nearly as many as rows. `pool` makes them, by a script that it hands to whoever can run it.

Columns: id, a without nulls, b small integers, c texts, d with nulls, some with null texts, when dates, price decimals.
Parquet files are written by DuckDB's library, and left out where that is not named by FLOW_DUCKDB.
"""
import os

FILE_SIZES = (0, 3, 900, 4097, 20000)
FORMATS = ("arrow", "csv", *(("parquet",) if os.path.exists(os.environ.get("FLOW_DUCKDB", "")) else ()))


def pool():
    """The text of a script that writes them all beside itself."""
    lines = []
    for n in FILE_SIZES:
        lines.append(f"let t{n} = table(id = [for i in 0..{n}: i * 7919 % 100003], a = [for i in 0..{n}: f64(i * 31 % 1009) / 8.0 - 60.0], b = [for i in 0..{n}: i * 5 % 101], "
                     f"c = [for i in 0..{n}: \"the text {{i * 7919 % 5003}} \\\"it\\\"\"], d = [for i in 0..{n}: if i % 7 == 3 {{ null }} else {{ f64(i % 50) * 0.125 }}], "
                     f"some = [for i in 0..{n}: if i % 5 == 1 {{ null }} else {{ \"s{{i % 40}}\" }}], when = [for i in 0..{n}: date(\"2024-02-20\") + days(i % 400)], "
                     f"price = [for i in 0..{n}: decimal(i % 1000, 2) * decimal(\"0.25\")])")
        lines += [f'write_{kind}(t{n}, "pool{n}.{kind}")' for kind in FORMATS]
    return "\n".join(lines) + "\n"


class Files:
    """Of a class that draws, as rows.py has it."""
    TYPE = "type Pool = (id: i64, a: f64, b: i64, c: text, d: f64?, some: text?, when: date, price: decimal(12, 2))"

    def file(self):
        kind = self.draw.choice(("arrow", *FORMATS))
        name = self.fresh("r")
        self.lines += [] if self.TYPE in self.lines else [self.TYPE]
        self.lines.append(f'let {name}: Pool[_] = read_{kind}("pool{self.draw.choice(FILE_SIZES)}.{kind}")')
        return name

    def file_rows(self):
        r = self.file()
        f = self.fresh("r")
        more = self.pick("", "", " |> where(b % 5 != 2)", ' |> where(c != "the text 3" and a > -20)', " |> derive(a = a * 0.5 + f64(b))",
                         " |> where(is_null(d)) |> derive(b = b + 1)", ' |> where(when < date("2024-06-01"))', " |> sort(c, id)", " |> sort(desc(some), a)")
        self.lines.append(f"let {f} = {r}{more}")
        self.spaces.append({"f64": [f"{f}.a"], "i64": [f"{f}.b", f"{f}.id"], "text": [f"{f}.c"]})
        self.lines.append(self.pick(f"print(len({f}))", f'print("{{sum({f}.price)}} {{count(for v in {f}.some: is_null(v))}}")', f"show({f} |> tail(3))",
                                    f"print(sum(for i in 0..len({f}): (i % 7) * n_chars({f}.c[i])))", f"print(sum({f}.a[0..min(len({f}), 16)]))",
                                    f"print(sum(matrix({f} |> derive(h = f64(b)), a, h) @ [0.5, 2.0]))",
                                    f"let m{f} = matrix({f} |> derive(h = f64(b)), a, h)\nprint(sum([for i in 0..len({f}): sum(m{f}[i, :])]))",
                                    f"if len({f}) > 9 {{ print(cluster.kmeans(matrix({f} |> derive(h = f64(b)), a, h), 3, seed = 4, iters = 5).inertia) }}"))

    def file_groups(self):
        r, g = self.file(), self.fresh("g")
        keys = self.draw.sample(("id", "a", "b", "c", "d", "some", "when", "price"), self.pick(1, 1, 2))
        every = ("count()", "sum(a)", "mean(d)", "max(c)", "first(some)", "min(when)", "sum(price)", "last(id)", "count(d)", "mean(b)", "min(a)", "sum(id)")
        made = ", ".join(f"v{i} = {x}" for i, x in enumerate(self.draw.sample(every, self.draw.randrange(1, 5))))
        where = self.pick("", "", " |> where(b % 3 != 1)", " |> where(a > 0 or is_null(some))")
        self.lines += [f"let {g} = {r}{where} |> group_by({', '.join(keys)}) |> summarize({made})", f"show({g} |> tail(4))",
                       f"print(len({g}))"]
        key = keys[0]
        if key in ("id", "a", "b"):
            self.lines.append(f"print(sum(for i in 0..len({g}): f64(i % 97) * f64({g}.{key}[i])))")
        elif key == "c":
            self.lines.append(f"print(sum(for i in 0..len({g}): i % 97 * n_chars({g}.c[i])))")
