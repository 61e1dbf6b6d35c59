"""One state of a robot in Pinocchio's coordinates, and conversion of results to robosim's."""

from __future__ import annotations

import functools

import numpy as np

from ..model.pinocchio_models import pin  # noqa: TID252 (tests have no absolute name)
from .calls import Array, Inputs
from .example_robots import Robot

Answer = Array | tuple[Array, ...]


def symmetric(upper: Array) -> Array:
    """Symmetric matrix from its upper triangle."""
    return np.triu(upper) + np.triu(upper, 1).T


def jacobians(model: pin.Model, data: pin.Data, q: Array, frames: list[int]) -> Array:
    """(frames, 6, nv) Jacobians at the frames' origins, world axes."""
    pin.computeJointJacobians(model, data, q)
    pin.updateFramePlacements(model, data)
    world = pin.LOCAL_WORLD_ALIGNED
    return np.array([pin.getFrameJacobian(model, data, i, world) for i in frames]).reshape(
        -1, 6, model.nv
    )


def turning_wrenches(
    model: pin.Model, data: pin.Data, q: Array, links: list[int], wrenches: Array | None
) -> Array:
    """Part missing in Pinocchio's dtau_dq, as its forces turn with the bodies.

    Robosim holds forces fixed in world axes. Under a turn w = J_w dq, a force fixed in a link's
    axes changes by w x f. A force fixed in world axes lacks this change, which adds -w x f = [f]
    J_w dq. Then dtau = -J^T df.
    """
    out = np.zeros((model.nv, model.nv))
    if wrenches is not None:
        for J, wrench in zip(jacobians(model, data, q, links), wrenches, strict=True):
            for part in (slice(0, 3), slice(3, 6)):
                out -= J[part].T @ pin.skew(wrench[part]) @ J[3:]
    return out


class Sample:
    """State k of a robot, with the inputs of a call.

    Attributes:
        given: robosim's inputs at this state, by name.
        model, data, q: Pinocchio's.
        axes: Pinocchio's constant for the axes of results about frames.
    """

    def __init__(self, robot: Robot, k: int, inputs: Inputs, *, local: bool) -> None:
        self.robot, self.k = robot, k
        self.model, self.data, self.q = robot.source, robot.data, robot.Q[k]
        self.given = {name: values[k] for name, values in inputs.items()}
        self.axes = pin.LOCAL if local else pin.LOCAL_WORLD_ALIGNED
        self.wrenches = self.given.get("wrenches")

    def __getitem__(self, name: str) -> Array:
        """Vector along the joints, in Pinocchio's coordinates."""
        return self.robot.G @ self.given[name]

    def ours(self, x: Array, *axes: int) -> Array:
        """Pinocchio's result in robosim's coordinates; `axes` are the axes along the joints."""
        return self.robot.reduced(np.asarray(x), list(axes))

    @functools.cached_property
    def forces(self) -> pin.StdVec_Force:
        """Wrenches on Pinocchio's bodies, in the bodies' axes.

        Robosim's wrenches are in world axes at the links' origins.
        """
        if self.wrenches is None:
            return self.robot.no_forces
        out = pin.StdVec_Force(self.robot.no_forces)
        pin.framesForwardKinematics(self.model, self.data, self.q)
        for i, wrench in zip(self.robot.links, self.wrenches, strict=True):
            frame = self.model.frames[i]
            R = self.data.oMf[i].rotation
            local = pin.Force(R.T @ wrench[:3], R.T @ wrench[3:])
            out[frame.parentJoint] = out[frame.parentJoint] + frame.placement.act(local)
        return out

    @property
    def link_jacobians(self) -> Array:
        """(links, 6, nv) Pinocchio's Jacobians of the links that wrenches act on, world axes."""
        return jacobians(
            self.model, self.data, self.q, [] if self.wrenches is None else self.robot.links
        )

    @property
    def turning_wrenches(self) -> Array:
        """Part missing in Pinocchio's dtau_dq, see the function of this name."""
        return turning_wrenches(self.model, self.data, self.q, self.robot.links, self.wrenches)

    def inverse_dynamics(self, a: Array) -> tuple[Array, Array]:
        """dtau_dq and dtau_dv at robosim's acceleration a, in robosim's coordinates."""
        args = self.model, self.data, self.q, self["v"], self.robot.G @ a
        dq, dv = (x.copy() for x in pin.computeRNEADerivatives(*args, self.forces)[:2])
        return self.ours(dq + self.turning_wrenches, 0, 1), self.ours(dv, 0, 1)

    @property
    def M(self) -> Array:
        """Mass matrix, in robosim's coordinates."""
        return self.robot.M[self.k]

    @functools.cached_property
    def forward_dynamics(self) -> tuple[Array, Array, Array, Array]:
        """Acceleration a, da_dq, da_dv and M^-1, in robosim's coordinates.

        Pinocchio's algorithm has no mimic joints.
        """
        if self.robot.follows:
            h = pin.rnea(
                self.model, self.data, self.q, self["v"], np.zeros(self.model.nv), self.forces
            )
            M_inverse = np.linalg.inv(self.M)
            a = np.linalg.solve(self.M, self.given["tau"] - self.ours(h, 0))
            dq, dv = self.inverse_dynamics(a)
            return a, -M_inverse @ dq, -M_inverse @ dv, M_inverse
        args = self.model, self.data, self.q, self["v"], self["tau"]
        dq, dv, M_inverse = (x.copy() for x in pin.computeABADerivatives(*args, self.forces))
        M_inverse = symmetric(M_inverse)
        a = self.data.ddq.copy()
        dq -= M_inverse @ self.turning_wrenches
        return self.ours(a, 0), self.ours(dq, 0, 1), self.ours(dv, 0, 1), self.ours(M_inverse, 0, 1)
