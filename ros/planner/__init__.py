"""The node `planner`: plans motions of a robot that ROS describes, shows them, and has the arm
follow them.

Run it with `python -m robosim.ros.planner`. Names are relative, so that a namespace moves them:

| name | type | |
|---|---|---|
| `robot_description` | std_msgs/String, latched | in: URDF; a later one replaces it |
| `robot_description_semantic` | std_msgs/String, latched | in: SRDF |
| `joint_states` | sensor_msgs/JointState | in: where the joints are, by name |
| `~/scene` | std_msgs/String, latched | in: a scene's YAML; empty: the first one |
| `~/plan_motion` | action robosim_msgs/PlanMotion | plan, and execute on request; with feedback |
| `~/plan` | service robosim_msgs/PlanMotion | the same without feedback |
| `~/trajectory` | trajectory_msgs/JointTrajectory, latched | out: the last plan |
| `~/markers` | visualization_msgs/MarkerArray, latched | out: scene, path of the tips, goal |
| `display_planned_path` | moveit_msgs/DisplayTrajectory, latched | out: the last plan |

`display_planned_path` is there where moveit_msgs is installed.

Requests are done one after the other. `codes` says how planning's statuses become error codes.

A signal (SIGINT, SIGTERM) ends what goes on, and everybody who waits is answered; for these answers
to arrive the process stays up to 2 s longer (`robosim.ros.answers`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from robosim.ros.planner.parameters import PARAMETERS

if TYPE_CHECKING:
    from robosim.ros.planner.node import PlannerNode

__all__ = ["PARAMETERS", "main", "make_node"]


def make_node(**arguments: Any) -> PlannerNode:
    """The node; needs rclpy and robosim_msgs. Arguments are those of rclpy.node.Node."""
    from robosim.ros.planner.node import PlannerNode

    return PlannerNode(**arguments)


def main() -> int:
    """Run the node; returns the exit code."""
    from robosim.ros import run

    return run.main(
        lambda: make_node(),
        parameters=PARAMETERS,
        summary=(
            "Plan motions for a robot that ROS describes, show them, and have the arm follow them."
        ),
        requires=("robosim_msgs", "sensor_msgs", "trajectory_msgs", "visualization_msgs"),
    )
