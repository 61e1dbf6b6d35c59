"""The simulated arm behind the port: follows, refuses, holds; nothing makes it leave its limits or jump."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import robosim
from robosim.errors import ExecutionError, ModelError
from robosim.execution.clock import ManualClock
from robosim.execution.goals import ErrorCode, GoalStatus, Rejection, RejectReason
from robosim.execution.joint_trajectory import from_trajectory
from robosim.execution.messages import Goal, JointTrajectory, JointTrajectoryPoint, SafetyMode, Setpoint
from robosim.execution.profiles import HUMBLE, JAZZY, PROFILES
from robosim.execution.simulated import SimulatedArm
from robosim.execution.tracking import TrackingRecorder
from robosim.planners import Problem, plan
from robosim.scene import load_scene

UR5 = robosim.load_robot("ur5")
N = 6
READY = np.array([0.3, -1.2, 1.1, -1.4, -1.5, 0.4])
SHELF = plan(Problem(UR5, load_scene("bookshelf_small", model=UR5))).trajectory
START = dict(zip(SHELF.position_names, SHELF.position(0.0), strict=True))


def arm_at(start=None, **options) -> SimulatedArm:
    options = {
        "initial": dict(zip(UR5.joint_names, READY, strict=True)) if start is None else start,
        **options,
    }
    return SimulatedArm(UR5, **options)


def trajectory(*points, names=UR5.joint_names, stamp=0.0) -> JointTrajectory:
    """Of (time, positions) or (time, positions, velocities)."""
    return JointTrajectory(names, tuple(JointTrajectoryPoint(*point) for point in points), stamp)


def texts(arm) -> str:
    return "\n".join(event.text for event in arm.events)


# -- Following -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rate", [125.0, 500.0])
@pytest.mark.parametrize(("tracking", "bound"), [("ideal", 1e-5), ("dynamics", 2e-3)])
def test_a_plan_is_followed(rate, tracking, bound):
    """Ideal: the interpolation of the message deviates at most 1e-5 rad from the plan (see from_trajectory), and
    that is all. Dynamics: the 2 mrad that default gains allow for inertial forces."""
    arm = arm_at(START, rate=rate, tracking=tracking)
    handle = arm.send(Goal(from_trajectory(SHELF)))
    worst, begin = 0.0, arm.clock()
    while handle.result is None:
        state = arm.step()
        worst = max(worst, np.abs(state.position - SHELF.position(state.stamp - begin)).max())
    assert handle.result.ok
    assert arm.clock() - begin == pytest.approx(SHELF.duration, abs=2 / rate)
    assert worst < bound
    arm.sleep_until(arm.clock() + 1.0)
    # At the end it stays at the last point; with gravity feedforward no error remains there.
    assert np.abs(arm.state().position - SHELF.position(SHELF.duration)).max() < 1e-8
    assert np.abs(arm.state().velocity).max() < 1e-8


@pytest.mark.parametrize("profile", PROFILES.values(), ids=list(PROFILES))
def test_every_distribution_arrives(profile):
    arm = arm_at(START, profile=profile)
    handle = arm.send(Goal(from_trajectory(SHELF)))
    arm.sleep_until(3.0)
    assert handle.status is GoalStatus.SUCCEEDED
    assert np.allclose(arm.state().position, SHELF.position(SHELF.duration), atol=1e-12)


@pytest.mark.parametrize("stream_rate", [50, 125, 500])
@pytest.mark.parametrize("arm_rate", [125.0, 500.0])
def test_a_stream_of_set_points_is_reached_on_time(stream_rate, arm_rate):
    """Each set point is there when the next one is due, whichever of the two is faster, and between them the arm
    moves evenly: not in jumps of the stream's period."""
    arm = arm_at(START, rate=arm_rate)
    peak = np.abs(SHELF.velocity(np.linspace(0, SHELF.duration, 500))).max()
    matching = max(arm_rate, stream_rate) % min(arm_rate, stream_rate) == 0
    arm.sleep_until(0.1)
    begin = arm.clock()
    arm.recorder = TrackingRecorder(arm.joint_names)
    for k in range(1, int(SHELF.duration * stream_rate)):
        arm.stream(Setpoint(SHELF.position(k / stream_rate)))
        arm.sleep_until(begin + k / stream_rate)
        if stream_rate <= arm_rate:
            off = np.abs(arm.state().position - SHELF.position(k / stream_rate)).max()
            assert off <= (1e-12 if matching else peak / arm_rate)
    # Where periods do not match, an interval of three for one of two and a half makes a third of a difference.
    steps = np.abs(np.diff(arm.recorder.tracking().actual, axis=0))
    assert steps.max() <= peak / arm_rate * (1.01 if matching else 4 / 3)
    assert not [event for event in arm.events if event.level != "info"]


