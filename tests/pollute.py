"""Polluted CSV files: one clean table written in several dialects, each file with one defect, and for each what must be read.

What is expected is known from what was done to which row, and never from reading the file. `files()` gives them all, the same on
every machine: (group, name, bytes, rows that must be read, lines that must be left out). A group is a set of options."""
import itertools

ROWS = 20
COLUMNS = ["id", "when", "amount", "code", "note"]
OPTIONS = {
    "plain": "",
    "skip": "skip = 3, ",
    "latin": 'encoding = "latin-1", ',
    "windows": 'encoding = "windows-1252", ',
    "wide": 'encoding = "utf-16le", ',
    "big": 'encoding = "utf-16be", ',
    "unquoted": 'quote = "", ',
    "percent": 'comment = "%", ',
    "numbered": 'duplicates = "number", ',
    "bare": "header = false, ",
}
DIALECTS = {"comma": (",", "\n"), "semicolon": (";", "\r\n"), "tab": ("\t", "\n"), "bar": ("|", "\r")}
NOTES = ["plain", "two words", 'say "hi"', "a,b;c|d\te", "line one\nline two", "", None, "é and ü", "#9", "'single'", "x" * 300, "null"]


def clean(k):
    """Row k: id, when, amount (may be null), code, note (may be null)."""
    return (k + 1, f"2024-{k % 12 + 1:02}-{k % 28 + 1:02}", None if k % 7 == 3 else k * 1.25 - 3, f"c{k:03}", NOTES[k % len(NOTES)])


def quoted(text):
    return '"' + text.replace('"', '""') + '"'


def fields_of(row):
    """A row as texts; a note is quoted where any dialect needs it."""
    number, when, amount, code, note = row
    if note is None:
        said = ""
    elif note == "" or any(c in note for c in ',;|\t"\n#') or note[0] == "'":
        said = quoted(note)
    else:
        said = note
    return [str(number), when, "" if amount is None else repr(amount), code, said]


class Table:
    """A file that is being made: a header and lines of text, each with the row that it is (None: none that can be read) and how many
    lines of the file it is."""

    def __init__(self, dialect="comma"):
        self.sep, self.end = DIALECTS[dialect]
        self.header = list(COLUMNS)
        self.rows = [clean(k) for k in range(ROWS)]
        self.texts = [self.sep.join(fields_of(row)) for row in self.rows]
        self.ends = [self.end] * ROWS
        self.bad = set()
        self.front = ""  # before the header
        self.insert = {}  # before row k: (text, lines of it that are left out)
        self.n_header = 1  # lines

    def spoil(self, k, text):
        self.texts[k] = text
        self.bad.add(k)

    def build(self):
        """The text, the rows that must be read, the lines that must be left out."""
        text = self.front + self.sep.join(self.header) + self.end
        good, bad = [], []
        line = 1 + self.front.count(self.end) + 1
        for k in range(ROWS):
            if k in self.insert:
                more, left_out = self.insert[k]
                text += more
                bad += [line + j for j in range(left_out)]
                line += more.count(self.end)
            piece = self.texts[k] + self.ends[k]
            text += piece
            lines = self.texts[k].count("\n") + (1 if self.ends[k] else 0)
            if self.end == "\r":  # line feeds end lines there, too
                lines = self.texts[k].count("\n") + self.texts[k].count("\r") + 1
            if k in self.bad:
                bad += [line + j for j in range(max(lines, 1))]
            else:
                good.append(self.rows[k])
            line += max(lines, 1)
        return text, good, bad


