"""Conversion of a `RobotSpec` to a model. Errors of the builder are located in the file."""

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


# Smallest eigenvalue of a regular mass matrix scaled to a unit diagonal; rounding leaves 1e-15.
_REGULAR = 1e-11


@dataclass(frozen=True)
class InertiaOptions:
    """Options for computing missing or invalid inertial data from geometry.

    `density` is in [kg/m^3].
    """

    from_meshes: bool = False
    density: float = 1000.0


@contextmanager
def located(robot: RobotSpec, line: int) -> Iterator[None]:
    """Add file and line to a ModelError."""
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
    strict: bool = False,
) -> None:
    """Add all links, joints, colliders and visuals of a robot to a builder.

    Args:
        builder: builder to add to.
        robot: the description.
        colliders: options for the conversion of collision meshes.
        inertia: options for computing missing or invalid inertial data.
        floating_base: True if the root link is free to move.
        strict: refuse a moving body without mass, and a link with invalid inertia.

    Raises:
        UrdfError: a part is invalid; with its line.
        MeshError: a collision mesh cannot be used; with the line that refers to it.
    """
    colliders.check(robot)
    massless = _moving_without_inertia(robot, floating_base)
    for link in robot.links.values():
        body = massless.get(link.name)
        if strict and body == link.name and not inertia.from_meshes:
            message = (
                "moves, but has no mass; give it an <inertial>, or load with"
                " inertia_from_meshes=True"
            )
            raise UrdfError(f"link {link.name!r}: {message}", file=robot.file, line=link.line)
        _add_link(builder, robot, link, inertia, lacks_mass=body is not None, strict=strict)
    for joint in robot.joints.values():
        _add_joint(builder, robot, joint)
    for link in robot.links.values():
        with located(robot, link.line):
            shapes, skipped = shapes_of(robot, link, colliders)
            for shape, X_LC, name, exact in shapes:
                builder.add_collider(link.name, shape, X_LC=X_LC, name=name, exact=exact)
            for text in skipped:
                builder.add_warning(text)
            for geometry in link.visuals:
                builder.add_visual(link.name, _visual(geometry))


def build_model(
    builder: ModelBuilder, robot: RobotSpec, *, filter_adjacent: bool, strict: bool = False
) -> Model:
    """Build the model. An error about the whole is located at the first link or joint it names."""
    try:
        model = builder.build(allow_massless=not strict, filter_adjacent=filter_adjacent)
        if not strict:
            model = _with_singular_fault(model, robot)
        return model.with_warnings(
            text for text in model.dynamics_faults if text not in model.warnings
        )
    except ModelError as e:
        line = 1
        for name in re.findall(r"'([^']*)'", str(e)):
            part = robot.joints.get(name) or robot.links.get(name)
            if part is not None:
                line = part.line
                break
        raise UrdfError(str(e), file=robot.file, line=line) from None


def _with_singular_fault(model: Model, robot: RobotSpec) -> Model:
    """Return the model, with a fault if joints can move a massless link without moving any mass.

    The fault is that of the first massless link. An example is a massless floating base with a
    slide that carries all mass: the mass matrix is singular at every q. A mass matrix that is
    regular anywhere is regular except on a set of measure zero, so a random q decides.
    """
    massless = _moving_without_inertia(robot, model.floating_base)
    if not massless or model.dynamics_faults or model.n_v == 0:
        return model
    M = model.mass_matrix(model.random_configuration(np.random.default_rng(0)))
    scale = 1 / np.sqrt(np.diag(M))
    if np.linalg.eigvalsh(scale[:, None] * M * scale)[0] > _REGULAR:
        return model
    fault = "has no mass, and joints can move it without moving any: the mass matrix is singular"
    return model.with_fault(next(iter(massless.values())), fault)


