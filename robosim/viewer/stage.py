"""Content of a view: colored triangle meshes fixed to links or to the world, and poses of links.

It does not depend on the renderer. The browser viewer, the HTML export and the PNG painter all draw
a `Stage`. Frames: a part's mesh is in its own frame, at pose X in its link's frame L (or in W if it
is fixed in the world).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from robosim.errors import RobosimError, SceneError, SimulationError, suggestion
from robosim.model.tips import tip_links
from robosim.simulation import Replay
from robosim.trajectory import Trajectory
from robosim.trajectory.configurations import position_columns, resting
from robosim.viewer.content import collider_parts, robot_parts, scene_parts
from robosim.viewer.forces import ForceArrows, tree_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import TypeAlias

    from numpy.typing import ArrayLike, NDArray

    from robosim.model import Model
    from robosim.scene import Scene
    from robosim.viewer.content import Part

    Motion: TypeAlias = Trajectory | Sequence[Trajectory] | Replay


@dataclass(frozen=True, eq=False)
class _Play:
    """A trajectory that starts at `start` [s].

    It determines the entries `columns` of q. The others are those of `rest` (n_q,).
    """

    start: float
    motion: Trajectory
    columns: list[int]
    rest: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class _Stay:
    """Pose X of an object from time `since` [s] on, in the frame of the carrying link, or in W."""

    since: float
    link: str | None
    X: NDArray[np.float64]

    def pose(self, X_WL: Mapping[str, NDArray[np.float64]]) -> NDArray[np.float64]:
        """Pose X_WO of the object (4, 4)."""
        return self.X if self.link is None else np.asarray(X_WL[self.link] @ self.X)


class Stage:
    """A robot, its surroundings and its motion, ready to be drawn.

    Args:
        model: the robot.
        scene: surroundings of the robot, and objects that it holds.
        trajectory: motion of the robot; must name positions of the robot. Several motions are shown
            one after the other. Each keeps positions that it does not move as they were at the end
            of the previous one. Their events attach objects of the scene to links and release them.
            Alternatively the replay of a simulation, which shows the state nearest to each time,
            counted from its first.
        q: configuration (n_q,) for positions that neither the trajectory nor its metadata
            determine; neutral by default.

    Attributes:
        robot, colliders, world: parts of each kind. Objects that the robot holds belong to `robot`.
            Level half-spaces are not parts but the `ground()`.
        carried: parts of objects with events, each posed in its object's frame; see `object_pose`.
        duration: duration of the motion [s], 0 without a motion.
        forces: arrows of a replay, otherwise None.
        tips: links whose paths are drawn.
    """

    def __init__(
        self,
        model: Model,
        scene: Scene | None = None,
        trajectory: Motion | None = None,
        *,
        q: ArrayLike | None = None,
    ) -> None:
        self.model = model
        self.replay: Replay | None = None
        motions: list[Trajectory] = []
        if isinstance(trajectory, Replay):
            self.replay = trajectory
        else:
            motions = _listed(trajectory)
        self.q_rest = np.array(model.neutral() if q is None else q, dtype=np.float64)
        # Parts of the robot and the scene. Level half-spaces become floors.
        self.robot = robot_parts(model)
        self.colliders = collider_parts(model)
        things = [] if scene is None else scene_parts(scene)
        self.robot += [p for p in things if p.link is not None]
        self.world = [p for p in things if p.link is None and not _is_floor(p)]
        self._floors = [float(p.X[2, 3]) for p in things if _is_floor(p)]
        # Motions one after the other, or a replay.
        self.duration = 0.0
        self.tips = tip_links(model)
        self.forces: ForceArrows | None = None
        self._plays: list[_Play] = []
        for motion in motions:
            columns, rest = position_columns(model, motion), self.configuration(self.duration)
            self._plays.append(_Play(self.duration, motion, columns, resting(model, motion, rest)))
            self.duration += float(motion.duration)
        if self.replay is not None:
            if self.replay.q.shape[1:] != (model.n_q,):
                raise SimulationError(
                    f"the replay has configurations of {self.replay.q.shape[-1]} numbers; those of"
                    f" {model.name} have {model.n_q}"
                )
            self.duration = float(self.replay.times[-1] - self.replay.times[0])
            held = (
                {} if scene is None else {name: at.link for name, at in scene.attachments.items()}
            )
            self.forces = ForceArrows(model, self.replay, held, self._robot_size())
        # Objects that events attach or release are posed over time.
        self._stays = self._follow_events(scene)
        moved = [p for p in things if p.name in self._stays]
        self.carried = [
            replace(p, link=None, X=np.linalg.inv(scene.objects[p.name].pose) @ p.X)
            for p in moved
            if scene is not None
        ]
        self.robot, self.world = (
            [p for p in parts if p not in moved] for parts in (self.robot, self.world)
        )

    def moment(self, t: float) -> int:
        """Index of the replay's state nearest to time t."""
        assert self.replay is not None
        return self.replay.nearest(t + float(self.replay.times[0]))

    def configuration(self, t: float) -> NDArray[np.float64]:
        """Configuration (n_q,) at time t of the motion, or at rest."""
        if self.replay is not None:
            return np.array(self.replay.q[self.moment(t)])
        started = [play for play in self._plays if play.start <= t] or self._plays[:1]
        if not started:
            return np.array(self.q_rest)
        play = started[-1]
        q = np.array(play.rest)
        q[play.columns] = play.motion.position(t - play.start)
        return q

    def link_poses(self, q: NDArray[np.float64]) -> Mapping[str, NDArray[np.float64]]:
        """Pose X_WL (4, 4) of every link."""
        return self.model.link_poses(q)

    def object_pose(
        self, name: str, t: float, X_WL: Mapping[str, NDArray[np.float64]] | None = None
    ) -> NDArray[np.float64]:
        """Pose X_WO (4, 4) at time t of an object with events.

        X_WL are the poses of links at this time, if known.
        """
        poses = self.link_poses(self.configuration(t)) if X_WL is None else X_WL
        return [stay for stay in self._stays[name] if stay.since <= t][-1].pose(poses)

    def part_pose(
        self, part: Part, t: float, X_WL: Mapping[str, NDArray[np.float64]]
    ) -> NDArray[np.float64]:
        """Pose of a part's mesh in W (4, 4) at time t, for link poses X_WL."""
        if any(part is carried for carried in self.carried):
            return np.asarray(self.object_pose(part.name, t, X_WL) @ part.X)
        return part.pose(X_WL)

    def _follow_events(self, scene: Scene | None) -> dict[str, list[_Stay]]:
        """Carrying link and pose over time, for each object with events."""
        stays: dict[str, list[_Stay]] = {}
        for play in self._plays:
            for event in play.motion.events:
                name, t = event.object, play.start + event.time
                if scene is None or name not in scene:
                    known = {} if scene is None else scene.objects
                    raise SceneError(
                        f"{event.action} {name!r} at {t:g} s: the scene has no such"
                        f" object{suggestion(name, known)}"
                    )
                if name not in stays:
                    at = scene.attachments.get(name)
                    stays[name] = [
                        _Stay(-np.inf, at.link if at else None, scene.objects[name].pose)
                    ]
                if event.action == "detach" and stays[name][-1].link is None:
                    raise SceneError(f"detach {name!r} at {t:g} s: nothing carries it then")
                poses = self.link_poses(self.configuration(t))
                X_WO = stays[name][-1].pose(poses)
                if event.link is not None:
                    if event.link not in poses:
                        near = suggestion(event.link, poses)
                        raise SceneError(
                            f"attach {name!r} at {t:g} s: there is no link {event.link!r}{near}"
                        )
                    X_WO = np.linalg.inv(poses[event.link]) @ X_WO
                stays[name].append(_Stay(t, event.link, X_WO))
        return stays

    def ground(self) -> float:
        """Height in W of the unbounded floor [m].

        It is that of the scene's highest floor, otherwise 0, or below the lowest content.
        """
        return max(self._floors) if self._floors else min(0.0, float(self.bounds()[:, 2].min()))

    def tip_paths(self, count: int = 200) -> list[NDArray[np.float64]]:
        """Path (count, 3) in W over the motion [m], for each tip that moves."""
        if self.duration == 0.0:
            return []
        poses = [
            self.link_poses(self.configuration(t)) for t in np.linspace(0, self.duration, count)
        ]
        paths = (np.array([X[tip][:3, 3] for X in poses]) for tip in self.tips)
        return [p for p in paths if np.ptp(p, axis=0).max() > 1e-4]

    def bounds(self, *, samples: int = 25) -> NDArray[np.float64]:
        """Points in W (k, 3) whose hull contains all bounded content over the whole motion."""
        points = [
            transform(p.X, _box_corners(p) if p.radius > 0 else p.vertices)
            for p in self.world
            if p.bounded
        ]
        for t in np.linspace(0, self.duration, samples if self.duration > 0 else 1):
            points += self.boxes(t)
            if self.forces is not None:
                points.append(self.forces.tips(self.moment(t)))
        return np.concatenate(points) if points else np.array([[-0.5, -0.5, 0.0], [0.5, 0.5, 1.0]])

    def boxes(self, t: float) -> list[NDArray[np.float64]]:
        """Corners (8, 3) of the boxes of the robot's parts and of carried objects, in W [m]."""
        X_WL = self.link_poses(self.configuration(t))
        return [
            transform(self.part_pose(p, t, X_WL), _box_corners(p))
            for p in (*self.robot, *self.carried)
        ]

    def _robot_size(self) -> float:
        """Diagonal of the robot's bounding box at the beginning [m].

        For several free trees of links, the geometric mean of the largest tree's and of the whole.
        """
        corners: dict[str, list[NDArray[np.float64]]] = {}
        X_WL = self.link_poses(self.configuration(0.0))
        for part in self.robot:
            box = transform(part.pose(X_WL), _box_corners(part))
            corners.setdefault(tree_of(self.model, str(part.link))[0], []).append(box)
        groups = [np.concatenate(boxes) for boxes in corners.values()]
        if not groups:
            return 1.0
        largest, every = max(map(_diagonal, groups)), _diagonal(np.concatenate(groups))
        return float(np.sqrt(largest * every)) or 1.0


