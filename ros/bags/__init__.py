"""Recordings: states and commands of arms in rosbag2's format MCAP, written and read without ROS.

`BagWriter` writes what `ros2 bag` and Foxglove read, through the package rosbags (extra `bag`).
`Bag` reads such a recording back, also one that was interrupted: as arrays for identification, as a
Trajectory, and beside the plan that was followed. `python -m robosim.ros.bags BAG` shows what is in
one and how closely it follows a plan.
"""

from robosim.ros.bags.reading import Bag, JointStates, Stamped
from robosim.ros.bags.writing import BagWriter

__all__ = ["Bag", "BagWriter", "JointStates", "Stamped"]
