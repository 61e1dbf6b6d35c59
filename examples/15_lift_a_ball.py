"""Find forces of a platform that lift a ball at rest on it; writes lift_a_ball.png.

After Werling et al., RSS 2021, section IV-D and Figure 4 (as 14_lift_off.py), where the ball is
about to separate. Here both rest: the paper's rule `True` fails, robosim's `together` works.
"""

import argparse

import matplotlib
import numpy as np

from robosim.geometry import Shape
from robosim.model import ModelBuilder
from robosim.simulation import Control, Simulation
from robosim.world import World

matplotlib.use("Agg")
import matplotlib.pyplot as plt

RISE, CLOSE, MOST = 0.5, 1e-6, 60  # height [m]; loss [m^2] and number of steps to stop at
STEPS, DT = 500, 2e-3
PLATFORM, BALL, RADIUS, THICK = 2.0, 0.5, 0.1, 0.04  # masses [kg], sizes [m]
BUILDER = ModelBuilder("lift")
BUILDER.add_link("ground")
BUILDER.add_link("platform", mass=PLATFORM, inertia=0.03 * np.eye(3))
BUILDER.add_joint("lift", "prismatic", "ground", "platform", axis=(0, 0, 1), lower=0)
BUILDER.add_collider("platform", Shape.box((0.4, 0.4, THICK)))
WORLD = World(BUILDER.build())
WORLD.add_body("ball", Shape.sphere(RADIUS), mass=BALL)
MODEL = WORLD.model
AT_REST = [0, 0, 0, THICK / 2 + RADIUS, 0, 0, 0, 1]  # platform on its limit, ball on platform


def descend(simulation: Simulation) -> tuple[list, list, float]:
    """Return losses, the ball's rises over time, and the largest entry of all gradients."""
    # Half of Newton's step in flight: a force raises the end by dt^2 / m times the steps left.
    raises = DT**2 / (PLATFORM + BALL) * np.arange(STEPS, 0, -1)
    rate = 0.5 / (2 * raises @ raises)
    tau, losses, rises, greatest = np.zeros((STEPS, MODEL.n_v)), [], [], 0.0
    for _ in range(MOST + 1):
        motion = simulation.rollout(simulation.state(AT_REST), STEPS, Control(tau))
        rises.append(motion.q[:, 3] - AT_REST[3])
        miss = rises[-1][-1] - RISE
        losses.append(miss**2)
        if losses[-1] < CLOSE:
            break
        q_bar = np.zeros((STEPS + 1, MODEL.n_v))
        # Tangents of the ball are along its own axes.
        q_bar[-1, 1:4] = 2 * miss * MODEL.frame_pose(motion.q[-1], "ball")[2, :3]
        gradient = motion.vjp(q_bar).tau[:, 0]
        greatest, tau[:, 0] = max(greatest, np.abs(gradient).max()), tau[:, 0] - rate * gradient
    return losses, rises, greatest


def main() -> None:
    """Run the three descents and plot them."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--plot", default="lift_a_ball.png", help="where the picture goes")
    given = parser.parse_args()
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained")
    cases = ("plain", False, "-"), ("each by itself", True, "--"), ("together", "together", "-")
    for name, aware, line in cases:
        simulation = Simulation(WORLD, dt=DT, solver="lcp", complementarity_aware=aware)
        losses, rises, greatest = descend(simulation)
        print(f"{name}: loss {losses[-1]:.2g} m^2 after {len(losses) - 1} steps", end=", ")
        print(f"gradients to {greatest:.1g} m^2/N")
        left.semilogy(losses, line, label=name)
        right.plot(DT * np.arange(STEPS + 1), rises[-1], line, label=name)
    left.set(xlabel="step of the descent", ylabel="loss [m$^2$]", ylim=(CLOSE / 10, 1))
    right.plot(DT * STEPS, RISE, "k*", label="wanted")
    right.set(xlabel="time [s]", ylabel="rise of the ball in the last run [m]")
    figure.legend(*right.get_legend_handles_labels(), loc="outside upper center", ncols=4)
    figure.savefig(given.plot, dpi=100)
    if losses[-1] >= CLOSE:
        raise SystemExit(f"{MOST} steps are too few to come to the height")


if __name__ == "__main__":
    main()
