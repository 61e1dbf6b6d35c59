"""Inverse kinematics of one pose from one guess: Levenberg-Marquardt steps dq = J^T (J J^T + mu I)^-1 e."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from robosim.model import Model

__all__ = ["solve_pose"]


def solve_pose(model: Model, link: str, X_WT: NDArray[np.float64], q: NDArray[np.float64], columns: Sequence[int]) -> NDArray[np.float64] | None:
    q = q.copy()
    lo, hi = model.limits.lower[list(columns)], model.limits.upper[list(columns)]
    for _ in range(40):
        X = model.frame_pose(q, link)
        R = X_WT[:3, :3] @ X[:3, :3].T
        w = np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]]) / 2
        s = np.linalg.norm(w); c = (np.trace(R) - 1) / 2
        a = np.arctan2(s, c)
        w = w * (a / s) if s > 1e-9 else w
        e = np.concatenate([X_WT[:3, 3] - X[:3, 3], w])
        if np.linalg.norm(e) < 1e-7:
            return q
        J = model.jacobian(q, link)[:, list(columns)]
        mu = 1e-3 * min(1, e @ e) + 1e-9
        dq = J.T @ np.linalg.solve(J @ J.T + mu * np.eye(6), e)
        n = np.abs(dq).max()
        q[list(columns)] = np.clip(q[list(columns)] + dq * min(1, 0.7 / n), lo, hi)
    return None
