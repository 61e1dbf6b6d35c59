"""Convex hulls contain their points, face outward, and stay outside after simplification."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial import ConvexHull

from robosim.meshes import TriangleMesh, convex_hull, is_closed, is_convex, mesh_mass_properties


def heights(hull: TriangleMesh, points: np.ndarray) -> np.ndarray:
    a, b, c = hull.triangles.transpose(1, 0, 2)
    n = np.cross(b - a, c - a)
    n /= np.linalg.norm(n, axis=1)[:, None]
    return (points @ n.T - np.einsum("ij,ij->i", n, a)).max(axis=1)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("size", [1e-4, 1.0, 1e3])
def test_contains_its_points_and_nothing_more(seed, size):
    points = size * (np.random.default_rng(seed).normal(size=(60, 3)) + 5)
    hull = convex_hull(points)
    assert is_closed(hull)
    assert heights(hull, points).max() < 1e-9 * size
    # Outward faces make the volume positive; it is Qhull's.
    assert mesh_mass_properties(hull)[0].volume == pytest.approx(
        ConvexHull(points).volume, rel=1e-9
    )
    # The vertices are among the points, bit for bit.
    assert {tuple(v) for v in hull.vertices} <= {tuple(p) for p in points}


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("n", [4, 8, 32])
def test_thinned_hull_still_contains_all(seed, n):
    points = np.random.default_rng(seed).normal(size=(400, 3))
    points *= [[1, 2, 0.3]] / np.linalg.norm(points, axis=1)[:, None]
    full, thin = convex_hull(points), convex_hull(points, max_vertices=n)
    assert len(thin.vertices) <= n < len(full.vertices)
    assert heights(thin, points).max() < 1e-9


def test_thinning_leaves_small_hulls_alone():
    points = np.random.default_rng(0).normal(size=(10, 3))
    np.testing.assert_array_equal(
        convex_hull(points, max_vertices=10).vertices, convex_hull(points).vertices
    )


@pytest.mark.parametrize("flat", [1, 2])
def test_flat_points_get_a_thickness(flat):
    rng = np.random.default_rng(1)
    points = rng.normal(size=(20, 3))
    points[:, 3 - flat :] = 0
    R = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    hull = convex_hull(points @ R.T + 1)
    assert is_closed(hull)
    # The hull is 0.2 mm thick in each missing direction. With two of them, the axes may be rotated
    # in their plane, which adds a factor of up to sqrt(2).
    across = np.ptp((hull.vertices - 1) @ R[:, 3 - flat :], axis=0)
    assert np.all(across > 2e-4 * (1 - 1e-6))
    assert np.all(across < 2e-4 * (1 + 1e-6) * np.sqrt(flat))
    assert heights(hull, points @ R.T + 1).max() < 1e-12


def box(size=(1.0, 1.0, 1.0)) -> TriangleMesh:
    signs = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
    return convex_hull(signs * np.array(size) / 2)


def test_convexity():
    cube = box()
    assert is_convex(cube)
    open_box = TriangleMesh(cube.vertices, cube.faces[1:])
    assert not is_convex(open_box)
    dented = TriangleMesh(np.vstack([cube.vertices, [[0, 0, 0.4]]]), cube.faces)
    # Pull in the middle of one face by a tenth.
    top = [f for f in cube.faces if np.all(cube.vertices[f][:, 2] > 0)]
    rest = [f for f in cube.faces if not np.all(cube.vertices[f][:, 2] > 0)]
    rim = {
        tuple(sorted((int(f[i]), int(f[(i + 1) % 3])))): (int(f[i]), int(f[(i + 1) % 3]))
        for f in top
        for i in range(3)
    }
    counts = [tuple(sorted((int(f[i]), int(f[(i + 1) % 3])))) for f in top for i in range(3)]
    fan = [[a, b, 8] for key, (a, b) in rim.items() if counts.count(key) == 1]
    dented = TriangleMesh(dented.vertices, np.array([*rest, *fan]))
    assert is_closed(dented)
    assert not is_convex(dented)
