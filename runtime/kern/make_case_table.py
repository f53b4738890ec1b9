#!/usr/bin/env python3
"""Writes case_table.h: the case mappings of Unicode beyond ASCII, as Python's str has them, and which characters decide
what a sigma becomes. Run it here with Python 3.11, whose Unicode is 14.0: python3 make_case_table.py."""
import pathlib
import unicodedata

POINTS = [c for c in range(0x80, 0x110000) if not 0xD800 <= c < 0xE000]


def ranges(pairs):
    """(code point, delta) as rows first, last, step, delta of evenly spaced code points."""
    rows = []
    for c, delta in sorted(pairs):
        if rows and rows[-1][3] == delta:
            first, last, step, _ = rows[-1]
            if c - last == step or (first == last and c - last <= 2):
                rows[-1] = (first, c, c - last, delta)
                continue
        rows.append((c, c, 1, delta))
    return rows


def spans(points):
    rows = []
    for c in sorted(points):
        if rows and rows[-1][1] == c - 1:
            rows[-1][1] = c
        else:
            rows.append([c, c])
    return rows


def mapped(method):
    """Those that become one other code point, and those that become several."""
    one = [(c, ord(getattr(chr(c), method)()) - c) for c in POINTS if len(getattr(chr(c), method)()) == 1]
    many = [(c, getattr(chr(c), method)()) for c in POINTS if len(getattr(chr(c), method)()) > 1]
    return one, many


def is_cased(c):  # before a sigma at the end of a word
    return (chr(c) + "Σ").lower().endswith("ς")


def is_passed(c):  # looked over when that is found out
    return ("AΣ" + chr(c)).lower()[1] == "ς" and ("AΣ" + chr(c) + "A").lower()[1] == "σ"


def lay(items):
    lines, line = [], "   "
    for item in items:
        if len(line) + len(item) + 2 > 110:
            lines.append(line)
            line = "   "
        line += " " + item + ","
    return "\n".join(lines + [line])


def rows_of(name, pairs):
    items = ["{%#x, %#x, %d, %d}" % row for row in ranges(pairs)]
    return f"static const FlCaseRange {name}[] = {{\n{lay(items)}\n}};\n"


def several_of(name, many):
    items = ["{%#x, {%s}}" % (c, ", ".join(f"{ord(x):#x}" for x in text)) for c, text in many]
    return f"static const FlCaseSeveral {name}[] = {{\n{lay(items)}\n}};\n"


def spans_of(name, points):
    return f"static const FlCaseSpan {name}[] = {{\n{lay('{%#x, %#x}' % tuple(r) for r in spans(points))}\n}};\n"


assert all(chr(c) == chr(c).upper() == chr(c).lower() == chr(c).title() for c in range(0x3000, 0xA640))  # as text_case.c has it
lower, lower_many = mapped("lower")
upper, upper_many = mapped("upper")
title, title_many = mapped("title")
known = dict(upper)
others = [(c, d) for c, d in title if known.get(c) != d]
passed = [c for c in range(0x110000) if not 0xD800 <= c < 0xE000 and is_passed(c)]
cased = [c for c in POINTS if is_cased(c) and c not in set(passed)]
out = f"""/* case_table.h: case mappings of Unicode {unicodedata.unidata_version} beyond ASCII. Written by make_case_table.py.
 *
 * Rows {{first, last, step, delta}}: first, first + step, ... last map to themselves plus delta; sorted. What maps to
 * several code points stands in a table of its own, which comes first; titles that are not listed are as in upper
 * case. A sigma at the end of a word is another: after a cased character (ASCII letters are, too) and not before one,
 * the ignorable ones left out. */
#ifndef FL_CASE_TABLE_H
#define FL_CASE_TABLE_H

#include <stdint.h>

typedef struct FlCaseRange {{
  uint32_t first, last, step;
  int32_t delta;
}} FlCaseRange;
typedef struct FlCaseSeveral {{
  uint32_t point, to[3]; /* 0: no more */
}} FlCaseSeveral;
typedef struct FlCaseSpan {{
  uint32_t first, last;
}} FlCaseSpan;

"""
out += "\n".join([
    rows_of("fl_case_to_lower", [p for p in lower if p[1]]), several_of("fl_case_to_lower_several", lower_many),
    rows_of("fl_case_to_upper", [p for p in upper if p[1]]), several_of("fl_case_to_upper_several", upper_many),
    rows_of("fl_case_to_title", others), several_of("fl_case_to_title_several", title_many),
    spans_of("fl_case_cased", cased), spans_of("fl_case_ignorable", passed)])
pathlib.Path(__file__).with_name("case_table.h").write_text(out + "\n#endif\n")