def row_defects(sep, row):
    """(name, text of the row) for every way to spoil one row, in every column; none of them can be read."""
    fields = fields_of(row)
    for c, name in enumerate(COLUMNS):
        f, rest = fields[c], lambda new: sep.join(fields[:c] + [new] + fields[c + 1 :])
        bare = f if not f.startswith('"') else f[1:-1].replace('""', "")
        if f.startswith('"') and "\n" not in f:
            yield f"quote_unclosed_{name}", rest(f[:-1]) if not f.endswith('""') or f == '""' else rest(f[:-1] + "z")[:-0 or None]
            yield f"quote_behind_{name}", rest(f + "x")
            yield f"quote_before_{name}", rest(" " + f)
            yield f"quote_inside_{name}", rest(f[:-1] + 'i"i"')
            yield f"quote_escaped_{name}", rest('"' + bare + '\\"more"')
        if not f.startswith('"'):
            yield f"quote_open_{name}", rest('"' + f)
            yield f"quote_last_{name}", rest((f or "q") + '"')
            yield f"quote_middle_{name}", rest((f or "qq")[:1] + '"' + (f or "qq")[1:])
            yield f"quotes_middle_{name}", rest((f or "qq")[:1] + '"z"' + (f or "qq")[1:])
            yield f"quotes_doubled_{name}", rest('""' + (f or "qq") + '""')
        if "\n" not in fields[4]:
            yield f"field_more_{name}", sep.join(fields[: c + 1] + ["9"] + fields[c + 1 :])
            yield f"field_empty_more_{name}", sep.join(fields[: c + 1] + [""] + fields[c + 1 :])
            yield f"field_less_{name}", sep.join(fields[:c] + fields[c + 1 :])
            yield f"field_first_{name}", sep.join(fields[: c + 1]) if c < 4 else sep.join(fields) + sep + sep
        if c < 4 and "\n" not in fields[4]:
            other = "^"
            yield f"separator_other_{name}", sep.join(fields[: c + 1]) + other + sep.join(fields[c + 1 :])
    if "\n" in fields[4]:
        return
    yield "separator_all", " ".join(fields).replace(sep, " ") if '"' not in fields[4] else "^".join(fields[:4])
    for c, values in ((0, ["x", "1.5", "1 000", "9223372036854775808", "0x10", "--1", "", "NA", "1\0"]),
                      (1, ["2024-13-01", "2024-02-30", "01.02.2024", "yesterday", "", "2024-1-1x", "NULL"]),
                      (2, ["1.2.3", "1e", "$5", "ten", "1_0", "0x1p"])):
        for value in values:
            yield f"value_{COLUMNS[c]}_{value.strip() or 'null'}".replace("\0", "0"), sep.join(fields[:c] + [value] + fields[c + 1 :])


def fine_changes(sep, k):
    """(name, text of row k, the row that is read) for unusual ways to write it that are right."""
    row = clean(k)
    fields = fields_of(row)
    for c in range(3):
        if fields[c]:
            yield f"blanks_{c}", sep.join(fields[:c] + [f"  {fields[c]} "] + fields[c + 1 :]), row
            yield f"quoted_{c}", sep.join(fields[:c] + [quoted(fields[c])] + fields[c + 1 :]), row
    yield "quoted_code", sep.join(fields[:3] + [quoted(fields[3])] + fields[4:]), row
    for name, note in (("nul", "a\0b"), ("long", "y" * 70000), ("lines", "\n".join(["", "p", "q,", "", "r"])), ("quotes", '"' * 9),
                       ("sep", sep * 12), ("blank", " "), ("unicode", "\u2028\U0001f600"), ("comment", "# no"), ("escape", "a\\")):
        said = quoted(note) if any(x in note for x in ',;|\t"\n#') else note
        yield f"note_{name}", sep.join(fields[:4] + [said]), row[:4] + (note,)
    if row[2] is not None:
        for name, value in (("plus", f"+{abs(row[2])}"), ("exponent", f"{row[2]!r}e0"), ("zeros", f"{row[2]:.9f}")):
            amount = float(value)
            yield f"amount_{name}", sep.join(fields[:2] + [value] + fields[3:]), row[:2] + (amount,) + row[3:]


def encoded(text, encoding, mark=b""):
    return mark + text.encode(encoding)


