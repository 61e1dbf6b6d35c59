"""Transports to an arm over ROS 2 topics: through cyclonedds, and through rclpy."""
