"""A real UR arm behind ur_robot_driver: the planner and the streamer, and on request the driver itself.

ros2 launch robosim_ros ur_real.launch.py robot:=ur5 series:=cb3 driver:=true robot_ip:=192.168.56.101

Then start the External Control program on the teach pendant: nothing moves before. Without `driver:=true` the driver
is expected to run already.
"""

from __future__ import annotations

from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, IncludeLaunchDescription
from launch.conditions import IfCondition
from launch.launch_description_sources import PythonLaunchDescriptionSource
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
            description="The arm, as the driver and robosim call it: ur5, ur5e, ...",
        ),
        DeclareLaunchArgument(
            "series",
            default_value="cb3",
            choices=["cb3", "e-series"],
            description="Of the arm's controller, for the rate of set points: CB3 has 125 Hz, e-Series 500 Hz",
        ),
        DeclareLaunchArgument(
            "interface",
            default_value="action",
            choices=["action", "passthrough", "forward_position"],
            description="Who interpolates: the driver's controller, the robot itself, or the streamer with set points",
        ),
        DeclareLaunchArgument(
            "controller",
            default_value="",
            description="The controller's name; empty: the driver's for the interface",
        ),
        DeclareLaunchArgument(
            "tf_prefix",
            default_value="",
            description="What the driver puts before the names of links and joints",
        ),
        DeclareLaunchArgument(
            "srdf",
            default_value=LaunchConfiguration("robot"),
            description="Groups and named states for the planner: a bundled robot, or an SRDF file",
        ),
        DeclareLaunchArgument(
            "joint_limits",
            default_value=LaunchConfiguration("robot"),
            description="Acceleration limits, which no URDF has: a bundled robot, or a joint_limits.yaml",
        ),
        DeclareLaunchArgument(
            "scene",
            default_value="",
            description="What stands around the arm: a bundled scene, or a scene file",
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
        DeclareLaunchArgument(
            "rviz", default_value="false", choices=["true", "false"], description="Show it in RViz"
        ),
    ]
    driver = IncludeLaunchDescription(
        PythonLaunchDescriptionSource(
            PathJoinSubstitution([FindPackageShare("ur_robot_driver"), "launch", "ur_control.launch.py"])
        ),
        launch_arguments={
            "ur_type": LaunchConfiguration("robot"),
            "robot_ip": LaunchConfiguration("robot_ip"),
            "tf_prefix": LaunchConfiguration("tf_prefix"),
            "launch_rviz": "false",
        }.items(),
        condition=IfCondition(LaunchConfiguration("driver")),
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
                "interface": text("interface"),
                "controller": text("controller"),
                "tf_prefix": text("tf_prefix"),
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
    return LaunchDescription([*arguments, driver, planner, streamer, rviz])
