"""Scenes are compiled once per content: reuse, changes, and growth with the number of objects."""

from __future__ import annotations

import copy
import gc
import itertools
import pickle
import sys
import threading
import weakref

import numpy as np
import pytest

from robosim import load_robot
from robosim.errors import SceneError
from robosim.geometry import PointCloud, Shape, pose
from robosim.planners import Problem, plan
from robosim.planners.stages import RESOLUTION
from robosim.scene import Scene, SceneObject, compiled, load_scene
from robosim.scene.compile import _compile

from ..scale import FULL, repeats  # noqa: TID252

# Far enough from the UR5's base that most configurations are free.
FAR = [(0.7, 0.2, 0.3), (-0.5, 0.5, 0.4), (0.4, -0.6, 0.2), (0.2, 0.7, 0.6), (-0.7, -0.2, 0.5)]


def furnished() -> Scene:
    scene = Scene("room")
    scene.add_half_space("floor", pose((0, 0, -0.02)))
    for i, p in enumerate(FAR):
        scene.add_box(f"box{i}", (0.1, 0.1, 0.2), pose(p))
    scene.add_points("cloud", np.random.default_rng(0).uniform(0.5, 0.9, (50, 3)), 0.01)
    scene.add_cylinder("tool", 0.02, 0.1)
    scene.attach("tool", "tool0", pose=pose((0, 0, 0.06)), touch_links=["wrist_3_link"])
    return scene


def fresh(scene: Scene, model):
    """Scene compiled without the cache."""
    return _compile(scene, model, with_tables=True)[0]


def assert_alike(one, other, q: np.ndarray) -> None:
    """Assert that two compiled scenes return equal results for these configurations."""
    assert one.names == other.names
    np.testing.assert_array_equal(one.pairs, other.pairs)
    np.testing.assert_array_equal(one.collides_many(q), other.collides_many(q))
    np.testing.assert_array_equal(one.distances_many(q), other.distances_many(q))
    for a, b in itertools.pairwise(q):
        assert one.edge_free(a, b).free == other.edge_free(a, b).free


def edited(scene: Scene, rng: np.random.Generator) -> None:
    """Change a scene at random, by any of the methods that change one."""
    names = [name for name in scene.objects if name.startswith("box")]
    name = names[rng.integers(len(names))]
    X = pose(rng.uniform(0.3, 0.8, 3) * rng.choice([-1, 1], 3))
    held = name in scene.attachments
    links = ["forearm_link", "wrist_2_link", "tool0"]
    way = rng.integers(9)
    if way == 0:
        scene.move(name, X)
    elif way == 1:
        size = tuple(rng.uniform(0.05, 0.2, 3))
        scene.replace(
            SceneObject(name, (Shape.box(size),), np.eye(4)[None], scene.objects[name].pose)
        )
    elif way == 2:
        scene.set_points("cloud", rng.uniform(-0.9, 0.9, (rng.integers(5, 60), 3)))
    elif way == 3:
        scene.set_points("cloud", scene.objects["cloud"].source.points, rng.uniform(0.005, 0.05))
    elif way == 4 and held:
        scene.detach(name, pose=X)
    elif way == 4:
        scene.attach(name, rng.choice(links), pose=pose(rng.uniform(0.1, 0.2, 3)))
    elif way == 5:
        scene.allow(name, rng.choice([*links, "*", "floor"]))
    elif way == 6:
        for pair in sorted(scene.allowed)[:1]:
            scene.disallow(*pair)
    elif way == 7 and len(names) > 2:
        scene.remove(name)
    else:
        scene.add_box(f"box{rng.integers(1_000_000)}", (0.1, 0.1, 0.1), X)


