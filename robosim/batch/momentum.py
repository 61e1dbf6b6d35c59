"""Centre of mass and centroidal momentum of n states."""

from __future__ import annotations

from numpy.typing import ArrayLike

from robosim.batch.calls import array, arrays
from robosim.model import (
    CentroidalMomentumDerivatives,
    CentroidalMomentumMatrixRate,
    CentroidalMomentumRate,
    Model,
)
from robosim.model.parts import FloatArray


def center_of_mass(
    model: Model, q: ArrayLike, *, threads: int | None = None, out: FloatArray | None = None
) -> FloatArray:
    """(n, 3) `Model.center_of_mass` [m] at q (n, n_q)."""
    return array(model, "center_of_mass", q, threads=threads, out=out)


def center_of_mass_velocity(
    model: Model, q: ArrayLike, v: ArrayLike, *, threads: int | None = None, out: FloatArray | None = None
) -> FloatArray:
    """(n, 3) `Model.center_of_mass_velocity` [m/s] at q (n, n_q), v (n, n_v)."""
    return array(model, "center_of_mass_velocity", q, v, threads=threads, out=out)


def center_of_mass_acceleration(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    *,
    threads: int | None = None,
    out: FloatArray | None = None,
) -> FloatArray:
    """(n, 3) `Model.center_of_mass_acceleration` [m/s^2] at q (n, n_q), v and a (n, n_v)."""
    return array(model, "center_of_mass_acceleration", q, v, a, threads=threads, out=out)


def center_of_mass_jacobian(
    model: Model, q: ArrayLike, *, threads: int | None = None, out: FloatArray | None = None
) -> FloatArray:
    """(n, 3, n_v) `Model.center_of_mass_jacobian` at q (n, n_q)."""
    return array(model, "center_of_mass_jacobian", q, threads=threads, out=out)


def centroidal_momentum(
    model: Model, q: ArrayLike, v: ArrayLike, *, threads: int | None = None, out: FloatArray | None = None
) -> FloatArray:
    """(n, 6) `Model.centroidal_momentum` at q (n, n_q), v (n, n_v)."""
    return array(model, "centroidal_momentum", q, v, threads=threads, out=out)


def centroidal_momentum_rate(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    *,
    threads: int | None = None,
    out: CentroidalMomentumRate | None = None,
) -> CentroidalMomentumRate:
    """(n, 6) each: `Model.centroidal_momentum_rate` at q (n, n_q), v and a (n, n_v)."""
    return arrays(
        CentroidalMomentumRate, model, "centroidal_momentum_rate", q, v, a, threads=threads, out=out
    )


def centroidal_momentum_matrix(
    model: Model, q: ArrayLike, *, threads: int | None = None, out: FloatArray | None = None
) -> FloatArray:
    """(n, 6, n_v) `Model.centroidal_momentum_matrix` at q (n, n_q)."""
    return array(model, "centroidal_momentum_matrix", q, threads=threads, out=out)


def centroidal_momentum_matrix_rate(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    *,
    threads: int | None = None,
    out: CentroidalMomentumMatrixRate | None = None,
) -> CentroidalMomentumMatrixRate:
    """(n, 6, n_v) each: `Model.centroidal_momentum_matrix_rate` at q (n, n_q), v (n, n_v)."""
    return arrays(
        CentroidalMomentumMatrixRate, model, "centroidal_momentum_matrix_dot", q, v, threads=threads, out=out
    )


def centroidal_momentum_derivatives(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    *,
    threads: int | None = None,
    out: CentroidalMomentumDerivatives | None = None,
) -> CentroidalMomentumDerivatives:
    """(n, 6, n_v) each: `Model.centroidal_momentum_derivatives` at q (n, n_q), v and a (n, n_v)."""
    return arrays(
        CentroidalMomentumDerivatives,
        model,
        "centroidal_momentum_derivatives",
        q,
        v,
        a,
        threads=threads,
        out=out,
    )