def test_speed_scaling_slows_a_trajectory_down_and_pauses_it():
    arm = arm_at(START)
    handle = arm.send(Goal(from_trajectory(SHELF)))
    times, begin = 0.0, arm.clock()
    for seconds, scaling in ((0.5, 1.0), (0.5, 0.3), (2.0, 0.0), (0.4, 1.0)):
        arm.speed_scaling = scaling
        before = arm.state().position
        arm.sleep_until(arm.clock() + seconds)
        times += seconds * scaling
        # One period of look ahead and one of rounding at each change: at most 3 rad/s * 4 ms.
        assert np.abs(arm.state().position - SHELF.position(times)).max() < 0.0125
        if scaling == 0.0:
            assert np.abs(arm.state().position - before).max() < 1e-9
            assert np.array_equal(arm.state().velocity, np.zeros(N))
    arm.sleep_until(begin + 10)
    assert handle.result.ok
    assert arm.status().speed_scaling == 1.0


def test_set_points_do_not_move_an_arm_whose_speed_scaling_is_0():
    arm = arm_at()
    arm.speed_scaling = 0.0
    arm.stream(Setpoint(READY + 0.001))
    arm.sleep_until(0.05)
    assert np.array_equal(arm.state().position, READY)
    assert "is not gone to while the speed scaling is 0" in texts(arm)


def test_only_named_joints_move_and_the_rest_stays():
    names = ("wrist_1_joint", "elbow_joint")
    arm = SimulatedArm(UR5, joint_names=names, initial=dict(zip(UR5.joint_names, READY, strict=True)))
    assert arm.state().joint_names == names
    assert np.allclose(arm.state().position, READY[[3, 2]])
    handle = arm.send(Goal(trajectory((1.0, [0.2, 0.9]), names=names[::-1])))
    arm.sleep_until(2.0)
    assert handle.result.ok
    assert np.allclose(arm.state().position, [0.9, 0.2])


def test_the_recorder_sees_every_period():
    arm = arm_at(START, rate=125.0, tracking="dynamics")
    arm.recorder = TrackingRecorder(arm.joint_names, robot="ur5")
    arm.send(Goal(from_trajectory(SHELF)))
    arm.sleep_until(1.0)
    tracking = arm.recorder.tracking()
    assert len(tracking) == 125
    assert np.allclose(np.diff(tracking.time), 0.008)
    assert np.array_equal(tracking.actual[-1], arm.state().position)
    assert np.array_equal(tracking.desired, tracking.commanded)
    assert 1e-5 < tracking.max_error.max() < 2e-3


