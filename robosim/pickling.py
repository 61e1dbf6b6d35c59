"""How values of robosim are pickled and copied: as what makes them, which is plain data, and
through all its checks.

So a pickle holds names, numbers, strings, arrays, tuples and dicts, and what of robosim takes them,
which `rebuild` must know: that reads no file, and runs nothing that it was not made for. It is no
defense against a pickle from a stranger, which can name other functions than `rebuild`.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import fields
from typing import Any, TypeVar

from robosim.errors import RobosimError

__all__ = ["Value", "maker", "rebuild"]

_Made = TypeVar("_Made")
_Maker = TypeVar("_Maker", bound=Callable[..., object])
_MAKERS: set[Callable[..., object]] = set()


def maker(make: _Maker) -> _Maker:
    """Have `rebuild` take this: a class or function of names and numbers alone, which checks
    them."""
    _MAKERS.add(make)
    return make


class Value:
    """A dataclass that is pickled and copied as its constructor's arguments: what that checks holds
    of every copy."""

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        maker(cls)

    def _arguments(self) -> dict[str, Any]:
        """The constructor's, by name."""
        return {f.name: getattr(self, f.name) for f in fields(self) if f.init}  # type: ignore[arg-type]

    def __reduce__(self) -> tuple[Any, ...]:
        return rebuild, (type(self), self._arguments())


def rebuild(make: Callable[..., _Made], arguments: Mapping[str, Any]) -> _Made:
    """What `make` makes of these arguments.

    Raises:
        RobosimError: they are not what it takes, or it is no `maker`.
    """
    what = getattr(make, "__qualname__", type(make).__name__)
    if not isinstance(make, Hashable) or make not in _MAKERS:
        raise RobosimError(
            f"what makes a pickled value must be a class or function for that, not {what!r}"
        )
    try:
        return make(**arguments)
    except RobosimError:
        raise
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        raise RobosimError(f"what was pickled must be the arguments of {what}: {error}") from error
