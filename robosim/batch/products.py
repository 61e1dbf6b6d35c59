"""Products with the derivatives of the dynamics of n states."""

from __future__ import annotations

from numpy.typing import ArrayLike

from robosim.batch.calls import array, arrays
from robosim.model import (
    ForwardDynamicsChange,
    ForwardDynamicsCurvature,
    ForwardDynamicsGradients,
    InverseDynamicsCurvature,
    InverseDynamicsGradients,
    Model,
)
from robosim.model.operations import External
from robosim.model.parts import FloatArray


def inverse_dynamics_jvp(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    dq: ArrayLike,
    dv: ArrayLike,
    da: ArrayLike,
    *,
    external: External | None = None,
    joint_forces: bool = False,
    threads: int | None = None,
    out: FloatArray | None = None,
) -> FloatArray:
    """(n, n_v) `Model.inverse_dynamics_jvp` of n states and directions."""
    return array(
        model,
        "rnea_jvp",
        q,
        v,
        a,
        dq,
        dv,
        da,
        external=external,
        joint_forces=joint_forces,
        threads=threads,
        out=out,
    )


def inverse_dynamics_vjp(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    tau_bar: ArrayLike,
    *,
    external: External | None = None,
    joint_forces: bool = False,
    threads: int | None = None,
    out: InverseDynamicsGradients | None = None,
) -> InverseDynamicsGradients:
    """(n, n_v), of wrenches (n, k, 6): `Model.inverse_dynamics_vjp` of n states and gradients."""
    return arrays(
        InverseDynamicsGradients,
        model,
        "rnea_vjp",
        q,
        v,
        a,
        tau_bar,
        external=external,
        joint_forces=joint_forces,
        threads=threads,
        out=out,
    )


def inverse_dynamics_hvp(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    tau_bar: ArrayLike,
    dq: ArrayLike,
    dv: ArrayLike,
    da: ArrayLike,
    *,
    external: External | None = None,
    joint_forces: bool = False,
    threads: int | None = None,
    out: InverseDynamicsCurvature | None = None,
) -> InverseDynamicsCurvature:
    """(n, n_v) each: `Model.inverse_dynamics_hvp` of n states, gradients and directions."""
    return arrays(
        InverseDynamicsCurvature,
        model,
        "rnea_hvp",
        q,
        v,
        a,
        tau_bar,
        dq,
        dv,
        da,
        external=external,
        joint_forces=joint_forces,
        threads=threads,
        out=out,
    )


def forward_dynamics_jvp(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    dq: ArrayLike,
    dv: ArrayLike,
    dtau: ArrayLike,
    *,
    external: External | None = None,
    joint_forces: bool = False,
    threads: int | None = None,
    out: ForwardDynamicsChange | None = None,
) -> ForwardDynamicsChange:
    """(n, n_v) each: `Model.forward_dynamics_jvp` of n states and directions."""
    return arrays(
        ForwardDynamicsChange,
        model,
        "forward_dynamics_jvp",
        q,
        v,
        tau,
        dq,
        dv,
        dtau,
        external=external,
        joint_forces=joint_forces,
        threads=threads,
        out=out,
    )


def forward_dynamics_vjp(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    a_bar: ArrayLike,
    *,
    external: External | None = None,
    joint_forces: bool = False,
    threads: int | None = None,
    out: ForwardDynamicsGradients | None = None,
) -> ForwardDynamicsGradients:
    """(n, n_v), of wrenches (n, k, 6): `Model.forward_dynamics_vjp` of n states and gradients."""
    return arrays(
        ForwardDynamicsGradients,
        model,
        "forward_dynamics_vjp",
        q,
        v,
        tau,
        a_bar,
        external=external,
        joint_forces=joint_forces,
        threads=threads,
        out=out,
    )


def forward_dynamics_hvp(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    a_bar: ArrayLike,
    dq: ArrayLike,
    dv: ArrayLike,
    dtau: ArrayLike,
    *,
    external: External | None = None,
    joint_forces: bool = False,
    threads: int | None = None,
    out: ForwardDynamicsCurvature | None = None,
) -> ForwardDynamicsCurvature:
    """(n, n_v) each: `Model.forward_dynamics_hvp` of n states, gradients and directions."""
    return arrays(
        ForwardDynamicsCurvature,
        model,
        "forward_dynamics_hvp",
        q,
        v,
        tau,
        a_bar,
        dq,
        dv,
        dtau,
        external=external,
        joint_forces=joint_forces,
        threads=threads,
        out=out,
    )
