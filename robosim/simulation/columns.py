"""Columns of Jacobians by parameters, and the engine's numbers that each column moves."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, chain
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from robosim.errors import SimulationError
from robosim.simulation.parameters import Key, ParameterNames

if TYPE_CHECKING:
    from robosim.simulation.link_inertias import LinkInertias

__all__ = ["ColumnLists", "ParameterColumns"]

Array = NDArray[np.float64]
ColumnLists = tuple[list[int], list[int], list[float]]
"""Columns in the engine's layout: begin of each column in the next two lists, and the end of the
last; the numbers that each column moves, with those of vertices after all others; and their
weights."""


class ParameterColumns:
    """Columns by key, computed once for each key.

    Args:
        names: names of the simulation's parameters.
        links: inertias of the model's links.
    """

    def __init__(self, names: ParameterNames, links: LinkInertias) -> None:
        self._names, self._links = names, links
        self._known: dict[Key, list[tuple[list[int], list[float]]]] = {}

    def lists(self, keys: Sequence[Key]) -> ColumnLists | None:
        """Return one column for each number of each key; None without keys.

        Raises:
            SimulationError: as in `ParameterNames.select`; or a key is repeated.
        """
        if not keys:
            return None
        if len(set(keys)) < len(keys):
            raise SimulationError(f"by names a parameter twice: {', '.join(map(repr, keys))}")
        columns = [column for key in keys for column in self._of(key)]
        begin = [0, *accumulate(len(numbers) for numbers, _ in columns)]
        numbers = list(chain.from_iterable(numbers for numbers, _ in columns))
        weights = list(chain.from_iterable(weights for _, weights in columns))
        return begin, numbers, weights

    def by_name(self, keys: Sequence[Key], columns: Array) -> dict[Key, Array]:
        """Split columns (..., k) by key, in the shape of each key's numbers."""
        if not keys:
            return {}
        shapes = [self._names.select(key).shape for key in keys]
        ends = np.cumsum([int(np.prod(shape, dtype=int)) for shape in shapes], dtype=int)
        parts = np.split(columns, ends[:-1], axis=-1)
        return {
            key: part.reshape(*columns.shape[:-1], *shape)
            for key, part, shape in zip(keys, parts, shapes, strict=True)
        }

    def _of(self, key: Key) -> list[tuple[list[int], list[float]]]:
        if key not in self._known:
            shape = self._names.select(key).shape
            width = int(np.prod(shape, dtype=int))
            found = []
            for unit in np.eye(width).reshape(width, *shape):
                direction = self._names.direction(self._links, {key: unit})
                numbers = np.concatenate([x.reshape(-1) for x in direction.values()])
                moved = np.flatnonzero(numbers)
                found.append((moved.tolist(), numbers[moved].tolist()))
            self._known[key] = found
        return self._known[key]
