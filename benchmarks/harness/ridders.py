"""Derivatives by differences, extrapolated to step zero.

Ridders, "Accurate computation of F'(x) and F'(x) F''(x)", Adv. Eng. Software 4(2), 1982.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
ROWS, SHRINK = 7, 1.7


class Derivative(NamedTuple):
    """A derivative at zero.

    Attributes:
        value: (k,).
        error: (k,) largest deviation of the two best neighbors in the tableau from each entry.
    """

    value: Array
    error: Array


def shortest(rows: int = ROWS) -> float:
    """Length of the shortest differences of a tableau, relative to the longest."""
    return float(SHRINK ** (1 - rows))


def ridders(f: Callable[[float], Array | None], step: float, rows: int = ROWS) -> Derivative | None:
    """Derivative of a function that is smooth within `step` of zero; None if any value is None.

    Each entry is extrapolated separately.
    """
    tableau: list[Array] = []
    value = error = np.array(np.inf)
    for i in range(rows):
        above = f(step)
        below = None if above is None else f(-step)
        if above is None or below is None:
            return None
        row = [(above - below) / (2 * step)]
        factor = 1.0
        if i == 0:
            value, error = row[0], np.full(row[0].shape, np.inf)
        for previous in tableau:
            factor *= SHRINK * SHRINK
            better = (factor * row[-1] - previous) / (factor - 1)
            estimate = np.maximum(np.abs(better - row[-1]), np.abs(better - previous))
            value, error = np.where(estimate < error, better, value), np.minimum(estimate, error)
            row.append(better)
        tableau, step = row, step / SHRINK
    return Derivative(value, error)


def one_sided(f: Callable[[float], Array | None], step: float) -> Array | None:
    """Derivative (k,) towards positive numbers, of fourth order, for f(0) = 0.

    None if any value of f is None.
    """
    values = [f(n * step) for n in (1, 2, 3, 4)]
    if any(value is None for value in values):
        return None
    one, two, three, four = values
    derivative: Array = (48 * one - 36 * two + 16 * three - 3 * four) / (12 * step)
    return derivative
