"""Pinocchio's answer to each of our operations: one row per operation.

A row's function gives what the operation gives for one state of a robot, in theirs' coordinates, all joints free; axes
of velocities are contracted with the robot's G afterwards. Rows of operations that solve with M, whose results do not
contract so, answer in our coordinates.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..model.pinocchio_models import pin  # noqa: TID252
from .example_robots import Array, Robot

Answer = Array | tuple[Array, ...]


class Sample:
    """One state of a robot, in theirs' coordinates, with what a call chooses."""

    def __init__(self, robot: Robot, k: int, *, wrenches: bool, local: bool) -> None:
        self.robot, self.k = robot, k
        self.model, self.data = robot.source, robot.data
        self.q, self.v, self.a = robot.Q[k], robot.V[k], robot.A[k]
        self.tau = robot.tau[k]  # in our coordinates
        self.frames = robot.frames
        self.axes = pin.LOCAL if local else pin.LOCAL_WORLD_ALIGNED
        self.wrenches = robot.wrenches.values[k] if wrenches else None

    def forces(self) -> pin.StdVec_Force:
        """On their bodies, in these' axes; ours are in world axes at frames' origins."""
        model, data = self.model, self.data
        out = pin.StdVec_Force()
        for _ in range(model.njoints):
            out.append(pin.Force.Zero())
        if self.wrenches is not None:
            pin.framesForwardKinematics(model, data, self.q)
            for i, wrench in zip(self.frames, self.wrenches, strict=True):
                frame = model.frames[i]
                R = data.oMf[i].rotation
                local = pin.Force(R.T @ wrench[:3], R.T @ wrench[3:])
                out[frame.parentJoint] = out[frame.parentJoint] + frame.placement.act(local)
        return out

    def turning_wrenches(self) -> Array:
        """dtau_dq that theirs lacks: it holds forces fixed in the bodies' axes, ours in the world's.

        In a frame's axes f = R^T f_W changes by f x w under a turn w = J_w dq, and dtau = -J^T df.
        """
        model, data = self.model, self.data
        out = np.zeros((model.nv, model.nv))
        if self.wrenches is not None:
            pin.framesForwardKinematics(model, data, self.q)
            for i, wrench in zip(self.frames, self.wrenches, strict=True):
                J = pin.computeFrameJacobian(model, data, self.q, i, pin.LOCAL)
                R = data.oMf[i].rotation
                for part in (0, 3):
                    out -= J[part : part + 3].T @ pin.skew(R.T @ wrench[part : part + 3]) @ J[3:]
        return out


# Kinematics


def frame_poses(s: Sample) -> Answer:
    pin.framesForwardKinematics(s.model, s.data, s.q)
    return np.array([s.data.oMf[i].homogeneous for i in s.frames])


def frame_velocities(s: Sample) -> Answer:
    pin.forwardKinematics(s.model, s.data, s.q, s.v)
    return np.array([pin.getFrameVelocity(s.model, s.data, i, s.axes).vector for i in s.frames])


def frame_accelerations(s: Sample) -> Answer:
    pin.forwardKinematics(s.model, s.data, s.q, s.v, s.a)
    return np.array([pin.getFrameClassicalAcceleration(s.model, s.data, i, s.axes).vector for i in s.frames])


def frame_jacobians(s: Sample) -> Answer:
    pin.computeJointJacobians(s.model, s.data, s.q)
    pin.updateFramePlacements(s.model, s.data)
    return np.array([pin.getFrameJacobian(s.model, s.data, i, s.axes) for i in s.frames])


def frame_jacobians_dot(s: Sample) -> Answer:
    pin.computeJointJacobiansTimeVariation(s.model, s.data, s.q, s.v)
    pin.updateFramePlacements(s.model, s.data)
    return np.array([pin.getFrameJacobianTimeVariation(s.model, s.data, i, s.axes) for i in s.frames])


# Values


def symmetric(upper: Array) -> Array:
    return np.triu(upper) + np.triu(upper, 1).T


