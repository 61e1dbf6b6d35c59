"""Torque limits: a pendulum in closed form, random robots, and reasons of failures.

Torques of random robots are compared with the public inverse dynamics.
"""

import numpy as np
import pytest
from scipy.integrate import quad

from robosim import _engine
from robosim.geometry import pose
from robosim.model import ModelBuilder
from robosim.trajectory import Trajectory, TrajectoryLimits

INF = np.inf
GRAVITY = 9.80665


def pendulum(effort, mass=2.0, length=0.5, inertia=0.01, **joint):
    """Pendulum that swings about y, hanging down at q = 0."""
    builder = ModelBuilder("pendulum")
    builder.add_link("base")
    builder.add_link("bob", mass=mass, com=(0, 0, -length), inertia=inertia * np.eye(3))
    builder.add_joint(
        "pivot",
        "revolute",
        "base",
        "bob",
        axis=(0, 1, 0),
        lower=-4,
        upper=4,
        effort=effort,
        **joint,
    )
    return builder.build()


def line(start, end):
    start, end = np.asarray(start, float), np.asarray(end, float)
    return [0, 1], np.array([[start, end - start, 0 * start]])


def torques_of_rates(model):
    """Inverse dynamics of (q, dq/dt, d2q/dt2) of a robot whose floating base rests.

    For a planar first joint v = R^T dp and dv = R^T ddp - omega x v.
    """
    base, first = (7, 6) if model.floating_base else (0, 0)
    planar = model.position_names[base].endswith("/x")

    def inverse_dynamics(q, dq, ddq):
        v, a = np.zeros(model.n_v), np.zeros(model.n_v)
        v[first:], a[first:] = dq[base:], ddq[base:]
        if planar:
            c, s = np.cos(q[base + 2]), np.sin(q[base + 2])
            R = np.array([[c, -s], [s, c]])
            v[first : first + 2] = R.T @ dq[base : base + 2]
            a[first : first + 2] = R.T @ ddq[base : base + 2] - dq[base + 2] * np.array(
                [-v[first + 1], v[first]]
            )
        return model.inverse_dynamics(q, v, a, joint_forces=True)

    return inverse_dynamics


def timed(
    model, path, velocity, acceleration, *, columns=None, q_rest=None, effort=None, **options
):
    """Result, and, if solved, the trajectory of all of q with the joint torques attached."""
    result = _engine.time_path(
        *path,
        velocity,
        acceleration,
        model=model._engine,
        columns=columns,
        q_rest=q_rest,
        effort=effort,
        **options,
    )
    if result.status != "solved":
        return result, None
    k, _, n = result.coefficients.shape
    columns = range(n) if columns is None else columns
    c = np.zeros((k, 6, model.n_q))
    c[:, 0] = model.neutral() if q_rest is None else q_rest
    c[:, :, list(columns)] = result.coefficients
    T = Trajectory(
        result.breaks,
        c,
        model.position_names,
        torque_names=model.velocity_names,
        inverse_dynamics=torques_of_rates(model),
        limits=TrajectoryLimits(effort=model.limits.effort if effort is None else effort),
    )
    return result, T


@pytest.mark.parametrize("effort", [10.5, 12.0, 30.0])
@pytest.mark.parametrize("end", [0.4, 1.5, 3.0])
def test_a_pendulum_swings_up_in_the_time_of_full_torque_and_full_brake(effort, end):
    # Holding the pendulum level takes m g l = 9.8 N m. With torque limits alone the optimum is
    # +effort, then -effort: omega^2 I / 2 = effort theta - V(theta) up to the switch. The switch is
    # where the total work effort (2 switch - end) equals V(end).
    mass, length = 2.0, 0.5
    model = pendulum(effort, mass, length)
    inertia = 0.01 + mass * length**2

    def potential(theta):
        return mass * GRAVITY * length * (1 - np.cos(theta))

    switch = (end + potential(end) / effort) / 2

    def omega(theta):
        work = effort * theta if theta < switch else effort * (2 * switch - theta)
        return np.sqrt(max(2 * (work - potential(theta)) / inertia, 1e-300))

    # theta = switch u^2 and theta = end - (end - switch) u^2 remove the square-root singularities
    # at the ends.
    up = quad(lambda u: 2 * switch * u / omega(switch * u * u), 0, 1)[0]
    down = quad(lambda u: 2 * (end - switch) * u / omega(end - (end - switch) * u * u), 0, 1)[0]
    result, T = timed(model, line([0], [end]), [INF], [INF])
    assert result.torque_limited
    assert result.slowdown == 1
    assert result.duration >= (up + down) * (1 - 1e-6)
    assert result.duration <= (up + down) * 1.01  # u is constant over 25 mrad
    assert T.validate() == []
    torque = T.torque(np.linspace(0, T.duration, 3000))[:, 0]
    assert np.mean(np.abs(torque) > 0.96 * effort) > 0.97
    assert np.sum(np.abs(np.diff(np.sign(torque))) > 0) == 1


