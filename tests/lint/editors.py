#!/usr/bin/env python3
"""The files of the editors: word lists up to date; Vim, Emacs, Pygments and VS Code's engine on samples; Neovim, Emacs and VS Code's extension
with the language server. Ends with "N passed, N failed"."""
import os
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from scenario_kit import FLOWC, ROOT, check, finish

RUN = ROOT / "editors/test/run.sh"
SKIPPED = 77


def main():
    for part in ("words", "vim", "neovim", "neovim-colours", "emacs", "vscode", "extension", "pygments"):
        done = subprocess.run([str(RUN), part], capture_output=True, text=True, env=dict(os.environ, FLOWC=FLOWC))
        if done.returncode == SKIPPED:
            print(f"{part}: {done.stdout.strip()}")
        else:
            check(done.returncode == 0, part, done.stdout + done.stderr)
    finish()


main()
