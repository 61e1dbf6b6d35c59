"""A planned UR5 motion streamed to the simulated arm: both modes, ideal and dynamic, with stops."""

from __future__ import annotations

import numpy as np
import pytest

from robosim.execution.limits import model_limits
from robosim.execution.messages import SafetyMode
from robosim.execution.simulated import SimulatedArm
from robosim.execution.streaming import Outcome, stream_trajectory
from robosim.planners import Problem, plan
from robosim.urdf import load_robot

MODES = ("trajectory", "setpoints")
START, GOAL = [0.0, -1.5, 1.0, -1.0, -1.5, 0.0], [0.6, -1.2, 1.3, -1.6, -1.2, 0.5]


@pytest.fixture(scope="module")
def ur5():
    return load_robot("ur5", visuals=False)


@pytest.fixture(scope="module")
def motion(ur5):
    found = plan(Problem(ur5, start=START, goal=GOAL))
    assert found, found.reason
    return found.trajectory


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("tracking", "error"), [("ideal", 1e-5), ("dynamics", 0.05)])
def test_a_plan_is_followed(ur5, motion, mode, tracking, error):
    """A plan is followed within the error of messages or of PD control.

    Ideal tracking allows the message's 1e-5 rad, and one period's lag of the state in set points.
    Dynamics are under PD control.
    """
    arm = SimulatedArm(ur5, tracking=tracking, initial=START)
    report = stream_trajectory(
        arm, motion, mode=mode, rate=500.0, limits=model_limits(ur5, motion.position_names)
    )
    assert report.ok, report
    peak = np.abs(motion.sample(1000.0).velocity).max()
    lag = 2 * peak / 500.0 if mode == "setpoints" else 0.0
    assert report.tracking.max_error.max() <= error + lag
    assert report.statistics.missed == 0
    # The stream waits until the arm stands near its goal, except for gravity's sag.
    assert np.abs(arm.state().position - GOAL).max() < (1e-5 if tracking == "ideal" else 0.005)
    assert len(report.tracking) > 0.9 * motion.duration * 500


@pytest.mark.parametrize("mode", MODES)
def test_a_protective_stop_ends_it(ur5, motion, mode):
    """The arm stops within a few periods and does not move on, whoever sees the stop first."""
    arm = SimulatedArm(ur5, initial=START)
    seen = []

    def stop(progress):
        if progress.plan_time > 0.3 and not seen:
            seen.append(arm.clock())
            arm.protective_stop()

    report = stream_trajectory(arm, motion, mode=mode, rate=125.0, on_progress=stop)
    assert report.outcome in (Outcome.HELD, Outcome.ABORTED)
    assert arm.clock() - seen[0] < 0.05
    assert arm.safety_mode is SafetyMode.PROTECTIVE_STOP
    held = arm.state().position
    arm.sleep_until(arm.clock() + 0.5)
    assert np.array_equal(arm.state().position, held)
    refused = stream_trajectory(arm, motion, mode=mode)
    assert refused.outcome is Outcome.REFUSED
    assert "the safety mode is PROTECTIVE_STOP; it has to be NORMAL" in refused.reason


@pytest.mark.parametrize("mode", MODES)
def test_speed_scaling(ur5, motion, mode):
    """With scaling 1, 0.3, 0, 1 on the way, the arm arrives later and never exceeds its limits."""
    arm = SimulatedArm(ur5, initial=START)
    changes = [(0.2, 0.3), (0.6, 0.0), (1.4, 1.0)]
    begin = arm.clock()
    positions = []

    def turn(progress):
        positions.append(arm.state().position)
        while changes and arm.clock() - begin > changes[0][0]:
            arm.speed_scaling = changes.pop(0)[1]

    report = stream_trajectory(arm, motion, mode=mode, rate=500.0, on_progress=turn)
    assert report.ok, report
    assert not changes
    # 0.2 s at 1, 0.4 at 0.3, 0.8 at 0, the rest at 1. Ramps and ten looks a second blur that.
    assert arm.clock() - begin == pytest.approx(motion.duration + 0.4 * 0.7 + 0.8, abs=0.5)
    step = np.abs(np.diff(positions, axis=0)) / 0.1
    assert (step <= ur5.limits.velocity * 1.1).all()
    assert np.allclose(arm.state().position, GOAL, rtol=0, atol=1e-4)