def run_twice(tracking):
    arm = arm_at(START, tracking=tracking, rate=125.0)
    states = []
    arm.send(Goal(from_trajectory(SHELF)))
    for k in range(200):
        arm.speed_scaling = (1.0, 0.4)[k // 60 % 2]
        if k == 150:
            arm.stop()
        if k > 160:
            arm.stream(Setpoint(READY))
        arm.sleep_until(k * 0.01)
        state = arm.state()
        states.append(np.concatenate([[state.stamp], state.position, state.velocity]))
    return np.array(states)


@pytest.mark.parametrize("tracking", ["ideal", "dynamics"])
def test_the_same_commands_give_the_same_bits(tracking):
    assert np.array_equal(run_twice(tracking), run_twice(tracking))


# -- Refusing and holding ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("goal", "reason", "text"),
    [
        (trajectory((1.0, np.full(N, np.nan))), RejectReason.NOT_FINITE, "nan"),
        (trajectory((1.0, np.full(N, 7.0))), RejectReason.OUT_OF_LIMITS, "7"),
        (trajectory((1.0, READY[:3]), names=UR5.joint_names[:3]), RejectReason.JOINT_COUNT, "3 joints"),
        (trajectory((1.0, READY, np.full(N, 0.1))), RejectReason.END_VELOCITY, "0.1"),
        (trajectory(), RejectReason.NO_POINTS, "no points"),
    ],
)
def test_what_the_controller_rejects_is_told(goal, reason, text):
    arm = arm_at()
    answer = arm.send(Goal(goal))
    assert isinstance(answer, Rejection)
    assert answer.reason is reason
    assert text in answer.text
    if reason is not RejectReason.NO_POINTS:  # by topic an empty trajectory means: hold
        assert arm.publish(goal).reason is reason
    assert f"goal rejected: {answer.text}" in texts(arm)
    arm.sleep_until(1.0)
    assert np.array_equal(arm.state().position, READY)


def test_a_trajectory_by_topic_moves_it():
    arm = arm_at()
    assert arm.publish(trajectory((1.0, READY + 0.2))) is None
    arm.sleep_until(1.5)
    assert np.allclose(arm.state().position, READY + 0.2)


def test_a_set_point_is_copied():
    arm, position = arm_at(), READY.copy()
    arm.stream(Setpoint(position))
    position[:] = np.nan
    arm.sleep_until(0.01)
    assert np.array_equal(arm.state().position, READY)


@pytest.mark.parametrize(
    ("setpoint", "text"),
    [
        (Setpoint(np.append(READY[:-1], np.nan)), "position of wrist_3_joint is nan"),
        (Setpoint(READY, np.append(np.inf, READY[1:])), "velocity of shoulder_pan_joint is inf"),
        (Setpoint(READY[:3]), "position has shape (3,); expected (6,)"),
    ],
)
def test_an_unfit_set_point_is_refused_once_and_said_so(setpoint, text):
    arm = arm_at()
    arm.stream(Setpoint(READY + 0.001))
    arm.sleep_until(0.01)
    for k in range(2, 5):
        arm.stream(setpoint)
        arm.sleep_until(k * 0.01)
    assert np.allclose(arm.state().position, READY + 0.001)
    assert text in texts(arm)
    assert len([event for event in arm.events if "refused" in event.text]) == 1
    arm.stream(Setpoint(READY + 0.002))
    arm.stream(setpoint)
    assert len([event for event in arm.events if "refused" in event.text]) == 2


def test_a_jump_becomes_a_motion_at_the_speed_limit_and_is_told():
    arm = arm_at(rate=125.0, watchdog=np.inf)
    arm.stream(Setpoint(READY + 1.0))
    moved = []
    for _ in range(60):
        before = arm.state().position
        moved.append(np.abs(arm.step().position - before).max())
    assert max(moved) <= np.pi / 125 * (1 + 1e-12)
    assert np.array_equal(arm.state().position, READY + 1.0)
    assert "more than one sample's motion, 0.0251327; clipped" in texts(arm)


def test_a_set_point_beyond_a_limit_ends_at_the_limit_and_is_told():
    arm = arm_at(watchdog=np.inf)
    wild = READY.copy()
    wild[2] = 100.0
    arm.stream(Setpoint(wild))
    arm.sleep_until(3.0)
    assert arm.state().position[2] == UR5.limits.upper[2]
    assert "position 100 of elbow_joint is outside its limits -3.14159 to 3.14159; clipped" in texts(arm)


