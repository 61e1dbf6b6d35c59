"""Torque limits of plans, with and without the damping and dry friction of the robot."""

import dataclasses
import re

import numpy as np
import pytest

import robosim
from robosim.model import ModelBuilder
from robosim.planners import NoPlan, Problem, motion_limits, plan, prepare, time_parameterize
from robosim.trajectory import Trajectory

from ..scale import repeats  # noqa: TID252


def arm(rng, damping, friction):
    """Four joints about random axes, with efforts slightly above those that gravity requires."""
    builder = ModelBuilder("arm")
    builder.add_link("l0")
    for i in range(4):
        builder.add_link(
            f"l{i + 1}", mass=3.0 - 0.5 * i, com=rng.uniform(-0.1, 0.2, 3), inertia=0.02 * np.eye(3)
        )
        axis = rng.normal(size=3)
        builder.add_joint(
            f"j{i}",
            "revolute",
            f"l{i}",
            f"l{i + 1}",
            X_PJ=robosim.geometry.pose((0.25, 0, 0.1 * (i % 2))),
            axis=axis / np.linalg.norm(axis),
            lower=-3,
            upper=3,
            velocity=4,
            effort=(70, 45, 25, 9)[i],
            damping=damping,
            friction=friction,
        )
    return builder.build()


def without_shapes(path, folder):
    """Load a URDF without collision shapes, which have no effect on dynamics."""
    text = re.sub(r"<collision.*?</collision>", "", path.read_text(), flags=re.S)
    bare = folder / path.name
    bare.write_text(text)
    return robosim.load_robot(bare, missing_meshes="skip")


def held_easily(model, prepared, rng, count):
    """Configurations in which gravity and dry friction leave a fifth of every effort."""
    q, v = list(prepared.columns.q), list(prepared.columns.v)
    lower, upper = np.maximum(prepared.columns.lower, -2), np.minimum(prepared.columns.upper, 2)
    friction = -model.joint_forces(prepared.start, np.full(model.n_v, 1e3))[
        v
    ]  # includes damping, which is subtracted below
    resting = -model.joint_forces(prepared.start, np.full(model.n_v, 2e3))[v]
    friction = 2 * friction - resting  # the part that does not grow with speed
    out = []
    for _ in range(2000):
        full = prepared.start.copy()
        full[q] = rng.uniform(lower, upper)
        if (np.abs(model.gravity(full))[v] + friction < 0.8 * model.limits.effort[v]).all():
            out.append(full)
        if len(out) == count:
            break
    return np.array(out)


def greatest_shares(model, prepared, trajectory):
    """Ratios |torque| / effort (2001, c), computed by independent code.

    Each is the greatest with all, half or none of damping and friction.
    """
    t = np.linspace(0, trajectory.duration, 2001)
    q, v = list(prepared.columns.q), list(prepared.columns.v)
    out = []
    for position, velocity, acceleration in zip(
        trajectory.position(t), trajectory.velocity(t), trajectory.acceleration(t), strict=True
    ):
        full, dv, da = prepared.start.copy(), np.zeros(model.n_v), np.zeros(model.n_v)
        full[q], dv[v], da[v] = position, velocity, acceleration
        bare = model.inverse_dynamics(full, dv, da)
        own = -model.joint_forces(full, dv) + model.joint_forces(full, np.zeros(model.n_v))
        tau = np.abs([bare + share * own for share in (0.0, 0.5, 1.0)]).max(axis=0)
        out.append((tau / model.limits.effort)[v])
    return np.array(out)


def check_random_motions(model, group, rng, runs):
    """Plan random polylines, fast and slow, with and without jerk limits.

    Returns the number of motions that torque limits shape, and the costs of friction.
    """
    rest = np.clip(model.neutral(), model.limits.lower, model.limits.upper)
    prepared = prepare(Problem(model, None, rest, rest, group=group))
    shaped, costs, reasons = 0, [], []
    for k in range(runs):
        path = held_easily(model, prepared, rng, int(rng.integers(2, 6)))
        limits = motion_limits(prepared, jerk=[None, None, 3000.0][k % 3])
        limits = dataclasses.replace(limits, acceleration=limits.acceleration * (1, 5, 20)[k % 3])
        try:
            trajectory = time_parameterize(prepared, path, limits)
        except NoPlan as refused:
            reasons.append(refused.reason)
            continue
        assert trajectory.validate() == [], k
        share = greatest_shares(model, prepared, trajectory)
        assert share.max() <= 1 + 1e-6, k
        cost = trajectory.metadata.get("friction_cost")
        if cost is not None:
            shaped += 1
            assert 0 <= cost["stated"] < trajectory.duration
            assert 0 <= cost["none"] < trajectory.duration
            costs.append(cost["none"] / trajectory.duration)
    assert all(
        "gravity" in reason or "torque limits cannot be kept" in reason for reason in reasons
    )
    assert len(reasons) < runs / 2
    return shaped, costs


@pytest.mark.parametrize("seed", range(4))
def test_limits_hold_with_friction_and_without(seed):
    rng = np.random.default_rng(seed)
    model = arm(rng, *((0.0, 2.0), (1.5, 0.0), (1.0, 1.5), (3.0, 2.5))[seed])
    runs = repeats(12, 200)
    shaped, costs = check_random_motions(model, None, rng, runs)
    assert shaped >= 2
    assert max(costs) > 0  # overcoming friction takes torque


