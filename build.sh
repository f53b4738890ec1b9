#!/usr/bin/env bash
# build.sh: the front door. Installs what is missing on Debian 12 or 13, builds with CMake and Ninja, runs, tests.
set -euo pipefail

usage() {
  cat <<'USAGE'
usage: ./build.sh [COMMAND]

  deps [--mpi]    install the missing Debian packages (as root, or by sudo); with --mpi Open MPI, for --ranks
  build           build build/flowc (the default)
  run FILE ...    build, then run a script in the script's folder; what follows FILE goes to the script
  test [NAME ...] build and run all tests, or those whose path contains a NAME; --bless rewrites expected outputs
  bench [...]     build and run the benchmarks of bench/
  fuzz [NAME]     build the fuzz targets and run each for FUZZ_SECONDS (default 600)
  docs            build, then make a static site of all pages in build/site; installs cmark-gfm
  places [NAME ...] a release's check, as root: builds and tests a clone of the last commit in fresh Debians 12 and 13 with gcc and
                  clang, below a path with spaces, as another user, without HOME, read-only, in a cgroup; editors with the language
                  server: `places editors` (tests/places.py)
  format          lay out all C by .clang-format; installs clang-format-19
  asan, tsan      build with sanitizers in build-asan or build-tsan and run all tests there
  install         install under PREFIX (default /usr/local)
  clean           remove build folders

environment: FLOW_BUILD_TYPE=RelWithDebInfo|Release|Debug  JOBS=N  PREFIX=DIR  FUZZ_SECONDS=N
USAGE
}

# package | what it is for. README.md has the same list.
packages() {
  cat <<'LIST'
gcc            | compiles flow; its driver links built scripts
libc6-dev      | C library to build against
cmake          | describes the build
ninja-build    | runs the build
re2c           | generates the lexer
lemon          | generates the parser
clang-19       | compiles the scalar functions to the bitcode that kernels inline
llvm-19-dev    | code generation through the LLVM-C API
liblld-19-dev  | lld's archives, of which the linker of built scripts is made
lld-19         | links flow itself quickly, and built scripts where those archives are not
libopenblas-serial-dev | matrix products and solvers
libhwy-dev     | sorts values by vectors
libffi-dev     | calls of C functions by the interpreter
libxxhash-dev  | digests of contents and keys
libjansson-dev | JSON of --json and of the language server
zlib1g-dev     | reads and writes .gz and NPZ
libdeflate-dev | reads .gz faster than zlib does
liblz4-dev     | reads Arrow files that are compressed with it
libzstd-dev    | reads and writes .zst
libpcre2-dev   | regular expressions
libsqlite3-dev | header of SQLite, which is opened when a script reads or writes a database
libpng-dev     | header of libpng, likewise for PNG images
libjpeg62-turbo-dev | header of libjpeg-turbo, likewise for JPEG images
libsndfile1-dev | header of libsndfile, likewise for sounds
libhdf5-dev    | header of HDF5, likewise for HDF5 files and MATLAB 7.3
libedit-dev    | header of libedit, which is opened when somebody types to flowc repl
libclang-rt-19-dev | sanitizers and the fuzzer for clang
libtree-sitter-dev | runs the grammar for editors in the tests
python3        | runs the tests
LIST
}

root=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
jobs=${JOBS:-$(nproc)}
python=/usr/bin/python3 # of the package, which is compiled for speed; one that stands before it in PATH often is not
[ -x "$python" ] || python=python3
type=${FLOW_BUILD_TYPE:-RelWithDebInfo}

say() { printf '%s\n' "$*" >&2; }
die() {
  say "build.sh: $*"
  exit 1
}

