"""Inverse kinematics of many poses: verified by forward kinematics, on any number of threads."""

from __future__ import annotations

from importlib import metadata
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import robosim
from robosim.errors import PlanningError, UrdfError
from robosim.geometry import pose
from robosim.planners import IkStatus, PoseGoal, inverse_kinematics, inverse_kinematics_many
from robosim.scene import Scene
from robosim.urdf import bundled_robots

from ..scale import repeats, some  # noqa: TID252 (tests have no absolute name)

INF = np.inf


@pytest.fixture(scope="module")
def panda():
    return robosim.load_robot("panda")


def configurations(model, n, seed=0):
    return model.random_configuration(np.random.default_rng(seed), n)


def errors(model, link, q, X):
    """Distances [m] and angles [rad], (n,) each, of the link from the poses X (n, 4, 4)."""
    found = model.frame_pose(q, link)
    position = np.linalg.norm(found[:, :3, 3] - X[:, :3, 3], axis=1)
    turn = np.swapaxes(X[:, :3, :3], 1, 2) @ found[:, :3, :3]
    return position, Rotation.from_matrix(turn).magnitude()


def arms():
    return ["ur5", "ur5e", "panda"]


@pytest.mark.parametrize("name", arms())
def test_poses_of_configurations_are_met(name):
    """All poses except a few in ten thousand are solved to rounding and within limits.

    They are sampled from the whole range of the limits.
    """
    model = robosim.load_robot(name)
    link = "tool0" if name != "panda" else "panda_link8"
    n = repeats(2000, 50_000)
    X = model.frame_pose(configurations(model, n), link)
    found = inverse_kinematics_many(model, link, X, position_tolerance=0, rotation_tolerance=0)
    assert found.solved.mean() >= 0.9995
    position, angle = errors(model, link, found.q[found.solved], X[found.solved])
    # Attempts end at 1e-9. Angles from matrices are exact to the square root of rounding.
    assert position.max() <= 2e-9
    assert angle.max() <= 5e-8
    assert ((found.q >= model.limits.lower) & (found.q <= model.limits.upper)).all()
    assert (found.status != IkStatus.OUT_OF_REACH).all()
    assert len(found) == n
    assert all(found.reason(i) == "" for i in np.flatnonzero(found.solved)[:10])


def test_threads_and_company_change_nothing(panda):
    """Results have the same bits for any number of threads, batch and order of poses."""
    X = panda.frame_pose(configurations(panda, 700), "panda_link8")
    X[::7, :3, 3] *= 1.15  # some are out of reach
    one = inverse_kinematics_many(panda, "panda_link8", X, threads=1)
    two = inverse_kinematics_many(panda, "panda_link8", X, threads=2)
    back = inverse_kinematics_many(panda, "panda_link8", X[::-1], threads=2)
    some_of_them = inverse_kinematics_many(panda, "panda_link8", X[100:103])
    for name in ("q", "status", "attempts", "position_error", "rotation_error"):
        alone, together = getattr(one, name), getattr(two, name)
        assert alone.tobytes() == together.tobytes()
        assert alone.tobytes() == np.ascontiguousarray(getattr(back, name)[::-1]).tobytes()
        assert alone[100:103].tobytes() == getattr(some_of_them, name).tobytes()
    other = inverse_kinematics_many(panda, "panda_link8", X, seed=1)
    assert other.q.tobytes() != one.q.tobytes()


def test_starts(ur5):
    """A start that solves a pose is returned, with whole turns. Joints that are left out stay."""
    q = configurations(ur5, 300)
    X = ur5.frame_pose(q, "tool0")
    found = inverse_kinematics_many(ur5, "tool0", X, start=q)
    np.testing.assert_allclose(found.q, q, atol=1e-7)
    assert (found.attempts == 1).all()
    near = inverse_kinematics_many(ur5, "tool0", X, start=q + 1e-3)
    assert np.abs(near.q - q).max() < 0.2
    shared = inverse_kinematics_many(ur5, "tool0", X[:5], start=q[0])
    np.testing.assert_allclose(shared.q[0], q[0], atol=1e-7)
    wrist = ["wrist_1_joint", "wrist_2_joint", "wrist_3_joint"]
    turned = q.copy()
    turned[:, 3:] += 0.3
    part = inverse_kinematics_many(ur5, "tool0", X, start=turned, joints=wrist)
    assert (part.q[:, :3] == q[:, :3]).all()
    assert part.solved.mean() > 0.99
    for field in (found, near, shared, part):
        assert field.position_error.max() < 2e-6


