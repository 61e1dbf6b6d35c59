"""An executor and an ideal arm for tests, with short ways to write trajectories."""

from __future__ import annotations

import numpy as np
import pytest

from robosim.execution.clock import ManualClock
from robosim.execution.executor import ExecutorGoal, TrajectoryExecutor
from robosim.execution.goals import ErrorCode, GoalResult, GoalStatus
from robosim.execution.interpolation import JointSpline, Knots
from robosim.execution.messages import ArmState, Goal, JointTrajectory, JointTrajectoryPoint
from robosim.execution.profiles import JAZZY, PROFILES

NAMES = ("a", "b")
PERIOD = 0.01
REACHED = GoalResult(GoalStatus.SUCCEEDED, ErrorCode.SUCCESSFUL, "Goal successfully reached!")
each_profile = pytest.mark.parametrize("profile", PROFILES.values(), ids=PROFILES)


class Rig:
    """An executor and an arm that is always at the commanded position plus an offset."""

    def __init__(self, profile=JAZZY, at=(0.0, 0.0), now=3.0, **options):
        self.clock = ManualClock(now)
        self.executor = TrajectoryExecutor(NAMES, clock=self.clock, profile=profile, **options)
        self.position, self.velocity = np.array(at), np.zeros(2)
        self.offset, self.scaling = np.zeros(2), 1.0
        self.executor.activate(self.state())

    def state(self):
        return ArmState(NAMES, self.position + self.offset, self.velocity, self.clock())

    def step(self, cycles=1):
        """Commands (cycles, 3, n) of the next cycles."""
        commands = []
        for _ in range(cycles):
            self.clock.advance(PERIOD)
            command = self.executor.update(self.state(), PERIOD, speed_scaling=self.scaling)
            self.position, self.velocity = command.position, command.velocity
            commands.append(command)
        return np.array(commands)

    def send(self, *points, **fields):
        """Submit points as a goal, which must be accepted, and return the goal."""
        goal = self.executor.submit(
            Goal(JointTrajectory(NAMES, points, fields.pop("stamp", 0.0)), **fields)
        )
        assert isinstance(goal, ExecutorGoal), goal
        return goal


def point(time, q, v=0.0, a=0.0):
    """Trajectory point with the same values for both joints."""
    return JointTrajectoryPoint(time, (q, q), (v, v), (a, a))


def spline(*points):
    return JointSpline(Knots.of(points, range(2), np.zeros(2)))
