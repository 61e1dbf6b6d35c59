"""Joints that keep the limits of their speeds."""

from __future__ import annotations

import numpy as np
import pytest

import robosim
from robosim import _engine
from robosim.simulation import Control, Simulation

SOLVERS = _engine.row_solvers


def driven_arm(solver: str, *, speed_limits: bool = True, **options) -> Simulation:
    model = robosim.load_robot("ur5").with_limits(velocity=[0.5, 0.6, 0.7, 0.8, 0.9, np.inf])
    return Simulation(model, dt=2e-3, solver=solver, speed_limits=speed_limits, **options)


@pytest.mark.parametrize("solver", SOLVERS)
def test_no_force_makes_a_joint_faster(solver):
    arm = driven_arm(solver, sweeps=500)
    limit = arm.model.limits.velocity
    tau = np.array([150.0, -150.0, 150.0, -28.0, 28.0, -28.0])
    motion = arm.run(arm.state(), 200, Control(tau=tau))
    speed = np.abs(motion.v)
    # Sweeps end near the solution: 500 of them to a millionth.
    assert (speed <= limit * (1 + (1e-6 if solver == "pgs" else 1e-12))).all()
    reached = np.isclose(speed[-1][:5], limit[:5], rtol=1e-6)
    assert reached.all()
    assert speed[:, 5].max() > 10  # which has none
    free = driven_arm(solver, speed_limits=False, sweeps=500)
    assert (np.abs(free.run(free.state(), 200, Control(tau=tau)).v[-1]) > limit)[:5].any()


@pytest.mark.parametrize("solver", SOLVERS)
def test_below_its_limit_a_joint_feels_nothing(solver):
    """To the bit for the solvers that know what acts; sweeps leave rows that do not push at zero, too."""
    arm, free = driven_arm(solver), driven_arm(solver, speed_limits=False)
    state = arm.state(v=[0.1, -0.1, 0.2, 0.3, -0.2, 0.1])
    np.testing.assert_array_equal(arm.step(state).v, free.step(state).v)


def test_what_a_limit_exerts_is_among_the_forces_of_joints():
    arm = driven_arm("lcp")
    details = arm.details(arm.state(), Control(tau=np.array([0, 0, 0, 0, 2000.0, 0])))
    (force,) = (x for x in details.joints if x.source == "forward_speed_limit" and x.force != 0)
    assert force.coordinate == "wrist_2_joint"
    assert force.force < 0  # against the motion
    assert details.state.v[4] == pytest.approx(0.9, rel=1e-12)
