"""Changed values of parameters, applied to the engine and the model."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from robosim import _engine
from robosim.errors import ModelError, SimulationError, check_type
from robosim.geometry import Shape, shape_sizes
from robosim.model import Link, Model, ModelBuilder
from robosim.simulation.link_inertias import LINK_KINDS, moments_of, symmetric, total_inertia
from robosim.simulation.parameters import (
    Key,
    ParameterNames,
    ParameterValues,
    Selected,
    called,
    checked_shape,
    size_parts,
)

__all__ = ["all_changes", "changed_model", "engine_values"]

Array = NDArray[np.float64]
_TWISTS = ("pose", "frames", "placement")


def all_changes(
    made: ParameterValues, before: Mapping[str, Array], changes: Mapping[Key, ArrayLike]
) -> dict[str, Array]:
    """Collect the values of all owners, for each kind that differs from the original.

    Twists are relative to the original poses.

    Args:
        made: values of the world as it was made.
        before: result of this function for the world that is to be changed.
        changes: values by name, relative to the world that is to be changed.

    Raises:
        SimulationError: there is no such parameter, an array has the wrong shape, or a number is
            out of its range.
    """
    check_type(changes, Mapping, "parameters", SimulationError)
    names = made._names
    found = {kind: array.copy() for kind, array in before.items()}

    def rows(kind: str) -> Array:
        """Return the numbers of a kind, one row for each owner, to be written to."""
        array: Array = found.setdefault(kind, np.array(made[kind]))
        return array.reshape(-1, *names.kinds[kind].shape)

    # Apply changes in the order of the kinds. A scale then applies to sizes that are set with it,
    # and vertices are set last, to the values given.
    order = list(names.kinds)
    chosen = [(names.select(key), key, value) for key, value in changes.items()]
    for one, key, value in sorted(chosen, key=lambda x: order.index(x[0].kind)):
        present = made["scale"][one.at] if one.kind == "scale" else rows(one.kind)[one.at]
        array = _checked(names, one, key, value, present)
        if one.kind == "scale":
            _scale(names, rows, one, array)
        else:
            rows(one.kind)[one.at] = _composed(present, array) if one.kind in _TWISTS else array
    if {"lower_limit", "upper_limit"} & found.keys():
        _check_limits(
            names, *(found.get(kind, made[kind]) for kind in ("lower_limit", "upper_limit"))
        )
    return {
        kind: x for kind, x in found.items() if not np.array_equal(x, made[kind], equal_nan=True)
    }


def _checked(
    names: ParameterNames, chosen: Selected, key: Key, value: ArrayLike, present: Array
) -> Array:
    """Check the value that replaces these numbers, and return it in their shape."""
    array = checked_shape(value, chosen.shape, key)
    array = (
        np.broadcast_to(array, present.shape) if chosen.is_shared else array.reshape(present.shape)
    )
    there = ~np.isnan(present)
    if chosen.kind == "sizes" and chosen.at[1] is ...:
        types = [names.shape_types[i] for i in chosen.at[0]]
        counts = [max((part.stop for part in size_parts(x).values()), default=0) for x in types]
        there &= np.arange(present.shape[-1]) < np.array(counts)[:, None]
    for i in np.argwhere(~there & (array != present) & ~(np.isnan(array) & np.isnan(present))):
        row = chosen.at[0][i[0]]
        of_type = names.shape_types[row]
        what = "is made of pieces" if of_type is None else f"is a {of_type}"
        who = names.object_name(row)
        raise SimulationError(
            f"{called(key)} is {array[tuple(i)]} where there is none: {who!r} {what}"
        )
    least, most = names.kinds[chosen.kind].least, names.kinds[chosen.kind].most
    for x in array[there & ~np.isfinite(array)]:
        if np.isnan(x) or np.isfinite(most):
            raise SimulationError(f"{called(key)} is {x}; it must be finite")
    for x in array[there & (array < least)]:
        raise SimulationError(f"{called(key)} is {x}; it must be at least {least:g}")
    for x in array[there & (array > most)]:
        raise SimulationError(f"{called(key)} is {x}; it must be at most {most:g}")
    return array


def _check_limits(names: ParameterNames, lower: Array, upper: Array) -> None:
    for i in np.flatnonzero(lower > upper):
        position = names.owners("lower_limit")[i]
        raise SimulationError(
            f"{position!r}: lower limit {lower[i]} and upper limit {upper[i]} leave no position"
        )


def _scale(
    names: ParameterNames, rows: Callable[[str], Array], chosen: Selected, factors: Array
) -> None:
    """Apply a scale to sizes and vertices."""
    for row, factor in zip(chosen.at[0], factors, strict=True):
        if factor != 1 and not np.isnan(factor):
            rows("sizes")[row] *= factor
            rows("vertices")[names.vertices.get(row, [])] *= factor


def _composed(first: Array, then: Array) -> Array:
    """(..., 6) twists of the composed motions: first one twist, then the other."""
    found = np.array(then)
    body = _free_body()
    for i in np.ndindex(found.shape[:-1]):
        if first[i].any():
            moved = (
                body.integrate(body.integrate(body.neutral(), first[i]), then[i])
                if then[i].any()
                else None
            )
            found[i] = first[i] if moved is None else body.difference(body.neutral(), moved)
    return found


@cache
def _free_body() -> Model:
    """Return a model of one free body, to integrate twists in its own frame."""
    builder = ModelBuilder("frame", floating_base=True)
    builder.add_link("frame", mass=1.0, inertia=np.eye(3))
    return builder.build()


def engine_values(
    made: ParameterValues,
    numbers: Array,
    vertices: Array,
    model: Model,
    changes: Mapping[str, Array],
) -> dict[str, Link]:
    """Write changes to the engine's numbers and vertices of the original world.

    Returns:
        The links with a changed inertia, by name.

    Raises:
        SimulationError: the inertia of a link is not physical.
    """
    for kind, array in changes.items():
        if kind == "vertices":
            vertices[...] = array
        elif kind not in LINK_KINDS:
            made._names.view(numbers, kind)[...] = array
    links = _changed_links(made, model, changes)
    # The inertia of a body with changed links is the sum over all of its links.
    frames = {frame.name: frame for frame in model._engine.frames}
    for body in sorted({frames[name].body for name in links} - {0}):
        parts = [x for x in model.links if frames[x.name].body == body]
        mass, com, inertia = total_inertia(
            [(links.get(x.name, x), frames[x.name].X_BF) for x in parts]
        )
        for kind, value in zip(LINK_KINDS, (mass, com, moments_of(inertia[None])[0]), strict=True):
            made._names.view(numbers, kind)[body - 1] = value
    return links


def _changed_links(
    made: ParameterValues, model: Model, changes: Mapping[str, Array]
) -> dict[str, Link]:
    """Return the links with a changed mass, center of mass or inertia."""
    if not changes.keys() & set(LINK_KINDS):
        return {}
    before = [made[kind] for kind in LINK_KINDS]
    after = [changes.get(kind, x) for kind, x in zip(LINK_KINDS, before, strict=True)]
    mass_of, com_of, inertia_of = after[0], after[1], symmetric(after[2])
    links, found = {link.name: link for link in model.links}, {}
    for i, name in enumerate(model.link_names):
        if all(np.array_equal(x[i], y[i]) for x, y in zip(before, after, strict=True)):
            continue
        mass, com, inertia = float(mass_of[i]), com_of[i].copy(), inertia_of[i]
        try:
            _engine.ModelBuilder("check", False).add_link(name, mass, com, inertia)
        except ModelError as error:
            raise SimulationError(str(error)) from None
        found[name] = replace(links[name], mass=mass, com=com, inertia=inertia, fault="")
    return found


def changed_model(model: Model, engine: _engine.Model, links: Mapping[str, Link]) -> Model:
    """Return the model of a changed mechanism.

    Args:
        model: the original model.
        engine: the engine's changed model: placements of joints, colliders, and numbers that are
            not in the description.
        links: links with changed inertia, by name.
    """
    description, before = model._description, model._engine
    frames = {frame.name: np.asarray(frame.X_BF) for frame in engine.frames}
    moved = {
        new.name: np.asarray(new.X_PJ)
        for old, new in zip(before.joints, engine.joints, strict=True)
        if not np.array_equal(old.X_PJ, new.X_PJ)
    }
    joints = tuple(
        replace(joint, X_PJ=np.linalg.inv(frames[joint.parent]) @ moved[joint.name])
        if joint.name in moved
        else joint
        for joint in description.joints
    )
    colliders = []
    for own, old, new in zip(
        description.colliders, before.colliders, engine.colliders, strict=True
    ):
        if not _is_same_shape(old.shape, new.shape):
            shape: Any = new.shape
            own = replace(own, shape=shape, exact=None)
        if not np.array_equal(old.X_BC, new.X_BC):
            own = replace(own, X_LC=np.linalg.inv(frames[own.link]) @ new.X_BC)
        colliders.append(own)
    known = tuple(links.get(link.name, link) for link in description.links)
    return Model(
        engine, replace(description, links=known, joints=joints, colliders=tuple(colliders))
    )


def _is_same_shape(a: object, b: object) -> bool:
    """True if two shapes have the same sizes and vertices, or are the same body made of pieces."""
    if not isinstance(a, Shape) or not isinstance(b, Shape):
        return a is b
    return a.type == b.type and all(
        np.array_equal(getattr(a, x), getattr(b, x)) for x in shape_sizes()[a.type]
    )
