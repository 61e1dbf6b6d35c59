"""Point clouds of cameras: merging keeps obstacles, the robot is removed, the rest is counted."""

import numpy as np
import pytest
from scipy.spatial import cKDTree

from robosim import load_robot
from robosim.errors import SceneError
from robosim.geometry import Shape, pose, signed_distance
from robosim.model import ModelBuilder
from robosim.planners import Problem, plan
from robosim.scene import Scene, clean_cloud, ray_cast
from tests.concave import channel
from tests.scale import repeats


@pytest.fixture(scope="module")
def ur5():
    return load_robot("ur5")


@pytest.mark.parametrize("seed", range(repeats(8, 200)))
def test_obstacles_never_shrink(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 3000))
    points = rng.normal(size=(n, 3)) * rng.choice([1e-3, 1, 30]) + rng.normal(size=3) * rng.choice(
        [0, 1, 1e3]
    )
    if seed % 3 == 0:
        points[:, rng.integers(3)] = 0.7  # a plane along the grid, on borders of cells
    voxel, radius = float(np.exp(rng.uniform(np.log(1e-3), np.log(3)))), float(rng.uniform(0, 0.02))
    kept = clean_cloud(points, radius, voxel=voxel)
    grown = kept.radius - radius
    # Rounding of coordinates up to 1e3 and of the radius, 4e-16 of each.
    assert cKDTree(kept.points).query(points)[0].max() <= grown + 1e-12
    assert grown <= np.sqrt(3) / 2 * voxel * (1 + 1e-12) + 1e-12
    cells = np.unique(np.floor(points / voxel), axis=0)
    assert len(kept.points) == len(cells)
    assert kept.merged == n - len(cells)
    # No obstacle appears where no point was.
    assert cKDTree(points).query(kept.points)[0].max() <= grown + 1e-12


def test_without_a_grid_points_stay_as_they_are():
    points = np.random.default_rng(1).normal(size=(40, 3))
    kept = clean_cloud(points, 0.01)
    assert np.array_equal(kept.points, points)
    assert kept == (kept.points, 0.01, 0, 0, 0, 0)


def test_what_is_no_point_is_counted():
    depth = np.random.default_rng(2).uniform(0.5, 2, (48, 64))
    picture = np.stack(
        np.broadcast_arrays(np.linspace(-0.5, 0.5, 64), np.linspace(-0.4, 0.4, 48)[:, None], depth),
        -1,
    )
    picture[:5] = np.nan
    picture[7, 3] = np.inf
    picture[8, 3, 1] = -np.inf
    picture[9, :10] = 0  # no measurement, as reported by some cameras
    picture[10, 0] = (0, 0, 9)
    X_WC = pose((1, -2, 0.5), rpy=(-1.8, 0.2, 0.4))
    kept = clean_cloud(picture, 0.005, X_WC, near=0.1, far=5)
    assert kept[2:] == (5 * 64 + 2, 11, 0, 0)
    good = (
        np.isfinite(picture).all(axis=-1)
        & (np.linalg.norm(picture, axis=-1) < 5)
        & picture.any(axis=-1)
    )
    assert np.allclose(
        kept.points, picture[good] @ X_WC[:3, :3].T + X_WC[:3, 3], rtol=0, atol=1e-14
    )
    scene = Scene("camera")
    with pytest.raises(SceneError, match=r"not finite.*clean_cloud"):
        scene.add_points("cloud", picture, 0.005)
    scene.add_points("cloud", picture[20:], 0.005)
    assert len(scene.objects["cloud"].source.points) == 28 * 64


