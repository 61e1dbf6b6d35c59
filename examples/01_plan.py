"""Plan a motion of a UR5 into a shelf, print the result, and save it."""

import robosim
from robosim.planners import Problem, plan
from robosim.scene import load_scene

robot = robosim.load_robot("ur5")
scene = load_scene("bookshelf_small", model=robot)

result = plan(Problem(robot, scene))  # without a start and a goal, the scene's own are used
if not result:
    raise SystemExit(f"{result.status.value}: {result.reason}")

trajectory = result.trajectory
print(
    f"{trajectory.duration:.2f} s, {result.path_length:.2f} rad, planned in"
    f" {1e3 * result.timings['total']:.1f} ms"
)
print("fastest joint:", abs(trajectory.sample(100).velocity).max(), "rad/s")
trajectory.save("plan.json")
