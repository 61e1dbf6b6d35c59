"""Streaming to an arm with scripted faults: every ending, steps of one sample's motion at most."""

from __future__ import annotations

import dataclasses
import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from robosim.errors import ExecutionError
from robosim.execution.checks import REAL_ARM, Requirements
from robosim.execution.goals import ErrorCode, GoalResult, GoalStatus
from robosim.execution.joint_trajectory import from_trajectory
from robosim.execution.messages import SafetyMode
from robosim.execution.streaming import Outcome, stream_trajectory

from .fake_arm import LIMITS, FakeArm, plan

MODES = ("trajectory", "setpoints")
PEAK = 1.875 * np.array([1.0, 0.5]) / 2.0  # greatest speeds of the plan of these tests


def steps(rows):
    return np.abs(np.diff([position for _, position in rows], axis=0))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("as_message", [False, True])
def test_to_the_end(mode, as_message):
    arm = FakeArm(extra={"gripper": 0.7})
    trajectory = from_trajectory(plan(), joint_names=("b", "a")) if as_message else plan()
    limits = LIMITS if as_message else None
    seen = []
    report = stream_trajectory(arm, trajectory, mode=mode, limits=limits, on_progress=seen.append)
    assert (report.outcome, report.ok) == (Outcome.FINISHED, True)
    # 1e-9 is the quintic's rounding. The fake arm follows exactly.
    assert np.allclose(arm.position, [1.0, -0.5], rtol=0, atol=1e-9)
    assert report.plan_time == pytest.approx(2.0)
    assert set(report.tracking.joint_names) == {"a", "b"}
    # The state is up to one period of 8 ms old. At 0.94 rad/s that is 0.0075 rad.
    assert report.tracking.max_error.max() < 0.01
    assert [p.plan_time for p in seen] == sorted(p.plan_time for p in seen)
    assert 15 <= len(seen) <= 25  # ten times a second for two seconds and settling
    assert "deadlines missed" in str(report)
    assert report.states > 50


@pytest.mark.parametrize("rate", [125.0, 500.0])
def test_set_points_are_the_plan_at_the_rate(rate):
    arm = FakeArm()
    stream_trajectory(arm, plan(), mode="setpoints", rate=rate)
    times = np.array([time for time, _ in arm.setpoints])
    positions = np.array([position for _, position in arm.setpoints])
    assert np.allclose(np.diff(times), 1 / rate, rtol=0, atol=1e-9)
    # From the first set point on, each is one period of the plan later.
    expected = plan().position((1 + np.arange(len(times))) / rate)
    assert np.allclose(positions, expected, rtol=0, atol=1e-9)


def test_a_stream_follows_speed_scaling():
    """With scaling 1, 0.3, 0, 1 the path is the same, and the arm pauses at 0.

    After the ramp it is never faster than the scaling allows.
    """
    script = {
        0.4: lambda arm: arm.set_status(speed_scaling=0.3),
        1.2: lambda arm: arm.set_status(speed_scaling=0.0),
        2.0: lambda arm: arm.set_status(speed_scaling=1.0),
    }
    arm = FakeArm(script=script)
    report = stream_trajectory(arm, plan(), mode="setpoints", rate=500.0)
    assert report.ok
    times = np.array([time for time, _ in arm.setpoints]) - arm.start
    positions = np.array([position for _, position in arm.setpoints])
    speeds = np.abs(np.diff(positions, axis=0)) * 500
    assert (speeds <= PEAK * (1 + 1e-6)).all()
    slow, paused = (times[1:] > 0.51) & (times[1:] < 1.2), (times[1:] > 1.31) & (times[1:] < 2.0)
    assert (speeds[slow] <= 0.3 * PEAK * (1 + 1e-6)).all()
    assert (speeds[paused] == 0).all()
    # Positions stay on the straight line of the plan. The ramp may add the acceleration limit once.
    assert np.allclose(positions[:, 1], -0.5 * positions[:, 0], rtol=0, atol=1e-9)
    rising = times[2:] > 2.0
    assert (np.diff(speeds, axis=0)[rising] * 500 <= 2 * 8.0).all()
    # 0.4 s at 1, 0.8 at 0.3, 0.8 at 0 and the rest at 1. The ramps (0.1 s each way) take a little
    # more or less.
    assert report.tracking.time[-1] == pytest.approx(0.4 + 0.8 + 0.8 + (2 - 0.4 - 0.24), abs=0.15)


