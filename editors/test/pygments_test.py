#!/usr/bin/env python3
"""The lexer for Pygments: no error in any script of the repository, and colours at places of sample.flow. Ends with N passed, N failed."""
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(HERE.parent / "pygments"))
try:
    from pygments.token import Error, Token, string_to_tokentype
except ImportError:
    print("skipped: pygments is not installed")
    sys.exit(77)
from flow_pygments import FlowLexer  # noqa: E402

PLACES = [("## Least", "##", "Literal.String.Doc"), ("fn ridge", "fn", "Keyword.Declaration"), ("fn ridge", "ridge", "Name.Function"),
          ("fn ridge", "f64", "Keyword.Type"), ("solve(x'", "solve", "Name.Builtin"), ("solve(x'", "# a comment", "Comment.Single"),
          ("stage features", "stage", "Keyword.Declaration"), ("var total", "var", "Keyword.Declaration"), ("for i in", "for", "Keyword"),
          ("for i in", "in", "Operator.Word"), ("f(i, if", "if", "Name.Variable.Instance"), ("param n", "n", "Name.Variable"),
          ("where(distance", "where", "Name.Builtin"), ("== null", "null", "Keyword.Constant")]


def main():
    failures, passed, lexer = [], 0, FlowLexer(stripnl=False, ensurenl=False)
    for path in sorted(p for folder in ("stdlib", "examples", "tests/run") for p in (ROOT / folder).rglob("?*.flow")):
        text, at = path.read_text(), 0
        for kind, value in lexer.get_tokens(text):
            if kind in Error:
                failures.append(f"{path.relative_to(ROOT)}:{text.count(chr(10), 0, at) + 1}: {value!r} is no token")
                break
            at += len(value)
        passed += 1
    sample, line, column, found = (HERE / "sample.flow").read_text(), 0, 0, []
    lines = sample.splitlines()
    for kind, value in lexer.get_tokens(sample):
        found.append((line, value, kind))
        line += value.count("\n")
    for text, word, name in PLACES:
        row = next(i for i, l in enumerate(lines) if text in l)
        kinds = [str(k)[6:] for at, value, k in found if at == row and (value == word or (word.startswith("#") and value.startswith(word)))]
        if name in kinds:
            passed += 1
        else:
            failures.append(f"{word} in {text!r} is {kinds}, not {name}")
    for failure in failures:
        print("FAILED:", failure)
    print(f"{passed} passed, {len(failures)} failed")
    return bool(failures)


sys.exit(main())
