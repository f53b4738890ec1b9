#!/usr/bin/env python3
"""Writes cases.inc for tests/unit/json_scan.c: texts and whether they are one JSON object, and numbers and which integer
they are, as Python's json and decimal modules say.

Run it here: python3 make_cases.py. Python is more lenient than RFC 8259 in three things, which are refused here as in
flow: NaN and Infinity, halves of surrogate pairs, and bytes that are not UTF-8.
"""
import decimal
import json
import pathlib
import random

GOOD = [b'{}', b'{"":1}', b'{"a":1}', b' \t\r\n{ "a" : 1 , "b" : [ ] } \n', b'{"a":{"b":[1,{"c":null}]}}', b'{"a":[[],{},[{}]]}',
        b'{"a":-0}', b'{"a":0.0}', b'{"a":1e5}', b'{"a":1E+05}', b'{"a":-1.5e-3}', b'{"a":123456789012345678901234567890}',
        b'{"a":1e400}', b'{"a":"\\u0000"}', b'{"a":"\\ud83d\\ude00"}', b'{"a":"\\"\\\\\\/\\b\\f\\n\\r\\t"}', b'{"\\u0061":1}',
        '{"ä":"😀"}'.encode(), b'{"a":true,"b":false,"c":null}', b'{"a":1,"a":2}', b'{"a":"\x7f"}',
        b'{"a":' + b'[' * 200 + b']' * 200 + b'}']
BAD = [b'', b'[]', b'1', b'{', b'}', b'{"a"}', b'{"a":}', b'{"a":1,}', b'{,"a":1}', b'{"a":1 "b":2}', b'{"a" 1}', b"{'a':1}", b'{a:1}',
       b'{"a":01}', b'{"a":-01}', b'{"a":+1}', b'{"a":.5}', b'{"a":1.}', b'{"a":1e}', b'{"a":1e+}', b'{"a":-}', b'{"a":0x1}',
       b'{"a":1_0}', b'{"a":NaN}', b'{"a":-Infinity}', b'{"a":Infinity}', b'{"a":nan}', b'{"a":True}', b'{"a":tru}', b'{"a":nul}',
       b'{"a":nullx}', b'{"a":"\n"}', b'{"a":"\t"}', b'{"a":"\x00"}', b'{"a":"\\x41"}', b'{"a":"\\u12"}', b'{"a":"\\u12g4"}',
       b'{"a":"\\ud800"}', b'{"a":"\\udc00"}', b'{"a":"\\ud800\\u0041"}', b'{"a":"\\ud800x"}', b'{"a":"\xff"}', b'{"a":"\xc0\x80"}',
       b'{"a":"\xed\xa0\x80"}', b'{"a":"\xf5\x80\x80\x80"}', b'{"a":"b}', b'{"a":1}x', b'{"a":1}{"b":2}', b'{"a":123\x00}',
       b'{"a":1}\x00', b'\xef\xbb\xbf{"a":1}', b'{"a":[1,]}', b'{"a":[,1]}', b'{"a":[1 2]}', b'{"a":[1}', b'{"a":{"b":1]}', b'{"a":{1:2}}',
       b'{"a":{"b"}}', b'{"a":[1,2}', b'{"a":1/*x*/}', b'{"a":\x0b1}', b'{"a":\xc2\xa01}', b'{"a":"\\', b'{"a":"\\u', b'{"a":-Inf}']
NUMBERS = ["0", "-0", "1", "-1", "9007199254740993", "9223372036854775807", "9223372036854775808", "-9223372036854775808",
           "18446744073709551615", "18446744073709551616", "-18446744073709551616", "1.0", "1.5", "1e3", "1E+3", "1e-3", "1000e-3", "1.50e1",
           "1.55e1", "0.0", "0e99999999999999999999", "0.000e-400", "1e19", "1e20", "18446744073709551615.0", "1844674407370955161.5e1",
           "1844674407370955161.50e1", "9007199254740993.0", "8999999999999998.99999999999", "100000000000000000000e-1", "0.00001e5",
           "123456789012345678901234567890e-20", "10000000000000000000000e-22", "1e-99999999999999999999", "1e99999999999999999999"]


def strict(data):
    """Whether Python reads it as an object, without what RFC 8259 does not have."""
    def no(name):
        raise ValueError(name)
    try:
        value = json.loads(data.decode("utf-8"), parse_constant=no)
        json.dumps(value, ensure_ascii=False).encode("utf-8")  # halves of pairs cannot be
    except (ValueError, RecursionError):
        return False
    return isinstance(value, dict)


def c_text(data):
    return '"' + "".join(chr(b) if 32 <= b < 127 and b not in b'"\\?' else f"\\{b:03o}" for b in data) + f'", {len(data)}'


def whole(text):
    x = decimal.Decimal(text) if abs(int(text.lower().partition("e")[2] or 0)) < 10**6 else None
    if x is None:
        return (text.startswith("0"), 0)
    fits = x == x.to_integral_value() and abs(x) < 2**64
    return (fits, abs(int(x)) if fits else 0)


random.seed(14)
decimal.getcontext().prec = 200
texts = GOOD + BAD
for text in GOOD * 6:
    if not text or len(text) > 200:
        continue
    at, c = random.randrange(len(text)), random.choice(b'{}[],:"0123456789.eE+-tfnu\\ \x00\x1f\x80\xc3')
    texts.append(random.choice([text[:at] + text[at + 1:], text[:at] + bytes([c]) + text[at + 1:], text[:at] + bytes([c]) + text[at:]]))
lines = ["/* Written by make_cases.py. */", "static const Text texts[] = {"]
lines += [f"  {{{c_text(t)}, {str(strict(t)).lower()}}}," for t in dict.fromkeys(texts)]
lines += ["};", "static const Number numbers[] = {"]
lines += [f'  {{"{n}", {str(whole(n)[0]).lower()}, {str(n.startswith("-")).lower()}, UINT64_C({whole(n)[1]})}},' for n in NUMBERS]
lines += ["};"]
assert all(strict(t) for t in GOOD) and not any(strict(t) for t in BAD)
(pathlib.Path(__file__).parent / "cases.inc").write_text("\n".join(lines) + "\n")
