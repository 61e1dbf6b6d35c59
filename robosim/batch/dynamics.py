"""Forces, accelerations and energies of n states."""

from __future__ import annotations

from numpy.typing import ArrayLike

from robosim.batch.calls import array, arrays
from robosim.model import Model
from robosim.model.dynamics import JointForceDerivatives
from robosim.model.operations import External
from robosim.model.parts import FloatArray


def inverse_dynamics(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    *,
    external: External | None = None,
    joint_forces: bool = False,
    threads: int | None = None,
    out: FloatArray | None = None,
) -> FloatArray:
    """(n, n_v) `Model.inverse_dynamics` at q (n, n_q), v (n, n_v), a (n, n_v); `external` (n, 6) or (6,) by link."""
    return array(
        model, "rnea", q, v, a, external=external, joint_forces=joint_forces, threads=threads, out=out
    )


def forward_dynamics(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    *,
    external: External | None = None,
    joint_forces: bool = False,
    threads: int | None = None,
    out: FloatArray | None = None,
) -> FloatArray:
    """(n, n_v) `Model.forward_dynamics` at q (n, n_q), v (n, n_v), tau (n, n_v); `external` (n, 6) or (6,) by link."""
    return array(
        model,
        "forward_dynamics",
        q,
        v,
        tau,
        external=external,
        joint_forces=joint_forces,
        threads=threads,
        out=out,
    )


def mass_matrix(
    model: Model, q: ArrayLike, *, threads: int | None = None, out: FloatArray | None = None
) -> FloatArray:
    """(n, n_v, n_v) `Model.mass_matrix` at q (n, n_q)."""
    return array(model, "crba", q, threads=threads, out=out)


def mass_matrix_inverse(
    model: Model, q: ArrayLike, *, threads: int | None = None, out: FloatArray | None = None
) -> FloatArray:
    """(n, n_v, n_v) `Model.mass_matrix_inverse` at q (n, n_q)."""
    return array(model, "mass_matrix_inverse", q, threads=threads, out=out)


def nonlinear_effects(
    model: Model, q: ArrayLike, v: ArrayLike, *, threads: int | None = None, out: FloatArray | None = None
) -> FloatArray:
    """(n, n_v) `Model.nonlinear_effects` at q (n, n_q), v (n, n_v)."""
    return array(model, "nonlinear_effects", q, v, threads=threads, out=out)


def gravity(
    model: Model, q: ArrayLike, *, threads: int | None = None, out: FloatArray | None = None
) -> FloatArray:
    """(n, n_v) `Model.gravity` at q (n, n_q)."""
    return array(model, "gravity_forces", q, threads=threads, out=out)


def kinetic_energy(
    model: Model, q: ArrayLike, v: ArrayLike, *, threads: int | None = None, out: FloatArray | None = None
) -> FloatArray:
    """(n,) `Model.kinetic_energy` [J] at q (n, n_q), v (n, n_v)."""
    return array(model, "kinetic_energy", q, v, threads=threads, out=out)


def potential_energy(
    model: Model, q: ArrayLike, *, threads: int | None = None, out: FloatArray | None = None
) -> FloatArray:
    """(n,) `Model.potential_energy` [J] at q (n, n_q)."""
    return array(model, "potential_energy", q, threads=threads, out=out)


def coriolis_matrix(
    model: Model, q: ArrayLike, v: ArrayLike, *, threads: int | None = None, out: FloatArray | None = None
) -> FloatArray:
    """(n, n_v, n_v) `Model.coriolis_matrix` at q (n, n_q), v (n, n_v)."""
    return array(model, "coriolis_matrix", q, v, threads=threads, out=out)


def joint_forces(
    model: Model, q: ArrayLike, v: ArrayLike, *, threads: int | None = None, out: FloatArray | None = None
) -> FloatArray:
    """(n, n_v) `Model.joint_forces` at q (n, n_q), v (n, n_v)."""
    return array(model, "joint_forces", q, v, threads=threads, out=out)


def joint_force_derivatives(
    model: Model, q: ArrayLike, v: ArrayLike, *, threads: int | None = None
) -> dict[str, FloatArray]:
    """(n, n_v) each, by name: `Model.joint_force_derivatives` at q (n, n_q), v (n, n_v)."""
    return arrays(JointForceDerivatives, model, "joint_force_derivatives", q, v, threads=threads)._asdict()
