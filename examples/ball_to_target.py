"""Shared by the golf swing and the throw: torques that bring a ball to a target, and a picture.

After the experiments of Qiao, Liang, Koltun and Lin, "Efficient differentiable simulation of
articulated bodies", ICML 2021, Figure 6. There the torques of all steps are the variables, found by
stochastic gradient descent. Here the variables are torques at knots, linear in between. Gradients
do not need this reduction, but CMA-ES would have no chance without it. The descent takes Polyak's
step length, which uses that the best loss is zero.
"""

import argparse
import time
from dataclasses import dataclass, field

import matplotlib
import numpy as np

from robosim.simulation import Control, Rollout, Simulation, State

matplotlib.use("Agg")
import matplotlib.pyplot as plt

try:
    import cma
except ImportError:  # optional: needed only for the comparison
    cma = None

WANTED = 0.05  # distance from the target [m]
# Standard deviation of the torques with which CMA-ES begins [N m]; better in both examples than 0.3
# and 3.
SPREAD = 1.0
NEAR_ENOUGH = 0.01  # [m], where gradient descent stops
ROUNDING = 1e-12  # rounding of a gradient [m/(N m)]


@dataclass
class Task:
    """Torques that bring a ball to rest at a target.

    The link "ball" must be the last that the model moves.
    """

    simulation: Simulation
    start: State
    target: tuple[float, float]  # x and y [m]
    steps: int  # number of steps of a run
    driven: int  # number of steps in which torques act
    joints: int  # number of joints with torques, the model's first
    knots: int = 20

    def __post_init__(self) -> None:
        at = np.linspace(0, self.knots - 1, self.driven)
        # Weights of the knots, (driven, knots).
        self.hats = np.maximum(0, 1 - np.abs(at[:, None] - np.arange(self.knots)))

    @property
    def rest(self) -> np.ndarray:
        """Zero torques at all knots, (knots joints,)."""
        return np.zeros(self.knots * self.joints)

    def control(self, x: np.ndarray) -> Control:
        """Interpolate the torques at the knots to torques of all steps."""
        tau = np.zeros((self.steps, self.simulation.model.n_v))
        tau[: self.driven, : self.joints] = self.hats @ x.reshape(self.knots, self.joints)
        return Control(tau)

    def run(self, x: np.ndarray) -> Rollout:
        """Simulate the motion with these torques at the knots."""
        return self.simulation.rollout(self.start, self.steps, self.control(x))

    def distance(self, motion: Rollout) -> float:
        """Horizontal distance between the ball's final position and the target [m]."""
        return float(np.linalg.norm(self._ball(motion)[:2, 3] - self.target))

    def gradient(self, x: np.ndarray, motion: Rollout) -> np.ndarray:
        """Gradient of the distance with respect to the torques at the knots."""
        X_WB = self._ball(motion)
        miss = X_WB[:2, 3] - self.target
        q_bar = np.zeros((self.steps + 1, self.simulation.model.n_v))
        # Tangents of a floating link are along its own axes, and the ball has turned.
        q_bar[-1, -6:-3] = X_WB[:2, :3].T @ miss / np.linalg.norm(miss)
        by_tau = motion.vjp(q_bar).tau
        return (self.hats.T @ by_tau[: self.driven, : self.joints]).ravel()

    def _ball(self, motion: Rollout) -> np.ndarray:
        return self.simulation.model.frame_pose(motion.q[-1], "ball")

    def solve(self, most: int, options: argparse.Namespace) -> None:
        """Solve by gradient descent in at most `most` steps, then by CMA-ES, and plot both."""
        gradients = descend(self, most)
        searches = {"gradient descent": gradients}
        seconds = options.patience * gradients.seconds[-1]
        if (evolution := evolve(self, seconds)) is not None:
            searches["CMA-ES"] = evolution
        plot(self, searches).savefig(options.plot, dpi=100)
        print(f"wrote {options.plot}")


@dataclass
class Search:
    """Distances from the target over the seconds spent, and the best torques."""

    best: np.ndarray
    seconds: list[float] = field(default_factory=list)
    distances: list[float] = field(default_factory=list)
    started: float = field(default_factory=time.perf_counter)

    def note(self, distance: float, x: np.ndarray) -> None:
        """Record one more trial."""
        if distance < min(self.distances, default=np.inf):
            self.best = x
        self.seconds.append(time.perf_counter() - self.started)
        self.distances.append(distance)


