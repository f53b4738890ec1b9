"""Types and values of the model: what a scalar is, how it is written in a script and read back from what flow wrote.

Written from the language page, not from flow's code. In Python a null is None, integers are int, floats float (f32
already rounded), a date its days since 1970-01-01, a datetime and a duration their microseconds, a category the
position of its level, text str, bool bool. NaN is one value: it is never told apart by its bits.
"""
import datetime
import fractions
import math
import struct

INTS = {kind: (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if kind[0] == "i" else (0, 2**bits - 1)
        for kind in ("i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64") for bits in [int(kind[1:])]}
FLOATS = ("f32", "f64")
TIMES = ("date", "datetime", "duration")
EPOCH = datetime.date(1970, 1, 1)
EPOCH_TIME = datetime.datetime(1970, 1, 1)
MICRO = datetime.timedelta(microseconds=1)

# The codes of failures at run time.
OVERFLOW, DIV_ZERO, NEG_POWER, INDEX, NARROW, PARSE = "E0701", "E0702", "E0703", "E0704", "E0705", "E0706"
EMPTY, CELLS, MATCHES = "E0709", "E0646", "E0972"


class Fault(Exception):
    """The program fails. codes: what may be reported; several where the page leaves open which is met first."""

    def __init__(self, *codes):
        super().__init__(", ".join(sorted(codes)))
        self.codes = set(codes)


OPEN = "?"  # stands among the codes where the page leaves open what happens: such a case is not used


class Type:
    """Kind of a scalar; may it be null; the levels of a category; is it only compared within 1e-12 (approx)?"""

    def __init__(self, kind, null=False, levels=None, approx=False):
        self.kind, self.null, self.levels, self.approx = kind, null, levels, approx

    def __repr__(self):
        return self.kind + ("?" if self.null else "")

    def with_null(self, null=True):
        return Type(self.kind, null, self.levels, self.approx)

    def same(self, other):
        return self.kind == other.kind and self.levels == other.levels

    @property
    def name(self):
        return repr(self)


def is_nan(value):
    return isinstance(value, float) and value != value


def f32(value):
    """Rounded to f32, half to even, overflow to infinity."""
    if value != value or math.isinf(value):
        return value
    try:
        return struct.unpack("f", struct.pack("f", value))[0]
    except OverflowError:
        return math.copysign(math.inf, value)


def to_float(exact):
    """A Fraction or an int, rounded once."""
    try:
        return float(exact)
    except OverflowError:
        return math.inf if exact > 0 else -math.inf


def held(kind, value, code=OVERFLOW):
    low, high = INTS[kind]
    if not low <= value <= high:
        raise Fault(code)
    return value


def key(value):
    """Orders and equates as keys do: ascending, NaN behind all numbers, null last, -0.0 equal to 0.0."""
    if value is None:
        return (2, 0)
    if is_nan(value):
        return (1, 0)
    return (0, value)


def descending(values):
    """Keys for the other direction: NaN and null stay behind."""
    ranks = {k: -r for r, k in enumerate(sorted({key(v) for v in values if key(v)[0] == 0}))}
    return [(0, ranks[key(v)]) if key(v)[0] == 0 else key(v) for v in values]


def exact(value):
    return fractions.Fraction(value)


def exact_sum(values):
    """Of floats: (sum as a Fraction, None), or (None, what is not finite: inf, -inf or nan)."""
    odd = [v for v in values if not math.isfinite(v)]
    if odd:
        if any(v != v for v in odd) or (math.inf in odd and -math.inf in odd):
            return None, math.nan
        return None, odd[0]
    return sum(map(exact, values), exact(0)), None


def sum_of(values, kind):
    if kind in FLOATS:
        total, odd = exact_sum(values)
        result = odd if total is None else to_float(total)
        return f32(result) if kind == "f32" else result
    return held("i64" if kind in ("u8", "u16", "u32") else kind, sum(values))


def mean_of(values):
    """Rounded once; of integers and bools too."""
    if not values:
        return None
    if isinstance(values[0], float):
        total, odd = exact_sum(values)
        if total is None:
            return odd
    else:
        total = exact(sum(values))
    return to_float(total / len(values))


def variance_of(values, ddof=1):
    if len(values) <= ddof:
        return None
    if any(isinstance(v, float) and not math.isfinite(v) for v in values):
        return math.nan
    exacts = list(map(exact, values))
    center = sum(exacts) / len(exacts)
    return sum((v - center) ** 2 for v in exacts) / (len(exacts) - ddof)


def std_of(values, ddof=1):
    spread = variance_of(values, ddof)
    return spread if spread is None or is_nan(spread) else sqrt_of(spread)


def sqrt_of(spread):
    """The root of a Fraction, rounded once."""
    if spread == 0:
        return 0.0
    shift = 2 * (200 + max(0, spread.denominator.bit_length() - spread.numerator.bit_length()))
    return to_float(exact(math.isqrt((spread.numerator << shift) // spread.denominator)) / (1 << shift // 2))


def quantile_of(values, q):
    if not values:
        return None
    if any(is_nan(v) for v in values):
        return math.nan
    ordered = sorted(values)
    at = q * (len(ordered) - 1)
    low = math.floor(at)
    a, b = ordered[low], ordered[min(low + 1, len(ordered) - 1)]
    if at == low or a == b:
        return float(a)
    if not (math.isfinite(a) and math.isfinite(b)):
        return a + b  # between an infinity and a number: the infinity; between both: NaN
    return float(a) + (float(b) - float(a)) * (at - low)


def smallest(values, sign=1):
    """min (sign 1) or max (-1) of values that are not null: NaN where there is one, of equals the first."""
    best = None
    for v in values:
        if is_nan(v):
            return v
        if best is None or (v < best if sign == 1 else v > best):
            best = v
    return best


# -- dates --
def day_of(days):
    try:
        return EPOCH + datetime.timedelta(days=days)
    except OverflowError:  # years that Python's calendar does not have
        raise Fault(OPEN) from None


def time_of(micros):
    try:
        return EPOCH_TIME + micros * MICRO
    except OverflowError:
        raise Fault(OPEN) from None


def days_of(date):
    return (date - EPOCH).days


def micros_of(time):
    return (time - EPOCH_TIME) // MICRO


def add_months(date, n):
    month = date.year * 12 + date.month - 1 + n
    year, month = divmod(month, 12)
    if not 1 <= year <= 9999:
        raise Fault(OPEN)
    return date.replace(year=year, month=month + 1, day=min(date.day, days_in_month(year, month + 1)))


def days_in_month(year, month):
    return [31, 29 if year % 4 == 0 and (year % 100 != 0 or year % 400 == 0) else 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1]


# -- as text --
def float_text(value, single=False):
    """The shortest digits that read back the same; whether with an exponent is left to the reader (same_text)."""
    if value != value:
        return "nan"
    if math.isinf(value):
        return "inf" if value > 0 else "-inf"
    if single:
        for digits in range(1, 10):
            text = f"{value:.{digits}g}"
            if f32(float(text)) == value:
                value = float(text)
                break
    mantissa, _, power = f"{value!r}".replace("e+", "e").partition("e")
    at = int(power or 0)
    if power:
        digits = mantissa.rstrip("0").rstrip(".") if "." in mantissa else mantissa
        return f"{digits}e{at}"
    return mantissa


def time_text(micros):
    when = time_of(micros)
    text = when.strftime("%Y-%m-%dT%H:%M:%S").rjust(19, "0")
    return text + (f".{when.microsecond:06d}" if when.microsecond else "") + "Z"


def text_of(value, kind, levels=None):
    """As `text(x)` and print write it."""
    if value is None:
        return "null"
    if kind == "bool":
        return "true" if value else "false"
    if kind in FLOATS:
        return float_text(value, kind == "f32")
    if kind == "date":
        return day_of(value).isoformat()
    if kind == "datetime":
        return time_text(value)
    if kind == "category":
        return levels[value]
    return str(value)


def quoted(text):
    for old, new in (("\\", "\\\\"), ('"', '\\"'), ("{", "\\{"), ("\n", "\\n"), ("\t", "\\t")):
        text = text.replace(old, new)
    return f'"{text}"'


def literal(value, kind, levels=None):
    """As it is written in a script, an operand that needs no parentheses."""
    if value is None:
        return "null"
    if kind in INTS:
        if value < 0:
            body = f"(-{-value})" if value > -(2**63) else "(-9223372036854775807 - 1)"
        else:
            body = str(value)
        return body if kind == "i64" and abs(value) < 2**53 else f"{kind}({body})"
    if kind in FLOATS:
        body = float_text(abs(value))
        if body[-1] not in "fn" and "." not in body and "e" in body:
            body = body.replace("e", ".0e")
        if math.copysign(1, value) < 0 and value == value:
            body = f"(-{body})"
        return body if kind == "f64" else f"f32({body})"
    if kind == "text":
        return quoted(value)
    if kind == "date":
        return f'date("{day_of(value).isoformat()}")'
    if kind == "datetime":
        return f'datetime("{time_text(value)[:-1].replace("T", " ")}")'
    if kind == "duration":
        return f"microseconds({literal(value, 'i64')})"
    if kind == "category":
        return quoted(levels[value])
    return "true" if value else "false"


def same(expected, found, type_):
    """Is the text that flow wrote for a value the one that the model expects?"""
    if expected is None or found is None:
        return expected is None and found is None
    if type_.kind in FLOATS:
        try:
            value = float(found)
        except ValueError:
            return False
        if is_nan(expected) or is_nan(value):
            return is_nan(expected) and is_nan(value)
        if type_.approx:
            return expected == value or abs(expected - value) <= 1e-11 * max(abs(expected), abs(value), 1e-290)
        if expected != value or (expected == 0 and math.copysign(1, expected) != math.copysign(1, value)):
            return type_.kind == "f32" and f32(value) == expected
        return digits_of(found) == digits_of(float_text(expected, type_.kind == "f32")) and any(c in found for c in ".enf")
    if type_.kind == "duration":
        return found == str(expected)
    if type_.kind == "text" and type_.approx:  # names of types: what may be null the model knows only roughly
        return found.rstrip("?") == expected.rstrip("?")
    try:
        return found == text_of(expected, type_.kind, type_.levels)
    except Fault:  # a date that Python cannot write
        return True


def digits_of(text):
    """The digits that count of a written float."""
    return text.lower().partition("e")[0].replace(".", "").replace("-", "").strip("0")
