"""Scene objects: named objects made of convex shapes and triangle meshes.

An object O has a frame, posed by X_WO in the world (or by X_LO in the link that carries it), and
shapes posed by X_OS in that frame. A mesh, terrain or point cloud is kept as given, for drawing and
saving, beside the shapes that collide.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from robosim import geometry
from robosim.errors import GeometryError, RobosimError, SceneError
from robosim.geometry import Compound, Shape
from robosim.geometry import pose as make_pose
from robosim.meshes import TriangleMesh
from robosim.pickling import Value
from robosim.scene.digests import digest_of, shape_content
from robosim.scene.terrain import Terrain, terrain_mesh

__all__ = [
    "DEFAULT_COLOR",
    "MeshSource",
    "Piece",
    "PointCloud",
    "SceneObject",
    "Solidity",
    "checked_color",
    "checked_object",
    "checked_pose",
    "make_shape",
    "pieces_of",
]

Pose = NDArray[np.float64]
Solidity = Literal["solid", "surface"]
Color = tuple[float, float, float, float]
Piece = Shape | geometry.TriangleMesh | geometry.PointCloud

DEFAULT_COLOR: Color = (0.62, 0.66, 0.70, 1.0)
_MAX_COORDINATE = 1e6  # [m]; larger numbers are in other units, or corrupt


@dataclass(frozen=True, eq=False)
class MeshSource:
    """Triangle mesh that an object was made from.

    Attributes:
        mesh: triangles in the object's frame, with the scale applied [m].
        file: file that they were read from, or None for triangles given in memory.
        scale: (3,) factors applied to the numbers of the file.
        decompose: True if a concave mesh was cut into convex pieces.
        keep: "solid" if the mesh collides as the volume that it encloses, "surface" if it collides
            as a surface alone; None for its convex pieces.
    """

    mesh: TriangleMesh
    file: str | None = None
    scale: tuple[float, float, float] = (1.0, 1.0, 1.0)
    decompose: bool = False
    keep: Solidity | None = None


@dataclass(frozen=True, eq=False)
class PointCloud:
    """Points that an object was made from: centers (n, 3) [m] of spheres of `radius` [m]."""

    points: NDArray[np.float64]
    radius: float


@dataclass(frozen=True, eq=False)
class SceneObject(Value):
    """A named object: n shapes, their poses X_OS (n, 4, 4) in the object's frame, and its own pose.

    Immutable: arrays are read-only, and copied if they could still be written to.

    Attributes:
        name: unique name in its scene.
        shapes: colliding shapes: convex shapes, triangle meshes (concave or not) and point clouds.
        shape_poses: (n, 4, 4) X_OS of each shape.
        pose: (4, 4) X_WO in the world frame; for an attached object X_LO in the frame of its link.
        color: red, green, blue, opacity, each 0 to 1.
        source: mesh, terrain or points that the shapes stand for, or None.
    """

    name: str
    shapes: tuple[Piece, ...]
    shape_poses: Pose
    pose: Pose
    color: Color = DEFAULT_COLOR
    source: MeshSource | Terrain | PointCloud | None = field(default=None)

    def __post_init__(self) -> None:
        for name in ("shape_poses", "pose"):
            array = getattr(self, name)
            if isinstance(array, np.ndarray) and (array.flags.writeable or not array.flags.owndata):
                object.__setattr__(self, name, _read_only(array.copy()))

    @cached_property
    def digest(self) -> bytes:
        """Digest (16 bytes) that differs for objects that collide differently.

        It covers name, shapes and poses.
        """
        parts = [self.name.encode(), self.shape_poses.tobytes(), self.pose.tobytes()]
        return digest_of([*parts, *map(shape_content, self.shapes)])


def _read_only(array: NDArray[np.float64]) -> NDArray[np.float64]:
    array.setflags(write=False)
    return array


# Poses of most shapes in the frame of their object.
_UNMOVED = _read_only(np.eye(4))
_IDENTITY = _read_only(_UNMOVED[None].copy())


def checked_name(name: Any) -> str:
    """Return a valid name: text without line breaks, not empty, not the wildcard."""
    if not isinstance(name, str) or not name.strip() or name == "*" or min(name) < " ":
        raise SceneError(
            f"an object's name must be text on one line, not empty and not '*'; found {name!r}"
        )
    return name


def checked_pose(pose: ArrayLike | None, what: str) -> Pose:
    """Return a rigid transform (4, 4), the identity for None; SceneError naming `what` if invalid.

    The rotation must be orthonormal to 1e-6, which files of double and single precision reach. It
    is made orthonormal to rounding, unless it is so already.
    """
    if pose is None:
        return np.eye(4)
    try:
        X = np.array(pose, dtype=np.float64)
    except (TypeError, ValueError):
        raise SceneError(f"{what}: the pose must be a 4x4 array, found {pose!r}") from None
    if X.shape != (4, 4):
        raise SceneError(f"{what}: the pose must be a 4x4 array, found shape {X.shape}")
    fault = _rigid_fault(X)
    if (fault if fault <= 1e-6 else _check_rigid(X[None], what)) > 1e-14:
        U, _, Vt = np.linalg.svd(X[:3, :3])
        X[:3, :3] = U @ Vt
    X[3] = (0, 0, 0, 1)
    return X


def _rigid_fault(X: Pose) -> float:
    """Return the deviation of one pose (4, 4) from a rigid transform.

    This is ten times faster than with arrays.

    The deviation is infinite for a pose that is not valid; `_check_rigid` then reports the reason.
    """
    (a, b, c, x), (d, e, f, y), (g, h, i, z), last = X.tolist()
    fault = max(
        abs(a * a + b * b + c * c - 1),
        abs(d * d + e * e + f * f - 1),
        abs(g * g + h * h + i * i - 1),
        abs(a * d + b * e + c * f),
        abs(a * g + b * h + c * i),
        abs(d * g + e * h + f * i),
    )
    # A nan fails every comparison.
    is_rigid = fault <= 1e-6 and a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g) > 0
    is_placed = (
        abs(x) <= _MAX_COORDINATE and abs(y) <= _MAX_COORDINATE and abs(z) <= _MAX_COORDINATE
    )
    return fault if is_rigid and is_placed and last == [0.0, 0.0, 0.0, 1.0] else math.inf


def _check_rigid(poses: Pose, what: str) -> float:
    """Return the deviation of poses (n, 4, 4) from rigid transforms.

    Raises SceneError naming `what` if it is larger than rounding.
    """
    if not np.isfinite(poses).all() or np.abs(poses[:, :3, 3]).max(initial=0.0) > _MAX_COORDINATE:
        raise SceneError(
            f"{what}: the pose holds a number that is not finite or beyond {_MAX_COORDINATE:g} m"
        )
    odd = np.flatnonzero((np.abs(poses[:, 3] - (0, 0, 0, 1)) > 1e-9).any(axis=1))
    if odd.size:
        raise SceneError(
            f"{what}: the last row of the pose must be 0 0 0 1, found {poses[odd[0], 3].tolist()}"
        )
    R = poses[:, :3, :3]
    fault = np.abs(R @ R.swapaxes(1, 2) - np.eye(3)).max(axis=(1, 2), initial=0.0)
    odd = np.flatnonzero((fault > 1e-6) | (np.linalg.det(R) < 0))
    if odd.size:
        raise SceneError(
            f"{what}: the pose's rotation is not orthonormal and right-handed: {R[odd[0]].tolist()}"
        )
    return float(fault.max(initial=0.0))


def checked_object(thing: Any) -> SceneObject:
    """Return `thing` if it is a valid object of a scene; SceneError otherwise.

    Objects made by a scene are valid. An object made by hand or unpickled may hold anything.
    """
    if not isinstance(thing, SceneObject):
        raise SceneError(f"a scene is made of SceneObjects, found {type(thing).__name__}")
    what = f"object {checked_name(thing.name)!r}"
    shapes = thing.shapes
    if not isinstance(shapes, tuple) or not all(
        isinstance(shape, (Shape, geometry.TriangleMesh, geometry.PointCloud)) for shape in shapes
    ):
        raise SceneError(
            f"{what}: shapes must be a tuple of Shapes, TriangleMeshes and PointClouds, found"
            f" {shapes!r}"
        )
    for poses, shape, name in (
        (thing.shape_poses, (len(shapes), 4, 4), "shape_poses"),
        (thing.pose, (4, 4), "pose"),
    ):
        if not isinstance(poses, np.ndarray) or poses.dtype != np.float64 or poses.shape != shape:
            raise SceneError(
                f"{what}: {name} must be a float64 array of shape {shape}, found {poses!r}"
            )
        if poses is not _IDENTITY and not (
            poses.size == 16 and _rigid_fault(poses.reshape(4, 4)) <= 1e-6
        ):
            _check_rigid(poses.reshape(-1, 4, 4), what)
    if checked_color(thing.color, what) != thing.color:
        raise SceneError(f"{what}: color must be a tuple of 4 numbers, found {thing.color!r}")
    return thing


def checked_color(color: Sequence[float] | None, what: str) -> Color:
    """Return red, green, blue and opacity from 3 or 4 numbers, each 0 to 1.

    None is the default gray.
    """
    if color is None:
        return DEFAULT_COLOR
    try:
        values = tuple(float(c) for c in color)
    except (TypeError, ValueError):
        values = ()
    if len(values) not in (3, 4) or not all(math.isfinite(c) and 0 <= c <= 1 for c in values):
        raise SceneError(f"{what}: a color is 3 or 4 numbers from 0 to 1, found {color!r}")
    r, g, b, *a = values
    return (r, g, b, a[0] if a else 1.0)


def make_shape(what: str, kind: str, *args: Any, **sizes: Any) -> Shape:
    """Return `Shape.<kind>(*args, **sizes)`; SceneError naming `what` if a size is not valid."""
    for value in (*args, *sizes.values()):
        if _has_beyond(value, _MAX_COORDINATE):
            raise SceneError(f"{what}: a size beyond {_MAX_COORDINATE:g} m in {kind} {value!r}")
    try:
        shape: Shape = getattr(Shape, kind)(*args, **sizes)
    except (ValueError, TypeError, RobosimError) as error:
        raise SceneError(f"{what}: {error}") from error
    return shape


def _has_beyond(value: Any, most: float) -> bool:
    """True if a value contains a number larger than `most`, whatever else it contains."""
    if isinstance(value, (int, float)):
        return abs(value) > most
    if isinstance(value, np.ndarray) and value.dtype == np.float64:
        return bool((np.abs(value) > most).any())
    numbers = np.asarray(value, dtype=object).ravel()
    return any(isinstance(v, (int, float)) and abs(v) > most for v in numbers)


def simple_object(
    name: str,
    kind: str,
    sizes: Iterable[Any],
    pose: ArrayLike | None,
    color: Sequence[float] | None,
) -> SceneObject:
    """Make an object of one primitive shape in its own frame."""
    what = f"object {checked_name(name)!r}"
    shape = make_shape(what, kind, *sizes)
    return SceneObject(
        name, (shape,), _IDENTITY, checked_pose(pose, what), checked_color(color, what)
    )


def compound_object(
    name: str,
    parts: Iterable[tuple[Shape | Compound, ArrayLike | None]],
    pose: ArrayLike | None,
    color: Sequence[float] | None,
) -> SceneObject:
    """Make an object of several shapes or bodies, each with its pose X_OS."""
    what = f"object {checked_name(name)!r}"
    listed: list[tuple[Shape | geometry.TriangleMesh, Pose]] = []
    for i, (part, X) in enumerate(parts):
        if not isinstance(part, (Shape, Compound)):
            raise SceneError(
                f"{what}: part {i} must be a Shape or a body of robosim.geometry, found"
                f" {type(part).__name__}"
            )
        listed += _pieces(part, checked_pose(X, f"{what}, part {i}") if X is not None else _UNMOVED)
    if not listed:
        raise SceneError(f"{what}: it needs at least one shape")
    is_alone = len(listed) == 1 and listed[0][1] is _UNMOVED
    poses = _IDENTITY if is_alone else np.stack([X for _, X in listed])
    return SceneObject(
        name,
        tuple(s for s, _ in listed),
        poses,
        checked_pose(pose, what),
        checked_color(color, what),
    )


def pieces_of(thing: SceneObject) -> list[tuple[Shape | geometry.TriangleMesh, Pose]]:
    """Return shapes and meshes of an object with poses X_OS, with each sphere of its clouds."""
    shapes = zip(thing.shapes, thing.shape_poses, strict=True)
    return [piece for shape, X_OS in shapes for piece in _pieces(shape, X_OS)]


def _pieces(part: Shape | Compound, X: Pose) -> list[tuple[Shape | geometry.TriangleMesh, Pose]]:
    """Return the colliding shapes and meshes of a shape or body posed by X."""
    if isinstance(part, (Shape, geometry.TriangleMesh)):
        return [(part, X)]
    if isinstance(part, geometry.PointCloud):
        ball = Shape.sphere(part.radius)
        return [(ball, X @ make_pose(point)) for point in part.points]
    if isinstance(part, geometry.HeightField):
        return [(terrain_mesh(Terrain(part.heights, (part.spacing[0], part.spacing[1]))), X)]
    return [piece for inner, X_BP in part.parts for piece in _pieces(inner, X @ X_BP)]


def body_object(
    name: str, body: Shape | Compound, pose: ArrayLike | None, color: Sequence[float] | None
) -> SceneObject:
    """Make an object of one shape or body in its own frame."""
    if isinstance(body, geometry.PointCloud):
        return points_object(name, body.points, body.radius, pose, color)
    if isinstance(body, geometry.HeightField):
        return terrain_object(
            name, Terrain(body.heights, (body.spacing[0], body.spacing[1])), pose, color
        )
    thing = compound_object(name, [(body, None)], pose, color)
    if not isinstance(body, geometry.TriangleMesh):
        return thing
    mesh = TriangleMesh(body.vertices, body.faces.astype(np.int64))
    return replace(thing, source=MeshSource(mesh, keep="solid" if body.is_solid else "surface"))


def terrain_object(
    name: str, terrain: Terrain, pose: ArrayLike | None, color: Sequence[float] | None
) -> SceneObject:
    """Make an object of terrain, as the closed mesh around its solid."""
    what = f"object {checked_name(name)!r}"
    try:
        mesh = terrain_mesh(terrain)
    except GeometryError as error:
        raise SceneError(f"{what}: {error}") from error
    return SceneObject(
        name, (mesh,), _IDENTITY, checked_pose(pose, what), checked_color(color, what), terrain
    )


def points_object(
    name: str,
    points: ArrayLike,
    radius: float,
    pose: ArrayLike | None,
    color: Sequence[float] | None,
) -> SceneObject:
    """Make an object of a point cloud, with spheres of equal radius."""
    what = f"object {checked_name(name)!r}"
    try:
        P = np.array(points, dtype=np.float64)
    except (TypeError, ValueError):
        raise SceneError(f"{what}: points must be an (n, 3) array of numbers") from None
    if P.ndim not in (2, 3) or P.shape[-1] != 3:
        raise SceneError(
            f"{what}: points must be (n, 3), or (h, w, 3) as of a picture; found shape {P.shape}"
        )
    P = P.reshape(-1, 3)
    bad = np.flatnonzero(~(np.abs(P) <= _MAX_COORDINATE).all(axis=1))
    if bad.size:
        advice = "; clean_cloud leaves out what is not finite"
        raise SceneError(
            f"{what}: point {bad[0]} is not finite or beyond {_MAX_COORDINATE:g} m:"
            f" {P[bad[0]].tolist()}{'' if np.isfinite(P[bad[0]]).all() else advice}"
        )
    make_shape(what, "sphere", radius)  # raises if the radius is not valid
    source = PointCloud(_read_only(P), float(radius))
    return SceneObject(
        name,
        (geometry.PointCloud(P, source.radius),) if len(P) else (),
        _IDENTITY if len(P) else _IDENTITY[:0],
        checked_pose(pose, what),
        checked_color(color, what),
        source,
    )