@pytest.mark.parametrize("kind", ["planar_arm", "gantry", "rover"])
def test_other_joints(robots, kind):
    """Planar, sliding, continuous and mimic joints, and a mobile base."""
    model = getattr(robots, kind)()
    link = {"planar_arm": "tip", "gantry": "finger_right", "rover": "mast"}[kind]
    q = configurations(model, 400)
    X = model.frame_pose(q, link)
    found = inverse_kinematics_many(model, link, X)
    assert found.solved.all()
    position, angle = errors(model, link, found.q, X)
    assert max(position.max(), angle.max() - 5e-8) <= 2e-9


def test_tolerances(ur5):
    """Free axes, regions, and poses within tolerances alone, by the definition of a PoseGoal."""
    X = ur5.frame_pose(configurations(ur5, 300), "tool0")
    X[:, :3, 3] += np.random.default_rng(1).normal(0, 0.05, (300, 3))
    exact = inverse_kinematics_many(ur5, "tool0", X)
    spin = inverse_kinematics_many(ur5, "tool0", X, rotation_tolerance=(0, 0, INF))
    point = inverse_kinematics_many(ur5, "tool0", X, rotation_tolerance=INF)
    region = inverse_kinematics_many(
        ur5, "tool0", X, position_tolerance=(0.02, 0.03, 0), rotation_tolerance=(0.1, 0, 0.3)
    )
    assert exact.solved.sum() <= spin.solved.sum() <= point.solved.sum()
    assert exact.solved.sum() <= region.solved.sum()
    for found in (spin, point, region):
        assert found.solved.sum() > 150
    E = np.linalg.inv(X) @ ur5.frame_pose(spin.q, "tool0")
    assert np.linalg.norm(E[spin.solved][:, :3, 3], axis=1).max() < 2e-9
    np.testing.assert_allclose(E[spin.solved][:, 2, 2], 1, atol=1e-12)
    E = np.linalg.inv(X) @ ur5.frame_pose(point.q, "tool0")
    assert np.linalg.norm(E[point.solved][:, :3, 3], axis=1).max() < 2e-9
    E = (np.linalg.inv(X) @ ur5.frame_pose(region.q, "tool0"))[region.solved]
    assert (np.abs(E[:, :3, 3]) <= np.array([0.02, 0.03, 0]) + 2e-9).all()
    # R = R_z(alpha) exp(phi): first the turn about z, whose tolerance is the widest.
    quaternion = Rotation.from_matrix(E[:, :3, :3]).as_quat()
    alpha = np.clip(2 * np.arctan2(quaternion[:, 2], quaternion[:, 3]), -0.3, 0.3)
    about_z = Rotation.from_rotvec(alpha[:, None] * [0, 0, 1])
    rest = (about_z.inv() * Rotation.from_matrix(E[:, :3, :3])).as_rotvec()
    assert (np.abs(rest) <= np.array([0.1, 0, 0]) + 1e-8).all()


def test_what_only_the_tolerance_accepts(arm):
    """The results are those of single poses. No joint of the arm can rotate the tip about x."""
    X = np.array(
        [
            pose((1.2 + x, 0, 0.5), rpy=(turn, 0, 0))
            for x in (0, 9e-5, 1.2e-4, 0.01)
            for turn in (0, 9e-4, 1.2e-3)
        ]
    )
    found = inverse_kinematics_many(arm, "tip", X)
    one_by_one = [bool(inverse_kinematics(arm, PoseGoal("tip", each))) for each in X]
    assert list(found.solved) == one_by_one
    assert sum(one_by_one) == 4
    strict = inverse_kinematics_many(arm, "tip", X, position_tolerance=0, rotation_tolerance=0)
    assert strict.solved.sum() <= 1


