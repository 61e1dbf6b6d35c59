"""Robots on a floor."""

from __future__ import annotations

import numpy as np

from ..simulation.worlds import G, floor  # noqa: TID252 (tests have no absolute name)

__all__ = ["G", "floor", "on_the_floor", "placed"]


def placed(robot, state):
    """Configuration of a free-flying robot in a named state, just touching the floor."""
    q = robot.configuration(state)
    q[2] -= floor().compile(robot).min_distance(q)[0]
    return q


def on_the_floor(contacts):
    """Force [N] of the floor on all objects that touch it, and the names of these objects."""
    force, touching = np.zeros(3), set()
    for contact in contacts:
        others = {contact.A, contact.B} - {"floor"}
        if contact.mode != "open" and len(others) == 1:
            force += contact.force if contact.A == "floor" else -contact.force
            touching |= others
    return force, touching
