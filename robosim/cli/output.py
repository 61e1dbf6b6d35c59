"""What the command prints: aligned tables for people and pipes, JSON for machines, a spinner for
those who wait.

Text goes to stdout. Colors appear only on a terminal, and not when NO_COLOR is set or TERM is dumb.
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
    """Whether escape codes are welcome on this stream."""
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def paint(text: str, *styles: str, stream: TextIO | None = None) -> str:
    """The text in the given styles (bold, dim, red, green, yellow, cyan) where the stream takes
    colors, otherwise unchanged.
    """
    if not text or not colored(stream or sys.stdout):
        return text
    return f"\x1b[{';'.join(_CODES[s] for s in styles)}m{text}\x1b[0m"


def forgiving_streams() -> None:
    """Have stdout and stderr escape what their encoding lacks, rather than fail on it."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def printable(data: Any) -> Any:
    """The same data with control characters in its strings escaped: a name in a file must not steer
    the terminal.
    """
    if isinstance(data, str):
        return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in data)
    if isinstance(data, dict):
        return {printable(k): printable(v) for k, v in data.items()}
    if isinstance(data, list | tuple):
        return [printable(v) for v in data]
    return data


def print_heading(text: str) -> None:
    """A section's title, after an empty line."""
    print(f"\n{paint(text, 'bold')}")


def print_table(
    header: Sequence[str], rows: Sequence[Sequence[str]], *, left: int = 1, indent: int = 2
) -> None:
    """Columns padded to equal width: the first `left` flush left, the others flush right, the last
    one never padded on its right.

    A header of empty strings is not printed.
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
    """One `name  value` line each, the values aligned."""
    width = max((len(k) for k in pairs), default=0)
    for name, value in pairs.items():
        print(f"{' ' * indent}{name.ljust(width)}  {value}".rstrip())


def print_json(data: Any) -> None:
    """The data as JSON on stdout. Arrays become lists; infinite and undefined numbers, which JSON
    lacks, become null.
    """
    print(json.dumps(to_json(data), indent=2, allow_nan=False))


def to_json(data: Any) -> Any:
    """Plain lists, dicts, strings and finite numbers from nested containers, dataclass-free."""
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
    """The first few warnings on stderr, a line each, and the command that shows all."""
    for text in texts[:most]:
        print(
            paint(f"robosim: warning: {printable(text)}", "yellow", stream=sys.stderr),
            file=sys.stderr,
        )
    if len(texts) > most:
        text = f"robosim: {len(texts) - most} more warnings: `{printable(where)}` shows them"
        print(paint(text, "yellow", stream=sys.stderr), file=sys.stderr)


def number(value: float | None, digits: int = 4) -> str:
    """A number with the given count of significant digits, as people write it; `-` for none, and
    for an infinite or undefined one.
    """
    if value is None or not math.isfinite(value):
        return "-"
    if value == 0:
        return "0"
    return f"{value:.{digits}g}" if 1e-4 <= abs(value) < 1e6 else f"{value:.{max(digits - 2, 1)}e}"


def milliseconds(seconds: float) -> str:
    """A duration as `12.3 ms`, or `4.56 s` from one second on."""
    return f"{seconds:.2f} s" if seconds >= 1 else f"{1e3 * seconds:.2f} ms"


@contextmanager
def busy(what: str) -> Iterator[Callable[[str], None]]:
    """While the body runs, from the first second on, show on a terminal's stderr what is being done
    and for how long. The body is given a function that says which stage it has reached.
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
