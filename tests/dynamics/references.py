"""Pinocchio's results for each operation of the engine: one function per operation."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType

import numpy as np

from . import references_dynamics, references_kinematics, references_parameters
from .calls import OPERATIONS, Array
from .example_robots import Robot
from .sample import Answer, Sample

Reference = Callable[[Sample], Answer]


def rows_of(*modules: ModuleType) -> dict[str, Reference]:
    """Functions of the modules that have the name of an operation."""
    return {
        name: getattr(module, name)
        for module in modules
        for name in OPERATIONS
        if hasattr(module, name)
    }


REFERENCES = rows_of(references_kinematics, references_dynamics, references_parameters)

# Operations that Pinocchio does not have, with the tests that compare them with differences.
ELSEWHERE = {
    "rnea_hvp": "dynamics/test_products.py",
    "forward_dynamics_hvp": "dynamics/test_products.py",
    "joint_forces": "model/test_joint_forces.py",
    "joint_force_derivatives": "model/test_joint_forces.py",
}

# Maps of both libraries' results to common coordinates, for results whose coordinates differ.
COMPARED: dict[str, tuple[Callable[[Robot, Array], Array], Callable[[Robot, Array], Array]]] = {
    "integrate": (
        lambda robot, q: robot.one_of_two(robot.configurations(q)),
        lambda robot, q: robot.one_of_two(q),
    ),
    "difference": (lambda robot, v: robot.wrapped(v @ robot.G.T), lambda robot, v: v),
}

# Operations whose accuracy falls with cond(M).
CONDITIONED = {name for name, row in OPERATIONS.items() if row["solves"]} | {"mass_solve"}


def allowed(robot: Robot, operation: str) -> Array:
    """(STATES,) tolerances, relative to the largest entry of the reference, or to one."""
    floor = np.full(len(robot.q), 1e-10)
    return (
        np.maximum(floor, 10 * np.finfo(float).eps * robot.cond)
        if operation in CONDITIONED
        else floor
    )
