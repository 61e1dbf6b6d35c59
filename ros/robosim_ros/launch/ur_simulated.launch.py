"""A simulated UR arm, under the names of the UR driver; planner; streamer for trajectories from elsewhere.

ros2 launch robosim_ros ur_simulated.launch.py robot:=ur5 scene:=bookshelf_small rviz:=true
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
    """What launch asks a launch file for."""

    def share(*path: str) -> PathJoinSubstitution:
        return PathJoinSubstitution([FindPackageShare("robosim_ros"), *path])

    def text(argument: str) -> ParameterValue:
        return ParameterValue(LaunchConfiguration(argument), value_type=str)

    arguments = [
        DeclareLaunchArgument(
            "robot",
            default_value="ur5",
            description="A bundled robot, such as ur5 or ur5e, or the path of a URDF or xacro file",
        ),
        DeclareLaunchArgument(
            "series",
            default_value="auto",
            choices=["auto", "cb3", "e-series"],
            description="Of the arm, for its rate",
        ),
        DeclareLaunchArgument(
            "tracking",
            default_value="ideal",
            choices=["ideal", "dynamics"],
            description="Whether the arm is where it is commanded, or torques move its masses",
        ),
        DeclareLaunchArgument(
            "srdf",
            default_value=LaunchConfiguration("robot"),
            description="Groups and named states for the planner: a bundled robot, or an SRDF file",
        ),
        DeclareLaunchArgument(
            "joint_limits",
            default_value=LaunchConfiguration("robot"),
            description="Acceleration limits for the planner: a bundled robot, or a joint_limits.yaml",
        ),
        DeclareLaunchArgument(
            "tf_prefix", default_value="", description="Put before the names of links and joints"
        ),
        DeclareLaunchArgument(
            "controller",
            default_value="scaled_joint_trajectory_controller",
            description="The name that the arm's trajectory controller has",
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
    arm = Node(
        package="robosim_ros",
        executable="sim_arm",
        name=LaunchConfiguration("controller"),
        output="screen",
        parameters=[
            share("config", "sim_arm.yaml"),
            {
                "robot": text("robot"),
                "series": text("series"),
                "tracking": text("tracking"),
                "tf_prefix": text("tf_prefix"),
            },
        ],
    )
    planner = Node(
        package="robosim_ros",
        executable="planner",
        name="planner",
        output="screen",
        parameters=[
            share("config", "planner.yaml"),
            {
                "srdf": text("srdf"),
                "joint_limits": text("joint_limits"),
                "tf_prefix": text("tf_prefix"),
                "scene": text("scene"),
            },
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
                "robot": text("robot"),
                "series": text("series"),
                "tf_prefix": text("tf_prefix"),
                "controller": text("controller"),
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
    return LaunchDescription([*arguments, arm, planner, streamer, rviz])
