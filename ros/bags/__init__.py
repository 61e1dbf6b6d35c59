"""Recordings: states and commands of arms in rosbag2's format MCAP, written and read without ROS.

`BagWriter` writes files that `ros2 bag` and Foxglove read, through the package rosbags (extra
`bag`). `Bag` reads such a recording, even one that was interrupted: as arrays for identification,
as a Trajectory, and compared with the plan that was followed. `python -m robosim.ros.bags BAG`
shows the content of a recording and its tracking error.
"""

from robosim.ros.bags.reading import Bag, JointStates, Stamped
from robosim.ros.bags.writing import BagWriter

__all__ = ["Bag", "BagWriter", "JointStates", "Stamped"]
