"""Robots from URDF, xacro and SRDF: strict reading with file and line, and inspection."""

from robosim.urdf.inspect import ColliderReport, RobotReport, inspect_robot
from robosim.urdf.load import LoadedRobot, LoadOptions, load_robot, load_with_report
from robosim.urdf.self_collision import SelfCollisionReport, filter_self_collision
from robosim.urdf.source import bundled_robots
from robosim.urdf.xacro import expand_xacro

__all__ = [
    "ColliderReport",
    "LoadOptions",
    "LoadedRobot",
    "RobotReport",
    "SelfCollisionReport",
    "bundled_robots",
    "expand_xacro",
    "filter_self_collision",
    "inspect_robot",
    "load_robot",
    "load_with_report",
]