def test_when_the_stream_stops_it_holds_within_the_watchdog():
    arm = arm_at(watchdog=0.05)
    for k in range(1, 51):
        arm.stream(Setpoint(READY + 0.001 * k, np.full(N, 0.5)))
        arm.sleep_until(k * 0.002)
    there = arm.state().position
    arm.sleep_until(0.1 + 0.05 - 0.002)
    assert "holding" not in texts(arm)
    arm.sleep_until(0.1 + 0.05 + 0.002)
    assert "no set point for 0.05 s; holding" in texts(arm)
    arm.sleep_until(1.0)
    assert np.array_equal(arm.state().position, there)
    # And goes on when the stream does, or when a goal comes.
    arm.stream(Setpoint(READY))
    arm.sleep_until(1.2)
    assert "holding" in texts(arm)
    assert arm.send(Goal(trajectory((0.5, READY + 0.1)))).status is GoalStatus.EXECUTING
    arm.sleep_until(2.0)
    assert np.allclose(arm.state().position, READY + 0.1)


def test_set_points_do_not_take_the_arm_from_a_goal_but_a_goal_ends_a_stream():
    arm = arm_at()
    arm.stream(Setpoint(READY + 0.01))
    arm.sleep_until(0.01)
    handle = arm.send(Goal(trajectory((1.0, READY + 0.2))))
    arm.stream(Setpoint(READY - 0.2))
    arm.sleep_until(0.5)
    assert handle.status is GoalStatus.EXECUTING
    assert "a trajectory is being followed; stop it first" in texts(arm)
    arm.sleep_until(1.5)
    assert handle.result.ok
    assert np.allclose(arm.state().position, READY + 0.2)


def test_stop_gives_up_a_goal_and_a_stream():
    arm = arm_at(START)
    handle = arm.send(Goal(from_trajectory(SHELF)))
    arm.sleep_until(1.0)
    there = arm.state().position
    arm.stop()
    assert handle.result.status is GoalStatus.CANCELED
    arm.sleep_until(2.0)
    # The controller holds the position that it has measured last, a period ago.
    assert (np.abs(arm.state().position - there) <= np.pi / 500).all()
    there = arm.state().position
    arm.sleep_until(2.5)
    assert np.array_equal(arm.state().position, there)
    arm.stream(Setpoint(there + 0.01))
    arm.step()
    there = arm.state().position
    arm.stop()
    arm.sleep_until(3.0)
    assert np.array_equal(arm.state().position, there)


def test_a_goal_that_is_preempted_ends_as_the_distribution_has_it():
    for profile, status in ((HUMBLE, GoalStatus.CANCELED), (JAZZY, GoalStatus.ABORTED)):
        arm = arm_at(profile=profile)
        first = arm.send(Goal(trajectory((1.0, READY + 0.2))))
        arm.sleep_until(0.5)
        second = arm.send(Goal(trajectory((1.0, READY))))
        arm.sleep_until(2.0)
        assert first.result.status is status
        assert second.result.ok


def stop_controller(arm):
    arm.controller_active = False


def stop_program(arm):
    arm.program_running = False


def emergency(arm):
    arm.safety_mode = SafetyMode.ROBOT_EMERGENCY_STOP


