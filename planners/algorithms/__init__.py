"""Planners that ship with robosim: every module here is imported when planners are first looked
up."""
