"""Long rollouts on the ground and their gradients: time per step and memory.

Both are measured over the interval at which states are kept. A quadruped steps in place for 5,000
steps of 1 ms with `pgs`, its motors following targets of every step. The gradient is that of the
final position of its trunk, with respect to all targets, masses and frictions. Then ten quadrupeds
do the same in one world. Times are medians over runs. Memory is the growth of the process while it
runs the rollout and its gradient and holds states, targets and gradient, in a process of its own.
Gradients have to be bitwise equal for all intervals and numbers of threads, and agree with
differences of the rollout along a random direction of the first steps' targets.

The peer is the same rollout of one quadruped in JAX (harness/jax_walk.py), if it is installed.
States and gradients have to agree to rounding. Then time and memory are measured, each kind of
gradient in a process of its own. JAX's compilation is not counted, and reported separately. robosim
uses one thread; JAX may use all processors, but finds no work here for a second one. Therefore
processor times are compared, which other programs affect least. JAX's gradient is with respect to
targets alone, robosim's to everything.

    python benchmarks/bench_rollouts.py [--quick] [--json FILE] [--plot FILE]
"""

from __future__ import annotations

import ctypes
import gc
import multiprocessing
import sys
import time
from collections.abc import Callable
from copy import deepcopy
from functools import partial
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import NamedTuple
from xml.etree import ElementTree

import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).resolve().parent))

from harness.report import Report, Row, arguments

from robosim import load_robot, threads
from robosim.model import Model
from robosim.scene import Scene
from robosim.simulation import Control, Rollout, Simulation, StepGradient
from robosim.world import Material, Motor, World

Array = NDArray[np.float64]

FORWARD_BAR, BACKWARD_BAR = 20.0, 60.0  # [us] per step
MEMORY_BAR = 3.0  # [MB]
STORED_BAR = 5.0  # [kB] per step, of ten quadrupeds
SWEEPS = 10
GAINS = Motor(position_gain=120.0, velocity_gain=4.0)
STANDING = {"hip_joint": 0.0, "thigh_joint": 0.9, "calf_joint": -1.8}  # [rad]
LIFTED = {"thigh_joint": 0.25, "calf_joint": -0.5}  # [rad] added for a leg in the air
INTERVALS = (1, 2, 3, 5, 10, 20, 70, 200)
JUDGED = 3  # interval at which the bars of time and memory apply together
DIFFERENCE = 1e-6  # [rad] difference of targets
AGREEMENT = 1e-5  # of the derivative: truncation and rounding of the difference
DIRECTION = (1.0, 2.0, 3.0)  # of the final trunk position, in its axes there: the loss
# Data that JAX stores of its rollout for the gradient: all intermediate results, or states at the
# beginnings of segments of so many steps, one of INTERVALS.
KEPT = {None: "all kept", 1: "states kept", 20: "every 20 states kept"}
# Bar of JAX's states [m, rad, m/s, rad/s] and relative gradient against robosim's: rounding grows
# to this in some hundred contracting steps. A different row, order of rows or law would exceed 1e-6
# after one step.
ROUNDING = 1e-9


