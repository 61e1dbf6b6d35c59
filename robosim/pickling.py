"""How values of robosim are pickled and copied: as what makes them, which is plain data, and through all its checks.

So a pickle holds names, numbers, strings, arrays, tuples and dicts, and functions of robosim that take them: none reads
a file or runs what it was not made for. That is no defence against a pickle from a stranger, which can name other
functions than these.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any, TypeVar

from robosim.errors import RobosimError

__all__ = ["Value", "rebuild"]

_Made = TypeVar("_Made")


class Value:
    """A dataclass that is pickled and copied as its constructor's arguments: what that checks holds of every copy."""

    def _arguments(self) -> dict[str, Any]:
        """The constructor's, by name."""
        return {f.name: getattr(self, f.name) for f in fields(self) if f.init}  # type: ignore[arg-type]

    def __reduce__(self) -> tuple[Any, ...]:
        return rebuild, (type(self), self._arguments())


def rebuild(make: Callable[..., _Made], arguments: Mapping[str, Any]) -> _Made:
    """What `make` makes of these arguments.

    Raises:
        RobosimError: they are not what it takes.
    """
    try:
        return make(**arguments)
    except RobosimError:
        raise
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        what = getattr(make, "__name__", repr(make))
        raise RobosimError(f"what was pickled must be the arguments of {what}: {error}") from error
