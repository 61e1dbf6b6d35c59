"""Find the torques of an arm with nine joints that throws a ball to a mark.

The method is plain gradient descent. After another experiment of Qiao, Liang, Koltun and Lin, ICML
2021, Figure 6: the gradient of the ball's final position is propagated back through its landing,
its flight, and the throw, in which three plates hold the ball by contact alone. There the joints
begin at zero; here they begin bent, with springs that pull them straight. CMA-ES (`pip install
cma`) with as much time is run for comparison. Writes throw.png.

Run: python examples/12_throw.py
"""

import numpy as np
from ball_to_target import Task, options

from robosim.geometry import Shape, pose
from robosim.model import ModelBuilder
from robosim.scene import Scene
from robosim.simulation import Simulation
from robosim.world import Material, World

AXES = {"x": (1, 0, 0), "y": (0, 1, 0), "z": (0, 0, 1)}
JOINTS = "zyxyxyxyy"  # axis of each joint
SHOULDER, LENGTH, MASS = 0.3, 0.12, 0.3  # of shoulder and links [m, m, kg]
RADIUS, BALL = 0.05, 0.15  # [m, kg]
PLATE = np.array([0.08, 0.08, 0.01])  # sizes of the cup's plates [m]
BENT = -0.45  # initial angle of the joints about y [rad]; their springs pull them straight
MARK = (3.0, 0.5)  # [m]
DT = 1e-3


def make_simulation(bounce: str) -> Simulation:
    """Return a simulation of the arm with a cup, a ball, and sand to throw the ball on."""
    builder = ModelBuilder("thrower")
    builder.add_link("root")
    parent = "root"
    for i, axis in enumerate(JOINTS):
        inertia = MASS * (1e-3 + LENGTH**2 / 12) * np.eye(3)
        builder.add_link(f"link{i}", mass=MASS, com=(0, 0, LENGTH / 2), inertia=inertia)
        at = pose((0, 0, LENGTH if i else SHOULDER))
        weaker = 1 - 0.08 * i  # towards the tip
        spring = {"stiffness": weaker * (80.0 if axis == "y" else 20.0), "damping": weaker * 0.3}
        builder.add_joint(
            f"joint{i}", "revolute", parent, f"link{i}", X_PJ=at, axis=AXES[axis], **spring
        )
        parent = f"link{i}"
    builder.add_link("cup")
    at = pose((0, 0, LENGTH), rpy=(0, np.pi / 2, 0))
    builder.add_joint("tip", "fixed", parent, "cup", X_PJ=at)
    for i in range(3):  # plates around the ball and below it, as seen along z of the cup
        tilted = pose(rpy=(0, 0, 2 * np.pi * i / 3)) @ pose(rpy=(0, 0.8, 0))
        at = tilted @ pose((0, 0, -RADIUS - PLATE[2] / 2))
        builder.add_collider("cup", Shape.box(PLATE), X_LC=at)
    builder.add_link("ball", mass=BALL, inertia=0.4 * BALL * RADIUS**2 * np.eye(3))
    builder.add_joint("flight", "floating", "root", "ball")
    builder.add_collider("ball", Shape.sphere(RADIUS))
    scene = Scene("sand")
    scene.add_half_space("sand")
    sand = Material(1.0, rolling_friction=0.5 * RADIUS)
    materials = {("ball", "sand"): sand, ("cup", "ball"): Material(0.5)}
    return Simulation(World(builder.build(), scene, materials=materials), dt=DT, bounce=bounce)


def main() -> None:
    """Improve the throw until the ball stops at the mark."""
    given = options("Find the torques of a throw.", "throw.png").parse_args()
    simulation = make_simulation(given.bounce)
    model = simulation.model
    q = model.neutral()
    q[: len(JOINTS)] = [BENT if axis == "y" else 0 for axis in JOINTS]
    q[-7:-4] = model.frame_pose(q, "cup")[:3, 3]
    # The springs alone throw the ball without any torque.
    start, steps, driven = simulation.state(q), round(1.6 / DT), round(0.6 / DT)
    task = Task(simulation, start, MARK, steps=steps, driven=driven, joints=9)
    task.solve(most=20, options=given)


if __name__ == "__main__":
    main()
