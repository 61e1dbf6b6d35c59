"""Composition of several models into one.

Limits, groups, named states, tools and collision pairs of each model are kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import count
from typing import Any, NamedTuple

import numpy as np

from robosim.errors import ModelError, suggestion
from robosim.model.model import Model
from robosim.model.parts import (
    Collider,
    EndEffector,
    FloatArray,
    Group,
    Joint,
    Link,
    NamedState,
)
from robosim.model.rebuilt import built_model, model_arguments, with_numbers

__all__ = ["ROOT", "Part", "check_part", "compose"]

ROOT = "world"
"""Name of the root link of composed models."""


class Part(NamedTuple):
    """A model within a composed model."""

    name: str
    """Prefix, followed by a slash, of all names of the part. Names are unchanged if it is empty."""
    model: Model
    parent: str
    """Link that carries the part, by its name in the whole; `ROOT` for the world."""
    X_PB: FloatArray
    """(4, 4) pose of the part's root link in the parent.

    For a floating base, it is the pose at the neutral configuration. It is part of q, not of the
    model.
    """

    def renamed(self, name: str) -> str:
        """Name in the whole of a joint, group or tool of the part."""
        return f"{self.name}/{name}" if self.name else name

    def link(self, name: str) -> str:
        """Name in the whole of a link of the part. A part's only link has the name of the part."""
        return self.name if self.name and len(self.model.links) == 1 else self.renamed(name)

    def collider(self, collider: Collider) -> str:
        """Name in the whole of a collider of the part."""
        own = collider.name.removeprefix(f"{collider.link}/")
        return f"{self.link(collider.link)}/{own}"


def compose(name: str, parts: Sequence[Part]) -> Model:
    """Compose several models into one, whose root link is `ROOT`.

    Fixed bases are welded to their parents, floating bases stay free. Coordinates are those of the
    parts, one part after another. A part that another part carries has its coordinates next to
    those of its parent. Links of different parts collide unless they are welded together.

    Args:
        name: name of the whole.
        parts: a part that carries others comes before the parts that it carries.

    Raises:
        ModelError: a name occurs twice, a parent does not exist, a link carries a part with a
            floating base, or parts differ in gravity.
    """
    # Links and joints of all parts, each with a joint to its parent.
    described = [model_arguments(part.model) for part in parts]
    joints: list[Joint] = []
    links = [Link(ROOT, 0.0, np.zeros(3), np.zeros((3, 3)))]
    for k, (part, arguments) in enumerate(zip(parts, described, strict=True)):
        check_part(part, parts[:k])
        description = arguments["description"]
        links += [replace(link, name=part.link(link.name)) for link in description["links"]]
        joints.append(_base_joint(part, {joint.name for joint in joints}))
        joints += [_joint(joint, part) for joint in description["joints"]]

    # Build the whole with all other parts of the descriptions.
    whole = built_model(
        name,
        floating_base=False,
        links=links,
        joints=joints,
        colliders=[
            replace(x, name=p.collider(x), link=p.link(x.link))
            for p in parts
            for x in p.model.colliders
        ],
        visuals={p.link(link): x for p in parts for link, x in p.model.visuals.items()},
        groups=[_group(x, p) for p in parts for x in p.model.groups.values()],
        named_states=[_named_state(x, p) for p in parts for x in p.model.named_states],
        end_effectors=[
            EndEffector(p.renamed(x.name), p.link(x.link), p.renamed(x.group))
            for p in parts
            for x in p.model.end_effectors.values()
        ],
        warnings=[_said(text, p) for p in parts for text in p.model.warnings],
        ignored=[_said(text, p) for p in parts for text in p.model.ignored],
    )
    # Transfer numbers of coordinates and collision pairs.
    disabled = [
        (p.link(a), p.link(b), reason)
        for p, arguments in zip(parts, described, strict=True)
        for a, b, reason in arguments["disabled_collisions"]
    ]
    return with_numbers(
        whole,
        numbers=_numbers(whole, parts, [arguments["numbers"] for arguments in described]),
        disabled_collisions=disabled,
        collision_pairs=_pairs(whole, parts),
        acceleration_source=_sources(parts),
    )