def _listed(trajectory: Trajectory | Sequence[Trajectory] | None) -> list[Trajectory]:
    """List of the trajectories that are shown one after the other."""
    if trajectory is None or isinstance(trajectory, Trajectory):
        return [] if trajectory is None else [trajectory]
    listed = list(trajectory) if isinstance(trajectory, Iterable) else [trajectory]
    for item in listed:
        if not isinstance(item, Trajectory):
            raise RobosimError(
                f"a motion is a Trajectory, several, or a Replay; found {type(item).__name__}"
            )
    return listed


def _diagonal(points: NDArray[np.float64]) -> float:
    """Diagonal of the axis-aligned bounding box of points (k, 3) [m]."""
    return float(np.linalg.norm(np.ptp(points, axis=0)))


def transform(X: NDArray[np.float64], points: NDArray[np.float64]) -> NDArray[np.float64]:
    """Transform points (..., 3) by a pose X (4, 4)."""
    return np.asarray(points @ X[:3, :3].T + X[:3, 3])


def _is_floor(part: Part) -> bool:
    """Return true if the part represents the half-space below a level plane."""
    return part.link is None and not part.bounded and part.X[2, 2] > 1 - 1e-9


def _box_corners(part: Part) -> NDArray[np.float64]:
    """Corners (8, 3) of a part's bounding box, in its own frame."""
    low, high = part.box()
    return np.array(
        [[x, y, z] for x in (low[0], high[0]) for y in (low[1], high[1]) for z in (low[2], high[2])]
    )
