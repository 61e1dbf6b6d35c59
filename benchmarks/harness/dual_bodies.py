"""Articulated bodies in dual numbers: poses, Jacobians, mass matrix and bias of a model.

All follow from the definitions, independently of the engine's recursions, which can so be compared
with them: M = sum J^T I J over all links. The bias follows from the accelerations of the links at
constant entries of v. (step.h: free motion keeps v constant in the axes at the start.)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from harness.dual import Array, Dual, cross, skew, turned_about, turned_by
from robosim.model import Joint, Model


@dataclass
class Link:
    """A link, or the world: its frame L, expressed in W.

    Attributes:
        R, p: pose.
        J_w, J_v: (3, n_v) Jacobians of its angular velocity, and of its origin's velocity.
        w, v: angular velocity, and velocity of its origin.
        a_w, a_v: derivatives of w and v in time while the entries of the model's v, in the axes at
            the start, are constant.
    """

    R: Dual
    p: Dual
    J_w: Dual
    J_v: Dual
    w: Dual
    v: Dual
    a_w: Dual
    a_v: Dual


class DualBodies:
    """Links, mass matrix and bias at a state.

    Args:
        model: with fixed, revolute, continuous, prismatic, planar or floating joints, the latter
            two from the world.
        q: (n_q,) configuration.
        dq: (n_v, k) its rates, along v.
        v: (n_v,) velocity.
    """

    def __init__(self, model: Model, q: Array, dq: Array, v: Dual):
        self._model, self._q, self._dq, self._v = model, q, dq, v
        n, k = model.n_v, dq.shape[-1]
        zero, no_columns = Dual.constant(np.zeros(3), k), Dual.constant(np.zeros((3, n)), k)
        world = Link(
            Dual.constant(np.eye(3), k), zero, no_columns, no_columns, zero, zero, zero, zero
        )
        root = model.root_link
        self.links = {root: self._freely(world, np.eye(4), 0, 0) if model.floating_base else world}
        waiting = list(model.joints)
        while waiting:
            joint = next(j for j in waiting if j.parent in self.links)
            waiting.remove(joint)
            self.links[joint.child] = self._moved(self.links[joint.parent], joint)
        self.M, self.bias = self._sums()

    def _places(self, joint: Joint) -> tuple[int, int]:
        """Return the indices of the joint's first entries in q and v."""
        begins = [joint.name, f"{joint.name}/x", f"{joint.name}/vx"]
        q = next(i for i, name in enumerate(self._model.position_names) if name in begins)
        return q, next(i for i, name in enumerate(self._model.velocity_names) if name in begins)

    def _moved(self, parent: Link, joint: Joint) -> Link:
        """Return the child of a joint."""
        if joint.kind == "floating":
            return self._freely(parent, joint.X_PJ, *self._places(joint))
        if joint.kind == "planar":
            return self._in_plane(parent, joint, *self._places(joint))
        R_J = parent.R @ joint.X_PJ[:3, :3]
        at = parent.p + parent.R @ joint.X_PJ[:3, 3]
        if joint.kind == "fixed":
            return _carried(parent, R_J, at)
        assert joint.kind in ("revolute", "continuous", "prismatic"), joint.kind
        own, ratio, offset = joint, 1.0, 0.0
        joints = {j.name: j for j in self._model.joints}
        while own.mimic is not None:
            offset += ratio * own.mimic.offset
            ratio *= own.mimic.multiplier
            own = joints[own.mimic.source]
        i, c = self._places(own)
        position = Dual(ratio * self._q[i] + offset, ratio * self._dq[c])
        axis, rate = R_J @ joint.axis, ratio * self._v[c]
        if joint.kind == "prismatic":
            child = _carried(parent, R_J, at + position * axis)
            child.J_v[:, c] = child.J_v[:, c] + ratio * axis
            child.v = child.v + rate * axis
            child.a_v = child.a_v + 2 * cross(parent.w, rate * axis)
            return child
        child = _carried(parent, R_J @ turned_about(joint.axis, position), at)
        child.J_w[:, c] = child.J_w[:, c] + ratio * axis
        child.w = child.w + rate * axis
        child.a_w = child.a_w + cross(parent.w, rate * axis)
        return child

    def _freely(self, parent: Link, X_PJ: Array, i: int, c: int) -> Link:
        """Return the child of a floating joint from the world.

        Its position is a point and a quaternion, its velocity a twist in its own axes.
        """
        x, y, z, s = self._q[i + 3 : i + 7] / np.linalg.norm(self._q[i + 3 : i + 7])
        turn = turned_by(Dual(np.zeros(3), self._dq[c + 3 : c + 6]))
        R_q = 2 * np.array(
            [[x * x + s * s, x * y - s * z, x * z + s * y],
                [x * y + s * z, y * y + s * s, y * z - s * x],
             [x * z - s * y, y * z + s * x, z * z + s * s]]
        ) - np.eye(3)  # fmt: skip
        R = (parent.R @ X_PJ[:3, :3]) @ (R_q @ turn)
        step = Dual(self._q[i : i + 3], np.tensordot(R_q, self._dq[c : c + 3], 1))
        child = _carried(parent, R, parent.p + parent.R @ (X_PJ[:3, 3] + X_PJ[:3, :3] @ step))
        child.J_v[:, c : c + 3], child.J_w[:, c + 3 : c + 6] = R, R
        child.v, child.w = R @ self._v[c : c + 3], R @ self._v[c + 3 : c + 6]
        return child

    def _in_plane(self, parent: Link, joint: Joint, i: int, c: int) -> Link:
        """Return the child of a planar joint from the world.

        Its position is x, y and an angle; its velocity is in its own axes.
        """
        n = joint.axis
        e = plane_axes(n)
        s, k = np.sin(self._q[i + 2]), np.cos(self._q[i + 2])
        moving = np.array([[k, -s], [s, k]]) @ self._dq[c : c + 2]
        step = e.T @ Dual(self._q[i : i + 2], moving)
        R_J = parent.R @ joint.X_PJ[:3, :3]
        R = R_J @ turned_about(n, Dual(self._q[i + 2], self._dq[c + 2]))
        child = _carried(
            parent, R, parent.p + parent.R @ (joint.X_PJ[:3, 3] + joint.X_PJ[:3, :3] @ step)
        )
        child.J_v[:, c : c + 2], child.J_w[:, c + 2] = R @ e.T, R @ n
        child.v, child.w = R @ (e.T @ self._v[c : c + 2]), (R @ n) * self._v[c + 2]
        return child

    def _sums(self) -> tuple[Dual, Dual]:
        model, k = self._model, self._dq.shape[-1]
        gravity = model._engine.gravity
        M = Dual.constant(np.diag(model.armature), k)
        bias = Dual.constant(np.zeros(model.n_v), k)
        for link in model.links:
            at = self.links[link.name]
            arm = at.R @ link.com
            J = at.J_v - skew(arm) @ at.J_w
            inertia = at.R @ link.inertia @ at.R.T
            a = at.a_v + cross(at.a_w, arm) + cross(at.w, cross(at.w, arm))
            M = M + link.mass * (J.T @ J) + at.J_w.T @ (inertia @ at.J_w)
            moment = inertia @ at.a_w + cross(at.w, inertia @ at.w)
            bias = bias + link.mass * (J.T @ (a - gravity)) + at.J_w.T @ moment
        return M, bias

    def advanced(self, dt: float, way: Dual, v: Dual) -> tuple[Dual, Dual]:
        """Return q and v after a step; v is expressed in the axes at the end.

        q is in the tangent space at the end, with its rates alone.

        Args:
            dt: length of the step [s].
            way: (n_v,) velocity by which q moves on, in the axes at the start.
            v: (n_v,) the new velocity, likewise.
        """
        rates, after = dt * way.d + self._dq, Dual(v.x.copy(), v.d.copy())
        planar = [self._places(j)[1] for j in self._model.joints if j.kind == "planar"]
        floating = [self._places(j)[1] for j in self._model.joints if j.kind == "floating"]
        for c in planar:
            angle = dt * way[c + 2]
            turn = turned_about(np.array([0.0, 0.0, 1.0]), angle)[:2, :2]
            moved = self._dq[c : c + 2] + dt * way.d[c : c + 2]
            moved = moved + np.outer([-dt * way.x[c + 1], dt * way.x[c]], self._dq[c + 2])
            rates[c : c + 2] = turn.x.T @ moved
            after[c : c + 2] = turn.T @ v[c : c + 2]
        for c in [0] * self._model.floating_base + floating:
            turn = turned_by(dt * way[c + 3 : c + 6])
            moved = self._dq[c : c + 3] + dt * way.d[c : c + 3]
            moved = moved + dt * np.cross(
                self._dq[c + 3 : c + 6], way.x[c : c + 3][:, None], axis=0
            )
            rates[c : c + 3] = turn.x.T @ moved
            spin = np.tensordot(turn.x.T, turn.d, 1)
            spun = (
                np.stack(
                    [spin[2, 1] - spin[1, 2], spin[0, 2] - spin[2, 0], spin[1, 0] - spin[0, 1]]
                )
                / 2
            )
            rates[c + 3 : c + 6] = turn.x.T @ self._dq[c + 3 : c + 6] + spun
            after[c : c + 3] = turn.T @ v[c : c + 3]
        return Dual(np.zeros_like(v.x), rates), after