def test_a_pendulum_that_cannot_be_held_level_says_so():
    model = pendulum(6.0)
    result, _ = timed(model, line([0], [1.5]), [2.0], [5.0])
    assert result.status == "static_torque"
    assert result.column == 0
    # Reported at the first grid point where m g l sin(theta) exceeds 6.
    assert np.sin(1.5 * result.s) * 2 * GRAVITY * 0.5 >= 6
    assert np.sin(1.5 * (result.s - 0.1)) * 2 * GRAVITY * 0.5 < 6
    assert result.reason.startswith("pivot needs ")
    assert "its effort limit is 6" in result.reason
    assert timed(model, line([0], [0.5]), [2.0], [5.0])[0].status == "solved"


def random_line_or_blend(rng, blend, model, columns):
    lower, upper = (
        np.maximum(model.limits.lower, -1.5)[columns],
        np.minimum(model.limits.upper, 1.5)[columns],
    )
    return blend(rng.uniform(lower, upper, (int(rng.integers(2, 6)), len(columns))))


def margins(model, path, columns, q_rest, factor):
    """Effort limits: `factor` times the largest static torque along the path, plus 0.5."""
    breaks, c = path
    greatest = np.zeros(model.n_v)
    for i in range(len(c)):
        for r in np.linspace(0, breaks[i + 1] - breaks[i], 15):
            q = q_rest.copy()
            q[columns] = c[i, 0] + r * (c[i, 1] + r * c[i, 2])
            greatest = np.maximum(greatest, np.abs(model.gravity(q)))
    return factor * greatest + 0.5


@pytest.mark.parametrize("seed", range(16))
def test_random_robots_keep_their_torques_at_every_time(seed, make_arm, blend):
    rng = np.random.default_rng(seed)
    kinds = [
        ("revolute",) * 6,
        ("revolute", "prismatic", "continuous", "revolute", "mimic"),
        ("planar", "revolute", "revolute", "prismatic"),
        ("revolute",) * 7,
    ][seed % 4]
    damping, friction = (0.0, 0.0) if seed < 8 else (rng.uniform(0, 2), rng.uniform(0, 0.3))
    model = make_arm(seed, kinds, floating_base=seed % 3 == 0, damping=damping, friction=friction)
    base = 7 if model.floating_base else 0
    columns = list(range(base, model.n_q))
    if seed % 5 == 4:
        columns = columns[1:]
    q_rest = model.random_configuration(rng)
    path = random_line_or_blend(rng, blend, model, columns)
    effort = margins(model, path, columns, q_rest, 1.3)
    effort[: 6 if base else 0] = INF
    if seed % 2:
        effort[-1] = INF
    velocity, acceleration = np.full(len(columns), 8.0), np.full(len(columns), 60.0)
    free, _ = timed(
        model,
        path,
        velocity,
        acceleration,
        columns=columns,
        q_rest=q_rest,
        effort=np.full(model.n_v, INF),
    )
    result, T = timed(
        model, path, velocity, acceleration, columns=columns, q_rest=q_rest, effort=effort
    )
    if result.status == "static_torque":  # dry friction in addition to gravity
        assert friction > 0
        return
    assert T.validate() == []
    torque = np.abs(T.torque(np.linspace(0, T.duration, 4000)))
    assert (torque <= effort * (1 + 1e-6)).all()
    assert result.torque_limited
    assert result.duration > free.duration
    if damping == 0 and friction == 0:
        t = np.linspace(0, T.duration, 4000)
        share = np.concatenate(
            [
                np.abs(T.velocity(t))[:, columns] / velocity,
                np.abs(T.acceleration(t))[:, columns] / acceleration,
                torque / effort,
            ],
            axis=1,
        ).max(axis=1)
        assert np.mean(share > 0.93) > 0.9
        assert result.slowdown < 1.02


