"""Pickling and copying of values as constructor arguments, which are plain data and are checked.

A pickle holds names, numbers, strings, arrays, tuples and dicts, and the robosim classes or
functions that take them. `rebuild` must know these: it reads no file, and calls nothing that is not
registered. It is no protection against a pickle from an untrusted source, which can name functions
other than `rebuild`.
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
    """Register a class or function with `rebuild`.

    It must take names and numbers alone, and check them.
    """
    _MAKERS.add(make)
    return make


class Value:
    """A dataclass that is pickled and copied as its constructor's arguments, with its checks."""

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        maker(cls)

    def _arguments(self) -> dict[str, Any]:
        """Constructor arguments, by name."""
        own = fields(self)  # type: ignore[arg-type]
        return {f.name: getattr(self, f.name) for f in own if f.init}

    def __reduce__(self) -> tuple[Any, ...]:
        return rebuild, (type(self), self._arguments())


def rebuild(make: Callable[..., _Made], arguments: Mapping[str, Any]) -> _Made:
    """Call `make` with these arguments.

    Raises:
        RobosimError: the arguments are invalid, or `make` is not registered by `maker`.
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
