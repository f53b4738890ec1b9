"""Random CSV texts with many defects at once, and the rows that the rules of docs/decisions/csv-broken-rows.md find in them, by a plain model."""
import random
import re

WIDTHS = (2, 3, 6)
PIECES = [",", "\n", "a", "1", ",", "\n", '"', '""', ',"', '",', '"\n', '\n"', "\r\n", "x,y,z\n", " ", "\n\n", "é", '"p",q,"r ""s""\nt"\n', "1,2,3\n4,5,6\n"]


def holds_rows(inner, n):
    lines = inner.split("\n")[1:-1]
    lines = [x for x in lines if x not in ("", "\r")]
    need = max(2, -(-10 // (n - 1)))
    fit = sum(x.count(",") + 1 == n for x in lines)
    return len(lines) >= need and 10 * fit >= 9 * len(lines)


def row_at(text, at, n):
    """(fields or None, where the next row begins)."""
    fields, k = [], at
    while True:
        if text[k] == '"':
            j = k + 1
            while True:
                j = text.find('"', j)
                if j < 0 or text[j + 1 : j + 2] != '"':
                    break
                j += 2
            if j < 0 or not re.match(r",|\r?\n", text[j + 1 : j + 3]) or holds_rows(text[k + 1 : j], n):
                return None, text.index("\n", at) + 1
            fields.append(("quoted", text[k + 1 : j].replace('""', '"')))
            k = j + 1
        else:
            j = re.compile(r',|\r?\n|"').search(text, k)
            if j[0] == '"':
                return None, text.index("\n", at) + 1
            fields.append(("bare", text[k : j.start()]))
            k = j.start()
        if text[k] == ",":
            k += 1
            continue
        return fields, text.index("\n", k) + 1


def read(text, n):
    """The good rows, a bare empty field as None, and the lines of those left out."""
    if not text.endswith("\n"):
        text += "\n"
    at, good, bad = text.index("\n") + 1, [], []
    while at < len(text):
        line = text.count("\n", 0, at) + 1
        blank = re.compile(r"\r?\n").match(text, at)
        if blank:
            at = blank.end()
            continue
        fields, at = row_at(text, at, n)
        if fields is None or len(fields) != n:
            bad.append(line)
        else:
            good.append(tuple(v if v or kind == "quoted" else None for kind, v in fields))
    return good, bad


def texts(count, seed=14):
    r = random.Random(seed)
    for k in range(count):
        n = r.choice(WIDTHS)
        text = ",".join("abcdef"[:n]) + "\n"
        for _ in range(r.randrange(1, 60)):
            text += r.choice(PIECES)
            if r.random() < 0.08:  # lines that look like rows, or nearly, behind a quote
                text += '\n1,"' + "".join("\n" + ",".join(r.choice("xyz") for _ in range(n if r.random() < 0.95 else n + 1)) for _ in range(r.randrange(14))) + r.choice(['\n"\n', '\n"x', '",1\n'])
        if k % 4 == 0:
            text += "\n" + "7" * 300000 + "\n"  # beyond a chunk
            text += "".join(r.choice(PIECES) for _ in range(30))
        yield n, text
