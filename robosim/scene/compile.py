"""Compilation of a scene and a robot to one `_engine.CollisionScene`: objects, bodies and pairs.

Objects are numbered as in the engine: the robot's colliders first, then one entry per shape of
every scene object. Frames: an obstacle is posed in the world, X_WS = X_WO X_OS. An attached shape
is posed in the body B that carries its link L, X_BS = X_BL X_LO X_OS. Cost: linear in the number of
objects, except for attached objects, which are checked against all others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from robosim import _engine
from robosim.errors import SceneError, suggestion
from robosim.geometry import Compound
from robosim.scene.compiled import compiled_before, keep_compiled
from robosim.scene.digests import digest_of
from robosim.scene.turn_tables import tables_of

if TYPE_CHECKING:
    from robosim.model import Model
    from robosim.scene.objects import SceneObject
    from robosim.scene.scene import Attachment, Scene

__all__ = ["compile_scene"]

Pairs = NDArray[np.int64]


def compile_scene(
    scene: Scene, model: Model, *, with_tables: bool = True
) -> _engine.CollisionScene:
    """Compile a scene, or return it from the cache (robosim/scene/compiled.py).

    See `Scene.compile`.

    Args:
        scene: scene around the robot.
        model: the robot.
        with_tables: True to use tables about pairs of the robot's own colliders, computed once per
            model. They make planning faster and take about 50 ms the first time.
    """
    content = _content(scene, with_tables)
    known = compiled_before(model, content)
    if known is not None:
        return known
    compiled, parts = _compile(scene, model, with_tables)
    keep_compiled(model, content, compiled, parts)
    return compiled


def _content(scene: Scene, with_tables: bool) -> bytes:
    """Return a digest of all content of a scene that affects its compilation with a given model."""
    held = [(name, x.link, *sorted(x.touch_links)) for name, x in sorted(scene.attachments.items())]
    rest = repr((held, sorted(scene.allowed), with_tables))
    return digest_of([b"".join([thing.digest for thing in scene]), rest.encode()])


def _compile(scene: Scene, model: Model, with_tables: bool) -> tuple[_engine.CollisionScene, int]:
    """Compile a scene, and count its objects, pieces and pairs."""
    robot = model._engine
    listed, colliders = robot.frames, robot.colliders  # each access makes a fresh list
    frames = {frame.name: frame for frame in listed}
    _check_names(scene, model.name, frames)
    allowed = _Allowed(scene)
    links = [(listed[collider.frame].name, collider.body) for collider in colliders]

    # Shapes of all objects, and rows of each object in the engine's list: the first and the count.
    things = list(scene)
    counts = [len(thing.shapes) for thing in things]
    rows = len(links) + np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])
    names = [thing.name for thing, n in zip(things, counts, strict=True) for _ in range(n)]
    # Shapes share the name of their object, so a hit on any shape is a hit on the object.
    shapes = [shape for thing in things for shape in thing.shapes]
    held = {name: frames[attachment.link] for name, attachment in scene.attachments.items()}
    bodies = [
        held[thing.name].body if thing.name in held else 0
        for thing, n in zip(things, counts, strict=True)
        for _ in range(n)
    ]
    poses = np.empty((0, 4, 4))
    if shapes:
        X_BO = np.stack(
            [np.asarray(held[t.name].X_BF) @ t.pose if t.name in held else t.pose for t in things]
        )
        poses = np.repeat(X_BO, counts, axis=0) @ np.concatenate(
            [thing.shape_poses for thing in things]
        )

    # Pairs: the robot with itself, then each object with the robot, then objects with each other.
    own = [(a, b) for a, b in model.collision_pairs if not allowed(links[a][0], links[b][0])]
    pairs = [np.array(own, dtype=np.int64).reshape(-1, 2)]
    pairs += _with_robot(things, scene.attachments, links, held, allowed, rows)
    pairs += _with_held(things, held, allowed, rows)
    joined = np.concatenate(pairs)
    tables = None
    if with_tables:
        tables = tables_of(model, own) + [None] * (len(joined) - len(own))
    compiled = _engine.CollisionScene(robot, names, shapes, poses, bodies, joined, tables)
    pieces = sum(shape.n_pieces for shape in shapes if isinstance(shape, Compound))
    return compiled, len(shapes) + pieces + len(joined)


def _with_robot(
    things: Sequence[SceneObject],
    attachments: Mapping[str, Attachment],
    links: Sequence[tuple[str, int]],
    held: Mapping[str, _engine.Frame],
    allowed: _Allowed,
    rows: NDArray[np.int64],
) -> list[Pairs]:
    """Return pairs of a collider and an object's shape: by object, then by collider."""

    def against(name: str) -> NDArray[np.int64]:
        body = held[name].body if name in held else 0
        spared = attachments[name].touch_links if name in held else ()
        return np.array(
            [
                i
                for i, (link, own) in enumerate(links)
                if own != body and link not in spared and not allowed(name, link)
            ],
            dtype=np.int64,
        )

    # Runs of obstacles without allowed pairs share one list of colliders and are handled together.
    pairs: list[Pairs] = []
    usual: NDArray[np.int64] | None = None
    first = 0
    while first < len(things):
        end = first
        while (
            end < len(things)
            and things[end].name not in held
            and not allowed.names(things[end].name)
        ):
            end += 1
        if end > first:
            usual = against(things[first].name) if usual is None else usual
            pairs.append(_products(usual, rows[first:end], np.diff(rows[first : end + 1])))
        if end < len(things):
            own = against(things[end].name)
            pairs.append(_products(own, rows[end : end + 1], np.diff(rows[end : end + 2])))
        first = end + 1
    return pairs