def _moving_without_inertia(robot: RobotSpec, floating_base: bool) -> dict[str, str]:
    """Find links of moving bodies without mass and moments, each with the first link of its body.

    A body is a set of links that fixed joints weld together, below a moving joint or at the root of
    a robot with a floating base.
    """
    welded: dict[str, list[str]] = {}
    for joint in robot.joints.values():
        if joint.kind == "fixed":
            welded.setdefault(joint.parent, []).append(joint.child)
    carried = [
        j.child for j in robot.joints.values() if j.kind != "fixed" and j.child in robot.links
    ]
    if floating_base:
        carried += robot.roots[:1]
    out: dict[str, str] = {}
    for name in carried:
        body: list[str] = []
        pending = [name]
        # A cycle of fixed joints is reported by the builder.
        while pending and len(body) <= len(robot.links):
            body.append(pending.pop())
            pending.extend(c for c in welded.get(body[-1], ()) if c in robot.links)
        if all(
            (i := robot.links[b].inertial) is None or not (i.mass or i.inertia.any()) for b in body
        ):
            out |= dict.fromkeys(body, name)
    return out


def _add_link(
    builder: ModelBuilder,
    robot: RobotSpec,
    link: LinkSpec,
    options: InertiaOptions,
    *,
    lacks_mass: bool,
    strict: bool,
) -> None:
    """Add a link, with its inertia as described, computed from geometry, or with a fault."""
    inertial, place = link.inertial, f"{robot.file}:{link.line}"
    fault, mass, com, inertia = "", 0.0, np.zeros(3), np.zeros((3, 3))
    if inertial is not None:
        place = f"{robot.file}:{inertial.line}"
        fault, mass, com, inertia = inertial.fault, inertial.mass, inertial.com, inertial.inertia
    impossible = bool(fault)
    # Use the described inertia if it is valid.
    if not impossible:
        try:
            if not (lacks_mass and options.from_meshes):
                builder.add_link(link.name, mass=mass, com=com, inertia=inertia, place=place)
                if lacks_mass and (link.collisions or link.visuals):
                    builder.add_warning(
                        f"{place}: link {link.name!r}: moves and has geometry, but no mass"
                    )
                return
        except ModelError as e:
            impossible = True
            fault = str(e).removeprefix(f"link {link.name!r}: ")
            if strict and not options.from_meshes:
                way_out = (
                    " (or load with inertia_from_meshes=True)"
                    if link.collisions or link.visuals
                    else ""
                )
                raise UrdfError(
                    f"{e}{way_out}", file=robot.file, line=int(place.rpartition(":")[2])
                ) from None
    text = f"{place}: link {link.name!r}: "
    # Otherwise compute it from geometry if requested.
    if options.from_meshes:
        known = mass if mass > 0 else None
        computed = inertia_from_geometry(robot, link, mass=known, density=options.density)
        if computed is not None:
            builder.add_link(
                link.name, mass=computed[0], com=computed[1], inertia=computed[2], place=place
            )
            builder.add_warning(text + computed[3])
            return
        fault += "; there is no geometry to compute it from" if impossible else ""
    # Otherwise add the link with its fault.
    builder.add_link(link.name, mass=mass, com=com, inertia=inertia, fault=fault, place=place)
    if impossible:
        builder.add_warning(text + fault)


def _add_joint(builder: ModelBuilder, robot: RobotSpec, joint: JointSpec) -> None:
    for link, role in ((joint.parent, "parent"), (joint.child, "child")):
        if link not in robot.links:
            message = f"joint {joint.name!r}: its {role} link {link!r} does not exist"
            raise UrdfError(message, file=robot.file, line=joint.line)
    with located(robot, joint.line):
        builder.add_joint(
            joint.name, joint.kind, joint.parent, joint.child, X_PJ=joint.X_PJ, axis=joint.axis,
            lower=joint.lower,
            upper=joint.upper, velocity=joint.velocity, effort=joint.effort,
            acceleration=joint.acceleration,
            damping=joint.damping, friction=joint.friction, mimic=joint.mimic, safety=joint.safety,
        )  # fmt: skip


def _visual(geometry: GeometrySpec) -> Visual:
    if geometry.mesh is not None:
        path, scale = geometry.mesh.path, geometry.mesh.scale
        return Visual(
            mesh=path, scale=scale, X_LV=geometry.X_LG, rgba=geometry.rgba, name=geometry.name
        )
    return Visual(
        shape=primitive(geometry), X_LV=geometry.X_LG, rgba=geometry.rgba, name=geometry.name
    )