def test_a_changed_scene_is_never_taken_for_what_it_was(ur5):
    """Random edits in sequence.

    After each edit the scene is equal to a freshly compiled one, and earlier states of the scene
    return the same compiled object as before.
    """
    rng = np.random.default_rng(0)
    for _ in range(repeats(4, 40)):
        scene, before = furnished(), []
        for _ in range(12):
            now = scene.compile(ur5)
            assert_alike(now, fresh(scene, ur5), rng.uniform(-np.pi, np.pi, (6, 6)))
            before.append((scene.copy(), now))
            assert all(known.compile(ur5) is what for known, what in before)
            edited(scene, rng)


def test_equal_scenes_are_compiled_once(ur5, tmp_path):
    scene = furnished()
    first = scene.compile(ur5)
    assert scene.compile(ur5) is first
    assert furnished().compile(ur5) is first
    assert scene.copy().compile(ur5) is first
    assert pickle.loads(pickle.dumps(scene)).compile(ur5) is first
    scene.save(tmp_path / "scene.yaml")
    again = Scene.load(tmp_path / "scene.yaml")
    assert Scene.load(tmp_path / "scene.yaml").compile(ur5) is again.compile(ur5)
    # Changed and changed back.
    X = scene.objects["box1"].pose
    scene.move("box1", pose((1, 1, 1)))
    assert scene.compile(ur5) is not first
    scene.move("box1", X)
    assert scene.compile(ur5) is first
    # Changes without effect on collisions: names, colors, starts and goals.
    scene.name, scene.robot = "other", "ur5"
    scene.set_start({"elbow_joint": 1.0})
    scene.replace(SceneObject("box1",
        *[getattr(scene.objects["box1"], x) for x in ("shapes", "shape_poses", "pose")],
                              color=(1, 0, 0, 1)))  # fmt: skip
    assert scene.compile(ur5) is first


def test_models_have_scenes_of_their_own(ur5):
    scene, other = furnished(), load_robot("ur5").with_collision_pairs([])
    assert scene.compile(other) is not scene.compile(ur5)
    assert len(scene.compile(other).pairs) < len(scene.compile(ur5).pairs)


def test_every_part_of_an_object_counts():
    points = np.random.default_rng(0).random((20, 3))
    tetrahedron = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]
    made: list[SceneObject] = []
    scenes = [
        lambda s, name: s.add_box(name, (0.1, 0.2, 0.3)),
        lambda s, name: s.add_box(name, (0.1, 0.2, 0.3), pose((0, 0, 1e-15))),
        lambda s, name: s.add_shape(name, Shape.box((0.1, 0.2, 0.3), 0.01)),
        lambda s, name: s.add_cylinder(name, 0.1, 0.3),
        lambda s, name: s.add_capsule(name, 0.1, 0.3),
        lambda s, name: s.add_cylinder(name, 0.3, 0.1),
        lambda s, name: s.add_points(name, points, 0.1),
        lambda s, name: s.add_points(name, points, 0.2),
        lambda s, name: s.add_points(name, np.add(points, (0, 0, 1e-15)), 0.1),
        lambda s, name: s.add_convex(name, points),
        lambda s, name: s.add_convex(name, points[:-1]),
        lambda s, name: s.add_mesh(
            name, (tetrahedron, [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)]), keep="surface"
        ),
        lambda s, name: s.add_mesh(
            name, (tetrahedron, [(0, 2, 1), (0, 1, 3), (0, 3, 2)]), keep="surface"
        ),
        lambda s, name: s.add_compound(name, [(Shape.sphere(1), None), (Shape.sphere(2), None)]),
        lambda s, name: s.add_compound(name, [(Shape.sphere(2), None), (Shape.sphere(1), None)]),
        lambda s, name: s.add_compound(
            name, [(Shape.sphere(2), pose((1, 0, 0))), (Shape.sphere(1), None)]
        ),
    ]
    for name in ("a", "b"):
        for make in scenes:
            scene, again = Scene(), Scene()
            make(scene, name), make(again, name)
            made.append(scene.objects[name])
            assert again.objects[name].digest == scene.objects[name].digest
    assert len({thing.digest for thing in made}) == len(made) == 2 * len(scenes)