def plane_axes(n: Array) -> Array:
    """Axes (2, 3) of a planar joint: x and y if its normal is z."""
    sign = np.copysign(1.0, n[2])
    a = -1 / (sign + n[2])
    return np.array(
        [
            [1 + sign * n[0] ** 2 * a, sign * n[0] * n[1] * a, -sign * n[0]],
            [n[0] * n[1] * a, sign + n[1] ** 2 * a, -n[1]],
        ]
    )


def _carried(parent: Link, R: Dual, p: Dual) -> Link:
    """Return a frame fixed to a link."""
    arm = p - parent.p
    return Link(
        R, p,
        Dual(parent.J_w.x.copy(), parent.J_w.d.copy()), parent.J_v - skew(arm) @ parent.J_w,
        parent.w, parent.v + cross(parent.w, arm),
        parent.a_w, parent.a_v + cross(parent.a_w, arm) + cross(parent.w, cross(parent.w, arm)),
    )  # fmt: skip


def point_jacobian(link: Link, p: Dual) -> Dual:
    """Jacobian (3, n_v) of the velocity of the link's point at p in W."""
    return link.J_v - skew(p - link.p) @ link.J_w


def twist_of(link: Link, X_LF: Array) -> Array:
    """Rates (6, k) of the pose of a frame fixed to a link.

    The rates are [linear; angular] in the axes of that frame.
    """
    R, p = link.R @ X_LF[:3, :3], link.p + link.R @ X_LF[:3, 3]
    spin = np.tensordot(R.x.T, R.d, 1)
    return np.concatenate([R.x.T @ p.d, np.stack([spin[2, 1], spin[0, 2], spin[1, 0]])])
