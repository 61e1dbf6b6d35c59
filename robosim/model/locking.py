"""Models with some joints locked at one configuration."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace
from itertools import count
from typing import Any

import numpy as np

from robosim.errors import ModelError, suggestion
from robosim.model.configurations import check_configuration, joint_positions
from robosim.model.model import Model
from robosim.model.parts import FloatArray, Joint, Link, NamedState
from robosim.model.rebuilt import built_model, model_arguments, with_numbers

__all__ = ["locked_model"]

_Z = np.array([0.0, 0.0, 1.0])


def locked_model(model: Model, joints: Iterable[str], q: FloatArray) -> Model:
    """Return the model with fixed joints in place of these. See `Model.with_locked_joints`.

    A fixed joint has the pose of the child in the parent at q. Limits and other values of the
    remaining coordinates, named states and self-collision pairs are kept.

    Raises:
        ModelError: a name is not a moving joint, a mimic joint is listed without its source, or q
            is not finite.
    """
    names = _with_followers(model, joints)
    check_configuration(model, q)
    q = _others_neutral(model, names, q)
    arguments = model_arguments(model)
    description = dict(arguments["description"])
    base = model._engine.joints[1].name if model.floating_base else None
    floating_base = model.floating_base and base not in names
    # Replace locked joints by fixed joints, and a locked floating base by a mount on a link
    # "world".
    links: list[Link] = list(description["links"])
    kept = [
        _fixed(model, joint, q) if joint.name in names else joint for joint in description["joints"]
    ]
    if model.floating_base and not floating_base:
        root = next(x for x in _numbered("world") if x not in model.link_names)
        links.insert(0, Link(root, 0.0, np.zeros(3), np.zeros((3, 3))))
        kept.insert(
            0,
            Joint(
                str(base), "fixed", root, model.root_link, model.frame_pose(q, model.root_link), _Z
            ),
        )

    # Build the smaller model, and transfer the remaining numbers and pairs.
    locked = built_model(
        model.name,
        floating_base=floating_base,
        links=links,
        joints=kept,
        colliders=description["colliders"],
        visuals=description["visuals"],
        groups=description["groups"].values(),
        named_states=_states(description["named_states"], names),
        end_effectors=description["end_effectors"].values(),
        warnings=description["warnings"],
        ignored=description["ignored"],
    )
    return with_numbers(
        locked,
        numbers=_numbers(model, locked, arguments["numbers"], q),
        collision_pairs=_pairs(model, locked),
        disabled_collisions=arguments["disabled_collisions"],
        acceleration_source=description["acceleration_source"],
    )


def _with_followers(model: Model, joints: Iterable[str]) -> set[str]:
    """Return these joints and all mimic joints that follow any of them."""
    if isinstance(joints, str):
        raise ModelError(f"joints to lock are {joints!r}; a list of names is needed")
    names = dict.fromkeys(joints)
    mimics = {joint.name: joint.mimic.source for joint in model.joints if joint.mimic is not None}
    for name in names:
        if name not in model.joint_names and name not in mimics:
            known = [*model.joint_names, *mimics]
            raise ModelError(
                f"{model.name!r} has no joint {name!r} that moves{suggestion(name, known)}"
            )
    # A follower may follow another follower.
    leaders = {name for name in names if name not in mimics}
    followers = {name for name in mimics if _leader(name, mimics) in leaders}
    for name in names:
        if name in mimics and name not in followers:
            raise ModelError(
                f"joint {name!r} follows {mimics[name]!r}; lock {_leader(name, mimics)!r} instead"
            )
    return leaders | followers


def _leader(name: str, mimics: dict[str, str]) -> str:
    while name in mimics:
        name = mimics[name]
    return name


def _others_neutral(model: Model, names: Collection[str], q: FloatArray) -> FloatArray:
    """Return q with all other joints at neutral, which reduces rounding errors of the fixed poses.

    The positions of other joints do not affect the result.
    """
    found = model.neutral()
    for name in names:
        own = joint_positions(model, name)
        found[own] = q[own]
    return found


def _fixed(model: Model, joint: Joint, q: FloatArray) -> Joint:
    """Return a fixed joint at the pose that this joint has at q."""
    X_WP, X_WC = (model.frame_pose(q, link) for link in (joint.parent, joint.child))
    X_PC = np.eye(4)
    X_PC[:3, :3] = X_WP[:3, :3].T @ X_WC[:3, :3]
    X_PC[:3, 3] = X_WP[:3, :3].T @ (X_WC[:3, 3] - X_WP[:3, 3])
    return Joint(joint.name, "fixed", joint.parent, joint.child, X_PC, _Z)


def _numbered(name: str) -> Iterable[str]:
    return (name if i == 1 else f"{name}_{i}" for i in count(1))


def _states(states: Iterable[NamedState], names: Collection[str]) -> list[NamedState]:
    """Remove the positions of locked joints from named states, and drop states left empty."""
    left = [
        replace(
            state,
            positions={joint: x for joint, x in state.positions.items() if joint not in names},
        )
        for state in states
    ]
    return [state for state in left if state.positions]


def _numbers(model: Model, locked: Model, numbers: dict[str, Any], q: FloatArray) -> dict[str, Any]:
    """Values of the remaining coordinates.

    Springs of locked joints keep their energy as a constant that exerts no force.
    """
    left: dict[str, Any] = {"gravity": numbers["gravity"]}
    for kind, values in numbers.items():
        if np.ndim(values) == 1 and kind != "gravity":
            attribute = "position_names" if kind in ("lower", "upper") else "velocity_names"
            known = dict(zip(getattr(model, attribute), values, strict=True))
            left[kind] = np.array([known[name] for name in getattr(locked, attribute)])
    stretched = {
        name: 0.5 * k * (q[model.position_names.index(name)] - rest) ** 2
        for name, k, rest in zip(
            model.velocity_names, model.stiffness, model.spring_reference, strict=True
        )
        if k > 0 and name not in locked.velocity_names
    }
    left["spring_rest_energy"] = numbers["spring_rest_energy"] + sum(stretched.values())
    return left


def _pairs(model: Model, locked: Model) -> np.ndarray[tuple[int, int], np.dtype[np.intc]]:
    """Collision pairs of the model, except pairs of links that locking joined into one body."""
    number = {collider.name: i for i, collider in enumerate(locked.colliders)}
    at = [number[collider.name] for collider in model.colliders]
    known = {frozenset((at[a], at[b])) for a, b in model.collision_pairs.tolist()}
    pairs = locked.collision_pairs
    found: np.ndarray[tuple[int, int], np.dtype[np.intc]] = pairs[
        np.array([frozenset(pair) in known for pair in pairs.tolist()], dtype=bool)
    ]
    return found
