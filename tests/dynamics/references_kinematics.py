"""Pinocchio's results for frames, center of mass and centroidal momentum."""

from __future__ import annotations

import numpy as np

from ..model.pinocchio_models import pin  # noqa: TID252 (tests have no absolute name)
from .calls import Array
from .sample import Answer, Sample


def frame_poses(s: Sample) -> Answer:
    pin.framesForwardKinematics(s.model, s.data, s.q)
    return np.array([s.data.oMf[i].homogeneous for i in s.robot.links])


def frame_velocities(s: Sample) -> Answer:
    pin.forwardKinematics(s.model, s.data, s.q, s["v"])
    return np.array(
        [pin.getFrameVelocity(s.model, s.data, i, s.axes).vector for i in s.robot.point_frames]
    )


def frame_accelerations(s: Sample) -> Answer:
    pin.forwardKinematics(s.model, s.data, s.q, s["v"], s["a"])
    frames = s.robot.point_frames
    return np.array(
        [pin.getFrameClassicalAcceleration(s.model, s.data, i, s.axes).vector for i in frames]
    )


def frame_jacobians(s: Sample) -> Answer:
    pin.computeJointJacobians(s.model, s.data, s.q)
    pin.updateFramePlacements(s.model, s.data)
    J = np.array([pin.getFrameJacobian(s.model, s.data, i, s.axes) for i in s.robot.point_frames])
    return s.ours(J, 2)


def frame_jacobians_dot(s: Sample) -> Answer:
    pin.computeJointJacobiansTimeVariation(s.model, s.data, s.q, s["v"])
    pin.updateFramePlacements(s.model, s.data)
    frames = s.robot.point_frames
    J = np.array([pin.getFrameJacobianTimeVariation(s.model, s.data, i, s.axes) for i in frames])
    return s.ours(J, 2)


def stacked(linear: tuple[Array, ...], angular: tuple[Array, ...]) -> list[Array]:
    return [np.vstack([top[:3], bottom[3:]]) for top, bottom in zip(linear, angular, strict=True)]


def frame_velocity_derivatives(s: Sample) -> Answer:
    pin.computeForwardKinematicsDerivatives(s.model, s.data, s.q, s["v"], np.zeros(s.model.nv))
    results = []
    for i in s.robot.point_frames:
        frame = s.model.frames[i]
        # Linear rows are those of a point that moves with the frame. Angular rows are those of the
        # frame.
        point = pin.getPointVelocityDerivatives(
            s.model, s.data, frame.parentJoint, frame.placement, s.axes
        )
        point = tuple(np.vstack([x, x]) for x in point)
        results.append(stacked(point, pin.getFrameVelocityDerivatives(s.model, s.data, i, s.axes)))
    return tuple(s.ours(np.array(matrices), 2) for matrices in zip(*results, strict=True))


def frame_acceleration_derivatives(s: Sample) -> Answer:
    pin.computeForwardKinematicsDerivatives(s.model, s.data, s.q, s["v"], s["a"])
    pin.updateFramePlacements(s.model, s.data)
    results = []
    for i in s.robot.point_frames:
        frame = s.model.frames[i]
        at = s.model, s.data, frame.parentJoint, frame.placement, s.axes
        point = tuple(np.vstack([x, x]) for x in pin.getPointClassicAccelerationDerivatives(*at))
        results.append(stacked(point, angular_acceleration_derivatives(s, i)))
    return tuple(s.ours(np.array(matrices), 2) for matrices in zip(*results, strict=True))


def angular_acceleration_derivatives(s: Sample, i: int) -> tuple[Array, ...]:
    """Angular rows of a frame's velocity derivative in q and acceleration derivatives in q, v, a.

    They are converted from local axes by x_W = R x: if a free joint follows another joint,
    Pinocchio's derivatives in world axes disagree with differences of its own accelerations.
    """
    local = tuple(
        x.copy() for x in pin.getFrameAccelerationDerivatives(s.model, s.data, i, pin.LOCAL)
    )
    if s.axes == pin.LOCAL:
        return local
    R = s.data.oMf[i].rotation
    turn = local[3][3:]  # d(acceleration)/da equals the turn of the frame by q
    velocity = pin.getFrameVelocity(s.model, s.data, i, pin.LOCAL).angular
    acceleration = pin.getFrameAcceleration(s.model, s.data, i, pin.LOCAL).angular
    in_world = [R @ x[3:] for x in local]
    in_world[0] -= R @ pin.skew(velocity) @ turn
    in_world[1] -= R @ pin.skew(acceleration) @ turn
    return tuple(np.vstack([x, x]) for x in in_world)


# Center of mass; Pinocchio leaves out links welded to the world


def with_base(s: Sample, moving: Array, base: Array) -> Array:
    mass, welded = pin.computeTotalMass(s.model), s.model.inertias[0].mass
    return (mass * moving + welded * base) / (mass + welded)


def center_of_mass(s: Sample) -> Answer:
    return with_base(s, pin.centerOfMass(s.model, s.data, s.q), s.model.inertias[0].lever)


def center_of_mass_velocity(s: Sample) -> Answer:
    pin.centerOfMass(s.model, s.data, s.q, s["v"])
    return with_base(s, s.data.vcom[0], np.zeros(3))


def center_of_mass_acceleration(s: Sample) -> Answer:
    pin.centerOfMass(s.model, s.data, s.q, s["v"], s["a"])
    return with_base(s, s.data.acom[0], np.zeros(3))


def center_of_mass_jacobian(s: Sample) -> Answer:
    J = pin.jacobianCenterOfMass(s.model, s.data, s.q)
    return s.ours(with_base(s, J, np.zeros_like(J)), 1)


# Centroidal momentum


def centroidal_momentum(s: Sample) -> Answer:
    return np.array(pin.computeCentroidalMomentum(s.model, s.data, s.q, s["v"]).vector)


def centroidal_momentum_rate(s: Sample) -> Answer:
    pin.computeCentroidalMomentumTimeVariation(s.model, s.data, s.q, s["v"], s["a"])
    return s.data.hg.vector.copy(), s.data.dhg.vector.copy()


def centroidal_momentum_matrix(s: Sample) -> Answer:
    return s.ours(pin.ccrba(s.model, s.data, s.q, np.zeros(s.model.nv)), 1)


def centroidal_momentum_matrix_dot(s: Sample) -> Answer:
    pin.dccrba(s.model, s.data, s.q, s["v"])
    return s.ours(s.data.Ag.copy(), 1), s.ours(s.data.dAg.copy(), 1)


def centroidal_momentum_derivatives(s: Sample) -> Answer:
    results = pin.computeCentroidalDynamicsDerivatives(s.model, s.data, s.q, s["v"], s["a"])
    return tuple(s.ours(x.copy(), 1) for x in results)