def test_nobody_writes_to_what_has_a_digest():
    """Neither the given arrays, nor the object's arrays, nor a pickle can change the content."""
    X, shape_poses, points = pose((1, 2, 3)), np.eye(4)[None], np.zeros((3, 3))
    thing = SceneObject("box", (Shape.sphere(1),), shape_poses, X)
    scene = Scene()
    scene.add(thing)
    scene.add_points("cloud", points, 0.1, X)
    digests = [thing.digest for thing in scene]
    X[0, 3], shape_poses[0, 0, 3], points[0] = 7, 7, 7
    for thing in scene:
        for array in (thing.pose, thing.shape_poses):
            with pytest.raises(ValueError, match="read-only"):
                array[..., 0, 3] = 5
    with pytest.raises(ValueError, match="read-only"):
        scene.objects["cloud"].source.points[0] = 5
    assert scene.objects["box"].pose[0, 3] == 1
    for other in (copy.copy, copy.deepcopy, lambda s: pickle.loads(pickle.dumps(s))):
        for copied in ([other(thing) for thing in scene], other(scene)):
            assert [thing.digest for thing in copied] == digests
            assert not any(
                thing.pose.flags.writeable or thing.shape_poses.flags.writeable for thing in copied
            )


def test_few_are_kept_and_none_without_its_model(monkeypatch):
    model = load_robot("ur5").with_gravity((0, 0, -9.81))
    compiled_ones = []
    for i in range(3 * compiled._MOST_SCENES):
        scene = Scene()
        scene.add_sphere("ball", 0.1 + 0.01 * i, pose((2, 0, 0)))
        compiled_ones.append(weakref.ref(scene.compile(model)))
    gc.collect()
    alive = [known() is not None for known in compiled_ones]
    assert alive == [False] * 2 * compiled._MOST_SCENES + [True] * compiled._MOST_SCENES
    # One large scene takes the place of many small ones.
    monkeypatch.setattr(compiled, "_MOST_PARTS", 20_000)
    n = compiled._MOST_PARTS // 2
    for k in range(3):
        scene = Scene()
        scene.add_points("cloud", np.random.default_rng(k).random((n, 3)) + 5, 0.001)
        compiled_ones.append(weakref.ref(scene.compile(model)))
    gc.collect()
    assert [known() is not None for known in compiled_ones[-5:]] == [
        False,
        False,
        False,
        False,
        True,
    ]
    del model, scene
    gc.collect()
    assert not any(known() is not None for known in compiled_ones)


