"""Checks of arguments, and conversion of the engine's errors to robosim's."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import lru_cache

import numpy as np

from robosim.errors import SimulationError, suggestion

__all__ = ["asked_for", "aware", "engine_errors", "listed"]


def asked_for(by: Collection[str], names: tuple[str, ...], which: str) -> tuple[bool, ...]:
    """Return for each name True if `by` has it."""
    try:
        return _asked_for(tuple(by), names, which)
    except TypeError:  # a value that cannot be hashed is not a name
        return _asked_for.__wrapped__(tuple(by), names, which)


@lru_cache  # many short calls have the same arguments
def _asked_for(by: tuple[str, ...], names: tuple[str, ...], which: str) -> tuple[bool, ...]:
    asked = tuple([name in by for name in names])
    if sum(asked) != len(by):  # a name is unknown or repeated
        for name in by:
            if name not in names:
                raise SimulationError(f"by has {name!r}; {which} {', '.join(names)}")
    return asked


def listed(name: str, known: Sequence[str], what: str) -> str:
    """Return the name if the engine lists it, else raise."""
    if name not in known:
        raise SimulationError(f"{what} is {name!r}{suggestion(name, known)}")
    return name


def aware(value: bool | str) -> str:
    """Return the engine's name of a value of `complementarity_aware`."""
    if isinstance(value, bool | np.bool_):
        return "each" if value else "none"
    if isinstance(value, str) and value == "together":
        return value
    raise SimulationError(f"complementarity_aware is {value!r}; it is False, True or 'together'")


class engine_errors:
    """Context that converts the engine's errors to robosim's.

    A contextlib generator would take microseconds.
    """

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, ValueError):
            raise SimulationError(str(error)) from None
