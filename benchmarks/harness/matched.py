"""A robot and its states in robosim and in Pinocchio, with coordinates matched by joint names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import robosim
from harness.robots import Robot


@dataclass(frozen=True, eq=False)
class States:
    """Random states in one side's coordinates: q (n, n_q) and v, a, tau (n, n_v)."""

    q: np.ndarray
    v: np.ndarray
    a: np.ndarray
    tau: np.ndarray


class Matched:
    """One URDF read by both sides.

    Args:
        robot: robot to read.

    Attributes:
        model: robosim's model.
        source: the peer's model, a `pinocchio.Model`.
        links: robosim's link that each of the peer's joints moves.
        v_order: (n_v,) index into robosim's v for each entry of the peer's.

    Raises:
        FileNotFoundError: the robot's file is absent.
    """

    def __init__(self, robot: Robot):
        import pinocchio as pin

        urdf = robot.urdf()
        base = "floating" if robot.floating else "fixed"
        self.source: Any = pin.buildModelFromXML(
            urdf, *([pin.JointModelFreeFlyer()] if robot.floating else [])
        )
        self.model = robosim.load_robot(urdf, base=base, srdf=False, joint_limits=False)
        self.model = self.model.with_gravity(self.source.gravity.linear)
        child = {joint.name: joint.child for joint in self.model.joints}
        self.links = [child.get(name, self.model.root_link) for name in list(self.source.names)[1:]]
        columns = [self._columns(i) for i in range(1, self.source.njoints)]
        self._q_columns = [q for q, _ in columns]
        self.v_order = np.concatenate([v for _, v in columns])
        if sorted(self.v_order) != list(range(self.model.n_v)):
            raise ValueError(f"{robot.name}: the two sides do not have the same joints")

    def _columns(self, joint: int) -> tuple[list[int], list[int]]:
        """Return the indices in robosim's q and v of the coordinates of a joint of the peer."""
        name = self.source.names[joint]
        if self.model.floating_base and joint == 1:
            name = self.model.joint_names[0]

        def find(names: tuple[str, ...]) -> list[int]:
            return [k for k, own in enumerate(names) if own.split("/")[0] == name]

        return find(self.model.position_names), find(self.model.velocity_names)

    def states(self, n: int, seed: int) -> tuple[States, States]:
        """Return random states in robosim's and in the peer's coordinates.

        Angles cover a whole turn, sliding joints and the base lie within 1 m, and the attitude is
        random; v, a and tau are standard normal.
        """
        rng = np.random.default_rng(seed)
        q = rng.uniform(-1.0, 1.0, (n, self.model.n_q))
        theirs = np.empty((n, self.source.nq))
        for joint, own in zip(list(self.source.joints)[1:], self._q_columns, strict=True):
            if len(own) == 7:
                attitude = rng.standard_normal((n, 4))
                q[:, own[3:]] = attitude / np.linalg.norm(attitude, axis=1, keepdims=True)
            elif "R" in joint.shortname().removeprefix("JointModel")[:1]:
                q[:, own] *= np.pi
            values = q[:, own]
            if joint.nq == len(own) + 1:  # a continuous joint is (cos, sin) there
                values = np.hstack([np.cos(values), np.sin(values)])
            theirs[:, joint.idx_q : joint.idx_q + joint.nq] = values
        v, a, tau = (rng.standard_normal((n, self.model.n_v)) for _ in range(3))
        permuted = (np.ascontiguousarray(values[:, self.v_order]) for values in (v, a, tau))
        return States(q, v, a, tau), States(theirs, *permuted)

    def ours(self, theirs: np.ndarray, axes: Sequence[int]) -> np.ndarray:
        """Reorder a result of the peer to robosim's coordinates, which run along these axes."""
        order = [
            self.v_order if k in axes else np.arange(size) for k, size in enumerate(theirs.shape)
        ]
        out = np.empty_like(theirs)
        out[np.ix_(*order)] = theirs
        return out
