"""Launch a simulated UR arm with the UR driver's names, the planner and the streamer.

    ros2 launch robosim_ros ur_simulated.launch.py robot:=ur5 scene:=bookshelf_small rviz:=true

The arguments of planning.launch.py are arguments of this file as well.
"""

from __future__ import annotations

from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, IncludeLaunchDescription
from launch.launch_description_sources import PythonLaunchDescriptionSource
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
            "tf_prefix", default_value="", description="Put before the names of links and joints"
        ),
        DeclareLaunchArgument(
            "controller",
            default_value="scaled_joint_trajectory_controller",
            description="The name that the arm's trajectory controller has",
        ),
    ]
    arm = Node(
        package="robosim_ros",
        executable="sim_arm",
        name=LaunchConfiguration("controller"),
        output="screen",
        parameters=[
            share("config", "sim_arm.yaml"),
            {name: text(name) for name in ("robot", "series", "tracking", "tf_prefix")},
        ],
    )
    planning = IncludeLaunchDescription(
        PythonLaunchDescriptionSource(share("launch", "planning.launch.py")),
        launch_arguments={
            "profile": "ur",
            **{
                name: LaunchConfiguration(name)
                for name in ("robot", "series", "controller", "tf_prefix")
            },
        }.items(),
    )
    return LaunchDescription([*arguments, arm, planning])
