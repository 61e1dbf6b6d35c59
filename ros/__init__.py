"""ROS 2: the nodes and what they share.

Importing this package, or a node's module for its `PARAMETERS`, needs no ROS; running a node does.
The nodes run as `python -m robosim.ros.NAME`, or through the colcon package `robosim_ros`.
"""
