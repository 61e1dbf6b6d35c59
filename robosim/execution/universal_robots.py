"""Common facts about all arms of Universal Robots, independent of the transport.

Source: the public interfaces of ur_description, ur_robot_driver and RTDE.
"""

from __future__ import annotations

__all__ = ["UR_JOINTS"]

# Names of the URDF, in the controller's order: from the base, which is the only key RTDE has.
UR_JOINTS = (
    "shoulder_pan_joint",
    "shoulder_lift_joint",
    "elbow_joint",
    "wrist_1_joint",
    "wrist_2_joint",
    "wrist_3_joint",
)
