"""Continuous collision checks: when two moving shapes first come within a margin of each other."""

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
    """When two moving shapes first come within a margin of each other."""

    status: str
    """"separated": never, t = 1; "touching": first at t; "overlapping": already at t = 0;
    "unfinished": not up to t at least, and unknown from then on, as shapes slide along each other
    too near for too long."""
    t: float
    """From 0 to 1; the shapes are apart at all earlier times."""
    witness: Witness
    """How the shapes lie at t; when touching, distance is above the margin by at most the
    tolerance."""
    normal_velocity: float
    """How fast the distance changes at t [m per unit of t]; negative for shapes that approach each
    other."""
    rounds: int
    """How many distances were computed."""


class ImpactDerivatives(NamedTuple):
    """How a time of impact changes with the four poses."""

    impact: Impact
    """What is differentiated, as `time_of_impact` gives it."""
    start: Array
    """In the poses at t = 0, (12,): the twist of A, then of B, each [linear; angular] in its own
    frame."""
    end: Array
    """The same at t = 1."""
    one_sided: bool
    """Whether they hold to one side only; also where the shapes do not touch, graze, or turn by
    half a turn: there all are zero."""


def time_of_impact(
    A: Shape,
    X_WA: ArrayLike,
    B: Shape,
    X_WB: ArrayLike,
    *,
    margin: float = 0.0,
    tolerance: float = 1e-9,
) -> Impact:
    """When two moving shapes first come within a margin of each other: a collision check that skips
    nothing.

    Over t from 0 to 1 the origin of each frame moves on a straight line at constant speed, and the
    frame turns about one axis at constant speed, the shorter way round. Conservative advancement:
    from each closest pair the motion is followed as long as bounds on it certify the gap, exactly
    for shapes that only translate and to second order in time for those that turn.

    Args:
        A: the first shape.
        X_WA: its poses at t = 0 and t = 1, (2, 4, 4), or (4, 4) at rest.
        B: the second shape.
        X_WB: its poses, likewise.
        margin: how near counts as touching [m], zero or more.
        tolerance: by how much the distance may exceed the margin at t [m]; below 1e-12 of the
            shapes' size (or 1e-15 of their way) it counts as that.

    Returns:
        Time and witness. Two half-spaces that turn against each other touch at once.

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
    """The time at which two moving shapes touch, with its derivatives in the poses that they move
    between.

    By the implicit function theorem on distance(t) = margin: as exact as the tolerance.

    Args:
        A: the first shape.
        X_WA: its poses at t = 0 and t = 1, (2, 4, 4), or (4, 4) at rest.
        B: the second shape.
        X_WB: its poses, likewise.
        margin: how near counts as touching [m], zero or more.
        tolerance: as of `time_of_impact`.

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
