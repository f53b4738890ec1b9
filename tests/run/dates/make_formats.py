#!/usr/bin/env python3
"""Writes format_letters.flow, parse_letters.flow and what they print: every letter of date formats on dates of all
kinds, and texts that are read by formats; expected is what Python's strftime and strptime say (on Linux, in UTC).

Run it here: TZ=UTC python3 make_formats.py. Where flow and Python differ by choice:
- Python prints years below 1000 as the C library does, without zeros; flow's %Y, %G and %C always have them.
- Python reads the day of a week that the year does not have (%U %W 00 or 53, %V 53); flow says that there is none, and no
  day 366 in 2023. White space in a format may be missing in the text; a fraction may have nine digits.
- Years below 0 (-0044) are read; Python has none.
- Without anything between %m and %d Python also tries fewer digits for the month; flow takes two when they are there.
"""
import datetime as dt
import pathlib
import random
import re

HERE = pathlib.Path(__file__).parent
LETTERS = "Y C y m d e j H k I l M S f p P b h B a A u w U W V G g z Z D F T R r x X c %".split()
UNPADDED = "d m y H I M S j U W V".split()
STAMPS = [
    "0001-01-01 00:00:00", "0026-03-05 04:05:06.7", "0999-12-31 23:59:59.999999", "1000-01-01 12:00:00",
    "1582-10-15 00:00:01", "1899-12-31 13:00:00", "1900-02-28 11:59:59", "1969-12-31 23:59:59.000001",
    "1970-01-01 00:00:00", "1972-02-29 09:08:07", "1999-12-31 01:02:03", "2000-02-29 00:30:00", "2004-12-31 12:34:56",
    "2005-01-01 00:00:00", "2008-12-29 10:00:00", "2009-01-01 23:00:00", "2010-01-03 05:06:07", "2012-12-31 15:16:17",
    "2015-12-31 20:00:00", "2016-01-01 00:00:00", "2020-12-31 08:09:10", "2021-01-03 18:00:00", "2023-01-01 00:00:00",
    "2024-02-29 22:22:22.222222", "2024-12-30 03:04:05", "2026-01-05 00:00:00", "2068-12-31 06:00:00",
    "2069-01-01 06:00:00", "2100-02-28 12:00:00", "9999-12-31 23:59:59.999999",
]


def stamp(text):
    return dt.datetime.fromisoformat(text).replace(tzinfo=dt.timezone.utc)


def formatted(t, code):
    """strftime, but with zeros before years."""
    iso = t.isocalendar()[0]
    years = {"%Y": f"{t.year:04}", "%G": f"{iso:04}", "%C": f"{t.year // 100:02}", "%g": f"{iso % 100:02}",
             "%F": f"{t.year:04}-{t:%m-%d}", "%c": f"{t:%a %b %e %H:%M:%S} {t.year:04}"}
    return years[code] if code in years else t.strftime(code)


def printing():
    codes = ["%" + letter for letter in LETTERS] + ["%-" + letter for letter in UNPADDED]
    script = ["# Every letter of a date format, as Python's strftime prints it: written by make_formats.py",
              "let all = [" + ", ".join(f'"{s}"' for s in STAMPS) + "]",
              "let t = table(t = datetime(all)) |> derive(d = date(t))"]
    out = []
    for code in codes:
        script.append(f'print("{code}: [{{join_text([for x in t.t: "{{x:{code}}}"], "|")}}]")'.replace("%%:", "%:"))
        out.append((code + ": ").replace("%%:", "%:") + "[" + "|".join(formatted(stamp(s), code) for s in STAMPS) + "]")
    days = ["%Y-%m-%d", "%e. %B %Y", "%G-W%V-%u", "%Y-%j", "%Y %U %w", "%Y %W %a", "%d/%m/%y %H:%M:%S.%f", "%s", "%n%t%%"]
    for code in days:
        script.append(f'print(join_text([for x in t.d: format(x, "{code}")], "|"))')
        texts = []
        for s in STAMPS:
            t = stamp(s).replace(hour=0, minute=0, second=0, microsecond=0)
            pieces = code.replace("%Y", f"{t.year:04}").replace("%G", f"{t.isocalendar()[0]:04}")
            texts.append(str(int(t.timestamp())) if code == "%s" else t.strftime(pieces))
        out.append("|".join(texts))
    script.append('print("{t.t[25]:' + "%A, the " * 60 + '%d}")')
    out.append("Monday, the " * 60 + "05")
    return script, out


