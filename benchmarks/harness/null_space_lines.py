"""Short straight lines of a Panda, and an exhaustive test of whether its joints can follow them.

For a given joint 7 the other joints have a closed form (the idea of He and Liu, "Analytical inverse
kinematics for Franka Emika Panda", RCAR 2021; derived independently here). Axes 1 to 3 intersect at
the shoulder S, axes 5 and 6 at the wrist W, and the offsets of the elbow lie in the plane of S, the
elbow and W. The distance of S and W therefore determines joint 4. The rotation of the plane about
SW follows from axis 6 being perpendicular to axis 5. The remaining joints are Euler angles. Joint
4, the rotation and the shoulder have two solutions each: eight branches.

At every rung of the line a grid over joint 7 yields all configurations. Neighbors, on the grid or
from rung to rung, that are within limits and free are connected if no joint moves by more than a
step. A line can be followed if the last rung is connected with the start. Jacobians, null spaces
and the planner are not used here.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from robosim.model import Model
from robosim.scene import Scene

__all__ = ["can_be_followed", "configurations", "random_lines"]

FloatArray = NDArray[np.float64]
SHOULDER, UPPER, FOREARM, ELBOW, HAND, FLANGE = 0.333, 0.316, 0.384, 0.0825, 0.088, 0.107  # [m]
GRID = 0.005  # of joint 7 [rad]
RUNG = 0.003  # [m]
# Largest motion of a joint between two neighbors [rad]. A larger value would allow jumps between
# branches.
STEP = 0.1


def random_lines(
    model: Model, link: str, n: int, seed: int = 0
) -> Iterator[tuple[FloatArray, FloatArray]]:
    """Yield free configurations, and a link's pose moved by 0.1 to 0.3 m in a random direction."""
    rng = np.random.default_rng(seed)
    scene = Scene().compile(model)
    while n > 0:
        q = model.random_configuration(rng)
        direction = rng.normal(size=3)
        length = rng.uniform(0.1, 0.3)
        if scene.collides(q):
            continue
        X = model.frame_pose(q, link).copy()
        X[:3, 3] += length * direction / np.linalg.norm(direction)
        n -= 1
        yield q, X


def _about(axis: int, angle: FloatArray) -> FloatArray:
    """Rotations (..., 3, 3) about a coordinate axis."""
    a, b = (axis + 1) % 3, (axis + 2) % 3
    R = np.zeros((*np.shape(angle), 3, 3))
    R[..., axis, axis] = 1
    R[..., a, a] = R[..., b, b] = np.cos(angle)
    R[..., b, a] = np.sin(angle)
    R[..., a, b] = -R[..., b, a]
    return R


def configurations(X: FloatArray, q7: FloatArray) -> FloatArray:
    """Configurations (8, m, 7) with the flange at X (4, 4) and joint 7 at q7 (m,).

    NaN where a branch has no solution.
    """
    quarter = _about(0, np.array(np.pi / 2))
    R7, p = X[:3, :3], X[:3, 3]
    R6 = R7 @ np.swapaxes(_about(2, q7), 1, 2) @ quarter.T
    W = p - FLANGE * R7[:, 2] - HAND * R6[:, :, 0]
    to_wrist = W - [0, 0, SHOULDER]
    D = np.linalg.norm(to_wrist, axis=1)
    u = to_wrist / D[:, None]
    K = UPPER**2 + FOREARM**2 + 2 * ELBOW**2
    P, Q = 2 * (UPPER * FOREARM - ELBOW**2), -2 * ELBOW * (UPPER + FOREARM)
    out = np.full((8, len(q7), 7), np.nan)
    e1 = np.cross(u, np.where(np.abs(u[:, :1]) < 0.7, [[1.0, 0, 0]], [[0, 1.0, 0]]))
    e1 /= np.linalg.norm(e1, axis=1)[:, None]
    e2 = np.cross(u, e1)
    z6 = R6[:, :, 2]
    branch = 0
    with np.errstate(invalid="ignore", divide="ignore"):
        for sign4 in (1, -1):
            q4 = np.arctan2(Q, P) + sign4 * np.arccos((D**2 - K) / np.hypot(P, Q))
            s, c = np.sin(q4), np.cos(q4)
            # Vector from S to W along axes x3 and z3.
            x, z = ELBOW - ELBOW * c - FOREARM * s, UPPER - ELBOW * s + FOREARM * c
            # z5 = along u + across n, perpendicular to z6; n = cos(phi) e1 + sin(phi) e2.
            along, across = (c * z - s * x) / D, (s * z + c * x) / D
            a, b = across * (e1 * z6).sum(1), across * (e2 * z6).sum(1)
            turn = np.arccos(-along * (u * z6).sum(1) / np.hypot(a, b))
            for sign_turn in (1, -1):
                phi = np.arctan2(b, a) + sign_turn * turn
                n = np.cos(phi)[:, None] * e1 + np.sin(phi)[:, None] * e2
                x3 = (x[:, None] * u - z[:, None] * n) / D[:, None]
                z3 = (z[:, None] * u + x[:, None] * n) / D[:, None]
                R3 = np.stack([x3, np.cross(z3, x3), z3], axis=2)
                M = np.swapaxes(R3 @ quarter @ _about(2, q4), 1, 2) @ R6
                q5, q6 = np.arctan2(M[:, 0, 2], M[:, 2, 2]), np.arctan2(M[:, 1, 0], M[:, 1, 1])
                for sign2 in (1, -1):
                    q2 = sign2 * np.arccos(np.clip(R3[:, 2, 2], -1, 1))
                    q1 = np.arctan2(sign2 * R3[:, 1, 2], sign2 * R3[:, 0, 2])
                    q3 = np.arctan2(sign2 * R3[:, 2, 1], -sign2 * R3[:, 2, 0])
                    q = np.stack([q1, q2, q3, q4, q5, q6, q7], axis=1)
                    q[:, :6] = np.remainder(q[:, :6] + np.pi, 2 * np.pi) - np.pi
                    q[:, 5] = np.where(
                        q[:, 5] < -0.5, q[:, 5] + 2 * np.pi, q[:, 5]
                    )  # its limits are -1 to 215 degrees
                    out[branch] = q
                    branch += 1
    out[np.isnan(out).any(axis=2)] = np.nan
    return out


