"""Plausibility of descriptions that are valid: wrong units, unreachable states.

Each check detects a common mistake by a bound beyond which the mistake is almost certain:

degrees      a revolute joint with a limit beyond two full turns, or faster than 60 rad/s;
             powers of ten from 100 on and values of at least 10,000 stand for no limit
millimeters  geometry more than 10 times the robot's reach or longer than 20 m, a joint 20 m from
             its parent, a slide of more than 20 m
inertia      a radius of gyration more than three times, or less than a fiftieth, of the size of
             the link's geometry; a center of mass farther outside the geometry than its length
mass         a link denser than any metal
states       positions beyond a limit, joints outside the state's group
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from robosim.geometry import Shape, TriangleMesh, bounding_box
from robosim.model import Model
from robosim.urdf.description import FloatArray, JointSpec, LinkSpec, RobotSpec
from robosim.urdf.self_collision import SelfCollisionReport
from robosim.urdf.srdf import Semantics

__all__ = ["always_touching", "implausible", "mostly_touching"]

_MOST_TURN = 4 * math.pi  # [rad]
_MOST_SPIN = 60.0  # [rad/s]
_MOST_LENGTH = 20.0  # [m]
_REACHES = 10.0  # largest plausible geometry, relative to the robot's reach
_SPREAD = (0.02, 3.0)  # radius of gyration, relative to the geometry's half diagonal
_NO_LIMIT = 1e4  # [rad, m, rad/s] values from here on stand for no limit
_SMALLEST = 0.01  # [m]: smaller geometry is a marker
_DENSEST = 30_000.0  # [kg/m^3]: osmium has 22,590
_NOISE = 1e-6  # [rad, m] excess over a limit that rounded numbers may have


class Box(NamedTuple):
    """Bounding box of a link's colliders: corners (3,) in link axes [m], and total volume [m^3]."""

    low: FloatArray
    high: FloatArray
    volume: float


def implausible(model: Model, robot: RobotSpec, semantics: Semantics | None) -> list[str]:
    """Return one text with file and line for each implausibility.

    Args:
        model: model of the description.
        robot: the description.
        semantics: the SRDF, if any.
    """
    texts = [text for joint in robot.joints.values() for text in _joint(robot, joint)]
    boxes = _boxes(model)
    reach = _reach(robot)
    for link in robot.links.values():
        if link.name in boxes:
            texts += _geometry(robot, link, boxes[link.name], reach)
            texts += _inertia(model, robot, link, boxes[link.name])
    if semantics is not None:
        texts += _states(model, semantics)
    return texts


def always_touching(robot: RobotSpec, report: SelfCollisionReport) -> list[str]:
    """Return one text per pair that the self-collision filter excludes as always overlapping."""
    return [
        f"{robot.file}:{robot.links[pair.link_a].line}: links {pair.link_a!r} and {pair.link_b!r}"
        " overlap in every configuration, so self-collision does not check them"
        for pair in report.disabled
        if pair.reason == "Always"
    ]


def mostly_touching(robot: RobotSpec, report: SelfCollisionReport) -> list[str]:
    """Return one text per checked pair of links that overlaps at half of the samples or more."""
    return [
        f"{robot.file}:{robot.links[a].line}: links {a!r} and {b!r} overlap at {n} of 100 random"
        " configurations. If they are meant to, name them in a <disable_collisions> of an SRDF"
        for a, b, n in report.frequent
    ]


def _joint(robot: RobotSpec, joint: JointSpec) -> Iterator[str]:
    place = f"{robot.file}:{joint.line}: joint {joint.name!r}: "
    limits = [x for x in (joint.lower, joint.upper) if x is not None]
    farthest = max((abs(x) for x in limits if not _means_none(x)), default=0.0)
    if joint.kind == "revolute" and farthest > _MOST_TURN:
        yield f"{place}limits {joint.lower:g} and {joint.upper:g} rad look like degrees"
    if joint.kind == "prismatic" and farthest > _MOST_LENGTH:
        yield f"{place}limits {joint.lower:g} and {joint.upper:g} m look like millimeters"
    if (
        joint.kind == "revolute"
        and (joint.velocity or 0) > _MOST_SPIN
        and not _means_none(joint.velocity or 0)
    ):
        yield f"{place}velocity limit {joint.velocity:g} rad/s looks like degrees per second"
    distance = float(np.linalg.norm(joint.X_PJ[:3, 3]))
    if distance > _MOST_LENGTH:
        yield f"{place}is {distance:g} m from its parent; that looks like millimeters"


def _means_none(limit: float) -> bool:
    size = abs(limit)
    return size >= _NO_LIMIT or (size >= 100 and math.log10(size).is_integer())