class Walk:
    """Quadrupeds that step in place, side by side.

    Attributes:
        simulation: of the quadrupeds.
        start: standing.
        control: targets of every step.
        steps: number of steps.
    """

    def __init__(self, steps: int, count: int = 1) -> None:
        if count == 1:
            model = load_robot("quadruped", base="floating")
        else:
            with TemporaryDirectory() as folder:
                model = several("quadruped", count, Path(folder))
        q = model.neutral()
        for i, name in enumerate(model.position_names):
            q[i] += next((angle for joint, angle in STANDING.items() if joint in name), 0.0)
        floor = Scene("floor")
        floor.add_half_space("floor")
        legs = [name for name in model.velocity_names if any(joint in name for joint in STANDING)]
        # Lower every trunk until its lowest point touches.
        lowest = floor.compile(model).min_distance(q)[0]
        heights = [i for i, name in enumerate(model.position_names) if name.split("/")[-1] == "z"]
        q[heights] -= lowest
        self._world = model, floor, legs
        self.simulation = self.with_solver("pgs")
        self.start = self.simulation.state(q)
        self.steps = steps
        targets = np.tile(q, (steps, 1))
        phase = 2 * np.pi * 2.0 * self.simulation.dt * np.arange(steps)  # 2 Hz
        for i, name in enumerate(model.position_names):
            # Diagonal legs move together.
            lift = np.maximum(0, np.sin(phase if "FR" in name or "RL" in name else phase + np.pi))
            targets[:, i] += (
                next((part for joint, part in LIFTED.items() if joint in name), 0.0) * lift
            )
        self.control = Control(q_target=targets)

    def with_solver(self, solver: str) -> Simulation:
        """Return a simulation of the same world with another solver."""
        model, floor, legs = self._world
        return Simulation(
            World(
                model, floor, motors=dict.fromkeys(legs, GAINS), materials={"floor": Material(0.8)}
            ),
            solver=solver,
            sweeps=SWEEPS,
        )

    def run(self, interval: int = 1) -> Rollout:
        """Run the rollout."""
        return self.simulation.rollout(self.start, self.steps, self.control, interval=interval)

    def back(self, motion: Rollout) -> StepGradient:
        """Return the gradient of the first trunk's final position along `DIRECTION`."""
        q_bar, v_bar = np.zeros((2, len(motion.times), self.simulation.model.n_v))
        q_bar[-1, :3] = DIRECTION
        return motion.vjp(q_bar, v_bar, by=["q_target"])


def several(name: str, count: int, folder: Path) -> Model:
    """Load several copies of a bundled robot as one model, a meter apart.

    Its URDF and SRDF have the links and joints of each copy named after the copy, each copy on a
    floating joint from one root.
    """
    source = Path(str(files("robosim.robots") / name))
    for suffix in "urdf", "srdf":
        single = ElementTree.parse(source / f"{name}.{suffix}").getroot()
        if suffix == "urdf":
            root = next(x.get("name") for x in single.iter("link"))
        whole = ElementTree.Element("robot", single.attrib)
        if suffix == "urdf":
            ElementTree.SubElement(whole, "link", name="ground")
        for k in range(count):
            for part in deepcopy(list(single)):
                if part.tag in (
                    "group",
                    "group_state",
                    "passive_joint",
                    "material",
                    "virtual_joint",
                ):
                    continue
                for x in part.iter():
                    if x.tag in ("link", "joint"):
                        x.set("name", f"{x.get('name')}_{k}")
                    for key in {"link", "link1", "link2"} & set(x.keys()):
                        x.set(key, f"{x.get(key)}_{k}")
                    for material in x.findall("material"):
                        x.remove(material)
                whole.append(part)
            if suffix == "urdf":
                free = ElementTree.SubElement(whole, "joint", name=f"free_{k}", type="floating")
                ElementTree.SubElement(free, "parent", link="ground")
                ElementTree.SubElement(free, "child", link=f"{root}_{k}")
                ElementTree.SubElement(free, "origin", xyz=f"{k} 0 0")
        ElementTree.ElementTree(whole).write(folder / f"many.{suffix}")
    return load_robot(folder / "many.urdf", srdf=folder / "many.srdf")


def grown(steps: int, interval: int) -> float:
    """Return the largest growth [MB] of the process during a rollout and its gradient.

    Call it in a process of its own, on Linux.
    """
    walk = Walk(10)
    walk.back(walk.run())
    Path("/proc/self/clear_refs").write_text("5")  # reset the peak of resident memory
    before = resident("VmHWM")
    walk = Walk(steps)
    walk.back(walk.run(interval))
    return (resident("VmHWM") - before) / 1024