def test_points_on_the_robot_are_those_within_the_margin_of_its_shapes():
    builder = ModelBuilder("odd")
    builder.add_link("base")
    builder.add_collider(
        "base", Shape.box((0.3, 0.2, 0.1)), X_LC=pose((0, 0, 0.05), rpy=(0, 0, 0.3))
    )
    builder.add_link("arm", mass=1.0, inertia=np.eye(3))
    builder.add_joint(
        "turn", "revolute", "base", "arm", X_PJ=pose((0, 0, 0.2)), axis=(0, 1, 0), lower=-3, upper=3
    )
    shapes = [
        Shape.cylinder(0.05, 0.4),
        Shape.capsule(0.04, 0.3),
        Shape.ellipsoid((0.1, 0.05, 0.2)),
    ]
    shapes += [
        Shape.convex(np.random.default_rng(0).normal(size=(12, 3)) * 0.1),
        Shape.cone(0.1, 0.2),
    ]
    for k, shape in enumerate(shapes):
        builder.add_collider("arm", shape, X_LC=pose((0.15 * k, 0, 0.2), rpy=(0.3 * k, 0.2, 0)))
    robot, q = builder.build(), np.array([0.7])
    scene = Scene("s")
    scene.add_sphere("ball", 0.07)
    scene.add_box("table", (0.4, 0.4, 0.4), pose((0.5, 0.5, 0)))  # not a part of the robot
    scene.attach("ball", "arm", pose=pose((0, 0, 0.6)))
    rng = np.random.default_rng(3)
    points = rng.uniform((-0.5, -0.4, -0.2), (1.0, 0.7, 1.0), (repeats(6000, 40_000), 3))
    poses = robot.link_poses(q)
    placed = [(c.shape, poses[c.link] @ c.X_LC) for c in robot.colliders]
    placed.append((Shape.sphere(0.07), poses["arm"] @ pose((0, 0, 0.6))))
    gap = np.array(
        [
            min(signed_distance(s, X, Shape.sphere(1e-9), pose(p)).distance for s, X in placed)
            for p in points
        ]
    )
    for margin in (0.0, 0.03):
        kept = clean_cloud(points, 0.01, model=robot, q=q, scene=scene, margin=margin)
        clear = np.abs(gap - margin) > 1e-8  # the ball in place of a point, and rounding
        assert 40 < kept.on_robot < len(points) - 40
        expected = points[gap > margin]
        assert np.count_nonzero(~clear) == 0
        assert np.array_equal(kept.points, expected)
    alone = clean_cloud(points, 0.01, model=robot, q=q, margin=0.0)
    assert alone.on_robot < np.count_nonzero(gap <= 0), (
        "without the scene what is held counts as an obstacle"
    )


def test_points_in_the_hollow_of_a_mesh_are_not_on_the_robot():
    builder = ModelBuilder("channel")
    builder.add_link("base")
    # Its floor is at -0.15, its walls at -+0.15.
    builder.add_collider("base", channel(0.4, 0.3, 0.3, 0.02))
    robot = builder.build()
    points = np.array(
        [(0, 0, 0), (0, 0.1, -0.1), (0, 0, -0.14), (0.1, 0.145, 0.1), (0, 0.125, 0), (0, 0.118, 0)]
    )
    kept = clean_cloud(points, 0.001, model=robot, q=robot.neutral(), margin=0.01)
    assert np.array_equal(kept.points, points[[0, 1, 5]])


def test_a_camera_that_sees_the_robot_and_a_wall(ur5):
    # A camera sees a wall and the robot, with a millimeter of noise. Planning starts inside this
    # cloud.
    rng = np.random.default_rng(4)
    q = ur5.configuration({"shoulder_lift_joint": -1.2, "elbow_joint": 1.4, "wrist_1_joint": -1.0})
    truth = Scene("truth")
    truth.add_box("wall", (0.02, 1.2, 1.2), pose((0.15, -0.75, 0.5), rpy=(0, 0, 0.2)))
    eye = np.array([2.0, 0.8, 1.2])
    X_WC = np.eye(4)
    X_WC[:3, 2] = (np.array([0.1, -0.3, 0.4]) - eye) / np.linalg.norm(
        np.array([0.1, -0.3, 0.4]) - eye
    )
    X_WC[:3, 0] = np.cross(X_WC[:3, 2], (0, 0, 1)) / np.linalg.norm(
        np.cross(X_WC[:3, 2], (0, 0, 1))
    )
    X_WC[:3, 1] = np.cross(X_WC[:3, 2], X_WC[:3, 0])
    X_WC[:3, 3] = eye
    u, v = np.meshgrid(np.linspace(-0.5, 0.5, 160), np.linspace(-0.4, 0.4, 120))
    beams = np.stack([u, v, np.ones_like(u)], axis=-1)
    seen = ray_cast(truth.compile(ur5), q, eye, beams.reshape(-1, 3) @ X_WC[:3, :3].T, max_t=4.0)
    depth = np.where(seen.hit, seen.t, np.nan) + rng.normal(size=seen.t.shape) * 1e-3
    picture = beams * depth.reshape(120, 160, 1)
    of_robot = sum(seen.names[i] != "wall" for i in seen.object[seen.hit])
    kept = clean_cloud(picture, 0.004, X_WC, model=ur5, q=q, margin=0.03, voxel=0.01)
    assert kept.not_finite == np.count_nonzero(~seen.hit)
    assert kept.on_robot >= of_robot > 300
    scene = Scene("camera")
    scene.add_points("cloud", kept.points, kept.radius)
    assert not scene.compile(ur5).collides(q)
    goal = q.copy()
    goal[0] -= 0.4
    result = plan(Problem(ur5, scene, q, goal))
    assert result, result.reason


