"""Mass, centre of mass and inertia of a uniform solid bounded by a triangle mesh.

A closed surface is the signed sum of the tetrahedra (origin, a, b, c) over its triangles; over one of them

    volume = a . (b x c) / 6,   int x dV = volume (a + b + c) / 4,
    int x x^T dV = volume / 20 (a a^T + b b^T + c c^T + (a + b + c)(a + b + c)^T)

Source: F. Tonon, "Explicit exact formulas for the 3-D tetrahedron inertia tensor", J. Math. Stat. 1 (2004); the
    products of
inertia follow from I = tr(C) 1 - C with C the second moment about the centre of mass.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from robosim.errors import MeshError
from robosim.meshes.hull import convex_hull
from robosim.meshes.mesh import TriangleMesh

__all__ = ["MassProperties", "is_closed", "is_convex", "mesh_mass_properties"]


@dataclass(frozen=True, eq=False)
class MassProperties:
    """Of a solid of density 1 kg/m^3.

    Attributes:
        volume: [m^3].
        com: (3,) centre of mass [m].
        second_moment: (3, 3) int (x - com)(x - com)^T dV [m^5].
    """

    volume: float
    com: NDArray[np.float64]
    second_moment: NDArray[np.float64]

    @property
    def inertia(self) -> NDArray[np.float64]:
        """(3, 3) about the centre of mass, per unit density [m^5]."""
        return float(np.trace(self.second_moment)) * np.eye(3) - self.second_moment


def is_closed(mesh: TriangleMesh) -> bool:
    """Whether each edge is shared by just two triangles that run along it in opposite directions (after joining
    vertices)."""
    faces = mesh.merged().faces
    edges = np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]])
    if len(edges) == 0:
        return False
    forward = np.unique(edges, axis=0)
    return len(forward) == len(edges) and np.array_equal(forward, np.unique(edges[:, ::-1], axis=0))


def is_convex(mesh: TriangleMesh, *, tolerance: float = 1e-3) -> bool:
    """Whether a mesh is closed and encloses the volume of its convex hull, to a relative `tolerance`."""
    if not is_closed(mesh):
        return False
    hull = _moments(convex_hull(mesh.used_vertices)).volume
    return abs(_moments(mesh).volume - hull) <= tolerance * hull


def mesh_mass_properties(mesh: TriangleMesh) -> tuple[MassProperties, bool]:
    """Mass properties of the solid inside a mesh.

    Returns:
        The properties, and whether the mesh itself was used: one that is not closed, or encloses no volume, has no
        inside, and its convex hull stands in for it.

    Raises:
        MeshError: not even the hull has a volume.
    """
    if is_closed(mesh):
        own = _moments(mesh)
        if own.volume > 1e-9 * mesh.extent**3:
            return own, True
    hull = _moments(convex_hull(mesh.used_vertices))
    if not hull.volume > 0:
        raise MeshError("mesh encloses no volume")
    return hull, False


def _moments(mesh: TriangleMesh) -> MassProperties:
    centre = mesh.vertices.mean(axis=0)  # near the mesh, for precision
    a, b, c = (mesh.triangles - centre).transpose(1, 0, 2)
    volumes = np.einsum("ij,ij->i", a, np.cross(b, c)) / 6
    volume = float(volumes.sum())
    if volume == 0.0:
        return MassProperties(0.0, centre, np.zeros((3, 3)))
    s = a + b + c
    com = volumes @ s / 4 / volume
    second = sum(np.einsum("i,ij,ik->jk", volumes, x, x) for x in (a, b, c, s)) / 20
    return MassProperties(volume, centre + com, np.asarray(second - volume * np.outer(com, com)))
