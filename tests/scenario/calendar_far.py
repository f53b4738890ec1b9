"""Parts of dates and datetimes as far as there are any are those of Python's calendar, which is the same each 400 years, and of its whole numbers: compiled
as vectors, without optimization, and interpreted; as many rows as vectors have lanes and odd ones."""
# seconds: 5
import array
import datetime
import pathlib
import random
import struct
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from scenario_kit import Place, check, finish

DAY, ERA = 86_400_000_000, 146_097
OF_DATE = ["year", "quarter", "month", "day", "weekday", "day_of_year", "iso_week", "iso_year", "days_in_month"]
OF_TIME = ["year", "month", "day", "weekday", "hour", "minute", "second", "microsecond"]
SCRIPT = "let d = read_npy(\"d.npy\")\nlet t = read_npy(\"t.npy\")\n" + "".join(
    f'write_npy({part}({of}), "{of}_{part}.npy")\n' for of, parts in (("d", OF_DATE), ("t", OF_TIME)) for part in parts)


def npy(kind, values):
    head = f"{{'descr': '<M8[{kind}]', 'fortran_order': False, 'shape': ({len(values)},), }}"
    head += " " * (63 - (10 + len(head)) % 64) + "\n"
    return b"\x93NUMPY\1\0" + struct.pack("<H", len(head)) + head.encode() + array.array("q", values).tobytes()


def numbers(path):
    data = path.read_bytes()
    found = array.array("q")
    found.frombytes(data[10 + struct.unpack("<H", data[8:10])[0]:])
    return found.tolist()


def parts_of(days):
    """All parts of a date, by the same day of the years 2000 to 2399."""
    eras, near = divmod(days - 10957, ERA)
    d = datetime.date(2000, 1, 1) + datetime.timedelta(days=near)
    later = datetime.date(d.year + d.month // 12, d.month % 12 + 1, 1)
    return {"year": d.year + 400 * eras, "quarter": (d.month + 2) // 3, "month": d.month, "day": d.day, "weekday": d.isoweekday(),
            "day_of_year": d.timetuple().tm_yday, "iso_week": d.isocalendar()[1], "iso_year": d.isocalendar()[0] + 400 * eras,
            "days_in_month": (later - d.replace(day=1)).days}


def parts_of_time(t):
    days, rest = divmod(t, DAY)
    seconds, micros = divmod(rest, 1_000_000)
    return {**parts_of(days), "hour": seconds // 3600, "minute": seconds // 60 % 60, "second": seconds % 60, "microsecond": micros}


place = Place(parts__flow=SCRIPT)
for n in (1, 7, 8, 17, 6000):
    r = random.Random(n)
    edges = [-2**31, 2**31 - 1, 0, -1, 10956, 10957, -719468, -719469, 11016, 11017]
    d = [r.choice(edges) if r.random() < 0.1 else r.randrange(-2**31, 2**31) >> r.choice((0, 8, 16)) for _ in range(n)]
    edges = [-2**63 + 1, 2**63 - 1, 0, -1, DAY - 1, -DAY, -DAY - 1, 3_600_000_000 - 1, 59_999_999, -106_751_991 * DAY, 106_751_991 * DAY - 1]
    t = [r.choice(edges) if r.random() < 0.1 else r.randrange(-2**63 + 1, 2**63) >> r.choice((0, 10, 20)) for _ in range(n)]
    (place.path / "d.npy").write_bytes(npy("D", d))
    (place.path / "t.npy").write_bytes(npy("us", t))
    of_d, of_t = [parts_of(v) for v in d], [parts_of_time(v) for v in t]
    for mode in ([], ["-O0"], ["--interp"]):
        done = place.run("run", *mode, "--no-cache", "parts.flow")
        check(done.returncode == 0, f"{n} rows, {mode}", done.stderr[-2000:])
        for name, parts, wanted, values in (("d", OF_DATE, of_d, d), ("t", OF_TIME, of_t, t)):
            for part in parts:
                path = place.path / f"{name}_{part}.npy"
                found = numbers(path) if path.exists() else []
                wrong = next((k for k, of in enumerate(wanted) if k >= len(found) or found[k] != of[part]), None)
                check(wrong is None and len(found) == n, f"{part} of {name}, {n} rows, {mode}",
                      wrong is not None and f"row {wrong}: {values[wrong]}: {found[wrong:wrong + 1]}, not {wanted[wrong][part]}")
                path.unlink(missing_ok=True)
finish()
