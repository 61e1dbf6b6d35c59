"""Leading axes of many runs, which the engine takes as a single one. Of numpy's ways to get there
the quickest."""

from __future__ import annotations

from math import prod
from typing import Any

from numpy.typing import NDArray

__all__ = ["one_axis", "with_axes"]


def one_axis(x: NDArray[Any], leading: tuple[int, ...]) -> NDArray[Any]:
    """(m, ...) an array with these leading axes, with one in their place."""
    if len(leading) == 1:
        return x
    return x.reshape(prod(leading), *x.shape[len(leading) :]) if leading else x[None]


def with_axes(x: NDArray[Any], leading: tuple[int, ...]) -> NDArray[Any]:
    """(..., ...) an array (m, ...) with these leading axes in the place of its first."""
    if len(leading) == 1:
        return x
    return x.reshape(*leading, *x.shape[1:]) if leading else x[0]
