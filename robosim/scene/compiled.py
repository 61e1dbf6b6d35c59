"""Scenes that are compiled already, by what is in them: so that planning again compiles nothing.

Kept for each model, as long as it: the scenes that were asked for last, a few of them, and fewer
where they are large. What somebody else still holds is found in any case. A compiled scene is
immutable and shared by threads.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary, WeakValueDictionary

if TYPE_CHECKING:
    from robosim import _engine
    from robosim.model import Model

__all__ = ["compiled_before", "forget_compiled", "keep_compiled"]

_MOST_SCENES = 8  # of a model
# Of these together, but for the latest: 100 bytes for a point, up to 1000 for a pair.
_MOST_PARTS = 120_000


class _Kept:
    """The scenes of one model: all that somebody holds, and the latest with how many parts each
    has."""

    def __init__(self) -> None:
        self.known: WeakValueDictionary[bytes, _engine.CollisionScene] = WeakValueDictionary()
        self.latest: OrderedDict[bytes, tuple[_engine.CollisionScene, int]] = OrderedDict()


_scenes: WeakKeyDictionary[Model, _Kept] = WeakKeyDictionary()
_lock = threading.Lock()


def compiled_before(model: Model, content: bytes) -> _engine.CollisionScene | None:
    """The scene of this content with this model, if there is one."""
    with _lock:
        kept = _scenes.get(model)
        if kept is None:
            return None
        if content in kept.latest:
            kept.latest.move_to_end(content)
        return kept.known.get(content)


def keep_compiled(model: Model, content: bytes, scene: _engine.CollisionScene, parts: int) -> None:
    """Have it found from now on. `parts` is how large it is: its objects, points and pairs."""
    with _lock:
        kept = _scenes.setdefault(model, _Kept())
        kept.known[content] = scene
        kept.latest[content] = scene, parts
        kept.latest.move_to_end(content)
        while len(kept.latest) > 1 and (
            len(kept.latest) > _MOST_SCENES or sum(n for _, n in kept.latest.values()) > _MOST_PARTS
        ):
            kept.latest.popitem(last=False)


def forget_compiled(model: Model) -> None:
    """Have all scenes with this model compiled anew, as measurements of that need it."""
    with _lock:
        _scenes.pop(model, None)
