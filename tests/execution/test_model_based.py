"""Random event sequences of an executor, compared with a reference of the written semantics.

Statuses, codes, texts, commands and holds must agree. Each profile runs through 100,000 events in
`.ci/full`, in stretches of 400. An event has four bytes, so that hypothesis draws a stretch at once
and can shrink it.
"""

from __future__ import annotations

import math
import random
from collections import Counter

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from robosim.execution.clock import ManualClock
from robosim.execution.executor import ExecutorGoal, TrajectoryExecutor
from robosim.execution.goals import ErrorCode, GoalStatus, Rejection, RejectReason
from robosim.execution.messages import (
    ArmState,
    Goal,
    JointTolerance,
    JointTrajectory,
    JointTrajectoryPoint,
)
from robosim.execution.profiles import PROFILES
from robosim.execution.tolerances import ControllerTolerances
from robosim.trajectory import TrajectoryLimits

from ..reference.joint_trajectory_controller import (  # noqa: TID252 (tests have no absolute name)
    ReferenceController,
)
from ..scale import repeats  # noqa: TID252 (tests have no absolute name)

EVENTS = repeats(10_000, 100_000)
STRETCH = 400  # events between two restarts
NAMES = ("shoulder", "elbow")
# Incommensurate lengths, so that no decision depends on the last bit of a sum.
PERIODS = (0.0137, 0.0523, 0.1171, 0.3119)
SCALINGS = (0.0, 0.3071, 1.0, 1.0)
OFFSETS = (0.0, 0.0131, -0.0473, 0.2117, -0.0117, 0.0031, 0.0, 0.0)
STAMPS = (None, None, None, 0.4117, 1.0331, -0.3071, -0.9013, -5.1113)


class Script(bytes):
    """Events of a run: 4 bytes for its parameters and 4 for each event."""

    def __repr__(self) -> str:
        return (
            f"Script(bytes.fromhex({self.rstrip(bytes(1)).hex()!r}).ljust({len(self)}, bytes(1)))"
        )


