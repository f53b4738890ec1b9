"""The lexer of flow for Pygments: documents, and what else colours by it. Its words come from the compiler's tables (tables.py)."""
from pygments.lexer import RegexLexer, bygroups, include, words
from pygments.token import Comment, Error, Keyword, Name, Number, Operator, Punctuation, String, Text, Whitespace

from . import tables as lists

NAME = r"[^\W\d]\w*"
DIGITS = r"\d+(?:_\d+)*"
ESCAPE = r'\\(?:[nt"\\{]|u\{[0-9a-fA-F]+\})'
FREE = r"(?<![^.]\.)\b"  # a word behind a single point is a name


def word(items, behind=r"\b"):
    return words(items, prefix=FREE, suffix=behind)


class FlowLexer(RegexLexer):
    name = "flow"
    aliases = ["flow"]
    filenames = ["*.flow"]
    mimetypes = ["text/x-flow"]

    tokens = {
        "root": [(r"[})\]:]", Punctuation), include("code")],
        "code": [
            (r"\s+", Whitespace),
            (r"##.*$", String.Doc),
            (r"#.*$", Comment.Single),
            (r'"""', String.Double, "lines"),
            (r'r"[^"\n]*"', String.Other),
            (r'"', String.Double, "text"),
            (r"`(?:[^`\n\\]|\\.)+`", Name.Variable),
            # Numbers.
            (r"0x[0-9a-fA-F]+(?:_[0-9a-fA-F]+)*\b", Number.Hex),
            (rf"{DIGITS}\.{DIGITS}(?:[eE][+-]?{DIGITS})?\b|{DIGITS}[eE][+-]?{DIGITS}\b", Number.Float),
            (r"(\d+\.\d+\.\d+)\b", Number),  # of a version
            (rf"{DIGITS}(?!\w)", Number.Integer),
            # Declarations.
            (rf"\b(fn)(\s+)({NAME})", bygroups(Keyword.Declaration, Whitespace, Name.Function)),
            (rf"\b(stage)(\s+)({NAME})(?=\s*\()", bygroups(Keyword.Declaration, Whitespace, Name.Function)),
            (rf"^(\s*)(type)(\s+)({NAME})", bygroups(Whitespace, Keyword.Declaration, Whitespace, Name.Class)),
            (rf"^(\s*)(param)(\s+)({NAME})", bygroups(Whitespace, Keyword.Declaration, Whitespace, Name.Variable)),
            (r"^(\s*)(import|requires)(?=\s+[\w\"`])", bygroups(Whitespace, Keyword.Namespace)),
            (r"^(\s*)(extern)(?=\s+fn\b)", bygroups(Whitespace, Keyword.Declaration)),
            (r"^(\s*)(test)(?=\s+r?\")", bygroups(Whitespace, Keyword.Declaration)),
            (rf"((?:^|[{{;])\s*)(assert)(?=\s*[^\s=.+|)])(?!\w)", bygroups(Text, Keyword)),
            (rf"^(\s*)(@{NAME})", bygroups(Whitespace, Name.Decorator)),
            (r"(?<=[\w\"]\s)(as|from)(?=\s+[\"\w])", Keyword.Namespace),
            (r"(?<=[\w)\]]\s)by(?=\s+[\w(-])", Keyword),
            # Names of arguments and fields, whatever word they are.
            (rf"(\()(\s*)({NAME})(?=\s*=(?![=>]))", bygroups(Punctuation, Whitespace, Name.Variable.Instance), "bracket"),
            (rf"(,)(\s*)({NAME})(?=\s*=(?![=>]))", bygroups(Punctuation, Whitespace, Name.Variable.Instance)),
            (rf"(?<=[^.]\.){NAME}", Name.Attribute),
            (r"\bvar(?=\()", Name.Builtin),
            (r"\b(outer|col)(?=\.)", Name.Builtin.Pseudo),
            (word(lists.OPERATOR), Operator.Word),
            (word(lists.CONSTANT), Keyword.Constant),
            (word(lists.DECLARE), Keyword.Declaration),
            (word(lists.CONTROL), Keyword),
            (word(lists.TYPE, r"\b(?!\()"), Keyword.Type),
            (words(lists.TYPE_IN_PLACE, prefix=r"(?<=[:>]\s)\b", suffix=r"\b(?=[?\[]*\s*(?:[,)={\[?]|->|$))"), Keyword.Type),
            (r"typeof(?=\()", Keyword),
            (word(lists.BUILTIN, r"(?=\()"), Name.Builtin),
            (words(lists.BUILTIN, prefix=r"(?<=\|>\s)", suffix=r"\b"), Name.Builtin),
            (rf"{NAME}(?=\()", Name.Function),
            (NAME, Name),
            # Signs.
            (r"(?<=[\w)\]`'])'", Operator),
            (r"\|>|=>|->|\?\?|==|!=|<=|>=|~=|\+=|\.\.|//|[-+*/%@^<>=?]", Operator),
            (r"[,;.]", Punctuation),
            (r"[{(\[]", Punctuation, "bracket"),
        ],
        "bracket": [(r"[})\]]", Punctuation, "#pop"), (r":", Punctuation), include("code")],
        "text": [(r'"', String.Double, "#pop"), (r'[^"\\{\n]+', String.Double), (r"\n", Error, "#pop"), include("inside")],
        "lines": [(r'"""', String.Double, "#pop"), (r'[^"\\{]+', String.Double), (r'"', String.Double), include("inside")],
        "inside": [(ESCAPE, String.Escape), (r"\\.", Error), (r"\{", String.Interpol, "value")],
        "value": [(r"\}", String.Interpol, "#pop"), (r':[^}"\n]*(?=\})', String.Affix), include("code")],
    }