def file_defects():
    """Of the whole file: (group, name, bytes, good, bad)."""
    for dialect in DIALECTS:
        def table():
            return Table(dialect)

        def give(name, t, group="plain", make=lambda s: s.encode()):
            text, good, bad = t.build()
            return group, f"{dialect}_{name}", make(text), good, bad

        yield give("clean", table())
        t = table()
        t.ends[-1] = ""
        yield give("no_final_end", t)
        for extra in (1, 2, 5):
            t = table()
            t.ends[-1] *= 1 + extra
            yield give(f"final_blank_{extra}", t)
            t = table()
            t.front = t.end * extra
            yield give(f"front_blank_{extra}", t)
            t = table()
            t.front = f"# comment {extra}{t.end}" * extra
            yield give(f"front_comments_{extra}", t)
        for k in (0, ROWS // 2, ROWS - 1):
            for blanks in (1, 3):
                t = table()
                t.insert[k] = (t.end * blanks, 0)
                yield give(f"blank_{k}_{blanks}", t)
            for name, line in (("header", t.sep.join(COLUMNS)), ("total", t.sep.join(["total", "", "17.5", "", ""])), ("words", "end of page 1"),
                               ("dashes", t.sep.join(["---"] * 5)), ("empty", t.sep * 4), ("spaces", "   "), ("more", t.sep * 9),
                               ("units", t.sep.join(["1", "day", "EUR", "", ""])), ("question", t.sep.join("?" * 5))):
                t = table()
                t.insert[k] = (line + t.end, 1)
                yield give(f"line_{name}_{k}", t)
        for name, mark, encoding in (("bom", b"\xef\xbb\xbf", "utf-8"), ("utf16le", b"\xff\xfe", "utf-16-le"), ("utf16be", b"\xfe\xff", "utf-16-be")):
            yield give(name, table(), make=lambda s, e=encoding, m=mark: encoded(s, e, m))
        yield give("latin", table(), "latin", lambda s: s.encode("latin-1"))
        yield give("windows", table(), "windows", lambda s: s.encode("cp1252"))
        yield give("wide", table(), "wide", lambda s: s.encode("utf-16-le"))
        yield give("big", table(), "big", lambda s: s.encode("utf-16-be"))
        t = table()
        t.front = f"Report{t.end}made by hand{t.end}{t.end}"
        yield give("preamble", t, "skip")
        t = table()
        t.front = f'"Report {t.sep} 1{t.end}a"b{t.end}{t.sep}{t.end}'
        yield give("preamble_quotes", t, "skip")
        for lines in (1, 2, 5, 20):
            for name, line in (("words", "made by hand"), ("two", f"Report{t.sep} 2024"), ("number", "17"), ("quotes", '"Report" of "us"')):
                t = table()
                t.front = (line + t.end) * lines
                yield give(f"preamble_{name}_{lines}", t)
        t = table()
        t.front = f"Report{t.end}{t.end}made by hand{t.end}{t.end}"
        yield give("preamble_blank", t)
        t = table()
        t.front = f"% one{t.end}% tw\"o{t.end}"
        t.insert[7] = (f"% three \"{t.end}", 0)
        yield give("comments", t, "percent")
        t = table()
        t.header = t.header[:4] + [quoted("note")]
        yield give("header_quoted", t)
        t = table()
        t.header = [quoted(c) for c in t.header]
        t.texts = [t.sep.join(f if f.startswith('"') or not f else quoted(f) for f in x) for x in map(fields_of, t.rows)]
        yield give("all_quoted", t)
        for at in range(6):
            t = table()
            t.header.insert(at, "")
            t.texts = [t.sep.join(f[:at] + ["more"] + f[at:]) for f in map(fields_of, t.rows)]
            yield give(f"header_empty_name_{at}", t)
            t = table()
            t.header.insert(at, "twice")
            t.header.append("twice")
            t.texts = [t.sep.join(f[:at] + ["more"] + f[at:] + ["2"]) for f in map(fields_of, t.rows)]
            yield give(f"header_twice_{at}", t, "numbered")
            t = table()
            t.header.insert(at, 'qu"ote')
            t.texts = [t.sep.join(f[:at] + ["more"] + f[at:]) for f in map(fields_of, t.rows)]
            yield give(f"header_quote_{at}", t)
            t = table()
            t.header.insert(at, '"open')
            t.texts = [t.sep.join(f[:at] + ["more"] + f[at:]) for f in map(fields_of, t.rows)]
            yield give(f"header_open_{at}", t)
        t = table()
        t.texts, t.rows, t.ends = [""] * ROWS, [None] * ROWS, [""] * ROWS
        yield "plain", f"{dialect}_header_only", (t.sep.join(COLUMNS) + t.end).encode(), [], []
        yield "plain", f"{dialect}_header_only_no_end", t.sep.join(COLUMNS).encode(), [], []
        t = table()
        for k in range(ROWS):
            t.texts[k] += t.sep
        t.header.append("")
        yield give("final_separators", t)
        t = table()
        t.rows = [r[:4] + (None if r[4] is None else "p" if any(x in r[4] for x in "\n,;|\t") else r[4],) for r in t.rows]
        t.texts = [t.sep.join(fields_of(r[:4] + ("",))[:4] + [r[4] or ""]) for r in t.rows]
        t.rows = [r[:4] + (r[4] or None,) for r in t.rows]
        yield give("unquoted", t, "unquoted")
        t = table()
        for k in range(ROWS):
            body = t.rows[k][4]
            if body is not None and '"' not in body and "'" not in body:
                t.texts[k] = t.sep.join([f"'{f}'" if f else f for f in fields_of(t.rows[k])[:4]] + ["'" + body + "'"])
            else:
                t.rows[k] = t.rows[k][:4] + ("it's",)
                t.texts[k] = t.sep.join([f"'{f}'" if f else f for f in fields_of(t.rows[k])[:4]] + ["'it''s'"])
        yield give("single_quotes", t)
    for name, ends in (("crlf_lf", ["\r\n", "\n"]), ("lf_crlf", ["\n", "\r\n"]), ("lf_lf_crlf", ["\n", "\n", "\r\n"])):
        t = Table()
        t.ends = list(itertools.islice(itertools.cycle(ends), ROWS))
        text, good, bad = t.build()
        yield "plain", f"ends_{name}", text.encode(), good, bad
    for k in range(ROWS):  # one row ends in another way
        t = Table()
        t.ends[k] = "\r\n"
        text, good, bad = t.build()
        yield "plain", f"end_crlf_{k}", text.encode(), good, bad


def row_files():
    for dialect in DIALECTS:
        t = Table(dialect)
        for k in (0, 1, 2, 3, 6, ROWS // 2 + 1, ROWS - 1):
            for name, text in row_defects(t.sep, clean(k)):
                t = Table(dialect)
                t.spoil(k, text)
                text, good, bad = t.build()
                yield "plain", f"{dialect}_{name}_{k}", text.encode(), good, bad
        for k in (0, 9, ROWS - 1):
            for name, text, row in fine_changes(t.sep, k):
                t = Table(dialect)
                t.texts[k], t.rows[k] = text, row
                text, good, bad = t.build()
                yield "plain", f"{dialect}_fine_{name}_{k}", text.encode(), good, bad
        for k in (0, 5, ROWS - 1):
            for name, mess in (("latin", b"\xe9t\xe9"), ("lone", b"a\xffb"), ("cut", b"a\xe2\x82"), ("overlong", b"\xc0\xaf"), ("surrogate", b"\xed\xa0\x80")):
                for c in (3, 4):
                    t = Table(dialect)
                    fields = fields_of(clean(k))
                    fields[c] = "@@@"
                    t.spoil(k, t.sep.join(fields))
                    text, good, bad = t.build()
                    yield "plain", f"{dialect}_bytes_{name}_{COLUMNS[c]}_{k}", text.encode().replace(b"@@@", mess), good, bad
    for k in range(ROWS - 1):  # one row ends with a return alone, or not at all: two rows are one line
        for name, end in (("return", "\r"), ("none", "")):
            t = Table()
            if "\n" in t.texts[k] or "\n" in t.texts[k + 1]:
                continue
            t.texts[k] += end + t.texts[k + 1]
            del t.texts[k + 1], t.rows[k + 1], t.ends[k + 1]
            t.texts.append("")
            t.ends.append("")
            t.rows.append(None)
            t.bad = {k}
            text, good, bad = t.build()
            good = [r for r in good if r]
            yield "plain", f"row_end_{name}_{k}", text.encode(), good, bad
    for a in range(0, ROWS - 2, 3):  # two stray quotes, apart
        for b in range(a + 1, ROWS, 4):
            t = Table()
            for k in (a, b):
                fields = fields_of(t.rows[k])
                t.spoil(k, ",".join(fields[:3] + [fields[3] + '"'] + fields[4:]))
            text, good, bad = t.build()
            yield "plain", f"inches_{a}_{b}", text.encode(), good, bad


def files():
    seen = set()
    for group, name, data, good, bad in itertools.chain(file_defects(), row_files()):
        name = "".join(c if c.isalnum() or c in "_-" else f"={ord(c):x}" for c in name)
        assert (group, name) not in seen, name
        seen.add((group, name))
        yield group, name, data, good, bad


if __name__ == "__main__":
    counts = {}
    for group, *_ in files():
        counts[group] = counts.get(group, 0) + 1
    print(counts, sum(counts.values()))
