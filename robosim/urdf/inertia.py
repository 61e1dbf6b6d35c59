"""Mass properties from geometry, for links with missing or invalid inertial data.

Each collision geometry (or visual geometry, if a link has no collision geometry) is a uniform
solid. Overlaps of two solids count twice. A closed mesh is solid; otherwise its hull is used. The
inertia is I = tr(C) 1 - C for the second moment C about the center of mass.
"""

from __future__ import annotations

import numpy as np

from robosim.errors import MeshError
from robosim.meshes import MassProperties, load_mesh, mesh_mass_properties, shape_mass_properties
from robosim.urdf.colliders import primitive
from robosim.urdf.description import FloatArray, GeometrySpec, LinkSpec, RobotSpec

__all__ = ["inertia_from_geometry"]


def inertia_from_geometry(
    robot: RobotSpec, link: LinkSpec, *, mass: float | None, density: float
) -> tuple[float, FloatArray, FloatArray, str] | None:
    """Compute mass, center of mass, inertia about it (link axes), and a remark.

    Return None for a link without geometry.

    Args:
        robot: robot to name in errors.
        link: link with the geometry.
        mass: [kg] to scale to; None for volume times density.
        density: [kg/m^3].
    """
    geometries, origin = (
        (link.collisions, "collision") if link.collisions else (link.visuals, "visual")
    )
    if not geometries:
        return None
    parts, hulled = [], 0
    for geometry in geometries:
        part, exact = _solid(robot, link, geometry)
        parts.append(_placed(part, geometry.X_LG))
        hulled += not exact
    volume = sum(p.volume for p in parts)
    com = sum(p.volume * p.com for p in parts) / volume
    second = sum(p.second_moment + p.volume * np.outer(p.com - com, p.com - com) for p in parts)
    total = MassProperties(volume, np.asarray(com), np.asarray(second))
    scale = density if mass is None else mass / volume
    remark = f"inertia computed from its {origin} geometry" + (
        f" with a density of {density:g} kg/m^3"
        if mass is None
        else f" with its mass of {mass:g} kg"
    )
    if hulled:
        remark += f"; {hulled} open mesh{'es' if hulled > 1 else ''} counted as convex hull"
    return scale * volume, total.com, scale * total.inertia, remark


def _solid(robot: RobotSpec, link: LinkSpec, geometry: GeometrySpec) -> tuple[MassProperties, bool]:
    """Mass properties of one geometry in its own frame, and True if they are exact."""
    if geometry.kind == "mesh":
        assert geometry.mesh is not None
        try:
            return mesh_mass_properties(load_mesh(geometry.mesh.path, scale=geometry.mesh.scale))
        except MeshError as e:
            message = f"link {link.name!r}: mesh {geometry.mesh.uri!r}: {e}"
            raise MeshError(message, file=robot.file, line=geometry.line) from None
    return shape_mass_properties(primitive(geometry)), True


def _placed(part: MassProperties, X: FloatArray) -> MassProperties:
    R = X[:3, :3]
    return MassProperties(part.volume, R @ part.com + X[:3, 3], R @ part.second_moment @ R.T)
