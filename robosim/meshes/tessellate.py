"""Closed triangle meshes inscribed in the primitive shapes: for exact overlap tests between meshes and primitives.

Round surfaces are inscribed polyhedra of 32 segments: they lie inside the shape, off by at most r (1 - cos(pi /
    32)) = 0.005 r.
"""

from __future__ import annotations

import numpy as np

from robosim.geometry import Shape
from robosim.meshes.hull import convex_hull
from robosim.meshes.mesh import TriangleMesh

__all__ = ["tessellated"]

_SEGMENTS = 32


def tessellated(shape: Shape) -> TriangleMesh:
    """A mesh of a sphere, box, cylinder, capsule or convex shape, in the shape's frame."""
    kind = str(shape.type)
    if kind == "convex":
        return TriangleMesh(np.asarray(shape.vertices), np.asarray(shape.faces, dtype=np.int64))
    if kind == "box":
        signs = np.array(np.meshgrid([-1, 1], [-1, 1], [-1, 1])).reshape(3, 8).T
        return convex_hull(signs * np.asarray(shape.size) / 2)
    turn = 2 * np.pi * np.arange(_SEGMENTS) / _SEGMENTS
    circle = np.column_stack([np.cos(turn), np.sin(turn), np.zeros(_SEGMENTS)]) * shape.radius
    if kind == "cylinder":
        shift = np.array([0, 0, shape.length / 2])
        return convex_hull(np.vstack([circle - shift, circle + shift]))
    rise = np.pi * (np.arange(1, _SEGMENTS // 2) / (_SEGMENTS // 2) - 0.5)
    ball = np.vstack([circle * np.cos(r) + [0, 0, shape.radius * np.sin(r)] for r in rise])
    ball = np.vstack([ball, [[0, 0, -shape.radius], [0, 0, shape.radius]]])
    if kind == "sphere":
        return convex_hull(ball)
    shift = np.array([0, 0, shape.length / 2])
    return convex_hull(np.vstack([ball - shift, ball + shift]))
