"""Launch the planner, the streamer and optionally the driver for a UR arm behind ur_robot_driver.

    ros2 launch robosim_ros ur_real.launch.py robot:=ur5 series:=cb3 driver:=true
    robot_ip:=192.168.56.101

Then start the External Control program on the teach pendant, before which nothing moves. Without
`driver:=true` the driver must run already. The arguments of planning.launch.py are arguments of
this file as well.
"""

from __future__ import annotations

from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, IncludeLaunchDescription
from launch.conditions import IfCondition
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch.substitutions import LaunchConfiguration, PathJoinSubstitution
from launch_ros.substitutions import FindPackageShare


def generate_launch_description() -> LaunchDescription:
    """Return the launch description."""

    def launch_file(package: str, name: str) -> PythonLaunchDescriptionSource:
        return PythonLaunchDescriptionSource(
            PathJoinSubstitution([FindPackageShare(package), "launch", name])
        )

    arguments = [
        DeclareLaunchArgument(
            "robot",
            default_value="ur5",
            description="The arm, as the driver and robosim call it: ur5, ur5e, ...",
        ),
        DeclareLaunchArgument(
            "series",
            default_value="cb3",
            choices=["cb3", "e-series"],
            description=(
                "Of the arm's controller, for the rate of set points: CB3 has 125 Hz, e-Series"
                " 500 Hz"
            ),
        ),
        DeclareLaunchArgument(
            "tf_prefix",
            default_value="",
            description="What the driver puts before the names of links and joints",
        ),
        DeclareLaunchArgument(
            "driver",
            default_value="false",
            choices=["true", "false"],
            description="Start ur_robot_driver, too",
        ),
        DeclareLaunchArgument(
            "robot_ip", default_value="0.0.0.0", description="The robot's address, for the driver"
        ),
    ]
    planning = IncludeLaunchDescription(
        launch_file("robosim_ros", "planning.launch.py"),
        launch_arguments={
            "profile": "ur",
            **{name: LaunchConfiguration(name) for name in ("robot", "series", "tf_prefix")},
        }.items(),
    )
    # Last, because an included file leaves its arguments behind, and the driver's has many.
    driver = IncludeLaunchDescription(
        launch_file("ur_robot_driver", "ur_control.launch.py"),
        launch_arguments={
            "ur_type": LaunchConfiguration("robot"),
            "robot_ip": LaunchConfiguration("robot_ip"),
            "tf_prefix": LaunchConfiguration("tf_prefix"),
            "launch_rviz": "false",
        }.items(),
        condition=IfCondition(LaunchConfiguration("driver")),
    )
    return LaunchDescription([*arguments, planning, driver])
