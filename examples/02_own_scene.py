"""Describe a scene in Python, plan to a pose of the tool, and read the reason of a failure."""

import numpy as np

import robosim
from robosim.geometry import pose
from robosim.planners import PoseGoal, Problem, plan
from robosim.scene import Scene

robot = robosim.load_robot("ur5")

scene = Scene("workbench")
scene.add_box("bench", (1.2, 1.6, 0.05), pose((0.5, 0, -0.06)), color=(0.7, 0.6, 0.45, 1))
scene.add_box("wall", (0.04, 0.6, 0.2), pose((0.45, 0, 0.07)))
scene.add_cylinder("can", 0.04, 0.12, pose((0.65, 0.25, 0.03)))
scene.add_half_space("floor", pose((0, 0, -0.8)))

# The tool points down: z of tool0 is along -z of the world. Any angle about the vertical is
# allowed.
goal = PoseGoal(
    "tool0", pose((0.65, 0.25, 0.2), rpy=(np.pi, 0, 0)), rotation_tolerance=(0, 0, np.inf)
)
result = plan(Problem(robot, scene, start="up", goal=goal))
print(result.status.value, result.reason)
reached = robot.frame_pose(result.trajectory.position(result.trajectory.duration), "tool0")
print("tool at", np.round(reached[:3, 3], 4))

# The same goal inside the can has no plan, and the result has the reason.
inside = PoseGoal("tool0", pose((0.65, 0.25, 0.05), rpy=(np.pi, 0, 0)))
result = plan(Problem(robot, scene, start="up", goal=inside))
print(result.status.value, "-", result.reason)

scene.save("workbench.yaml")  # Scene.load reads it back
