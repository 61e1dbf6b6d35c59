"""Reading of numbers and poses from attributes. Errors name element, value and line."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robosim.errors import RobosimError
from robosim.geometry import pose
from robosim.urdf.schema import label

__all__ = ["Reader"]

# Python's float() also accepts "1_000" and "infinity", which are invalid in a file.
_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?\Z")
_INFINITE = re.compile(r"([+-]?)inf(inity)?\Z", re.IGNORECASE)
_BLANKS = re.compile(r"[ \t\r\n]+")
MAX_LENGTH = 1e6  # [m]: larger values are in other units, or invalid


class Reader:
    """Reads attributes of one document.

    Args:
        file: name of the file in errors.
        error: class of the errors.
    """

    def __init__(self, file: str, error: type[RobosimError]) -> None:
        self.file = file
        self.error = error

    def fail(self, element: Any, message: str) -> RobosimError:
        """Return the error to raise about an element."""
        return self.error(f"{label(element)}: {message}", file=self.file, line=element.sourceline)

    def numbers(
        self,
        element: Any,
        attribute: str,
        n: int,
        default: tuple[float, ...] | None = None,
        largest: float = math.inf,
    ) -> NDArray[np.float64]:
        """Read (n,) finite numbers, separated by blanks, with magnitudes up to `largest`."""
        text = element.get(attribute)
        if text is None:
            if default is None:
                raise self.fail(element, f"<{element.tag}> lacks attribute {attribute!r}")
            return np.array(default, dtype=np.float64)
        tokens = [t for t in _BLANKS.split(text) if t]
        what = f"{attribute}={text[:80]!r} of <{element.tag}>"
        if len(tokens) != n or not all(_NUMBER.match(t) for t in tokens):
            wanted = "one finite number" if n == 1 else f"{n} finite numbers"
            hint = "; it is xacro: name the file .xacro to have it expanded" if "${" in text else ""
            raise self.fail(element, f"{what} must be {wanted}{hint}")
        values = np.array([float(t) for t in tokens])
        if not np.all(np.abs(values) <= largest) or not np.all(np.isfinite(values)):
            raise self.fail(element, f"{what} is too large (limit {largest:g})")
        return values

    def number(
        self, element: Any, attribute: str, default: float | None = None, largest: float = math.inf
    ) -> float:
        """Read one finite number."""
        return float(
            self.numbers(element, attribute, 1, None if default is None else (default,), largest)[0]
        )

    def optional(self, element: Any, attribute: str) -> float | None:
        """Read one finite number, or return None if the attribute is absent."""
        return None if element.get(attribute) is None else self.number(element, attribute)

    def limit(self, element: Any, attribute: str, default: float | None = None) -> float | None:
        """Read one number, which may be infinite. Return the default if the attribute is absent."""
        text = element.get(attribute)
        if text is None:
            return default
        infinite = _INFINITE.match(text.strip())
        if infinite:
            return -math.inf if infinite[1] == "-" else math.inf
        return self.number(element, attribute)

    def positive(self, element: Any, attribute: str, *, largest: float = MAX_LENGTH) -> float:
        """Read one positive number."""
        value = self.number(element, attribute, largest=largest)
        if value <= 0:
            raise self.fail(element, f"{attribute}={value:g} of <{element.tag}> must be positive")
        return value

    def pose(self, parent: Any) -> NDArray[np.float64]:
        """Read the (4, 4) pose of the element's `<origin>`: xyz [m], rpy [rad].

        Without an origin, return the identity.
        """
        origin = parent.find("origin")
        if origin is None:
            return np.eye(4)
        xyz = self.numbers(origin, "xyz", 3, (0, 0, 0), MAX_LENGTH)
        return pose(xyz, rpy=self.numbers(origin, "rpy", 3, (0, 0, 0), MAX_LENGTH))
