"""The simulated arm in simulated and real time: no drift, no missed periods, clock jumps."""

import numpy as np
import pytest

from robosim.execution.joint_trajectory import from_trajectory
from robosim.execution.messages import Goal, Setpoint
from robosim.execution.simulated import SimulatedArm
from robosim.execution.tracking import TrackingRecorder

from .simulated_ur5 import READY, SHELF, START, UR5, arm_at, texts


def test_simulated_time_is_where_it_was_asked_to_be():
    arm = arm_at(rate=125.0)
    for time in (0.0, 0.004, 0.008, 0.0081, 0.024, 0.1, 1.0 / 3):
        arm.sleep_until(time)
        assert arm.clock() == time
        assert arm.state().stamp <= time
        assert arm.state().stamp > time - 0.008 - 1e-9
    arm.sleep_until(0.1)  # in the past: nothing happens
    assert arm.clock() == 1.0 / 3


def test_periods_do_not_drift():
    """1000 s of whole periods have exactly the expected number of periods."""
    arm = SimulatedArm(UR5, joint_names=("elbow_joint",), rate=125.0)
    count = []
    arm.recorder = TrackingRecorder(arm.joint_names)
    for k in range(1, 10_001):
        arm.sleep_until(k * 0.008)
        count.append(len(arm.recorder))
    assert np.array_equal(count, np.arange(1, 10_001))


class RunningClock:
    """A clock that advances at each reading. Tests may make it stall or go back."""

    def __init__(self):
        self.now = 50.0

    def __call__(self):
        self.now += 1e-4
        return self.now


@pytest.fixture
def running(monkeypatch):
    clock = RunningClock()
    monkeypatch.setattr(
        "robosim.execution.simulated.wall.sleep", lambda s: setattr(clock, "now", clock.now + s)
    )
    return clock


def test_real_time_makes_up_for_periods_that_have_passed(running):
    """A late sender does not delay the arm, whose loop runs on and whose watchdog sees the gap."""
    arm = arm_at(START, clock=running)
    handle = arm.send(Goal(from_trajectory(SHELF)))
    begin = running.now
    arm.sleep_until(begin + 0.5)
    running.now += 0.3  # the sender was away
    arm.sleep_until(begin + 1.0)
    assert np.abs(arm.state().position - SHELF.position(arm.state().stamp - begin)).max() < 0.01
    arm.sleep_until(begin + 3.0)
    assert handle.result.ok
    arm.stream(Setpoint(arm.state().position))
    running.now += 0.3
    arm.sleep_until(running.now)
    assert "no set point for 0.1 s; holding" in texts(arm)


def test_in_real_time_its_state_is_always_fresh(running):
    """States are fresh without waiting, since the arm's own loop runs on."""
    arm = arm_at(clock=running)
    for pause in (0.05, 0.5, 5.0):
        running.now += pause
        stamp = arm.state().stamp
        assert 0 <= running.now - stamp < 0.01
        assert not arm.events  # the arm was idle
    arm.stream(Setpoint(READY + 0.001))
    running.now += 0.05
    assert np.allclose(arm.state().position, READY + 0.001)
    before = running.now
    assert before < arm.step().stamp < before + 0.005


def test_who_is_told_of_an_event_may_look_at_the_arm(running):
    arm = arm_at(clock=running)
    seen = []
    arm.on_event = lambda event: seen.append(arm.state().stamp)
    arm.stream(Setpoint(READY + 0.001))
    running.now += 0.5
    assert running.now - arm.state().stamp < 0.005
    assert len(seen) == 1  # the watchdog's event


@pytest.mark.parametrize("jump", [3600.0, -3600.0])
def test_a_clock_that_jumps_moves_the_arm_no_further(running, jump):
    arm = arm_at(START, clock=running)
    handle = arm.send(Goal(from_trajectory(SHELF)))
    arm.sleep_until(running.now + 1.0)
    before = arm.state().position
    running.now += jump
    arm.sleep_until(running.now + 0.002)
    assert np.abs(arm.state().position - before).max() <= np.pi * 0.006
    assert "the clock jumped" in texts(arm)
    arm.sleep_until(running.now + 3.0)
    assert handle.result.ok
