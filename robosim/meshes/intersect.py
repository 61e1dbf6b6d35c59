"""Exact overlap test of two triangle meshes, for comparison with convex approximations.

Two surfaces cross iff an edge of one intersects a triangle of the other (except triangles that
touch in one plane). Candidates are the triangles within the overlap of both bounding boxes, then
pairs with overlapping boxes. Segments are tested against triangles after Moeller and Trumbore,
"Fast, minimum storage ray-triangle intersection", J. Graphics Tools 2(1), 1997. A closed mesh
inside another is detected by the parity of the crossings of a ray.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from robosim.meshes.mass import is_closed
from robosim.meshes.mesh import TriangleMesh

__all__ = ["meshes_overlap"]

_BLOCK = 2_000_000  # pairs of boxes compared at once
# Not along an axis or a diagonal, so that rays do not run along edges of common meshes.
_RAY = np.array([0.5393, 0.7127, 0.4485])


def meshes_overlap(A: TriangleMesh, B: TriangleMesh) -> bool:
    """Return true if two meshes, both in the same frame, overlap.

    They overlap if their surfaces cross, or if one lies inside the other (if closed).
    """
    a, b = A.triangles, B.triangles
    lower = np.maximum(a.min(axis=(0, 1)), b.min(axis=(0, 1)))
    upper = np.minimum(a.max(axis=(0, 1)), b.max(axis=(0, 1)))
    if np.any(lower > upper):
        return False
    near_a, near_b = _within(a, lower, upper), _within(b, lower, upper)
    if len(near_a) and len(near_b) and _surfaces_cross(near_a, near_b):
        return True
    return _inside(a[0, 0], B) or _inside(b[0, 0], A)


def _within(
    triangles: NDArray[np.float64], lower: NDArray[np.float64], upper: NDArray[np.float64]
) -> NDArray[np.float64]:
    keep = np.all((triangles.max(axis=1) >= lower) & (triangles.min(axis=1) <= upper), axis=1)
    return triangles[keep]


def _surfaces_cross(a: NDArray[np.float64], b: NDArray[np.float64]) -> bool:
    b_lower, b_upper = b.min(axis=1), b.max(axis=1)
    rows = max(1, _BLOCK // len(b))
    for begin in range(0, len(a), rows):
        block = a[begin : begin + rows]
        lower, upper = block.min(axis=1)[:, None], block.max(axis=1)[:, None]
        i, j = np.nonzero(np.all((lower <= b_upper) & (upper >= b_lower), axis=2))
        if len(i) and (_edges_meet(block[i], b[j]) or _edges_meet(b[j], block[i])):
            return True
    return False


def _edges_meet(edges_of: NDArray[np.float64], triangles: NDArray[np.float64]) -> bool:
    """Return true if, in any row, an edge of the first triangle intersects the second."""
    for k in range(3):
        t, hit = _hits(edges_of[:, k], edges_of[:, (k + 1) % 3] - edges_of[:, k], triangles)
        if np.any(hit & (t >= 0) & (t <= 1)):
            return True
    return False


def _hits(
    origin: NDArray[np.float64], direction: NDArray[np.float64], triangles: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Intersect lines origin + t direction with the plane of each row's triangle.

    Return t, and True if the point is in the triangle.
    """
    p, e1, e2 = (
        triangles[:, 0],
        triangles[:, 1] - triangles[:, 0],
        triangles[:, 2] - triangles[:, 0],
    )
    h = np.cross(direction, e2)
    det = np.einsum("ij,ij->i", e1, h)
    size = (
        np.linalg.norm(e1, axis=1) * np.linalg.norm(e2, axis=1) * np.linalg.norm(direction, axis=1)
    )
    proper = (
        np.abs(det) > 1e-12 * size
    )  # otherwise the line is parallel to the plane, or the triangle is degenerate
    inverse = np.divide(1.0, det, out=np.zeros_like(det), where=proper)
    s = origin - p
    u = inverse * np.einsum("ij,ij->i", s, h)
    q = np.cross(s, e1)
    v = inverse * np.einsum("ij,ij->i", direction, q)
    t = inverse * np.einsum("ij,ij->i", e2, q)
    return t, proper & (u >= 0) & (v >= 0) & (u + v <= 1)


def _inside(point: NDArray[np.float64], mesh: TriangleMesh) -> bool:
    triangles = mesh.triangles
    if (
        np.any(point < triangles.min(axis=(0, 1)))
        or np.any(point > triangles.max(axis=(0, 1)))
        or not is_closed(mesh)
    ):
        return False
    origin, direction = (
        np.broadcast_to(point, (len(triangles), 3)),
        np.broadcast_to(_RAY, (len(triangles), 3)),
    )
    t, hit = _hits(origin, direction, triangles)
    return int(np.count_nonzero(hit & (t > 0))) % 2 == 1
