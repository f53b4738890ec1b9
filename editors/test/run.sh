#!/usr/bin/env bash
# Tests of the editors' files: word lists up to date, Vim headless, VS Code's TextMate engine.
# usage: run.sh words|vim|vscode. Exit status 77: skipped, the program it needs is not there.
set -u
cd "$(dirname "$0")/.."
case "${1:-}" in
words) exec python3 generate.py --check ;;
vim)
  command -v vim >/dev/null || { echo "skipped: vim is not installed"; exit 77; }
  exec vim -es -u NONE -i NONE -n -S test/vim.vim
  ;;
vscode)
  command -v npm >/dev/null || { echo "skipped: npm is not installed"; exit 77; }
  if [ ! -x vscode/node_modules/.bin/vscode-tmgrammar-test ]; then
    (cd vscode && timeout 180 npm install --no-package-lock --no-audit --no-fund >/dev/null 2>&1) ||
      { echo "skipped: vscode-tmgrammar-test cannot be installed (no network?)"; exit 77; }
  fi
  cd vscode && exec node_modules/.bin/vscode-tmgrammar-test 'test/*.flow'
  ;;
*) echo "usage: run.sh words|vim|vscode" >&2; exit 2 ;;
esac
