"""What is so of every arm of Universal Robots, however it is reached.

Source: the public interfaces of ur_description, ur_robot_driver and RTDE.
"""

from __future__ import annotations

__all__ = ["UR_JOINTS"]

# As the URDF calls them, in the controller's order: from the base, by which alone RTDE knows them.
UR_JOINTS = (
    "shoulder_pan_joint",
    "shoulder_lift_joint",
    "elbow_joint",
    "wrist_1_joint",
    "wrist_2_joint",
    "wrist_3_joint",
)
