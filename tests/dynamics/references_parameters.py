"""Pinocchio's derivatives in inertial parameters: its regressor and the chain rule."""

from __future__ import annotations

import functools

import numpy as np

from ..model.pinocchio_models import pin  # noqa: TID252 (tests have no absolute name)
from .calls import Array
from .example_robots import Robot
from .sample import Answer, Sample, turning_wrenches

# Number of states for derivatives in placements: each of them builds a model.
PLACED_STATES = 3

# Entries of a symmetric matrix in the order of the parameters.
MOMENTS = ((0, 0), (0, 1), (1, 1), (0, 2), (1, 2), (2, 2))


def regressor(s: Sample, a: Array) -> Array:
    """(n_v, bodies, 10) regressor, with bodies in robosim's order."""
    Y = pin.computeJointTorqueRegressor(s.model, s.data, s.q, s["v"], s.robot.G @ a)
    by_joint = Y.reshape(s.model.nv, s.model.njoints - 1, 10)
    return s.ours(by_joint[:, [i - 1 for i in s.robot.bodies]], 0)


def inertial_regressor(s: Sample) -> Answer:
    Y = regressor(s, s.given["a"])
    return Y.reshape(len(Y), -1)


def regressor_times(s: Sample) -> Answer:
    return inertial_regressor(s) @ s.given["x"]


def regressor_transpose_times(s: Sample) -> Answer:
    return inertial_regressor(s).T @ s.given["tau_bar"]


def moments(inertia: Array) -> Array:
    return np.array([inertia[i, j] for i, j in MOMENTS])


@functools.cache
def of_bodies(robot: Robot) -> tuple[Array, Array]:
    """Results of `of_a_body` for all bodies, in robosim's order."""
    in_mass, in_com = zip(*(of_a_body(robot.source.inertias[i]) for i in robot.bodies), strict=True)
    return np.array(in_mass), np.array(in_com)


def of_a_body(inertia: pin.Inertia) -> tuple[Array, Array]:
    """Derivatives of (m, m c, I about the origin) in m (10) and in c (10, 3).

    I about c is held fixed.
    """
    m, c = inertia.mass, inertia.lever
    in_mass = np.concatenate([[1], c, moments(c @ c * np.eye(3) - np.outer(c, c))])
    in_com = np.zeros((10, 3))
    for k, e in enumerate(np.eye(3)):
        in_com[1:4, k] = m * e
        in_com[4:, k] = m * moments(2 * c[k] * np.eye(3) - np.outer(e, c) - np.outer(c, e))
    return in_mass, in_com


def body_derivatives(s: Sample, a: Array) -> tuple[Array, Array, Array]:
    """Derivatives of inverse dynamics in masses, centers of mass, and moments about the centers."""
    Y = regressor(s, a)
    in_mass, in_com = of_bodies(s.robot)
    mass = np.einsum("vbp,bp->vb", Y, in_mass)
    return mass, (Y[:, :, None, :] @ in_com)[:, :, 0], Y[:, :, 4:]


def freed(source: pin.Model, joint: int) -> tuple[pin.Model, list[int]]:
    """Insert a free joint before this joint; return the model and the indices of the old joints."""
    model, index = pin.Model(), [0]
    model.gravity = source.gravity
    for i in range(1, source.njoints):
        parent, placement = index[source.parents[i]], source.jointPlacements[i]
        if i == joint:
            parent, placement = (
                model.addJoint(parent, pin.JointModelFreeFlyer(), placement, "before"),
                pin.SE3.Identity(),
            )
        index.append(model.addJoint(parent, source.joints[i], placement, source.names[i]))
        model.appendBodyToJoint(index[-1], source.inertias[i], pin.SE3.Identity())
    for frame in source.frames:
        if frame.type == pin.FrameType.BODY:
            model.addFrame(
                pin.Frame(frame.name, index[frame.parentJoint], 0, frame.placement, frame.type),
                False,
            )
    return model, index


def placement_derivatives(s: Sample, a: Array) -> Array:
    """(n_v, bodies, 6) derivatives of inverse dynamics in placements of bodies.

    They are derivatives in the position of a free joint at rest that precedes the body's joint.
    Each of the first states has one body, a different one each time. Entries of all others are
    not-a-number.
    """
    out = np.full((s.robot.model.n_v, len(s.robot.bodies), 6), np.nan)
    if s.k < PLACED_STATES:
        body = (7 * s.k + 3) % len(s.robot.bodies)
        joint = s.robot.bodies[body]
        model, index = freed(s.model, joint)
        at = np.concatenate(
            [model.joints[i].idx_v + np.arange(model.joints[i].nv) for i in index[1:]]
        )
        q, v, acceleration = pin.neutral(model), np.zeros(model.nv), np.zeros(model.nv)
        q[
            np.concatenate(
                [model.joints[i].idx_q + np.arange(model.joints[i].nq) for i in index[1:]]
            )
        ] = s.q
        v[at], acceleration[at] = s["v"], s.robot.G @ a
        forces = pin.StdVec_Force()
        for i in range(model.njoints):
            forces.append(s.forces[index.index(i)] if i in index else pin.Force.Zero())
        data = model.createData()
        dq = pin.computeRNEADerivatives(model, data, q, v, acceleration, forces)[0].copy()
        links = [model.getFrameId(s.model.frames[i].name) for i in s.robot.links]
        dq += turning_wrenches(model, data, q, links, s.wrenches)
        before = model.joints[index[joint] - 1].idx_v
        out[:, body] = s.ours(dq[at, before : before + 6], 0)
    return out


def times(A: Array, derivatives: tuple[Array, ...]) -> tuple[Array, ...]:
    """Products of A with matrices or vectors; unknown derivatives stay not-a-number."""
    return tuple(
        np.full((*A.shape[:-1], *x.shape[1:]), np.nan)
        if np.isnan(x).all()
        else np.tensordot(A, x, 1)
        for x in derivatives
    )


def inverse_dynamics(s: Sample, a: Array) -> tuple[Array, ...]:
    return *body_derivatives(s, a), placement_derivatives(s, a), np.diag(a)


def rnea_parameter_derivatives(s: Sample) -> Answer:
    return inverse_dynamics(s, s.given["a"])


def rnea_parameter_vjp(s: Sample) -> Answer:
    return times(s.given["tau_bar"], inverse_dynamics(s, s.given["a"]))


def forward_dynamics_parameter_derivatives(s: Sample) -> Answer:
    a, _, _, M_inverse = s.forward_dynamics
    return a, *times(-M_inverse, inverse_dynamics(s, a))


def forward_dynamics_parameter_vjp(s: Sample) -> Answer:
    a, _, _, M_inverse = s.forward_dynamics
    return times(-M_inverse @ s.given["a_bar"], inverse_dynamics(s, a))