def resident(what: str) -> float:
    """Return an entry of this process's memory status [kB]."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return float(next(line.split()[1] for line in lines if line.startswith(f"{what}:")))


class InJax(NamedTuple):
    """Cost of the rollout in JAX, and of robosim's in alternation, in processor time.

    Attributes:
        there: [us] per step of the rollout.
        both: [us] per step of rollout and gradient.
        our_there: [us] robosim's rollout.
        our_both: [us] robosim's rollout and gradient.
        memory: [MB] growth of the process.
        compiling: [s] of rollout and gradient.
    """

    there: float
    both: float
    our_there: float
    our_both: float
    memory: float
    compiling: float


def in_jax(steps: int, runs: int, segment: int | None, is_double: bool = True) -> InJax:
    """Measure JAX's rollout and gradient; call it in a process of its own, on Linux."""
    import jax

    jax.config.update("jax_enable_x64", is_double)
    from harness import jax_walk

    walk = Walk(10)
    robot, start = jax_walk.robot_of(walk.simulation, SWEEPS), jax_walk.start_of(walk.start.q)

    def targets() -> jax.Array:
        return jax_walk.targets_of(Walk(steps).control.q_target)

    there = jax.jit(partial(jax_walk.run, robot, start)).lower(targets()).compile()
    begin = time.perf_counter()
    back = (
        jax.jit(jax_walk.gradient(robot, start, np.array(DIRECTION), segment))
        .lower(targets())
        .compile()
    )
    compiling = time.perf_counter() - begin
    seconds(lambda: jax.block_until_ready(there(targets())), 1)  # allocates JAX's permanent memory
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)  # release memory of the compilation
    Path("/proc/self/clear_refs").write_text("5")
    before = resident("VmHWM")
    given = targets()
    kept = jax.block_until_ready(back(given))
    memory = (resident("VmHWM") - before) / 1024
    del kept
    walk = Walk(steps)
    works: list[Callable[[], object]] = [
        lambda: jax.block_until_ready(there(given)),
        lambda: jax.block_until_ready(back(given)),
        walk.run,
        lambda: walk.back(walk.run(segment or 1)),
    ]
    rounds = [
        [seconds(work, 1, time.process_time) / steps * 1e6 for work in works] for _ in range(runs)
    ]
    return InJax(*map(median, zip(*rounds, strict=True)), memory, compiling)


def jax_errors(steps: int) -> tuple[float, float]:
    """Return the largest deviation of JAX's states, and the relative deviation of its gradient.

    The latter is relative to the largest entry of robosim's gradient. Call it in a process of its
    own.
    """
    import jax

    jax.config.update("jax_enable_x64", True)
    from harness import jax_walk

    walk = Walk(steps)
    motion = walk.run()
    robot, start = jax_walk.robot_of(walk.simulation, SWEEPS), jax_walk.start_of(walk.start.q)
    targets = jax_walk.targets_of(walk.control.q_target)
    q, v = jax_walk.numbers(jax.jit(partial(jax_walk.run, robot, start))(targets))
    found = jax.jit(jax_walk.gradient(robot, start, np.array(DIRECTION)))(targets)[1]
    expected = walk.back(motion).q_target[:, 7:]
    of_states = max(np.abs(q - motion.q[1:]).max(), np.abs(v - motion.v[1:]).max())
    return float(of_states), float(
        np.abs(found.reshape(steps, -1) - expected).max() / np.abs(expected).max()
    )


