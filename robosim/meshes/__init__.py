"""Triangle meshes: strict reading, convex approximations, and mass properties of the solid."""

from robosim.meshes.cache import cache_folder
from robosim.meshes.hull import convex_hull
from robosim.meshes.load import MESH_FORMATS, load_mesh
from robosim.meshes.mass import (
    MassProperties,
    is_closed,
    is_convex,
    mesh_mass_properties,
    shape_mass_properties,
)
from robosim.meshes.mesh import TriangleMesh
from robosim.meshes.pieces import (
    concave_mesh_of_file,
    convex_decomposition,
    convex_hull_of_file,
    convex_pieces_of_file,
)
from robosim.meshes.standoff import Standoff, hull_standoff, left_out

__all__ = [
    "MESH_FORMATS",
    "MassProperties",
    "Standoff",
    "TriangleMesh",
    "cache_folder",
    "concave_mesh_of_file",
    "convex_decomposition",
    "convex_hull",
    "convex_hull_of_file",
    "convex_pieces_of_file",
    "hull_standoff",
    "is_closed",
    "is_convex",
    "left_out",
    "load_mesh",
    "mesh_mass_properties",
    "shape_mass_properties",
]
