"""Materials, motors and closures as rows of numbers for the engine."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from robosim import _engine
from robosim.errors import SimulationError, suggestion
from robosim.world.closure import TERMS, JointEquality, PointClosure, Weld, closure_name
from robosim.world.material import Material
from robosim.world.motor import Motor

if TYPE_CHECKING:
    from robosim.model import Model

__all__ = ["frame_closures", "joint_equalities", "motor_rows", "pair_materials"]

Array = NDArray[np.float64]


def pair_materials(
    model: Model, scene: _engine.CollisionScene, materials: Mapping[str | tuple[str, str], Material]
) -> Array:
    """(m, 6) material of each pair of the scene."""
    frames = model._engine.frames
    owners = [frames[c.frame].name for c in model._engine.colliders] + list(
        scene.names[scene.n_colliders :]
    )
    known = dict.fromkeys([*(frame.name for frame in frames), *owners])
    single: dict[str, Material] = {}
    paired: dict[frozenset[str], Material] = {}
    for names, material in materials.items():
        for name in (names,) if isinstance(names, str) else names:
            if name not in known:
                raise SimulationError(
                    f"materials name {name!r}, which is no link and no"
                    f" object{suggestion(name, known)}"
                )
        if isinstance(names, str):
            single[names] = material
        else:
            paired[frozenset(names)] = material
    plain = Material()
    rows = [
        (
            paired.get(frozenset((owners[a], owners[b])))
            or single.get(owners[a], plain).against(single.get(owners[b], plain))
        ).numbers()
        for a, b in scene.pairs
    ]
    return np.array(rows, dtype=np.float64).reshape(-1, len(fields(Material)))


def motor_rows(model: Model, motors: Mapping[str, Motor]) -> Array:
    """(n_v, 3) gains and force limit of the motor of each coordinate."""
    rows = np.zeros((model.n_v, 3))
    rows[:, 2] = np.inf
    names = list(model.velocity_names)
    for name, motor in motors.items():
        if name not in names:
            raise SimulationError(
                f"motors name {name!r}, which is no coordinate{suggestion(name, names)}"
            )
        i = names.index(name)
        limit = model.limits.effort[i] if motor.limit is None else motor.limit
        rows[i] = motor.position_gain, motor.velocity_gain, limit
    return rows


def frame_closures(model: Model, closures: list[PointClosure | Weld]) -> list[_engine.FrameClosure]:
    """Convert point closures and welds to the engine's frame closures."""
    found = []
    for closure in closures:
        bodies, poses = [], []
        for link, X in (closure.a, closure.X_a), (closure.b, closure.X_b):
            frame = next((f for f in model._engine.frames if f.name == link), None)
            if frame is None:
                near = suggestion(link, model.link_names)
                raise SimulationError(f"{closure_name(closure)}: there is no link {link!r}{near}")
            bodies.append(frame.body)
            poses.append(frame.X_BF @ X)
        x, y, z = (isinstance(closure, Weld) or axis in closure.axes for axis in "xyz")
        found.append(
            _engine.FrameClosure(
                name=f"{closure.a} to {closure.b}",
                body_a=bodies[0],
                X_AF=poses[0],
                body_b=bodies[1],
                X_BG=poses[1],
                held=(x, y, z),
                is_weld=isinstance(closure, Weld),
            )
        )
    return found


def joint_equalities(model: Model, closures: list[JointEquality]) -> list[_engine.JointEquality]:
    """Convert joint equalities to those of the engine."""
    names = list(model.velocity_names)

    def entry(joint: str, name: str) -> int:
        if joint not in names:
            raise SimulationError(
                f"{name}: there is no coordinate {joint!r}{suggestion(joint, names)}"
            )
        return names.index(joint)

    found = []
    for closure in closures:
        name = f"equality of joint {closure.joint!r}"
        of = -1 if closure.of is None else entry(closure.of, name)
        padded = [*closure.coefficients, *[0.0] * (TERMS - len(closure.coefficients))]
        found.append(
            _engine.JointEquality(
                name=closure.joint, of=of, joint=entry(closure.joint, name), coefficients=padded
            )
        )
    return found