def test_the_next_picture_takes_the_place_of_the_last():
    scene = Scene("camera")
    scene.add_box("table", (1, 1, 0.1))
    scene.add_points("cloud", np.zeros((5, 3)), 0.01, pose((0, 0, 1)), color=(1, 0, 0))
    scene.add_sphere("ball", 0.1)
    scene.allow("cloud", "table")
    before = scene.copy()
    points = np.ones((3, 4, 3))
    scene.set_points("cloud", points, 0.02)
    thing = scene.objects["cloud"]
    assert np.array_equal(thing.source.points, points.reshape(-1, 3))
    assert thing.source.radius == 0.02
    assert thing.color == (1, 0, 0, 1)
    assert np.array_equal(thing.pose, pose((0, 0, 1)))
    assert list(scene.objects) == ["table", "cloud", "ball"]
    assert scene.allowed == {("cloud", "table")}
    scene.set_points("cloud", points[:0], pose=pose((0, 0, 2)))
    assert scene.objects["cloud"].source.radius == 0.02
    assert scene.objects["cloud"].shapes == ()
    assert len(before.objects["cloud"].source.points) == 5, "a copy keeps its own"
    with pytest.raises(SceneError, match="did you mean 'cloud'"):
        scene.set_points("clout", points)
    scene.set_points("other", points, 0.03)  # the first picture
    assert scene.objects["other"].source.radius == 0.03
    with pytest.raises(SceneError, match="'ball' is no cloud"):
        scene.set_points("ball", points)
    with pytest.raises(SceneError, match=r"found shape \(3, 4\)"):
        scene.set_points("cloud", points[..., 0])


def test_an_empty_cloud_touches_nothing_and_is_saved(ur5, tmp_path):
    scene = Scene("camera")
    scene.add_points("cloud", np.empty((0, 3)), 0.01)
    assert clean_cloud(
        np.full((4, 4, 3), np.nan), 0.01, model=ur5, q=ur5.neutral(), voxel=0.1
    ).points.shape == (0, 3)
    compiled = scene.compile(ur5)
    assert compiled.names == ur5_alone(ur5).names
    scene.save(tmp_path / "s.yaml")
    assert len(Scene.load(tmp_path / "s.yaml").objects["cloud"].source.points) == 0


def ur5_alone(ur5):
    return Scene("empty").compile(ur5)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"points": np.zeros((3, 2))}, r"\(3, 2\)"),
        ({"points": "x"}, "numbers"),
        ({"radius": -1.0}, "radius is -1"),
        ({"radius": np.nan}, "radius is nan"),
        ({"voxel": 0.0}, "voxel is 0"),
        ({"voxel": np.inf}, "voxel is inf"),
        ({"near": 2.0, "far": 1.0}, "far is 1"),
        ({"margin": np.inf}, "margin is inf"),
        ({"q": np.zeros(6)}, "model and q"),
        ({"scene": Scene("s")}, "model and q"),
        ({"pose": np.zeros((4, 4))}, "the camera"),
        ({"voxel": 1e-300, "points": np.ones((1, 3))}, "too many cells"),
    ],
)
def test_bad_input_is_named(arguments, says):
    with pytest.raises(SceneError, match=says):
        clean_cloud(**{"points": np.zeros((4, 3)), "radius": 0.01, **arguments})


def test_a_configuration_that_does_not_fit_is_named(ur5):
    with pytest.raises(SceneError, match=r"q has shape \(2,\)"):
        clean_cloud(np.zeros((4, 3)), 0.01, model=ur5, q=[0, 0])
