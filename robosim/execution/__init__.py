"""Execution of plans without ROS: the interface to an arm, the controller's semantics, simulation,
streaming."""
