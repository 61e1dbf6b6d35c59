"""Timed motions: evaluate, cut and join, check against limits, save, load and plot.

Positions have names; no robot model is needed.
"""

from robosim.trajectory.events import Event
from robosim.trajectory.limits import TrajectoryLimits, Violation
from robosim.trajectory.trajectory import Samples, Trajectory

__all__ = ["Event", "Samples", "Trajectory", "TrajectoryLimits", "Violation"]
