"""What the examples of a golf swing and of a throw share: torques that bring a ball to a target,
and a picture of it.

After the experiments of Qiao, Liang, Koltun and Lin, "Efficient differentiable simulation of
articulated bodies", ICML 2021, Figure 6. There the torques of all steps are looked for, by
stochastic gradient descent; here those at knots, linear between them, which gradients do not need,
but which gives CMA-ES a chance, by descent with Polyak's step length, which knows that the best
loss is zero.
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
except ImportError:  # not needed: only compared with
    cma = None

WANTED = 0.05  # [m] from the target
# Of the torques with which CMA-ES begins [N m]; better in both examples than 0.3 and 3.
SPREAD = 1.0
NEAR_ENOUGH = 0.01  # [m], where gradient descent stops
ROUNDING = 1e-12  # of a gradient [m/(N m)]


@dataclass
class Task:
    """A robot, and the link "ball" as the last that its model moves, which is to come to rest at
    the target."""

    simulation: Simulation
    start: State
    target: tuple[float, float]  # x and y [m]
    steps: int  # of a run
    driven: int  # steps in which torques act
    joints: int  # that they act on, the model's first
    knots: int = 20

    def __post_init__(self) -> None:
        at = np.linspace(0, self.knots - 1, self.driven)
        # (driven, knots).
        self.hats = np.maximum(0, 1 - np.abs(at[:, None] - np.arange(self.knots)))

    @property
    def rest(self) -> np.ndarray:
        """(knots joints,) no torques."""
        return np.zeros(self.knots * self.joints)

    def control(self, x: np.ndarray) -> Control:
        """The torques of all steps, from those at the knots."""
        tau = np.zeros((self.steps, self.simulation.model.n_v))
        tau[: self.driven, : self.joints] = self.hats @ x.reshape(self.knots, self.joints)
        return Control(tau)

    def run(self, x: np.ndarray) -> Rollout:
        """The motion with these torques at the knots."""
        return self.simulation.rollout(self.start, self.steps, self.control(x))

    def distance(self, motion: Rollout) -> float:
        """How far from the target the ball ends, over the ground [m]."""
        return float(np.linalg.norm(self._ball(motion)[:2, 3] - self.target))

    def gradient(self, x: np.ndarray, motion: Rollout) -> np.ndarray:
        """Of the distance by the torques at the knots, back through all steps."""
        X_WB = self._ball(motion)
        miss = X_WB[:2, 3] - self.target
        q_bar = np.zeros((self.steps + 1, self.simulation.model.n_v))
        # Tangents of what moves freely are along its own axes, and the ball has turned.
        q_bar[-1, -6:-3] = X_WB[:2, :3].T @ miss / np.linalg.norm(miss)
        by_tau = motion.vjp(q_bar).tau
        return (self.hats.T @ by_tau[: self.driven, : self.joints]).ravel()

    def _ball(self, motion: Rollout) -> np.ndarray:
        return self.simulation.model.frame_pose(motion.q[-1], "ball")

    def solve(self, most: int, options: argparse.Namespace) -> None:
        """By gradient descent in at most so many steps, then beside it by CMA-ES; and make the
        picture."""
        gradients = descend(self, most)
        searches = {"gradient descent": gradients}
        seconds = options.patience * gradients.seconds[-1]
        if (evolution := evolve(self, seconds)) is not None:
            searches["CMA-ES"] = evolution
        plot(self, searches).savefig(options.plot, dpi=100)
        print(f"wrote {options.plot}")


@dataclass
class Search:
    """How far the ball ended from the target, over the seconds that were spent, and the best
    torques."""

    best: np.ndarray
    seconds: list[float] = field(default_factory=list)
    distances: list[float] = field(default_factory=list)
    started: float = field(default_factory=time.perf_counter)

    def note(self, distance: float, x: np.ndarray) -> None:
        """One more try."""
        if distance < min(self.distances, default=np.inf):
            self.best = x
        self.seconds.append(time.perf_counter() - self.started)
        self.distances.append(distance)


def why_stuck(gradient: np.ndarray) -> str | None:
    """Why a search by this gradient does not move, in words; None where it does."""
    if np.linalg.norm(gradient) > ROUNDING:
        return None
    return (
        "The gradient is zero: the robot does not touch the ball, so that no small change of the"
        " torques moves it. Begin with a motion that touches the ball."
    )


def descend(task: Task, most: int) -> Search:
    """Plain gradient descent from no torques, in at most so many steps.

    Each is Polyak's (1969): along the gradient, as far as would bring the distance to zero if it
    fell on linearly.

    Raises:
        SystemExit: the gradient is zero, or the ball does not come to the target.
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
    """CMA-ES on the same torques for so many seconds; None where it is not installed."""
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
    """How near each came, over time; and beside it the first motion and the one that was found."""
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
    """What both examples can be told."""
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("--plot", default=picture, metavar="FILE", help="where the picture goes")
    parser.add_argument("--bounce", default="time_of_impact", choices=("time_of_impact", "step"))
    parser.add_argument(
        "--patience", type=float, default=1, help="times as long as the descent for CMA-ES"
    )
    return parser
