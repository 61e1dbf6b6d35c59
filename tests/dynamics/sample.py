"""One state of a robot in Pinocchio's coordinates, and how its results become ours."""

from __future__ import annotations

import functools

import numpy as np

from ..model.pinocchio_models import pin  # noqa: TID252 (tests have no absolute name)
from .calls import Array, Inputs
from .example_robots import Robot

Answer = Array | tuple[Array, ...]


def symmetric(upper: Array) -> Array:
    """From its upper triangle."""
    return np.triu(upper) + np.triu(upper, 1).T


def jacobians(model: pin.Model, data: pin.Data, q: Array, frames: list[int]) -> Array:
    """(frames, 6, nv) at the frames' origins, world axes."""
    pin.computeJointJacobians(model, data, q)
    pin.updateFramePlacements(model, data)
    world = pin.LOCAL_WORLD_ALIGNED
    return np.array([pin.getFrameJacobian(model, data, i, world) for i in frames]).reshape(
        -1, 6, model.nv
    )


def turning_wrenches(
    model: pin.Model, data: pin.Data, q: Array, links: list[int], wrenches: Array | None
) -> Array:
    """What their dtau_dq lacks: it holds forces fixed in the bodies' axes, ours in the world's.

    Held in a link's axes, f changes by w x f under a turn w = J_w dq; ours stays, which is -w x f =
    [f] J_w dq more, and dtau = -J^T df.
    """
    out = np.zeros((model.nv, model.nv))
    if wrenches is not None:
        for J, wrench in zip(jacobians(model, data, q, links), wrenches, strict=True):
            for part in (slice(0, 3), slice(3, 6)):
                out -= J[part].T @ pin.skew(wrench[part]) @ J[3:]
    return out


class Sample:
    """State k of a robot with the inputs of a call.

    Attributes:
        given: our inputs at this state, by name.
        model, data, q: theirs.
        axes: their name of the axes that results about frames are in.
    """

    def __init__(self, robot: Robot, k: int, inputs: Inputs, *, local: bool) -> None:
        self.robot, self.k = robot, k
        self.model, self.data, self.q = robot.source, robot.data, robot.Q[k]
        self.given = {name: values[k] for name, values in inputs.items()}
        self.axes = pin.LOCAL if local else pin.LOCAL_WORLD_ALIGNED
        self.wrenches = self.given.get("wrenches")

    def __getitem__(self, name: str) -> Array:
        """A vector along the joints, as theirs."""
        return self.robot.G @ self.given[name]

    def ours(self, x: Array, *axes: int) -> Array:
        """A result of theirs, whose `axes` are along their joints."""
        return self.robot.reduced(np.asarray(x), list(axes))

    @functools.cached_property
    def forces(self) -> pin.StdVec_Force:
        """The wrenches on their bodies, in these' axes; ours are in world axes at links'
        origins."""
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
        """(links, 6, nv) of the links that wrenches act on, theirs, world axes."""
        return jacobians(
            self.model, self.data, self.q, [] if self.wrenches is None else self.robot.links
        )

    @property
    def turning_wrenches(self) -> Array:
        """What their dtau_dq lacks."""
        return turning_wrenches(self.model, self.data, self.q, self.robot.links, self.wrenches)

    def inverse_dynamics(self, a: Array) -> tuple[Array, Array]:
        """dtau_dq and dtau_dv at this acceleration of ours, in our coordinates."""
        args = self.model, self.data, self.q, self["v"], self.robot.G @ a
        dq, dv = (x.copy() for x in pin.computeRNEADerivatives(*args, self.forces)[:2])
        return self.ours(dq + self.turning_wrenches, 0, 1), self.ours(dv, 0, 1)

    @property
    def M(self) -> Array:
        """Mass matrix, ours."""
        return self.robot.M[self.k]

    @functools.cached_property
    def forward_dynamics(self) -> tuple[Array, Array, Array, Array]:
        """a, da_dq, da_dv and M^-1, in our coordinates; their algorithm has no mimic joints."""
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
