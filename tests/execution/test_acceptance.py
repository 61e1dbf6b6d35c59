"""Every reason to refuse a trajectory, its text, and the order of the reasons."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from robosim.execution.acceptance import AcceptanceRules, check
from robosim.execution.goals import RejectReason
from robosim.execution.messages import JointTrajectory, JointTrajectoryPoint
from robosim.trajectory import TrajectoryLimits

NAMES = ("a", "b")
NOW = 100.0
LIMITS = TrajectoryLimits(
    lower=np.array([-1.0, -2.0]),
    upper=np.ones(2),
    velocity=np.ones(2),
    acceleration=np.full(2, 5.0),
)


class Draft:
    """A valid trajectory that tests can spoil."""

    def __init__(self):
        self.names, self.stamp = ["b", "a"], 0.0
        self.points = [
            {
                "time_from_start": t,
                "positions": [t / 4] * 2,
                "velocities": [0.0] * 2,
                "accelerations": [0.0] * 2,
                "effort": [],
            }
            for t in (0.0, 1.0, 2.0)
        ]

    def made(self):
        points = tuple(JointTrajectoryPoint(**point) for point in self.points)
        return JointTrajectory(tuple(self.names), points, self.stamp)


def names(*given):
    return lambda draft: setattr(draft, "names", list(given))


def stamp(value):
    return lambda draft: setattr(draft, "stamp", value)


def no_points(draft):
    draft.points = []


def at(point, **fields):
    return lambda draft: draft.points[point].update(fields)


# In the order of the checks: a trajectory with several flaws is refused for the first.
FLAWS = (
    (RejectReason.JOINT_COUNT, names("a"), ("1 joints (a)", "2: a, b")),
    (RejectReason.JOINT_COUNT, names("a", "b", "c"), ("3 joints (a, b, c)",)),
    (RejectReason.NO_POINTS, no_points, ("no points",)),
    (RejectReason.UNKNOWN_JOINT, names("a", "x"), ("there is no joint 'x'; there are 'a', 'b'",)),
    (RejectReason.REPEATED_JOINT, names("a", "a"), ("'a'", "2 times")),
    (RejectReason.END_VELOCITY, at(-1, velocities=[0.0, 2e-7]), (" a ", "2e-07")),
    (RejectReason.ENDS_IN_PAST, stamp(97.9), ("97.9", "99.9", "100.0")),
    (RejectReason.TIMES, at(1, time_from_start=0.0), ("point 1", "at 0.0", "point 0")),
    (RejectReason.TIMES, at(1, time_from_start=1e-10), ("point 1", "point 0")),
    (RejectReason.SIZE, at(1, positions=[0.0] * 3), ("point 1", "3 positions", "2")),
    (RejectReason.SIZE, at(1, positions=[]), ("0 positions",)),
    (RejectReason.SIZE, at(1, velocities=[0.0]), ("1 velocities", "0 or 2")),
    (RejectReason.SIZE, at(2, accelerations=[0.0] * 4), ("point 2", "4 accelerations")),
    (RejectReason.EFFORT, at(2, effort=[1.0, 1.0]), ("point 2", "2 efforts")),
    (
        RejectReason.NOT_FINITE,
        at(1, positions=[math.nan, 0.0]),
        ("positions of b", "point 1", "nan"),
    ),
    (
        RejectReason.NOT_FINITE,
        at(1, accelerations=[0.0, -math.inf]),
        ("accelerations of a", "-inf"),
    ),
    (
        RejectReason.OUT_OF_LIMITS,
        at(2, positions=[0.0, -1.1]),
        ("positions of a", "-1.1", "[-1, 1]"),
    ),
    (RejectReason.OUT_OF_LIMITS, at(1, velocities=[-1.1, 0.0]), ("velocities of b", "-1.1")),
    (
        RejectReason.OUT_OF_LIMITS,
        at(0, accelerations=[5.1, 0.0]),
        ("accelerations of b", "[-5, 5]"),
    ),
)


@pytest.mark.parametrize(
    ("reason", "spoil", "words"), FLAWS, ids=lambda x: getattr(x, "name", None)
)
def test_each_flaw_is_refused_with_its_reason(reason, spoil, words):
    draft = Draft()
    assert check(draft.made(), NOW, AcceptanceRules(NAMES, limits=LIMITS)) is None
    spoil(draft)
    rejection = check(draft.made(), NOW, AcceptanceRules(NAMES, limits=LIMITS))
    assert rejection is not None
    assert rejection.reason is reason
    assert all(word in rejection.text for word in words), rejection.text


@pytest.mark.parametrize(("first", "second"), list(itertools.combinations(FLAWS[2:], 2)))
def test_the_first_of_two_flaws_is_the_reason(first, second):
    draft = Draft()
    second[1](draft)
    if draft.points and draft.names == ["b", "a"]:
        first[1](draft)
        if draft.points:
            at(2, time_from_start=2.0)(draft)
        rejection = check(draft.made(), NOW, AcceptanceRules(NAMES, limits=LIMITS))
        assert rejection is not None
        # Flaws of points are found in the order of the points, and of the fields in a point.
        pointwise = (RejectReason.SIZE, RejectReason.EFFORT, RejectReason.TIMES)
        limits = (RejectReason.NOT_FINITE, RejectReason.OUT_OF_LIMITS)
        group = next(
            (g for g in (pointwise, limits) if first[0] in g and second[0] in g), (first[0],)
        )
        assert rejection.reason in group


def test_partial_trajectories_where_they_are_allowed():
    rules = AcceptanceRules(NAMES, allow_partial_joints_goal=True)
    one = JointTrajectory(("b",), (JointTrajectoryPoint(1.0, [0.5]),))
    assert check(one, NOW, rules) is None
    none = check(JointTrajectory((), one.points), NOW, rules)
    assert none is not None
    assert none.reason is RejectReason.NO_JOINTS
    # With more names than joints, one of them is unknown or repeated.
    many = check(
        JointTrajectory(("a", "b", "a"), (JointTrajectoryPoint(1.0, [0.5] * 3),)), NOW, rules
    )
    assert many is not None
    assert many.reason is RejectReason.REPEATED_JOINT


def test_what_only_limits_refuse_is_taken_without_them():
    draft = Draft()
    at(1, positions=[math.nan, 77.0])(draft)
    assert check(draft.made(), NOW, AcceptanceRules(NAMES)) is None


def test_an_end_velocity_is_a_matter_of_the_rules():
    draft = Draft()
    at(-1, velocities=[0.5, 0.5])(draft)
    assert check(draft.made(), NOW, AcceptanceRules(NAMES)).reason is RejectReason.END_VELOCITY
    moving = AcceptanceRules(NAMES, allow_nonzero_velocity_at_trajectory_end=True)
    assert check(draft.made(), NOW, moving) is None
    at(-1, velocities=[1e-7, -1e-7])(draft)  # rounding of float32
    assert check(draft.made(), NOW, AcceptanceRules(NAMES)) is None


@pytest.mark.parametrize(
    ("when", "refused"), [(0.0, False), (98.001, False), (97.999, True), (500.0, False)]
)
def test_a_stamp_may_be_past_while_the_end_is_not(when, refused):
    draft = Draft()
    draft.stamp = when
    assert (check(draft.made(), NOW, AcceptanceRules(NAMES)) is not None) == refused


@pytest.mark.parametrize("when", [math.nan, math.inf])
def test_times_must_be_finite(when):
    for spoil in (stamp(when), at(1, time_from_start=when)):
        draft = Draft()
        spoil(draft)
        assert check(draft.made(), NOW, AcceptanceRules(NAMES)).reason is RejectReason.TIMES


def first_flaw(trajectory, limits):
    """Reason and words of the first invalid value, found value by value."""
    for i, p in enumerate(trajectory.points):
        for field, lower, upper in (
            ("positions", limits.lower, limits.upper),
            ("velocities", -limits.velocity, limits.velocity),
            ("accelerations", -limits.acceleration, limits.acceleration),
        ):
            values = list(zip(trajectory.joint_names, getattr(p, field), strict=False))
            for name, value in values:
                if not math.isfinite(value):
                    return RejectReason.NOT_FINITE, f"{field} of {name} at point {i}: {value}"
            for name, value in values:
                low, high = lower[NAMES.index(name)], upper[NAMES.index(name)]
                margin = 1e-6 * max(1.0, abs(value))
                if value < low - margin or value > high + margin:
                    return (
                        RejectReason.OUT_OF_LIMITS,
                        f"{field} of {name} at point {i}: {value:.9g}",
                    )
    return None


def test_of_many_flawed_values_the_first_is_told():
    """Points with one to three fields, none to a dozen flaws, and values close to the limits."""
    rng = np.random.default_rng(7)
    found = set()
    odd = [math.nan, math.inf, -math.inf, 1e308, 6.0, -6.0, 1 + 0.9e-6, 1 + 1.1e-6, -1 - 1.1e-6]
    for k in range(1000):
        points = []
        for i in range(8):
            fields = rng.uniform(-0.9, 0.9, (3, 2))
            flawed = rng.random((3, 2)) < 0.3 * rng.random() ** 4
            fields[flawed] = rng.choice(odd, flawed.sum())
            points.append(JointTrajectoryPoint(float(i), *fields[: rng.integers(1, 4)]))
        points.append(JointTrajectoryPoint(8.0, [0.0, 0.0], [0.0, 0.0]))
        trajectory = JointTrajectory(NAMES if k % 2 else NAMES[::-1], points)
        rejection, want = (
            check(trajectory, NOW, AcceptanceRules(NAMES, limits=LIMITS)),
            first_flaw(trajectory, LIMITS),
        )
        assert (rejection is None) == (want is None)
        if rejection is not None:
            assert (rejection.reason, rejection.text[: len(want[1])]) == want
        found.add(None if rejection is None else rejection.reason)
    assert found == {None, RejectReason.NOT_FINITE, RejectReason.OUT_OF_LIMITS}
