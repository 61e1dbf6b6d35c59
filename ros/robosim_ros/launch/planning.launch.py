"""Launch the planner, the streamer for external trajectories, and optionally RViz, for an arm.

ur_simulated.launch.py and ur_real.launch.py include this file and expose its arguments.
"""

from __future__ import annotations

from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument
from launch.conditions import IfCondition
from launch.substitutions import LaunchConfiguration, PathJoinSubstitution
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue
from launch_ros.substitutions import FindPackageShare


def generate_launch_description() -> LaunchDescription:
    """Return the launch description."""

    def share(*path: str) -> PathJoinSubstitution:
        return PathJoinSubstitution([FindPackageShare("robosim_ros"), *path])

    def text(argument: str) -> ParameterValue:
        return ParameterValue(LaunchConfiguration(argument), value_type=str)

    # Arguments
    arguments = [
        DeclareLaunchArgument(
            "robot",
            default_value="ur5",
            description="A bundled robot, such as ur5 or ur5e, or the path of a URDF or xacro file",
        ),
        DeclareLaunchArgument(
            "profile",
            default_value="generic",
            choices=["generic", "ur", "franka", "xarm", "topic_based"],
            description=(
                "The arm's driver, for what its controllers are called and what the robot tells of"
                " itself"
            ),
        ),
        DeclareLaunchArgument(
            "series",
            default_value="auto",
            choices=["auto", "cb3", "e-series"],
            description="Of the arm's controller, for its rate",
        ),
        DeclareLaunchArgument(
            "interface",
            default_value="action",
            choices=["action", "passthrough", "forward_position"],
            description=(
                "Who interpolates: the arm's controller, the robot itself, or the streamer with set"
                " points"
            ),
        ),
        DeclareLaunchArgument(
            "controller",
            default_value="",
            description="The controller's name; empty: the profile's for the interface",
        ),
        DeclareLaunchArgument(
            "tf_prefix",
            default_value="",
            description="What is before the names of links and joints",
        ),
        DeclareLaunchArgument(
            "srdf",
            default_value=LaunchConfiguration("robot"),
            description="Groups and named states for the planner: a bundled robot, or an SRDF file",
        ),
        DeclareLaunchArgument(
            "joint_limits",
            default_value=LaunchConfiguration("robot"),
            description=(
                "Acceleration limits, which no URDF has: a bundled robot, or a joint_limits.yaml"
            ),
        ),
        DeclareLaunchArgument(
            "scene",
            default_value="",
            description="What stands around the arm: a bundled scene, or a scene file",
        ),
        DeclareLaunchArgument(
            "rviz", default_value="false", choices=["true", "false"], description="Show it in RViz"
        ),
    ]
    # Nodes
    planner = Node(
        package="robosim_ros",
        executable="planner",
        name="planner",
        output="screen",
        parameters=[
            share("config", "planner.yaml"),
            {name: text(name) for name in ("srdf", "joint_limits", "tf_prefix", "scene")}
            | {f"execution.{name}": text(name) for name in ("profile", "interface", "controller")},
        ],
    )
    streamer = Node(
        package="robosim_ros",
        executable="streamer",
        name="streamer",
        output="screen",
        parameters=[
            share("config", "streamer.yaml"),
            {
                name: text(name)
                for name in ("robot", "profile", "series", "interface", "controller", "tf_prefix")
            },
        ],
    )
    rviz = Node(
        package="rviz2",
        executable="rviz2",
        name="rviz2",
        arguments=["-d", share("config", "robosim.rviz")],
        condition=IfCondition(LaunchConfiguration("rviz")),
    )
    return LaunchDescription([*arguments, planner, streamer, rviz])
