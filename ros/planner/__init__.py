"""The node `planner`: plans motions of a robot described in ROS, displays and executes them.

Run it with `python -m robosim.ros.planner`. Names are relative, so that a namespace applies:
| name | type | |
|---|---|---|
| `robot_description` | std_msgs/String, latched | in: URDF; a later one replaces it |
| `robot_description_semantic` | std_msgs/String, latched | in: SRDF |
| `joint_states` | sensor_msgs/JointState | in: positions of joints, by name |
| `~/scene` | std_msgs/String, latched | in: a scene's YAML; empty: the first one |
| `~/plan_motion` | action robosim_msgs/PlanMotion | plan, and execute on request; with feedback |
| `~/plan` | service robosim_msgs/PlanMotion | plan, and execute on request; without feedback |
| `~/trajectory` | trajectory_msgs/JointTrajectory, latched | out: the last plan |
| `~/markers` | visualization_msgs/MarkerArray, latched | out: scene, path of the tips, goal |
| `display_planned_path` | moveit_msgs/DisplayTrajectory, latched | out: the last plan |

`display_planned_path` exists if moveit_msgs is installed.

Requests are processed one after the other. `codes` maps planning statuses to error codes.

A signal (SIGINT, SIGTERM) ends current work, and all clients are answered. The process then stays
up to 2 s longer for these answers to arrive (`robosim.ros.answers`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from robosim.ros.planner.parameters import PARAMETERS

if TYPE_CHECKING:
    from robosim.ros.planner.node import PlannerNode

__all__ = ["PARAMETERS", "main", "make_node"]


def make_node(**arguments: Any) -> PlannerNode:
    """Create the node; needs rclpy and robosim_msgs. Arguments are those of rclpy.node.Node."""
    from robosim.ros.planner.node import PlannerNode

    return PlannerNode(**arguments)


def main() -> int:
    """Run the node and return the exit code."""
    from robosim.ros import run

    return run.main(
        lambda: make_node(),
        parameters=PARAMETERS,
        summary=(
            "Plan motions for a robot that ROS describes, show them, and have the arm follow them."
        ),
        requires=("robosim_msgs", "sensor_msgs", "trajectory_msgs", "visualization_msgs"),
    )
