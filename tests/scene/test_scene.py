"""The Scene class: objects, allowed pairs, attach and detach, starts and goals."""

from __future__ import annotations

import numpy as np
import pytest

from robosim.errors import RobosimError, SceneError
from robosim.geometry import Shape, pose
from robosim.scene import LinkPose, MeshSource, PointCloud, Scene
from robosim.scene.objects import pieces_of

CUBE = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)], dtype=float)
CUBE_FACES = np.array(
    [
        *([0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1]),
        *([2, 3, 7], [2, 7, 6], [0, 2, 6], [0, 6, 4], [1, 5, 7], [1, 7, 3]),
    ]
)


def l_shape() -> tuple[np.ndarray, np.ndarray]:
    """Closed concave solid: an L of two unit cubes by one, extruded."""
    outline = np.array([[0, 0], [2, 0], [2, 1], [1, 1], [1, 2], [0, 2]], dtype=float)
    n = len(outline)
    vertices = np.vstack([np.c_[outline, np.zeros(n)], np.c_[outline, np.ones(n)]])
    caps = [[0, 1, 2], [0, 2, 3], [0, 3, 4], [0, 4, 5]]
    faces = [[a, c, b] for a, b, c in caps] + [[a + n, b + n, c + n] for a, b, c in caps]
    for i in range(n):
        j = (i + 1) % n
        faces += [[i, j, j + n], [i, j + n, i + n]]
    return vertices, np.array(faces)


def test_every_primitive_has_its_sizes_and_pose():
    scene = Scene()
    X = pose((1, 2, 3), rpy=(0.1, 0.2, 0.3))
    scene.add_box("box", (1, 2, 3), X, (1, 0, 0))
    scene.add_sphere("ball", 0.5, X)
    scene.add_cylinder("cylinder", 0.5, 2)
    scene.add_capsule("capsule", 0.5, 2)
    scene.add_half_space("floor")
    scene.add_convex("hull", CUBE)
    assert [thing.shapes[0].type for thing in scene] == [
        "box",
        "sphere",
        "cylinder",
        "capsule",
        "half_space",
        "convex",
    ]
    np.testing.assert_array_equal(scene.objects["box"].shapes[0].size, (1, 2, 3))
    assert scene.objects["box"].color == (1, 0, 0, 1)
    assert (
        scene.objects["capsule"].shapes[0].radius,
        scene.objects["capsule"].shapes[0].length,
    ) == (0.5, 2)
    np.testing.assert_allclose(scene.objects["ball"].pose, X, rtol=0, atol=1e-15)
    assert len(scene) == 6
    assert "ball" in scene


@pytest.mark.parametrize(
    ("action", "part"),
    [
        (lambda s: s.add_box("a", (1, 1, 1)), "'a' is already there"),
        (lambda s: s.add_box("b", (1, -1, 1)), "'b'"),
        (lambda s: s.add_box("b", (1, 1)), "'b'"),
        (lambda s: s.add_sphere("b", float("nan")), "'b'"),
        (lambda s: s.add_sphere("b", "big"), "'b'"),
        (lambda s: s.add_sphere("", 1), "name"),
        (lambda s: s.add_sphere("*", 1), "name"),
        (lambda s: s.add_sphere("two\nlines", 1), "name"),
        (lambda s: s.add_sphere("b", 1, np.diag([1, 1, 2, 1])), "orthonormal"),
        (lambda s: s.add_sphere("b", 1, np.diag([1, 1, -1, 1])), "right-handed"),
        (lambda s: s.add_sphere("b", 1, np.full((4, 4), np.nan)), "not finite"),
        (lambda s: s.add_sphere("b", 1, np.eye(3)), r"shape \(3, 3\)"),
        (lambda s: s.add_sphere("b", 1, color=(2, 0, 0)), "0 to 1"),
        (lambda s: s.add_points("b", [[0, 0, np.inf]], 0.1), "point 0"),
        (lambda s: s.add_points("b", [[0, 0]], 0.1), "shape"),
        (lambda s: s.add_compound("b", []), "at least one shape"),
        (lambda s: s.add_mesh("b", ([[0, 0, 0]], [[0, 1, 2]])), "vertex 2 of 1"),
        (lambda s: s.add_mesh("b", (CUBE, CUBE_FACES), scale=0), "not zero"),
        (lambda s: s.remove("b"), "no object 'b'; there are 'a', 'floor'"),
        (lambda s: s.move("b", np.eye(4)), "no object 'b'"),
        (lambda s: s.allow("a", "a"), "twice"),
        (lambda s: s.attach("a", "tool0"), "give its pose"),
        (lambda s: s.attach("b", "tool0", pose=np.eye(4)), "no object 'b'"),
        (lambda s: s.attach("floor", "tool0", pose=np.eye(4)), "unbounded"),
        (lambda s: s.detach("a", pose=np.eye(4)), "not attached; attached are: none"),
        (lambda s: s.set_start({}), "start"),
        (lambda s: s.set_start({"elbow": float("inf")}), "finite"),
        (lambda s: s.set_goal({"elbow": "bent"}), "'bent'"),
        (lambda s: LinkPose("", np.eye(4)), "name of a link"),
    ],
)
def test_bad_input_is_named(action, part):
    scene = Scene("desk")
    scene.add_box("a", (1, 1, 1))
    scene.add_half_space("floor")
    with pytest.raises(SceneError, match=part):
        action(scene)
    assert list(scene.objects) == ["a", "floor"], "nothing half done"


