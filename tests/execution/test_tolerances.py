"""Tolerances: merged with those of a goal, and checked."""

from __future__ import annotations

import numpy as np
import pytest

from robosim.errors import ExecutionError
from robosim.execution.messages import Goal, JointTolerance, JointTrajectory
from robosim.execution.tolerances import ControllerTolerances, merge

NAMES = ("a", "b")
OWN = ControllerTolerances(
    path=(0.1, 0.2), goal=0.05, stopped_velocity=0.01, goal_time=2.0
).resolve(2)


def goal(path=(), end=(), time=0.0):
    return Goal(JointTrajectory(NAMES, ()), tuple(path), tuple(end), time)


def test_zero_is_the_controllers_own_value_and_minus_one_is_no_limit():
    given = goal(
        [JointTolerance("b", position=0.3, velocity=0.4)],
        [JointTolerance("a", position=-1.0), JointTolerance("b", velocity=-1.0)],
    )
    merged, ignored = merge(OWN, given, NAMES)
    assert not ignored
    np.testing.assert_array_equal(merged.path.position, (0.1, 0.3))
    np.testing.assert_array_equal(merged.path.velocity, (0.0, 0.4))
    np.testing.assert_array_equal(merged.goal.position, (0.0, 0.05))
    np.testing.assert_array_equal(merged.goal.velocity, (0.01, 0.0))
    assert merged.goal_time == 2.0
    assert merge(OWN, goal(time=-1.0), NAMES)[0].goal_time == 0.0
    assert merge(OWN, goal(time=0.5), NAMES)[0].goal_time == 0.5


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (
            goal([JointTolerance("a", 0.3), JointTolerance("c", 0.3)]),
            ("path_tolerance", "'c'", "'a', 'b'"),
        ),
        (
            goal((), [JointTolerance("a", 0.3), JointTolerance("b", -0.5)]),
            ("goal_tolerance of b", "-0.5"),
        ),
        (goal([JointTolerance("a", 0.3, 0.0, -2.0)]), ("acceleration", "-2.0")),
        (goal([JointTolerance("a", 0.3)], time=-3.0), ("goal_time_tolerance", "-3.0")),
    ],
)
def test_one_invalid_tolerance_makes_all_of_the_goals_void(given, words):
    merged, ignored = merge(OWN, given, NAMES)
    assert merged is OWN
    assert all(word in ignored for word in words)


def test_a_violation_names_joint_quantity_error_and_tolerance():
    path = merge(OWN, goal([JointTolerance("a", velocity=0.5)]), NAMES)[0].path
    # Values at the bound are allowed, and b has no bound.
    assert path.violation(np.array([0.1, 0.2]), np.array([0.5, 9.0])) is None
    assert path.violation(np.array([0.0, -0.21]), np.zeros(2)) == (1, "position", -0.21, 0.2)
    assert path.violation(np.zeros(2), np.array([-0.6, 0.0])) == (0, "velocity", -0.6, 0.5)
    # Without a velocity command, velocities are not checked.
    assert path.violation(np.zeros(2), None) is None


@pytest.mark.parametrize(
    ("fields", "word"),
    [
        ({"path": -0.1}, "path"),
        ({"goal": (0.1, 0.1, 0.1)}, "goal"),
        ({"goal_time": float("nan")}, "goal_time"),
        ({"stopped_velocity": float("inf")}, "stopped_velocity"),
    ],
)
def test_invalid_own_tolerances_are_refused(fields, word):
    with pytest.raises(ExecutionError, match=f"tolerances.{word}"):
        ControllerTolerances(**fields).resolve(2)
