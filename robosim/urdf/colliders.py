"""Conversion of collision and visual geometry to the engine's shapes.

Meshes become their hull, or convex pieces, or stay triangle meshes, as options say.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple

from robosim import geometry
from robosim.errors import MeshError, MissingDependencyError, UrdfError, suggestion
from robosim.geometry import Shape
from robosim.meshes import (
    TriangleMesh,
    concave_mesh_of_file,
    convex_hull_of_file,
    convex_pieces_of_file,
    is_convex,
    load_mesh,
)
from robosim.urdf.description import FloatArray, GeometrySpec, LinkSpec, RobotSpec

__all__ = [
    "ColliderOptions",
    "ColliderSpec",
    "ConvexMode",
    "mesh_stand_ins",
    "primitive",
    "shapes_of",
]

ConvexMode = Literal["hull", "pieces", "mesh"]
_MODES = ("hull", "pieces", "mesh")


@dataclass(frozen=True)
class ColliderOptions:
    """Options for the conversion of collision meshes to colliders.

    Attributes:
        convex: "hull", "pieces" or "mesh" for all links, or per link; links that are not named get
            their hull.
        max_vertices: largest number of vertices of a hull; None for no limit.
        threshold: largest concavity of a piece, see `robosim.meshes.convex_decomposition`.
        max_pieces: largest number of pieces per mesh; None for no limit.
        skip_missing: True to omit a mesh that cannot be read, False to raise an error.
        exact: True if concave meshes decide where their hulls or pieces overlap something.
    """

    convex: ConvexMode | Mapping[str, ConvexMode] = "hull"
    max_vertices: int | None = None
    threshold: float = 0.05
    max_pieces: int | None = None
    skip_missing: bool = False
    exact: bool = True

    def check(self, robot: RobotSpec) -> None:
        """Raise UrdfError for unknown modes and links."""
        modes = self.convex if isinstance(self.convex, Mapping) else {"": self.convex}
        for link, mode in modes.items():
            if mode not in _MODES:
                raise UrdfError(f"convex={mode!r} is not known; use 'hull', 'pieces' or 'mesh'")
            if link and link not in robot.links:
                raise UrdfError(
                    f"convex names link {link!r}, which {robot.file} does not"
                    f" have{suggestion(link, robot.links)}"
                )

    def mode(self, link: str) -> ConvexMode:
        """Conversion mode of one link."""
        return self.convex.get(link, "hull") if isinstance(self.convex, Mapping) else self.convex


def primitive(geometry: GeometrySpec) -> Shape:
    """Shape of a geometry that is not a mesh.

    URDF and `Shape` agree: full box sizes, lengths along z.
    """
    if geometry.kind == "box":
        return Shape.box(geometry.size)
    if geometry.kind == "sphere":
        return Shape.sphere(*geometry.size)
    if geometry.kind == "cylinder":
        return Shape.cylinder(*geometry.size)
    return Shape.capsule(*geometry.size)


def mesh_stand_ins(
    robot: RobotSpec, link: LinkSpec, geometry: GeometrySpec, options: ColliderOptions
) -> list[TriangleMesh]:
    """Convex meshes that represent a collision mesh, or the mesh itself in the mode "mesh".

    Raises:
        MeshError: the mesh cannot be read or decomposed; at the line that refers to it.
        MissingDependencyError: pieces are requested and coacd is not installed.
    """
    assert geometry.mesh is not None
    path, scale = geometry.mesh.path, geometry.mesh.scale
    try:
        if options.mode(link.name) == "mesh":
            return [load_mesh(path, scale=scale)]
        if options.mode(link.name) == "hull":
            return [convex_hull_of_file(path, scale=scale, max_vertices=options.max_vertices)]
        return convex_pieces_of_file(
            path, scale=scale, threshold=options.threshold, max_pieces=options.max_pieces
        )
    except MeshError as e:
        message = f"link {link.name!r}: mesh {geometry.mesh.uri!r}: {e}"
        raise MeshError(message, file=robot.file, line=geometry.line) from None
    except MissingDependencyError as e:
        raise MissingDependencyError(f"link {link.name!r}: {e}") from None


class ColliderSpec(NamedTuple):
    """A collider of a link: shape, pose in the link, name (None for its number), and exact mesh."""

    shape: Shape | geometry.TriangleMesh
    X_LC: FloatArray
    name: str | None
    exact: geometry.TriangleMesh | None


def shapes_of(
    robot: RobotSpec, link: LinkSpec, options: ColliderOptions
) -> tuple[list[ColliderSpec], list[str]]:
    """Return every collider of a link, and the reasons for omitted meshes.

    A name that occurs twice in the URDF gets a number appended, and so do the pieces of one mesh.
    """
    out: list[ColliderSpec] = []
    left_out: list[str] = []
    taken: set[str] = set()
    for spec in link.collisions:
        try:
            shapes, exact = _shapes(robot, link, spec, options)
        except MeshError as e:
            if not options.skip_missing:
                raise
            left_out.append(f"{e}; left out: nothing collides with it")
            continue
        for shape in shapes:
            out.append(ColliderSpec(shape, spec.X_LG, _free_name(spec.name, taken), exact))
    return out, left_out


def _shapes(
    robot: RobotSpec, link: LinkSpec, spec: GeometrySpec, options: ColliderOptions
) -> tuple[list[Shape | geometry.TriangleMesh], geometry.TriangleMesh | None]:
    """Shapes that represent a geometry, and the exact mesh if it is concave."""
    if spec.mesh is None:
        return [primitive(spec)], None
    keeps = options.mode(link.name) == "mesh"
    try:
        shapes = [_collider(m, keeps) for m in mesh_stand_ins(robot, link, spec, options)]
        refines = options.exact and not keeps
        mesh = concave_mesh_of_file(spec.mesh.path, scale=spec.mesh.scale) if refines else None
        return shapes, None if mesh is None else geometry.TriangleMesh(mesh.vertices, mesh.faces)
    except ValueError as e:
        if isinstance(e, MeshError):
            raise
        message = f"link {link.name!r}: mesh {spec.mesh.uri!r}: {e}"
        raise MeshError(message, file=robot.file, line=spec.line) from None


def _collider(mesh: TriangleMesh, keeps: bool) -> Shape | geometry.TriangleMesh:
    """Convert a convex mesh to a shape, or a concave mesh in the mode "mesh" to its triangles."""
    if not keeps:
        return Shape.convex(mesh.vertices, mesh.faces)
    if is_convex(mesh):
        return Shape.convex(mesh.vertices)
    return geometry.TriangleMesh(mesh.vertices, mesh.faces)


def _free_name(name: str, taken: set[str]) -> str | None:
    if not name:
        return None
    candidate, n = name, 1
    while candidate in taken:
        n += 1
        candidate = f"{name}_{n}"
    taken.add(candidate)
    return candidate