def why_stuck(gradient: np.ndarray) -> str | None:
    """Return the reason why a search by this gradient is stuck, or None if it is not."""
    if np.linalg.norm(gradient) > ROUNDING:
        return None
    return (
        "The gradient is zero: the robot does not touch the ball, so that no small change of the"
        " torques moves it. Begin with a motion that touches the ball."
    )


def descend(task: Task, most: int) -> Search:
    """Plain gradient descent from zero torques, in at most `most` steps.

    Polyak's step length (1969): along the gradient, as far as would bring the distance to zero if
    it kept falling linearly.

    Raises:
        SystemExit: the gradient is zero, or the ball does not reach the target.
    """
    x = task.rest
    search = Search(x)
    for step in range(most + 1):
        motion = task.run(x)
        distance = task.distance(motion)
        search.note(distance, x)
        print(f"step {step:2}: {100 * distance:6.1f} cm off the target")
        if distance < NEAR_ENOUGH:
            print(f"gradient descent: {step} steps, {search.seconds[-1]:.2f} s")
            return search
        gradient = task.gradient(x, motion)
        if reason := why_stuck(gradient):
            raise SystemExit(reason)
        x = x - distance / (gradient @ gradient) * gradient
    raise SystemExit(f"{100 * min(search.distances):.1f} cm off the target after {most} steps")


def evolve(task: Task, seconds: float) -> Search | None:
    """Run CMA-ES on the same torques for `seconds`; None if it is not installed."""
    if cma is None:
        print("CMA-ES: not compared; pip install cma")
        return None
    strategy = cma.CMAEvolutionStrategy(task.rest, SPREAD, {"verbose": -9, "seed": 1})
    search = Search(task.rest)
    tries: list[np.ndarray] = []
    while not search.seconds or search.seconds[-1] < seconds:
        if len(tries) == strategy.popsize:
            strategy.tell(tries, search.distances[-len(tries) :])
            tries.clear()
        tries.append(strategy.ask(1)[0])
        search.note(task.distance(task.run(tries[-1])), tries[-1])
    print(
        f"CMA-ES: {100 * min(search.distances):.1f} cm off after {len(search.seconds)} runs,"
        f" {seconds:.2f} s"
    )
    return search


def plot(task: Task, searches: dict[str, Search]) -> plt.Figure:
    """Plot the distances over time, and the first and the best motion."""
    figure = plt.figure(figsize=(10, 4), layout="constrained")
    axes = figure.add_subplot(1, 2, 1)
    for name, search in searches.items():
        (dots,) = axes.semilogy(search.seconds, search.distances, ".", alpha=0.4)
        best = np.minimum.accumulate(search.distances)
        axes.step(search.seconds, best, where="post", color=dots.get_color(), label=name)
    axes.axhline(WANTED, color="black", linestyle=":", label=f"{100 * WANTED:.0f} cm")
    axes.set(xlabel="time spent [s]", ylabel="distance from the target [m]")
    axes.legend()

    space = figure.add_subplot(1, 2, 2, projection="3d")
    model = task.simulation.model
    limbs = [link.name for link in model.links if link.name != "ball"]
    for x, color in ((task.rest, "0.6"), (searches["gradient descent"].best, "C0")):
        q = task.run(x).q
        space.plot(*q[:, -7:-4].T, color=color)
        for i in np.linspace(0, 1.5 * task.driven, 7).astype(int):
            limb = np.array([model.frame_pose(q[i], name)[:3, 3] for name in limbs])
            space.plot(*limb.T, color=color, alpha=0.4)
    space.plot(*task.target, 0, "x", color="C3", markersize=10)
    space.set(xlabel="x [m]", zlabel="z [m]", yticks=(0, task.target[1]))
    space.locator_params("z", nbins=3)
    space.view_init(elev=25, azim=-75)
    space.set_box_aspect((1.3, 1, 0.8), zoom=1.1)
    return figure


def options(about: str, picture: str) -> argparse.ArgumentParser:
    """Return a parser with the options of both examples."""
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("--plot", default=picture, metavar="FILE", help="where the picture goes")
    parser.add_argument("--bounce", default="time_of_impact", choices=("time_of_impact", "step"))
    parser.add_argument(
        "--patience", type=float, default=1, help="times as long as the descent for CMA-ES"
    )
    return parser
