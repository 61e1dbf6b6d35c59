"""Execution of plans without ROS: arm interface, controller semantics, simulation, streaming."""
