"""Push a box so that it slides to a mark.

The speed is found by gradient descent through 500 steps with contact.

Run: python examples/09_push_a_box.py
"""

import numpy as np

from robosim.geometry import Shape
from robosim.model import ModelBuilder
from robosim.scene import Scene
from robosim.simulation import Simulation
from robosim.world import Material, World

MARK = np.array([0.3, 0.1])  # where the box has to stop, x and y [m]
STEPS = 800


def make_simulation() -> Simulation:
    """Return a simulation of a free box on a floor."""
    builder = ModelBuilder("box")
    builder.add_link("root")
    builder.add_link("box", mass=2.0, inertia=np.diag([0.017, 0.008, 0.022]))
    builder.add_joint("free", "floating", "root", "box")
    builder.add_collider("box", Shape.box((0.2, 0.3, 0.1)))
    scene = Scene("floor")
    scene.add_half_space("floor")
    return Simulation(
        World(builder.build(), scene, materials={("box", "floor"): Material(friction=0.4)})
    )


def main() -> None:
    """Find the push."""
    simulation = make_simulation()
    push = np.array([1.0, 0.2])  # speed along x and y [m/s]
    for _ in range(20):
        start = simulation.state([0, 0, 0.05, 0, 0, 0, 1], [*push, 0, 0, 0, 0])
        motion = simulation.rollout(start, STEPS)
        miss = motion.q[-1, :2] - MARK
        print(
            f"push {push[0]:.4f}, {push[1]:.4f} m/s: stops {1000 * np.linalg.norm(miss):.2f} mm off"
            " the mark"
        )
        if np.linalg.norm(miss) < 1e-4:
            break
        # Gradient of half the squared miss, back through all steps, and the next push along it.
        q_bar = np.zeros((STEPS + 1, simulation.model.n_v))
        q_bar[-1, :2] = miss
        gradient = motion.vjp(q_bar).v[:2]
        push -= gradient * (miss @ miss) / (gradient @ gradient)
    else:
        raise SystemExit("no push found")


if __name__ == "__main__":
    main()
