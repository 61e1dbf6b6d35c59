"""The planned robot, with its base placed in the world."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from robosim.errors import ExecutionError, RobosimError
from robosim.execution.clock import monotonic
from robosim.geometry import pose
from robosim.ros.planner.frames import Frames
from robosim.ros.planner.robot import RobotOptions, load

if TYPE_CHECKING:
    from robosim.model import Model

__all__ = ["PlacedRobot"]

FloatArray = NDArray[np.float64]
_DISCOVERY = 1.0  # [s] for tf to appear, before the first plan
_MOVED = 1e-9  # [m, and in a rotation matrix]: smaller displacements of the base are ignored


class PlacedRobot:
    """Loads the robot, and reloads it when its base has moved.

    The base is at the pose of the parameter, otherwise at the pose of the root link in the world
    frame from tf, otherwise at the world's origin.

    Args:
        options: options of reading the robot.
        frames: frames of tf.
        world_frame: name of W.
        base_pose: (6) x, y, z [m], roll, pitch, yaw [rad] of the root link in W; () for the pose
            from tf.

    Raises:
        ExecutionError: the base pose has another number of entries.

    Attributes:
        model: the robot; None until it is read. Its root link is the world frame if its pose there
            is known.
        problem: reason why there is no model.
        where: description of its pose.
    """

    def __init__(
        self,
        options: RobotOptions,
        frames: Frames,
        world_frame: str,
        base_pose: Sequence[float] = (),
    ) -> None:
        if len(base_pose) not in (0, 6):
            raise ExecutionError(
                f"parameter 'base_pose' has {len(base_pose)} numbers; it must have 6: x, y, z,"
                " roll, pitch, yaw"
            )
        self._options, self._frames, self._world = options, frames, world_frame
        self._given = pose(base_pose[:3], rpy=base_pose[3:]) if base_pose else None
        self._texts = ("", "")
        self._root = ""  # link of the description
        self._base: FloatArray | None = None
        self._until = monotonic() + _DISCOVERY
        self.model: Model | None = None
        self.problem = (
            "no robot description has arrived on robot_description, and parameter 'robot' names"
            " none"
        )
        self.where = ""

    def read(self, description: str, semantic: str) -> None:
        """Read the robot of these texts, or that of the options.

        Raises RobosimError, after which there is no model.
        """
        self.model, self._base, self._texts = None, self._given, (description, semantic)
        try:
            self._load()
        except RobosimError as error:
            self.problem = f"the robot description cannot be used: {error}"
            raise
        self._root = self.model.root_link if self.model is not None and self._base is None else ""

    def stand(self, now: float, max_age: float, stop: Callable[[], bool] = lambda: False) -> bool:
        """Place the robot at its present pose. Return true if the pose has changed.

        Args:
            now: present time on the node's clock [s].
            max_age: largest age of a transform that is not static [s].
            stop: returns True to stop waiting for tf.

        Raises:
            Refusal: the last transform of the base is too old.
            RobosimError: the robot cannot be placed there.
        """
        if self._given is not None or not self._root or self._root == self._world:
            return False
        while (
            not self._known()
            and not self._frames.problem
            and monotonic() < self._until
            and not stop()
        ):
            time.sleep(0.02)
        if not self._known():
            return False
        base = self._frames.between(self._root, self._world, now=now, max_age=max_age)
        if self._base is not None and np.abs(base - self._base).max() <= _MOVED:
            return False
        self._base = base
        self._load()
        return True

    def _known(self) -> bool:
        return self._frames.connected(self._root, self._world)

    def _load(self) -> None:
        base = None if self._base is None else (self._world, self._base)
        self.model = load(self._options, *self._texts, base)
        if base is None:
            self.where = f"at the origin of {self._world!r}"
        else:
            x, y, z = (round(float(c), 6) for c in base[1][:3, 3])
            says = "parameter 'base_pose'" if self._given is not None else "tf"
            self.where = (
                f"with its base at ({x:g}, {y:g}, {z:g}) in {self._world!r}, as {says} says"
            )