missing_packages() {
  local name
  packages | while IFS='|' read -r name _; do
    name=${name// /}
    dpkg-query -W -f '${Status}' "$name" 2>/dev/null | grep -q '^install ok installed$' || printf '%s\n' "$name"
  done
}

deps() {
  command -v dpkg-query >/dev/null || {
    say "build.sh: no dpkg here, so nothing is installed. Needed: $(packages | cut -d'|' -f1 | tr -s ' \n' ' ')"
    return
  }
  local missing
  mapfile -t missing < <(missing_packages)
  [ ${#missing[@]} -eq 0 ] || install_packages "${missing[@]}"
}

install_packages() {
  local as_root=()
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || die "missing packages: $*; install them as root, or install sudo"
    as_root=(sudo)
  fi
  say "installing: $*"
  local apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=300)
  "${apt[@]}" update || say "build.sh: apt-get update failed; trying with the package lists that are here"
  "${apt[@]}" install -y --no-install-recommends "$@" >/dev/null || die "installing failed: $*"
}

# build_in FOLDER [CMake options]
build_in() {
  local dir=$root/$1
  shift
  mkdir -p "$dir"
  cmake -S "$root" -B "$dir" -G Ninja "$@" >"$dir/configure.log" 2>&1 || {
    cat "$dir/configure.log" >&2
    die "configuring failed"
  }
  ninja -C "$dir" -j "$jobs" --quiet >&2 || die "building failed"
}

build() {
  deps
  build_in build -DCMAKE_BUILD_TYPE="$type"
}

run() {
  [ $# -gt 0 ] || die "run needs a script: ./build.sh run examples/01_hello.flow"
  local file=$1
  shift
  [ -f "$file" ] || die "no such script: $file"
  build
  cd "$(dirname "$file")"
  exec "$root/build/flowc" run "$(basename "$file")" "$@"
}

fuzz() {
  deps
  CC=clang-19 build_in build-fuzz -DCMAKE_BUILD_TYPE="$type" -DFLOW_FUZZ=ON -DFLOW_SANITIZE=address,undefined
  local target name corpus ran=0
  for target in "$root"/build-fuzz/tests/fuzz/fuzz_*; do
    [ -f "$target" ] && [ -x "$target" ] || continue
    name=${target##*/fuzz_}
    [ $# -eq 0 ] || [ "$1" = "$name" ] || continue
    corpus=$root/build-fuzz/corpus/$name
    mkdir -p "$corpus"
    say "fuzzing $name for ${FUZZ_SECONDS:-600} s"
    "$target" -max_total_time="${FUZZ_SECONDS:-600}" -timeout=20 -rss_limit_mb=4096 -print_final_stats=1 \
      -artifact_prefix="$root/build-fuzz/$name-" "$corpus" \
      $([ -d "$root/tests/fuzz/seeds/$name" ] && printf '%s' "$root/tests/fuzz/seeds/$name") \
      >"$root/build-fuzz/$name.log" 2>&1 || {
      tail -40 "$root/build-fuzz/$name.log" >&2
      die "the fuzzer found a failure in $name"
    }
    ran=$((ran + 1))
  done
  [ $ran -gt 0 ] || die "no fuzz target${1:+ named $1}"
  say "$ran fuzz targets ran clean"
}

format() {
  command -v clang-format-19 >/dev/null || install_packages clang-format-19
  cd "$root"
  git ls-files '*.c' '*.h' '*.cc' ':!editors/tree-sitter/src' | xargs clang-format-19 -i
}

docs() {
  command -v cmark-gfm >/dev/null || install_packages cmark-gfm
  build
  "$python" "$root/docs/site/make.py" "$root/build/flowc" "$root/build/site"
}

places() {
  command -v debootstrap >/dev/null || install_packages debootstrap
  exec "$python" "$root/tests/places.py" "$@"
}

sanitized() { # asan|tsan sanitizers [test names]
  local kind=$1 sanitizers=$2
  shift 2
  deps
  build_in "build-$kind" -DCMAKE_BUILD_TYPE="$type" -DFLOW_SANITIZE="$sanitizers"
  exec "$python" "$root/tests/run.py" --build "build-$kind" ${JOBS:+--jobs "$JOBS"} "$@"
}

command=${1:-build}
[ $# -eq 0 ] || shift
case $command in
  deps)
    deps
    [ "${1:-}" != --mpi ] || command -v mpirun >/dev/null || install_packages openmpi-bin
    ;;
  build) build ;;
  run) run "$@" ;;
  test)
    build
    exec "$python" "$root/tests/run.py" ${JOBS:+--jobs "$JOBS"} "$@"
    ;;
  bench)
    build
    exec "$root/bench/run" "$@"
    ;;
  fuzz) fuzz "$@" ;;
  docs) docs ;;
  format) format ;;
  places) places "$@" ;;
  asan) sanitized asan address,undefined "$@" ;;
  tsan) sanitized tsan thread "$@" ;;
  install)
    build
    cmake --install "$root/build" --prefix "${PREFIX:-/usr/local}"
    ;;
  clean) rm -rf "$root"/build "$root"/build-* ;;
  -h | --help | help) usage ;;
  *)
    usage >&2
    exit 2
    ;;
esac
