"""Text that no person writes: deep nesting, long lines, random bytes, scripts cut anywhere. Never a crash, never an
internal word, always status 3 (or 0 where it happens to be a script)."""
import pathlib
import random
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from scenario_kit import ROOT, Place, check, finish

place = Place()
INTERNAL = re.compile(rb"LLVM|llvm|\.c:\d+|0x[0-9a-f]{8,}|assert(ion)? failed|Sanitizer|panic|nullptr|\(nil\)")


def compile_bytes(text, what, allowed=(3,)):
    (place.path / "h.flow").write_bytes(text)
    done = place.run_bytes("run", "h.flow")
    said = done.stdout + done.stderr
    check(done.returncode in allowed, f"{what}: status {allowed}, not {done.returncode}", said[-2000:])
    check(not INTERNAL.search(said), f"{what}: no internal word", INTERNAL.search(said))
    check(done.returncode == 0 or b"error" in said, f"{what}: a message", said)
    check(len(said) < 200_000, f"{what}: the message has an end", len(said))


DEEP = 100_000
for name, opening, closing in [("parentheses", "(", ")"), ("brackets", "[", "]"), ("calls", "f(", ")"),
                               ("minus", "(-", ")"), ("not", "not ", ""), ("lambdas", "x => ", ""),
                               ("texts", '"{', '}"'), ("blocks", "if true { ", " } else { 1 }"),
                               ("types", "", "")]:
    if name == "types":
        compile_bytes(b"let x: " + b"(a: " * DEEP + b"i64" + b")" * DEEP + b" = 1\n", "nested types")
        continue
    compile_bytes(f"let x = {opening * DEEP}1{closing * DEEP}\n".encode(), f"{DEEP} nested {name}")
    compile_bytes(f"let x = {opening * DEEP}\n".encode(), f"{DEEP} open {name}")
compile_bytes(b"let x = " + b"1 + " * DEEP + b"1\nprint(x)\n", "a long sum", (0, 3))
compile_bytes(b"let " + b"a" * 1_000_000 + b" = nowhere\n", "a name of a million letters")
compile_bytes(b"let x = 1 " + b" " * 1_000_000 + b"$\n", "a line of a million columns")
compile_bytes(b"}" * DEEP, "only closing braces")
compile_bytes(b"let x = nowhere\n" * 5000, "five thousand errors")
compile_bytes(b"\x00" * 1000, "NUL bytes")
compile_bytes(b"\xff\xfe" * 1000, "not UTF-8")
compile_bytes(b"\xef\xbb\xbflet x = nowhere\n", "a byte order mark")

chance = random.Random(3)
for example in sorted((ROOT / "examples").glob("?*.flow")):
    text = example.read_bytes()
    (place.path / "data").exists() or (place.path / "data").symlink_to(ROOT / "examples/data")
    for _ in range(4):
        cut = chance.randrange(len(text))
        compile_bytes(text[:cut], f"{example.name} cut at {cut}", (0, 3))
        damaged = bytearray(text)
        for _ in range(3):
            damaged[chance.randrange(len(text))] = chance.randrange(1, 128)
        compile_bytes(bytes(damaged), f"{example.name} with three other bytes", (0, 1, 3))
for _ in range(10):
    compile_bytes(bytes(chance.randrange(256) for _ in range(500)), "random bytes")
finish()
