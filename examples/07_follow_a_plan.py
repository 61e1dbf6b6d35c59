"""Let a simulated UR5 follow a plan, pause and resume it, and print the tracking error."""

import numpy as np

import robosim
from robosim.execution.goals import Rejection
from robosim.execution.joint_trajectory import from_trajectory
from robosim.execution.messages import Goal
from robosim.execution.simulated import SimulatedArm
from robosim.execution.streaming import stream_trajectory
from robosim.planners import Problem, plan
from robosim.scene import load_scene

robot = robosim.load_robot("ur5")
trajectory = plan(Problem(robot, load_scene("bookshelf_small", model=robot))).trajectory
start = dict(zip(trajectory.position_names, trajectory.position(0.0), strict=True))

# The same call drives every arm. This arm has the engine's dynamics, PD controllers and limited
# torque.
arm = SimulatedArm(robot, tracking="dynamics", initial=start)
report = stream_trajectory(arm, trajectory)
print(report)
for joint, error in zip(report.tracking.joint_names, report.tracking.max_error, strict=True):
    print(f"  {joint:20} {1e3 * error:.2f} mrad at most")
report.tracking.plot().savefig("tracking.png")
report.tracking.save("tracking.csv")

# Without feedforward the arm sags a little under gravity.
sagging = SimulatedArm(robot, tracking="dynamics", feedforward="none", initial=start)
print(
    "without feedforward"
    f" {1e3 * stream_trajectory(sagging, trajectory).tracking.max_error.max():.2f} mrad"
)

# An arm can also be commanded directly. The speed slider pauses it: time stops for the arm, so that
# nothing times out.
arm = SimulatedArm(robot, initial=start)
goal = arm.send(Goal(from_trajectory(trajectory)))
arm.sleep_until(1.0)
arm.speed_scaling = 0.0
arm.sleep_until(2.0)
print(f"paused at {np.round(arm.state().position, 3)}, {goal.status.name}")
arm.speed_scaling = 1.0
while goal.result is None:
    arm.step()
print(f"arrived after {arm.clock():.2f} s: {goal.result.error_string}")

# A rejected trajectory comes with a reason: here it does not start at the arm's position.
print(f"again: {stream_trajectory(arm, trajectory).reason.splitlines()[0]}")
arm.protective_stop()
answer = arm.send(Goal(from_trajectory(trajectory)))
assert isinstance(answer, Rejection)
print(f"after a protective stop: {answer.text}")
