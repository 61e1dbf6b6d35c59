"""Generation of a scene from a family's layout, with a start and a goal that one robot can reach.

    layout -> goal: collision-free inverse kinematics of a grasp
           -> start: likewise, or a named state
           -> a search connects start and goal

A layout without such a pair is discarded and the next one drawn, so every scene has been solved
once. All randomness comes from (family, seed): the scene is the same each time for the same robot.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from robosim import _engine
from robosim.errors import SceneError, suggestion
from robosim.geometry import pose
from robosim.scene.families.crates import box, cage
from robosim.scene.families.layout import Layout
from robosim.scene.families.shelves import bookshelf_small, bookshelf_tall, bookshelf_thin
from robosim.scene.families.tables import table_pick, table_under_pick
from robosim.scene.objects import Pose
from robosim.scene.scene import Scene

if TYPE_CHECKING:
    from robosim.model import Model

__all__ = ["families", "generate"]

_FAMILIES = {
    builder.__name__: builder
    for builder in (
        table_pick,
        table_under_pick,
        bookshelf_small,
        bookshelf_tall,
        bookshelf_thin,
        box,
        cage,
    )
}

_CLEARANCE = 0.002  # [m] at start and goal, so that rounding on another machine has no effect
_LAYOUTS = 200
_SEEDS_PER_GRASP = 24
_SEARCH_ITERATIONS = 20_000

Configuration = NDArray[np.float64]


def families() -> tuple[str, ...]:
    """Names of the families that `generate` knows."""
    return tuple(_FAMILIES)


def generate(family: str, seed: int = 0, *, model: Model, group: str | None = None) -> Scene:
    """Generate a random scene of a family, with a start "start" and a goal "goal" for a robot.

    Args:
        family: one of `families()`.
        seed: number of the scene in its family, 0 or more.
        model: the robot: an arm on a fixed base with a reach of about 0.7 to 1.1 m.
        group: planning group that moves; the first group with a tip by default. The z axis of its
            tip is taken as the approach direction, and the x axis as the closing direction of the
            fingers.

    Returns:
        The scene. Start and goal have a position for every joint of the robot and 2 mm of
        clearance, and a search has connected them.

    Raises:
        SceneError: the family is unknown, the robot has no group with a tip, or none of 200 layouts
            has a solution for it.
    """
    if family not in _FAMILIES:
        raise SceneError(
            f"there is no scene family {family!r}{suggestion(family, _FAMILIES, limit=None)}"
        )
    if seed < 0:
        raise SceneError(f"seed={seed} must not be negative")
    arm = _Arm(model, group)
    rng = np.random.default_rng([zlib.crc32(family.encode()), seed])
    for _ in range(_LAYOUTS):
        layout = _FAMILIES[family](rng)
        ends = arm.solve(layout)
        if ends is not None:
            scene = layout.scene
            scene.robot = model.name
            scene.set_start(dict(zip(model.position_names, ends[0].tolist(), strict=True)))
            scene.set_goal(dict(zip(model.position_names, ends[1].tolist(), strict=True)))
            return scene
    raise SceneError(
        f"{model.name!r} solves none of {_LAYOUTS} layouts of {family!r}; is it an arm on a fixed"
        " base?"
    )


class _Arm:
    """The moving joints of a robot, and the search for starts and goals."""

    def __init__(self, model: Model, group: str | None) -> None:
        self.model = model
        names = (
            [group]
            if group is not None
            else [name for name, g in model.groups.items() if g.tip is not None]
        )
        chosen = model.groups.get(names[0]) if names else None
        if chosen is None or chosen.tip is None:
            raise SceneError(
                f"{model.name!r} has no group with a tip; its groups:"
                f" {', '.join(model.groups) or 'none'}"
            )
        self.group, self.tip = chosen.name, chosen.tip
        position = {name: i for i, name in enumerate(model.position_names)}
        self.columns = [position[joint] for joint in chosen.joints if joint in position]
        self.frame = [frame.name for frame in model._engine.frames].index(self.tip)
        self.lower, self.upper = model.limits.lower[self.columns], model.limits.upper[self.columns]

    def solve(self, layout: Layout) -> tuple[Configuration, Configuration] | None:
        """Return start and goal of a layout.

        None if there are none, or if no path between them was found.
        """
        space = layout.scene.compile(self.model)
        rest = self.model.neutral()
        start = next(self._starts(layout, space, rest), None)
        goal = (
            None
            if start is None
            else next(self._at_grasps(layout.goals, layout.rng, space, start), None)
        )
        if start is None or goal is None:
            return None
        # Limits of a quarter turn beyond the two include all poses that the search needs.
        ends = start[self.columns], goal[self.columns]
        lower = np.maximum(self.lower, np.minimum(*ends) - np.pi / 2)
        upper = np.minimum(self.upper, np.maximum(*ends) + np.pi / 2)
        found = _engine.rrt_connect(
            space, start, goal[None], self.columns, lower, upper, max_iterations=_SEARCH_ITERATIONS
        )
        return (start, goal) if found.status == "solved" else None

    def _starts(
        self, layout: Layout, space: _engine.CollisionScene, rest: Configuration
    ) -> Iterator[Configuration]:
        """Yield configurations at the layout's start grasps, or else the robot's named states."""
        if layout.starts:
            yield from self._at_grasps(layout.starts, layout.rng, space, rest)
            return
        for state in self.model.named_states:
            if state.group == self.group:
                q = rest.copy()
                for i, name in enumerate(self.model.position_names):
                    q[i] = state.positions.get(name, q[i])
                if self._is_clear(q, space):
                    yield q

    def _at_grasps(
        self,
        grasps: Sequence[Pose],
        rng: Generator,
        space: _engine.CollisionScene,
        near: Configuration,
    ) -> Iterator[Configuration]:
        """Yield collision-free configurations at the grasps, both in random order.

        A robot without fingers stops in front of the object.
        """
        for i in rng.permutation(len(grasps)):
            for distance in (0.0, 0.06, 0.10):
                found = _engine.inverse_kinematics(
                    self.model._engine,
                    self.frame,
                    grasps[i] @ pose((0, 0, -distance)),
                    columns=self.columns,
                    reference=near,
                    random_seeds=_SEEDS_PER_GRASP,
                    seed=int(rng.integers(2**31)),
                )
                for q in rng.permutation(found.solutions):
                    if self._is_clear(q, space):
                        yield q

    def _is_clear(self, q: Configuration, space: _engine.CollisionScene) -> bool:
        inside = bool(
            (self.lower <= q[self.columns]).all() and (q[self.columns] <= self.upper).all()
        )
        return inside and not space.collides(q) and space.min_distance(q)[0] > _CLEARANCE