def test_friction_and_damping_cost_time():
    durations = []
    for damping, friction in ((0, 0), (0.3, 0), (0, 0.5), (0.3, 0.5)):
        model = pendulum(12.0, damping=damping, friction=friction)
        result, T = timed(model, line([0], [1.4]), [INF], [INF])
        assert T.validate() == []
        durations.append(result.duration)
        torque = T.torque(np.linspace(0, T.duration, 2000))[:, 0]
        assert np.mean(np.abs(torque) > 0.9 * 12) > 0.5
    assert durations[0] < min(durations[1:3])
    assert durations[3] > max(durations[1:3])


def test_friction_that_the_drive_cannot_overcome_is_reported():
    result, _ = timed(pendulum(12.0, friction=13.0), line([0], [0.5]), [1.0], [1.0])
    assert result.status == "static_torque"
    assert "gravity and friction" in result.reason


def test_efforts_that_do_not_bind_change_nothing(ur5, blend):
    rng = np.random.default_rng(0)
    path = blend(rng.uniform(-1.5, 1.5, (5, 6)))
    velocity, acceleration = ur5.limits.velocity, np.full(6, 3.0)
    result, T = timed(ur5, path, velocity, acceleration)
    assert not result.torque_limited
    assert T.validate() == []
    np.testing.assert_array_equal(
        result.breaks, _engine.time_path(*path, velocity, acceleration).breaks
    )


def test_the_ur5_thrown_at_its_torque_limits(ur5, blend):
    rng = np.random.default_rng(2)
    for _ in range(6):
        path = blend(rng.uniform(-2, 2, (6, 6)))
        velocity, acceleration = ur5.limits.velocity, np.full(6, 40.0)
        result, T = timed(ur5, path, velocity, acceleration, effort=0.8 * ur5.limits.effort)
        assert result.status == "solved"
        assert (
            T.validate(
                TrajectoryLimits(
                    velocity=velocity, acceleration=acceleration, effort=T.limits.effort
                )
            )
            == []
        )


def test_a_payload_slows_it_down():
    builder = ModelBuilder("arm")
    builder.add_link("base")
    builder.add_link("arm", mass=1.0, com=(0.3, 0, 0), inertia=0.01 * np.eye(3))
    builder.add_link("load", mass=3.0)
    builder.add_joint(
        "pan", "revolute", "base", "arm", axis=(0, 0, 1), lower=-3, upper=3, effort=5.0
    )
    builder.add_joint("grip", "fixed", "arm", "load", X_PJ=pose((0.6, 0, 0)))
    model = builder.build()
    result, T = timed(model, line([0], [2.0]), [INF], [INF])
    # About a vertical axis: constant inertia, so a triangular profile at effort / I.
    inertia = 0.01 + 1.0 * 0.3**2 + 3.0 * 0.6**2
    assert result.duration == pytest.approx(2 * np.sqrt(2.0 * inertia / 5.0), rel=1e-6)
    assert T.validate() == []


def test_bad_arguments_are_named(ur5):
    path = line(np.zeros(6), np.ones(6))
    limits = (np.ones(6), np.ones(6))
    cases = [
        ({"columns": [0, 1]}, "the path has 6 columns, but 2"),
        ({"columns": [0, 1, 2, 3, 4, 9]}, "column 9"),
        ({"effort": [1.0]}, "effort has shape"),
        ({"effort": [-1.0] * 6}, "effort holds -1"),
        ({"q_rest": [0.0]}, "q_rest has shape"),
    ]
    for options, match in cases:
        with pytest.raises(ValueError, match=match):
            _engine.time_path(*path, *limits, model=ur5._engine, **options)
    with pytest.raises(ValueError, match="q_rest is needed"):
        _engine.time_path(*line([0.0], [1.0]), [1], [1], model=ur5._engine, columns=[0])
