"""Continuous collision checks: the time of impact of two moving shapes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from robosim import _engine
from robosim._engine import Shape
from robosim.errors import GeometryError
from robosim.geometry.poses import Array
from robosim.geometry.queries import Witness


class Impact(NamedTuple):
    """First time at which two moving shapes come within a margin of each other."""

    status: str
    """Outcome of the check.

    "separated": never, t = 1. "touching": first at t. "overlapping": already at t = 0.
    "unfinished": separated up to t and undecided afterwards, because the shapes slide along each
    other too closely for too long.
    """
    t: float
    """Time from 0 to 1. The shapes are separated at all earlier times."""
    witness: Witness
    """Witness at t. If touching, the distance exceeds the margin by at most the tolerance."""
    normal_velocity: float
    """Rate of change of the distance at t [m per unit of t]; negative for approaching shapes."""
    rounds: int
    """Number of distance computations."""


class ImpactDerivatives(NamedTuple):
    """Derivatives of a time of impact with respect to the four poses."""

    impact: Impact
    """Impact that is differentiated, as `time_of_impact` returns it."""
    start: Array
    """Derivatives with respect to the poses at t = 0, (12,).

    They are in the twist of A, then of B, each [linear; angular] in its own frame.
    """
    end: Array
    """Derivatives with respect to the poses at t = 1, likewise."""
    one_sided: bool
    """True if the derivatives are one-sided.

    Also true if the shapes do not touch, if they graze, or if a frame turns by half a turn. All
    derivatives are then zero.
    """


def time_of_impact(
    A: Shape,
    X_WA: ArrayLike,
    B: Shape,
    X_WB: ArrayLike,
    *,
    margin: float = 0.0,
    tolerance: float = 1e-9,
) -> Impact:
    """Compute when two moving shapes first come within a margin of each other, without sampling.

    Over t from 0 to 1 the origin of each frame moves on a straight line at constant speed. The
    frame turns about one axis at constant speed, by the shorter rotation. The algorithm is
    conservative advancement: from each closest pair, time advances as far as bounds on the motion
    certify the gap. The bounds are exact for pure translations and of second order in time for
    rotations.

    Args:
        A: the first shape.
        X_WA: its poses at t = 0 and t = 1, (2, 4, 4), or (4, 4) at rest.
        B: the second shape.
        X_WB: its poses, likewise.
        margin: gap that counts as touching [m], non-negative.
        tolerance: largest excess of the distance over the margin at t [m]; at least 1e-12 of the
            shapes' size (or 1e-15 of their displacement).

    Returns:
        Time and witness. Two half-spaces that turn relative to each other touch at once.

    Raises:
        GeometryError: a pose is not a rigid (4, 4) matrix of finite numbers, margin or tolerance is
            out of range.

    Example:
        >>> import numpy as np
        >>> from robosim.geometry import Shape, pose, time_of_impact
        >>> falling = np.stack([pose((0, 0, 3)), pose((0, 0, -1), rpy=(0.5, 0, 0))])
        >>> impact = time_of_impact(Shape.half_space(), pose(), Shape.sphere(0.5), falling)
        >>> impact.status, round(impact.t, 6), round(impact.normal_velocity, 6)
        ('touching', 0.625, -4.0)
    """
    (A0, A1), (B0, B1) = _ends("X_WA", X_WA), _ends("X_WB", X_WB)
    return _impact(_engine.time_of_impact(A, A0, A1, B, B0, B1, margin, tolerance))


def time_of_impact_derivatives(
    A: Shape,
    X_WA: ArrayLike,
    B: Shape,
    X_WB: ArrayLike,
    *,
    margin: float = 0.0,
    tolerance: float = 1e-9,
) -> ImpactDerivatives:
    """Compute the time of impact, with derivatives with respect to the end poses of the motion.

    The implicit function theorem is applied to distance(t) = margin, so derivatives are as exact as
    the tolerance.

    Args:
        A: the first shape.
        X_WA: its poses at t = 0 and t = 1, (2, 4, 4), or (4, 4) at rest.
        B: the second shape.
        X_WB: its poses, likewise.
        margin: gap that counts as touching [m], non-negative.
        tolerance: as in `time_of_impact`.

    Returns:
        The impact and its derivatives.

    Raises:
        GeometryError: a pose is not a rigid (4, 4) matrix of finite numbers, margin or tolerance is
            out of range.

    Example:
        >>> import numpy as np
        >>> from robosim.geometry import Shape, pose, time_of_impact_derivatives
        >>> falling = np.stack([pose((0, 0, 3)), pose((0, 0, -1))])
        >>> d = time_of_impact_derivatives(Shape.half_space(), pose(), Shape.sphere(0.5), falling)
        >>> # Along z, of the sphere: it has farther to fall.
        >>> float(d.start[8].round(6)), float(d.end[8].round(6))
        (0.09375, 0.15625)
    """
    (A0, A1), (B0, B1) = _ends("X_WA", X_WA), _ends("X_WB", X_WB)
    impact, start, end, one_sided = _engine.time_of_impact_derivatives(
        A, A0, A1, B, B0, B1, margin, tolerance
    )
    return ImpactDerivatives(_impact(impact), start, end, one_sided)


def _impact(parts: tuple[str, float, tuple[float, Array, Array, Array], float, int]) -> Impact:
    status, t, witness, normal_velocity, rounds = parts
    return Impact(status, t, Witness(*witness), normal_velocity, rounds)


def _ends(name: str, poses: ArrayLike) -> tuple[Array, Array]:
    try:
        X = np.asarray(poses, dtype=np.float64)
    except (TypeError, ValueError):
        raise GeometryError(f"{name} is {poses!r}; poses (2, 4, 4) or (4, 4) are needed") from None
    if X.shape not in ((4, 4), (2, 4, 4)):
        raise GeometryError(f"{name} is of shape {X.shape}; poses (2, 4, 4) or (4, 4) are needed")
    return (X, X) if X.ndim == 2 else (X[0], X[1])
