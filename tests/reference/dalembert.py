"""Inverse dynamics from d'Alembert's principle by numerical differentiation.

It is slow, short, and independent of recursions.

    tau_k = sum over bodies B of  J_B[:, k] . (d/dt momentum of B - gravity force on B)

The momentum (linear; angular about the center of mass) is in world axes. J_B[:, k] is the velocity
of B at v = e_k. Every derivative is a five-point difference of poses along the motion. Spong,
Hutchinson and Vidyasagar, "Robot Modeling and Control" (2006), section 7.1.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np


@dataclass
class Body:
    """Rigid body with pose(q) -> (4, 4) in the world, mass, and center of mass in its frame.

    The inertia is about the center of mass, in the body's axes.
    """

    pose: Callable[[np.ndarray], np.ndarray]
    mass: float
    com: np.ndarray
    inertia: np.ndarray


def _state(body: Body, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    X = body.pose(q)
    return X[:3, :3], X[:3, :3] @ body.com + X[:3, 3]


def _vee(W: np.ndarray) -> np.ndarray:
    return np.array([W[2, 1] - W[1, 2], W[0, 2] - W[2, 0], W[1, 0] - W[0, 1]]) / 2


def _velocity(body: Body, path: Callable[[float], np.ndarray], t: float, h: float) -> np.ndarray:
    """[linear velocity of the com; angular velocity] at time t, by five-point differences.

    In world axes.
    """
    states = [_state(body, path(t + k * h)) for k in (-2, -1, 1, 2)]
    weights = np.array([1, -8, 8, -1]) / (12 * h)
    R = _state(body, path(t))[0]
    dR = sum(w * s[0] for w, s in zip(weights, states, strict=True))
    dp = sum(w * s[1] for w, s in zip(weights, states, strict=True))
    return np.concatenate([dp, _vee(dR @ R.T)])


def inverse_dynamics(
    bodies: Sequence[Body],
    integrate: Callable[[np.ndarray, np.ndarray], np.ndarray],
    q: np.ndarray,
    v: np.ndarray,
    a: np.ndarray,
    gravity: np.ndarray,
    h: float = 1e-3,
) -> np.ndarray:
    """(n_v,) generalized forces of the motion with v(t) = v + a t through q.

    `integrate(q, dv)` moves q by dv. The path is q(t) = integrate(q, v t + a t^2 / 2), whose
    body-side velocity at t = 0 is v with derivative a.
    """

    def path(t: float) -> np.ndarray:
        return integrate(q, v * t + a * t**2 / 2)

    def momentum(body: Body, t: float) -> np.ndarray:
        velocity = _velocity(body, path, t, h)
        R = _state(body, path(t))[0]
        return np.concatenate([body.mass * velocity[:3], R @ body.inertia @ R.T @ velocity[3:]])

    tau = np.zeros(len(v))
    weights = np.array([1, -8, 8, -1]) / (12 * h)
    for body in bodies:
        force = sum(w * momentum(body, k * h) for w, k in zip(weights, (-2, -1, 1, 2), strict=True))
        force[:3] -= body.mass * gravity
        for k in range(len(v)):
            unit = np.eye(len(v))[k]
            column = _velocity(body, lambda t, unit=unit: integrate(q, unit * t), 0.0, h)
            tau[k] += column @ force
    return tau
