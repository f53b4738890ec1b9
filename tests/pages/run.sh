#!/usr/bin/env bash
# run.sh: the pages that flow makes, in Chromium with axe-core (check.js): reports of runs, one of 10,000 stages, documentation, the site. For
# development: it needs Debian's chromium and cmark-gfm, and npm for axe-core; without them it says so and does nothing.
# SHOTS=FOLDER: pictures of them.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
for tool in chromium npm node cmark-gfm; do
  command -v "$tool" >/dev/null || {
    echo "note: pages are not looked at: $tool is not installed"
    exit 77
  }
done
place=$root/build/pages
mkdir -p "$place"
cp "$root/tests/pages/check.js" "$place"
if [ -n "${SHOTS:-}" ]; then
  mkdir -p "$SHOTS"
  SHOTS=$(realpath "$SHOTS")
  export SHOTS
fi
cd "$place"
[ -d node_modules/axe-core ] || npm install --silent --no-save axe-core@4 puppeteer-core@24 >npm.log 2>&1 || {
  echo "note: pages are not looked at: npm cannot install axe-core (build/pages/npm.log)"
  exit 77
}
export FLOW_CACHE=$place/store
rm -rf "$FLOW_CACHE"
ln -sfn "$root/examples/data" data
cat >stages.flow <<'FLOW'
stage work(i: i64, scale: f64) -> f64 = sqrt(f64(i) * scale)
let found = [for i in 0..10000: work(i, 1.5)]
let t = table(i = [for i in 0..100: i], x = found[0..100], `a <b>` = [for i in 0..100: "text {i}"])
for k in 1..3 { show(t |> where(i % k == 0) |> derive(y = x * k) |> sort(-y)) }
for i in 0..30 { note(loss = 1.0 / (1.0 + f64(i))) }
print(sum(found) > 0.0)
FLOW
for script in stages "$root/examples/03_penguins" "$root/examples/08_plots" "$root/examples/13_subjects"; do
  name=$(basename "$script")
  [ "$script" = stages ] || cp "$script.flow" .
  "$root/build/flowc" run "$name.flow" --report "$name.html" >/dev/null 2>&1
  "$root/build/flowc" run "$name.flow" --report "$name.html" >/dev/null 2>&1
done
/usr/bin/python3 -B "$root/docs/site/make.py" "$root/build/flowc" site
node check.js stages.html 03_penguins.html 08_plots.html 13_subjects.html site/index.html site/search.html site/docs/tutorial.html \
  site/docs/commands.html site/docs/cookbook.html site/docs/errors/index.html site/docs/errors/E0601.html site/library/index.html \
  site/library/linear.html site/library/builtins.html
