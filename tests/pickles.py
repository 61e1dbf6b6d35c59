"""Comparison of pickled values bit for bit, and invalid pickled states."""

from __future__ import annotations

import copy
import copyreg
import dataclasses
import enum
import inspect
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np


def places(value: Any, way: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Paths to all parts of a pickled state."""
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
    """Copy of the state with another value at this path."""
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
    """Paths into the state, the value to put there, and true if it must be refused."""
    for way in places(state):
        value = at(state, way)
        for other in (None, "x", -1, np.nan, [], {}, object(), np.full((2, 3), np.nan)):
            yield way, other, False
        if isinstance(value, np.ndarray) and value.size and value.dtype.kind == "f":
            yield way, np.full_like(value, np.nan), True
            if value.size > 1:  # an empty limit means no limit
                yield way, value[..., :-1], True
            yield way, np.concatenate([value, value]), True


def same(a: object, b: object) -> bool:
    """True if two values have one class and the same content, bit for bit."""
    if type(a) is not type(b):
        return False
    if isinstance(a, np.ndarray):
        return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
    if isinstance(a, Mapping):
        return list(a) == list(b) and all(same(a[key], b[key]) for key in a)
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(
        a,
        (str, bytes, int, float, complex, enum.Enum, type, Path, type(None), slice, frozenset, set),
    ):
        return a == b or a != a
    if inspect.isfunction(a) or inspect.isbuiltin(a):
        return a is b
    return same(reduced(a), reduced(b))


def reduced(value: object) -> tuple[object, ...]:
    """Arguments from which `pickle` reconstructs a value."""
    return tuple(reduce(value))[1:3]


def reduce(value: object) -> Any:
    return copyreg.dispatch_table.get(type(value), lambda value: value.__reduce_ex__(4))(value)
