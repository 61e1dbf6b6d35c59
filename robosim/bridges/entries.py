"""Gradients by the entries of q, as frameworks have them, from those in its tangent space, and back.

What moves freely has more entries in q than in v: its quaternion. Any quaternion but zero stands for a rotation, scaled
to unit length, so functions of q are functions of all of its entries, and a gradient by these is a plain one:

    v = T(q) dq,   so that t_bar in the tangent space is T(q)^T t_bar by the entries: across a quaternion, not along it;
    dq = N(q) v,   so that q_bar by the entries is N(q)^T q_bar in the tangent space.

For a floating joint, with R the rotation of its quaternion (u, w) of length l,

    T = [R^T, 0; 0, 2 (w 1 - [u]x, -u) / l^2],   N = [R, 0; 0, (w 1 + [u]x; -u^T) / 2].

For a planar joint both turn x and y by theta. All others have T = N = 1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from robosim.model import Model

__all__ = ["from_entries", "to_entries"]

Array = NDArray[np.float64]
_SIZES = {"floating": (7, 6), "planar": (3, 3)}  # entries of q and v; all others have one of each


def to_entries(model: Model, q: Array, t_bar: Array) -> Array:
    """(..., n_q) T(q)^T t_bar.

    Args:
        model: whose q it is.
        q: (..., n_q) where; quaternions of any length but zero.
        t_bar: (..., n_v) gradients in the tangent space.
    """
    return _joint_by_joint(model, q, t_bar, model.n_q, is_to_entries=True)


def from_entries(model: Model, q: Array, q_bar: Array) -> Array:
    """(..., n_v) N(q)^T q_bar.

    Args:
        model: whose q it is.
        q: (..., n_q) where; quaternions of unit length.
        q_bar: (..., n_q) gradients by the entries of q.
    """
    return _joint_by_joint(model, q, q_bar, model.n_v, is_to_entries=False)


def _joint_by_joint(model: Model, q: Array, given: Array, size: int, *, is_to_entries: bool) -> Array:
    kinds: dict[str, str] = {joint.name: joint.kind for joint in model.joints}
    widths = [_SIZES.get(kinds[name], (1, 1)) for name in model.joint_names]
    if all(width == (1, 1) for width in widths):
        return np.array(given)
    out: Array = np.empty((*np.broadcast_shapes(q.shape[:-1], given.shape[:-1]), size))
    i = j = 0  # first entries of the joint in q and v
    for n_q, n_v in widths:
        at_q, at_v = slice(i, i + n_q), slice(j, j + n_v)
        source, target = (at_v, at_q) if is_to_entries else (at_q, at_v)
        to, x = out[..., target], given[..., source]
        if n_q == 7:
            (_floating_to if is_to_entries else _floating_from)(q[..., at_q], x, to)
        elif n_q == 3:
            _planar(q[..., i + 2], x, to, sign=1 if is_to_entries else -1)
        else:
            to[...] = x
        i, j = i + n_q, j + n_v
    return out


def _floating_to(q: Array, t_bar: Array, out: Array) -> None:
    u, w = q[..., 3:6], q[..., 6:]
    square = (q[..., 3:] ** 2).sum(axis=-1, keepdims=True)
    turn = t_bar[..., 3:]
    out[..., :3] = _rotated(u, w, t_bar[..., :3], square)
    out[..., 3:6] = 2 / square * (w * turn + np.cross(u, turn))
    out[..., 6:] = -2 / square * (u * turn).sum(axis=-1, keepdims=True)


def _floating_from(q: Array, q_bar: Array, out: Array) -> None:
    u, w = q[..., 3:6], q[..., 6:]
    square = (q[..., 3:] ** 2).sum(axis=-1, keepdims=True)
    u_bar, w_bar = q_bar[..., 3:6], q_bar[..., 6:]
    out[..., :3] = _rotated(-u, w, q_bar[..., :3], square)
    out[..., 3:] = (w * u_bar - np.cross(u, u_bar) - w_bar * u) / 2


def _rotated(u: Array, w: Array, x: Array, square: Array) -> Array:
    """x turned by the quaternion (u, w) of this squared length."""
    turned: Array = x + 2 / square * (w * np.cross(u, x) + np.cross(u, np.cross(u, x)))
    return turned


def _planar(theta: Array, x: Array, out: Array, *, sign: int) -> None:
    c, s = np.cos(theta), sign * np.sin(theta)
    out[..., 0] = c * x[..., 0] - s * x[..., 1]
    out[..., 1] = s * x[..., 0] + c * x[..., 1]
    out[..., 2] = x[..., 2]
