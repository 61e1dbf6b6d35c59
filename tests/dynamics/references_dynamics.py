"""Pinocchio's forces, accelerations and energies, and their derivatives in the state."""

from __future__ import annotations

import numpy as np

from ..model.pinocchio_models import pin  # noqa: TID252 (tests have no absolute name)
from .calls import Array
from .sample import Answer, Sample, symmetric

# Values


def rnea(s: Sample) -> Answer:
    return s.ours(pin.rnea(s.model, s.data, s.q, s["v"], s["a"], s.forces), 0)


def nonlinear_effects(s: Sample) -> Answer:
    if s.wrenches is None:
        return s.ours(pin.nonLinearEffects(s.model, s.data, s.q, s["v"]), 0)
    return s.ours(pin.rnea(s.model, s.data, s.q, s["v"], np.zeros(s.model.nv), s.forces), 0)


def gravity_forces(s: Sample) -> Answer:
    return s.ours(pin.computeGeneralizedGravity(s.model, s.data, s.q), 0)


def crba(s: Sample) -> Answer:
    return s.ours(symmetric(pin.crba(s.model, s.data, s.q)), 0, 1)


def coriolis_matrix(s: Sample) -> Answer:
    return s.ours(pin.computeCoriolisMatrix(s.model, s.data, s.q, s["v"]), 0, 1)


def kinetic_energy(s: Sample) -> Answer:
    v = s["v"]
    if s.model.armature.any():  # Pinocchio adds the armature for some types of joints only
        return np.array(v @ symmetric(pin.crba(s.model, s.data, s.q)) @ v / 2)
    return np.array(pin.computeKineticEnergy(s.model, s.data, s.q, v))


def potential_energy(s: Sample) -> Answer:
    base = s.model.inertias[0]  # Pinocchio leaves out links welded to the world
    moving = pin.computePotentialEnergy(s.model, s.data, s.q)
    return np.array(moving - base.mass * s.model.gravity.linear @ base.lever)


def integrate(s: Sample) -> Answer:
    """The result is in Pinocchio's coordinates."""
    return pin.integrate(s.model, s.q, s["v"])


def difference(s: Sample) -> Answer:
    """The result is in Pinocchio's coordinates."""
    return pin.difference(s.model, s.q, s.robot.configurations(s.given["q1"][None])[0])


# Solutions with M


def mass_matrix_inverse(s: Sample) -> Answer:
    if s.robot.follows:  # Pinocchio's algorithm has no mimic joints
        return np.linalg.inv(s.M)
    return s.ours(symmetric(pin.computeMinverse(s.model, s.data, s.q)), 0, 1)


def forward_dynamics(s: Sample) -> Answer:
    if s.robot.follows:
        return s.forward_dynamics[0]
    return s.ours(pin.aba(s.model, s.data, s.q, s["v"], s["tau"], s.forces), 0)


def mass_factor(s: Sample) -> Answer:
    """Dense factorization of Pinocchio's M.

    With rows and columns reversed, L^T D L is C C^T.
    """
    U = np.linalg.cholesky(s.M[::-1, ::-1])[::-1, ::-1]  # L^T D^(1/2)
    d = U.diagonal()
    return (U / d).T - np.eye(len(d)) + np.diag(d**-2)


def mass_solve(s: Sample) -> Answer:
    return np.linalg.solve(s.M, s.given["B"])


# Derivatives


def rnea_derivatives(s: Sample) -> Answer:
    return *s.inverse_dynamics(s.given["a"]), s.M


def forward_dynamics_derivatives(s: Sample) -> Answer:
    return s.forward_dynamics


def gravity_forces_derivatives(s: Sample) -> Answer:
    return s.ours(pin.computeGeneralizedGravityDerivatives(s.model, s.data, s.q), 0, 1)


def kinetic_energy_derivatives(s: Sample) -> Answer:
    """Kinetic energy by Hamel's equations.

    For each joint's momentum p: d/dt (M v) + V x* p - dT/dq = C v, and dM/dt = C + C^T.
    """
    v = s["v"]
    p = symmetric(pin.crba(s.model, s.data, s.q)) @ v
    dq = pin.computeCoriolisMatrix(s.model, s.data, s.q, v).T @ v
    for joint in s.model.joints[1:]:
        at = slice(joint.idx_v, joint.idx_v + joint.nv)
        if joint.nv == 6:
            dq[at] += pin.Motion(v[at]).cross(pin.Force(p[at])).vector
        elif joint.nv == 3:
            (vx, vy, w), (px, py, _) = v[at], p[at]
            dq[at] += -w * py, w * px, vx * py - vy * px
    return s.ours(dq, 0), s.ours(p, 0)


# Products


def sum_of(terms: tuple[tuple[Array, Array], ...]) -> Array:
    return sum(A @ x for A, x in terms)


def rnea_jvp(s: Sample) -> Answer:
    dq, dv = s.inverse_dynamics(s.given["a"])
    return dq @ s.given["dq"] + dv @ s.given["dv"] + s.M @ s.given["da"]


def rnea_vjp(s: Sample) -> Answer:
    dq, dv = s.inverse_dynamics(s.given["a"])
    bar = s.given["tau_bar"]
    return dq.T @ bar, dv.T @ bar, s.M @ bar, -s.link_jacobians @ s["tau_bar"]


def forward_dynamics_jvp(s: Sample) -> Answer:
    a, dq, dv, dtau = s.forward_dynamics
    return a, dq @ s.given["dq"] + dv @ s.given["dv"] + dtau @ s.given["dtau"]


def forward_dynamics_vjp(s: Sample) -> Answer:
    a, dq, dv, dtau = s.forward_dynamics
    bar = s.given["a_bar"]
    tau_bar = dtau @ bar
    return a, dq.T @ bar, dv.T @ bar, tau_bar, s.link_jacobians @ (s.robot.G @ tau_bar)
