"""Output of the command: aligned tables as text, JSON for programs, and a progress spinner.

Text goes to stdout. Colors appear only on a terminal, and not if NO_COLOR is set or TERM is dumb.
The spinner is written to stderr, only if that is a terminal, and only after a second.
"""

from __future__ import annotations

import io
import json
import math
import os
import sys
import threading
from contextlib import contextmanager
from time import perf_counter
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

_CODES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "cyan": "36"}


def colored(stream: TextIO) -> bool:
    """Return true if the stream supports escape codes for colors."""
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def paint(text: str, *styles: str, stream: TextIO | None = None) -> str:
    """Return the text in the given styles if the stream supports colors, otherwise unchanged.

    Styles are bold, dim, red, green, yellow and cyan.
    """
    if not text or not colored(stream or sys.stdout):
        return text
    return f"\x1b[{';'.join(_CODES[s] for s in styles)}m{text}\x1b[0m"


def forgiving_streams() -> None:
    """Make stdout and stderr escape characters that their encoding lacks, instead of failing."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def printable(data: Any) -> Any:
    """Escape control characters in all strings of the data.

    A name in a file must not control the terminal.
    """
    if isinstance(data, str):
        return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in data)
    if isinstance(data, dict):
        return {printable(k): printable(v) for k, v in data.items()}
    if isinstance(data, list | tuple):
        return [printable(v) for v in data]
    return data


def print_heading(text: str) -> None:
    """Print a section title, after an empty line."""
    print(f"\n{paint(text, 'bold')}")


def print_table(
    header: Sequence[str], rows: Sequence[Sequence[str]], *, left: int = 1, indent: int = 2
) -> None:
    """Print columns padded to equal width.

    The first `left` columns are flush left, the others flush right. The last column is never padded
    on its right. A header of empty strings is not printed.
    """
    if not rows:
        return
    widths = [max(len(row[k]) for row in (header, *rows)) for k in range(len(header))]

    def line(row: Sequence[str]) -> str:
        cells = [
            c.ljust(w) if k < left else c.rjust(w)
            for k, (c, w) in enumerate(zip(row, widths, strict=True))
        ]
        return (" " * indent + "  ".join(cells)).rstrip()

    if any(header):
        print(paint(line(header), "dim"))
    for row in rows:
        print(line(row))


def print_pairs(pairs: Mapping[str, str], *, indent: int = 2) -> None:
    """Print one `name  value` line per pair, with aligned values."""
    width = max((len(k) for k in pairs), default=0)
    for name, value in pairs.items():
        print(f"{' ' * indent}{name.ljust(width)}  {value}".rstrip())


def print_json(data: Any) -> None:
    """Print the data as JSON on stdout.

    Arrays become lists. Infinite and undefined numbers, which JSON lacks, become null.
    """
    print(json.dumps(to_json(data), indent=2, allow_nan=False))


def to_json(data: Any) -> Any:
    """Convert nested containers to plain lists, dicts, strings and finite numbers."""
    if isinstance(data, dict):
        return {str(k): to_json(v) for k, v in data.items()}
    if isinstance(data, list | tuple | set | frozenset):
        return [to_json(v) for v in data]
    if hasattr(data, "tolist"):  # NumPy arrays and scalars
        return to_json(data.tolist())
    if isinstance(data, float):
        return data if math.isfinite(data) else None
    if data is None or isinstance(data, bool | int | str):
        return data
    return str(data)


def print_warnings(texts: Sequence[str], where: str, *, most: int = 3) -> None:
    """Print the first few warnings on stderr, a line each, and the command that shows all."""
    for text in texts[:most]:
        print(
            paint(f"robosim: warning: {printable(text)}", "yellow", stream=sys.stderr),
            file=sys.stderr,
        )
    if len(texts) > most:
        text = f"robosim: {len(texts) - most} more warnings: `{printable(where)}` shows them"
        print(paint(text, "yellow", stream=sys.stderr), file=sys.stderr)


def number(value: float | None, digits: int = 4) -> str:
    """Format a number with this count of significant digits.

    None, infinite and undefined numbers become `-`.
    """
    if value is None or not math.isfinite(value):
        return "-"
    if value == 0:
        return "0"
    return f"{value:.{digits}g}" if 1e-4 <= abs(value) < 1e6 else f"{value:.{max(digits - 2, 1)}e}"


def milliseconds(seconds: float) -> str:
    """Format a duration as `12.3 ms`, or `4.56 s` from one second on."""
    return f"{seconds:.2f} s" if seconds >= 1 else f"{1e3 * seconds:.2f} ms"


@contextmanager
def busy(what: str) -> Iterator[Callable[[str], None]]:
    """Show the activity and its duration on a terminal's stderr, from the first second on.

    The body of the context is given a function that reports its current stage.
    """
    stage = what

    def say(text: str) -> None:
        nonlocal stage
        stage = f"{what}: {text}"

    if not sys.stderr.isatty():
        yield say
        return
    done = threading.Event()
    begin = perf_counter()

    def show() -> None:
        width = 0
        while not done.wait(0.1 if width else 1.0):
            line = f"{stage} ... {perf_counter() - begin:.1f} s"
            width = max(width, len(line))
            print("\r" + line.ljust(width), end="", file=sys.stderr, flush=True)
        if width:
            print("\r" + " " * width + "\r", end="", file=sys.stderr, flush=True)

    thread = threading.Thread(target=show, daemon=True)
    thread.start()
    try:
        yield say
    finally:
        done.set()
        thread.join()
