"""First derivatives of the dynamics of n states."""

from __future__ import annotations

from numpy.typing import ArrayLike

from robosim.batch.calls import array, arrays
from robosim.model import (
    ForwardDynamicsDerivatives,
    InverseDynamicsDerivatives,
    KineticEnergyDerivatives,
    Model,
)
from robosim.model.operations import External
from robosim.model.parts import FloatArray


def inverse_dynamics_derivatives(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    *,
    external: External | None = None,
    joint_forces: bool = False,
    threads: int | None = None,
    out: InverseDynamicsDerivatives | None = None,
) -> InverseDynamicsDerivatives:
    """(n, n_v, n_v) each: `Model.inverse_dynamics_derivatives` at q (n, n_q), v (n, n_v), a (n, n_v)."""
    return arrays(
        InverseDynamicsDerivatives,
        model,
        "rnea_derivatives",
        q,
        v,
        a,
        external=external,
        joint_forces=joint_forces,
        threads=threads,
        out=out,
    )


def forward_dynamics_derivatives(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    *,
    external: External | None = None,
    joint_forces: bool = False,
    threads: int | None = None,
    out: ForwardDynamicsDerivatives | None = None,
) -> ForwardDynamicsDerivatives:
    """(n, n_v) and three times (n, n_v, n_v): `Model.forward_dynamics_derivatives` at q, v and tau (n, n_v)."""
    return arrays(
        ForwardDynamicsDerivatives,
        model,
        "forward_dynamics_derivatives",
        q,
        v,
        tau,
        external=external,
        joint_forces=joint_forces,
        threads=threads,
        out=out,
    )


def gravity_derivatives(
    model: Model, q: ArrayLike, *, threads: int | None = None, out: FloatArray | None = None
) -> FloatArray:
    """(n, n_v, n_v) `Model.gravity_derivatives` at q (n, n_q)."""
    return array(model, "gravity_forces_derivatives", q, threads=threads, out=out)


def kinetic_energy_derivatives(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    *,
    threads: int | None = None,
    out: KineticEnergyDerivatives | None = None,
) -> KineticEnergyDerivatives:
    """(n, n_v) each: `Model.kinetic_energy_derivatives` at q (n, n_q), v (n, n_v)."""
    return arrays(
        KineticEnergyDerivatives, model, "kinetic_energy_derivatives", q, v, threads=threads, out=out
    )
