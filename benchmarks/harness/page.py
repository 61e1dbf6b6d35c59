"""Tables that a command writes into a page of the documentation, between markers."""

from __future__ import annotations

from pathlib import Path


def write(path: Path, text: str, name: str) -> None:
    """Replace the text between the markers of a page, or write it to a new file.

    The markers are the lines ``<!-- begin NAME ...`` and ``<!-- end NAME -->``.

    Args:
        path: of the page.
        text: Markdown.
        name: in the markers, such as ``"dynamics tables"``.

    Raises:
        ValueError: an existing file has no such markers.
    """
    if not path.exists():
        path.write_text(text, encoding="utf-8")
        return
    opening, closing = f"<!-- begin {name}", f"<!-- end {name} -->"
    page = path.read_text(encoding="utf-8")
    before, begin, rest = page.partition(opening)
    command, end, after = rest.partition(closing)
    if not (begin and end):
        raise ValueError(f"{path} has no line that begins with {opening!r} before one {closing!r}")
    marker = begin + command.splitlines()[0]
    path.write_text(f"{before}{marker}\n\n{text}\n{end}{after}", encoding="utf-8")
