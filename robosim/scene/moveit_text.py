"""MoveIt's `.scene` text files, as written by RViz and PlanningScene::saveGeometryToStream.

scene name
* object id
x y z                     pose of the object; files of the older form lack these two lines
x y z w
number of shapes, then for each:
  box | sphere | cylinder | cone | plane | mesh
  its numbers (box: x y z; sphere: radius; cylinder, cone: radius length; plane: a b c d;
               mesh: number of vertices and of triangles, then the vertices, then the triangles)
  x y z                   pose of the shape in the object
  x y z w
  r g b a                 all zero: no color
number of subframes, with three lines each (newer form only)
.
"""

from __future__ import annotations

from dataclasses import replace
from os import PathLike, fspath
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from robosim.errors import SceneError, suggestion
from robosim.geometry import pose as make_pose
from robosim.scene import objects as make
from robosim.scene.mesh_objects import mesh_object
from robosim.scene.moveit_values import plane_pose
from robosim.scene.objects import Piece, Pose, SceneObject, Solidity
from robosim.scene.scene import Scene
from robosim.scene.yaml_nodes import decoded

__all__ = ["parse_scene_text"]

_SIZES = {"box": 3, "sphere": 1, "cylinder": 2, "cone": 2, "plane": 4, "mesh": 2}


def parse_scene_text(
    content: bytes,
    path: str | PathLike[str],
    *,
    decompose: bool = False,
    keep: Solidity | None = None,
) -> Scene:
    """Read the content of a `.scene` file, called `path` in messages.

    Raises SceneError with file:line.
    """
    return _Reader(content, fspath(path), decompose, keep).scene()


class _Reader:
    """Reader of the file's lines, one after the other."""

    def __init__(self, content: bytes, file: str, decompose: bool, keep: Solidity | None) -> None:
        self.file, self.decompose, self.keep, self.line = file, decompose, keep, 0
        self.lines = decoded(content, file).splitlines()

    def scene(self) -> Scene:
        """Read the whole file."""
        name = self.next("the scene's name")
        scene = Scene(name or Path(self.file).stem)
        while (line := self.next("'* id' or '.'")) != ".":
            if not line.startswith("*") or not line[1:].strip():
                raise self.error(f"expected '* id' of an object or '.', found {line[:60]!r}")
            first = self.line
            try:
                scene.add(self.object(line[1:].strip()))
            except SceneError as error:
                if error.file is not None:
                    raise
                raise SceneError(str(error), file=self.file, line=first) from error
        return scene

    def object(self, name: str) -> SceneObject:
        """Read one object, after its id."""
        what = f"object {name!r}"
        newer = len(self.peek().split()) == 3
        pose = self.pose(what) if newer else np.eye(4)
        parts: list[tuple[Piece, Pose]] = []
        sources = []
        color: list[float] | None = None
        for _ in range(self.count(f"{what}: number of shapes")):
            thing = self.shape(name, what)
            X_OS = self.pose(what) @ thing.pose
            rgba = self.numbers(f"{what}: color", 4)
            color = rgba.tolist() if rgba.any() else color
            parts += [
                (shape, X_OS @ X) for shape, X in zip(thing.shapes, thing.shape_poses, strict=True)
            ]
            sources.append((thing, X_OS))
        if newer:
            for _ in range(self.count(f"{what}: number of subframes")):
                self.next("a subframe's name")
                self.pose(what)
        # The common case: the object's frame is that of its shape, and a mesh remains a mesh.
        if len(sources) == 1:
            thing, X_OS = sources[0]
            X_WO = make.checked_pose(pose @ X_OS, what)
            return replace(thing, pose=X_WO, color=make.checked_color(color, what))
        return make.compound_object(name, parts, pose, color)

    def shape(self, name: str, what: str) -> SceneObject:
        """Read one shape, as an object with the pose of the shape's own frame."""
        kind = self.next(f"{what}: a shape").lower()
        if kind not in _SIZES:
            raise self.error(f"{what}: unknown shape {kind[:60]!r}{suggestion(kind, _SIZES)}")
        sizes = self.numbers(f"{what}: {kind}", _SIZES[kind])
        if kind == "mesh":
            return self.mesh(name, what, sizes)
        if kind == "plane":
            return make.simple_object(name, "half_space", (), plane_pose(sizes, what), None)
        return make.simple_object(
            name, kind, [sizes] if kind == "box" else sizes.tolist(), None, None
        )

    def mesh(self, name: str, what: str, counts: NDArray[np.float64]) -> SceneObject:
        """Read the vertices and triangles of a mesh."""
        rest = len(self.lines) - self.line
        if (counts < 1).any() or counts.sum() > rest:
            raise self.error(
                f"{what}: a mesh of {counts.tolist()} vertices and triangles, but only {rest} lines"
                " are left"
            )
        vertices = np.array([self.numbers(f"{what}: vertex", 3) for _ in range(int(counts[0]))])
        faces = np.array([self.numbers(f"{what}: triangle", 3) for _ in range(int(counts[1]))])
        return mesh_object(name, (vertices, faces), decompose=self.decompose, keep=self.keep)

    def pose(self, what: str) -> Pose:
        """Read a pose from two lines: position and quaternion."""
        xyz = self.numbers(f"{what}: position", 3)
        quaternion = self.numbers(f"{what}: quaternion", 4)
        length = float(np.linalg.norm(quaternion))
        if not abs(length - 1) < 0.01:
            raise self.error(
                f"{what}: the quaternion (x, y, z, w) {quaternion.tolist()} has length"
                f" {length:.4g}; expected 1"
            )
        return make_pose(xyz, quaternion=quaternion / length)

    def numbers(self, what: str, count: int) -> NDArray[np.float64]:
        """Read a line of `count` finite numbers."""
        words = self.next(what).split()
        try:
            values = np.array([float(word) for word in words])
        except ValueError:
            values = np.empty(0)
        if len(values) != count or not np.isfinite(values).all():
            raise self.error(
                f"{what}: expected {count} finite numbers, found {' '.join(words)[:60]!r}"
            )
        return values

    def count(self, what: str) -> int:
        """Read a line with one whole number, at most the number of lines of the file."""
        value = float(self.numbers(what, 1)[0])
        if value != int(value) or not 0 <= value <= len(self.lines):
            raise self.error(f"{what}: expected a count, found {value:g}")
        return int(value)

    def peek(self) -> str:
        """Return the next line without advancing."""
        return self.lines[self.line].strip() if self.line < len(self.lines) else ""

    def next(self, what: str) -> str:
        """Return the next line and advance."""
        if self.line >= len(self.lines):
            self.line = len(self.lines)
            raise self.error(f"the file ends where {what} is expected")
        self.line += 1
        return self.lines[self.line - 1].strip()

    def error(self, message: str) -> SceneError:
        """Return a SceneError at the line read last."""
        return SceneError(message, file=self.file, line=max(self.line, 1))