def compare_with_jax(
    report: Report,
    steps: int,
    runs: int,
    is_quick: bool,
    memory: dict[int, float],
) -> dict[int | None, InJax]:
    """Add rows of robosim and JAX, and return JAX's figures by `KEPT`."""
    if find_spec("jax") is None:
        report.remark("JAX is not installed: no peer; pip install 'robosim[jax]'")
        return {}
    spawn = multiprocessing.get_context("spawn")

    def alone(work: Callable[..., object], *given: object) -> object:
        with spawn.Pool(1) as pool:
            return pool.apply(work, given)

    for count in (200,) if is_quick else (200, steps):
        of_states, of_gradient = alone(jax_errors, count)
        bar = ROUNDING if count == 200 else None
        report.add(Row(f"JAX's states beside ours, {count} steps", of_states, bar=bar))
        report.add(Row(f"JAX's gradient beside ours, {count} steps", of_gradient, bar=bar))
    found: dict[int | None, InJax] = {}
    for segment, name in KEPT.items():
        if is_quick and segment not in (None, 1):
            continue
        x = found[segment] = alone(in_jax, steps, runs, segment)
        if segment is None:
            report.add(Row("there, beside JAX", x.our_there, "us", peer=x.there))
        report.add(Row(f"there and back, beside JAX: {name}", x.our_both, "us", peer=x.both))
        report.add(Row(f"memory, beside JAX: {name}", memory[segment or 1], "MB", peer=x.memory))
        report.remark(f"JAX compiles there and back, {name}, in {x.compiling:.1f} s")
    if not is_quick:
        single = alone(in_jax, steps, runs, 1, False)
        report.remark(
            f"JAX in single precision, states kept: {single.there:.1f} us there, {single.both:.1f}"
            " us there and back"
        )
    return found


def seconds(
    work: Callable[[], object], runs: int, clock: Callable[[], float] = time.perf_counter
) -> float:
    """Return the median time of several runs."""
    spent = []
    for _ in range(runs):
        begin = clock()
        work()
        spent.append(clock() - begin)
    return median(spent)


def numbers(gradient: StepGradient) -> Array:
    """Return all numbers of a gradient that have to be bitwise equal."""
    by_parameters = (by.ravel() for by in gradient.parameters.values())
    return np.concatenate([gradient.q, gradient.v, gradient.q_target.ravel(), *by_parameters])


def check(walk: Walk) -> bool:
    """Return True if gradients are bitwise equal for several intervals and numbers of threads."""
    expected = numbers(walk.back(walk.run()))

    def found(interval: int, n: int) -> Array:
        with threads(n):
            return numbers(walk.back(walk.run(interval)))

    return all(
        np.array_equal(found(interval, n), expected) for interval in (1, 10, 70) for n in (1, 2, 4)
    )


def difference_error(steps: int) -> float:
    """Return the relative deviation of a short run's gradient from a difference.

    The difference is along a random direction of the targets.
    """
    walk = Walk(steps)
    direction = np.random.default_rng(1).normal(size=(steps, walk.simulation.model.n_q))
    direction[:, :7] = 0
    expected = float(np.sum(walk.back(walk.run()).q_target * direction))
    targets = walk.control.q_target

    def end(h: float) -> float:
        walk.control = Control(q_target=targets + h * direction)
        # Like the gradient: along the axes of the trunk at the end of the unchanged run.
        moved = walk.simulation.model.difference(at_end, walk.run().q[-1])
        return float(moved[:3] @ DIRECTION)

    at_end = walk.run().q[-1]
    found = (end(DIFFERENCE) - end(-DIFFERENCE)) / (2 * DIFFERENCE)
    return abs(found - expected) / abs(expected)


