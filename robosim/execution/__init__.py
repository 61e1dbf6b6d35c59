"""From a plan to a moving arm, without ROS: the port to an arm, the controller's semantics,
simulation, streaming."""
