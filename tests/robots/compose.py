"""Composes the files of ur5_gripper: the UR5 with the two-finger gripper on its flange.

After a change to robots/ur5 or robots/gripper_2f, run this file to write robots/ur5_gripper again.
A test compares the files. The repository contains composed files instead of a xacro, so that any
URDF reader can load the robot.
"""

from __future__ import annotations

import re
from pathlib import Path

ROBOTS = Path(__file__).parents[2] / "robots"

_MOUNT = """
  <!-- The gripper's palm sits on the tool flange. -->
  <joint name="gripper_mount_joint" type="fixed">
    <parent link="tool0"/><child link="gripper_base_link"/>
    <origin xyz="0 0 0"/>
  </joint>
"""
_NEXT_TO_EACH_OTHER = [("wrist_3_link", "gripper_base_link")]
_NEVER = [
    (wrist, part)
    for wrist in ("wrist_3_link", "wrist_2_link", "wrist_1_link")
    for part in ("gripper_base_link", "gripper_left_finger_link", "gripper_right_finger_link")
    if (wrist, part) not in _NEXT_TO_EACH_OTHER
]


def _body(robot: str, suffix: str) -> str:
    """Content of <robot> in a robot's file."""
    text = (ROBOTS / robot / f"{robot}.{suffix}").read_text()
    return re.fullmatch(r".*?<robot [^>]*>\n(.*)</robot>\n", text, re.DOTALL)[1]


def compose() -> dict[str, str]:
    """Content of each file of robots/ur5_gripper, by name."""
    head = (
        '<?xml version="1.0"?>\n<!-- UR5 with the two-finger gripper: put together by'
        " tests/robots/compose.py. -->\n"
    )
    begin, end = '<robot name="ur5_gripper"%s>\n', "</robot>\n"
    urdf = (
        head
        + begin % ' version="1.2"'
        + _body("ur5", "urdf")
        + _MOUNT
        + "\n"
        + _body("gripper_2f", "urdf")
        + end
    )

    arm = _body("ur5", "srdf").replace('tip_link="tool0"', 'tip_link="gripper_tcp"')
    arm = arm.replace(
        '<end_effector name="tool" parent_link="tool0" group="manipulator"/>',
        '<end_effector name="gripper" parent_link="tool0" group="gripper"'
        ' parent_group="manipulator"/>',
    )
    pairs = [(a, b, "Adjacent") for a, b in _NEXT_TO_EACH_OTHER] + [
        (a, b, "Never") for a, b in _NEVER
    ]
    disabled = "".join(
        f'  <disable_collisions link1="{a}" link2="{b}" reason="{why}"/>\n' for a, b, why in pairs
    )
    srdf = head + begin % "" + arm + "\n" + _body("gripper_2f", "srdf") + disabled + end

    limits = [(ROBOTS / robot / "joint_limits.yaml").read_text() for robot in ("ur5", "gripper_2f")]
    both = limits[0] + limits[1].partition("joint_limits:\n")[2]
    return {"ur5_gripper.urdf": urdf, "ur5_gripper.srdf": srdf, "joint_limits.yaml": both}


if __name__ == "__main__":
    for name, content in compose().items():
        (ROBOTS / "ur5_gripper" / name).write_text(content)
