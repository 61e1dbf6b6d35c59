"""Find thrusts by which a drone that rests on the ground lifts off; writes lift_off.png.

Plain gradient descent never starts; with complementarity-aware gradients it succeeds. After
Werling, Omens, Lee, Exarchos and Liu, "Fast and feature-complete differentiable physics for
articulated rigid bodies with contact", RSS 2021, section VII-C and Figure 8.
"""

import argparse

import matplotlib
import numpy as np

from robosim import load_robot
from robosim.scene import Scene
from robosim.simulation import Control, Simulation
from robosim.world import World

matplotlib.use("Agg")
import matplotlib.pyplot as plt

RISE, CLOSE = 0.5, 1e-6  # target height above the rest position [m]; loss to stop at [m^2]
STEPS, DT = 500, 2e-3
ARM, DRAG = 0.17, 0.016  # arm of the rotors [m], and drag per thrust [m]: robots/drone/README.md
DRONE = load_robot("drone", base="floating")
# Rows: Fz, mx, my, mz of the base from a thrust of 1 N in front, left, back, right.
FORCES = np.zeros((4, DRONE.n_v))
FORCES[:, 2:6] = [[1, 0, -ARM, DRAG], [1, ARM, 0, -DRAG], [1, 0, ARM, DRAG], [1, -ARM, 0, -DRAG]]


def descend(simulation: Simulation, q: np.ndarray, most: int) -> tuple[list, list, float]:
    """Return losses, rises over time, and the largest entry of all gradients of a descent."""
    # Half of Newton's step in flight: a force raises the end by dt^2 / m times the steps left.
    raises = DT**2 / sum(link.mass for link in DRONE.links) * np.arange(STEPS, 0, -1)
    rate = 0.5 / (2 * 4 * raises @ raises)
    thrusts, losses, rises, greatest = np.zeros((STEPS, 4)), [], [], 0.0
    for _ in range(most + 1):
        motion = simulation.rollout(simulation.state(q), STEPS, Control(thrusts @ FORCES))
        rises.append(motion.q[:, 2] - q[2])
        miss = rises[-1][-1] - RISE
        losses.append(miss**2)
        if losses[-1] < CLOSE:
            break
        q_bar = np.zeros((STEPS + 1, DRONE.n_v))
        # Tangents of a floating base are along its own axes.
        q_bar[-1, :3] = 2 * miss * DRONE.frame_pose(motion.q[-1], "base_link")[2, :3]
        gradient = motion.vjp(q_bar).tau @ FORCES.T
        greatest, thrusts = max(greatest, np.abs(gradient).max()), thrusts - rate * gradient
    return losses, rises, greatest


def main() -> None:
    """Run both descents and plot them."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--plot", default="lift_off.png", help="where the picture goes")
    parser.add_argument("--bounce", default="step", choices=("time_of_impact", "step"))
    parser.add_argument("--most", type=int, default=60, help="steps of a descent")
    given = parser.parse_args()
    scene, q = Scene("ground"), DRONE.neutral()
    scene.add_half_space("ground")
    q[2] -= scene.compile(DRONE).min_distance(q)[0]
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained")
    for name, aware in ("plain", False), ("complementarity-aware", True):
        how = {"dt": DT, "solver": "lcp", "bounce": given.bounce, "complementarity_aware": aware}
        losses, rises, greatest = descend(Simulation(World(DRONE, scene), **how), q, given.most)
        print(f"{name}: loss {losses[0]:.3g} -> {losses[-1]:.3g} in {len(losses) - 1} steps")
        print(f"  greatest gradient {greatest:.2g} m^2/N, highest rise {np.max(rises):.2g} m")
        left.semilogy(losses, label=name)
        right.plot(DT * np.arange(STEPS + 1), rises[-1], label=name)
    left.set(xlabel="step of the descent", ylabel="loss [m$^2$]", ylim=(CLOSE / 10, 1))
    right.plot(DT * STEPS, RISE, "k*", label="wanted")
    right.set(xlabel="time [s]", ylabel="rise in the last run [m]")
    figure.legend(*right.get_legend_handles_labels(), loc="outside upper center", ncols=3)
    figure.savefig(given.plot, dpi=100)
    if losses[-1] >= CLOSE:
        raise SystemExit(f"{given.most} steps are too few to come to the height")


if __name__ == "__main__":
    main()
