"""Checks of a compiled scene against a plain double loop over shapes."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from robosim.errors import SceneError
from robosim.geometry import Shape, pose, signed_distance
from robosim.scene import Scene


def furnished() -> Scene:
    scene = Scene("room")
    scene.add_half_space("floor", pose((0, 0, -0.02)))
    scene.add_box("table", (0.6, 0.8, 0.04), pose((0.55, 0, 0.1)))
    scene.add_compound("mug",
        [(Shape.cylinder(0.1, 0.2), None), (Shape.box((0.02, 0.06, 0.06)), pose((0, 0.05, 0)))],
                       pose((0.5, 0.2, 0.2)))  # fmt: skip
    scene.add_sphere("ball", 0.08, pose((0.3, -0.4, 0.4)))
    # On a link whose frame differs from its body's, reaching through the flange into the second
    # wrist.
    scene.add_cylinder("tool", 0.01, 0.3)
    scene.attach(
        "tool",
        "flange",
        pose=pose((0.06, 0, 0), rpy=(0, np.pi / 2, 0)),
        touch_links=["wrist_2_link"],
    )
    scene.add_box("tag", (0.04, 0.04, 0.04))
    scene.attach("tag", "forearm_link", pose=pose((-0.2, 0, 0.09)))
    return scene


def expected_pairs(scene: Scene, model) -> set[tuple[str, str]]:
    """Names of pairs that are checked, according to the documentation of `Scene.compile`."""
    links = {collider.link for collider in model.colliders}
    body = {frame.name: frame.body for frame in model._engine.frames}
    pairs = {
        tuple(sorted((model.colliders[a].link, model.colliders[b].link)))
        for a, b in model.collision_pairs
    }
    for thing in scene:
        held = scene.attachments.get(thing.name)
        for link in links:
            moves_apart = body[link] != (body[held.link] if held else 0)
            if moves_apart and not (held and link in held.touch_links):
                pairs.add(tuple(sorted((thing.name, link))))
    for a, b in combinations(scene, 2):
        if a.name in scene.attachments or b.name in scene.attachments:
            pairs.add(tuple(sorted((a.name, b.name))))
    return {
        (a, b)
        for a, b in pairs
        if not {(a, b), ("*", a), ("*", b), (a, "*"), (b, "*")} & scene.allowed
    }


def overlapping(
    scene: Scene, model, q: np.ndarray, pairs: set[tuple[str, str]]
) -> set[tuple[str, str]]:
    """Pairs of these names that overlap at q, by the distance of every two shapes."""
    poses = model.link_poses(q)
    bodies: dict[str, list] = {}
    for collider in model.colliders:
        bodies.setdefault(collider.link, []).append(
            (collider.shape, poses[collider.link] @ collider.X_LC)
        )
    for thing in scene:
        held = scene.attachments.get(thing.name)
        X_WO = (poses[held.link] if held else np.eye(4)) @ thing.pose
        bodies[thing.name] = [
            (s, X_WO @ X) for s, X in zip(thing.shapes, thing.shape_poses, strict=True)
        ]
    return {
        (a, b)
        for a, b in pairs
        if any(signed_distance(s, X, t, Y).distance < 0 for s, X in bodies[a] for t, Y in bodies[b])
    }


def test_compiled_scene_agrees_with_a_double_loop(ur5):
    scene = furnished()
    scene.allow("mug", "table")
    scene.allow("tag", "ball")
    scene.allow("floor", "shoulder_link")
    space = scene.compile(ur5)
    pairs = expected_pairs(scene, ur5)
    link_of = {c.name: c.link for c in ur5.colliders}
    rng = np.random.default_rng(0)
    seen: set[tuple[str, str]] = set()
    for _ in range(400):
        q = rng.uniform(-np.pi, np.pi, 6)
        found = {
            tuple(sorted((link_of.get(a, a), link_of.get(b, b)))) for a, b, _ in space.collisions(q)
        }
        expected = overlapping(scene, ur5, q, pairs)
        assert found == expected
        assert space.collides(q) == bool(expected)
        seen |= expected
    assert any("tool" in pair for pair in seen), "the test should see the held tool collide"
    assert any("tag" in pair for pair in seen)
    assert any("mug" in pair for pair in seen)


def test_things_that_never_move_are_not_checked(ur5):
    scene = Scene()
    scene.add_box("block", (0.3, 0.3, 0.3))
    scene.add_box("in_it", (0.1, 0.1, 0.1))
    q = np.array([0, -np.pi / 2, 0, 0, np.pi / 2, 0])
    names = {name for pair in scene.compile(ur5).collisions(q) for name in pair[:2]}
    assert "in_it" in names
    assert not any(name.startswith("base_link_inertia") for name in names)
    assert not any({"block", "in_it"} == set(pair[:2]) for pair in scene.compile(ur5).collisions(q))


def test_what_is_held_hits_what_stands(ur5):
    scene = Scene()
    q = np.array([0, -1.5, 1.5, -1.5, -1.5, 0])
    at_tool = ur5.frame_pose(q, "tool0")
    scene.add_box("wall", (0.2, 0.2, 0.02), at_tool @ pose((0, 0, 0.2)))
    scene.add_sphere("ball", 0.03, pose((5, 0, 0)))
    assert not scene.compile(ur5).collides(q)
    scene.attach("ball", "tool0", pose=pose((0, 0, 0.2)))
    hits = scene.compile(ur5).collisions(q)
    assert {frozenset(hit[:2]) for hit in hits} == {frozenset({"ball", "wall"})}
    scene.allow("ball", "wall")
    assert not scene.compile(ur5).collides(q)
    scene.disallow("ball", "wall")
    scene.allow("wall")
    assert not scene.compile(ur5).collides(q)


def test_point_clouds_agree_with_numpy(ur5):
    """3000 points around the forearm's capsule; the closest point by NumPy and by the tree."""
    rng = np.random.default_rng(0)
    points = rng.uniform(-1, 1, (3000, 3))
    radius = 0.004
    scene = Scene()
    scene.add_points("cloud", points, radius)
    for link in {c.link for c in ur5.colliders} - {"forearm_link"}:
        scene.allow("cloud", link)
    space = scene.compile(ur5)
    tubes = [c for c in ur5.colliders if c.link == "forearm_link" and c.shape.type == "capsule"]
    assert len(tubes) == 1
    (row,) = (
        i
        for i, (a, b) in enumerate(space.pairs)
        if a == ur5.colliders.index(tubes[0]) and b >= len(ur5.colliders)
    )
    for _ in range(5):
        q = rng.uniform(-np.pi, np.pi, 6)
        X = ur5.frame_pose(q, "forearm_link") @ tubes[0].X_LC
        local = (points - X[:3, 3]) @ X[:3, :3]
        along = np.clip(local[:, 2], -tubes[0].shape.length / 2, tubes[0].shape.length / 2)
        expected = (
            np.linalg.norm(local - along[:, None] * [0, 0, 1], axis=1)
            - tubes[0].shape.radius
            - radius
        )
        np.testing.assert_allclose(space.distances(q)[row], expected.min(), rtol=0, atol=1e-12)
        hit = any("cloud" in pair[:2] for pair in space.collisions(q))
        assert hit or expected.min() > 0


def test_names_must_be_known(ur5):
    scene = Scene("room")
    scene.add_box("box", (1, 1, 1))
    scene.allow("box", "elbow_link")
    with pytest.raises(
        SceneError, match=r"'elbow_link'.*neither an object of the scene nor a link of 'ur5'"
    ):
        scene.compile(ur5)
    scene.disallow("box", "elbow_link")
    scene.attach("box", "hand", pose=np.eye(4))
    with pytest.raises(SceneError, match="'hand', which 'ur5' does not have"):
        scene.compile(ur5)
    scene.detach("box", pose=np.eye(4))
    scene.add_box("tool0", (1, 1, 1))
    with pytest.raises(SceneError, match="name of a link"):
        scene.compile(ur5)
