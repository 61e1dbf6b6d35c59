"""Rays in scenes and against compounds, against a plain loop over all shapes."""

from __future__ import annotations

import numpy as np
import pytest

from robosim.errors import GeometryError, SceneError
from robosim.geometry import Compound, HeightField, PointCloud, Shape, TriangleMesh, pose
from robosim.geometry import ray_cast as cast_at
from robosim.scene import Scene, ray_cast


def furnished() -> Scene:
    rng = np.random.default_rng(0)
    scene = Scene()
    scene.add_half_space("floor", pose((0, 0, -0.2)))
    scene.add_box("table", (0.6, 0.8, 0.04), pose((0.55, 0, 0.1), rpy=(0, 0, 0.3)))
    scene.add_sphere("ball", 0.1, pose((-0.5, 0.2, 0.4)))
    scene.add_points("cloud", rng.uniform(-0.3, 0.3, (200, 3)), 0.01, pose((0, 0.9, 0.5)))
    scene.add_height_field("ground", rng.uniform(0, 0.1, (8, 8)), 0.1, pose((-1, -1, -0.15)))
    wedge = [(0, 0, 0), (0.3, 0, 0), (0, 0.3, 0), (0.1, 0.1, 0.3), (0.1, 0.1, 0.1)]
    scene.add_mesh(
        "wedge", (wedge, [(0, 1, 3), (1, 2, 3), (2, 0, 3)]), pose((0.4, -0.7, 0)), keep="surface"
    )
    scene.add_cylinder("tool", 0.03, 0.2)
    scene.attach("tool", "tool0", pose=pose((0, 0, 0.1)))
    return scene


