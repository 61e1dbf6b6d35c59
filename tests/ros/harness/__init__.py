"""Tools for tests of ROS 2 nodes: private DDS domains, real processes, clients, waiting."""
