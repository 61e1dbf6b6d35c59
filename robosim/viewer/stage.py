"""What is to be seen, free of how it is drawn: coloured triangle meshes fixed to links or to the world, and
where links are.

The browser viewer, the HTML export and the PNG painter all draw a `Stage`. Frames: a part's mesh is given in
its own frame, posed by X in its link's frame L (or in W when it stands in the world).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from robosim.errors import SimulationError
from robosim.model.tips import tip_links
from robosim.simulation import Replay
from robosim.viewer.content import collider_parts, robot_parts, scene_parts
from robosim.viewer.forces import ForceArrows, tree_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import ArrayLike, NDArray

    from robosim.model import Model
    from robosim.scene import Scene
    from robosim.trajectory import Trajectory
    from robosim.viewer.content import Part


class Stage:
    """A robot, its surroundings and its motion, ready to be drawn.

    Args:
        model: the robot.
        scene: what stands around it and what it holds.
        trajectory: its motion; must name positions of the robot. Or the replay of a simulation, of which every moment
            shows the nearest state; time counts from its first.
        q: configuration (n_q,) of what neither the trajectory moves nor its metadata know; by default the
            neutral one.

    Attributes:
        robot, colliders, world: the parts of each kind. Objects that the robot holds belong to `robot`; level
            half-spaces are no parts but the `ground()`.
        duration: of the motion [s], 0 when there is none.
        forces: the arrows of a replay, else None.
        tips: links whose paths through space are worth drawing.
    """

    def __init__(
        self,
        model: Model,
        scene: Scene | None = None,
        trajectory: Trajectory | Replay | None = None,
        *,
        q: ArrayLike | None = None,
    ) -> None:
        self.model = model
        self.replay = trajectory if isinstance(trajectory, Replay) else None
        self.trajectory = None if isinstance(trajectory, Replay) else trajectory
        self.q_rest = np.array(model.neutral() if q is None else q, dtype=np.float64)
        self.robot = robot_parts(model)
        self.colliders = collider_parts(model)
        things = [] if scene is None else scene_parts(scene)
        self.robot += [p for p in things if p.link is not None]
        self.world = [p for p in things if p.link is None and not _is_floor(p)]
        self._floors = [float(p.X[2, 3]) for p in things if _is_floor(p)]
        self.duration = 0.0
        self.tips = tip_links(model)
        self.forces: ForceArrows | None = None
        if self.trajectory is not None:
            self.duration = float(self.trajectory.duration)
            self._columns = position_columns(model, self.trajectory)
            for name, value in positions_at_rest(self.trajectory).items():
                if name in model.position_names:
                    self.q_rest[model.position_names.index(name)] = value
        elif self.replay is not None:
            if self.replay.q.shape[1:] != (model.n_q,):
                raise SimulationError(
                    f"the replay has configurations of {self.replay.q.shape[-1]} numbers; those of {model.name} "
                    f"have {model.n_q}"
                )
            self.duration = float(self.replay.times[-1] - self.replay.times[0])
            held = {} if scene is None else {name: at.link for name, at in scene.attachments.items()}
            self.forces = ForceArrows(model, self.replay, held, self._robot_size())

    def moment(self, t: float) -> int:
        """Which state of the replay is nearest to time t."""
        assert self.replay is not None
        return self.replay.nearest(t + float(self.replay.times[0]))

    def configuration(self, t: float) -> NDArray[np.float64]:
        """q (n_q,) at time t of the motion, or the resting one."""
        if self.replay is not None:
            return np.array(self.replay.q[self.moment(t)])
        q: NDArray[np.float64] = self.q_rest.copy()
        if self.trajectory is not None:
            q[self._columns] = self.trajectory.position(t)
        return q

    def link_poses(self, q: NDArray[np.float64]) -> Mapping[str, NDArray[np.float64]]:
        """X_WL (4, 4) of every link."""
        return self.model.link_poses(q)

    def ground(self) -> float:
        """Height in W at which the endless floor is drawn [m]: the scene's highest one, else 0, or under what
        reaches below that.
        """
        return max(self._floors) if self._floors else min(0.0, float(self.bounds()[:, 2].min()))

    def tip_paths(self, count: int = 200) -> list[NDArray[np.float64]]:
        """For each tip that moves, its path (count, 3) in W over the motion [m]."""
        if self.duration == 0.0:
            return []
        poses = [self.link_poses(self.configuration(t)) for t in np.linspace(0, self.duration, count)]
        paths = (np.array([X[tip][:3, 3] for X in poses]) for tip in self.tips)
        return [p for p in paths if np.ptp(p, axis=0).max() > 1e-4]

    def bounds(self, *, samples: int = 25) -> NDArray[np.float64]:
        """Points in W (k, 3) whose hull holds everything bounded, over the whole motion."""
        points = [
            transform(p.X, _box_corners(p) if p.radius > 0 else p.vertices) for p in self.world if p.bounded
        ]
        for t in np.linspace(0, self.duration, samples if self.duration > 0 else 1):
            points += self._robot_boxes(t)
            if self.forces is not None:
                points.append(self.forces.tips(self.moment(t)))
        return np.concatenate(points) if points else np.array([[-0.5, -0.5, 0.0], [0.5, 0.5, 1.0]])

    def _robot_boxes(self, t: float) -> list[NDArray[np.float64]]:
        """The corners (8, 3) of the box around each part of the robot, in W [m]."""
        X_WL = self.link_poses(self.configuration(t))
        return [transform(p.pose(X_WL), _box_corners(p)) for p in self.robot]

    def _robot_size(self) -> float:
        """Diagonal of the box around the robot at the beginning; where several things move freely, the geometric mean
        of the largest one's and of that around all [m].
        """
        corners: dict[str, list[NDArray[np.float64]]] = {}
        for part, box in zip(self.robot, self._robot_boxes(0.0), strict=True):
            corners.setdefault(tree_of(self.model, str(part.link))[0], []).append(box)
        groups = [np.concatenate(boxes) for boxes in corners.values()]
        if not groups:
            return 1.0
        largest, every = max(map(_diagonal, groups)), _diagonal(np.concatenate(groups))
        return float(np.sqrt(largest * every)) or 1.0


def _diagonal(points: NDArray[np.float64]) -> float:
    """Of the axis-aligned box around points (k, 3) [m]."""
    return float(np.linalg.norm(np.ptp(points, axis=0)))


def transform(X: NDArray[np.float64], points: NDArray[np.float64]) -> NDArray[np.float64]:
    """Points (..., 3) moved by a pose X (4, 4)."""
    return np.asarray(points @ X[:3, :3].T + X[:3, 3])


def position_columns(model: Model, trajectory: Trajectory) -> list[int]:
    """Where in q each position of the trajectory belongs, by name.

    Raises:
        TrajectoryError: it names a position that the robot lacks.
    """
    from robosim.errors import TrajectoryError, suggestion

    known = {name: k for k, name in enumerate(model.position_names)}
    for name in trajectory.position_names:
        if name not in known:
            raise TrajectoryError(
                f"the trajectory moves {name!r}, which {model.name} does not have{suggestion(name, known)}"
            )
    return [known[name] for name in trajectory.position_names]


def positions_at_rest(trajectory: Trajectory) -> dict[str, float]:
    """Positions of the joints that the trajectory does not move, as `planners.plan` notes them; a file may
    say anything.
    """
    noted = trajectory.metadata.get("positions_at_rest")
    if not isinstance(noted, dict):
        return {}
    return {k: float(v) for k, v in noted.items() if isinstance(v, int | float) and np.isfinite(v)}


def _is_floor(part: Part) -> bool:
    """Whether the part stands for all that lies below a level plane."""
    return part.link is None and not part.bounded and part.X[2, 2] > 1 - 1e-9


def _box_corners(part: Part) -> NDArray[np.float64]:
    """The eight corners (8, 3) of the box around a part, in its own frame."""
    low, high = part.box()
    return np.array(
        [[x, y, z] for x in (low[0], high[0]) for y in (low[1], high[1]) for z in (low[2], high[2])]
    )
