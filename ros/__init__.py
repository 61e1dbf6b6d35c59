"""ROS 2 nodes, and code that they share.

Importing this package, or a node's module for its `PARAMETERS`, does not need ROS; running a node
does. The nodes run as `python -m robosim.ros.NAME`, or through the colcon package `robosim_ros`.
"""
