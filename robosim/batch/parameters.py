"""Regressor and derivatives in parameters of n states."""

from __future__ import annotations

from numpy.typing import ArrayLike

from robosim.batch.calls import array, arrays
from robosim.model import (
    ForwardDynamicsParameterDerivatives,
    Model,
    ParameterDerivatives,
    ParameterGradients,
)
from robosim.model.operations import External
from robosim.model.parts import FloatArray


def inertial_regressor(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    *,
    threads: int | None = None,
    out: FloatArray | None = None,
) -> FloatArray:
    """(n, n_v, 10 n_b) `Model.inertial_regressor` at q (n, n_q), v and a (n, n_v)."""
    return array(model, "inertial_regressor", q, v, a, threads=threads, out=out)


def regressor_times(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    x: ArrayLike,
    *,
    threads: int | None = None,
    out: FloatArray | None = None,
) -> FloatArray:
    """(n, n_v) `Model.regressor_times` of n states and x (n, 10 n_b)."""
    return array(model, "regressor_times", q, v, a, x, threads=threads, out=out)


def regressor_transpose_times(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    tau_bar: ArrayLike,
    *,
    threads: int | None = None,
    out: FloatArray | None = None,
) -> FloatArray:
    """(n, 10 n_b) `Model.regressor_transpose_times` of n states and tau_bar (n, n_v)."""
    return array(model, "regressor_transpose_times", q, v, a, tau_bar, threads=threads, out=out)


def inverse_dynamics_parameter_derivatives(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    *,
    external: External | None = None,
    threads: int | None = None,
    out: ParameterDerivatives | None = None,
) -> ParameterDerivatives:
    """(n, n_v, ...) each: `Model.inverse_dynamics_parameter_derivatives` of n states."""
    return arrays(
        ParameterDerivatives,
        model,
        "rnea_parameter_derivatives",
        q,
        v,
        a,
        external=external,
        threads=threads,
        out=out,
    )


def inverse_dynamics_parameter_vjp(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    tau_bar: ArrayLike,
    *,
    external: External | None = None,
    threads: int | None = None,
    out: ParameterGradients | None = None,
) -> ParameterGradients:
    """(n, ...) each: `Model.inverse_dynamics_parameter_vjp` of n states and tau_bar (n, n_v)."""
    return arrays(
        ParameterGradients,
        model,
        "rnea_parameter_vjp",
        q,
        v,
        a,
        tau_bar,
        external=external,
        threads=threads,
        out=out,
    )


def forward_dynamics_parameter_derivatives(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    *,
    external: External | None = None,
    joint_forces: bool = False,
    threads: int | None = None,
    out: ForwardDynamicsParameterDerivatives | None = None,
) -> ForwardDynamicsParameterDerivatives:
    """(n, n_v, ...) each: `Model.forward_dynamics_parameter_derivatives` of n states."""
    return arrays(
        ForwardDynamicsParameterDerivatives,
        model,
        "forward_dynamics_parameter_derivatives",
        q,
        v,
        tau,
        external=external,
        joint_forces=joint_forces,
        threads=threads,
        out=out,
    )


def forward_dynamics_parameter_vjp(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    a_bar: ArrayLike,
    *,
    external: External | None = None,
    joint_forces: bool = False,
    threads: int | None = None,
    out: ParameterGradients | None = None,
) -> ParameterGradients:
    """(n, ...) each: `Model.forward_dynamics_parameter_vjp` of n states and a_bar (n, n_v)."""
    return arrays(
        ParameterGradients,
        model,
        "forward_dynamics_parameter_vjp",
        q,
        v,
        tau,
        a_bar,
        external=external,
        joint_forces=joint_forces,
        threads=threads,
        out=out,
    )
