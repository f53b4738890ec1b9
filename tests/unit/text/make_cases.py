#!/usr/bin/env python3
"""Writes cases.inc for tests/unit/text_case.c: every character that another case changes, and words in which what is around
decides, as Python's str.upper, lower and title have them. Run it here with Python 3.11 (Unicode 14.0): python3
make_cases.py."""
import pathlib

WORDS = ["ΟΔΥΣΣΕΥΣ", "ΣΑΣ", "Σ", "ΣΣ", "ΑΣ ΑΣ", "ΑΣ.", "Α.Σ", "ΑΣΑ", "ΑΣ'Α", "ΑΣ\u0301", "ΑΣ\u0301Α", "1Σ", "aΣ", "aΣb", "\u00adΣ", "Α\u00adΣ\u00ad",
         "ʰΣ", "ΣΊΓΜΑΣ ΣΊΓΜΑ", "straße STRASSE", "ÇAĞRI İSTANBUL ıI", "ŉamba ŉ", "ﬃce oﬃce", "ǆungla ǈ ǉ Ǌ", "ﬁre ΐ ΰ ᾳ ᾼ ᾈ", "ნინო ᲜᲘᲜᲝ", "ﬄﬅ և",
         "éÉ ñÑ", "Ꭰ ꭰ Ꮿ", "𐐀𐐨 𞤀𞤢", "ⅷ Ⅷ ⓐ Ⓐ", "", "plain ASCII Words", "x" * 40 + "ẞ", "K Å Ω"]
MARKS = set("'.1\u00ad\u0301")


def text(s):
    return '"' + "".join("".join(f"\\{b:03o}" for b in c.encode()) if not c.isprintable() or c in '"\\' else c for c in s) + '"'


rows = [chr(c) for c in range(1, 0x110000) if not 0xD800 <= c < 0xE000]
rows = [c for c in rows if c.upper() != c or c.lower() != c or c.title() != c]
lines = ["/* Written by make_cases.py: a text, in upper, lower and title case. */", "static const Case points[] = {"]
lines += ["  {" + ", ".join(map(text, (c, c.upper(), c.lower(), c.title()))) + "}," for c in rows]
lines += ["};", "static const Case words[] = {"]
lines += ["  {" + ", ".join(map(text, (w, w.upper(), w.lower(), w.title()))) + "}," for w in WORDS
          if not set(w) & MARKS]
lines += ["};", "/* The same without title case, whose words are others: Python's end at each mark. */", "static const Case marks[] = {"]
lines += ["  {" + ", ".join(map(text, (w, w.upper(), w.lower(), ""))) + "}," for w in WORDS if set(w) & MARKS]
(pathlib.Path(__file__).parent / "cases.inc").write_text("\n".join(lines + ["};"]) + "\n")
