"""Configurations and kinematics of n states."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from robosim import _engine
from robosim.batch.calls import array, arrays, evaluate
from robosim.errors import ModelError
from robosim.model import FrameAccelerationDerivatives, FrameVelocityDerivatives, Model
from robosim.model.kinematics import point_of
from robosim.model.operations import Axes
from robosim.model.parts import FloatArray


def random_configuration(model: Model, rng: np.random.Generator, n: int) -> FloatArray:
    """(n, n_q) configurations uniform within the limits, the same as n calls of `Model.random_configuration`.

    Args:
        model: of the robot.
        rng: NumPy generator; n times `n_q` numbers are drawn from it.
        n: how many.

    Raises:
        ModelError: n is negative.
    """
    if n < 0:
        raise ModelError(f"n is {n}; it must not be negative")
    return _engine.sample_configuration(model._engine, rng.random((n, model.n_q)))


def integrate(
    model: Model, q: ArrayLike, v: ArrayLike, *, threads: int | None = None, out: FloatArray | None = None
) -> FloatArray:
    """(n, n_q) `Model.integrate` of q (n, n_q) along v (n, n_v)."""
    return array(model, "integrate", q, v, threads=threads, out=out)


def difference(
    model: Model, q0: ArrayLike, q1: ArrayLike, *, threads: int | None = None, out: FloatArray | None = None
) -> FloatArray:
    """(n, n_v) `Model.difference` from q0 (n, n_q) to q1 (n, n_q)."""
    return array(model, "difference", q0, q1, threads=threads, out=out)


def frame_pose(
    model: Model, q: ArrayLike, link: str, *, threads: int | None = None, out: FloatArray | None = None
) -> FloatArray:
    """(n, 4, 4) `Model.frame_pose` at q (n, n_q)."""
    return array(model, "frame_poses", q, link=link, threads=threads, out=out)


def link_poses(model: Model, q: ArrayLike, *, threads: int | None = None) -> dict[str, FloatArray]:
    """(n, 4, 4) `Model.link_poses` at q (n, n_q): of every link, by name, views of one array."""
    poses = evaluate(model, "frame_poses", (q,), model._all_frames(), None, threads, None)
    return {name: poses[:, k] for k, name in enumerate(model._frames)}


def jacobian(
    model: Model,
    q: ArrayLike,
    link: str,
    frame: Axes = "world",
    *,
    point: ArrayLike | None = None,
    threads: int | None = None,
    out: FloatArray | None = None,
) -> FloatArray:
    """(n, 6, n_v) `Model.jacobian` at q (n, n_q); `point` (n, 3) or (3,)."""
    return array(
        model, "frame_jacobians", q, point_of(point), link=link, axes=frame, threads=threads, out=out
    )


def jacobian_rate(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    link: str,
    frame: Axes = "world",
    *,
    point: ArrayLike | None = None,
    threads: int | None = None,
    out: FloatArray | None = None,
) -> FloatArray:
    """(n, 6, n_v) `Model.jacobian_rate` at q (n, n_q), v (n, n_v)."""
    return array(
        model, "frame_jacobians_dot", q, v, point_of(point), link=link, axes=frame, threads=threads, out=out
    )


def frame_velocity(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    link: str,
    frame: Axes = "world",
    *,
    point: ArrayLike | None = None,
    threads: int | None = None,
    out: FloatArray | None = None,
) -> FloatArray:
    """(n, 6) `Model.frame_velocity` at q (n, n_q), v (n, n_v)."""
    return array(
        model, "frame_velocities", q, v, point_of(point), link=link, axes=frame, threads=threads, out=out
    )


def frame_acceleration(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    link: str,
    frame: Axes = "world",
    *,
    point: ArrayLike | None = None,
    threads: int | None = None,
    out: FloatArray | None = None,
) -> FloatArray:
    """(n, 6) `Model.frame_acceleration` at q (n, n_q), v (n, n_v), a (n, n_v)."""
    return array(
        model,
        "frame_accelerations",
        q,
        v,
        a,
        point_of(point),
        link=link,
        axes=frame,
        threads=threads,
        out=out,
    )


def frame_velocity_derivatives(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    link: str,
    frame: Axes = "world",
    *,
    point: ArrayLike | None = None,
    threads: int | None = None,
    out: FrameVelocityDerivatives | None = None,
) -> FrameVelocityDerivatives:
    """(n, 6, n_v) each: `Model.frame_velocity_derivatives` at q (n, n_q), v (n, n_v)."""
    return arrays(
        FrameVelocityDerivatives,
        model,
        "frame_velocity_derivatives",
        q,
        v,
        point_of(point),
        link=link,
        axes=frame,
        threads=threads,
        out=out,
    )


def frame_acceleration_derivatives(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    link: str,
    frame: Axes = "world",
    *,
    point: ArrayLike | None = None,
    threads: int | None = None,
    out: FrameAccelerationDerivatives | None = None,
) -> FrameAccelerationDerivatives:
    """(n, 6, n_v) each: `Model.frame_acceleration_derivatives` at q (n, n_q), v and a (n, n_v)."""
    return arrays(
        FrameAccelerationDerivatives,
        model,
        "frame_acceleration_derivatives",
        q,
        v,
        a,
        point_of(point),
        link=link,
        axes=frame,
        threads=threads,
        out=out,
    )
