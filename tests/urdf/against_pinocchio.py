"""Compares a loaded robot with Pinocchio's reading of the same file.

Link poses, mass matrix, gravity forces and velocity forces are compared.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np
import pinocchio as pin

from robosim.model import Model


class Deviation(NamedTuple):
    """Largest differences, relative to the size of the compared values.

    `dynamics` is None if the robot's dynamics are not valid.
    """

    kinematics: float
    dynamics: float | None


def read(path: Path) -> pin.Model | None:
    """Pinocchio's model, or None if its reader refuses the file."""
    try:
        return pin.buildModelFromUrdf(str(path))
    except (RuntimeError, ValueError):
        return None


def deviation(model: Model, peer: pin.Model, *, n: int = 5, seed: int = 0) -> Deviation:
    """Compare at n random configurations and velocities.

    Args:
        model: loaded by robosim, with a fixed base.
        peer: Pinocchio's model of the same file; its mimic joints are free and set as robosim's.
        n: number of configurations.
        seed: seed of the configurations.
    """
    data = peer.createData()
    model = model.with_gravity(peer.gravity.linear)
    rng = np.random.default_rng(seed)
    kinematics = dynamics = 0.0
    for _ in range(n):
        q, v = model.random_configuration(rng), rng.standard_normal(model.n_v)
        q_pin, G = _converted(model, peer, q)
        pin.framesForwardKinematics(peer, data, q_pin)
        poses = model.link_poses(q)
        for frame, placement in zip(peer.frames, data.oMf, strict=True):
            if frame.type == pin.FrameType.BODY and frame.name in poses:
                X = placement.homogeneous
                scale = max(1.0, float(np.abs(X).max()))
                kinematics = max(kinematics, float(np.abs(poses[frame.name] - X).max()) / scale)
        if model.dynamics_faults:
            continue
        # v_peer = G v with constant G, if joints mimic others.
        M = pin.crba(peer, data, q_pin, pin.Convention.WORLD)
        M = G.T @ (np.triu(M) + np.triu(M, 1).T) @ G
        h = G.T @ pin.nonLinearEffects(peer, data, q_pin, G @ v)
        for ours, theirs in (model.mass_matrix(q), M), (model.nonlinear_effects(q, v), h):
            scale = max(float(np.abs(theirs).max(initial=0)), 1e-6)
            dynamics = max(dynamics, float(np.abs(ours - theirs).max(initial=0)) / scale)
    return Deviation(kinematics, None if model.dynamics_faults else dynamics)


def _converted(model: Model, peer: pin.Model, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """q in Pinocchio's coordinates, and G with v_peer = G v."""
    q_pin, G = pin.neutral(peer), np.zeros((peer.nv, model.n_v))
    position = dict(zip(model.position_names, q, strict=True))
    column = {name: k for k, name in enumerate(model.velocity_names)}
    described = {joint.name: joint for joint in model.joints}
    for name, joint in zip(peer.names[1:], list(peer.joints)[1:], strict=True):
        ratio, offset, source = 1.0, 0.0, name
        while (mimic := described[source].mimic) is not None:
            offset += ratio * mimic.offset
            ratio *= mimic.multiplier
            source = mimic.source
        kind, i, j = described[name].kind, joint.idx_q, joint.idx_v
        if joint.nv == 1:
            value = ratio * position[source] + offset
            q_pin[i : i + joint.nq] = value if joint.nq == 1 else (np.cos(value), np.sin(value))
            G[j, column[source]] = ratio
            continue
        parts = [p for p in model.position_names if p.startswith(f"{name}/")]
        values = np.array([position[p] for p in parts])
        if kind == "planar":  # x, y, cos, sin
            values = np.array([*values[:2], np.cos(values[2]), np.sin(values[2])])
        q_pin[i : i + joint.nq] = values
        columns = [k for k, p in enumerate(model.velocity_names) if p.startswith(f"{name}/")]
        G[np.arange(j, j + joint.nv), columns] = 1.0
    return q_pin, G