def _with_held(
    things: Sequence[SceneObject],
    held: Mapping[str, _engine.Frame],
    allowed: _Allowed,
    rows: NDArray[np.int64],
) -> list[Pairs]:
    """Return pairs of shapes of two objects, at least one of them attached, on different bodies.

    The pairs are ordered by attached object, with the object that was added first on the left.
    """
    pairs: list[Pairs] = []
    before: set[str] = set()  # attached objects whose pairs are complete
    for i, a in enumerate(things if held else ()):
        if a.name not in held:
            continue
        body = held[a.name].body
        others = [
            j
            for j, b in enumerate(things)
            if j != i
            and b.name not in before
            and not (b.name in held and held[b.name].body == body)
            and not allowed(a.name, b.name)
        ]
        own = np.arange(rows[i], rows[i + 1])
        pairs.append(np.sort(_products(own, rows[:-1][others], np.diff(rows)[others]), axis=1))
        before.add(a.name)
    return pairs


def _products(a: NDArray[np.int64], starts: NDArray[np.int64], counts: NDArray[np.int64]) -> Pairs:
    """Return all pairs (m, 2) of an entry of `a` and a number of the ranges.

    Each range has `counts` consecutive numbers, beginning at an entry of `starts`. The order is by
    range, then by entry of `a`, then by number.
    """
    n = len(a)
    if (counts == 1).all():  # the common case, with the same order
        return np.stack([np.tile(a, len(starts)), np.repeat(starts, n)], axis=1)
    ranges = [np.arange(first, first + k) for first, k in zip(starts, counts, strict=True)]
    return np.concatenate(
        [np.stack([np.repeat(a, len(range_)), np.tile(range_, n)], axis=1) for range_ in ranges]
    )


class _Allowed:
    """Lookup of pairs of names that may touch."""

    def __init__(self, scene: Scene) -> None:
        self._pairs = scene.allowed
        self._anything = {b for a, b in scene.allowed if a == "*"} | {
            a for a, b in scene.allowed if b == "*"
        }
        self._names = {name for pair in scene.allowed for name in pair}

    def names(self, a: str) -> bool:
        """True if an allowed pair contains the name.

        Its colliders may then differ from those of others.
        """
        return a in self._names

    def __call__(self, a: str, b: str) -> bool:
        return (min(a, b), max(a, b)) in self._pairs or a in self._anything or b in self._anything


def _check_names(scene: Scene, robot: str, frames: dict[str, _engine.Frame]) -> None:
    """Check that every name in an allowed pair and in an attachment exists."""
    links = frames.keys()
    for thing in scene:
        if thing.name in links:
            raise SceneError(
                f"scene {scene.name!r}: object {thing.name!r} has the name of a link of {robot!r};"
                " rename it"
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
                    f"scene {scene.name!r}: the allowed pair {pair} names {name!r}, which is"
                    " neither an object of the scene nor a link of"
                    f" {robot!r}{suggestion(name, [*scene.objects, *links])}"
                )
