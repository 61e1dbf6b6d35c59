"""The quick test of limits in the last check: no violation passes, small margins suffice."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from robosim import load_robot
from robosim.planners import Problem, plan
from robosim.planners.checking import _is_within, _surely_within_limits
from robosim.scene import load_scene
from robosim.trajectory import Trajectory, TrajectoryLimits


def extremes(trajectory: Trajectory, derivative: int) -> tuple[np.ndarray, np.ndarray]:
    """Least and greatest value, (c,) each, of a derivative.

    They are found by NumPy at the roots of the next derivative and the ends of pieces.
    """
    n = trajectory.coefficients.shape[2]
    least, greatest = np.full(n, np.inf), np.full(n, -np.inf)
    lengths = np.diff(trajectory.breaks)
    for piece, h in zip(trajectory.coefficients, lengths, strict=True):
        for k, column in enumerate(piece.T):
            p = (
                np.polynomial.Polynomial(column).deriv(derivative)
                if derivative
                else np.polynomial.Polynomial(column)
            )
            turns = p.deriv().roots() if p.degree() > 0 else np.zeros(0)
            turns = turns[np.abs(turns.imag) < 1e-9].real
            at = p(np.concatenate([[0, h], turns[(turns > 0) & (turns < h)]]))
            least[k], greatest[k] = min(least[k], at.min()), max(greatest[k], at.max())
    return least, greatest


@pytest.fixture(scope="module", params=["ur5", "panda"])
def motion(request) -> Trajectory:
    model = load_robot(request.param)
    found = plan(Problem(model, load_scene("table_pick", model=model)), jerk=100.0).trajectory
    assert found is not None
    return found


KINDS = ("lower", "upper", "velocity", "acceleration", "jerk")


@pytest.mark.parametrize("kind", KINDS)
def test_a_limit_is_found_to_hold_or_not(motion, kind):
    """Each coordinate's limit in turn is set from a tenth below to a tenth above the need."""
    derivative = max(KINDS.index(kind) - 1, 0)
    least, greatest = extremes(motion, derivative)
    need = {"lower": least, "upper": greatest}.get(
        kind, np.maximum(np.abs(least), np.abs(greatest))
    )
    n = len(need)
    none = np.full(n, np.inf)
    loose = TrajectoryLimits(lower=-none, upper=none, velocity=none, acceleration=none)
    for k in np.flatnonzero(np.abs(need) > 1e-3):
        for by in (-0.1, -1e-3, -1e-5, 1e-3, 1e-2, 0.1):
            bound = np.full(n, -np.inf if kind == "lower" else np.inf)
            bound[k] = need[k] + (-by if kind == "lower" else by) * abs(need[k])
            limited = motion.replace(
                limits=dataclasses.replace(loose, **{kind: bound}), inverse_dynamics=None
            )
            passed = _surely_within_limits(limited)
            if passed:
                assert not limited.validate()
            if by < 0:
                assert not passed
            # The bound by coefficients of 64 parts is closer to the polynomial than that.
            if by >= 1e-2:
                assert passed


def test_a_polynomial_that_is_no_number_is_within_nothing():
    rows = np.array([[np.nan, 0.0], [0.0, np.nan], [0.5, np.inf]])
    for row in rows:
        with np.errstate(invalid="ignore"):
            assert not _is_within(row[None], np.array([-1.0]), np.array([1.0]))
    assert _is_within(np.array([[0.5, 0.5]]), np.array([-1.0]), np.array([1.0]))


@pytest.mark.parametrize("powers", [1, 2, 3])
def test_motions_of_few_powers_have_no_higher_derivatives(powers):
    """A constant, linear or quadratic motion: derivatives beyond its degree are zero."""
    coefficients = np.zeros((1, powers, 1))
    coefficients[0, -1] = 1.0
    limits = TrajectoryLimits(lower=[-2], upper=[2], velocity=[3], acceleration=[3], jerk=[1])
    motion = Trajectory([0.0, 1.0], coefficients, ["a"], units=["rad"], limits=limits)
    # A constant acceleration jumps at its ends.
    assert _surely_within_limits(motion) == (powers < 3)
    limits = dataclasses.replace(limits, jerk=None)
    motion = motion.replace(limits=limits)
    assert _surely_within_limits(motion)
    tight = dataclasses.replace(
        limits, **{("upper", "velocity", "acceleration")[powers - 1]: np.array([0.5])}
    )
    assert not _surely_within_limits(motion.replace(limits=tight))
