"""Planning problems: a robot, its surroundings, its start and its goals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from robosim.errors import PlanningError, check_type
from robosim.model import Model
from robosim.pickling import Value
from robosim.scene import Scene

__all__ = ["Goal", "JointGoal", "PoseGoal", "Positions", "Problem"]

FloatArray = NDArray[np.float64]
# Configuration: an array (n_q,) in model order (or of the group's length, in its order), positions
# by joint name (the others stay as they are), or the name of a state. [rad, m]
Positions = ArrayLike | Mapping[str, float] | str
# Accuracy of an arm, and the tolerances up to which a goal is a pose and not a region: calibrated
# arms reach a given, rather than taught, pose within a few tenths of a millimeter and of a degree.
# [m], [rad]
POSITION_TOLERANCE, ROTATION_TOLERANCE = 1e-4, 1e-3


@dataclass(frozen=True, eq=False)
class JointGoal(Value):
    """Goal positions of the joints.

    A joint that can turn by more than a full turn shows the same pose at several positions, 2 pi
    apart. By default any configuration within limits that is equal up to full turns satisfies the
    goal, and the one with the shortest path is reached. The same is true of plain positions as a
    goal. `full_turns=False` requires the positions as given, for example to unwind a cable that a
    joint has wound up.

    Args:
        positions: (n_q,) in model order; or one number per joint of the group; or by joint name; or
            the name of a state, or of a goal of the scene.
        full_turns: whether positions that differ by full turns satisfy the goal as well.

    Raises:
        PlanningError: `full_turns` is neither True nor False.
    """

    positions: Positions
    full_turns: bool = True

    def __post_init__(self) -> None:
        if not isinstance(self.full_turns, (bool, np.bool_)):
            raise PlanningError(f"full_turns is {self.full_turns!r}; it must be True or False")
        object.__setattr__(self, "full_turns", bool(self.full_turns))


def _per_axis(value: ArrayLike, what: str) -> FloatArray:
    try:
        array: FloatArray = np.broadcast_to(np.asarray(value, dtype=float), (3,)).copy()
    except (TypeError, ValueError):
        raise PlanningError(
            f"{what} is {value!r}; it must be one number or three, one per axis of the pose"
        ) from None
    if not (array >= 0).all():
        raise PlanningError(
            f"{what} is {value!r}; it must not be negative (inf leaves an axis free)"
        )
    array.setflags(write=False)
    return array


@dataclass(frozen=True, eq=False)
class PoseGoal(Value):
    """Goal pose of a link, or a region of poses about it.

    The error of a link at X_WL is measured in the frame G of the goal, X_WG = pose: the position of
    the link's origin in G, and its rotation R_GL as the twist about the axis of G with the largest
    tolerance, followed by a rotation vector for the other two. Each of the six numbers must be
    within its tolerance; infinity leaves an axis free. So `position_tolerance=(0.1, 0.2, 0)` is any
    point of a 0.2 m x 0.4 m rectangle in the plane of G's x and y axes, and `rotation_tolerance=(0,
    0, inf)` any angle about G's z axis.

    The default tolerances are the accuracy of an arm. Tolerances up to the default do not loosen
    the goal: on such axes, inverse kinematics solves for the pose itself, to 1e-6 m and rad. A
    configuration within the tolerances is accepted only if no configuration has the pose.

    Args:
        link: any link of the robot.
        pose: (4, 4) X_WG.
        position_tolerance: [m] one number or (3,), along the axes of G. By default 1e-4 m; 0
            requires the point, to 1e-6 m.
        rotation_tolerance: [rad] one number or (3,), about the axes of G. By default 1e-3 rad; 0
            requires the orientation, to 1e-6 rad.

    Raises:
        PlanningError: not a rigid transform, or a negative tolerance.
    """

    link: str
    pose: ArrayLike
    position_tolerance: ArrayLike = POSITION_TOLERANCE
    rotation_tolerance: ArrayLike = ROTATION_TOLERANCE

    def __post_init__(self) -> None:
        try:
            X = np.array(self.pose, dtype=float)
        except (TypeError, ValueError):
            X = np.empty(0)
        if X.shape != (4, 4) or not np.isfinite(X).all():
            hint = _POSE_HINTS.get(X.shape, "")
            raise PlanningError(
                f"goal pose of {self.link!r}: it must be 4x4 finite numbers, got"
                f" {self.pose!r}{hint}"
            )
        R = X[:3, :3]
        if (
            np.abs(R @ R.T - np.eye(3)).max() > 1e-6
            or np.linalg.det(R) < 0
            or (X[3] != (0, 0, 0, 1)).any()
        ):
            raise PlanningError(
                f"goal pose of {self.link!r}: it is not a rigid transform: {X.tolist()}"
            )
        X.setflags(write=False)
        object.__setattr__(self, "pose", X)
        what = f"goal pose of {self.link!r}:"
        object.__setattr__(
            self,
            "position_tolerance",
            _per_axis(self.position_tolerance, f"{what} position_tolerance"),
        )
        object.__setattr__(
            self,
            "rotation_tolerance",
            _per_axis(self.rotation_tolerance, f"{what} rotation_tolerance"),
        )


_POSE_HINTS = {
    (7,): (
        "; robosim.geometry.pose(x[:3], quaternion=x[3:]) makes one of x, y, z and a quaternion x,"
        " y, z, w"
    ),
    (6,): "; robosim.geometry.pose(x[:3], rpy=x[3:]) makes one of x, y, z and roll, pitch, yaw",
    (3,): (
        "; robosim.geometry.pose(x) makes one of a position, and rotation_tolerance=inf leaves the"
        " orientation free"
    ),
}

Goal = JointGoal | PoseGoal


@dataclass(frozen=True, eq=False)
class Problem(Value):
    """A planning problem. Omitted parts are taken from the scene's own start and goal.

    Args:
        model: the robot.
        scene: obstacles, attached objects and allowed contacts; None for a robot alone in space.
        start: configuration. A start beyond a limit by at most 1e-3 rad or 1e-4 m, as measurements
            err, is accepted as it is, and the trajectory first returns within the limit. Joints
            outside the group may be anywhere. None takes the scene's start of the name "start", or
            without one the model's neutral configuration. A string names a state of the model or a
            start of the scene.
        goal: a JointGoal or PoseGoal, or several alternatives of these, nearest first. Positions, a
            mapping or a name stand for a JointGoal with any full turns, and a string may also name
            a goal of the scene. Positions beyond a limit by as little as a start may be are moved
            to it. None takes the scene's "goal".
        via: goals to be passed on the way in this order, without stopping where that is possible. A
            goal less than 1e-6 [rad, m] from the previous one counts as passed there.
        start_velocity: (n_v,) or by joint name [rad/s, m/s]. None is at rest, and so is a velocity
            whose coordinates are all smaller than 1e-6.
        group: joints that may move: a group of the model, or names of joints. None takes the
            smallest group that has every joint that the goals need, or all joints if there is none.
            A floating base never moves.
        clearance: [m] required between moving objects and everything else. The path keeps it as far
            as start, goal and free space allow, at the cost of a longer path. Parts of the robot
            that are nearer each other at the start or the goal need only keep their distance there.
            0 only requires that nothing touches.
    """

    model: Model
    scene: Scene | None = None
    start: Positions | None = None
    goal: Goal | Positions | Sequence[Goal] | None = None
    via: Sequence[Goal | Positions] = ()
    start_velocity: ArrayLike | Mapping[str, float] | None = None
    group: str | Sequence[str] | None = None
    clearance: float = 0.0

    def __post_init__(self) -> None:
        check_type(self.model, Model, "model", PlanningError)
        if self.scene is not None:
            check_type(self.scene, Scene, "scene", PlanningError)
        number = isinstance(self.clearance, (int, float, np.number)) and not isinstance(
            self.clearance, bool
        )
        if not (number and np.isfinite(self.clearance) and self.clearance >= 0):
            raise PlanningError(
                f"clearance is {self.clearance!r}; it must be a finite length [m], not negative"
            )