def plot(
    file: Path,
    times: dict[int, tuple[float, float]],
    memory: dict[int, float],
    of_jax: dict[int | None, InJax],
) -> None:
    """Plot time and memory over the interval, and JAX's figures if there are any."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    panels = 3 if of_jax else 2
    figure, axes = pyplot.subplots(1, panels, figsize=(4.5 * panels, 3.2), layout="constrained")
    left, right = axes[:2]
    intervals = list(times)
    left.plot(intervals, [times[k][0] for k in intervals], "o-", label="there")
    left.plot(intervals, [times[k][1] for k in intervals], "o-", label="back")
    left.set(xscale="log", xlabel="interval [steps]", ylabel="time per step [us]", ylim=(0, None))
    left.legend()
    right.plot(intervals, [memory[k] for k in intervals], "o-", color="black")
    right.set(xscale="log", xlabel="interval [steps]", ylabel="memory [MB]", ylim=(0, None))
    if of_jax:
        both = axes[2]
        ours = [(x.our_both, memory[k or 1]) for k, x in of_jax.items()]
        both.plot(*zip(*ours, strict=True), "o", label="robosim")
        both.plot(
            [x.both for x in of_jax.values()], [x.memory for x in of_jax.values()], "s", label="JAX"
        )
        for k, x in of_jax.items():
            below = -14 if k == 1 else 7
            both.annotate(
                KEPT[k],
                (x.both, x.memory),
                (0, below),
                textcoords="offset points",
                ha="center",
                fontsize=8,
            )
        most = max(x.both for x in of_jax.values())
        both.set(xlabel="time per step there and back [us]", ylabel="memory [MB]", yscale="log")
        both.set(xlim=(0, 1.3 * most), ylim=(1, 1000))
        both.legend()
    figure.savefig(file, dpi=120)


def main() -> int:
    """Measure, check, report."""
    parser = arguments(str(__doc__).split("\n\n", maxsplit=1)[0])
    parser.add_argument(
        "--plot", type=Path, metavar="FILE", help="plot time and memory over the interval"
    )
    args = parser.parse_args()
    steps, runs = (500, 3) if args.quick else (5000, 7)
    report = Report(f"rollouts of a quadruped, {steps} steps, pgs with {SWEEPS} sweeps")
    walk = Walk(steps)
    motion = walk.run()
    end = motion.report
    report.remark(
        f"in the end {end.rows} rows, {end.contacts} contacts, trunk at z = {motion.q[-1, 2]:.3f} m"
    )

    # Times and memory for each interval at which states are kept.
    times: dict[int, tuple[float, float]] = {}
    for interval in INTERVALS:
        there = seconds(partial(walk.run, interval), runs)
        back = seconds(partial(walk.back, walk.run(interval)), runs)
        times[interval] = (there / steps * 1e6, back / steps * 1e6)
    with multiprocessing.get_context("spawn").Pool(1, maxtasksperchild=1) as pool:
        memory = {k: pool.apply(grown, (steps, k)) for k in INTERVALS}
    # Rows with bars, and checks of the gradients.
    report.add(Row("there, per step", times[1][0], "us", bar=FORWARD_BAR))
    report.add(Row("back, per step", times[1][1], "us", bar=BACKWARD_BAR))
    for k in INTERVALS[1:]:
        report.add(
            Row(
                f"back, every {k} states kept",
                times[k][1],
                "us",
                bar=BACKWARD_BAR if k == JUDGED else None,
            )
        )
    for k in INTERVALS:
        report.add(
            Row(
                f"memory, every {k} states kept",
                memory[k],
                "MB",
                bar=MEMORY_BAR if k >= JUDGED else None,
            )
        )
    report.add(
        Row("gradients differ by interval or threads", float(not check(Walk(steps // 5))), bar=0.0)
    )
    report.add(Row("gradient beside differences, 200 steps", difference_error(200), bar=AGREEMENT))

    found = compare_with_jax(report, steps, runs, args.quick, memory)

    # Ten quadrupeds in one world.
    ten = Walk(steps // 5, count=10)
    motion = ten.run()
    stored = (motion.q.nbytes + motion.v.nbytes + motion.times.nbytes) / (steps // 5) / 1000
    report.add(
        Row("ten in one world: there, per step", seconds(ten.run, runs) / (steps // 5) * 1e6, "us")
    )
    report.add(
        Row("back, per step", seconds(partial(ten.back, motion), runs) / (steps // 5) * 1e6, "us")
    )
    report.add(Row("stored per step", stored, "kB", bar=STORED_BAR))
    if args.plot:
        plot(args.plot, times, memory, found)
    return report.finish(args)


if __name__ == "__main__":
    raise SystemExit(main())
