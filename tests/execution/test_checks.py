"""Checks before a motion by their texts, and a good start that passes all of them."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from robosim.execution.checks import (
    Requirements,
    check_before_motion,
    check_state,
    check_status,
    continuous_joints,
    to_present_turn,
)
from robosim.execution.goals import RejectReason
from robosim.execution.joint_trajectory import from_trajectory
from robosim.execution.messages import (
    ArmState,
    ArmStatus,
    JointTrajectory,
    JointTrajectoryPoint,
    SafetyMode,
)
from robosim.execution.motion import motion_of
from robosim.trajectory import Trajectory, TrajectoryLimits

from .fake_arm import LIMITS, NAMES, plan

GOOD = ArmStatus(True, True, True, SafetyMode.NORMAL, 1.0)
ALL = Requirements(controller_active=True, program_running=True, safety_mode=True)


def state(position=(0.0, 0.0), velocity=(0.0, 0.0), names=NAMES, stamp=10.0):
    return ArmState(
        tuple(names), np.array(position, dtype=float), np.array(velocity, dtype=float), stamp
    )


def texts(trajectory=None, at=None, status=GOOD, limits=None, now=10.01, **options):
    trajectory = plan() if trajectory is None else trajectory
    at = state() if at is None else at
    found = check_before_motion(
        motion_of(trajectory), at, status, limits, now=now, **{"requirements": ALL, **options}
    )
    return [rejection.text for rejection in found]


def test_a_good_start_passes():
    assert texts() == []
    assert texts(at=state((0.0099, -0.0099))) == []
    assert texts(at=state((9.0, 0.0, 0.0), (0, 0, 0), ("gripper", "b", "a"))) == []
    assert texts(from_trajectory(plan()), limits=LIMITS) == []
    assert texts(from_trajectory(plan(), joint_names=("b", "a")), limits=LIMITS) == []


def test_a_stale_start_names_each_joint_and_both_values():
    found = texts(at=state((0.0101, -0.3)))
    assert len(found) == 2
    assert found[0].startswith(
        "a is at 0.0101 and the trajectory starts at 0, 0.0101 away; it has to start within"
    )
    assert found[1].startswith("b is at -0.3 and the trajectory starts at 0, 0.3 away")
    assert texts(at=state((0.0101, -0.3)), start_tolerance=0.31) == []
    assert "plan again" in texts(from_trajectory(plan()), at=state((0.02, 0)), limits=LIMITS)[0]


def test_a_full_turn_counts_only_for_continuous_joints():
    around = state((2 * math.pi, 0.0))
    assert len(texts(at=around)) == 1
    assert texts(at=around, continuous=("a",)) == []
    assert len(texts(at=around, continuous=("b",))) == 1


def test_an_arm_that_moves_is_not_where_it_says():
    found = texts(at=state(velocity=(0.0, 0.5)))
    assert found == [
        "b moves at 0.5 per s and the trajectory starts at 0; they have to agree within 0.1"
    ]


def test_a_message_whose_first_point_comes_later_starts_where_the_arm_is():
    """The motion from the arm to the first point is checked, as it may be too fast."""
    rest = np.zeros(2)
    near = JointTrajectory(NAMES, (JointTrajectoryPoint(2.0, [1.0, 0.0], rest, rest),))
    assert texts(near, limits=LIMITS) == []
    too_fast = JointTrajectory(NAMES, (JointTrajectoryPoint(0.5, [1.0, 0.0], rest, rest),))
    found = texts(too_fast, limits=LIMITS)
    # A state has no acceleration, so the motion is a cubic: at most 1.5 distance / time, half-way.
    assert found[0] == "velocity of a is 3 at 0.25 s, above its limit 2.02"


def test_joints_are_matched_by_name():
    other = plan(names=("a", "c"))
    found = texts(other, at=state((0, 0, 0), (0, 0, 0), ("a", "b", "c")), joint_names=NAMES)
    assert found == [
        "the trajectory moves 'c', which the arm has not and lacks 'b'; the arm's joints: a, b"
    ]
    lacking = plan((1.0,), (0.0,), names=("a",), limits=None)
    options = {"limits": TrajectoryLimits(velocity=[2.0]), "joint_names": NAMES}
    assert texts(lacking, **options) == ["the trajectory lacks 'b'; the arm's joints: a, b"]
    found = check_before_motion(motion_of(other), state(), GOOD, now=10.0)
    assert [(r.reason, r.text) for r in found] == [
        (RejectReason.UNKNOWN_JOINT, "the joint state lacks 'c'; it has a, b")
    ]


@pytest.mark.parametrize(
    ("goal", "duration", "text"),
    [
        ((3.5, 0.0), 8.0, "position of a is 3.5 at 8 s, above its limit 3"),
        ((1.0, 0.0), 0.9, "velocity of a is 2.08333333 at 0.45 s, above its limit 2"),
        # 10 / sqrt(3) distance / time^2 at 0.5 + sqrt(3) / 6 of the time. The limit on the other
        # side is found second.
        ((0.4, 0.0), 0.5, "acceleration of a is -9.23760431 at 0.394338 s, below its limit -8"),
    ],
)
def test_limits_between_the_samples(goal, duration, text):
    """The extremes lie between the only two knots."""
    trajectory = plan(goal, duration=duration)
    found = check_before_motion(motion_of(trajectory), state(), GOOD, now=10.0)
    assert found[0].reason is RejectReason.OUT_OF_LIMITS
    assert found[0].text == text
    # A message is checked by a controller's interpolation of it, with a small tolerance.
    assert check_before_motion(
        motion_of(from_trajectory(trajectory)), state(), GOOD, LIMITS, now=10.0
    )


def test_limits_have_to_be_known():
    unlimited = plan(limits=None)
    assert texts(unlimited) == [
        "no limits are known for this trajectory; give the robot's, or a plan that has its own"
    ]
    assert texts(unlimited, requirements=replace(ALL, limits=False)) == []
    assert texts(unlimited, limits=LIMITS) == []


def test_the_end_has_to_be_at_rest():
    moving = Trajectory.from_knots(
        [0, 1], [[0, 0], [0.5, 0.5]], [[0, 0], [0, 0.25]], position_names=NAMES, limits=LIMITS
    )
    assert texts(moving) == ["the plan ends with b at 0.25 per s; it has to end at rest"]
    message = JointTrajectory(NAMES, (JointTrajectoryPoint(1.0, [0.1, 0.1], [0.0, 0.25]),))
    assert texts(message, limits=LIMITS) == ["the last point moves b at 0.25, it must be at rest"]


def test_messages_that_are_not_finite_or_not_well_formed():
    nan = JointTrajectory(NAMES, (JointTrajectoryPoint(1.0, [0.1, np.nan], [0.0, 0.0]),))
    assert texts(nan, limits=LIMITS) == [
        "positions of b at point 0 are nan; they have to be finite"
    ]
    assert "no points" in texts(JointTrajectory(NAMES, ()), limits=LIMITS)[0]
    points = (JointTrajectoryPoint(1.0, [0.1, 0.1]), JointTrajectoryPoint(1.0, [0.2, 0.2]))
    assert "not after" in texts(JointTrajectory(NAMES, points), limits=LIMITS)[0]
    jagged = (
        *points[:1],
        JointTrajectoryPoint(2.0, [0.2, 0.0]),
        JointTrajectoryPoint(3.0, [0.0, 0.0]),
    )
    assert "jumps" in texts(JointTrajectory(NAMES, jagged), limits=LIMITS)[0]


@pytest.mark.parametrize(
    ("at", "text"),
    [
        (state(stamp=9.0), "the last joint state is 1.010 s old; it may be 0.2 s old at most"),
        (state(stamp=math.nan), "the last joint state is nan s old; it may be 0.2 s old at most"),
        (state((0.0, math.nan)), "the measured position of b is nan; it has to be finite"),
        (state(velocity=(math.inf, 0.0)), "the measured velocity of a is inf; it has to be finite"),
        (state((0.0,), (0.0,), ("a",)), "the joint state lacks 'b'; it has a"),
    ],
)
def test_states_that_cannot_be_trusted(at, text):
    assert texts(at=at)[0] == text


def test_no_state_at_all():
    found = check_before_motion(motion_of(plan()), None, GOOD, now=10.0)
    assert [r.text for r in found] == [
        "no joint state has arrived yet; the arm has to publish them"
    ]


def test_a_velocity_that_is_not_measured_is_nan():
    assert texts(at=state(velocity=(math.nan, math.nan))) == []


def test_what_nobody_asks_about_may_be_nan():
    assert check_state(state((math.nan, 0.0)), 10.0, Requirements(), ("b",)) == []


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"connected": False}, "the arm is not connected; it has to publish its states"),
        ({"controller_active": False}, "the controller is not active; it has to be"),
        (
            {"controller_active": None},
            "the arm does not say whether the controller is active, and that is required",
        ),
        ({"program_running": False}, "the robot's program is not running; it has to be"),
        (
            {"program_running": None},
            "the arm does not say whether the robot's program runs, and that is required",
        ),
        (
            {"safety_mode": SafetyMode.PROTECTIVE_STOP},
            "the safety mode is PROTECTIVE_STOP; it has to be NORMAL",
        ),
        ({"safety_mode": None}, "the arm does not say its safety mode, and NORMAL is required"),
    ],
)
def test_status(fields, text):
    """A bad status is always refused, an unknown one only if it is required."""
    status = replace(GOOD, **fields)
    assert texts(status=status) == [text]
    unknown = next(iter(fields.values())) is None
    assert [r.text for r in check_status(status, Requirements())] == ([] if unknown else [text])


def test_refusals_name_what_changes_the_rule():
    """Refusals name the caller's setting that would allow the motion.

    If no setting can allow it, none is named.
    """
    named = replace(ALL, setting=lambda rule: f"option {rule}")
    for fields in ({"controller_active": None}, {"program_running": None}, {"safety_mode": None}):
        assert check_status(replace(GOOD, **fields), named)[0].text.endswith(
            "is required (option require)"
        )
    reduced = check_status(replace(GOOD, safety_mode=SafetyMode.REDUCED), named)
    assert reduced[0].text.endswith("it has to be NORMAL (option allow_reduced_mode)")
    assert "option" not in check_status(replace(GOOD, safety_mode=SafetyMode.FAULT), named)[0].text
    assert check_state(state(), 99.0, named, ("a",))[0].text.endswith("at most (option watchdog)")
    late = check_before_motion(
        motion_of(plan()), state((0.5, 0.5)), GOOD, now=10.0, requirements=named
    )
    assert all(r.text.endswith("from the present state (option start_tolerance)") for r in late)
    unlimited = check_before_motion(
        motion_of(plan(limits=None)), state(), GOOD, now=10.0, requirements=named
    )
    assert unlimited[0].text.endswith("a plan that has its own (option robot)")


def test_reduced_mode_can_be_allowed():
    modes = frozenset({SafetyMode.NORMAL, SafetyMode.REDUCED})
    reduced = replace(GOOD, safety_mode=SafetyMode.REDUCED)
    assert check_status(reduced, replace(ALL, safety_modes=modes)) == []
    stopped = replace(GOOD, safety_mode=SafetyMode.FAULT)
    assert "NORMAL or REDUCED" in check_status(stopped, replace(ALL, safety_modes=modes))[0].text


def test_everything_that_is_wrong_is_said_at_once():
    status = replace(GOOD, controller_active=False, safety_mode=SafetyMode.FAULT)
    assert len(texts(plan((3.5, 0.0), duration=8.0), at=state((0.5, 0.5)), status=status)) == 5


def test_continuous_joints_are_those_known_to_have_no_limit():
    limits = TrajectoryLimits(lower=[-np.inf, -np.inf, -1], upper=[np.inf, np.inf, np.inf])
    assert continuous_joints(("a", "b", "c"), ("rad", "m", "rad"), limits) == {"a"}
    assert continuous_joints(("a",), ("rad",), None) == set()
    assert continuous_joints(("a",), ("rad",), TrajectoryLimits()) == set()


@pytest.mark.parametrize("as_message", [False, True])
def test_the_present_turn(as_message):
    """Only continuous joints are shifted, by whole turns, and the motion stays the same."""
    given = plan((-3.0, 0.5), (-3.1, 0.0), limits=None)
    trajectory = from_trajectory(given) if as_message else given
    present = state((3.18 + 4 * math.pi, 9.0))
    motion = motion_of(trajectory)
    turned = to_present_turn(motion, present, {"a"})
    first, last = turned.position, turned.message.points[-1].positions
    assert np.array_equal(turned.followed(present).position(0.0), first)
    # 1e-12 is the rounding of an added turn.
    assert np.allclose(first, [-3.1 + 6 * math.pi, 0.0], rtol=0, atol=1e-12)
    assert np.allclose(last, [-3.0 + 6 * math.pi, 0.5], rtol=0, atol=1e-12)
    assert to_present_turn(motion, present, set()) is motion
