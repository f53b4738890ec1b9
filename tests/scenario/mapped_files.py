"""How often a run asks the system for the files that it has mapped: not for each line that it prints. Calls of stat are counted by a library that is
loaded before all others (where there is a C compiler to make it)."""
# seconds: 3
import os
import pathlib
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from scenario_kit import FLOWC, Place, check, finish

COUNTER = """#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
static _Atomic long n;
#define NEXT(name, type) (n++, (type)dlsym(RTLD_NEXT, name))
int fstat(int fd, struct stat *s) { return NEXT("fstat", int (*)(int, struct stat *))(fd, s); }
int stat(const char *p, struct stat *s) { return NEXT("stat", int (*)(const char *, struct stat *))(p, s); }
int lstat(const char *p, struct stat *s) { return NEXT("lstat", int (*)(const char *, struct stat *))(p, s); }
int fstatat(int d, const char *p, struct stat *s, int f) {
  return NEXT("fstatat", int (*)(int, const char *, struct stat *, int))(d, p, s, f);
}
int statx(int d, const char *p, int f, unsigned m, struct statx *s) {
  return NEXT("statx", int (*)(int, const char *, int, unsigned, struct statx *))(d, p, f, m, s);
}
static void __attribute__((destructor)) say(void) {
  FILE *f = fopen(getenv("COUNTED"), "w");
  if (f) fprintf(f, "%ld", n), fclose(f);
}
"""
PRINTS = 20000

compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
if not compiler or "FLOW_SANITIZE" in os.environ:
    print("skipped: no C compiler, or sanitizers, which want to be loaded first")
    finish()
place = Place(
    w__flow='write_npy([for i in 0..10000: f64(i)], "f.npy")\nwrite_csv(table(a = [for i in 0..10000: i]), "f.csv")\n',
    p__flow='let a: f64[_] = read_npy("f.npy")\nlet t: (a: i64)[_] = read_csv("f.csv")\n'
    f"for i in 0..{PRINTS} {{ print(a[i % 10000], t.a[i % 10000]) }}\n",
)
place.write("count.c", COUNTER)
made = subprocess.run([compiler, "-shared", "-fPIC", "-o", "count.so", "count.c", "-ldl"], cwd=place.path, capture_output=True, text=True)
check(made.returncode == 0, "the counter compiles", made.stderr)
check(place.run("run", "--quiet", "--interp", "w.flow").returncode == 0, "files are written")
for options in ([], ["-O0"], ["--interp"]):
    env = dict(place.env, LD_PRELOAD=str(place.path / "count.so"), COUNTED=str(place.path / "counted"))
    done = subprocess.run([FLOWC, "run", "--quiet", *options, "p.flow"], cwd=place.path, env=env, capture_output=True, text=True, timeout=300)
    lines = [f"{i % 10000}.0 {i % 10000}" for i in range(PRINTS)]
    check(done.stdout.splitlines() == lines, f"{options}: what is printed", done.stderr[-300:] or done.stdout[:200])
    counted = int((place.path / "counted").read_text())
    check(2 <= counted < PRINTS // 4, f"{options}: files are asked for seldom", f"{counted} calls of stat, {PRINTS} prints")
finish()
