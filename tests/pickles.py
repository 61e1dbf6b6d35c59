"""Pickled states that are none: something else in every place of a state."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Iterator
from typing import Any

import numpy as np


def places(value: Any, way: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Ways to all that a pickled state holds."""
    yield way
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from places(inner, (*way, key))
    elif isinstance(value, (list, tuple)):
        for i, inner in enumerate(value[:3]):
            yield from places(inner, (*way, i))
    elif dataclasses.is_dataclass(value):
        for field in dataclasses.fields(value):
            yield from places(getattr(value, field.name), (*way, field.name))


def at(value: Any, way: tuple[Any, ...]) -> Any:
    for key in way:
        value = getattr(value, key) if dataclasses.is_dataclass(value) else value[key]
    return value


def with_other(value: Any, way: tuple[Any, ...], other: Any) -> Any:
    """The state with something else there."""
    if not way:
        return other
    key, rest = way[0], way[1:]
    if isinstance(value, dict):
        return {**value, key: with_other(value[key], rest, other)}
    if isinstance(value, (list, tuple)):
        return tuple(with_other(x, rest, other) if i == key else x for i, x in enumerate(value))
    found = copy.copy(value)
    object.__setattr__(found, key, with_other(getattr(value, key), rest, other))
    return found


def faults(state: Any) -> Iterator[tuple[tuple[Any, ...], Any, bool]]:
    """Ways into the state, what is put there, and whether that must be refused."""
    for way in places(state):
        value = at(state, way)
        for other in (None, "x", -1, np.nan, [], {}, object(), np.full((2, 3), np.nan)):
            yield way, other, False
        if isinstance(value, np.ndarray) and value.size and value.dtype.kind == "f":
            yield way, np.full_like(value, np.nan), True
            if value.size > 1:  # a limit that is empty is none
                yield way, value[..., :-1], True
            yield way, np.concatenate([value, value]), True
