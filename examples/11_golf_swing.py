"""Find the torques of a golf swing after which the ball comes to rest at a mark.

The method is plain gradient descent. After an experiment of Qiao, Liang, Koltun and Lin, ICML 2021,
Figure 6: the gradient of the ball's final position is propagated back through its rolling, the
impact and the swing. There the joints begin at zero; here the club is drawn back. CMA-ES (`pip
install cma`) with as much time is run for comparison. Writes golf_swing.png.

Run: python examples/11_golf_swing.py
"""

import numpy as np
from ball_to_target import Task, options

from robosim.geometry import Shape, pose
from robosim.model import ModelBuilder
from robosim.scene import Scene
from robosim.simulation import Simulation
from robosim.world import Material, World

RADIUS, BALL = 0.02135, 0.0459  # [m, kg] smallest and heaviest ball of the Rules of Golf
ARM, CLUB, HEAD = 0.5, 0.6, 0.03  # lengths, and the thickness of the club's head [m]
LOFT = 0.1  # angle by which the club's face looks upwards [rad]
MARK = (4.0, 1.0)  # [m]
DT = 2e-3


def make_simulation(bounce: str) -> Simulation:
    """Return a simulation of a golfer with three joints over a green, and a ball.

    Springs keep the wrist and the aim straight.
    """
    builder = ModelBuilder("golfer")
    builder.add_link("root")
    for link, mass, length in (("body", 1.0, 0.0), ("arm", 2.0, ARM), ("club", 0.4, CLUB)):
        inertia = mass * (0.01 + length**2 / 12) * np.eye(3)
        builder.add_link(link, mass=mass, com=(0, 0, -length / 2), inertia=inertia)
    builder.add_link("head")
    builder.add_link("ball", mass=BALL, inertia=0.4 * BALL * RADIUS**2 * np.eye(3))
    shoulder = pose((0, 0, ARM + CLUB + HEAD))
    builder.add_joint("aim", "revolute", "root", "body", X_PJ=shoulder, damping=0.1, stiffness=1.0)
    builder.add_joint("shoulder", "revolute", "body", "arm", axis=(0, -1, 0))
    wrist = pose((0, 0, -ARM))
    builder.add_joint(
        "wrist", "revolute", "arm", "club", X_PJ=wrist, axis=(0, -1, 0), damping=0.2, stiffness=30.0
    )
    builder.add_joint("shaft", "fixed", "club", "head", X_PJ=pose((0, 0, -CLUB), rpy=(0, -LOFT, 0)))
    builder.add_joint("flight", "floating", "root", "ball")
    builder.add_collider("head", Shape.box((HEAD, 0.12, 0.05)))
    builder.add_collider("ball", Shape.sphere(RADIUS))
    scene = Scene("green")
    scene.add_half_space("green")
    grass, face = Material(0.4, rolling_friction=0.15 * RADIUS), Material(0.2, restitution=0.7)
    materials = {("ball", "green"): grass, ("head", "ball"): face}
    return Simulation(World(builder.build(), scene, materials=materials), dt=DT, bounce=bounce)


def main() -> None:
    """Improve the swing until the ball stops at the mark."""
    parser = options("Find the torques of a golf swing.", "golf_swing.png")
    parser.add_argument(
        "--ball", type=float, default=0.05, help="x where it lies [m]; too far: nothing is found"
    )
    given = parser.parse_args()
    simulation = make_simulation(given.bounce)
    # The club is drawn back. Without any torque it falls and hits the ball.
    start = simulation.state([0, -0.8, 0, given.ball, 0, RADIUS, 0, 0, 0, 1])
    task = Task(simulation, start, MARK, steps=round(4 / DT), driven=round(0.4 / DT), joints=3)
    task.solve(most=50, options=given)


if __name__ == "__main__":
    main()