@pytest.mark.parametrize(
    ("happens", "text"),
    [
        (stop_controller, "the controller is not active"),
        (stop_program, "the robot's program is not running"),
        (emergency, "the safety mode is ROBOT_EMERGENCY_STOP, not NORMAL"),
        (SimulatedArm.protective_stop, "the safety mode is PROTECTIVE_STOP, not NORMAL"),
        (SimulatedArm.close, "the arm is closed"),
    ],
)
@pytest.mark.parametrize("tracking", ["ideal", "dynamics"])
def test_what_stops_an_arm_aborts_its_goal_and_refuses_others_with_the_reason(happens, text, tracking):
    arm = arm_at(START, tracking=tracking)
    handle = arm.send(Goal(from_trajectory(SHELF)))
    arm.sleep_until(1.0)
    there = arm.state().position
    happens(arm)
    assert handle.result.status in (GoalStatus.ABORTED, GoalStatus.CANCELED)
    assert handle.result.error_code in (ErrorCode.INVALID_GOAL, ErrorCode.SUCCESSFUL)
    assert arm.status().controller_active is False
    assert text in texts(arm)
    answer = arm.send(Goal(trajectory((1.0, READY))))
    assert answer.reason is RejectReason.INACTIVE
    assert text in answer.text
    assert text in arm.publish(trajectory((1.0, READY))).text
    arm.stream(Setpoint(READY))
    assert f"set point refused: {text}" in texts(arm)
    arm.sleep_until(2.0)
    # A body with dynamics needs a moment to stop: from 3 rad/s under its drives, some hundredths of a radian.
    assert np.abs(arm.state().position - there).max() < (1e-12 if tracking == "ideal" else 0.05)
    assert np.abs(arm.state().velocity).max() < 1e-6


def test_after_a_protective_stop_nothing_goes_on_by_itself():
    arm = arm_at(START)
    arm.send(Goal(from_trajectory(SHELF)))
    arm.sleep_until(1.0)
    there = arm.state().position
    arm.protective_stop()
    assert arm.status().safety_mode is SafetyMode.PROTECTIVE_STOP
    arm.unlock_protective_stop()
    assert arm.status().safety_mode is SafetyMode.NORMAL
    assert arm.status().program_running is False
    assert isinstance(arm.send(Goal(trajectory((1.0, there)))), Rejection)
    arm.program_running = True
    assert arm.status().controller_active
    arm.sleep_until(3.0)
    assert np.array_equal(arm.state().position, there)
    handle = arm.send(Goal(trajectory((1.0, READY))))
    arm.sleep_until(5.0)
    assert handle.result.ok


def test_a_body_that_sags_does_not_sag_further_with_every_stop():
    """Without feedforward the arm rests below its command; switching off and on holds the command, not the sag."""
    arm = arm_at(tracking="dynamics", feedforward="none")
    arm.sleep_until(2.0)
    sagged = arm.state().position
    assert np.abs(sagged - READY).max() > 1e-4
    for _ in range(5):
        arm.controller_active = False
        arm.controller_active = True
        arm.sleep_until(arm.clock() + 0.5)
    assert np.abs(arm.state().position - sagged).max() < 1e-6


def test_an_arm_too_weak_for_a_plan_gives_it_up():
    """With a tenth of its torque a UR5 cannot follow: the path tolerance ends it, and it says which joint."""
    weak = UR5.with_limits(effort=UR5.limits.effort * 0.1)
    arm = SimulatedArm(weak, tracking="dynamics", initial=START)
    handle = arm.send(Goal(from_trajectory(SHELF)))
    arm.sleep_until(5.0)
    assert handle.result.status is GoalStatus.ABORTED
    assert handle.result.error_code is ErrorCode.PATH_TOLERANCE_VIOLATED
    assert "position error" in texts(arm)


# -- Whatever is commanded -----------------------------------------------------------------------------------

number = st.one_of(
    st.floats(-7, 7), st.floats(allow_nan=True, allow_infinity=True), st.sampled_from([0.0, 1e308, -1e308])
)
vector = st.lists(number, min_size=N, max_size=N)
time_step = st.one_of(st.floats(1e-3, 1.0), st.floats(-1, 5), st.floats(1e-300, 1e-6), st.just(float("nan")))


