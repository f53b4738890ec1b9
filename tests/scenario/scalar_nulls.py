#!/usr/bin/env python3
"""Scalar functions give null for null: every function of builtins.def that works element by element, in each of its
arguments, on columns and on scalars, compiled and with --interp. A function that is neither listed here nor said to be
no scalar function fails this test."""
import re
import sys

sys.path.insert(0, str(__import__("pathlib").Path(__file__).resolve().parent.parent))
from scenario_kit import ROOT, Place, check, finish

# What a column of each letter holds, behind a null.
COLUMNS = {
    "f": ("f64", "0.5"), "i": ("i64", "2"), "s": ("text", '"2"'), "d": ("date", 'date("2024-02-29")'),
    "t": ("datetime", 'datetime("2024-02-29 12:00:00")'), "u": ("duration", "hours(5)"), "b": ("bool", "true"),
    "p": ("text", '"2024-02-29"'), "q": ("text", '"2024-02-29 12:00:00"'), "n": ("f32", "f32(0.5)"),
}
# Functions by handler; by name where they differ. One letter an argument; what is longer stands as it is.
HANDLERS = {
    "float1": ["f"], "float2": ["f f"], "fused": ["f f f"], "float_test": ["f"], "number1": ["f", "i", "u"],
    "clamp": ["f f f"], "rounding": ["f", "n", "i"], "wrapping": ["i i"], "conversion": ["f", "i", "b"],
    "to_text": list(COLUMNS), "polygamma": ["f"], "date_part": ["d", "t"], "add_months": ["d i"], "duration": ["i"], "calendar": ["d i", "t i"],
    "regex": ['s "2"'], "extract": ['s "2"'],
}
NAMES = {
    "polygamma": ["2 f"], "format": ['f ".2f"', 'd "%Y"'], "round": ["f", "n", "i", "f 2", "i 2", "f (0-30)"],
    "i8": ["i", "b"], "i16": ["i", "b"], "i32": ["i", "b"], "i64": ["i", "b"], "u8": ["i", "b"], "u16": ["i", "b"],
    "u32": ["i", "b"], "u64": ["i", "b"],
    "n_chars": ["s"], "lower": ["s"], "upper": ["s"], "title": ["s"], "trim": ["s", "s s"], "trim_start": ["s", "s s"],
    "trim_end": ["s", "s s"], "contains": ["s s"], "starts_with": ["s s"], "ends_with": ["s s"], "replace": ["s s s"],
    "find": ["s s"], "split_part": ["s s 0"], "slice": ["s 0", "s 0 1"], "reverse_text": ["s"],
    "repeat_text": ["s i"], "edit_distance": ["s s"], "replace_regex": ['s "2" s'], "pad": ["s i", "s i s"],
    "decimal": ["f 2", "i 1", "s 3"], "parse_f64": ["s"], "parse_i64": ["s"], "parse_number": ["s"], "try_parse_number": ["s"], "parse_date": ["p"],
    "try_parse_f64": ["s"], "try_parse_i64": ["s"], "parse_datetime": ['p "%Y-%m-%d"'],
    "try_parse_datetime": ['p "%Y-%m-%d"'], "try_parse_date": ["p"], "date": ["p", "t", "(2000 + i) i i"],
    "datetime": ["q", "d"], "hour": ["t"], "minute": ["t"], "second": ["t"], "microsecond": ["t"],
    "date_trunc": ['"month" d', '"month" t'], "min": ["f f", "i i"], "max": ["f f", "i i"],
}
# Handlers of what is no function of scalars, or has a meaning of its own for null.
OTHERS = set("""if_else is_null error reduce count spread aggregate cumsum running scan fold derivative flatten unflatten
filled eye concat stack reshape bytes transpose dot gather argsort segment nearest_centers nearest_moved segment_count solve
inv det cholesky qr svd eigh eig lstsq pinv norm fft rfft irfft random random_int random_array random_ints subseed
permutation choice split_text join_text date_range where select drop rename derive group_by ungroup summarize sort desc
head tail sample top distinct join join_asof pivot unpivot drop_null fill_null fill split kfold matrix column_names
expect_columns expect_labels expect_probabilities table describe value_counts complete column_set row_number shift rank ntile rolling category levels codes
one_hot plot plot_layers now today env file files read_csv exec read_json read_sqlite read_arrow read_parquet sql read_npy
read_arrays read_image read_wav load print show write_plot write_csv save write_jsonl write_sqlite write_arrow
write_parquet write_npy write_bytes write_npz write_image note""".split())


