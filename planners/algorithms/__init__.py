"""Planners that ship with robosim; its modules are imported when planners are first needed."""
