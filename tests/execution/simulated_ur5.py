"""A simulated UR5 and commands for tests of simulated arms."""

import numpy as np

import robosim
from robosim.execution.messages import JointTrajectory, JointTrajectoryPoint
from robosim.execution.simulated import SimulatedArm
from robosim.planners import Problem, plan
from robosim.scene import load_scene

UR5 = robosim.load_robot("ur5")
N = 6
READY = np.array([0.3, -1.2, 1.1, -1.4, -1.5, 0.4])
SHELF = plan(Problem(UR5, load_scene("bookshelf_small", model=UR5))).trajectory
START = dict(zip(SHELF.position_names, SHELF.position(0.0), strict=True))


def arm_at(start=None, **options) -> SimulatedArm:
    options = {
        "initial": dict(zip(UR5.joint_names, READY, strict=True)) if start is None else start,
        **options,
    }
    return SimulatedArm(UR5, **options)


def trajectory(*points, names=UR5.joint_names, stamp=0.0) -> JointTrajectory:
    """Trajectory of points (time, positions) or (time, positions, velocities)."""
    return JointTrajectory(names, tuple(JointTrajectoryPoint(*point) for point in points), stamp)


def texts(arm) -> str:
    return "\n".join(event.text for event in arm.events)
