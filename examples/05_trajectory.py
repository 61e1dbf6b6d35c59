"""Use a trajectory: values at any time, limits, jerk, files and a plot."""

import numpy as np

import robosim
from robosim.planners import Problem, plan
from robosim.trajectory import Trajectory

robot = robosim.load_robot("panda")
result = plan(Problem(robot, start="up", goal="ready"), jerk=1000.0)
trajectory = result.trajectory

t = np.linspace(0, trajectory.duration, 5)
print("positions", np.round(trajectory.position(t), 3), sep="\n")
print("torques", np.round(trajectory.torque(t), 2), sep="\n")
print("violations:", trajectory.validate())  # exact: also between samples

slow = trajectory.scale(2.0)  # the same path in twice the time
back = trajectory.reverse()
there_and_back = trajectory.concatenate(back)
print(
    f"{trajectory.duration:.2f} s, slow {slow.duration:.2f} s, there and back"
    f" {there_and_back.duration:.2f} s"
)

for name in ("motion.json", "motion.npz", "motion.csv"):
    trajectory.save(name)
    assert Trajectory.load(name).duration == trajectory.duration
trajectory.plot().savefig("motion.png")
