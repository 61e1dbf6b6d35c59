"""A scene and a robot become one `_engine.CollisionScene`: objects, the bodies that carry them, and the pairs
to check.

Objects are numbered as the engine has them: the robot's colliders first, then one entry per shape of every
scene object. Frames: an obstacle is posed in the world, X_WS = X_WO X_OS; an attached shape in the body B
that carries its link L, X_BS = X_BL X_LO X_OS. Cost: linear in the number of pairs, in NumPy.
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from robosim import _engine
from robosim.errors import SceneError, suggestion
from robosim.geometry import Compound, Shape
from robosim.scene.turn_tables import tables_of

if TYPE_CHECKING:
    from robosim.model import Model
    from robosim.scene.scene import Scene

__all__ = ["compile_scene"]

Pairs = NDArray[np.int64]


def compile_scene(scene: Scene, model: Model, *, with_tables: bool = True) -> _engine.CollisionScene:
    """See `Scene.compile`.

    Args:
        scene: what stands about.
        model: the robot.
        with_tables: whether what is known of pairs of the robot's own colliders is found, once for each model, and
            used; it makes planning faster and takes some 50 ms the first time.
    """
    robot = model._engine
    listed, colliders = robot.frames, robot.colliders  # lists made anew at each access
    frames = {frame.name: frame for frame in listed}
    collider_link = [listed[collider.frame].name for collider in colliders]
    collider_body = [collider.body for collider in colliders]
    _check_names(scene, model.name, frames)
    allowed = _Allowed(scene)

    # Every shape of every object, and which rows of the engine's list each object got.
    names: list[str] = []
    shapes: list[Shape | Compound] = []
    poses: list[NDArray[np.float64]] = []
    bodies: list[int] = []
    rows: dict[str, NDArray[np.int64]] = {}
    for thing in scene:
        first = len(collider_link) + len(shapes)
        attachment = scene.attachments.get(thing.name)
        body, X_BO = 0, thing.pose
        if attachment is not None:
            frame = frames[attachment.link]
            body, X_BO = frame.body, np.asarray(frame.X_BF) @ thing.pose
        names += [thing.name] * len(thing.shapes)  # a hit on any part is a hit on the object
        shapes += thing.shapes
        poses.append(X_BO @ thing.shape_poses)
        bodies += [body] * len(thing.shapes)
        rows[thing.name] = np.arange(first, first + len(thing.shapes))

    # The robot with itself, then each object with the robot, then objects with each other.
    own = [(a, b) for a, b in model.collision_pairs if not allowed(collider_link[a], collider_link[b])]
    pairs: list[Pairs] = [np.array(own, dtype=np.int64).reshape(-1, 2)]
    for thing in scene:
        attachment = scene.attachments.get(thing.name)
        spared = set() if attachment is None else set(attachment.touch_links)
        body = 0 if attachment is None else frames[attachment.link].body
        against = [
            i
            for i, link in enumerate(collider_link)
            if collider_body[i] != body and link not in spared and not allowed(thing.name, link)
        ]
        pairs.append(_product(np.array(against, dtype=np.int64), rows[thing.name]))
    for a, b in combinations(scene, 2):
        held = [scene.attachments[thing.name].link for thing in (a, b) if thing.name in scene.attachments]
        together = len(held) == 2 and frames[held[0]].body == frames[held[1]].body
        if held and not together and not allowed(a.name, b.name):
            pairs.append(_product(rows[a.name], rows[b.name]))

    X = np.concatenate(poses) if poses else np.empty((0, 4, 4))
    listed_pairs = np.concatenate(pairs)
    tables = None
    if with_tables:
        tables = tables_of(model, own) + [None] * (len(listed_pairs) - len(own))
    return _engine.CollisionScene(robot, names, shapes, X, bodies, listed_pairs, tables)


class _Allowed:
    """Whether two names may touch."""

    def __init__(self, scene: Scene) -> None:
        self._pairs = scene.allowed
        self._anything = {b for a, b in scene.allowed if a == "*"} | {a for a, b in scene.allowed if b == "*"}

    def __call__(self, a: str, b: str) -> bool:
        return (min(a, b), max(a, b)) in self._pairs or a in self._anything or b in self._anything


def _product(a: NDArray[np.int64], b: NDArray[np.int64]) -> Pairs:
    """All pairs of a row of `a` with a row of `b`: (len(a) * len(b), 2)."""
    return np.stack([np.repeat(a, len(b)), np.tile(b, len(a))], axis=1)


def _check_names(scene: Scene, robot: str, frames: dict[str, _engine.Frame]) -> None:
    """Every name in an allowed pair and every attachment must be there."""
    links = frames.keys()
    for thing in scene:
        if thing.name in links:
            raise SceneError(
                f"scene {scene.name!r}: object {thing.name!r} has the name of a link of {robot!r}; rename it"
            )
    for name, attachment in scene.attachments.items():
        for link in (attachment.link, *attachment.touch_links):
            if link not in links:
                raise SceneError(
                    f"scene {scene.name!r}: object {name!r} is attached to or touches {link!r}, "
                    f"which {robot!r} does not have{suggestion(link, links)}"
                )
    for pair in sorted(scene.allowed):
        for name in pair:
            if name != "*" and name not in links and name not in scene:
                raise SceneError(
                    f"scene {scene.name!r}: the allowed pair {pair} names {name!r}, which is neither an "
                    f"object of the scene nor a link of {robot!r}{suggestion(name, [*scene.objects, *links])}"
                )
