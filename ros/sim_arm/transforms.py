"""Transforms like robot_state_publisher's: fixed joints once, latched; moving joints at a rate."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from robosim.geometry import pose_to_xyz_quaternion
from robosim.model import Model
from robosim.ros.messages import set_time

__all__ = ["Transforms"]

Array = NDArray[np.float64]


class Transforms:
    """Messages for /tf and /tf_static.

    Args:
        model: the robot. Each of its joints has one transform, from the parent link to the child
            link.
    """

    def __init__(self, model: Model) -> None:
        from geometry_msgs.msg import TransformStamped
        from tf2_msgs.msg import TFMessage

        self._model = model
        self._moving = [joint for joint in model.joints if joint.kind != "fixed"]
        self.static: Any = TFMessage()
        self.dynamic: Any = TFMessage()
        for joint in model.joints:
            transform = TransformStamped(child_frame_id=joint.child)
            transform.header.frame_id = joint.parent
            if joint.kind == "fixed":
                _fill(transform, joint.X_PJ)
                self.static.transforms.append(transform)
            else:
                self.dynamic.transforms.append(transform)

    def at(self, nanoseconds: int, q: Array) -> Any:
        """Return the message for /tf with the robot at q (n_q,). The message object is reused."""
        poses = self._model.link_poses(q)
        for joint, transform in zip(self._moving, self.dynamic.transforms, strict=True):
            set_time(transform.header.stamp, nanoseconds)
            _fill(transform, np.linalg.inv(poses[joint.parent]) @ poses[joint.child])
        return self.dynamic


def _fill(transform: Any, X: Array) -> None:
    (x, y, z), (qx, qy, qz, qw) = (values.tolist() for values in pose_to_xyz_quaternion(X))
    translation, rotation = transform.transform.translation, transform.transform.rotation
    translation.x, translation.y, translation.z = x, y, z
    rotation.x, rotation.y, rotation.z, rotation.w = qx, qy, qz, qw
