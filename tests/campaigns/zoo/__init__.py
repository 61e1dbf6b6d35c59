"""Everyday scenes with contact. To add one, write a function with `@scene` in one of the files."""

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
