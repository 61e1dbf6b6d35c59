"""A triangle mesh as two arrays."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["TriangleMesh"]


@dataclass(frozen=True, eq=False)
class TriangleMesh:
    """Triangles in space, not necessarily closed, connected or consistently oriented.

    Attributes:
        vertices: (n, 3) [m].
        faces: (m, 3) indices into `vertices`, counter-clockwise seen from outside if the file is
            so.
    """

    vertices: NDArray[np.float64]
    faces: NDArray[np.int64]

    @property
    def triangles(self) -> NDArray[np.float64]:
        """(m, 3, 3) corners of each triangle [m]."""
        return self.vertices[self.faces]

    @property
    def used_vertices(self) -> NDArray[np.float64]:
        """(k, 3) vertices that triangles use, in their order."""
        is_used = np.zeros(len(self.vertices), dtype=bool)
        is_used[self.faces] = True
        return self.vertices[is_used]

    @property
    def extent(self) -> float:
        """Diagonal of the axis-aligned bounding box [m]."""
        return float(np.linalg.norm(np.ptp(self.vertices, axis=0)))

    def scaled(self, scale: NDArray[np.float64]) -> TriangleMesh:
        """Return the mesh scaled along each axis.

        Mirroring (a negative product) also reverses each triangle, so that normals stay outward.
        """
        faces = self.faces[:, ::-1].copy() if np.prod(np.sign(scale)) < 0 else self.faces
        return TriangleMesh(self.vertices * scale, faces)

    def merged(self) -> TriangleMesh:
        """Merge bitwise equal vertices, and drop triangles that use a vertex twice."""
        points = self.vertices + 0.0  # -0.0 becomes 0.0
        # Equivalent to np.unique along axis 0, in a fifth of the time.
        order = np.lexsort(points.T[::-1])
        points = points[order]
        is_new = np.ones(len(points), dtype=bool)
        is_new[1:] = (points[1:] != points[:-1]).any(axis=1)
        number = np.empty(len(points), dtype=np.int64)
        number[order] = np.cumsum(is_new) - 1
        vertices, faces = points[is_new], number[self.faces]
        proper = (
            (faces[:, 0] != faces[:, 1])
            & (faces[:, 1] != faces[:, 2])
            & (faces[:, 2] != faces[:, 0])
        )
        return TriangleMesh(vertices, faces[proper])
