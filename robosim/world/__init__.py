"""Worlds to simulate: robots and free objects, obstacles, materials, motors and closed loops."""

from robosim.world.closure import Closure, JointEquality, PointClosure, Weld
from robosim.world.material import Material
from robosim.world.motor import Motor
from robosim.world.world import World

__all__ = ["Closure", "JointEquality", "Material", "Motor", "PointClosure", "Weld", "World"]
