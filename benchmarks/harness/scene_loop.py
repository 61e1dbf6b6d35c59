"""The engine's CollisionScene of a robot in C++ loops over configurations.

The loops are `robosim_loop/robosim_scene_loop.cpp`.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

import numpy as np

from harness.coal_checker import shape_numbers
from harness.compiled import declare
from harness.robosim_loop import FLOORS, compiled


def load() -> ctypes.CDLL:
    """Return the library with its functions declared, built if it is not in the cache."""
    library = ctypes.CDLL(str(compiled("robosim_scene_loop", (*FLOORS, "scene"))))
    pointer, number, text = ctypes.c_void_p, ctypes.c_int, ctypes.c_char_p
    functions = [
        ("new", pointer, []),
        ("delete", None, [pointer]),
        ("add_link", None, [pointer, text]),
        ("add_joint", None, [pointer, text, text, text, text, pointer, pointer]),
        ("add_collider", None, [pointer, text, number, pointer, number, pointer, number, pointer]),
        ("build", number, [pointer, number, pointer]),
        ("count_free", number, [pointer, number, pointer]),
        ("distances", None, [pointer, number, pointer, pointer]),
        ("distances_many", None, [pointer, number, pointer, pointer]),
    ]
    declare(library, "scene_", functions)
    return library


def _array(values: object, dtype: type = float) -> np.ndarray:
    return np.ascontiguousarray(values, dtype=dtype)


class SceneLoop:
    """A robot without obstacles.

    Args:
        model: model with joints of one degree of freedom.
        colliders: (link, X_LC (4, 4), shape) of each.
        pairs: (m, 2) indices into colliders; exactly these are checked.
        library: from `load`.
    """

    def __init__(
        self,
        model: Any,
        colliders: Sequence[tuple[str, np.ndarray, Any]],
        pairs: np.ndarray,
        library: ctypes.CDLL,
    ):
        self._library, self.n_pairs = library, len(pairs)
        self._robot = library.scene_new()
        for link in model.links:
            library.scene_add_link(self._robot, link.name.encode())
        for joint in model.joints:
            names = [name.encode() for name in (joint.name, joint.kind, joint.parent, joint.child)]
            X_PJ, axis = _array(joint.X_PJ), _array(joint.axis)
            library.scene_add_joint(self._robot, *names, X_PJ.ctypes.data, axis.ctypes.data)
        for i, (link, X_LC, shape) in enumerate(colliders):
            X_LC = _array(X_LC)
            kind, size, vertices, _ = shape_numbers(shape)
            library.scene_add_collider(
                self._robot,
                link.encode(),
                i,
                X_LC.ctypes.data,
                kind,
                size.ctypes.data,
                len(vertices),
                vertices.ctypes.data,
            )
        indices = _array(pairs, np.int32)
        self.n_q = library.scene_build(self._robot, len(indices), indices.ctypes.data)

    def __del__(self) -> None:
        if getattr(self, "_robot", None):
            self._library.scene_delete(self._robot)

    def count_free(self, q: np.ndarray) -> int:
        """Count the free ones of configurations (n, n_q)."""
        return int(self._library.scene_count_free(self._robot, len(q), q.ctypes.data))

    def distances(self, q: np.ndarray) -> np.ndarray:
        """Signed distances [m] of all pairs at configurations (n, n_q): (n, pairs)."""
        out = np.zeros((len(q), self.n_pairs))
        self._library.scene_distances(self._robot, len(q), q.ctypes.data, out.ctypes.data)
        return out

    def distances_many(self, q: np.ndarray) -> np.ndarray:
        """Signed distances as in `distances`, with several configurations at once on one thread."""
        out = np.zeros((len(q), self.n_pairs))
        self._library.scene_distances_many(self._robot, len(q), q.ctypes.data, out.ctypes.data)
        return out
