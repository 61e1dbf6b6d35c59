"""Pickling of models: the description, and values that modified copies may change.

Unpickling builds the model again with the checks of the builder and of the copy methods. The result
is the same mechanism to the bit.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

import robosim.geometry  # noqa: F401  it has `pickle` know shapes
from robosim.errors import ModelError
from robosim.model.builder import ModelBuilder
from robosim.model.model import Description, Model
from robosim.model.parts import (
    Collider,
    DisabledCollision,
    EndEffector,
    Group,
    Joint,
    Link,
    NamedState,
    Visual,
)
from robosim.pickling import maker

__all__ = ["built_model", "model_arguments", "rebuilt_model", "with_numbers"]

_LIMITS = ("lower", "upper", "velocity", "acceleration", "effort")
_FORCES = ("damping", "friction", "friction_width", "stiffness", "spring_reference", "armature")


def model_arguments(model: Model) -> dict[str, Any]:
    """Return the arguments of `rebuilt_model` for a model.

    Raises:
        ModelError: a simulation has moved the joint of the floating base, which the description
            cannot express.
    """
    engine, description = model._engine, dict(vars(model._description))
    for joint in engine.joints[1:2]:
        if model.floating_base and not np.array_equal(joint.X_PJ, np.eye(4)):
            raise ModelError(
                f"{model.name!r} cannot be pickled: the joint {joint.name!r} of its floating base"
                " is moved"
            )
    axes = description.pop("axes")
    joints = (replace(joint, axis=axis) for joint, axis in zip(model.joints, axes, strict=True))
    numbers = {name: getattr(engine, name) for name in (*_LIMITS, *_FORCES, "gravity")}
    return {
        "name": model.name,
        "description": {**description, "joints": tuple(joints)},
        "numbers": {**numbers, "spring_rest_energy": engine.spring_rest_energy},
        "collision_pairs": model.collision_pairs,
        "disabled_collisions": [
            (pair.link_a, pair.link_b, pair.reason) for pair in model.disabled_collisions
        ],
    }


@maker
def rebuilt_model(
    name: str,
    description: Mapping[str, Any],
    numbers: Mapping[str, Any],
    collision_pairs: ArrayLike,
    disabled_collisions: Iterable[tuple[str, str, str]],
) -> Model:
    """Build the model of a description with these numbers, collision pairs and reasons.

    Raises:
        ModelError: the arguments do not describe a valid model.
    """
    described = Description(**description, axes=())
    model = built_model(
        name,
        floating_base=described.floating_base,
        links=described.links,
        joints=described.joints,
        colliders=described.colliders,
        visuals=described.visuals,
        groups=described.groups.values(),
        named_states=described.named_states,
        end_effectors=described.end_effectors.values(),
        warnings=described.warnings,
        ignored=described.ignored,
    )
    return with_numbers(
        model,
        numbers=numbers,
        collision_pairs=collision_pairs,
        disabled_collisions=disabled_collisions,
        acceleration_source=str(described.acceleration_source),
    )


def with_numbers(
    model: Model,
    *,
    numbers: Mapping[str, Any],
    collision_pairs: ArrayLike,
    disabled_collisions: Iterable[tuple[str, str, str]],
    acceleration_source: str,
) -> Model:
    """Return a copy with these values of its coordinates, collision pairs and reasons.

    Raises:
        ModelError: a value is missing, has the wrong shape, or is invalid for a model.
    """
    disabled = [DisabledCollision(*pair) for pair in disabled_collisions]
    model = (
        model.with_limits(**{limit: _sized(numbers[limit], model, limit) for limit in _LIMITS})
        .with_damping(_sized(numbers["damping"], model, "damping"))
        .with_friction(
            _sized(numbers["friction"], model, "friction"),
            width=_sized(numbers["friction_width"], model, "friction_width"),
        )
        ._with_springs(
            _sized(numbers["stiffness"], model, "stiffness"),
            _sized(numbers["spring_reference"], model, "spring_reference"),
            float(numbers["spring_rest_energy"]),
        )
        .with_armature(_sized(numbers["armature"], model, "armature"))
        .with_gravity(numbers["gravity"])
        .with_disabled_collisions(disabled)
        .with_collision_pairs(collision_pairs)
    )
    return Model(
        model._engine, replace(model._description, acceleration_source=acceleration_source)
    )


def built_model(
    name: str,
    *,
    floating_base: bool,
    links: Iterable[Link],
    joints: Iterable[Joint],
    colliders: Iterable[Collider],
    visuals: Mapping[str, Iterable[Visual]],
    groups: Iterable[Group],
    named_states: Iterable[NamedState],
    end_effectors: Iterable[EndEffector],
    warnings: Iterable[str],
    ignored: Iterable[str],
) -> Model:
    """Build a model of these parts. `with_numbers` sets the pairs that self-collision excludes."""
    builder = ModelBuilder(name, floating_base=floating_base)
    for link in links:
        builder.add_link(**vars(link))
    for joint in joints:
        mimic = joint.mimic
        follows = None if mimic is None else (mimic.source, mimic.multiplier, mimic.offset)
        builder.add_joint(**{**vars(joint), "mimic": follows})
    for collider in colliders:
        own_name = collider.name.removeprefix(f"{collider.link}/")
        builder.add_collider(
            collider.link, collider.shape, X_LC=collider.X_LC, name=own_name, exact=collider.exact
        )
    for link_name, looks in visuals.items():
        for visual in looks:
            builder.add_visual(link_name, visual)
    for group in groups:
        builder.add_group(group.name, group.joints, tip=group.tip)
    for state in named_states:
        builder.add_named_state(state.group, state.name, state.positions)
    for tool in end_effectors:
        builder.add_end_effector(tool.name, tool.link, tool.group)
    for text in warnings:
        builder.add_warning(text)
    for text in ignored:
        builder.add_ignored(text)
    return builder.build(allow_massless=True, filter_adjacent=False)


def _sized(values: ArrayLike, model: Model, what: str) -> ArrayLike:
    """Check that there is one number per coordinate. Pickles do not broadcast values."""
    expected = (model.n_q if what in ("lower", "upper") else model.n_v,)
    if np.shape(values) != expected:
        raise ModelError(f"pickled {what} has shape {np.shape(values)}; it must be {expected}")
    return values
