"""Motion planning: problems, planners, and all stages from a goal to a timed trajectory.

Example::

    result = plan(Problem(model, scene, start="home", goal=PoseGoal("tool0", pose)))
    if result:
        result.trajectory.save("plan.json")
    else:
        print(result.status.value, result.reason)

A planner is a module and a decorator: see `robosim.planners.registry`.
"""

from robosim.planners.cartesian import CartesianResult, plan_cartesian
from robosim.planners.checking import check
from robosim.planners.inverse import (
    IkResult,
    IkResults,
    IkStatus,
    inverse_kinematics,
    inverse_kinematics_many,
)
from robosim.planners.planning import plan
from robosim.planners.prepare import Prepared, prepare
from robosim.planners.problem import Goal, JointGoal, PoseGoal, Positions, Problem
from robosim.planners.registry import (
    Planner,
    SearchOutcome,
    SearchQuery,
    SearchStatus,
    Turns,
    available_planners,
    get_planner,
    planner,
    unavailable_planners,
)
from robosim.planners.result import NoPlan, PlanResult, Status
from robosim.planners.stages import optimize, search, simplify
from robosim.planners.targets import Targets, goal_configurations
from robosim.planners.timing import MotionLimits, motion_limits, time_parameterize

__all__ = [
    "CartesianResult",
    "Goal",
    "IkResult",
    "IkResults",
    "IkStatus",
    "JointGoal",
    "MotionLimits",
    "NoPlan",
    "PlanResult",
    "Planner",
    "PoseGoal",
    "Positions",
    "Prepared",
    "Problem",
    "SearchOutcome",
    "SearchQuery",
    "SearchStatus",
    "Status",
    "Targets",
    "Turns",
    "available_planners",
    "check",
    "get_planner",
    "goal_configurations",
    "inverse_kinematics",
    "inverse_kinematics_many",
    "motion_limits",
    "optimize",
    "plan",
    "plan_cartesian",
    "planner",
    "prepare",
    "search",
    "simplify",
    "time_parameterize",
    "unavailable_planners",
]