class Life:
    """An executor and its reference, with the same events."""

    def __init__(self, profile, head: bytes):
        # Draw the parameters of the controller.
        pick = random.Random(head)
        limits = (6.0, 9.0, 400.0) if pick.random() < 0.3 else None
        self.o = {
            "profile": profile.name,
            "partial": pick.random() < 0.6,
            "moving_end": pick.choice((None, None, True, False)),
            "from_desired": pick.random() < 0.4,
            "velocity_command": pick.random() < 0.5,
            "cmd_timeout": pick.choice((0.0, 0.0, 0.7)),
            "deceleration": pick.choice((None, 3.3)),
            "goal_time": pick.choice((0.0, 0.6, 0.9)),
            "limits": limits,
        }
        path, goal, stopped = (
            pick.choice((0.0, 0.1)),
            pick.choice((0.0, 0.02)),
            pick.choice((0.0, 0.31)),
        )
        self.o["path"] = dict.fromkeys(NAMES, (path, 0.0))
        self.o["goal"] = dict.fromkeys(NAMES, (goal, stopped))
        # Make the reference and the executor with the same parameters.
        self.clock = ManualClock(pick.choice((10.0, 1.7e9)))
        self.reference = ReferenceController(NAMES, self.o)
        self.executor = TrajectoryExecutor(
            NAMES,
            clock=self.clock,
            profile=profile,
            tolerances=ControllerTolerances(path, goal, stopped, self.o["goal_time"]),
            allow_partial_joints_goal=self.o["partial"],
            allow_nonzero_velocity_at_trajectory_end=self.o["moving_end"],
            interpolate_from_desired_state=self.o["from_desired"],
            decelerate_on_cancel=self.o["deceleration"] is not None,
            max_deceleration=self.o["deceleration"],
            cmd_timeout=self.o["cmd_timeout"],
            velocity_command=self.o["velocity_command"],
            limits=limits
            and TrajectoryLimits(
                *(sign * np.full(2, limits[0]) for sign in (-1, 1)),
                velocity=np.full(2, limits[1]),
                acceleration=np.full(2, limits[2]),
            ),
        )
        self.q, self.v, self.offset, self.scaling = np.zeros(2), np.zeros(2), np.zeros(2), 1.0
        self.goals: list[tuple[ExecutorGoal, object]] = []
        self.activate()

    def activate(self):
        self.executor.activate(ArmState(NAMES, self.q, self.v, self.clock()))
        self.reference.activate(self.q, self.v)

    def advance(self, period: float):
        """Run one cycle. The arm follows the command except for the disturbance."""
        self.clock.advance(period)
        q, v = self.q + self.offset, self.v
        # The executor must accept any order of a state's joints.
        names = NAMES if period < 0.1 else NAMES[::-1]
        turned = slice(None) if period < 0.1 else slice(None, None, -1)
        state = ArmState(names, q[turned].copy(), v[turned].copy(), self.clock())
        got = self.executor.update(state, period, speed_scaling=self.scaling)
        want = self.reference.update(q, v, self.clock(), period, self.scaling)
        for a, b, size in zip(got, want, (1.0, 10.0, 1000.0), strict=True):
            # The reference inverts the conditions of a quintic on segments down to milliseconds.
            assert (abs(a - b) <= 1e-6 * size + 1e-5 * abs(b)).all(), (got, want)
        self.q, self.v = np.clip(got.position, -50, 50), np.clip(got.velocity, -50, 50)

    def submit(self, goal: Goal, seen: Counter):
        got = self.executor.submit(goal)
        want = self.reference.submit(goal, self.clock())
        if isinstance(got, Rejection):
            assert got.reason == want, got.text
            assert got.text
            seen[got.reason] += 1
        else:
            assert not isinstance(want, RejectReason), want
            self.goals.append((got, want))

    def publish(self, trajectory: JointTrajectory, seen: Counter):
        got = self.executor.publish(trajectory)
        want = self.reference.publish(trajectory, self.clock())
        assert (got and got.reason) == want
        seen["published" if got is None else "not published"] += 1

    def compare(self, seen: Counter):
        assert self.executor.active == self.reference.active
        assert self.executor.holding == self.reference.hold_flag or not self.executor.active
        for goal, want in list(self.goals):
            got = goal.result and (
                goal.result.status,
                goal.result.error_code,
                goal.result.error_string,
            )
            if got and want.outcome and want.outcome[2].startswith("Aborted due to goal_time"):
                # The rest is a sum of times to six digits.
                assert got[2][:48] == want.outcome[2][:48]
                got, want_outcome = got[:2], want.outcome[:2]
            else:
                want_outcome = want.outcome
            assert got == want_outcome
            assert goal.status is (got[0] if got else GoalStatus.EXECUTING)
            if got:
                seen[(got[0], got[1])] += 1
                self.goals.remove((goal, want))


def make_trajectory(seed: int, now: float, may_be_nan: bool) -> JointTrajectory:
    """A trajectory that is mostly valid. About one in four has one or two flaws."""
    pick = random.Random(seed)
    names = list(NAMES) if pick.random() < 0.5 else list(NAMES[::-1])
    if pick.random() < 0.2:
        names = names[:1]
    stamp = pick.choice(STAMPS)
    fields = pick.choice((1, 2, 3, 3))
    time, points = pick.choice((0.0, 0.0, 0.25, 0.7)), []
    count = pick.randint(1, 4)
    for i in range(count):
        values = [[pick.uniform(-1, 1) * size for _ in names] for size in (1.0, 1.0, 3.0)]
        if i == count - 1 and pick.random() < 0.8:
            values[1:] = [[0.0] * len(names)] * 2
        given = fields if pick.random() < 0.95 else pick.randint(1, 3)
        points.append([time, *values[:given]])
        time += pick.choice((0.25, 0.5))
    effort: list[float] = []
    for _ in range(pick.choice((0, 0, 0, 1, 1, 2)) if pick.random() < 0.5 else 0):
        flaw, point = pick.randint(0, 11), points[pick.randrange(len(points))]
        if flaw == 0:
            names = [*names, "wrist"][-2:]
        elif flaw == 1:
            names = names[:1] * len(names)
        elif flaw == 2:
            names = []
        elif flaw == 3:
            points[-1][0] = points[0][0] - pick.choice((0.0, 0.1))
        elif flaw == 4:
            point[pick.randrange(1, len(point))] = [0.0] * 3
        elif flaw == 5:
            effort = [1.0] * len(names)
        elif flaw == 6 and len(points[-1]) > 2:
            points[-1][2] = [0.5] * len(names)
        elif flaw == 7:
            point[1] = [20.0] * len(names)
        elif flaw == 8 and may_be_nan:
            point[1] = [math.nan] * len(names)
        elif flaw == 9:
            points[0][1] = []
        elif flaw == 10:
            count = 0
        # Not a flaw: accelerations without velocities are ignored.
        elif flaw == 11 and len(point) > 3:
            point[2] = []
    made = [
        JointTrajectoryPoint(p[0], *p[1:], **({"effort": effort} if effort else {}))
        for p in points[:count]
    ]
    return JointTrajectory(tuple(names), tuple(made), 0.0 if stamp is None else now + stamp)