def _reach(robot: RobotSpec) -> float:
    """Longest path along joints from the root [m]."""
    children: dict[str, list[JointSpec]] = {}
    for joint in robot.joints.values():
        children.setdefault(joint.parent, []).append(joint)
    longest = 0.0
    pending = [(root, 0.0) for root in robot.roots]
    while pending:
        link, way = pending.pop()
        longest = max(longest, way)
        for joint in children.get(link, ()):
            pending.append((joint.child, way + float(np.linalg.norm(joint.X_PJ[:3, 3]))))
    return longest


def _boxes(model: Model) -> dict[str, Box]:
    """Bounding box of each link's colliders in link axes, and their volume."""
    found: dict[str, Box] = {}
    for collider in model.colliders:
        low, high = bounding_box(collider.shape, collider.X_LC)
        volume = _volume(collider.shape)
        if (other := found.get(collider.link)) is not None:
            low, high, volume = (
                np.minimum(low, other.low),
                np.maximum(high, other.high),
                volume + other.volume,
            )
        found[collider.link] = Box(low, high, volume)
    return found


def _volume(shape: Shape | TriangleMesh) -> float:
    """Enclosed volume of a mesh; for other shapes the volume of their box, an upper bound."""
    if not isinstance(shape, TriangleMesh) and shape.type != "convex":
        low, high = bounding_box(shape, np.eye(4))
        return float(np.prod(high - low))
    a, b, c = (shape.vertices[shape.faces[:, k]] for k in range(3))
    return float(abs(np.einsum("ij,ij->", a, np.cross(b, c)))) / 6


def _geometry(robot: RobotSpec, link: LinkSpec, box: Box, reach: float) -> Iterator[str]:
    size = float(np.linalg.norm(box.high - box.low))
    is_meant = any(g.mesh is not None for g in link.collisions)
    if size > _MOST_LENGTH or (is_meant and reach > 0 and size > _REACHES * max(reach, 0.1)):
        unit = (
            "its meshes look like millimeters: give them scale='0.001 0.001 0.001'"
            if is_meant
            else "check its units"
        )
        yield (
            f"{robot.file}:{link.line}: link {link.name!r}: its geometry is {size:.3g} m long;"
            f" {unit}"
        )


def _inertia(model: Model, robot: RobotSpec, link: LinkSpec, box: Box) -> Iterator[str]:
    inertial = link.inertial
    if inertial is None or inertial.fault or inertial.mass <= 0:
        return
    place = f"{robot.file}:{inertial.line}: link {link.name!r}: "
    low, high, volume = box.low, box.high, box.volume
    half = float(np.linalg.norm(high - low)) / 2
    if 2 * half < _SMALLEST:
        return
    outside = float(
        np.linalg.norm(np.maximum(0, np.maximum(low - inertial.com, inertial.com - high)))
    )
    if outside > 2 * half:
        yield (
            f"{place}its center of mass is {outside:.3g} m outside of its geometry, which is"
            f" {2 * half:.3g} m long"
        )
    moments = np.linalg.eigvalsh(inertial.inertia)
    gyration = math.sqrt(max(float(moments[-1]), 0.0) / inertial.mass)
    if gyration > 0 and not _SPREAD[0] * half < gyration < _SPREAD[1] * half:
        yield (
            f"{place}its inertia is that of a body with a radius of gyration of {gyration:.3g} m;"
            f" its geometry is {2 * half:.3g} m long"
        )
    if volume > 0 and inertial.mass > _DENSEST * volume:
        yield f"{place}{inertial.mass:g} kg in {1e6 * volume:.3g} cm^3 is denser than any metal"


def _states(model: Model, semantics: Semantics) -> Iterator[str]:
    limits = dict(
        zip(
            model.position_names,
            zip(model.limits.lower, model.limits.upper, strict=True),
            strict=True,
        )
    )
    lines = {(group, name): line for group, name, _, line in semantics.states}
    for state in model.named_states:
        place = (
            f"{semantics.file}:{lines[state.group, state.name]}: state {state.group}/{state.name}: "
        )
        group = model.groups[state.group].joints
        for joint, value in state.positions.items():
            if joint not in group:
                yield (
                    f"{place}joint {joint!r} is not in group {state.group!r}, so a plan of it never"
                    " moves it"
                )
            lower, upper = limits.get(joint, (-np.inf, np.inf))
            if not lower - _NOISE <= value <= upper + _NOISE:
                yield (
                    f"{place}joint {joint!r} at {value:g} is outside its limits {lower:g} to"
                    f" {upper:g}"
                )
