"""What stands in a scene: named objects made of convex shapes and triangle meshes.

An object O has a frame, posed by X_WO in the world (or X_LO in the link that it is attached to),
and shapes posed by X_OS in it. A mesh, terrain or a cloud of points is kept as given, for drawing
and saving, beside the shapes that collide.
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
_MAX_COORDINATE = 1e6  # [m]; beyond it a number is in other units, or broken


@dataclass(frozen=True, eq=False)
class MeshSource:
    """The triangles that an object was made from.

    Attributes:
        mesh: the triangles in the object's frame, scale applied [m].
        file: where they were read, or None for triangles given in memory.
        scale: (3,) what the file's numbers were multiplied by.
        decompose: whether a concave mesh was cut into convex pieces.
        keep: whether it collides as it is: as the "solid" that it encloses, or as a "surface"
        alone. None: as its
            convex pieces.
    """

    mesh: TriangleMesh
    file: str | None = None
    scale: tuple[float, float, float] = (1.0, 1.0, 1.0)
    decompose: bool = False
    keep: Solidity | None = None


@dataclass(frozen=True, eq=False)
class PointCloud:
    """The points that an object was made from: each is a ball of `radius` [m] about a row of
    `points` (n, 3) [m]."""

    points: NDArray[np.float64]
    radius: float


@dataclass(frozen=True, eq=False)
class SceneObject(Value):
    """One named thing: shapes (n), their poses X_OS (n, 4, 4) in the object's frame, and the
    object's own pose.

    It is immutable: arrays given to it are copied where they could still be written to, and are
    read-only.

    Attributes:
        name: unique in its scene.
        shapes: what collides: convex shapes, triangle meshes, concave or not, and point clouds,
        each one of these.
        shape_poses: (n, 4, 4) X_OS of each.
        pose: (4, 4) X_WO in the world frame; of an attached object X_LO in the frame of its link.
        color: red, green, blue, opacity, each 0 to 1.
        source: the mesh, terrain or points that the shapes stand for, or None when the shapes are
        all there is.
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
        """16 bytes that tell apart objects that collide differently: of the name, the shapes and
        where they are."""
        parts = [self.name.encode(), self.shape_poses.tobytes(), self.pose.tobytes()]
        return digest_of([*parts, *map(shape_content, self.shapes)])


def _read_only(array: NDArray[np.float64]) -> NDArray[np.float64]:
    array.setflags(write=False)
    return array


# Where most shapes are in the frame of their object.
_UNMOVED = _read_only(np.eye(4))
_IDENTITY = _read_only(_UNMOVED[None].copy())


def checked_name(name: Any) -> str:
    """A usable name: text without line breaks, not empty, not the wildcard."""
    if not isinstance(name, str) or not name.strip() or name == "*" or min(name) < " ":
        raise SceneError(
            f"an object's name must be text on one line, not empty and not '*'; found {name!r}"
        )
    return name


def checked_pose(pose: ArrayLike | None, what: str) -> Pose:
    """A rigid transform (4, 4), None being the identity; SceneError naming `what` otherwise.

    The rotation must be orthonormal to 1e-6, which double and single precision files reach; it is
    made so to rounding, and left as it is where it is so already.
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
    """How far one pose (4, 4) is from a rigid transform, in a tenth of the time that arrays take;
    infinite where it is none at all, of which `_check_rigid` tells why."""
    (a, b, c, x), (d, e, f, y), (g, h, i, z), last = X.tolist()
    fault = max(
        abs(a * a + b * b + c * c - 1),
        abs(d * d + e * e + f * f - 1),
        abs(g * g + h * h + i * i - 1),
        abs(a * d + b * e + c * f),
        abs(a * g + b * h + c * i),
        abs(d * g + e * h + f * i),
    )
    # A number that is none fails every comparison.
    is_rigid = fault <= 1e-6 and a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g) > 0
    is_placed = (
        abs(x) <= _MAX_COORDINATE and abs(y) <= _MAX_COORDINATE and abs(z) <= _MAX_COORDINATE
    )
    return fault if is_rigid and is_placed and last == [0.0, 0.0, 0.0, 1.0] else math.inf


def _check_rigid(poses: Pose, what: str) -> float:
    """How far (n, 4, 4) poses are from rigid transforms; SceneError naming `what` where that is not
    rounding."""
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
    """`thing` if it is an object that a scene can hold; SceneError otherwise.

    Objects that a scene makes are; one made by hand, or that was pickled, may hold anything.
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
    """Red, green, blue and optionally opacity, each 0 to 1; None is the default gray."""
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
    """`Shape.<kind>(*args, **sizes)`, with SceneError naming `what` when a size is not valid."""
    for value in (*args, *sizes.values()):
        if _has_beyond(value, _MAX_COORDINATE):
            raise SceneError(f"{what}: a size beyond {_MAX_COORDINATE:g} m in {kind} {value!r}")
    try:
        shape: Shape = getattr(Shape, kind)(*args, **sizes)
    except (ValueError, TypeError, RobosimError) as error:
        raise SceneError(f"{what}: {error}") from error
    return shape


def _has_beyond(value: Any, most: float) -> bool:
    """Whether a number in it is larger than `most`, whatever else is in it."""
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
    """An object that is one primitive shape in its own frame."""
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
    """An object of several shapes or bodies, each with its pose X_OS."""
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
    """What an object collides as, with poses X_OS: its shapes and meshes, and each ball of its
    clouds by itself."""
    shapes = zip(thing.shapes, thing.shape_poses, strict=True)
    return [piece for shape, X_OS in shapes for piece in _pieces(shape, X_OS)]


def _pieces(part: Shape | Compound, X: Pose) -> list[tuple[Shape | geometry.TriangleMesh, Pose]]:
    """A shape or body, posed by X, as what collides: shapes and meshes."""
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
    """An object that is one shape or body in its own frame."""
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
    """Terrain as the closed mesh about its solid."""
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
    """A cloud of points, each a ball of the same radius."""
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
    make_shape(what, "sphere", radius)  # says what is wrong with a radius
    source = PointCloud(_read_only(P), float(radius))
    return SceneObject(
        name,
        (geometry.PointCloud(P, source.radius),) if len(P) else (),
        _IDENTITY if len(P) else _IDENTITY[:0],
        checked_pose(pose, what),
        checked_color(color, what),
        source,
    )