def test_scene(ur5):
    """Solutions are free by plain queries. If all solutions collide, the result says so.

    Single poses have the same results.
    """
    scene = Scene("plates")
    scene.add_box("floor", (3, 3, 0.02), pose((0, 0, -0.02)))
    scene.add_box("plate", (0.5, 0.5, 0.02), pose((0.5, 0, 0.35)))
    compiled = scene.compile(ur5)
    X = ur5.frame_pose(configurations(ur5, 300, seed=3), "tool0")
    without = inverse_kinematics_many(ur5, "tool0", X)
    found = inverse_kinematics_many(ur5, "tool0", X, scene=scene)
    assert (
        found.q.tobytes()
        == inverse_kinematics_many(ur5, "tool0", X, scene=compiled, threads=2).q.tobytes()
    )
    collides = np.array([compiled.collides(q) for q in found.q])
    assert not collides[found.solved].any()
    assert collides[found.status == IkStatus.IN_COLLISION].all()
    assert without.solved.all()
    assert 50 < found.solved.sum() < 300
    assert set(np.unique(found.status)) == {IkStatus.SOLVED, IkStatus.IN_COLLISION}
    for i in np.flatnonzero(~found.solved)[:20]:
        solutions = inverse_kinematics(ur5, PoseGoal("tool0", X[i])).solutions
        assert all(compiled.collides(q) for q in solutions)
        assert "collide" in found.reason(i)


def robot_files():
    """All bundled robots, and some of the package example-robot-data."""
    files = [*bundled_robots()]
    try:
        distribution = metadata.distribution("example-robot-data")
    except metadata.PackageNotFoundError:
        return files
    folder = Path(str(distribution.locate_file("cmeel.prefix/share/example-robot-data/robots")))
    return files + some(sorted(str(path) for path in folder.rglob("*.urdf")), 12)


def test_what_can_be_reached_is_never_out_of_reach():
    """Poses of random configurations within limits, of any link.

    All joints move, or a part of them.
    """
    files, looked_at = robot_files(), 0
    for source in files:
        try:
            model = robosim.load_robot(without_geometry(source) if "/" in source else source)
        except UrdfError:  # some files of the package are xacro or fragments
            continue
        rng = np.random.default_rng(5)
        links = [link for link in model.link_names if _is_moved(model, link)]
        looked_at += bool(links)
        for link in rng.choice(links, min(len(links), repeats(3, 8)), replace=False):
            q = configurations(model, repeats(50, 300), seed=int(rng.integers(1 << 30)))
            # Joints at their limits reach farthest.
            at_limits = np.where(rng.random(q.shape) < 0.5, model.limits.lower, model.limits.upper)
            q = np.where(np.isfinite(at_limits) & (rng.random(q.shape) < 0.3), at_limits, q)
            X = model.frame_pose(q, link)
            for box in ((1e-4, 1e-3), (0, 0), (0, INF), (0.01, (0, 0, INF))):
                found = inverse_kinematics_many(
                    model,
                    link,
                    X,
                    start=q,
                    position_tolerance=box[0],
                    rotation_tolerance=box[1],
                    attempts=1,
                )
                far = found.status == IkStatus.OUT_OF_REACH
                assert not far.any(), f"{source}, {link}: {found.reason(int(np.argmax(far)))}"
    assert looked_at >= 0.8 * len(
        files
    )  # the others are a drone, which is a floating base, and files that do not load


def without_geometry(path):
    """Text of a URDF without shapes, which take seconds to read and have no effect on reach."""
    root = ElementTree.parse(path).getroot()
    for link in root.iter("link"):
        for kind in ("visual", "collision"):
            for element in link.findall(kind):
                link.remove(element)
    return ElementTree.tostring(root, encoding="unicode")


def _is_moved(model, link):
    from robosim.planners.positions import chain, joint_kinds

    kinds = joint_kinds(model)
    return any(kinds[joint] != "floating" for joint in chain(model, link))


@pytest.mark.parametrize(
    ("name", "link", "reach"), [("ur5", "tool0", 1.15), ("panda", "panda_link8", 1.2)]
)
def test_what_is_too_far_takes_no_attempt(name, link, reach):
    """Poses are beyond the arm's length from its base, in any direction.

    The reason has joints, distance and bound.
    """
    model = robosim.load_robot(name)
    rng = np.random.default_rng(2)
    X = np.tile(np.eye(4), (500, 1, 1))
    X[:, :3, :3] = Rotation.random(500, random_state=3).as_matrix()
    direction = rng.normal(size=(500, 3))
    X[:, :3, 3] = [0, 0, 0.3] + rng.uniform(reach, 4, 500)[:, None] * direction / np.linalg.norm(
        direction, axis=1, keepdims=True
    )
    found = inverse_kinematics_many(model, link, X)
    assert (found.status == IkStatus.OUT_OF_REACH).mean() > 0.9
    beyond = found.status == IkStatus.OUT_OF_REACH
    assert (found.attempts[beyond] == 0).all()
    assert np.isnan(found.position_error[beyond]).all()
    i = int(np.argmax(beyond))
    reason = found.reason(i)
    assert link in reason
    assert "at most" in reason
    assert model.joint_names[0] in reason
    # The other poses are out of reach, too, but this is not proven.
    assert not found.solved.any()


