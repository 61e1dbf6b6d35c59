"""What is refused again and again for the same reason is logged once."""

from __future__ import annotations

import re

__all__ = ["Repetition"]

_NUMBER = re.compile(r"\d+(?:\.\d+)?(?:e[-+]?\d+)?(?P<age>(?= s old))?")


class Repetition:
    """Tells texts that say something new from those that say the same again.

    Two texts say the same when they differ only in how old something is, and in digits after the
    second: what is measured is never twice the same.
    """

    def __init__(self) -> None:
        self._last = ""

    def is_new(self, text: str) -> bool:
        """Whether this one says something else than the one before it."""
        last, self._last = self._last, _NUMBER.sub(_rough, text)
        return self._last != last

    def forget(self) -> None:
        """What comes next is new: in between all was well."""
        self._last = ""


def _rough(number: re.Match[str]) -> str:
    return "#" if number["age"] is not None else f"{float(number[0]):.2g}"
