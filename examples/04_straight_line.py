"""Move the tool along a straight line, and report how far it gets if it cannot go on."""

import numpy as np

import robosim
from robosim.planners import PoseGoal, Problem, plan_cartesian

robot = robosim.load_robot("ur5e")
X_WT = robot.frame_pose(robot.configuration("ready"), "tool0")

down = X_WT.copy()
down[2, 3] -= 0.15
result = plan_cartesian(Problem(robot, start="ready", goal=PoseGoal("tool0", down)))
print(result.status.value, f"{result.trajectory.duration:.2f} s")

# Straightness: the largest distance of the tool from the line, along the whole motion.
tool = np.array(
    [robot.frame_pose(q, "tool0")[:3, 3] for q in result.trajectory.sample(100).position]
)
print(f"off the line by at most {1e3 * abs(tool[:, :2] - X_WT[:2, 3]).max():.2f} mm")

far = X_WT.copy()
far[0, 3] += 2.0
result = plan_cartesian(Problem(robot, start="ready", goal=PoseGoal("tool0", far)))
print(result.status.value, "-", result.reason)
