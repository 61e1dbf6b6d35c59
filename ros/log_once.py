"""Suppression of repeated log messages with the same reason."""

from __future__ import annotations

import re

__all__ = ["Repetition"]

_NUMBER = re.compile(r"\d+(?:\.\d+)?(?:e[-+]?\d+)?(?P<age>(?= s old))?")


class Repetition:
    """Distinguishes new texts from repetitions.

    Two texts are equal if they differ only in ages, and in digits after the second, because
    measured values are never exactly equal.
    """

    def __init__(self) -> None:
        self._last = ""

    def is_new(self, text: str) -> bool:
        """Return true if the text differs from the previous one."""
        last, self._last = self._last, _NUMBER.sub(_rough, text)
        return self._last != last

    def forget(self) -> None:
        """Treat the next text as new, because the problem was resolved in between."""
        self._last = ""


def _rough(number: re.Match[str]) -> str:
    return "#" if number["age"] is not None else f"{float(number[0]):.2g}"