def builtins():
    text = (ROOT / "compiler/sema/builtins/builtins.def").read_text()
    return re.findall(r'^FL_[A-Z_]+\(([\w.]+), "[^"]*", (\w+),', text, re.M)


def calls():
    """(call, the columns in it) of every way to call a function."""
    out = []
    for name, handler in builtins():
        ways = NAMES.get(name) or HANDLERS.get(handler)
        known = ways or handler in OTHERS
        check(known, f"`{name}` is in the table of {__file__.rsplit('/', 1)[-1]}", "say there how it is called, or that "
              "it is no function of scalars")
        for way in ways or []:
            out.append((name, re.findall(r'\([^)]*\)|"[^"]*"|\S+', way)))
    return out


LETTER = r"\b[a-z]\b"


def call(name, args, column):
    """The call, each letter outside of quotes being the column that is said for it and the place of its argument."""
    named = [a if a[0] == '"' else re.sub(LETTER, lambda m: column(m.group(), k), a) for k, a in enumerate(args)]
    return f"{named[0]} + {name}({named[1]})" if name in ("months", "years") else f"{name}({', '.join(named)})"


def script():
    lines, wanted = [], []
    columns = ", ".join(f"{c}: {t}, {c}0: {t}?" for c, (t, _) in COLUMNS.items())
    lines.append(f"type Row = ({columns})")
    for c, (t, v) in COLUMNS.items():
        lines.append(f"let {c}_plain: {t}[_] = [{v}, {v}]")
        lines.append(f"let {c}_holes: {t}?[_] = [null, {v}]")
    fields = ", ".join(f"{c} = {c}_plain, {c}0 = {c}_holes" for c in COLUMNS)
    lines.append(f"let rows = table({fields})")
    derived, scalars = [], []
    for name, args in calls():
        places = [k for k, a in enumerate(args) if a[0] != '"' and re.search(LETTER, a)]
        for at in places:
            key = f"r{len(wanted)}"
            what = call(name, args, lambda c, k: c + "0" if k == at else c)
            scalar = call(name, args, lambda c, k: c + "_none" if k == at else c + "_some")
            derived.append(f"{key} = {what}")
            scalars.append((key, scalar))
            wanted.append((key, what))
    lines.append("let all = rows |> derive(" + ",\n  ".join(derived) + ")")
    for c, (t, v) in COLUMNS.items():
        lines.append(f"let {c}_none: {t}? = null")
        lines.append(f"let {c}_some: {t} = {v}")
    for key, scalar in scalars:
        lines.append(f'print("{key}", is_null(all.{key}[0]), is_null(all.{key}[1]), is_null({scalar}))')
    return "\n".join(lines) + "\n", wanted


text, wanted = script()
place = Place(x__flow=text)
for mode in ([], ["--interp"]):
    done = place.run("run", *mode, "--no-cache", "x.flow")
    found = dict(line.split(" ", 1) for line in done.stdout.splitlines())
    check(done.returncode == 0, f"the script of all functions runs {mode}", done.stderr)
    for key, what in wanted:
        check(found.get(key) == "true false true", f"{what} gives null for null {mode}", found.get(key))
    check("never null" not in done.stderr, "the results may be null", done.stderr)
check(len(wanted) > 120, "there are many functions", len(wanted))
finish()
