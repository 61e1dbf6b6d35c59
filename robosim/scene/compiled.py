"""Cache of compiled scenes by content, so that repeated planning compiles nothing.

The cache of a model lives as long as the model. It keeps the few scenes that were used last, and
fewer if they are large. A scene that is still referenced elsewhere is always found. Compiled scenes
are immutable and shared by threads.
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

_MOST_SCENES = 8  # per model
# Total size of these scenes without the latest: 100 bytes per point, up to 1000 per pair.
_MOST_PARTS = 120_000


class _Kept:
    """Scenes of one model: all that are still referenced, and the latest with their sizes."""

    def __init__(self) -> None:
        self.known: WeakValueDictionary[bytes, _engine.CollisionScene] = WeakValueDictionary()
        self.latest: OrderedDict[bytes, tuple[_engine.CollisionScene, int]] = OrderedDict()


_scenes: WeakKeyDictionary[Model, _Kept] = WeakKeyDictionary()
_lock = threading.Lock()


def compiled_before(model: Model, content: bytes) -> _engine.CollisionScene | None:
    """Return the cached scene of this content with this model, or None."""
    with _lock:
        kept = _scenes.get(model)
        if kept is None:
            return None
        if content in kept.latest:
            kept.latest.move_to_end(content)
        return kept.known.get(content)


def keep_compiled(model: Model, content: bytes, scene: _engine.CollisionScene, parts: int) -> None:
    """Store a scene in the cache.

    `parts` is its size: the number of its objects, points and pairs.
    """
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
    """Remove all scenes of this model from the cache, for example to measure compile times."""
    with _lock:
        _scenes.pop(model, None)