def test_a_whole_trajectory_follows_speed_scaling():
    script = {
        0.5: lambda arm: arm.set_status(speed_scaling=0.0),
        15.0: lambda arm: arm.set_status(speed_scaling=1.0),
    }
    arm = FakeArm(script=script)
    report = stream_trajectory(arm, plan())
    assert report.ok  # a pause longer than goal_time is no fault
    assert arm.clock() - arm.start > 16.4


@pytest.mark.parametrize("mode", MODES)
def test_refused_before_the_motion(mode):
    arm = FakeArm(position=(0.2, 0.0))
    report = stream_trajectory(arm, plan(), mode=mode)
    assert report.outcome is Outcome.REFUSED
    assert report.reason.startswith("a is at 0.2 and the trajectory starts at 0")
    assert report.tracking is None
    assert arm.executor.goal is None
    assert not arm.setpoints
    assert str(report) == f"refused: {report.reason}"


def test_set_points_do_not_wait_for_a_stamp():
    message = dataclasses.replace(from_trajectory(plan()), stamp=51.0)
    report = stream_trajectory(FakeArm(), message, mode="setpoints", limits=LIMITS)
    assert report.outcome is Outcome.REFUSED
    assert (
        report.reason
        == "the trajectory starts at 51.000 s; set points start at once, its stamp has to be 0"
    )
    arm = FakeArm()
    assert stream_trajectory(arm, message, limits=LIMITS).ok
    assert arm.clock() >= 51.0 + 2.0


def test_what_an_arm_requires_by_itself():
    arm = FakeArm()
    arm.requirements = REAL_ARM
    arm.set_status(safety_mode=None, controller_active=None)
    assert stream_trajectory(arm, plan()).outcome is Outcome.REFUSED
    assert stream_trajectory(arm, plan(), requirements=Requirements()).ok


def test_refused_by_the_arm():
    arm = FakeArm()
    arm.executor.deactivate()
    report = stream_trajectory(arm, plan())
    assert report.outcome is Outcome.REFUSED
    assert "not active" in report.reason


def test_waits_for_the_first_state_but_not_for_ever():
    arm = FakeArm(script={1.0: lambda arm: setattr(arm, "missing", False)})
    arm.missing = True
    assert stream_trajectory(arm, plan()).ok
    arm = FakeArm()
    arm.missing = True
    report = stream_trajectory(arm, plan(), connect_timeout=2.0)
    assert report.reason == "no joint state has arrived yet; the arm has to publish them"
    assert arm.clock() - arm.start == pytest.approx(2.0, abs=0.02)


def _freeze(arm):
    arm.frozen = True


def _vanish(arm):
    arm.missing = True


def _get_stuck(arm):
    arm.stuck = True


def _jump(arm):
    arm.position = np.add(arm.position, [0.0, 0.9])
    arm.stuck = True


def _stray(arm):
    arm.drift = np.array([0.0, 0.002])  # 1 rad/s


