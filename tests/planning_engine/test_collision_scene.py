"""State queries against a plain loop over exact distances."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from robosim import _engine
from robosim.geometry import Shape, pose, signed_distance


def brute_force(model, q, shapes, poses, bodies, pairs):
    colliders = model._engine.colliders
    X_WB = [np.eye(4)] * model._engine.n_bodies
    for frame in model._engine.frames:
        if frame.body:
            X_WB[frame.body] = model.frame_pose(q, frame.name) @ np.linalg.inv(frame.X_BF)
    everything = [(c.shape, X_WB[c.body] @ c.X_BC) for c in colliders]
    everything += [(s, X_WB[b] @ X) for s, X, b in zip(shapes, poses, bodies, strict=True)]
    return np.array([signed_distance(*everything[a], *everything[b]).distance for a, b in pairs])


@pytest.mark.parametrize("name", ["arm", "mobile", "planar_arm"])
@pytest.mark.parametrize("n_obstacles", [3, 80])  # pair by pair; through a tree
def test_queries_agree_with_exact_distances(problems, name, n_obstacles):
    model = problems.models[name]()
    rng = np.random.default_rng(n_obstacles)
    shapes = [
        (Shape.box(rng.uniform(0.02, 0.2, 3)), Shape.sphere(0.05))[i % 2]
        for i in range(n_obstacles)
    ]
    poses = [problems.random_pose(rng, 1.0) for _ in shapes]
    bodies = [0] * n_obstacles
    shapes.append(Shape.cylinder(0.03, 0.3))
    poses.append(pose((0.1, 0, 0)))
    bodies.append(model._engine.n_bodies - 1)
    pairs = problems.pairs_of(model, len(shapes), bodies)
    scene = problems.scene_of(model, shapes, poses, bodies)
    assert np.array_equal(scene.pairs, pairs)
    seen = set()
    for _ in range(15):
        q = problems.random_q(model, rng)
        exact = brute_force(model, q, shapes, poses, bodies, pairs)
        names = [tuple(sorted((scene.names[a], scene.names[b]))) for a, b in pairs]
        # The same functions on the same placements, up to their rounding.
        assert np.allclose(scene.distances(q), exact, atol=1e-7)
        overlapping = {n: d for n, d in zip(names, exact, strict=True) if d < -1e-7}
        seen.add(bool(overlapping))
        assert scene.collides(q) == bool(overlapping) or exact.min() > -1e-7
        found = {tuple(sorted((a, b))): d for a, b, d in scene.collisions(q)}
        assert set(overlapping) <= set(found)
        assert all(
            d < 0 and d == pytest.approx(exact[names.index(n)], abs=1e-7) for n, d in found.items()
        )
        near = {tuple(sorted((a, b))) for a, b, _ in scene.collisions(q, margin=0.1)}
        assert near == {n for n, d in zip(names, exact, strict=True) if d < 0.1}
        distance, a, b, p_a, p_b = scene.min_distance(q)
        assert distance == pytest.approx(exact.min(), abs=1e-7)
        assert names[int(exact.argmin())] == tuple(sorted((a, b)))
        assert np.linalg.norm(p_b - p_a) == pytest.approx(abs(distance), abs=1e-6)
        pair = scene.first_collision(q)
        assert (pair is None) == (not scene.collides(q))
        assert pair is None or tuple(sorted(pair)) in found
    assert seen == {True, False} or name != "arm" or n_obstacles == 80


def test_a_point_cloud_of_many_thousand_points_is_searched_by_its_tree(problems):
    model = problems.arm()
    rng = np.random.default_rng(0)
    points = rng.uniform(-1, 1, (5000, 3))
    points = points[np.linalg.norm(points, axis=1) > 0.5]
    scene = problems.scene_of(model, [Shape.sphere(0.01)] * len(points), [pose(p) for p in points])
    q = problems.random_q(model, rng)
    distances = scene.distances(q)
    assert scene.collides(q) == bool((distances < 0).any())
    assert scene.min_distance(q)[0] == distances.min()
    assert len(scene.collisions(q)) == int((distances < 0).sum())


def test_a_fixed_pair_that_overlaps_collides_everywhere(problems):
    model = problems.planar_arm()
    names, shapes = ["a", "b"], [Shape.sphere(0.1)] * 2
    X = np.array([pose((5, 0, 0)), pose((5.1, 0, 0))])
    scene = _engine.CollisionScene(model._engine, names, shapes, X, [0, 0], [(2, 3)])
    assert scene.collides(np.zeros(2))
    assert scene.first_collision(np.zeros(2)) == ("a", "b")
    result = scene.edge_free(np.zeros(2), np.ones(2))
    assert not result.free
    assert result.pair == ("a", "b")


def test_no_pairs_no_collisions(problems):
    model = problems.planar_arm()
    scene = _engine.CollisionScene(model._engine, [], [], np.zeros((0, 4, 4)), [], [])
    assert not scene.collides(np.zeros(2))
    assert scene.edge_free(np.zeros(2), np.ones(2))
    assert scene.distances(np.zeros(2)).shape == (0,)
    with pytest.raises(ValueError, match="no pair"):
        scene.min_distance(np.zeros(2))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"pairs": [(0, 7)]}, r"pair \(0, 7\)"),
        ({"pairs": [(1, 1)]}, r"pair \(1, 1\)"),
        ({"pairs": [(0, 1, 2)]}, "pairs has shape"),
        ({"bodies": [9]}, "body 9"),
        ({"bodies": [0, 0]}, "2 bodies"),
        ({"poses": np.zeros((1, 4, 4))}, "rigid"),
        ({"poses": np.full((1, 4, 4), np.nan)}, "finite"),
        ({"poses": np.eye(4)}, "poses has shape"),
        ({"shapes": [Shape.half_space()], "bodies": [1]}, "half-space"),
    ],
)
def test_wrong_scenes_are_refused_by_name(problems, change, said):
    model = problems.planar_arm()
    arguments = {
        "names": ["o"],
        "shapes": [Shape.sphere(0.1)],
        "poses": np.eye(4)[None],
        "bodies": [0],
        "pairs": [(0, 2)],
    }
    with pytest.raises(ValueError, match=said):
        _engine.CollisionScene(model._engine, **(arguments | change))


def test_wrong_configurations_are_refused(problems):
    scene = problems.scene_of(problems.planar_arm(), [Shape.sphere(0.1)], [pose((2, 0, 0))])
    for query in (
        scene.collides,
        scene.collisions,
        scene.min_distance,
        scene.distances,
        scene.first_collision,
    ):
        with pytest.raises(ValueError, match="shape"):
            query(np.zeros(3))
        with pytest.raises(ValueError, match="finite"):
            query(np.array([0, np.nan]))
    with pytest.raises(ValueError, match="margin"):
        scene.collisions(np.zeros(2), margin=-1)
    with pytest.raises(ValueError, match="resolution"):
        scene.edge_free(np.zeros(2), np.ones(2), 0)


def test_self_collisions_are_counted_as_a_plain_loop_counts_them(problems):
    model = problems.arm()
    pairs, counts = _engine.sample_self_collisions(model._engine, seed=3, samples=400)
    assert len(pairs) == len(list(itertools.combinations(range(6), 2)))
    again = _engine.sample_self_collisions(model._engine, seed=3, samples=400)
    assert np.array_equal(again[1], counts)
    # Neighbors that share a joint always touch, distant links touch sometimes, and some never do.
    assert counts.max() == 400
    assert counts.min() == 0
    assert ((counts > 0) & (counts < 400)).any()
    some = pairs[[0, 5]]
    assert np.array_equal(
        _engine.sample_self_collisions(model._engine, 3, 400, some)[1], counts[[0, 5]]
    )


def test_a_cluttered_scene_is_mixed(problems):
    scene = problems.cluttered(problems.arm(), 0)
    rng = np.random.default_rng(0)
    hits = [scene.collides(problems.random_q(problems.arm(), rng)) for _ in range(50)]
    assert 5 < sum(hits) < 50
