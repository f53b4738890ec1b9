# The samples of ARFF, and what they hold as ../arff.out has it: python3 make_arff.py FOLDER
# Numbers, dates and nominal values are compared with SciPy's reader, where there is one (scipy.io.arff, SciPy 1).
import io
import json
import sys

folder = sys.argv[1]
LEVELS = ["Iris-setosa", "low, high", "it's", 'say "hi"', "100%", "?"]
ROWS = [  # size, count, kind, when, day, note
    (5.1, 3, LEVELS[0], "2026-01-31T12:00:00", "2026-01-31", "plain"),
    (-0.0, -7, LEVELS[1], "2026-02-01T00:00:01", "1999-12-31", "with, comma"),
    (1e300, 9007199254740993, LEVELS[2], None, "2000-02-29", "two\nlines\tand a tab"),
    (None, 0, LEVELS[3], "1970-01-01T00:00:00", "1970-01-01", 'back\\slash "and" \'quotes\''),
    (0.1, 12, None, "2026-07-04T23:59:59", "2026-07-04", "% no comment"),
    (4.9e-324, 1, LEVELS[4], "2026-07-05T00:00:00", "2026-07-05", "ünïcode 👩‍🔬"),
    (2.5, 2, LEVELS[5], "2026-07-06T00:00:00", "2026-07-06", "?"),
]


def quote(text, with_quote="'"):
    for a, b in (("\\", "\\\\"), ("\n", "\\n"), ("\t", "\\t"), ("%", "\\%"), (with_quote, "\\" + with_quote)):
        text = text.replace(a, b)
    return with_quote + text + with_quote


def cell(value, k):
    if value is None:
        return "?"
    return quote(value, "\"'"[k % 2]) if isinstance(value, str) and (k != 2 or value != LEVELS[0]) else repr(value)


rows = "".join(" , ".join("Iris-setosa" if v == LEVELS[0] else cell(v, k) for k, v in enumerate(row)) + ("  % a comment\r\n" if i % 2 else "\n") + "\n% between\n"
               for i, row in enumerate(ROWS))
open(f"{folder}/all.arff", "w", newline="").write(f"""% a sample
@RELATION 'a sample'

@attribute size numeric
@Attribute count INTEGER   % whole numbers
@attribute 'the kind' {{{", ".join([LEVELS[0], *map(quote, LEVELS[1:])])}}}
@attribute when date
@attribute "day" DATE "yyyy-MM-dd"
@attribute note string

@DATA
{rows}""")
names = ["size", "count", "the kind", "when", "day", "note"]
for row in ROWS:
    values = dict(zip(names, row))
    values["when"] = values["when"] and values["when"] + "Z"
    print(json.dumps(values, ensure_ascii=False))

try:
    from scipy.io import arff
except ImportError:
    sys.exit()
plain = "@relation p\n@attribute a real\n@attribute 'b c' numeric\n@attribute kind {x,y-z,w}\n@attribute day date \"yyyy-MM-dd\"\n@data\n"
plain += "1.5,2,x,2026-01-31\n?,-3e-5,y-z,1999-12-31\n0.1,4,w,2000-02-29\n"
open(f"{folder}/plain.arff", "w").write(plain)
data, meta = arff.loadarff(io.StringIO(plain))  # which reads no nominal values in quotes
for one in data:
    print(json.dumps({"a": None if one["a"] != one["a"] else float(one["a"]), "b c": float(one["b c"]), "kind": one["kind"].decode(),
                      "day": str(one["day"])}), "by SciPy")