def test_out_of_reach_one_at_a_time(ur5):
    """Four attempts find the distance of a far pose. A near pose without a solution takes 101."""
    far = inverse_kinematics(ur5, PoseGoal("tool0", pose((1.5, 0, 0.3))))
    assert not far
    assert "at most" in far.reason
    assert far.position_error > 0.4
    assert far.closest.shape == (6,)
    # The wrist would be inside the column. The shoulder's offset excludes that, but no length does.
    near = inverse_kinematics(ur5, PoseGoal("tool0", pose((0.0, 0.01, 0.3))))
    assert not near
    assert "of 101 attempts" in near.reason
    assert "at most" not in near.reason


def test_elbows_and_slides_count(robots):
    """A limited elbow bounds the reach from both sides. Sliding joints add their strokes only."""
    arm = robots.planar_arm(2, limit=0.5)  # |q| <= 0.5: from 0.4 sqrt(2 + 2 cos 0.5) to 0.8
    least = 0.4 * np.sqrt(2 + 2 * np.cos(0.5))
    X = np.array(
        [
            pose((r * np.cos(0.2), r * np.sin(0.2), 0.5))
            for r in (least - 1e-3, least + 1e-3, 0.799, 0.801)
        ]
    )
    found = inverse_kinematics_many(arm, "tip", X, rotation_tolerance=INF)
    assert list(found.status == IkStatus.OUT_OF_REACH) == [True, False, False, True]
    assert list(found.solved) == [False, True, True, False]
    assert "at least" in found.reason(0)
    gantry = robots.gantry()
    far = inverse_kinematics_many(gantry, "wrist", [pose((9, 0, 0)), pose((1, 1, -0.2))])
    assert list(far.status) == [IkStatus.OUT_OF_REACH, IkStatus.SOLVED]


def test_progress_and_an_end(ur5):
    """Progress grows to the number of poses. False, an exception or Control-C ends the call."""
    X = ur5.frame_pose(configurations(ur5, 6000), "tool0")
    X[::2, :3, 3] = (0, 0.01, 0.3)  # no length excludes it, but no attempt succeeds
    seen = []
    inverse_kinematics_many(ur5, "tool0", X, progress=seen.append, attempts=20)
    assert seen == sorted(seen)
    assert seen[0] < 6000
    assert seen[-1] == 6000
    ended = inverse_kinematics_many(ur5, "tool0", X, progress=lambda done: False)
    assert 0 < ended.solved.sum() < 6000
    assert (ended.status[~ended.solved] == IkStatus.NOT_FOUND).all()

    def interrupt(done):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        inverse_kinematics_many(ur5, "tool0", X, progress=interrupt)


def test_bad_arguments(ur5):
    X = np.eye(4)[None]
    skewed = X.copy()
    skewed[0, 0, 0] = 2
    for poses, options, words in [
        (np.eye(4), {}, r"shape \(4, 4\)"),
        ("far", {}, "shape"),
        (skewed, {}, r"poses\[0\] is not a rigid transform"),
        (X * np.nan, {}, r"poses\[0\]"),
        (X, {"start": np.zeros((2, 6))}, r"one for each pose, \(1, 6\)"),
        (X, {"start": np.full((1, 6), np.inf)}, "finite"),
        (X, {"start": np.zeros(5)}, "shape"),
        (X, {"attempts": 0}, "attempts"),
        (X, {"attempts": 1.5}, "attempts"),
        (X, {"threads": 0}, "threads"),
        (X, {"seed": -1}, "seed"),
        (X, {"joints": []}, "no joint"),
        (X, {"joints": ["base"]}, "base"),
        (X, {"position_tolerance": -1}, "negative"),
        (X, {"scene": "table"}, "scene must be a Scene"),
    ]:
        with pytest.raises(PlanningError, match=words):
            inverse_kinematics_many(ur5, "tool0", poses, **options)
    with pytest.raises(PlanningError, match="no link 'tool'"):
        inverse_kinematics_many(ur5, "tool", X)
    nothing = inverse_kinematics_many(ur5, "tool0", np.empty((0, 4, 4)))
    with pytest.raises(PlanningError, match="there is no pose 0; there are 0"):
        nothing.reason(0)
    assert len(nothing) == 0
    assert nothing.q.shape == (0, 6)
