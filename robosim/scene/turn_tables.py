"""Tables of joint angles at which pairs of a robot's own colliders are known to be apart.

The tables are computed once for a model and used by every scene with it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import numpy as np

from robosim import _engine

if TYPE_CHECKING:
    from robosim.model import Model

__all__ = ["tables_of"]

_known: WeakKeyDictionary[Model, dict[tuple[int, int], _engine.TurnTable]] = WeakKeyDictionary()


def tables_of(model: Model, pairs: Sequence[tuple[int, int]]) -> list[_engine.TurnTable | None]:
    """Return the table of each of these `model.collision_pairs`, or None if it has none.

    See engine/scene/turn_table.h.
    """
    found = _known.get(model)
    if found is None:
        every = np.asarray(model.collision_pairs, dtype=np.int64).reshape(-1, 2)
        tables = _engine.turn_tables(model._engine, every)
        found = {
            (int(a), int(b)): table
            for (a, b), table in zip(every, tables, strict=True)
            if table is not None
        }
        _known[model] = found
    return [found.get((int(a), int(b))) for a, b in pairs]
