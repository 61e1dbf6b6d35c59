"""Check lines, comments, docstrings and pages: columns, first words, and unused words.

Usage: check_text.py     (from the root of the repository; exit status 1 on a violation)

- A line has at most 100 columns, except in tables that a command writes into a page.
- A comment or a docstring opens with its subject or with an imperative, not with one of OPENERS.
  At most MOST_OPENERS do, as in a heading that is a question.
- Words of the last table of docs/glossary.md occur in no comment, docstring or page.
"""

from __future__ import annotations

import ast
import io
import re
import subprocess
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path

COLUMNS = 100
OPENERS = re.compile(r"(What|Whether|How|Of|Where)\b")
MOST_OPENERS = 20
GENERATED = {"robosim/_engine.pyi", "docs/ros_parameters.md"}
GLOSSARY = Path("docs/glossary.md")
TABLE_BEGINS, TABLE_ENDS = "<!-- begin ", "<!-- end "

Text = tuple[int, str]  # line number, from 1, and text


def files(*patterns: str) -> list[Path]:
    """Files under version control that match, except generated ones."""
    found = subprocess.run(
        ["git", "ls-files", *patterns], capture_output=True, text=True, check=True
    )
    return [Path(name) for name in found.stdout.split("\n") if name and name not in GENERATED]


def lines_of(path: Path) -> Iterator[Text]:
    """Lines of a file, except those of tables that a command writes."""
    generated = False
    for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1):
        generated = (generated or line.startswith(TABLE_BEGINS)) and not line.startswith(TABLE_ENDS)
        if not generated:
            yield number, line


def comments_of_cpp(path: Path) -> Iterator[Text]:
    """Comments of whole lines; each block of consecutive lines is one comment."""
    begun, words = 0, []
    for number, line in lines_of(path):
        if line.lstrip().startswith("//"):
            begun = begun or number
            words.append(line.strip()[2:].strip())
            continue
        if begun:
            yield begun, "\n".join(words)
        begun, words = 0, []


def comments_of_python(path: Path) -> Iterator[Text]:
    """Docstrings, and blocks of comments of whole lines."""
    source = path.read_text(encoding="utf-8")
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            text = ast.get_docstring(node)
            if text:
                yield node.body[0].lineno, text
    last, begun, words = 0, 0, []
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type != tokenize.COMMENT or token.line[: token.start[1]].strip():
            continue
        if token.start[0] != last + 1 and begun:
            yield begun, "\n".join(words)
            begun, words = 0, []
        begun, last = begun or token.start[0], token.start[0]
        words.append(token.string.lstrip("#: ").strip())
    if begun:
        yield begun, "\n".join(words)


def unused_words() -> list[str]:
    """Words and phrases in backticks in the first column of the glossary's last table."""
    table = GLOSSARY.read_text(encoding="utf-8").split("## Words that are not used here")[-1]
    rows = re.findall(r"^\| (`.*?) \|", table, re.MULTILINE)
    words = [word for row in rows for word in re.findall(r"`(.+?)`", row)]
    assert words, f"the last table of {GLOSSARY} has no words"
    return words


def main() -> int:
    """Print every violation by file and line; return 1 if there is one."""
    wrong, openers = [], []
    pages = files("*.md")
    code = {
        **dict.fromkeys(files("*.h", "*.cpp"), comments_of_cpp),
        **dict.fromkeys(files("*.py"), comments_of_python),
    }
    for path in [*code, *pages]:
        for number, line in lines_of(path):
            if len(line) > COLUMNS:
                wrong.append(
                    f"{path}:{number}: a line must have at most {COLUMNS} columns, got {len(line)}"
                )
    unused = re.compile(r"\b(" + "|".join(map(re.escape, unused_words())) + r")\b", re.IGNORECASE)
    texts = [(path, number, text) for path, read in code.items() for number, text in read(path)]
    texts += [(path, n, line) for path in pages if path != GLOSSARY for n, line in lines_of(path)]
    for path, number, text in texts:
        if path in code and OPENERS.match(text):
            openers.append(f"{path}:{number}: opens with {text.split()[0]!r}")
        for word in unused.findall(text):
            wrong.append(f"{path}:{number}: {word!r} is not used; see {GLOSSARY}")
    if len(openers) > MOST_OPENERS:
        wrong += openers
    print(*wrong, sep="\n", end="\n" if wrong else "")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