@st.composite
def message(draw):
    """A trajectory that mostly can be accepted, but does what it likes."""
    points, time = [], 0.0
    for _ in range(draw(st.integers(0, 4))):
        time += draw(time_step)
        fields = [draw(vector)] + [draw(vector) for _ in range(draw(st.integers(0, 2)))]
        points.append((time, *fields))
    if points and len(points[-1]) > 2 and draw(st.booleans()):
        points[-1] = (points[-1][0], points[-1][1], [0.0] * N, *points[-1][3:])
    return trajectory(*points, stamp=draw(st.sampled_from([0.0, 0.0, 0.05, -1.0])))


@st.composite
def gentle(draw):
    """A trajectory of positions within the limits, with velocities that make its interpolation overshoot."""
    inside = st.lists(st.floats(-3.1, 3.1), min_size=N, max_size=N)
    speed = st.lists(st.floats(-3.1, 3.1), min_size=N, max_size=N)
    times = np.cumsum(draw(st.lists(st.floats(1e-4, 0.3), min_size=1, max_size=4)))
    points = [(float(t), draw(inside), draw(speed)) for t in times]
    return trajectory(*points[:-1], (float(times[-1]), draw(inside), [0.0] * N))


operation = st.one_of(
    st.tuples(st.just("stream"), vector),
    st.tuples(
        st.just("stream"), st.lists(st.floats(-0.02, 0.02), min_size=N, max_size=N).map(lambda d: READY + d)
    ),
    st.tuples(st.just("send"), message()),
    st.tuples(st.just("send"), gentle()),
    st.tuples(st.just("publish"), gentle()),
    st.tuples(st.just("scaling"), st.sampled_from([1.0, 0.3, 0.0, 1.0])),
    st.tuples(st.just("stop"), st.none()),
    st.tuples(st.just("protective stop"), st.booleans()),
    st.tuples(st.just("active"), st.booleans()),
    st.tuples(st.just("program"), st.booleans()),
)


def apply(arm, what, value):
    """One operation; returns a refusal, if it was one."""
    if what == "stream":
        arm.stream(Setpoint(np.array(value), np.array(value)))
    elif what == "send":
        return arm.send(Goal(value))
    elif what == "publish":
        return arm.publish(value)
    elif what == "scaling":
        arm.speed_scaling = value
    elif what == "stop":
        arm.stop()
    elif what == "active":
        arm.controller_active = value
    elif what == "program":
        arm.program_running = value
    elif value:
        arm.protective_stop()
    else:
        arm.unlock_protective_stop()
        arm.program_running = True
    return None


@pytest.mark.parametrize("tracking", ["ideal", "dynamics"])
@settings(deadline=None, max_examples=60)
@given(
    operations=st.lists(st.tuples(operation, st.integers(1, 12)), min_size=1, max_size=12),
    rate=st.sampled_from([125.0, 500.0]),
    profile=st.sampled_from(list(PROFILES.values())),
)
def test_nothing_makes_it_leave_its_limits_or_jump(tracking, operations, rate, profile):
    limits = UR5.limits
    arm = arm_at(rate=rate, tracking=tracking, profile=profile, allow_nonzero_velocity_at_trajectory_end=True)
    reach = limits.velocity / rate * (1 + 1e-9)  # rounding of the sum of a period's steps
    for (what, value), periods in operations:
        answer = apply(arm, what, value)
        if isinstance(answer, Rejection):
            assert answer.text
            assert answer.text in texts(arm)
        for _ in range(periods):
            before = arm.state()
            paused = arm.speed_scaling == 0
            after = arm.step()
            assert np.isfinite(after.position).all()
            assert np.isfinite(after.velocity).all()
            assert (after.position >= limits.lower).all()
            assert (after.position <= limits.upper).all()
            assert (np.abs(after.position - before.position) <= reach).all()
            assert (np.abs(after.velocity) <= limits.velocity).all()
            assert after.stamp == pytest.approx(before.stamp + 1 / rate)
            if after.effort is not None:
                assert (np.abs(after.effort) <= limits.effort).all()
            if paused and tracking == "ideal":
                assert np.array_equal(after.position, before.position)


