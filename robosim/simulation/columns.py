"""Columns of Jacobians by parameters: which of the engine's numbers each of them moves."""

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
"""Of columns as the engine has them: where each begins in the next two and the last ends, the
numbers that it moves, those of vertices behind all others, and how far."""


class ParameterColumns:
    """Columns by keys, made once for each key.

    Args:
        names: of the simulation.
        links: of its model.
    """

    def __init__(self, names: ParameterNames, links: LinkInertias) -> None:
        self._names, self._links = names, links
        self._known: dict[Key, list[tuple[list[int], list[float]]]] = {}

    def lists(self, keys: Sequence[Key]) -> ColumnLists | None:
        """One column for each number of each key; None without keys.

        Raises:
            SimulationError: as of `ParameterNames.select`; or a key is there twice.
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
        """(..., k) as the numbers of each key."""
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
