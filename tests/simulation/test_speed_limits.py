"""Joints with speed limits."""

from __future__ import annotations

import numpy as np
import pytest

import robosim
from robosim import _engine
from robosim.simulation import Control, Simulation, StepStatus
from robosim.world import Motor, World

SOLVERS = _engine.row_solvers


def driven_arm(solver: str, *, speed_limits: bool = True, **options) -> Simulation:
    model = robosim.load_robot("ur5").with_limits(velocity=[0.5, 0.6, 0.7, 0.8, 0.9, np.inf])
    return Simulation(World(model), dt=2e-3, solver=solver, speed_limits=speed_limits, **options)


@pytest.mark.parametrize("solver", SOLVERS)
def test_no_force_makes_a_joint_faster(solver):
    arm = driven_arm(solver, sweeps=500)
    limit = arm.model.limits.velocity
    tau = np.array([150.0, -150.0, 150.0, -28.0, 28.0, -28.0])
    motion = arm.rollout(arm.state(), 200, Control(tau=tau))
    speed = np.abs(motion.v)
    # 500 sweeps are exact to a millionth.
    assert (speed <= limit * (1 + (1e-6 if solver == "pgs" else 1e-12))).all()
    reached = np.isclose(speed[-1][:5], limit[:5], rtol=1e-6)
    assert reached.all()
    assert speed[:, 5].max() > 10  # it has no limit
    free = driven_arm(solver, speed_limits=False, sweeps=500)
    assert (
        (np.abs(free.rollout(free.state(), 200, Control(tau=tau)).v) > limit).any(axis=0)[:5].all()
    )


@pytest.mark.parametrize("solver", SOLVERS)
def test_below_its_limit_a_joint_feels_nothing(solver):
    """The results agree to the bit. Impulses of inactive rows stay zero, also in sweeps."""
    arm, free = driven_arm(solver), driven_arm(solver, speed_limits=False)
    state = arm.state(v=[0.1, -0.1, 0.2, 0.3, -0.2, 0.1])
    np.testing.assert_array_equal(arm.step(state).v, free.step(state).v)


def test_what_a_limit_exerts_is_among_the_forces_of_joints():
    arm = driven_arm("lcp")
    details = arm.linearize(arm.state(), Control(tau=np.array([0, 0, 0, 0, 2000.0, 0])))
    (force,) = (x for x in details.joints if x.source == "forward_speed_limit" and x.force != 0)
    assert force.coordinate == "wrist_2_joint"
    assert force.force < 0  # against the motion
    assert details.state.v[4] == pytest.approx(0.9, rel=1e-12)


@pytest.mark.parametrize("solver", SOLVERS)
def test_what_is_beyond_its_position_limit_comes_back_at_its_speed_limit(solver):
    """No status `relaxed` occurs, although the two limits would contradict each other.

    A correction of 0.2 of 0.1 rad in 2 ms would be 10 rad/s, and 0.6 are allowed.
    """
    arm = driven_arm(solver, sweeps=2000)
    arm = Simulation(
        World(
            arm.model.with_limits(upper={"shoulder_lift_joint": 0.5}),
            motors={name: Motor(100, 10) for name in arm.model.joint_names},
        ),
        dt=2e-3,
        solver=solver,
        speed_limits=True,
        sweeps=2000,
    )
    q = np.array([0, 0.6, 0.3, 0.2, 0.1, 0.4])
    state = arm.state(q)
    after = arm.step(state, Control(q_target=q))
    assert after.report.status <= StepStatus.basic
    assert (after.q - q)[1] / arm.dt == pytest.approx(-0.6, rel=1e-6)
    assert after.v[1] == pytest.approx(0, abs=1e-6)
    # The speed limit alone determines the displacement.
    rng = np.random.default_rng(0)
    q_bar, v_bar = np.array([0, 1.0, 0, 0, 0, 0]) / arm.dt, np.zeros(6)
    gradient = arm.linearize(state, Control(q_target=q)).vjp(q_bar, v_bar)
    assert gradient.parameters["speed_limit", "shoulder_lift_joint"] == pytest.approx(-1, rel=1e-6)
    np.testing.assert_allclose(gradient.q, q_bar, rtol=0, atol=1e-6)
    assert gradient.parameters["upper_limit", "shoulder_lift_joint"] == pytest.approx(0, abs=1e-6)
    way = rng.normal(size=6)
    moved = [
        arm.with_parameters({"speed_limit": arm.parameters["speed_limit"] + h * way}).step(
            state, Control(q_target=q)
        )
        for h in (1e-4, -1e-4)
    ]
    assert (moved[0].q - moved[1].q)[1] / 2e-4 / arm.dt == pytest.approx(-way[1], rel=1e-6)


def test_what_moves_freely_has_none():
    """Velocities of a floating base are in axes that turn."""
    robot = robosim.load_robot("quadruped", base="floating").with_limits(velocity=1.0)
    simulation = Simulation(World(robot), speed_limits=True)
    v = np.zeros(robot.n_v)
    v[:6] = 3.0
    details = simulation.linearize(simulation.state(v=v))
    assert not [x for x in details.joints if "speed_limit" in x.source and x.force != 0]
    assert {x.coordinate for x in details.joints if "speed_limit" in x.source}.isdisjoint(
        robot.velocity_names[:6]
    )