def test_threads_share_them(ur5):
    scene, found = furnished(), []
    scene.add_sphere("of this test", 0.1, pose((3, 0, 0)))
    threads = [threading.Thread(target=lambda: found.append(scene.compile(ur5))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 8
    q = np.random.default_rng(0).uniform(-np.pi, np.pi, (20, 6))
    for other in found[1:]:
        np.testing.assert_array_equal(other.collides_many(q), found[0].collides_many(q))
    assert scene.compile(ur5) is scene.compile(ur5)


def test_plans_do_not_depend_on_what_was_planned_before(ur5):
    """Plans are equal to the last bit.

    They are computed alone, again, and after other queries of the same compiled scene.
    """
    scenes = [load_scene(name, model=ur5) for name in ("table_pick", "box", "cage")]
    problems = [Problem(ur5, scene) for scene in scenes]
    alone = []
    for problem in problems:
        compiled._scenes.clear()
        alone.append(plan(problem, seed=3))
    rng = np.random.default_rng(0)
    for _ in range(3):
        for scene in scenes:
            known = scene.compile(ur5)
            for q in rng.uniform(-np.pi, np.pi, (20, 6)):
                (
                    known.collides(q),
                    known.collisions(q, 0.1),
                    known.distances(q),
                    known.min_distance(q),
                )
        for problem, before in zip(problems, alone, strict=True):
            result = plan(problem, seed=3)
            np.testing.assert_array_equal(result.path, before.path)
            np.testing.assert_array_equal(
                result.trajectory.coefficients, before.trajectory.coefficients
            )
            np.testing.assert_array_equal(result.trajectory.breaks, before.trajectory.breaks)


def calls(work) -> int:
    """Number of functions that Python calls during `work`, including functions in C."""
    count = 0

    def seen(frame, event, argument) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(seen)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.parametrize(
    "what", ["boxes", "boxes beside something held", "allowed boxes", "parts", "points"]
)
def test_compiling_grows_with_the_number_of_objects(ur5, what):
    """Four times the objects take about four times the calls, not sixteen times."""

    def of(n: int) -> Scene:
        scene, rng = Scene(), np.random.default_rng(n)
        places = rng.uniform(1, 3, (n, 3))
        if what == "parts":
            scene.add_compound("all", [(Shape.box((0.02, 0.02, 0.02)), pose(p)) for p in places])
        elif what == "points":
            scene.add_points("all", places, 0.01)
        else:
            for i, p in enumerate(places):
                scene.add_box(f"box{i}", (0.02, 0.02, 0.02), pose(p))
        if what == "boxes beside something held":
            scene.add_sphere("held", 0.02)
            scene.attach("held", "tool0", pose=pose((0, 0, 0.1)))
        if what == "allowed boxes":
            for i in range(n):
                scene.allow(f"box{i}", "forearm_link")
        return scene

    of(1).compile(ur5)  # results computed once per model
    few, many = of(200), of(800)
    assert calls(lambda: fresh(many, ur5)) < 5 * calls(lambda: fresh(few, ur5))


# Clouds


def test_a_cloud_collides_as_the_balls_about_its_points(ur5):
    """A cloud against an object made of one ball per point: configurations, motions, distances.

    Motions that come within half the resolution of a collision may be refused or not. For a ball, a
    separating plane bounds the arm's motion towards it. A cloud has no such plane, so that every
    motion counts, and it is refused slightly earlier.
    """
    rng = np.random.default_rng(0)
    points, radius, X = (
        rng.uniform(-0.9, 0.9, (300, 3)),
        0.02,
        pose((0.1, 0, 0.2), rpy=(0.1, 0.2, 0.3)),
    )
    points = points[np.linalg.norm(points, axis=1) > 0.6]
    cloud, balls = Scene(), Scene()
    cloud.add_points("cloud", points, radius, X)
    balls.add_compound("cloud", [(Shape.sphere(radius), pose(p)) for p in points], X)
    for held in (False, True):
        if held:
            for scene in (cloud, balls):
                scene.add_box("wall", (0.1, 2, 2), pose((1, 0, 0)))
                scene.attach("cloud", "wrist_3_link", pose=pose((0, 0, 0.5)))
        one, other = cloud.compile(ur5), balls.compile(ur5)
        # The gate's configurations include three motions that are refused with the cloud but not
        # with the balls.
        first, last = (0, 3000) if FULL else (1000, 1360)
        q = rng.uniform(-np.pi, np.pi, (3000, 6))[first:last]
        np.testing.assert_array_equal(one.collides_many(q), other.collides_many(q))
        assert one.collides_many(q).any()
        assert not one.collides_many(q).all()
        differ = 0
        for a, b in itertools.pairwise(q):
            b = a + 0.2 * (b - a)
            assert one.collides(a) == other.collides(a)
            answers = [assert_as_documented(scene, a, b) for scene in (one, other)]
            if answers[0] != answers[1]:
                differ += 1
                # Both are proven free at a resolution equal to the least distance of the samples,
                # since the distance between samples stays above half of it.
                apart = min(one.min_distance(x)[0] for x in np.linspace(a, b, 2001))
                assert apart > 0
                assert one.edge_free(a, b, apart).free
                assert other.edge_free(a, b, apart).free
            # Both are exact to rounding.
            assert abs(one.min_distance(a)[0] - other.min_distance(a)[0]) < 1e-9
            assert {pair[:2] for pair in one.collisions(a)} == {
                pair[:2] for pair in other.collisions(a)
            }
        assert differ < 0.01 * len(q)


def assert_as_documented(scene, a: np.ndarray, b: np.ndarray) -> bool:
    """Check a motion as documented; return true if it is reported free.

    No sample of a free motion collides. A refused motion is near a collision at the reported time.
    """
    edge = scene.edge_free(a, b)
    if edge.free:
        assert not scene.collides_many(np.linspace(a, b, 41)).any()
    else:
        # Distances are exact to rounding.
        assert scene.min_distance(a + edge.t * (b - a))[0] < RESOLUTION / 2 + 1e-9
    return edge.free


def test_a_cloud_is_updated_in_place(ur5):
    scene, rng = furnished(), np.random.default_rng(1)
    scene.allow("cloud", "box0")
    scene.move("cloud", pose((0, 0, 0.1)))
    before = scene.objects["cloud"]
    points = rng.uniform(-1, 1, (70, 3))
    scene.set_points("cloud", points)
    now = scene.objects["cloud"]
    np.testing.assert_array_equal(now.source.points, points)
    np.testing.assert_array_equal(now.pose, before.pose)
    assert (now.source.radius, now.color) == (before.source.radius, before.color)
    assert list(scene.objects) == list(furnished().objects)
    assert ("box0", "cloud") in scene.allowed
    scene.set_points("cloud", points, 0.03)
    assert scene.objects["cloud"].source.radius == 0.03
    (body,) = scene.objects["cloud"].shapes
    assert isinstance(body, PointCloud)
    assert body.radius == 0.03
    # Points in the shape of a picture, at another pose, and an empty cloud.
    scene.set_points("cloud", points.reshape(7, 10, 3), pose=pose((0, 0, 1)))
    np.testing.assert_array_equal(scene.objects["cloud"].source.points, points)
    assert scene.objects["cloud"].pose[2, 3] == 1
    scene.set_points("cloud", points[:0])
    assert scene.objects["cloud"].shapes == ()
    assert "cloud" not in scene.compile(ur5).names
    # An attached cloud stays attached.
    scene.attach("cloud", "tool0", pose=np.eye(4))
    scene.set_points("cloud", points[:5])
    assert scene.attachments["cloud"].link == "tool0"
    for name, given, match in (
        ("box0", points, "is no cloud of points"),
        ("clout", points, "no object 'clout'; did you mean"),
        ("cloud", points[:, :2], r"shape \(70, 2\)"),
        ("cloud", points[0], r"shape \(3,\)"),
        ("cloud", np.full((1, 3), np.nan), "point 0 is not finite"),
    ):
        with pytest.raises(SceneError, match=match):
            scene.set_points(name, given)
    with pytest.raises(SceneError, match="radius"):
        scene.set_points("cloud", points, -1.0)
    assert len(scene.objects["cloud"].source.points) == 5


def test_an_object_is_replaced_by_name():
    scene = furnished()
    ball = SceneObject("box1", (Shape.sphere(0.2),), np.eye(4)[None], pose((1, 0, 0)))
    scene.allow("box1", "floor")
    scene.replace(ball)
    assert scene.objects["box1"] is ball
    assert list(scene.objects) == list(furnished().objects)
    assert ("box1", "floor") in scene.allowed
    with pytest.raises(SceneError, match="no object 'box9'"):
        scene.replace(SceneObject("box9", (Shape.sphere(0.2),), np.eye(4)[None], np.eye(4)))
    with pytest.raises(SceneError, match="unbounded"):
        scene.replace(SceneObject("tool", (Shape.half_space(),), np.eye(4)[None], np.eye(4)))
    with pytest.raises(SceneError, match="SceneObjects, found int"):
        scene.replace(3)
