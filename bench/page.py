"""page.py: sections of docs/benchmarks.md that commands make. What always holds: a section stands between two marks of the command's
name, and nothing else of the page changes."""
import pathlib

PAGE = pathlib.Path(__file__).resolve().parent.parent / "docs/benchmarks.md"


def write(command, lines):
    """Puts the lines between the command's marks, or at the end of the page."""
    begin, end = f"<!-- {command} begins -->", f"<!-- {command} ends -->"
    text, section = PAGE.read_text(), "\n".join([begin, *lines, end])
    if begin in text:
        text = text[:text.index(begin)] + section + text[text.index(end) + len(end):]
    else:
        text = text.rstrip("\n") + "\n\n" + section + "\n"
    PAGE.write_text(text)
