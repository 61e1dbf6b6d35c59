"""Hints about likely mistakes: degrees, millimeters, forms of a pose, order of arguments."""

from __future__ import annotations

import numpy as np
import pytest

import robosim
from robosim.errors import PlanningError, SimulationError
from robosim.geometry import pose
from robosim.planners import PoseGoal, Problem, Status, inverse_kinematics, plan, plan_cartesian
from robosim.scene import load_scene
from robosim.simulation import Simulation
from robosim.urdf import bundled_robots
from robosim.world import World


def limited_angle(model):
    """Index of the first coordinate that is an angle with limits, or None."""
    kinds, upper = model.position_kinds, model.limits.upper
    return next(
        (k for k, kind in enumerate(kinds) if "angle" in kind and np.isfinite(upper[k])), None
    )


ROBOTS = [name for name in bundled_robots() if limited_angle(robosim.load_robot(name)) is not None]


@pytest.fixture(scope="module")
def ur5():
    return robosim.load_robot("ur5")


@pytest.mark.parametrize("name", ROBOTS)
def test_degrees(name):
    """A start or goal in degrees has a hint. One that is out of limits in radians has none."""
    model = robosim.load_robot(name)
    limits = model.limits
    k = limited_angle(model)
    middle = np.clip(model.neutral(), limits.lower, limits.upper)
    inside = 0.9 * limits.upper[k] if limits.upper[k] > 0.2 else 0.9 * limits.lower[k]
    degrees = middle.copy()
    degrees[k] = np.degrees(inside)
    far = middle.copy()
    far[k] = limits.upper[k] + 0.1
    for given, hint in (degrees, True), (far, False):
        for problem, status in (
            (Problem(model, start=given, goal=middle), Status.START_OUT_OF_LIMITS),
            (Problem(model, start=middle, goal=given), Status.GOAL_OUT_OF_LIMITS),
        ):
            result = plan(problem)
            if result.status is Status.START_IN_COLLISION:
                continue
            assert result.status is status
            assert ("look like degrees: use numpy.radians" in result.reason) == hint


def test_millimeters(ur5):
    X = pose((400, 200, 300))
    result = plan(Problem(ur5, start=[0, -1.5, 1.5, 0, 0, 0], goal=PoseGoal("tool0", X)))
    assert result.status is Status.GOAL_UNREACHABLE
    assert "538.5 m from the base, which looks like millimeters" in result.reason
    far = plan(Problem(ur5, start=[0, -1.5, 1.5, 0, 0, 0], goal=PoseGoal("tool0", pose((4, 2, 3)))))
    assert far.status is Status.GOAL_UNREACHABLE
    assert "millimeters" not in far.reason


@pytest.mark.parametrize(
    ("given", "hint"),
    [
        ([0.4, 0, 0.3, 0, 0, 0, 1], r"pose\(x\[:3\], quaternion=x\[3:\]\)"),
        ([0.4, 0, 0.3, 0, 0, 0], r"pose\(x\[:3\], rpy=x\[3:\]\)"),
        ([0.4, 0, 0.3], r"pose\(x\).*rotation_tolerance=inf"),
        (np.eye(3), "must be 4x4 finite numbers"),
    ],
)
def test_other_forms_of_a_pose(given, hint):
    with pytest.raises(PlanningError, match=hint):
        PoseGoal("tool0", given)


def test_swapped_arguments(ur5):
    scene = load_scene("bookshelf_small", model=ur5)
    goal = PoseGoal("tool0", np.eye(4))
    for call, error, named in (
        (lambda: Problem(scene, ur5), PlanningError, "model must be a Model, got Scene"),
        (lambda: Problem(ur5, [0.0] * 6), PlanningError, "scene must be a Scene, got list"),
        (lambda: plan(ur5), PlanningError, "problem must be a Problem, got Model"),
        (lambda: plan_cartesian(ur5), PlanningError, "problem must be a Problem, got Model"),
        (
            lambda: inverse_kinematics(goal, ur5),
            PlanningError,
            "model must be a Model, got PoseGoal",
        ),
        (
            lambda: inverse_kinematics(ur5, np.eye(4)),
            PlanningError,
            "goal must be a PoseGoal, got ndarray",
        ),
        (
            lambda: Simulation(World(scene, ur5)),
            SimulationError,
            "model must be a Model, got Scene",
        ),
        (lambda: Simulation(World("ur5")), SimulationError, "model must be a Model, got str"),
    ):
        with pytest.raises(error, match=f"{named}; are the arguments in order"):
            call()
