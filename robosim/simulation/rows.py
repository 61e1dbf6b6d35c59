"""Rows of materials, motors and closures, as the engine takes them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from robosim import _engine
from robosim.errors import SimulationError, suggestion
from robosim.world.closure import TERMS, JointEquality, PointClosure, Weld, closure_name
from robosim.world.material import Material
from robosim.world.motor import Motor

if TYPE_CHECKING:
    from robosim.model import Model

__all__ = ["equality_rows", "frame_rows", "motor_rows", "pair_materials"]

Array = NDArray[np.float64]


def pair_materials(
    model: Model, scene: _engine.CollisionScene, materials: Mapping[str | tuple[str, str], Material]
) -> Array:
    """(m, 6): of each pair of the scene."""
    frames = model._engine.frames
    owners = [frames[c.frame].name for c in model._engine.colliders] + list(scene.names[scene.n_colliders :])
    known = dict.fromkeys([*(frame.name for frame in frames), *owners])
    single: dict[str, Material] = {}
    paired: dict[frozenset[str], Material] = {}
    for names, material in materials.items():
        for name in (names,) if isinstance(names, str) else names:
            if name not in known:
                raise SimulationError(
                    f"materials name {name!r}, which is no link and no object{suggestion(name, known)}"
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
    """(n_v, 3): gains and limit of each coordinate."""
    rows = np.zeros((model.n_v, 3))
    rows[:, 2] = np.inf
    names = list(model.velocity_names)
    for name, motor in motors.items():
        if name not in names:
            raise SimulationError(f"motors name {name!r}, which is no coordinate{suggestion(name, names)}")
        i = names.index(name)
        limit = model.limits.effort[i] if motor.limit is None else motor.limit
        rows[i] = motor.position_gain, motor.velocity_gain, limit
    return rows


def frame_rows(model: Model, closures: list[PointClosure | Weld]) -> list[tuple[Any, ...]]:
    """As the engine has them: name, body and pose in it twice, axes held, whether it is a weld."""
    rows: list[tuple[Any, ...]] = []
    for closure in closures:
        ends: list[Any] = []
        for link, X in (closure.a, closure.X_a), (closure.b, closure.X_b):
            frame = next((f for f in model._engine.frames if f.name == link), None)
            if frame is None:
                near = suggestion(link, model.link_names)
                raise SimulationError(f"{closure_name(closure)}: there is no link {link!r}{near}")
            ends += [frame.body, frame.X_BF @ X]
        held = [axis in closure.axes for axis in "xyz"] if isinstance(closure, PointClosure) else [True] * 3
        rows.append((f"{closure.a} to {closure.b}", *ends, held, isinstance(closure, Weld)))
    return rows


def equality_rows(model: Model, closures: list[JointEquality]) -> list[tuple[str, int, int, list[float]]]:
    """As the engine has them: name, entry of v that is followed or -1, that follows, coefficients."""
    names = list(model.velocity_names)

    def entry(joint: str, name: str) -> int:
        if joint not in names:
            raise SimulationError(f"{name}: there is no coordinate {joint!r}{suggestion(joint, names)}")
        return names.index(joint)

    rows = []
    for closure in closures:
        name = f"equality of joint {closure.joint!r}"
        of = -1 if closure.of is None else entry(closure.of, name)
        padded = [*closure.coefficients, *[0.0] * (TERMS - len(closure.coefficients))]
        rows.append((closure.joint, of, entry(closure.joint, name), padded))
    return rows
