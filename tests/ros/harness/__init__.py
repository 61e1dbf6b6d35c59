"""What tests of ROS 2 nodes need: an own DDS domain, real processes, a client node, waiting for
conditions."""
