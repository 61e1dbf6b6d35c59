"""Pick up a block and put it down elsewhere.

The attached block moves with the arm and avoids the scene.
"""

import numpy as np

import robosim
from robosim import viewer
from robosim.geometry import pose
from robosim.planners import PoseGoal, Problem, plan
from robosim.scene import Scene
from robosim.trajectory import Event

robot = robosim.load_robot("ur5_gripper")
tip = robot.groups["manipulator"].tip
gripper = [link for link in robot.link_names if link.startswith("gripper")]

scene = Scene("pick and place")
scene.add_box("table", (1.0, 1.6, 0.04), pose((0.55, 0, -0.04)))
scene.add_box("divider", (0.3, 0.03, 0.35), pose((0.55, 0, 0.155)))
scene.add_box("block", (0.04, 0.04, 0.08), pose((0.5, -0.3, 0.02)), color=(0.2, 0.6, 0.3, 1))
at_the_beginning = scene.copy()


def grasp(x: float, y: float) -> PoseGoal:
    """Return a goal with the tip over (x, y), pointing down, at half the block's height.

    The block may be grasped either way round.
    """
    return PoseGoal(tip, pose((x, y, 0.04), rpy=(np.pi, 0, 0)), rotation_tolerance=(0, 0, 0.2))


scene.allow("block", "*")  # the gripper closes around it
reach = plan(Problem(robot, scene, start="ready", goal=grasp(0.5, -0.3)))
print("reach:", reach.status.value, reach.reason)

q_grasp = reach.configuration(reach.trajectory.duration)
scene.disallow("block", "*")
scene.attach("block", tip, model=robot, q=q_grasp, touch_links=gripper)
scene.allow("block", "table")  # the block stands on the table at both ends
carry = plan(Problem(robot, scene, start=q_grasp, goal=grasp(0.5, 0.3)))
print("carry:", carry.status.value, carry.reason)

q_place = carry.configuration(carry.trajectory.duration)
scene.detach("block", model=robot, q=q_place)
print("the block now stands at", np.round(scene.objects["block"].pose[:3, 3], 3))

# Events for the viewer: the block is attached to the tip during the whole second motion.
end = carry.trajectory.duration
carried = carry.trajectory.replace(
    events=[Event(0.0, "attach", "block", tip), Event(end, "detach", "block")]
)
viewer.save(
    "pick_and_place.gif",
    robot,
    at_the_beginning,
    [reach.trajectory, carried],
    size=(320, 240),
    rate=10,
)
print("see pick_and_place.gif")
