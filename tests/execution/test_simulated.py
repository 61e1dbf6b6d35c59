"""The simulated arm behind `Arm`: any robot, plans, set points and speed scaling."""

import numpy as np
import pytest

import robosim
from robosim.errors import ExecutionError, ModelError
from robosim.execution.clock import ManualClock
from robosim.execution.goals import GoalStatus
from robosim.execution.joint_trajectory import from_trajectory
from robosim.execution.messages import Goal, Setpoint
from robosim.execution.profiles import PROFILES
from robosim.execution.simulated import SimulatedArm
from robosim.execution.tracking import TrackingRecorder

from .simulated_ur5 import READY, SHELF, START, UR5, N, arm_at, texts, trajectory

# -- Following -------------------------------------------------------------------------------------


@pytest.mark.parametrize("rate", [125.0, 500.0])
@pytest.mark.parametrize(("tracking", "bound"), [("ideal", 1e-5), ("dynamics", 2e-3)])
def test_a_plan_is_followed(rate, tracking, bound):
    """A plan is followed within the error of messages or of default gains.

    With ideal tracking, the interpolation of the message deviates at most 1e-5 rad from the plan
    (see from_trajectory). With dynamics, default gains allow 2 mrad for inertial forces.
    """
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
    # At the end the arm stays at the last point. With gravity feedforward no error remains.
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
    """Each set point is reached when the next one is due, whichever rate is higher.

    Between set points the arm moves evenly, not in jumps of the stream's period.
    """
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
    # If periods do not match, an interval of three instead of two and a half periods changes the
    # step by a third.
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
        # One period of look-ahead and one of rounding at each change: at most 3 rad/s * 4 ms.
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
    arm = SimulatedArm(
        UR5, joint_names=names, initial=dict(zip(UR5.joint_names, READY, strict=True))
    )
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


# -- Construction ----------------------------------------------------------------------------------


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
