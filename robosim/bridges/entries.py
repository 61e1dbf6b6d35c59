"""Conversion between gradients by the entries of q, as frameworks use, and in its tangent space.

A free body has more entries in q than in v, because of its quaternion. Any quaternion but zero
represents a rotation, after normalization. Functions of q are hence functions of all of its
entries, with ordinary gradients:

    v = T(q) dq,   so t_bar in the tangent space becomes T(q)^T t_bar by the entries, which is
                   perpendicular to each quaternion;
    dq = N(q) v,   so q_bar by the entries becomes N(q)^T q_bar in the tangent space.

For a floating joint with quaternion (u, w) of length l and its rotation matrix R,

    T = [R^T, 0; 0, 2 (w 1 - [u]x, -u) / l^2],   N = [R, 0; 0, (w 1 + [u]x; -u^T) / 2].

For a planar joint, T and N rotate x and y by theta. For all other joints T = N = 1.
"""

from __future__ import annotations

from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from robosim.model import Model

__all__ = ["from_entries", "to_entries"]

Array = NDArray[np.float64]
Index = NDArray[np.intp]
_NEXT, _LAST = np.array([1, 2, 0]), np.array([2, 0, 1])
_FLOATING = 7  # entries of q; a planar joint has 3, all others 1


def to_entries(model: Model, q: Array, t_bar: Array) -> Array:
    """Convert gradients to the entries of q: (..., n_q) T(q)^T t_bar.

    Args:
        model: model of q.
        q: (..., n_q) configuration; quaternions of any length but zero.
        t_bar: (..., n_v) gradients in the tangent space.
    """
    return _joint_by_joint(model, q, t_bar, model.n_q, is_to_entries=True)


def from_entries(model: Model, q: Array, q_bar: Array) -> Array:
    """Convert gradients to the tangent space: (..., n_v) N(q)^T q_bar.

    Args:
        model: model of q.
        q: (..., n_q) configuration; quaternions of unit length.
        q_bar: (..., n_q) gradients by the entries of q.
    """
    return _joint_by_joint(model, q, q_bar, model.n_v, is_to_entries=False)


class _Places(NamedTuple):
    """Indices of the entries of the joints."""

    plain: tuple[Index, Index]
    """Indices in q and in v of the joints with one entry."""
    several: list[tuple[int, slice, slice]]
    """Number of entries in q, slice of q and slice of v, for each of the other joints."""


_places: WeakKeyDictionary[Model, _Places] = WeakKeyDictionary()


def _places_of(model: Model) -> _Places:
    found = _places.get(model)
    if found is None:
        joints = [joint for joint in model._engine.joints[1:] if not joint.mimic]
        q, v = [joint.q_index for joint in joints], [joint.v_index for joint in joints]
        n_q, n_v = np.diff([*q, model.n_q]), np.diff([*v, model.n_v])
        several = [
            (int(n_q[k]), slice(q[k], q[k] + n_q[k]), slice(v[k], v[k] + n_v[k]))
            for k in np.flatnonzero(n_q > 1)
        ]
        found = _Places(
            (np.array(q, dtype=np.intp)[n_q == 1], np.array(v, dtype=np.intp)[n_q == 1]), several
        )
        _places[model] = found
    return found


def _joint_by_joint(
    model: Model, q: Array, given: Array, size: int, *, is_to_entries: bool
) -> Array:
    places = _places_of(model)
    out: Array = np.empty((*np.broadcast_shapes(q.shape[:-1], given.shape[:-1]), size))
    target, source = places.plain if is_to_entries else places.plain[::-1]
    out[..., target] = given[..., source]
    for n_q, at_q, at_v in places.several:
        target_at, source_at = (at_q, at_v) if is_to_entries else (at_v, at_q)
        to, x = out[..., target_at], given[..., source_at]
        if n_q == _FLOATING:
            (_floating_to if is_to_entries else _floating_from)(q[..., at_q], x, to)
        else:
            _planar(q[..., at_q][..., 2], x, to, sign=1 if is_to_entries else -1)
    return out


def _floating_to(q: Array, t_bar: Array, out: Array) -> None:
    u, w = q[..., 3:6], q[..., 6:]
    square = (q[..., 3:] ** 2).sum(axis=-1, keepdims=True)
    turn = t_bar[..., 3:]
    out[..., :3] = _rotated(u, w, t_bar[..., :3], square)
    out[..., 3:6] = 2 / square * (w * turn + _cross(u, turn))
    out[..., 6:] = -2 / square * (u * turn).sum(axis=-1, keepdims=True)


def _floating_from(q: Array, q_bar: Array, out: Array) -> None:
    u, w = q[..., 3:6], q[..., 6:]
    square = (q[..., 3:] ** 2).sum(axis=-1, keepdims=True)
    u_bar, w_bar = q_bar[..., 3:6], q_bar[..., 6:]
    out[..., :3] = _rotated(-u, w, q_bar[..., :3], square)
    out[..., 3:] = (w * u_bar - _cross(u, u_bar) - w_bar * u) / 2


def _cross(x: Array, y: Array) -> Array:
    """Cross product, several times as fast as NumPy's for few vectors."""
    product: Array = x[..., _NEXT] * y[..., _LAST] - x[..., _LAST] * y[..., _NEXT]
    return product


def _rotated(u: Array, w: Array, x: Array, square: Array) -> Array:
    """Rotate x by the quaternion (u, w) with this squared length."""
    across = _cross(u, x)
    turned: Array = x + 2 / square * (w * across + _cross(u, across))
    return turned


def _planar(theta: Array, x: Array, out: Array, *, sign: int) -> None:
    c, s = np.cos(theta), sign * np.sin(theta)
    out[..., 0] = c * x[..., 0] - s * x[..., 1]
    out[..., 1] = s * x[..., 0] + c * x[..., 1]
    out[..., 2] = x[..., 2]
