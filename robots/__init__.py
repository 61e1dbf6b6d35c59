"""robosim.robots"""