# -- Time ----------------------------------------------------------------------------------------------------


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
    """After 1000 s of whole periods there were exactly as many as there should be."""
    arm = SimulatedArm(UR5, joint_names=("elbow_joint",), rate=125.0)
    count = []
    arm.recorder = TrackingRecorder(arm.joint_names)
    for k in range(1, 10_001):
        arm.sleep_until(k * 0.008)
        count.append(len(arm.recorder))
    assert np.array_equal(count, np.arange(1, 10_001))


class RunningClock:
    """A clock that runs by itself: every look at it takes time, and tests may make it stall or go back."""

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
    """A sender that is late does not delay the arm: its own loop has gone on, and its watchdog has seen the gap."""
    arm = arm_at(START, clock=running)
    handle = arm.send(Goal(from_trajectory(SHELF)))
    begin = running.now
    arm.sleep_until(begin + 0.5)
    running.now += 0.3  # we were not there
    arm.sleep_until(begin + 1.0)
    assert np.abs(arm.state().position - SHELF.position(arm.state().stamp - begin)).max() < 0.01
    arm.sleep_until(begin + 3.0)
    assert handle.result.ok
    arm.stream(Setpoint(arm.state().position))
    running.now += 0.3
    arm.sleep_until(running.now)
    assert "no set point for 0.1 s; holding" in texts(arm)


def test_in_real_time_its_state_is_always_fresh(running):
    """Nobody waits, but somebody looks: the arm's own loop has run all the same."""
    arm = arm_at(clock=running)
    for pause in (0.05, 0.5, 5.0):
        running.now += pause
        stamp = arm.state().stamp
        assert 0 <= running.now - stamp < 0.01
        assert not arm.events  # nothing was going on
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
    assert len(seen) == 1  # the watchdog's


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


# -- Being made ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({"rate": 0.0}, ExecutionError, "rate is 0.0"),
        ({"rate": np.nan}, ExecutionError, "rate is nan"),
        ({"watchdog": -1.0}, ExecutionError, "watchdog is -1.0"),
        ({"tracking": "perfect"}, ExecutionError, "valid are 'ideal' and 'dynamics'"),
        ({"joint_names": ("elbow",)}, ExecutionError, "'elbow' is no joint"),
        (
            {"start": {"elbow_joint": 4.0}},
            ExecutionError,
            "begin with elbow_joint at 4; its limits are -3.14159",
        ),
        ({"start": {"elbow": 0.0}}, ModelError, "elbow"),
        ({"start": np.zeros(5)}, ModelError, r"\(5,\)"),
        ({"start": "nowhere"}, ModelError, "nowhere"),
    ],
)
def test_what_cannot_be_is_refused(options, error, text):
    with pytest.raises(error, match=text):
        arm_at(**options)


@pytest.mark.parametrize("value", [-0.1, 1.1, np.nan])
def test_speed_scaling_is_a_share(value):
    with pytest.raises(ExecutionError, match="speed scaling"):
        arm_at().speed_scaling = value


def test_it_can_be_made_for_every_robot_and_from_a_named_state():
    panda = robosim.load_robot("panda")
    assert SimulatedArm(panda).state().position[3] < 0  # zero is outside its limits
    ready = SimulatedArm(UR5, initial="ready").state()
    assert np.allclose(ready.position, UR5.configuration("ready"))
    clock = ManualClock(100.0)
    assert SimulatedArm(UR5, clock=clock).state().stamp == 100.0


def test_leaving_its_block_closes_it_and_closing_twice_is_fine():
    with arm_at() as arm:
        handle = arm.send(Goal(trajectory((1.0, READY + 0.1))))
    assert handle.result.status is GoalStatus.CANCELED
    arm.close()
    assert not arm.status().connected
