"""The scalar functions of texts, dates and numbers: their meaning in Python. columns.py makes random calls of them.
"""
import datetime
import math
import re

from values import NARROW, NEG_POWER, OVERFLOW, PARSE, Fault, add_months, day_of, days_in_month, days_of, f32, held, time_of

DAY = 86_400_000_000
UNITS = {"weeks": 7 * DAY, "days": DAY, "hours": 3_600_000_000, "minutes": 60_000_000, "seconds": 1_000_000,
         "milliseconds": 1000, "microseconds": 1}
SPACE = " \t\n\r\f\v"


# -- texts --
def title(s):
    return re.sub(r"\S+", lambda m: m[0][0].title() + m[0][1:].lower(), s)  # words are what white space parts


def split_part(s, separator, i):
    parts = s.split(separator)
    if i < 0:
        return parts[i] if -len(parts) <= i else ""
    return parts[i] if i < len(parts) else ""


def find(s, part):
    at = s.find(part)
    return None if at < 0 else at


def text_slice(s, low, high=None):
    n = len(s)
    low = max(0, n + low) if low < 0 else min(low, n)
    high = n if high is None else max(0, n + high) if high < 0 else min(high, n)
    return s[low:high] if low < high else ""


def pad(s, width, fill=" "):
    missing = fill * max(0, abs(width) - len(s))
    return s + missing if width >= 0 else missing + s


def edit_distance(a, b):
    last = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        new = [i]
        for j, y in enumerate(b, 1):
            new.append(min(last[j] + 1, new[j - 1] + 1, last[j - 1] + (x != y)))
        last = new
    return last[-1]


def try_parse_i64(s):
    if re.fullmatch(r"[+-]?\d+", s.strip(SPACE)) and -(2**63) <= int(s) < 2**63:
        return int(s)
    return None


def try_parse_f64(s):
    return float(s) if s.lower() in ("nan", "inf", "-inf") or re.fullmatch(r"[+-]?\d+(\.\d+)?([eE][+-]?\d+)?", s.strip(SPACE)) else None


def try_parse_date(s):
    if not re.fullmatch(r"\d{4}-\d\d-\d\d", s):
        return None
    try:
        return days_of(datetime.date.fromisoformat(s))
    except ValueError:
        return None


def must(parse):
    def strict(s):
        value = parse(s)
        if value is None:
            raise Fault(PARSE)
        return value
    return strict


def extract(s, pattern):
    found = re.search(pattern, s)
    if not found:
        return None
    return found[1] if found.re.groups else found[0]


# -- dates --
def as_date(value, kind):
    return day_of(value) if kind == "date" else time_of(value).date()


PARTS = {
    "year": lambda d: d.year, "quarter": lambda d: (d.month + 2) // 3, "month": lambda d: d.month, "day": lambda d: d.day,
    "weekday": lambda d: d.isoweekday(), "day_of_year": lambda d: d.timetuple().tm_yday, "iso_week": lambda d: d.isocalendar()[1],
    "iso_year": lambda d: d.isocalendar()[0], "days_in_month": lambda d: days_in_month(d.year, d.month),
}
TIME_PARTS = {"hour": lambda t: t.hour, "minute": lambda t: t.minute, "second": lambda t: t.second,
              "microsecond": lambda t: t.microsecond}
DATE_UNITS = ("year", "quarter", "month", "week", "day")
TIME_UNITS = ("hour", "minute", "second")


def truncate(unit, value, kind):
    if unit in TIME_UNITS:
        step = UNITS[unit + "s"]
        return value // step * step
    d = as_date(value, kind)
    start = {"year": lambda: d.replace(month=1, day=1), "quarter": lambda: d.replace(month=(d.month - 1) // 3 * 3 + 1, day=1),
             "month": lambda: d.replace(day=1), "week": lambda: d - datetime.timedelta(days=d.weekday()), "day": lambda: d}[unit]()
    return days_of(start) * (1 if kind == "date" else DAY)


def months_later(value, n, kind):
    if kind == "date":
        return days_of(add_months(day_of(value), n))
    when = time_of(value)
    return days_of(add_months(when.date(), n)) * DAY + value % DAY


# -- numbers --
def int_power(kind):
    def power(a, b):
        if b < 0:
            raise Fault(NEG_POWER)
        if abs(a) > 1 and b > 64:
            raise Fault(OVERFLOW)
        return held(kind, a ** (b if abs(a) > 1 else b if b < 2 else 2 + b % 2))
    return power


def rounding(name):
    def whole(x):
        if not math.isfinite(x):
            raise Fault(NARROW)
        return held("i64", {"round": round, "floor": math.floor, "ceil": math.ceil, "trunc": math.trunc}[name](x), NARROW)
    return whole


def round_digits(x, digits):
    return x if not math.isfinite(x) else math.copysign(round(x, digits), x)


def sign_of(x):
    return x if x != x else float((x > 0) - (x < 0))


def float_op(kind, operate):
    """Of f64, or of f32 computed in f64 and rounded once: exact for + - * / of f32."""
    return (lambda *v: f32(operate(*v))) if kind == "f32" else operate


def divide(a, b):
    if b:
        try:
            return a / b
        except OverflowError:
            return math.inf if (a > 0) == (b > 0) else -math.inf
    if a == 0 or a != a or b != b:
        return math.nan
    return math.copysign(math.inf, a) * math.copysign(1, b)


def times(a, b):
    return a * b


def sqrt(x):
    return math.nan if x < 0 else x if x != x else math.sqrt(x)


# Within 1 unit of the last place, rounded where they are used.
MATHEMATICS = {
    "exp": math.exp, "expm1": math.expm1, "log": math.log, "log2": math.log2, "log10": math.log10, "log1p": math.log1p, "sin": math.sin,
    "cos": math.cos, "tan": math.tan, "asin": math.asin, "acos": math.acos, "atan": math.atan, "sinh": math.sinh, "cosh": math.cosh,
    "tanh": math.tanh, "erf": math.erf, "erfc": math.erfc, "gamma": math.gamma, "lgamma": math.lgamma,
    "cbrt": math.cbrt,
}
# Where they are defined and of moderate size.
DOMAINS = {"log": (0.01, 99.0), "log2": (0.01, 99.0), "log10": (0.01, 99.0), "log1p": (-0.9, 99.0), "asin": (-1.0, 1.0),
           "acos": (-1.0, 1.0), "tan": (-1.5, 1.5), "gamma": (0.5, 9.0), "lgamma": (0.5, 99.0)}

DATE_FORMATS = ["%Y-%m", "%d.%m.%Y", "%H:%M", "%j", "%A %d %B", "%y%m%d", "%a %b"]


def formatted_time(value, spec, kind):
    when = time_of(value if kind == "datetime" else value * DAY)
    return when.strftime(spec)
