#!/usr/bin/env bash
# Tests of the editors' files: word lists up to date, Vim, Neovim and Emacs headless, VS Code's TextMate engine.
# FLOWC: flowc, for those that start the language server.
# usage: run.sh words|vim|neovim|neovim-colours|emacs|vscode|extension|pygments. Exit status 77: skipped, the program it needs is not there.
set -u
cd "$(dirname "$0")/.."
case "${1:-}" in
words) exec python3 generate.py --check ;;
vim)
  command -v vim >/dev/null || { echo "skipped: vim is not installed"; exit 77; }
  exec vim -es -u NONE -i NONE -n -S test/vim.vim
  ;;
neovim)
  command -v nvim >/dev/null && [ -n "${FLOWC:-}" ] || { echo "skipped: nvim is not installed, or FLOWC not set"; exit 77; }
  nvim --clean --headless -c 'execute "cquit" has("nvim-0.10") ? 0 : 1' 2>/dev/null || { echo "skipped: Neovim is older than 0.10"; exit 77; }
  exec timeout 120 nvim --clean --headless -l test/neovim.lua
  ;;
neovim-colours) # those of Vim's files in Neovim, and of the grammar; PARSER: the grammar as a shared library
  command -v nvim >/dev/null && [ -n "${PARSER:-}" ] || { echo "skipped: nvim is not installed, or PARSER not set"; exit 77; }
  nvim --clean --headless -c 'execute "cquit" has("nvim-0.10") ? 0 : 1' 2>/dev/null || { echo "skipped: Neovim is older than 0.10"; exit 77; }
  timeout 120 nvim -es -u NONE -i NONE -n -S test/vim.vim && exec timeout 120 nvim --clean --headless -l test/tree_sitter.lua
  exit 1
  ;;
emacs)
  command -v emacs >/dev/null || { echo "skipped: emacs is not installed"; exit 77; }
  exec timeout 120 emacs -Q --batch -L emacs -l test/emacs.el
  ;;
vscode)
  command -v npm >/dev/null || { echo "skipped: npm is not installed"; exit 77; }
  if [ ! -x vscode/node_modules/.bin/vscode-tmgrammar-test ]; then
    (cd vscode && timeout 180 npm install --no-package-lock --no-audit --no-fund >/dev/null 2>&1) ||
      { echo "skipped: vscode-tmgrammar-test cannot be installed (no network?)"; exit 77; }
  fi
  cd vscode && exec node_modules/.bin/vscode-tmgrammar-test 'test/*.flow'
  ;;
extension)
  command -v node >/dev/null || { echo "skipped: node is not installed"; exit 77; }
  exec node test/extension.js
  ;;
pygments) exec python3 test/pygments_test.py ;;
*) echo "usage: run.sh words|vim|neovim|neovim-colours|emacs|vscode|extension|pygments" >&2; exit 2 ;;
esac
