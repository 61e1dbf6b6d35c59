"""Independent check of a trajectory: overlaps by coal and Pinocchio, limits at 10 kHz."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from harness.coal_checker import CoalChecker
from robosim.planners import PlanResult

STEP = 1e-3  # [m] largest collider motion between two collision checks
RATE = 10_000.0  # [Hz] of the check of limits


@dataclass(frozen=True)
class Verdict:
    """Result of a check.

    Attributes:
        overlaps: number of configurations that coal reports as colliding.
        deepest: [m] signed distance of the worst configuration; 0 without one.
        samples: number of configurations checked.
        excess: largest value of |value| / limit - 1 over all limits and samples; negative if all
            limits are kept.
        worst: the limit with the largest excess.
    """

    overlaps: int
    deepest: float
    samples: int
    excess: float
    worst: str


def times_apart(checker: CoalChecker, result: PlanResult, step: float = STEP) -> np.ndarray:
    """Return times between which no point of the robot moves more than `step` [m]."""
    trajectory = result.trajectory
    assert trajectory is not None
    return _apart(checker, trajectory.position, np.linspace(0.0, trajectory.duration, 200), step)


def _apart(
    checker: CoalChecker,
    position: Callable[[np.ndarray], np.ndarray],
    times: np.ndarray,
    step: float,
) -> np.ndarray:
    """Refine times so that no point of the robot moves more than `step` [m] in between."""
    while True:
        motion = checker.motion(position(times))
        parts = np.ceil(motion / (0.9 * step)).astype(int)
        if (motion <= step).all():
            return times
        grown = [
            np.linspace(a, b, max(k, 1), endpoint=False)
            for a, b, k in zip(times[:-1], times[1:], parts, strict=True)
        ]
        times = np.append(np.concatenate(grown), times[-1])


def recheck_path(checker: CoalChecker, path: np.ndarray, step: float = STEP) -> tuple[int, float]:
    """Check straight motions between configurations (p, joints).

    Returns:
        Number of configurations that coal reports as colliding, and the worst distance [m].
    """
    corners = np.arange(float(len(path)))

    def position(at: np.ndarray) -> np.ndarray:
        return np.stack([np.interp(at, corners, column) for column in path.T], axis=1)

    # Begin with 50 samples of each motion, so that a full turn is not taken for a standstill.
    at = _apart(checker, position, np.linspace(0.0, corners[-1], 50 * (len(path) - 1) + 1), step)
    found = checker.overlaps(position(at))
    return len(found), min((distance for _, _, distance in found), default=0.0)


def recheck(checker: CoalChecker, result: PlanResult, *, torque_rate: float = RATE) -> Verdict:
    """Check a trajectory of the checker's joints."""
    trajectory = result.trajectory
    assert trajectory is not None
    limits = trajectory.limits
    assert limits is not None
    times = times_apart(checker, result)
    found = checker.overlaps(trajectory.position(times))
    samples = trajectory.sample(RATE)
    worst = (-np.inf, "")
    for name, value, limit in (
        ("velocity", samples.velocity, limits.velocity),
        ("acceleration", samples.acceleration, limits.acceleration),
    ):
        if limit is not None and np.isfinite(limit).any():
            worst = max(worst, (float((np.abs(value) / limit).max()) - 1, name))
    if limits.lower is not None and limits.upper is not None:
        span = np.where(np.isfinite(limits.upper - limits.lower), limits.upper - limits.lower, 1.0)
        beyond = np.maximum(limits.lower - samples.position, samples.position - limits.upper) / span
        worst = max(worst, (float(beyond.max()), "position"))
    if limits.effort is not None and np.isfinite(limits.effort).any():
        torque = trajectory.torque(trajectory.sample(torque_rate).time)
        worst = max(worst, (float((np.abs(torque) / limits.effort).max()) - 1, "torque"))
    deepest = min((distance for _, _, distance in found), default=0.0)
    return Verdict(len(found), deepest, len(times), *worst)