def can_be_followed(model: Model, link: str, start: FloatArray, X: FloatArray) -> bool:
    """Search for a motion that takes the link along the line from start (n_q,) to X.

    The motion has to be within limits and free.
    """
    scene = Scene().compile(model)
    X0 = model.frame_pose(start, link)
    lower, upper = model.limits.lower[:7], model.limits.upper[:7]
    grid = np.sort(np.append(np.arange(lower[6], upper[6], GRID), start[6]))
    rungs = int(np.ceil(np.linalg.norm(X[:3, 3] - X0[:3, 3]) / RUNG))
    reached: NDArray[np.bool_] | None = None
    before = np.empty(0)
    for k in range(rungs + 1):
        pose = X0.copy()
        pose[:3, 3] += k / rungs * (X[:3, 3] - X0[:3, 3])
        q = configurations(pose, grid)
        valid = np.isfinite(q).all(axis=2)
        valid[valid] &= ((q[valid] >= lower) & (q[valid] <= upper)).all(axis=1)
        full = np.tile(start, (int(valid.sum()), 1))
        full[:, :7] = q[valid]
        if k % 20 == 0 and len(full):  # check of the closed form itself
            assert np.abs(model.frame_pose(full[0], link) - pose).max() < 1e-6
        valid[valid] &= ~scene.collides_many(full)
        q[~valid] = np.nan
        alive = valid.any(axis=1)  # branches with a solution
        q, valid = q[alive], valid[alive]
        if not len(q):
            return False
        if reached is None:
            at = np.nanmin(np.abs(q - start[:7]).max(axis=2), initial=np.inf)
            reached = np.abs(q - start[:7]).max(axis=2) <= at + 1e-9
            assert at < 1e-6, "the start is not among the closed form's configurations"
        else:
            come = np.zeros_like(valid)
            for shift in (-1, 0, 1):
                # Connect grid point i of any branch with i + shift. Branches touch where their
                # square roots vanish.
                there, here = _pair(len(grid), shift)
                gaps = np.abs(before[:, None, there] - q[None, :, here]).max(axis=3)
                come[:, here] |= ((gaps <= STEP) & reached[:, None, there]).any(axis=0)
            reached = come
        reached = _spread(q, reached & valid)
        if not reached.any():
            return False
        before = q
    return True


def _pair(n: int, shift: int) -> tuple[slice, slice]:
    return slice(max(0, -shift), n - max(0, shift)), slice(max(0, shift), n - max(0, -shift))


def _spread(q: FloatArray, reached: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Extend reached configurations at one pose along the grid, and between branches that touch."""
    links = [
        np.abs(q[:, None, there] - q[None, :, here]).max(axis=3) <= STEP
        for there, here in (_pair(q.shape[1], 1), _pair(q.shape[1], 0))
    ]
    while True:
        more = reached.copy()
        more[:, 1:] |= (links[0] & reached[:, None, :-1]).any(axis=0)
        more[:, :-1] |= (links[0] & reached[None, :, 1:]).any(axis=1)
        more |= (links[1] & reached[:, None]).any(axis=0)
        if (more == reached).all():
            return reached
        reached = more
