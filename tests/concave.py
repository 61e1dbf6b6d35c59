"""A mesh whose hull fills a hollow."""

from __future__ import annotations

import numpy as np
import trimesh

from robosim.geometry import TriangleMesh


def channel(
    length: float = 0.4, width: float = 0.3, height: float = 0.3, wall: float = 0.02
) -> TriangleMesh:
    """U of walls along x around the origin, open above (+z) and at its ends, closed as a surface.

    Lengths are in [m].
    """
    w, h, t = width / 2, height / 2, wall
    outline = np.array(
        [
            [-w, h],
            [-w, -h],
            [w, -h],
            [w, h],
            [w - t, h],
            [w - t, -h + t],
            [-w + t, -h + t],
            [-w + t, h],
        ]
    )
    n = len(outline)
    ends = [np.column_stack([np.full(n, x), outline]) for x in (-length / 2, length / 2)]
    cap = np.array([[0, 1, 6], [0, 6, 7], [1, 2, 5], [1, 5, 6], [2, 3, 4], [2, 4, 5]])
    side = [[i, (i + 1) % n, n + (i + 1) % n] for i in range(n)]
    side += [[i, n + (i + 1) % n, n + i] for i in range(n)]
    mesh = trimesh.Trimesh(np.vstack(ends), np.vstack([cap, cap[:, ::-1] + n, side]), process=False)
    mesh.fix_normals()
    assert mesh.is_watertight
    assert mesh.volume < 0.3 * length * width * height
    return TriangleMesh(np.asarray(mesh.vertices), np.asarray(mesh.faces, dtype=np.int32))