def rnea(s: Sample) -> Answer:
    return pin.rnea(s.model, s.data, s.q, s.v, s.a, s.forces())


def nonlinear_effects(s: Sample) -> Answer:
    if s.wrenches is None:
        return pin.nonLinearEffects(s.model, s.data, s.q, s.v)
    return pin.rnea(s.model, s.data, s.q, s.v, np.zeros(s.model.nv), s.forces())


def gravity_forces(s: Sample) -> Answer:
    return pin.computeGeneralizedGravity(s.model, s.data, s.q)


def crba(s: Sample) -> Answer:
    return symmetric(pin.crba(s.model, s.data, s.q))


def kinetic_energy(s: Sample) -> Answer:
    rotors = s.v @ (s.model.armature * s.v) / 2  # theirs leaves them out
    return np.array(pin.computeKineticEnergy(s.model, s.data, s.q, s.v) + rotors)


def potential_energy(s: Sample) -> Answer:
    base = s.model.inertias[0]  # what is welded to the world, left out by theirs
    return np.array(
        pin.computePotentialEnergy(s.model, s.data, s.q) - base.mass * s.model.gravity.linear @ base.lever
    )


# Momentum


def share_of_moving(s: Sample) -> float:
    """Mass of what moves, which is all that theirs counts, over that of all."""
    moving = pin.computeTotalMass(s.model)
    return moving / (moving + s.model.inertias[0].mass)


def center_of_mass(s: Sample) -> Answer:
    share = share_of_moving(s)
    return share * pin.centerOfMass(s.model, s.data, s.q) + (1 - share) * s.model.inertias[0].lever


def center_of_mass_velocity(s: Sample) -> Answer:
    pin.centerOfMass(s.model, s.data, s.q, s.v)
    return share_of_moving(s) * s.data.vcom[0]


def center_of_mass_acceleration(s: Sample) -> Answer:
    pin.centerOfMass(s.model, s.data, s.q, s.v, s.a)
    return share_of_moving(s) * s.data.acom[0]


def center_of_mass_jacobian(s: Sample) -> Answer:
    return share_of_moving(s) * pin.jacobianCenterOfMass(s.model, s.data, s.q)


def centroidal_momentum(s: Sample) -> Answer:
    return pin.computeCentroidalMomentum(s.model, s.data, s.q, s.v).vector.copy()


def centroidal_momentum_rate(s: Sample) -> Answer:
    pin.computeCentroidalMomentumTimeVariation(s.model, s.data, s.q, s.v, s.a)
    return s.data.hg.vector.copy(), s.data.dhg.vector.copy()


def centroidal_momentum_matrix(s: Sample) -> Answer:
    return pin.ccrba(s.model, s.data, s.q, s.v).copy()


def centroidal_momentum_matrix_dot(s: Sample) -> Answer:
    pin.dccrba(s.model, s.data, s.q, s.v)
    return s.data.Ag.copy(), s.data.dAg.copy()


def centroidal_momentum_derivatives(s: Sample) -> Answer:
    matrices = pin.computeCentroidalDynamicsDerivatives(s.model, s.data, s.q, s.v, s.a)
    return tuple(matrix.copy() for matrix in matrices)


def coriolis_matrix(s: Sample) -> Answer:
    return pin.computeCoriolisMatrix(s.model, s.data, s.q, s.v).copy()


# Derivatives


def rnea_derivatives(s: Sample) -> Answer:
    forces = s.forces()
    dq, dv, M = pin.computeRNEADerivatives(s.model, s.data, s.q, s.v, s.a, forces)
    dq, dv, M = dq.copy(), dv.copy(), symmetric(M)
    return dq + s.turning_wrenches(), dv, M


def gravity_forces_derivatives(s: Sample) -> Answer:
    return pin.computeGeneralizedGravityDerivatives(s.model, s.data, s.q).copy()


# What solves with M, in our coordinates


def mass_matrix_inverse(s: Sample) -> Answer:
    if s.robot.follows:
        return np.linalg.inv(s.robot.M[s.k])
    return s.robot.reduced(symmetric(pin.computeMinverse(s.model, s.data, s.q)), [0, 1])


