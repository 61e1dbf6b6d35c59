"""robosim.ros"""