@pytest.mark.parametrize(
    ("file", "group"),
    [("talos_left_arm.urdf", "arm_left_[2-7]_joint"), ("baxter.urdf", "left_[sew][0-2]")],
)
def test_robots_that_state_friction(example_robots, tmp_path, file, group):
    (path,) = example_robots.rglob(file)
    model = without_shapes(path, tmp_path)
    joints = [name for name in model.joint_names if re.fullmatch(group, name)]
    assert len(joints) >= 6
    check_random_motions(model, joints, np.random.default_rng(0), repeats(12, 200))


def test_peaks_within_pieces():
    """Peaks within pieces from and to rest, where the torque is not quadratic in time, are found.

    A motion keeps its limits to 1e-7 (torque_excess_allowed in engine/planning/timing.cpp) at all
    samples. Undetected peaks would exceed it by up to 4e-6.
    """
    model = robosim.load_robot("catapult")
    rng = np.random.default_rng(7)
    prepared = prepare(Problem(model, None, model.neutral(), model.neutral(), group="arm"))
    shaped, runs = 0, repeats(450, 20000)
    for k in range(runs):
        ends = np.tile(model.neutral(), (2, 1))
        ends[0, :3] = rng.uniform(0.05, 1, 3)
        ends[1, :3] = np.clip(ends[0, :3] + rng.uniform(-1, 1, 3) * 10 ** rng.uniform(-2, 0), 0, 3)
        limits = motion_limits(prepared, jerk=[None, None, 1e7][k % 3])
        trajectory = time_parameterize(prepared, ends, limits)
        h = np.diff(trajectory.breaks)
        piece = np.repeat(np.arange(len(h)), 101)
        torque = trajectory.piece_torque(piece, np.tile(np.linspace(0, 1, 101), len(h)) * h[piece])
        share = (np.abs(torque) / trajectory.limits.effort).max()
        assert share <= 1 + 1.001e-7, k
        shaped += share > 0.999
    assert shaped > 0.6 * runs


def test_the_torque_shown_is_the_one_that_drives_have_to_exert():
    rng = np.random.default_rng(5)
    model = arm(rng, 1.0, 2.0)
    rest = model.neutral()
    trajectory = plan(Problem(model, None, rest, rest + np.array([0.5, -0.4, 0.6, 1.0]))).trajectory
    times = np.linspace(0, trajectory.duration, 50)
    expected = [
        model.inverse_dynamics(
            trajectory.position(t),
            trajectory.velocity(t),
            trajectory.acceleration(t),
            joint_forces=True,
        )
        for t in times
    ]
    np.testing.assert_allclose(trajectory.torque(times), expected, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(trajectory.torque(times[7]), expected[7], rtol=1e-12, atol=1e-12)
    turned = trajectory.reorder(["j2", "j0", "j3", "j1"])
    np.testing.assert_allclose(
        turned.torque(times), trajectory.torque(times)[:, [2, 0, 3, 1]], rtol=1e-12
    )


def test_a_brake_that_counts_on_friction_is_found():
    """Braking with full effort and full friction exceeds the effort without friction."""
    rng = np.random.default_rng(6)
    model = arm(rng, 0.0, 6.0)
    rest = model.neutral()
    trajectory = plan(Problem(model, None, rest, rest + np.array([1.0, 0.0, 0.0, 0.0]))).trajectory
    with_friction = trajectory.torque(np.linspace(0, trajectory.duration, 4001))
    most = np.abs(with_friction).max(axis=0)
    limits = dataclasses.replace(trajectory.limits, effort=most * (1 + 1e-3))
    stated_only = trajectory.replace(
        inverse_dynamics=lambda *state: trajectory.inverse_dynamics(*state)
    )
    assert stated_only.validate(limits) == []
    # A joint that holds still has the same torque in both cases. The braking one has more without
    # friction.
    assert {v.quantity for v in trajectory.validate(limits)} == {"torque"}
    turned = trajectory.reorder(["j3", "j2", "j1", "j0"])
    order = [3, 2, 1, 0]
    assert {v.name for v in turned.validate(limits.reordered(order, order))} == {
        v.name for v in trajectory.validate(limits)
    }


@pytest.mark.parametrize("scaling", [1.0, 1e-3, 1e-6, 1e-9, 1e-12])
def test_validate_goes_by_pieces_and_not_by_seconds(scaling):
    ur5 = robosim.load_robot("ur5")
    home = np.array([0.3, -1.3, 1.4, -1.57, -1.3, 0.2])
    trajectory = plan(Problem(ur5, None, home, home + 0.3), velocity_scaling=scaling).trajectory
    asked = 0
    f = trajectory.inverse_dynamics

    class Counted:
        def __call__(self, q, v, a):
            return f(q, v, a)

        def many(self, q, v, a):
            nonlocal asked
            asked += len(q)
            return f.many(q, v, a)

    assert trajectory.replace(inverse_dynamics=Counted()).validate() == []
    assert 0 < asked <= 401 * len(trajectory.coefficients)
    assert isinstance(trajectory, Trajectory)
