"""Mass, center of mass and inertia of uniform solids: shapes, and closed triangle meshes.

The solid in a closed surface is the signed sum of the tetrahedra (origin, a, b, c) over its
triangles. For one tetrahedron

    volume = a . (b x c) / 6,   int x dV = volume (a + b + c) / 4,
    int x x^T dV = volume / 20 (a a^T + b b^T + c c^T + (a + b + c)(a + b + c)^T)

Source: F. Tonon, "Explicit exact formulas for the 3-D tetrahedron inertia tensor", J. Math. Stat. 1
(2004). The inertia is I = tr(C) 1 - C for the second moment C about the center of mass.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from robosim.errors import MeshError
from robosim.geometry import Shape
from robosim.meshes.hull import convex_hull
from robosim.meshes.mesh import TriangleMesh

__all__ = [
    "MassProperties",
    "is_closed",
    "is_convex",
    "mesh_mass_properties",
    "shape_mass_properties",
]


@dataclass(frozen=True, eq=False)
class MassProperties:
    """Mass properties of a solid of density 1 kg/m^3.

    Attributes:
        volume: [m^3].
        com: (3,) center of mass [m].
        second_moment: (3, 3) int (x - com)(x - com)^T dV [m^5].
    """

    volume: float
    com: NDArray[np.float64]
    second_moment: NDArray[np.float64]

    @property
    def inertia(self) -> NDArray[np.float64]:
        """(3, 3) inertia about the center of mass, per unit density [m^5]."""
        return float(np.trace(self.second_moment)) * np.eye(3) - self.second_moment


def is_closed(mesh: TriangleMesh) -> bool:
    """Return true if each edge is shared by exactly two triangles with opposite directions.

    Equal vertices are merged first.
    """
    faces = mesh.merged().faces
    edges = np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]])
    if len(edges) == 0:
        return False
    forward = np.unique(edges, axis=0)
    return len(forward) == len(edges) and np.array_equal(forward, np.unique(edges[:, ::-1], axis=0))


def is_convex(mesh: TriangleMesh, *, tolerance: float = 1e-3) -> bool:
    """Return true if a mesh is closed and has the volume of its hull, to a relative `tolerance`."""
    if not is_closed(mesh):
        return False
    hull = _moments(convex_hull(mesh.used_vertices)).volume
    return abs(_moments(mesh).volume - hull) <= tolerance * hull


def mesh_mass_properties(mesh: TriangleMesh) -> tuple[MassProperties, bool]:
    """Compute the mass properties of the solid inside a mesh.

    Returns:
        The properties, and True if the mesh itself was used. A mesh that is not closed, or encloses
            no volume, is replaced by its convex hull.

    Raises:
        MeshError: the hull has no volume either.
    """
    if is_closed(mesh):
        own = _moments(mesh)
        if own.volume > 1e-9 * mesh.extent**3:
            return own, True
    hull = _moments(convex_hull(mesh.used_vertices))
    if not hull.volume > 0:
        raise MeshError("mesh encloses no volume")
    return hull, False


def shape_mass_properties(shape: Shape) -> MassProperties:
    """Compute the mass properties of a solid shape, in its own frame, in closed form.

    Raises:
        MeshError: the shape has no volume or infinite volume, or it is a convex mesh or a triangle
            with rounding.
    """
    if shape.type == "convex" and not shape.rounding:
        return mesh_mass_properties(convex_hull(shape.vertices))[0]
    make = _SOLIDS.get(shape.type)
    if make is None:
        rounded = " with a rounding" if shape.type == "convex" else ""
        raise MeshError(
            f"there are no mass properties of a {shape.type}{rounded}; give mass, com and inertia"
        )
    found = make(shape)
    if not found.volume > 0:
        raise MeshError(f"{shape} has no volume")
    return found


def _centered(volume: float, x: float, y: float, z: float) -> MassProperties:
    """Mass properties of a solid with three symmetry planes, from its second moments."""
    return MassProperties(volume, np.zeros(3), np.diag([x, y, z]))


def _ellipsoid(a: float, b: float, c: float) -> MassProperties:
    volume = 4 / 3 * math.pi * a * b * c
    return _centered(volume, *(volume * x**2 / 5 for x in (a, b, c)))


def _cylinder(r: float, length: float) -> MassProperties:
    volume = math.pi * r**2 * length
    return _centered(volume, volume * r**2 / 4, volume * r**2 / 4, volume * length**2 / 12)


def _capsule(r: float, length: float) -> MassProperties:
    """Capsule: a tube and two half balls.

    Together the half balls have the ball's second moment about their flat centers at +-length/2.
    Shifting each along z by h = length/2 adds V_half (h^2 + 2 h 3r/8).
    """
    tube, ball, h = _cylinder(r, length), _ellipsoid(r, r, r), length / 2
    second = tube.second_moment + ball.second_moment
    second[2, 2] += ball.volume * (h**2 + 2 * h * 3 * r / 8)
    return MassProperties(tube.volume + ball.volume, np.zeros(3), second)


def _cone(r: float, length: float) -> MassProperties:
    """Cone on its base, with the origin at half height.

    The center of mass is a quarter of the length above the base.
    """
    volume = math.pi * r**2 * length / 3
    second = volume * np.diag([3 * r**2 / 20, 3 * r**2 / 20, 3 * length**2 / 80])
    return MassProperties(volume, np.array([0, 0, -length / 4]), second)


def _box(size: NDArray[np.float64], r: float) -> MassProperties:
    """Box with rounded edges: the Minkowski sum of a box and a ball of radius r.

    It consists of the box, a slab on each face, a quarter cylinder along each edge and an eighth of
    a ball at each corner.
    """
    a, b, c = size
    volume = (
        a * b * c
        + 2 * r * (a * b + b * c + c * a)
        + math.pi * r**2 * (a + b + c)
        + 4 / 3 * math.pi * r**3
    )

    def along(a: float, b: float, c: float) -> float:
        h = a / 2
        beside = (b * c + 2 * r * (b + c) + math.pi * r**2) * a**3 / 12  # all between -h and h
        slabs = 2 * b * c * ((h + r) ** 3 - h**3) / 3
        edges = (b + c) * (math.pi * r**2 * h**2 + 8 / 3 * h * r**3 + math.pi * r**4 / 4)
        corners = 4 / 3 * math.pi * r**3 * h**2 + math.pi * r**4 * h + 4 / 15 * math.pi * r**5
        return beside + slabs + edges + corners

    return _centered(volume, along(a, b, c), along(b, c, a), along(c, a, b))


_SOLIDS: dict[str, Callable[[Shape], MassProperties]] = {
    "sphere": lambda s: _ellipsoid(s.radius, s.radius, s.radius),
    "box": lambda s: _box(s.size, s.rounding),
    "capsule": lambda s: _capsule(s.radius, s.length),
    "cylinder": lambda s: _cylinder(s.radius, s.length),
    "ellipsoid": lambda s: _ellipsoid(*s.radii),
    "cone": lambda s: _cone(s.radius, s.length),
}


def _moments(mesh: TriangleMesh) -> MassProperties:
    center = mesh.vertices.mean(axis=0)  # near the mesh, for precision
    a, b, c = (mesh.triangles - center).transpose(1, 0, 2)
    volumes = np.einsum("ij,ij->i", a, np.cross(b, c)) / 6
    volume = float(volumes.sum())
    if volume == 0.0:
        return MassProperties(0.0, center, np.zeros((3, 3)))
    s = a + b + c
    com = volumes @ s / 4 / volume
    second = sum(np.einsum("i,ij,ik->jk", volumes, x, x) for x in (a, b, c, s)) / 20
    return MassProperties(volume, center + com, np.asarray(second - volume * np.outer(com, com)))
