"""Files that unpack to much more than they are, and single fields of any size: what is made of them counts against
--memory. It is kept on disk where there is room, and the result is right; else the status is 4, the message says what
was missing, names the file and the member that were unpacked, and what was printed before is there."""
import resource
import struct
import sys
import zipfile
import zlib
import pathlib

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from scenario_kit import PATIENCE, Place, check, finish

N = 12_000_000  # doubles: 92 MiB
sanitized = PATIENCE > 1  # needs memory of its own

place = Place(
    npz__flow='let t = read_npz("b.npz")\nprint(sum(t.big), sum(t.small))\n',
    mat__flow='let t = read_mat("b.mat")\nprint(sum(t.big))\n',
)


def npy(shape):
    head = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}"
    head += " " * ((64 - (11 + len(head)) % 64) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode()


with zipfile.ZipFile(place.path / "b.npz", "w", zipfile.ZIP_DEFLATED) as z:
    z.writestr("small.npy", npy("(2,)") + struct.pack("<2d", 1, 2))
    with z.open("big.npy", "w") as f:
        f.write(npy(f"({N},)"))
        for _ in range(N // 1_000_000 - 1):
            f.write(bytes(8_000_000))
        f.write(bytes(8_000_000 - 8) + struct.pack("<d", 0.5))


def element(kind, data):
    return struct.pack("<II", kind, len(data)) + data + bytes(-len(data) % 8)


matrix = element(14, element(6, struct.pack("<II", 6, 0)) + element(5, struct.pack("<ii", N, 1)) + element(1, b"big") +
                 element(9, bytes(8 * N - 8) + struct.pack("<d", 0.5)))
(place.path / "b.mat").write_bytes(b"MATLAB 5.0 MAT-file".ljust(124) + struct.pack("<H", 0x0100) + b"IM" +
                                   element(15, zlib.compress(matrix)))
del matrix


def small_files():
    """As a full disk: no file grows beyond 1 MiB."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))


for script, out, names in (("npz.flow", "0.5 3.0\n", ("big.npy", "b.npz")), ("mat.flow", "0.5\n", ("b.mat",))):
    size = (place.path / names[-1]).stat().st_size
    check(size < 1 << 20, f"{names[-1]} is a small file", size)
    for limit in ([], ["--memory", "50M"]):
        done = place.run("run", "-q", "--no-cache", *limit, script)
        check(done.returncode == 0 and done.stdout == out, f"{script} {limit}: the result", (done.stdout, done.stderr))
    if sanitized:
        continue
    done = place.run("run", "-q", "--no-cache", "--memory", "50M", script, preexec_fn=small_files)
    check(done.returncode == 4 and "E0712" in done.stderr, f"{script}: status 4 without room", (done.returncode, done.stderr))
    check(all(f"`{name}`" in done.stderr for name in names), f"{script}: file and member are named", done.stderr)
    check("--memory" in done.stderr, f"{script}: what to do", done.stderr)
# One field that is larger than the limit: a text whose quotes or escapes are taken off is made anew.
BIG = 60_000_000
with open(place.path / "f.csv", "w") as f:
    f.write('a,b\n1,"' + 'y""' * BIG + '"\n2,short\n')
with open(place.path / "f.jsonl", "w") as f:
    f.write('{"a": 1, "b": "' + "y\\n" * (BIG // 2) + '"}\n{"a": 2, "b": "short"}\n')
with open(place.path / "f.json", "w") as f:
    f.write('[{"a": 1, "b": "' + "y\\n" * (BIG // 2) + '"}, {"a": 2, "b": "short"}]\n')
for read, more in (("csv", BIG), ("jsonl", 0), ("json", 0)):
    place.write("field.flow", f'print("before")\nlet t = read_{read}("f.{read}")\nlet u = upper(t.b[0])\n'
                              'print(n_chars(u), t.b[1])\n')
    done = place.run("run", "-q", "--no-cache", "--memory", "50M", "field.flow")
    check(done.returncode == 0 and done.stdout == f"before\n{BIG + more} short\n", f"a field of {read}: the result",
          (done.stdout, done.stderr))
    if sanitized:
        continue
    done = place.run("run", "-q", "--no-cache", "--memory", "50M", "field.flow", preexec_fn=small_files)
    check(done.returncode == 4 and "E0712" in done.stderr and "--memory" in done.stderr, f"a field of {read}: status 4",
          (done.returncode, done.stderr))
    check(done.stdout == "before\n", f"a field of {read}: what was printed before", done.stdout)
finish()
