"""Batches of rollouts compared with `mujoco.rollout`: steps per second, with and without gradients.

Four scenes of everyday training and planning have 32 runs of 200 steps each: a standing quadruped
whose targets have noise; ten boxes that slide and tumble; a UR5 that pushes a box; a humanoid that
lies down. MuJoCo's twin is made from the same world, with the elliptic cone and its default
tolerance, and has the same starts and controls. Both sides keep the state of every step, on one
thread and on two. Rounds alternate, and the least time of each side counts. "There and back" is the
rollout and the gradient of a random loss of its end, with respect to the start and the drive.

    python benchmarks/bench_batches.py [--quick] [--any-machine] [--json FILE] [--solver NAME]
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).resolve().parent))

from harness.mjcf_world import Twin
from harness.report import Report, Row, arguments, require_peers

from robosim import _engine, load_robot, threads
from robosim.geometry import Shape, pose
from robosim.scene import Scene
from robosim.simulation import Control, Simulation, State
from robosim.world import Material, Motor, World

Array = NDArray[np.float64]
Random = np.random.Generator

RUNS, STEPS, ROUNDS = 32, 200, 5
QUICK_RUNS, QUICK_ROUNDS = 8, 2
DT = 2e-3  # [s]
BACK_BAR = 1 / 3  # relative to the peer's steps per second, there and back
NOISE = 0.05  # [rad] noise of targets
# [deg] joints of the UR5 with its flange 5 cm above the floor.
AT_BOX = (-1.31, -70.53, 136.25, -155.72, -90.0, 0.0)
BEYOND = (-0.87, -53.82, 103.68, -139.87, -90.0, 0.0)  # [deg] 20 cm farther


class Batch:
    """Runs of one world.

    Attributes:
        simulation: of the world.
        starts: of all runs.
        control: of each step of each run.
    """

    def __init__(
        self, world: World, solver: str, q: Array, v: Array, targets: Array | None
    ) -> None:
        self.simulation = Simulation(world, dt=DT, solver=solver)
        self.starts: State = self.simulation.state(q, v)
        self.control = Control(q_target=targets)

    def there(self) -> None:
        self.simulation.rollout(self.starts, STEPS, self.control)

    def there_and_back(self) -> None:
        motion = self.simulation.rollout(self.starts, STEPS, self.control)
        bars = np.zeros((2, *motion.v.shape))
        bars[:, :, -1] = np.random.default_rng(1).normal(
            size=(2, len(motion.v), motion.v.shape[-1])
        )
        motion.vjp(*bars, by=["q_target" if self.control.q_target is not None else "tau"])

    def peer(self, n_threads: int) -> Callable[[], None]:
        """Return the same rollout in MuJoCo, ready to be called."""
        import mujoco
        from mujoco import rollout

        twin = Twin(self.simulation)
        q, v = self.starts.q, self.starts.v
        spec = mujoco.mjtState.mjSTATE_FULLPHYSICS
        initial = np.empty((len(q), mujoco.mj_stateSize(twin.model, spec)))
        driven = np.zeros((len(q), STEPS, twin.model.nu))
        targets = self.control.q_target
        for run in range(len(q)):
            twin.start(q[run], v[run])
            mujoco.mj_getState(twin.model, twin.data, initial[run], spec)
            for k in range(STEPS if targets is not None else 0):
                twin.drive(Control(q_target=targets[run, k]))
                driven[run, k] = twin.data.ctrl
        pool = rollout.Rollout(nthread=n_threads if n_threads > 1 else 0)
        data = [mujoco.MjData(twin.model) for _ in range(n_threads)]
        return lambda: pool.rollout(twin.model, data, initial, driven, nstep=STEPS)


def floor() -> Scene:
    scene = Scene("floor")
    scene.add_half_space("floor")
    return scene


def lowered(world: World, q: Array, z: int) -> Array:
    """Lower a configuration until its lowest point touches the floor.

    z: index of the height in q.
    """
    q = q.copy()
    q[z] -= world.scene.compile(world.model).min_distance(q)[0]
    return q


def quadruped(rng: Random, runs: int, solver: str) -> Batch:
    """A standing quadruped whose targets have noise."""
    model = load_robot("quadruped", base="floating")
    motors = {name: Motor(200.0, 10.0) for name in model.velocity_names[6:]}
    world = World(model, floor(), motors=motors, materials={"floor": Material(0.8)})
    q = lowered(world, model.configuration("standing"), 2)
    targets = np.tile(q, (runs, STEPS, 1))
    targets[..., 7:] += NOISE * rng.normal(size=(runs, STEPS, model.n_q - 7))
    return Batch(world, solver, np.tile(q, (runs, 1)), np.zeros((runs, model.n_v)), targets)


def moving_boxes(rng: Random, runs: int, solver: str) -> Batch:
    """Ten boxes that slide and rotate on the floor, and into each other."""
    world = World(scene=floor(), materials={"floor": Material(0.5)})
    for i in range(10):
        at = pose((0.16 * (i % 5), 0.16 * (i // 5), 0.05))
        world.add_body(f"box{i}", Shape.box((0.1, 0.1, 0.1)), mass=0.5, pose=at)
    v = np.zeros((runs, 10, 6))
    v[..., :2], v[..., 5] = rng.normal(size=(runs, 10, 2)), rng.normal(size=(runs, 10))
    return Batch(world, solver, np.tile(world.start, (runs, 1)), v.reshape(runs, -1), None)


def ur5(rng: Random, runs: int, solver: str) -> Batch:
    """A UR5 whose flange pushes a box along the floor."""
    model = load_robot("ur5")
    motors = {name: Motor(5000.0, 300.0) for name in model.velocity_names}
    world = World(model, floor(), motors=motors, materials={"floor": Material(0.5)})
    box = Shape.box((0.1, 0.2, 0.15))
    world.add_body("box", box, mass=1.0, pose=pose((0.52, 0.1, 0.075)), material=Material(0.5))
    ways = np.radians(AT_BOX) + np.linspace(0, 1, STEPS)[:, None] * np.radians(
        np.subtract(BEYOND, AT_BOX)
    )
    targets = np.tile(world.start, (runs, STEPS, 1))
    targets[..., :6] = ways + 0.1 * NOISE * rng.normal(size=(runs, 1, 6))
    q = np.tile(world.start, (runs, 1))
    q[:, :6] = targets[:, 0, :6]
    return Batch(world, solver, q, np.zeros((runs, world.model.n_v)), targets)


def humanoid(rng: Random, runs: int, solver: str) -> Batch:
    """A humanoid that lies down on its back, without motors."""
    model = load_robot("humanoid", base="floating").with_damping(0.1)
    world = World(model, floor(), materials={"floor": Material(0.8)})
    q = model.neutral()
    q[3:7] = 0, -np.sqrt(0.5), 0, np.sqrt(0.5)
    q = lowered(world, q, 2)
    v = 0.1 * rng.normal(size=(runs, model.n_v))
    return Batch(world, solver, np.tile(q, (runs, 1)), v, None)


SCENES = {
    "quadruped with noise": quadruped,
    "ten moving boxes": moving_boxes,
    "UR5 that pushes a box": ur5,
    "humanoid that lies down": humanoid,
}


def least(works: list[Callable[[], None]], rounds: int) -> list[float]:
    """Least time of each work, in rounds that alternate [s]."""
    times = np.full(len(works), np.inf)
    for _ in range(rounds):
        for i, work in enumerate(works):
            begin = time.perf_counter()
            work()
            times[i] = min(times[i], time.perf_counter() - begin)
    return [float(t) for t in times]


def main() -> int:
    parser = arguments(__doc__.splitlines()[0])
    parser.add_argument("--solver", default="convex", choices=_engine.row_solvers)
    options = parser.parse_args()
    require_peers("mujoco")
    runs, rounds = (QUICK_RUNS, QUICK_ROUNDS) if options.quick else (RUNS, ROUNDS)
    report = Report("batches of rollouts")
    for name, make in SCENES.items():
        batch = make(np.random.default_rng(0), runs, options.solver)
        for n_threads in 1, 2:
            with threads(n_threads):
                works = [batch.there, batch.there_and_back, batch.peer(n_threads)]
                there, back, peer = least(works, rounds)
            steps = runs * STEPS
            on = f"{name}, {n_threads} thread{'s' if n_threads > 1 else ''}"
            for what, ours, bar in ("there", there, 1.0), ("there and back", back, BACK_BAR):
                report.add(
                    Row(
                        f"{on}: {what}",
                        steps / ours,
                        "steps/s",
                        peer=steps / peer,
                        bar=bar,
                        at_least=True,
                        on_ratio=True,
                        of_peer=True,
                        by_machine=True,
                    )
                )
    return report.finish(options)


if __name__ == "__main__":
    raise SystemExit(main())