def make_goal(seed: int, now: float, may_be_nan: bool) -> Goal:
    pick = random.Random(~seed)

    def tolerances():
        if pick.random() < 0.6:
            return ()
        names = [pick.choice((*NAMES, *NAMES, "wrist" if pick.random() < 0.2 else NAMES[0]))]
        values = (0.0, 0.0, -1.0, 0.05, 0.2, -1.0 if pick.random() < 0.8 else -0.5)
        return tuple(
            JointTolerance(name, pick.choice(values), pick.choice(values)) for name in names
        )

    goal_time = pick.choice((0.0, 0.0, -1.0, 0.35, 0.35, -2.0))
    return Goal(make_trajectory(seed, now, may_be_nan), tolerances(), tolerances(), goal_time)


def live(profile, script: bytes, seen: Counter) -> int:
    """Run a script and return the number of events."""
    life = Life(profile, script[:4])
    events = 0
    for k in range(4, len(script), 4):
        kind, x, y, z = script[k : k + 4]
        kind, seed, events = kind % 32, (x << 16) | (y << 8) | z, events + 1
        nan = life.o["limits"] is not None
        if kind < 20:
            life.advance(PERIODS[x % 4])
        elif kind < 24:
            life.submit(make_goal(seed, life.clock(), nan), seen)
        elif kind < 26:
            life.publish(make_trajectory(seed, life.clock(), nan), seen)
        elif kind == 26:
            life.publish(JointTrajectory(NAMES[: x % 3], ()), seen)
        elif kind == 27:
            life.offset = np.array([OFFSETS[x % 8], OFFSETS[y % 8]])
        elif kind == 28:
            life.scaling = SCALINGS[x % 4]
        elif kind < 31:
            if life.goals:
                life.goals[-1][0].cancel()
                life.reference.cancel()
        elif not life.executor.active:
            life.activate()
        else:
            life.executor.deactivate()
            life.reference.deactivate()
        if kind >= 27 and kind != 31 and not life.executor.active:
            life.activate()
        life.compare(seen)
    return events


@pytest.mark.parametrize("profile", PROFILES.values(), ids=PROFILES)
def test_executor_lives_by_the_written_semantics(profile):
    seen: Counter = Counter()
    stretches = math.ceil(EVENTS / STRETCH)
    size = 4 * (STRETCH + 1)

    @settings(
        max_examples=stretches,
        derandomize=True,
        deadline=None,
        database=None,
        phases=(Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck),
    )
    @given(st.binary(min_size=size, max_size=size).map(Script))
    def lives(script: Script) -> None:
        seen["events"] += live(profile, script, seen)

    lives()
    assert seen["events"] >= EVENTS
    # Every possible outcome of a goal has occurred.
    preempted = profile.preempted_status
    outcomes = [
        (GoalStatus.SUCCEEDED, ErrorCode.SUCCESSFUL),
        (GoalStatus.CANCELED, ErrorCode.SUCCESSFUL),
        (preempted, ErrorCode.INVALID_GOAL),
        (GoalStatus.ABORTED, ErrorCode.INVALID_GOAL),
        (GoalStatus.ABORTED, ErrorCode.PATH_TOLERANCE_VIOLATED),
        (GoalStatus.ABORTED, ErrorCode.GOAL_TOLERANCE_VIOLATED),
        "published",
        *(set(RejectReason) - {RejectReason.TOLERANCE, RejectReason.CHECK}),
    ]
    assert [o for o in outcomes if seen[o] < EVENTS / 50000] == [], seen