def rays(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    origins = rng.uniform((-1, -1, 0.0), (1, 1, 1.2), (n, 3))
    return origins, rng.normal(size=(n, 3)) * rng.uniform(0.2, 3, (n, 1))


def test_rays_meet_what_a_loop_over_everything_finds(ur5):
    scene, rng = furnished(), np.random.default_rng(1)
    space = scene.compile(ur5)
    for q in rng.uniform(-np.pi, np.pi, (3, 6)):
        X = ur5.link_poses(q)
        bodies = [(c.name, c.shape, X[c.link] @ c.X_LC) for c in ur5.colliders]
        for thing in scene:
            held = scene.attachments.get(thing.name)
            X_WO = (X[held.link] if held else np.eye(4)) @ thing.pose
            bodies += [
                (thing.name, s, X_WO @ X_OS)
                for s, X_OS in zip(thing.shapes, thing.shape_poses, strict=True)
            ]
        origins, directions = rays(600, rng)
        found = ray_cast(space, q, origins, directions, max_t=2.0)
        every = [cast_at(shape, X_WS, origins, directions, max_t=2.0) for _, shape, X_WS in bodies]
        t = np.array([hits.t for hits in every])
        nearest = t.argmin(axis=0)
        np.testing.assert_array_equal(found.hit, np.isfinite(t.min(axis=0)))
        # 1e-12: the poses of moving shapes are multiplied in another order
        np.testing.assert_allclose(found.t, t.min(axis=0), rtol=0, atol=1e-12)
        assert {"floor", "table", "cloud", "ground"} <= {
            found.names[i] for i in found.object[found.hit]
        }
        for i in np.flatnonzero(found.hit & ~found.inside):
            assert found.names[found.object[i]] == bodies[nearest[i]][0]
            np.testing.assert_allclose(found.normal[i], every[nearest[i]].normal[i], atol=1e-9)
            np.testing.assert_allclose(
                found.point[i], origins[i] + found.t[i] * directions[i], atol=1e-12
            )
        assert (found.object[~found.hit] == -1).all()
        # Results do not depend on the number of threads.
        for other in (
            ray_cast(space, q, origins, directions, max_t=2.0, threads=n) for n in (0, 2)
        ):
            for a, b in zip(found[:6], other[:6], strict=True):
                np.testing.assert_array_equal(a, b)


def test_rays_go_through_what_is_ignored(ur5):
    space, q = furnished().compile(ur5), ur5.neutral()
    rng = np.random.default_rng(2)
    origins, directions = rays(800, rng)
    # Half of the rays aim at the arm.
    directions[::2] = rng.uniform((-0.8, -0.3, 0), (0, 0, 0.2), (400, 3)) - origins[::2]
    all_of_it = ray_cast(space, q, origins, directions)
    links = sorted({c.link for c in ur5.colliders})
    without = ray_cast(space, q, origins, directions, ignore=[*links, "tool"])
    robot = np.array(
        [
            i >= 0 and (i < len(ur5.colliders) or all_of_it.names[i] == "tool")
            for i in all_of_it.object
        ]
    )
    assert 20 < robot.sum() < 600
    np.testing.assert_array_equal(all_of_it.t[~robot], without.t[~robot])
    assert (without.t[robot] >= all_of_it.t[robot]).all()
    assert not any(0 <= i < len(ur5.colliders) for i in without.object)


def test_one_ray_and_bad_rays(ur5):
    space, q = furnished().compile(ur5), ur5.neutral()
    down = ray_cast(space, q, (0.5, 0.25, 2), (0, 0, -1))
    assert down.t.shape == (1,)
    assert down.names[down.object[0]] == "table"
    assert down.t[0] == pytest.approx(1.88, abs=1e-12)
    for change, words in [
        ({"directions": (0, 0, 0)}, "ray 0: its direction is zero"),
        ({"origins": (np.nan, 0, 0)}, "origins"),
        ({"q": [0.0]}, "q has shape"),
        ({"max_t": -1}, "max_t is -1"),
        ({"threads": -1}, "threads is -1"),
        ({"ignore": ["sofa"]}, "'sofa' is neither"),
    ]:
        given = {"q": q, "origins": (0, 0, 2), "directions": (0, 0, -1)} | change
        with pytest.raises(SceneError, match=words):
            ray_cast(space, given.pop("q"), given.pop("origins"), given.pop("directions"), **given)


def test_rays_meet_bodies_of_pieces_where_they_meet_their_pieces_first():
    rng = np.random.default_rng(3)
    cloud = PointCloud(rng.uniform(-0.5, 0.5, (60, 3)), 0.05)
    ground = HeightField(rng.uniform(-0.1, 0.1, (6, 7)), 0.2)
    triangles = rng.normal(size=(30, 3, 3)) * 0.2 + rng.uniform(-0.4, 0.4, (30, 1, 3))
    mesh = TriangleMesh(triangles.reshape(-1, 3), np.arange(90).reshape(30, 3))
    everything = Compound(
        [(cloud, pose((1, 0, 0))), (ground, pose()), (mesh, pose((0, 1, 0), rpy=(1, 2, 3)))]
    )
    X = pose((0.1, 0.2, 0.3), rpy=(0.4, 0.5, 0.6))
    origins = rng.uniform(-2, 2, (500, 3))
    directions = rng.uniform(-0.6, 0.8, (500, 3)) - origins
    single = np.array([cast_at(Shape.triangle(t), X, origins, directions).t for t in triangles])
    found = cast_at(mesh, X, origins, directions, threads=0)
    np.testing.assert_array_equal(found.t, single.min(axis=0))
    assert 30 < found.hit.sum() < 470
    np.testing.assert_array_equal(found.piece, np.where(found.hit, single.argmin(axis=0), -1))
    parts = [(cloud, pose((1, 0, 0))), (ground, pose()), (mesh, pose((0, 1, 0), rpy=(1, 2, 3)))]
    t = np.min([cast_at(part, X @ Y, origins, directions).t for part, Y in parts], axis=0)
    np.testing.assert_allclose(cast_at(everything, X, origins, directions).t, t, atol=1e-12)
    with pytest.raises(GeometryError, match="threads is -2"):
        cast_at(mesh, X, origins, directions, threads=-2)