def test_a_convex_mesh_collides_as_it_is():
    scene = Scene()
    scene.add_mesh("cube", (CUBE, CUBE_FACES), scale=(1, 2, -3))
    thing = scene.objects["cube"]
    assert len(thing.shapes) == 1
    assert isinstance(thing.source, MeshSource)
    expected = {tuple(p) for p in CUBE * (1, 2, -3)}
    assert {tuple(p) for p in np.round(thing.shapes[0].vertices, 12) + 0.0} == {
        tuple(p) for p in np.array(sorted(expected)) + 0.0
    }


def test_a_concave_mesh_is_refused_with_the_remedy():
    with pytest.raises(SceneError, match=r"'bracket'.*not convex.*decompose=True"):
        Scene().add_mesh("bracket", l_shape())


def test_a_concave_mesh_is_decomposed_on_request():
    pytest.importorskip("coacd", reason="needs the extra `decomp`")
    from robosim.geometry import signed_distance

    scene = Scene()
    scene.add_mesh("bracket", l_shape(), decompose=True)
    thing = scene.objects["bracket"]
    assert len(thing.shapes) >= 2
    speck = Shape.sphere(1e-6)

    def distance(point):
        X = pose(point)
        parts = zip(thing.shapes, thing.shape_poses, strict=True)
        return min(signed_distance(speck, X, shape, X_OS).distance for shape, X_OS in parts)

    # The notch of the L is free, its arms are solid.
    assert distance((1.6, 1.6, 0.5)) > 0.5
    assert distance((0.5, 1.5, 0.5)) < 0
    assert distance((1.5, 0.5, 0.5)) < 0


def test_points_keep_their_cloud():
    scene = Scene()
    points = np.random.default_rng(0).random((50, 3))
    scene.add_points("cloud", points, 0.01, pose((1, 0, 0)))
    thing = scene.objects["cloud"]
    assert isinstance(thing.source, PointCloud)
    np.testing.assert_array_equal(thing.source.points, points)
    (body,) = thing.shapes
    np.testing.assert_array_equal(body.points, points)
    assert body.radius == 0.01
    balls = pieces_of(thing)
    np.testing.assert_array_equal([X[:3, 3] for _, X in balls], points)
    assert {(shape.type, shape.radius) for shape, _ in balls} == {("sphere", 0.01)}


def test_removing_forgets_allowed_pairs_and_attachment():
    scene = Scene()
    scene.add_box("a", (1, 1, 1))
    scene.add_box("b", (1, 1, 1))
    scene.allow("a", "b")
    scene.allow("b")
    scene.attach("a", "tool0", pose=np.eye(4))
    assert scene.allowed == {("a", "b"), ("*", "b")}
    scene.remove("a")
    assert scene.allowed == {("*", "b")}
    assert not scene.attachments
    scene.disallow("b")
    assert not scene.allowed


def test_attaching_where_it_stands_and_letting_go_are_inverse(ur5):
    scene = Scene()
    X_WO = pose((0.4, 0.1, 0.3), rpy=(0.1, -0.2, 0.3))
    scene.add_box("mug", (0.05, 0.05, 0.1), X_WO)
    rng = np.random.default_rng(0)
    q0, q1 = rng.uniform(-2, 2, (2, 6))
    scene.attach("mug", "tool0", model=ur5, q=q0, touch_links=["wrist_3_link"])
    assert scene.attachments["mug"].touch_links == ("wrist_3_link",)
    X_LO = np.linalg.inv(ur5.frame_pose(q0, "tool0")) @ X_WO
    np.testing.assert_allclose(scene.objects["mug"].pose, X_LO, rtol=0, atol=1e-14)
    scene.detach("mug", model=ur5, q=q1)
    np.testing.assert_allclose(
        scene.objects["mug"].pose, ur5.frame_pose(q1, "tool0") @ X_LO, rtol=0, atol=1e-14
    )
    with pytest.raises(SceneError, match="no link 'hand'"):
        scene.attach("mug", "hand", model=ur5, q=q0)


def test_a_copy_is_independent():
    scene = Scene("a", robot="ur5")
    scene.add_box("box", (1, 1, 1))
    scene.set_start({"elbow": 1})
    other = scene.copy()
    other.remove("box")
    other.starts["start"]["elbow"] = 2
    assert "box" in scene
    assert scene.starts == {"start": {"elbow": 1.0}}
    assert other.robot == "ur5"


def test_transformed_moves_the_world_and_not_what_is_held():
    scene = Scene()
    scene.add_box("table", (1, 1, 1), pose((1, 0, 0)))
    scene.add_box("mug", (1, 1, 1), pose((0, 0, 0.1)))
    scene.attach("mug", "tool0", pose=pose((0, 0, 0.1)))
    scene.set_goal(LinkPose("tool0", pose((2, 0, 0))))
    X = pose((0, 0, 1), rpy=(0, 0, np.pi / 2))
    moved = scene.transformed(X)
    np.testing.assert_allclose(moved.objects["table"].pose, X @ pose((1, 0, 0)), rtol=0, atol=1e-15)
    np.testing.assert_allclose(moved.objects["mug"].pose, pose((0, 0, 0.1)), rtol=0, atol=1e-15)
    np.testing.assert_allclose(moved.goals["goal"].pose, X @ pose((2, 0, 0)), rtol=0, atol=1e-15)
    np.testing.assert_array_equal(scene.objects["table"].pose, pose((1, 0, 0)))


def test_errors_are_of_one_family():
    assert issubclass(SceneError, RobosimError)
    assert issubclass(SceneError, ValueError)
