"""A `RobotSpec` into a `ModelBuilder`, with errors of the builder given their line in the file."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from robosim.errors import ModelError, UrdfError
from robosim.model import Model, ModelBuilder, Visual
from robosim.urdf.colliders import ColliderOptions, primitive, shapes_of
from robosim.urdf.description import GeometrySpec, JointSpec, LinkSpec, RobotSpec
from robosim.urdf.inertia import inertia_from_geometry

__all__ = ["InertiaOptions", "add_robot", "build_model", "located"]

_REMEDY = "give it an <inertial>, or load with inertia_from_meshes=True"


@dataclass(frozen=True)
class InertiaOptions:
    """Whether to compute missing or impossible inertial data from geometry, and with which density [kg/m^3]."""

    from_meshes: bool = False
    density: float = 1000.0


@contextmanager
def located(robot: RobotSpec, line: int) -> Iterator[None]:
    """Give a ModelError its place in the file."""
    try:
        yield
    except ModelError as e:
        raise UrdfError(str(e), file=robot.file, line=line) from None


def add_robot(
    builder: ModelBuilder,
    robot: RobotSpec,
    colliders: ColliderOptions,
    inertia: InertiaOptions,
    *,
    floating_base: bool,
) -> None:
    """Add all links, joints, colliders and visuals of a robot.

    Raises:
        UrdfError: a part is not valid; with its line.
        MeshError: a collision mesh cannot be used; with the line that refers to it.
    """
    colliders.check(robot)
    massless = set() if inertia.from_meshes else _moving_without_inertia(robot, floating_base)
    for link in robot.links.values():
        if link.name in massless:
            raise UrdfError(
                f"link {link.name!r}: moves, but has no mass; {_REMEDY}", file=robot.file, line=link.line
            )
        _add_link(builder, robot, link, inertia)
    for joint in robot.joints.values():
        _add_joint(builder, robot, joint)
    for link in robot.links.values():
        with located(robot, link.line):
            for shape, X_LC, name in shapes_of(robot, link, colliders):
                builder.add_collider(link.name, shape, X_LC=X_LC, name=name)
            for geometry in link.visuals:
                builder.add_visual(link.name, _visual(geometry))


def build_model(builder: ModelBuilder, robot: RobotSpec, *, filter_adjacent: bool) -> Model:
    """Build; an error about the whole is placed at the first link or joint that it names."""
    try:
        return builder.build(filter_adjacent=filter_adjacent)
    except ModelError as e:
        line = 1
        for name in re.findall(r"'([^']*)'", str(e)):
            part = robot.joints.get(name) or robot.links.get(name)
            if part is not None:
                line = part.line
                break
        raise UrdfError(str(e), file=robot.file, line=line) from None


def _moving_without_inertia(robot: RobotSpec, floating_base: bool) -> set[str]:
    """Links carried by a moving joint (or flying freely) whose body, they and what is welded to them, has no mass."""
    welded: dict[str, list[str]] = {}
    for joint in robot.joints.values():
        if joint.kind == "fixed":
            welded.setdefault(joint.parent, []).append(joint.child)
    carried = [j.child for j in robot.joints.values() if j.kind != "fixed" and j.child in robot.links]
    if floating_base:
        carried += robot.roots[:1]
    out = set()
    for name in carried:
        body: list[str] = []
        pending = [name]
        while pending and len(body) <= len(robot.links):  # a cycle of fixed joints is reported by the builder
            body.append(pending.pop())
            pending.extend(c for c in welded.get(body[-1], ()) if c in robot.links)
        if all((i := robot.links[b].inertial) is None or i.mass == 0.0 for b in body):
            out.add(name)
    return out


def _add_link(builder: ModelBuilder, robot: RobotSpec, link: LinkSpec, options: InertiaOptions) -> None:
    inertial = link.inertial
    if inertial is not None and (inertial.mass != 0.0 or np.any(inertial.inertia) or not options.from_meshes):
        try:
            builder.add_link(link.name, mass=inertial.mass, com=inertial.com, inertia=inertial.inertia)
            return
        except ModelError as e:
            if not options.from_meshes:
                message = (
                    f"{e} (or load with inertia_from_meshes=True)"
                    if link.collisions or link.visuals
                    else str(e)
                )
                raise UrdfError(message, file=robot.file, line=inertial.line) from None
    if not options.from_meshes:
        with located(robot, link.line):
            builder.add_link(link.name)
        return
    mass = inertial.mass if inertial is not None and inertial.mass > 0 else None
    computed = inertia_from_geometry(robot, link, mass=mass, density=options.density)
    with located(robot, link.line):
        if computed is None:
            builder.add_link(link.name)
            if inertial is not None:
                text = "its inertial data are unusable and it has no geometry to compute them from; taken as massless"
                builder.add_warning(f"{robot.file}:{link.line}: link {link.name!r}: {text}")
            return
        builder.add_link(link.name, mass=computed[0], com=computed[1], inertia=computed[2])
    builder.add_warning(f"{robot.file}:{link.line}: link {link.name!r}: {computed[3]}")


def _add_joint(builder: ModelBuilder, robot: RobotSpec, joint: JointSpec) -> None:
    for link, role in ((joint.parent, "parent"), (joint.child, "child")):
        if link not in robot.links:
            message = f"joint {joint.name!r}: its {role} link {link!r} does not exist"
            raise UrdfError(message, file=robot.file, line=joint.line)
    with located(robot, joint.line):
        builder.add_joint(
            joint.name, joint.kind, joint.parent, joint.child, X_PJ=joint.X_PJ, axis=joint.axis, lower=joint.lower,
            upper=joint.upper, velocity=joint.velocity, effort=joint.effort, acceleration=joint.acceleration,
            damping=joint.damping, friction=joint.friction, mimic=joint.mimic, safety=joint.safety,
        )  # fmt: skip


def _visual(geometry: GeometrySpec) -> Visual:
    if geometry.mesh is not None:
        path, scale = geometry.mesh.path, geometry.mesh.scale
        return Visual(mesh=path, scale=scale, X_LV=geometry.X_LG, rgba=geometry.rgba, name=geometry.name)
    return Visual(shape=primitive(geometry), X_LV=geometry.X_LG, rgba=geometry.rgba, name=geometry.name)
