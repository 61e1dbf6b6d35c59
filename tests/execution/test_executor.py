"""The executor, row by row of the written semantics."""

from __future__ import annotations

import pytest

from robosim.execution.clock import ManualClock
from robosim.execution.executor import ExecutorGoal, TrajectoryExecutor
from robosim.execution.goals import ErrorCode, GoalResult, GoalStatus
from robosim.execution.messages import ArmState, Goal, JointTrajectory, JointTrajectoryPoint
from robosim.execution.profiles import PROFILES

NAMES = ("a", "b")
PERIOD = 0.01


def trajectory(*times: float, target: float = 1.0) -> JointTrajectory:
    """At rest at each of the times, ending at target."""
    zero = (0.0, 0.0)
    points = [
        JointTrajectoryPoint(t, (target * (i + 1) / len(times),) * 2, zero, zero) for i, t in enumerate(times)
    ]
    return JointTrajectory(NAMES, tuple(points))


@pytest.mark.parametrize("profile", PROFILES.values(), ids=PROFILES)
def test_a_goal_is_followed_to_its_end(profile):
    clock = ManualClock(3.0)
    executor = TrajectoryExecutor(NAMES, clock=clock, profile=profile)
    state = ArmState(NAMES, [0.0, 0.0], [0.0, 0.0], clock())
    executor.activate(state)
    goal = executor.submit(Goal(trajectory(0.5, 1.0)))
    assert isinstance(goal, ExecutorGoal)
    for _ in range(200):
        command = executor.update(state, PERIOD)
        state = ArmState(NAMES, command.position, command.velocity, clock.advance(PERIOD))
        if goal.status.done:
            break
    assert goal.result == GoalResult(GoalStatus.SUCCEEDED, ErrorCode.SUCCESSFUL, "Goal successfully reached!")
    assert executor.command.position == pytest.approx([1.0, 1.0])
    assert clock() == pytest.approx(4.0, abs=2.5 * PERIOD)