def forward_dynamics(s: Sample) -> Answer:
    G = s.robot.G
    if s.robot.follows:  # theirs has no mimic joints
        h = pin.rnea(s.model, s.data, s.q, s.v, np.zeros(s.model.nv), s.forces())
        return np.linalg.solve(s.robot.M[s.k], s.tau - G.T @ h)
    return pin.aba(s.model, s.data, s.q, s.v, G @ s.tau, s.forces()) @ G


def forward_dynamics_derivatives(s: Sample) -> Answer:
    G = s.robot.G
    if s.robot.follows:
        a = forward_dynamics(s)
        M = s.robot.M[s.k]
        dq, dv, _ = pin.computeRNEADerivatives(s.model, s.data, s.q, s.v, G @ a, s.forces())
        dq, dv = dq.copy(), dv.copy()
        dq += s.turning_wrenches()
        return a, -np.linalg.solve(M, G.T @ dq @ G), -np.linalg.solve(M, G.T @ dv @ G), np.linalg.inv(M)
    dq, dv, M_inverse = pin.computeABADerivatives(s.model, s.data, s.q, s.v, G @ s.tau, s.forces())
    dq, dv, M_inverse = dq.copy(), dv.copy(), symmetric(M_inverse)
    a = s.data.ddq.copy()
    dq -= M_inverse @ s.turning_wrenches()
    return a @ G, G.T @ dq @ G, G.T @ dv @ G, G.T @ M_inverse @ G


REFERENCES: dict[str, Callable[[Sample], Answer]] = {
    row.__name__: row
    for row in (
        frame_poses,
        frame_velocities,
        frame_accelerations,
        frame_jacobians,
        frame_jacobians_dot,
        rnea,
        nonlinear_effects,
        gravity_forces,
        crba,
        mass_matrix_inverse,
        forward_dynamics,
        kinetic_energy,
        potential_energy,
        center_of_mass,
        center_of_mass_velocity,
        center_of_mass_acceleration,
        center_of_mass_jacobian,
        centroidal_momentum,
        centroidal_momentum_rate,
        centroidal_momentum_matrix,
        centroidal_momentum_matrix_dot,
        centroidal_momentum_derivatives,
        coriolis_matrix,
        gravity_forces_derivatives,
        rnea_derivatives,
        forward_dynamics_derivatives,
    )
}

# Operations that Pinocchio does not have, or not in a form to compare in all coordinates, with the tests that hold
# them to differences, to matrices and to each other.
ELSEWHERE = {
    "integrate": "model/test_against_pinocchio.py",
    "difference": "model/test_against_pinocchio.py",
    "frame_velocity_derivatives": "model/test_derivatives.py",
    "frame_acceleration_derivatives": "model/test_derivatives.py",
    "joint_forces": "model/test_joint_forces.py",
    "joint_force_derivatives": "model/test_joint_forces.py",
    "kinetic_energy_derivatives": "model/test_derivatives.py",
    "rnea_jvp": "model/test_derivatives.py",
    "rnea_vjp": "model/test_derivatives.py",
    "rnea_hvp": "model/test_derivatives.py",
    "forward_dynamics_jvp": "model/test_derivatives.py",
    "forward_dynamics_vjp": "model/test_derivatives.py",
    "forward_dynamics_hvp": "model/test_derivatives.py",
    "inertial_regressor": "model/test_derivatives.py",
    "regressor_times": "model/test_derivatives.py",
    "regressor_transpose_times": "model/test_derivatives.py",
    "rnea_parameter_derivatives": "model/test_derivatives.py",
    "rnea_parameter_vjp": "model/test_derivatives.py",
    "forward_dynamics_parameter_derivatives": "model/test_derivatives.py",
    "forward_dynamics_parameter_vjp": "model/test_derivatives.py",
    "mass_factor": "model/test_derivatives.py",
    "mass_solve": "model/test_derivatives.py",
}
