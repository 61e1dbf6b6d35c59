"""Descriptions of a world whose numbers the engine has changed: the same model, scene and closures, with these numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robosim import _engine
from robosim.geometry import Shape, shape_sizes
from robosim.model import Link, Model
from robosim.scene import Scene
from robosim.simulation.closure import Closure, JointEquality, Weld

__all__ = ["changed_closures", "changed_model", "changed_scene"]

Array = NDArray[np.float64]


def changed_model(model: Model, engine: _engine.Model, links: Mapping[str, Link]) -> Model:
    """The model of a changed mechanism.

    Args:
        model: as it was.
        engine: the mechanism now: joints' placements, colliders, and what no description has.
        links: those whose inertia has changed, by name.
    """
    description, before = model._description, model._engine
    frames = {frame.name: np.asarray(frame.X_BF) for frame in engine.frames}
    moved = {
        new.name: np.asarray(new.X_PJ)
        for old, new in zip(before.joints, engine.joints, strict=True)
        if not np.array_equal(old.X_PJ, new.X_PJ)
    }
    joints = tuple(
        replace(joint, X_PJ=np.linalg.inv(frames[joint.parent]) @ moved[joint.name]) if joint.name in moved else joint
        for joint in description.joints
    )
    colliders = tuple(
        own
        if np.array_equal(old.X_BC, new.X_BC) and is_same_shape(old.shape, new.shape)
        else replace(own, shape=new.shape, X_LC=np.linalg.inv(frames[own.link]) @ new.X_BC)
        for own, old, new in zip(description.colliders, before.colliders, engine.colliders, strict=True)
    )
    known = tuple(links.get(link.name, link) for link in description.links)
    return Model(engine, replace(description, links=known, joints=joints, colliders=colliders))


def changed_scene(scene: Scene, before: _engine.CollisionScene, after: _engine.CollisionScene) -> Scene:
    """The scene whose shapes have other sizes or are elsewhere."""
    shapes, poses = after.shapes, [np.asarray(X) for X in after.poses]
    old_shapes, old_poses = before.shapes, [np.asarray(X) for X in before.poses]
    row = before.n_colliders
    changed = scene.copy()
    for thing in scene:
        rows = range(row, row + len(thing.shapes))
        row += len(thing.shapes)
        others = [i for i in rows if not np.array_equal(poses[i], old_poses[i]) or not is_same_shape(old_shapes[i], shapes[i])]
        if not others:
            continue
        own_shapes, own_poses = list(thing.shapes), np.array(thing.shape_poses)
        for i in others:
            # X_BS = X_BO X_OS, and X_BO has not changed.
            own_shapes[i - rows[0]] = shapes[i]
            own_poses[i - rows[0]] = own_poses[i - rows[0]] @ np.linalg.inv(old_poses[i]) @ poses[i]
        if len(rows) == 1 and np.array_equal(thing.shape_poses[0], np.eye(4)):
            changed.replace(replace(thing, shapes=tuple(own_shapes), pose=thing.pose @ own_poses[0], source=None))
        else:
            changed.replace(replace(thing, shapes=tuple(own_shapes), shape_poses=own_poses, source=None))
    return changed


def changed_closures(model: Model, closures: Sequence[Closure], engine: _engine.Simulation) -> tuple[Closure, ...]:
    """The closures with the frames and coefficients that the engine has."""
    frames_in_bodies, coefficients = engine.closures
    frames = {frame.name: np.asarray(frame.X_BF) for frame in model._engine.frames}
    next_frames, next_coefficients = iter(frames_in_bodies), iter(coefficients)
    found: list[Closure] = []
    for closure in closures:
        if isinstance(closure, JointEquality):
            numbers = tuple(next(next_coefficients))
            padded = (*closure.coefficients, *(0.0,) * (len(numbers) - len(closure.coefficients)))
            found.append(closure if numbers == padded else replace(closure, coefficients=numbers))
            continue
        X_a, X_b = (np.linalg.inv(frames[link]) @ X for link, X in zip((closure.a, closure.b), next(next_frames), strict=True))
        is_same = np.allclose(X_a, closure.X_a, rtol=0, atol=1e-12) and np.allclose(X_b, closure.X_b, rtol=0, atol=1e-12)
        found.append(closure if is_same else _moved(closure, X_a, X_b))
    return tuple(found)


def _moved(closure: Any, X_a: Array, X_b: Array) -> Closure:
    if isinstance(closure, Weld):
        return Weld(closure.a, closure.b, X_a, X_b)
    return replace(closure, at_a=X_a, at_b=X_b)


def is_same_shape(a: Any, b: Any) -> bool:
    """Whether two shapes have the same sizes and corners; bodies made of pieces, whether they are one."""
    if not isinstance(a, Shape) or not isinstance(b, Shape):
        return a is b
    sizes = shape_sizes()[a.type]
    return a.type == b.type and all(np.array_equal(getattr(a, name), getattr(b, name)) for name in sizes)
