"""A column whose type one value made: the error about the type says the line and the value. What the file holds is made here, so that Python knows
which value it is: kinds of values x where the odd one stands x how it is written, and columns that have none."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from scenario_kit import Place, check, finish

place = Place()
KINDS = {
    "integers": lambda k: str(k * 7 - 3),
    "floats": lambda k: f"{k * 0.25 + 0.5}",
    "dates": lambda k: f"2024-{k % 12 + 1:02}-{k % 28 + 1:02}",
    "bools": lambda k: "true" if k % 3 else "false",
}
ODD = {"abc": "abc", "1 5": "1 5", '"x,y"': '"x,y"', "größer als alles, was in eine Nachricht von dieser Länge passt": None, "2024-13-45": "2024-13-45"}
ROWS = 300


def note(values, kind, odd, at):
    """The line of the note for a column with this value in this row; the others are of the kind."""
    lines = ["id,x"] + [f"{k},{odd if k == at else values(k)}" for k in range(ROWS)]
    place.write("t.csv", "\n".join(lines) + "\n")
    said = place.run("check", "main.flow").stderr
    notes = [line.strip() for line in said.splitlines() if "is text because" in line]
    check(said.count("error") == 1 and len(notes) <= 1, f"{kind}, {odd!r} in row {at}: one error", said)
    return notes[0] if notes else None


place.write("main.flow", 'let t = read_csv("t.csv")\nprint(t.x / 2.0)\n')
for kind, values in KINDS.items():
    for odd, shown in ODD.items():
        written = odd if shown else f'"{odd}"'
        shown = shown or written.encode()[:39].decode(errors="ignore")  # cut between characters
        for at in (0, 1, 99, 150, ROWS - 1):
            found = note(values, kind, written, at)
            wanted = f"note: `x` is text because of line {at + 2} of t.csv: `{shown}`"
            check(found == wanted, f"{kind}, {odd!r} in row {at}", f"{found}\n{wanted}")
check(note(KINDS["integers"], "integers and a date", "2024-05-06", 40) == "note: `x` is text because of line 42 of t.csv: `2024-05-06`", "a date among numbers")
check(note(KINDS["dates"], "dates and a number", "17", 0) == "note: `x` is text because of line 3 of t.csv: `2024-02-02`", "the first that does not fit those before")
check(note(lambda k: f"word {k}", "words", "word", 3) is None, "words are text by themselves")
place.write("u.csv", "x\n1\nabc\n")
place.write("main.flow", 'let t = read_csv("t.csv")\nlet u = read_csv("u.csv")\nprint(u.x / 2.0)\n')
check(note(KINDS["integers"], "two files", "abc", 5) is None, "nothing is said where columns of two files have the name")

# ---- the first null, the first decimal, the first time of day, and texts in quotes; of CSV and of JSON, whose keys may be left out
MESSAGES = {"null": "let n: i64[_] = t.x\n", "decimal": "let n: i64[_] = t.x\n", "time": "let n: date[_] = t.x\n", "quotes": "print(t.x / 2)\n"}
FORMATS = {"t.csv": "read_csv", "t.tsv": "read_csv", "t.jsonl": "read_jsonl", "t.json": "read_json"}


def written(name, rows):
    """The file, and the line of each row: values as they are written, None for none."""
    if name.endswith("sv"):
        sep = "," if name == "t.csv" else "\t"
        lines = [f"id{sep}x"] + [f"{k}{sep}{'' if v is None else v}" for k, v in enumerate(rows)]
        return "\n".join(lines) + "\n", [k + 2 for k in range(len(rows))]
    quote = lambda v: v if v[0] in "0123456789\"" and "-" not in v else f'"{v}"'
    objects = ["{" + ", ".join([f'"id": {k}'] + ([] if v is None else [f'"x": {quote(v)}'])) + "}" for k, v in enumerate(rows)]
    if name == "t.jsonl":
        return "\n".join(objects) + "\n", [k + 1 for k in range(len(rows))]
    lines = [1]
    for k, o in enumerate(objects[1:]):
        objects[k + 1] = ("\n" if k % 3 else " ") + o
        lines.append(lines[-1] + (1 if k % 3 else 0))
    return "[" + ",".join(objects) + "]", lines


for name, read in FORMATS.items():
    for kind, script in MESSAGES.items():
        if kind == "quotes" and read != "read_csv":
            continue
        for at in (0, 1, 7, 250):
            rows = [str(k * 3 + 1) for k in range(ROWS)]
            if kind == "time":
                rows = [f"2024-01-{k % 28 + 1:02}" for k in range(ROWS)]
            rows[at] = {"null": None, "decimal": "2.5", "time": "2024-05-06T10:00:00", "quotes": rows[at]}[kind]
            if kind == "quotes":
                rows = [f'"{v}"' for v in rows]
            text, line = written(name, rows)
            place.write(name, text)
            place.write("main.flow", f'let t = {read}("{name}")\n{script}')
            said = place.run("check", "main.flow").stderr
            because = f"because of line {line[0 if kind == 'quotes' else at]} of {name}"
            wanted = {"null": f"`x` may be null {because}, which has none", "decimal": f"`x` is f64 {because}: `2.5`",
                      "time": f"`x` is datetime {because}: `" + ('2024-05-06T10:00:00' if read == "read_csv" else '"2024-05-06T10:00:00"') + "`",
                      "quotes": f'`x` is text {because}: `{rows[0]}`'}[kind]
            check(f"  note: {wanted}\n" in said and said.count("  note: ") == 1, f"{name}: {kind} in row {at}", f"{said}\n{wanted}")
finish()