FAULTS = {
    "stale": (_freeze, "s old; it may be 0.2 s old at most"),
    "no state": (_vanish, "no joint state has arrived"),
    "disconnected": (lambda arm: arm.set_status(connected=False), "the arm is not connected"),
    "inactive": (
        lambda arm: arm.set_status(controller_active=False),
        "the controller is not active",
    ),
    "no program": (
        lambda arm: arm.set_status(program_running=False),
        "the robot's program is not running",
    ),
    "protective stop": (
        lambda arm: arm.set_status(safety_mode=SafetyMode.PROTECTIVE_STOP),
        "the safety mode is PROTECTIVE_STOP; it has to be NORMAL",
    ),
    "stuck": (_get_stuck, "from where it is meant to be; it may be 0.2 at most"),
    "jump": (_jump, "the measured position of b jumped from"),
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("fault", FAULTS)
def test_holds_on_a_fault(mode, fault):
    action, text = FAULTS[fault]
    arm = FakeArm(script={0.9: action})
    report = stream_trajectory(arm, plan(), mode=mode)
    assert report.outcome is Outcome.HELD
    assert text in report.reason
    assert arm.stops >= 1
    assert report.plan_time < 2.0
    # The arm holds within the greatest age of a state and a few cycles, or when the error is large
    # enough.
    assert arm.clock() - arm.start < 0.9 + 0.35
    if fault != "jump":
        # A set point lasts four of the arm's periods.
        assert (steps(arm.path) <= PEAK * arm.period * 4 + 1e-9).all()


@pytest.mark.parametrize("mode", MODES)
def test_stops_when_asked_and_slows_down_on_the_way(mode):
    stop = threading.Event()
    arm = FakeArm(script={0.9: lambda arm: stop.set()})
    report = stream_trajectory(arm, plan(), mode=mode, stop_event=stop, scaling_ramp=0.25)
    assert (report.outcome, report.reason) == (Outcome.STOPPED, "asked to stop")
    if mode == "setpoints":
        positions = np.array([position for _, position in arm.setpoints])
        speeds = np.abs(np.diff(positions, axis=0)) * 125
        # Speed changes by at most the ramp's rate plus the plan's own acceleration of at most 1.44
        # rad/s^2.
        assert np.abs(np.diff(speeds, axis=0)).max() * 125 <= PEAK.max() / 0.25 + 1.45
        assert speeds[-1].max() < PEAK.max() * 0.04
        assert np.allclose(positions[:, 1], -0.5 * positions[:, 0], rtol=0, atol=1e-9)


class Interrupting(FakeArm):
    """An arm whose sleep raises KeyboardInterrupt at these times."""

    def __init__(self, times, **options):
        super().__init__(script=dict.fromkeys(times, self._interrupt), **options)

    @staticmethod
    def _interrupt(arm):
        raise KeyboardInterrupt


@pytest.mark.parametrize("mode", MODES)
def test_control_c_holds(mode):
    arm = Interrupting([0.9])
    report = stream_trajectory(arm, plan(), mode=mode)
    assert (report.outcome, report.reason) == (Outcome.STOPPED, "interrupted")
    assert arm.executor.holding
    assert report.plan_time < 1.5
    arm = Interrupting([0.9, 0.91])
    report = stream_trajectory(arm, plan(), mode="setpoints")
    assert (report.outcome, report.reason) == (Outcome.STOPPED, "interrupted; held at once")
    assert arm.clock() - arm.start < 0.93
    arm = Interrupting([0.5])
    arm.missing = True
    report = stream_trajectory(arm, plan(), mode=mode)
    assert (report.outcome, report.reason) == (Outcome.STOPPED, "interrupted before the motion")


def test_the_arm_gives_up():
    arm = FakeArm(script={0.9: lambda arm: arm.executor.deactivate()})
    report = stream_trajectory(arm, plan())
    assert report.outcome is Outcome.ABORTED
    assert report.reason.startswith("INVALID_GOAL: ")
    arm = FakeArm(script={0.9: lambda arm: arm.executor.goal.cancel()})
    assert stream_trajectory(arm, plan()).reason == "someone else cancelled the goal"


class Answering:
    """A goal handle without feedback that returns a result at a given time and ignores cancel."""

    def __init__(self, arm, time, result):
        self.arm, self.time, self.answer = arm, time, result
        self.status = GoalStatus.EXECUTING

    @property
    def result(self):
        return self.answer if self.arm.clock() >= self.arm.start + self.time else None

    def cancel(self):
        pass


def answering(time, result, **options):
    arm = FakeArm(**options)

    def send(goal):
        arm.executor.submit(goal)
        return Answering(arm, time, result)

    arm.send = send
    return arm


@pytest.mark.parametrize("delay", [0.002, 1.0])
def test_without_feedback_a_late_start_is_no_error_but_leaving_the_way_is(delay):
    arm = FakeArm()
    handle = Answering(arm, 4.0, GoalResult(GoalStatus.SUCCEEDED))

    def send(goal):
        arm.script[delay] = lambda arm: arm.executor.submit(goal)
        return handle

    arm.send = send
    assert stream_trajectory(arm, plan(), goal_time=3.0).ok
    for action, text in ((_jump, "jumped from"), (_stray, "b is 0.2")):
        arm = answering(99.0, None, script={0.9: action})
        report = stream_trajectory(arm, plan())
        assert report.outcome is Outcome.HELD
        assert text in report.reason


def test_late_answers():
    rejected = GoalResult(GoalStatus.ABORTED, ErrorCode.INVALID_GOAL, "no", rejected=True)
    report = stream_trajectory(answering(0.1, rejected), plan())
    assert (report.outcome, report.reason, report.plan_time) == (Outcome.REFUSED, "no", 0.0)
    arm = answering(999.0, None)
    report = stream_trajectory(arm, plan(), goal_time=1.5)
    assert arm.clock() - arm.start == pytest.approx(2.0 + 1.5, abs=0.1)
    assert (report.outcome, report.reason) == (
        Outcome.HELD,
        "the arm gave no result 1.5 s after the plan's end",
    )
    report = stream_trajectory(answering(2.5, GoalResult(GoalStatus.SUCCEEDED)), plan())
    assert report.ok
    # Without feedback the desired position is estimated. An idle cycle of the loop at 50 Hz is 0.02
    # rad.
    assert report.tracking.max_error.max() < 0.04
    stop = threading.Event()
    stop.set()
    arm = answering(99.0, None)
    report = stream_trajectory(arm, plan(), stop_event=stop)
    assert (report.outcome, report.reason) == (
        Outcome.STOPPED,
        "asked to stop; the cancel was not answered",
    )
    assert arm.executor.holding


def test_a_goal_that_is_not_reached():
    arm = FakeArm()
    arm.ceiling = 0.9
    report = stream_trajectory(arm, plan(), mode="setpoints", goal_time=1.0)
    assert report.outcome is Outcome.ABORTED
    assert (
        report.reason
        == "a is 0.1 from the goal 1 s after the plan's end; it may be 0.02 at most, at rest"
    )


def test_another_turn_of_a_continuous_joint():
    """The set points continue from the joint's position, not all the way back."""
    limits = type(LIMITS)(
        lower=[-np.inf, -3.0], upper=[np.inf, 3.0], velocity=[2.0, 2.0], acceleration=[8.0, 8.0]
    )
    for mode in MODES:
        arm = FakeArm(position=(3.1 - 2 * np.pi, 0.0))
        report = stream_trajectory(arm, plan((3.3, 0.0), (3.1, 0.0), limits=limits), mode=mode)
        assert report.ok, report
        assert arm.position[0] == pytest.approx(3.3 - 2 * np.pi, abs=1e-9)


@settings(deadline=None, max_examples=25)
@given(
    delays=st.lists(st.floats(0.0, 0.01) | st.floats(0.0, 0.15), max_size=300),
    scalings=st.dictionaries(st.floats(0.0, 3.0), st.floats(0.0, 1.0), max_size=5),
    rate=st.sampled_from([125.0, 500.0]),
)
def test_no_stall_makes_a_jump(delays, scalings, rate):
    """Two set points are at most one sample's motion apart, for any stalls and speed scaling."""
    script = {
        time: lambda arm, s=s: arm.set_status(speed_scaling=s) for time, s in scalings.items()
    }
    script[4.0] = lambda arm: arm.set_status(speed_scaling=1.0)
    arm = FakeArm(script=script, delays=delays)
    report = stream_trajectory(arm, plan(), mode="setpoints", rate=rate)
    assert report.ok, report
    # 1e-9 is the rounding of the quintic.
    assert (steps(arm.setpoints) <= PEAK / rate + 1e-9).all()
    positions = np.array([position for _, position in arm.setpoints])
    assert (np.diff(positions[:, 0]) >= -1e-12).all()
    assert np.allclose(positions[-1], [1.0, -0.5], rtol=0, atol=1e-9)
    assert report.statistics.missed >= sum(int(delay * rate * (1 - 1e-9)) for delay in delays[:5])


def test_a_stall_that_made_the_arm_hold_is_followed_by_a_gentle_start():
    arm = FakeArm(delays=[0.0] * 100 + [0.15])
    stream_trajectory(arm, plan(), mode="setpoints", scaling_ramp=0.4)
    times = np.array([time for time, _ in arm.setpoints])
    speeds = steps(arm.setpoints)[:, 0] * 125
    stall = int(np.argmax(np.diff(times)))
    # The first step after the stall is half a period's share of the ramp.
    assert speeds[stall] <= PEAK[0] * (0.008 / 0.4) * 0.5 * (1 + 1e-6)
    assert speeds[stall - 1] > 0.5


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"mode": "telepathy"}, "mode is 'telepathy'"),
        ({"rate": 0.0}, "rate is 0.0"),
        ({"tracking_error": 0.0}, "tracking_error is 0.0"),
        ({"goal_tolerance": float("nan")}, "goal_tolerance is nan"),
        ({"scaling_ramp": -1.0}, "scaling_ramp is -1.0"),
    ],
)
def test_bad_arguments_are_named(options, text):
    with pytest.raises(ExecutionError, match=text):
        stream_trajectory(FakeArm(), plan(), **options)