FORMATS = [
    "%Y-%m-%d", "%d.%m.%Y", "%d.%m.%y", "%m/%d/%Y %I:%M %p", "%Y%m%d", "%Y-%j", "%G-W%V-%u", "%Y/%U/%w", "%Y/%W/%a",
    "%A, %d %B %Y", "%b %d %Y", "%d-%b-%y", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M:%S.%f", "%Y-%m-%dT%H:%M:%S%z",
    "%d%%%m%%%Y", "%y%m%d", "%H:%M on %d.%m.%Y",
]


def read(text, fmt):
    try:
        t = dt.datetime.strptime(re.sub(r"([.][0-9]{6})[0-9]{1,3}$", r"\1", text) if "%f" in fmt else text, fmt)
    except ValueError:
        return "null"
    if t.tzinfo:
        t = t.astimezone(dt.timezone.utc).replace(tzinfo=None)
    week = {"%Y/%U/%w": f"{t:%U}", "%Y/%W/%a": f"{t:%W}", "%G-W%V-%u": f"{t:%V}"}.get(fmt)
    if fmt == "%Y-%j" and t.year != int(text[:4]):
        return "null"
    if week and (int(re.split(r"/|-W|-", text)[1]) != int(week) or (fmt[1] == "Y" and f"{t.year:04}" != text[:4])):
        return "null"
    fraction = f".{t.microsecond:06}" if t.microsecond else ""
    return f"{t.year:04}-{t:%m-%dT%H:%M:%S}{fraction}Z"


def reading():
    random.seed(14)
    script = ["# Texts by formats, as Python's strptime reads them: written by make_formats.py"]
    out = []
    for fmt in FORMATS:
        texts = []
        for s in STAMPS[1:]:
            t = stamp(s)
            text = t.strftime(fmt.replace("%Y", f"{t.year:04}").replace("%G", f"{t.isocalendar()[0]:04}"))
            texts.append(text)
            if random.random() < 0.5:  # one character more, less or other
                at, c = random.choice([k for k in range(len(text)) if text[k] != " "]), random.choice("0123456789x./")
                changed = [text[:at] + c + text[at + 1:], text[:at] + text[at + 1:], text[:at] + c + text[at:]]
                texts.append(random.choice(changed[:1] if "%m%d" in fmt else changed))
        texts += {"%d.%m.%Y": ["05.03.26", "5.3.2026", "5.3.126", "05.03.20260", "31.04.2026", "29.02.2023", "00.01.2026", " 5.03.2026"],
                  "%d.%m.%y": ["05.03.26", "5.3.68", "5.3.69", "5.3.6", "05.03.2026"],
                  "%Y-%m-%d": ["2026-1-2", "26-01-02", "-026-01-02", "2026-13-01", "2026-02-30", "+2026-01-02"],
                  "%m/%d/%Y %I:%M %p": ["1/2/2026 0:10 AM", "1/2/2026 12:10 am", "1/2/2026 12:10 pm", "1/2/2026 13:00 PM"],
                  "%Y-%m-%dT%H:%M:%S": ["2026-01-02T24:00:00", "2026-01-02T23:60:00", "2026-01-02T23:59:60"],
                  "%G-W%V-%u": ["2020-W53-7", "2021-W53-1", "2026-W00-1", "2026-W01-0", "2026-W01-8"],
                  "%Y-%j": ["2023-366", "2024-366", "2024-000", "2024-1"],
                  "%Y-%m-%dT%H:%M:%S%z": ["2026-01-01T00:00:00+05:30", "2026-01-01T00:00:00Z", "2026-01-01T00:00:00-2359",
                                          "2026-01-01T00:00:00+2400", "2026-01-01T00:00:00"]}.get(fmt, [])
        texts = [x for x in texts if "0000" not in x or "%f" in fmt]  # Python has no year 0
        quoted = ", ".join('"' + x.replace("\\", "\\\\") + '"' for x in texts)
        script.append(f'print(join_text([for s in [{quoted}]: "{{try_parse_datetime(s, "{fmt}")}}"], "|"))')
        out.append("|".join(read(x, fmt) for x in texts))
    return script, out


for name, (script, out) in {"format_letters": printing(), "parse_letters": reading()}.items():
    (HERE / f"{name}.flow").write_text("\n".join(script) + "\n")
    (HERE / f"{name}.out").write_text("\n".join(out) + "\n")
