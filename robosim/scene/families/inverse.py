"""Inverse kinematics of one pose from one guess, by Levenberg-Marquardt steps.

    dq = J^T (J J^T + mu I)^-1 e,    e = (p_WT* - p_WT, log(R_WT* R_WT^T)),    mu shrinking with |e|^2

J (6, n) is the Jacobian of the tip at its origin in world axes. A guess that has not converged after
40 steps is given up: the caller has others.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from robosim.model import Model

__all__ = ["solve_pose"]

_STEPS = 40
_LARGEST_STEP = 0.7  # [rad] of any joint
_TOLERANCE = 1e-7  # [m and rad together]


def solve_pose(
    model: Model, link: str, X_WT: NDArray[np.float64], q: NDArray[np.float64], columns: Sequence[int]
) -> NDArray[np.float64] | None:
    """A configuration within limits that brings `link` to X_WT (4, 4) by moving q[columns], or None."""
    q, moving = q.copy(), list(columns)
    lower, upper = model.limits.lower[moving], model.limits.upper[moving]
    for _ in range(_STEPS):
        X = model.frame_pose(q, link)
        error = np.concatenate([X_WT[:3, 3] - X[:3, 3], _rotation_vector(X_WT[:3, :3] @ X[:3, :3].T)])
        if np.linalg.norm(error) < _TOLERANCE:
            return q
        J = model.jacobian(q, link)[:, moving]
        damping = 1e-3 * min(1.0, float(error @ error)) + 1e-9
        step = J.T @ np.linalg.solve(J @ J.T + damping * np.eye(6), error)
        step *= min(1.0, _LARGEST_STEP / float(np.abs(step).max()))
        q[moving] = np.clip(q[moving] + step, lower, upper)
    return None


def _rotation_vector(R: NDArray[np.float64]) -> NDArray[np.float64]:
    """log(R) as a vector: axis times angle, the angle below pi."""
    w: NDArray[np.float64] = np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]]) / 2
    sine, cosine = float(np.linalg.norm(w)), (float(np.trace(R)) - 1) / 2
    return w * (np.arctan2(sine, cosine) / sine) if sine > 1e-9 else w