def check_part(part: Part, before: Sequence[Part]) -> None:
    """Raise ModelError unless the part can be placed next to, or on, the parts before it."""
    known = {ROOT, *(other.link(link) for other in before for link in other.model.link_names)}
    what = f"part {part.name or part.model.name!r}"
    if part.parent not in known:
        raise ModelError(
            f"{what}: there is no link {part.parent!r} that may carry"
            f" it{suggestion(part.parent, known)}"
        )
    if part.model.floating_base and part.parent != ROOT:
        raise ModelError(f"{what} has a floating base, so that {part.parent!r} cannot carry it")
    for link in part.model.link_names:
        if part.link(link) in known:
            raise ModelError(
                f"{what}: there is a link {part.link(link)!r} already; give it another name"
            )
    for other in before[:1]:
        own, theirs = (np.asarray(x.model._engine.gravity).tolist() for x in (part, other))
        if own != theirs:
            raise ModelError(f"{what} has gravity {own}; it must be that of the others, {theirs}")


def _base_joint(part: Part, taken: set[str]) -> Joint:
    """Joint of a part to its parent: its floating joint, or a fixed joint with an unused name."""
    child = part.link(part.model.root_link)
    z = np.array([0.0, 0.0, 1.0])
    if part.model.floating_base:
        if part.parent != ROOT:
            raise ModelError(
                f"part {part.name!r} has a floating base, so that {part.parent!r} cannot carry it"
            )
        own = part.model._engine.joints[1].name
        return Joint(part.renamed(own), "floating", ROOT, child, np.eye(4), z)
    taken = taken | {part.renamed(joint.name) for joint in part.model.joints}
    names = (part.renamed("mount" if i == 1 else f"mount_{i}") for i in count(1))
    return Joint(
        next(x for x in names if x not in taken), "fixed", part.parent, child, part.X_PB, z
    )


def _joint(joint: Joint, part: Part) -> Joint:
    mimic = joint.mimic and replace(joint.mimic, source=part.renamed(joint.mimic.source))
    parent, child = part.link(joint.parent), part.link(joint.child)
    return replace(joint, name=part.renamed(joint.name), mimic=mimic, parent=parent, child=child)


def _group(group: Group, part: Part) -> Group:
    tip = None if group.tip is None else part.link(group.tip)
    return Group(part.renamed(group.name), tuple(map(part.renamed, group.joints)), tip)


def _named_state(state: NamedState, part: Part) -> NamedState:
    positions = {part.renamed(joint): value for joint, value in state.positions.items()}
    return NamedState(part.renamed(state.group), state.name, positions)


def _sources(parts: Sequence[Part]) -> str:
    """Sources of acceleration limits. If there are several, each is listed with its parts."""
    names: dict[str, list[str]] = {}
    for part in parts:
        names.setdefault(part.model.limits.acceleration_source, []).append(
            part.name or part.model.name
        )
    if len(names) == 1:
        return next(iter(names))
    return "; ".join(f"{', '.join(of)}: {source}" for source, of in names.items())


def _said(text: str, part: Part) -> str:
    return f"{part.name}: {text}" if part.name else text


def _numbers(whole: Model, parts: Sequence[Part], each: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Values of all coordinates, matched by the coordinates' names."""
    found: dict[str, Any] = {
        "gravity": each[0]["gravity"],
        "spring_rest_energy": sum(numbers["spring_rest_energy"] for numbers in each),
    }
    for kind in each[0]:
        if kind in found:
            continue
        attribute = "position_names" if kind in ("lower", "upper") else "velocity_names"
        values = {
            part.renamed(name): value
            for part, numbers in zip(parts, each, strict=True)
            for name, value in zip(getattr(part.model, attribute), numbers[kind], strict=True)
        }
        found[kind] = np.array([values[name] for name in getattr(whole, attribute)])
    return found


def _pairs(whole: Model, parts: Sequence[Part]) -> np.ndarray[tuple[int, int], np.dtype[np.intc]]:
    """Collision pairs of each part, and all pairs between parts."""
    number = {collider.name: i for i, collider in enumerate(whole.colliders)}
    part_of = np.empty(len(number), dtype=np.intp)
    own: set[tuple[int, int]] = set()
    for k, part in enumerate(parts):
        at = [number[part.collider(collider)] for collider in part.model.colliders]
        part_of[at] = k
        own |= {(at[a], at[b]) for a, b in part.model.collision_pairs.tolist()}
    pairs = whole.collision_pairs
    kept = [part_of[a] != part_of[b] or (a, b) in own or (b, a) in own for a, b in pairs.tolist()]
    found: np.ndarray[tuple[int, int], np.dtype[np.intc]] = pairs[np.array(kept, dtype=bool)]
    return found
