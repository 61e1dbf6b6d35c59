"""Everyday scenes of contact. A new one is a function in one of these files, below `@scene`."""

from . import hands, legged, mechanisms, piles, toys
from .scene import SCENES, AbsentRobotError, ZooScene

__all__ = [
    "SCENES",
    "AbsentRobotError",
    "ZooScene",
    "hands",
    "legged",
    "mechanisms",
    "piles",
    "toys",
]
