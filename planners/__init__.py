"""robosim.planners"""
