"""Leading axes of many runs, as one axis for the engine. Uses the fastest operations of NumPy."""

from __future__ import annotations

from math import prod
from typing import Any

from numpy.typing import NDArray

__all__ = ["one_axis", "with_axes"]


def one_axis(x: NDArray[Any], leading: tuple[int, ...]) -> NDArray[Any]:
    """(m, ...) view of an array, with one axis in the place of these leading axes."""
    if len(leading) == 1:
        return x
    return x.reshape(prod(leading), *x.shape[len(leading) :]) if leading else x[None]


def with_axes(x: NDArray[Any], leading: tuple[int, ...]) -> NDArray[Any]:
    """(..., ...) view of an array (m, ...), with leading axes in the place of its first axis."""
    if len(leading) == 1:
        return x
    return x.reshape(*leading, *x.shape[1:]) if leading else x[0]
