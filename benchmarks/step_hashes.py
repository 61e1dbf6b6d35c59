"""Hashes of steps and their derivatives, to compare two builds bit by bit.

    python benchmarks/step_hashes.py --write before.txt      # with one build of robosim
    python benchmarks/step_hashes.py --against before.txt    # with another

The worlds are:

- random ones (harness/contact_fuzz.py), with each solver in turn;
- random ones with closed loops;
- the scenes of `accuracy_contact.py`, with each solver;
- every bundled robot on a floor and every bundled scene, with each solver.

Some states of each world are stepped. The hashes are of the next state, the Jacobians, the
gradient, a tangent and a second-order product, each array by itself as the engine returns it. A run
of several steps, its gradient and its Jacobians are hashed as well. All of this is done for each
instruction set of the machine, and the results must agree. States are rounded first, since the
computations that produce them need not agree.

A line of the file is a world, a name and a hash. If two files differ, the differing names are
counted, with the first worlds of each.

    python benchmarks/step_hashes.py [--write FILE] [--against FILE] [--worlds 1500]
"""

from __future__ import annotations

import argparse
import hashlib
import os
import subprocess
import sys
import time
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).resolve().parent))

from harness.contact_fuzz import SOLVERS, any_of, any_step, any_world
from harness.touching_scenes import SCENES, Case, ground, until_touching, with_solver

import robosim
from robosim import _engine
from robosim.model import Model
from robosim.scene import Scene, bundled_scenes, load_scene
from robosim.simulation import Control, Simulation, State, StepStatus
from robosim.urdf import bundled_robots
from robosim.world import JointEquality, Material, Motor, PointClosure, Weld, World

Array = NDArray[np.float64]
Random = np.random.Generator
Makes = Callable[[], tuple[Simulation, list[tuple[State, Control]]]]

WORLDS = 1500  # number of random worlds
LOOPED_PART = 10  # one world with closed loops per so many random worlds
STATES = 2  # states per world
SECOND_ORDER_PART = 4  # every so many-th world has second-order products, too
STEPS, INTERVAL = 10, 4  # steps of a run, and the interval of the states that it keeps
BOUNCES = ("step", "time_of_impact")
SHOWN = 5  # differing worlds shown per name

STATE = ("q", "v", "tau", "q_target", "v_target")
REPORTED = (
    "status",
    "residual",
    "contacts",
    "rows",
    "islands",
    "class_changes",
    "pivots",
    "coupled_bounces",
)
# Names of kinds in files of hashes and in seeds, if different.
HASHED_AS = {"sizes": "size"}


def arrays_of(gradient: _engine.GradientArrays, run: int | None = None) -> tuple[Any, ...]:
    """Return all arrays of a gradient, of a step or of one of several runs."""
    arrays = (getattr(gradient, name) for name in (*STATE, "parameters", "vertices", "causes"))
    *found, causes = (x if run is None else x[run] for x in arrays)
    return *found, int(causes)


def report_of(report: _engine.StepReport) -> tuple[Any, ...]:
    """Return the numbers of a step's report, except the last attempt."""
    status, *numbers = (getattr(report, name) for name in REPORTED)
    return StepStatus(status).name, *numbers


def reports_of(reports: _engine.RolloutReports) -> list[tuple[Any, ...]]:
    """Return the numbers of each run's report, and its first unsolved step or None."""
    status, *numbers = (getattr(reports, name).tolist() for name in REPORTED)
    names = [StepStatus(x).name for x in status]
    firsts = [None if first < 0 else first for first in reports.first_unsolved.tolist()]
    return list(zip(zip(names, *numbers, strict=True), firsts, strict=True))


def numbers_of(engine: _engine.Simulation, gradient: tuple[Any, ...]) -> dict[str, Any]:
    """Return the parts of a gradient by name.

    Gradients by inertias are those of bodies.
    """
    *state, numbers, vertices, causes = gradient
    return {
        **dict(zip(STATE, state, strict=True)),
        **by_name(engine, numbers, vertices),
        "causes": causes,
    }


def by_name(engine: _engine.Simulation, numbers: Array, vertices: Array) -> dict[str, Array]:
    """Return views of a vector of all parameters, (owners, ...) for each kind."""
    found = {}
    for kind in engine.parameter_kinds:
        # An owner's numbers lie column by column; vertices have an array of their own.
        strides = (kind.stride, *np.cumprod((1, *kind.shape))[: len(kind.shape)])
        place = numbers[kind.first :] if kind.owners else numbers[:0]
        of_kind = as_strided(
            place, (kind.owners, *kind.shape), [place.itemsize * x for x in strides]
        )
        found[HASHED_AS.get(kind.name, kind.name)] = (
            vertices if kind.name == "vertices" else of_kind
        )
    return found


def any_direction(
    engine: _engine.Simulation, gradient: tuple[Any, ...], seed: int
) -> dict[str, Any]:
    """Return a random direction of all numbers, in the engine's format.

    Sizes of bodies made of pieces, which have no derivative, do not change.
    """

    def any_numbers(name: str, like: Any) -> Any:
        rng = np.random.default_rng([seed, zlib.crc32(name.encode())])
        numbers = rng.normal(size=np.shape(like))
        return np.where(np.isfinite(like), 1e-3 * numbers if name == "dt" else numbers, 0.0)

    *state, numbers, vertices, _ = gradient
    direction = {name: any_numbers(name, x) for name, x in zip(STATE, state, strict=True)}
    direction |= {"parameters": np.zeros_like(numbers), "vertices": np.zeros_like(vertices)}
    places = by_name(engine, direction["parameters"], direction["vertices"])
    for name, like in by_name(engine, numbers, vertices).items():
        places[name][...] = any_numbers(name, like)
    return direction


def state_blocks(jacobians: _engine.JacobianArrays) -> list[Any]:
    """Return the Jacobians by state and control, and the causes of one-sided derivatives."""
    return [getattr(jacobians, name) for name in (*STATE, "causes")]


def computed(
    simulation: Simulation, cases: list[tuple[State, Control]], number: int
) -> Iterator[tuple[str, Any]]:
    """Yield name and value of everything that is computed in the world with this number."""
    rng = np.random.default_rng([number, 4])
    cases = [
        (simulation.state(state.q.round(9), state.v.round(9)), control) for state, control in cases
    ]
    engine, model = simulation._engine, simulation.model
    by_all = (True,) * 5
    for k, (state, control) in enumerate(cases):
        # Step, Jacobians and gradient of each case.
        at, drive = (state.q, state.v), arrays_of_control(control)
        (q, v), report = engine.step(at, drive)
        yield from (("next q", q), ("next v", v), ("report", report_of(report)))
        step = engine.take(at, drive)
        jacobians = state_blocks(step.jacobians(by_all))
        yield from zip((f"Jacobian by {x}" for x in (*STATE, "causes")), jacobians, strict=True)
        bars = tuple(rng.normal(size=(2, model.n_v)))
        gradient = arrays_of(step.vjp(bars))
        yield from ((f"gradient by {name}", x) for name, x in numbers_of(engine, gradient).items())
        # Tangents along state and control, and along everything.
        direction = any_direction(engine, gradient, k)
        for what, names in ("state and control", STATE), ("everything", tuple(direction)):
            parts, causes = step.jvp({name: direction[name] for name in names})
            yield from (
                (f"tangent by {what}: {x}", y)
                for x, y in zip(("q", "v", "causes"), (*parts, causes), strict=True)
            )
        # Second-order product in some worlds.
        if k == 0 and number % SECOND_ORDER_PART == 0:
            along = {
                name: rng.normal(size=n)
                for name, n in (("q", model.n_v), ("v", model.n_v), ("tau", model.n_v))
            }
            product, error = map(arrays_of, step.hvp(bars, along))
            yield from (
                (f"second order by {name}", x) for name, x in numbers_of(engine, product).items()
            )
            yield from (
                (f"its error by {name}", x) for name, x in numbers_of(engine, error).items()
            )
    # Run of several steps, its gradient and its Jacobians.
    (state, control), starts = cases[0], (state_rows(cases), state_rows(cases, of_v=True))
    drive = arrays_of_control(control)
    (qs, vs), reports = engine.run(starts, STEPS, INTERVAL, True, drive, 1, None)
    yield from (
        ("run: q", qs),
        ("run: v", vs),
        ("run: report", reports_of(reports)),
    )
    bars = tuple(rng.normal(size=(2, len(cases), qs.shape[1], model.n_v)))
    gradients = engine.run_vjp((qs, vs), bars, STEPS, INTERVAL, True, drive, 1, None, (True,) * 3)
    for k in range(len(cases)):
        gradient = arrays_of(gradients, k)
        yield from (
            (f"run: gradient by {name}", x) for name, x in numbers_of(engine, gradient).items()
        )
    found = engine.run_jacobians((qs[:1], vs[:1]), STEPS, INTERVAL, True, drive, 1, None, by_all)
    jacobians = [x[0] for x in state_blocks(found)]
    yield from zip((f"run: Jacobian by {x}" for x in (*STATE, "causes")), jacobians, strict=True)


def arrays_of_control(control: Control) -> tuple[Any, Any, Any]:
    return control.tau, control.q_target, control.v_target


def state_rows(cases: list[tuple[State, Control]], *, of_v: bool = False) -> Array:
    """Stack all states, (m, n)."""
    return np.stack([state.v if of_v else state.q for state, _ in cases])


def any_cases(simulation: Simulation, seed: int) -> list[tuple[State, Control]]:
    """Return random states and controls, the same for the same seed."""
    rng = np.random.default_rng([seed, 2])
    return [any_step(simulation, rng) for _ in range(STATES)]


def near_cases(simulation: Simulation, seed: int) -> list[tuple[State, Control]]:
    """Return states and controls of robots near their neutral configuration, at everyday speeds."""
    model, rng = simulation.model, np.random.default_rng([seed, 2])

    def near() -> tuple[State, Control]:
        q = model.integrate(model.neutral(), 0.3 * rng.normal(size=model.n_v))
        if model.floating_base:
            q[2] = 3.0
            q = until_touching(model, ground(), q, 2, -1e-3)
        drives = (rng.normal(size=n) for n in (model.n_v, model.n_q, model.n_v))
        return simulation.state(q, rng.normal(size=model.n_v)), Control(*drives)

    return [near() for _ in range(STATES)]


def random_world(seed: int) -> Makes:
    """Return the maker of the random world of a seed, with each solver in turn."""

    def make() -> tuple[Simulation, list[tuple[State, Control]]]:
        model, scene, arguments, options = any_world(seed)
        simulation = Simulation(
            World(model, scene, **arguments), **{**options, "solver": SOLVERS[seed % len(SOLVERS)]}
        )
        return simulation, any_cases(simulation, seed)

    return make


def looped_world(seed: int) -> Makes:
    """Return the maker of a random world with closed loops and coupled joints."""

    def make() -> tuple[Simulation, list[tuple[State, Control]]]:
        model, scene, arguments, options = any_world(seed)
        rng = np.random.default_rng([seed, 3])
        links = [link.name for link in model.links]
        closures: list[Any] = []
        for _ in range(int(rng.integers(1, 3))):
            a, b = rng.choice(len(links), 2, replace=False)
            kind = PointClosure if rng.random() < 0.6 else Weld
            closures.append(kind(links[a], links[b], *(rng.uniform(-0.2, 0.2, (2, 3)))))
        single = [name for name in model.velocity_names if "/" not in name]
        if len(single) > 1:
            joint, of = rng.choice(single, 2, replace=False)
            closures.append(JointEquality(str(joint), str(of), tuple(rng.uniform(-1, 1, 4))))
        options = {**options, "solver": SOLVERS[seed // LOOPED_PART % len(SOLVERS)]}
        bodies = {frame.name: frame.body for frame in model._engine.frames}
        closures = [
            x for x in closures if isinstance(x, JointEquality) or bodies[x.a] != bodies[x.b]
        ]
        simulation = Simulation(World(model, scene, closures=closures, **arguments), **options)
        return simulation, any_cases(simulation, seed)

    return make


def touching_world(name: str, solver: str) -> Makes:
    """Return the maker of a scene of `accuracy_contact.py`, thrown and at rest."""

    def make() -> tuple[Simulation, list[tuple[State, Control]]]:
        scene = with_solver(SCENES[name](), solver)
        simulation = scene.world.simulation()
        cases: list[Case] = scene.cases(simulation, 2 * STATES, 1)
        return simulation, [(x.state, x.control) for x in cases]

    return make


def driven(model: Model, scene: Scene, rng: Random, **options: Any) -> Simulation:
    """Return a simulation of a robot with motors on all joints."""
    motors = {
        name: Motor(any_of(rng, 10, 1000), any_of(rng, 1, 100))
        for name in model.velocity_names
        if "/" not in name
    }
    materials = {thing.name: Material(0.7, 0.3) for thing in scene}
    return Simulation(World(model, scene, motors=motors, materials=materials), dt=2e-3, **options)


def robot_on_floor(name: str, solver: str, bounce: str) -> Makes:
    """Return the maker of a bundled robot on the floor, or slightly inside it."""

    def make() -> tuple[Simulation, list[tuple[State, Control]]]:
        model, rng = robosim.load_robot(name, base="floating"), np.random.default_rng(1)
        if model.dynamics_faults:
            model = robosim.load_robot(name)  # its base has no mass
        simulation = driven(model, ground(), rng, solver=solver, bounce=bounce)
        return simulation, near_cases(simulation, 1)

    return make


def robot_in_scene(robot: str, scene: str, solver: str) -> Makes:
    """Return the maker of a bundled arm in a bundled scene."""

    def make() -> tuple[Simulation, list[tuple[State, Control]]]:
        model, rng = robosim.load_robot(robot), np.random.default_rng(1)
        simulation = driven(model, load_scene(scene, model=model), rng, solver=solver)
        return simulation, near_cases(simulation, 1)

    return make


def worlds(count: int) -> Iterator[tuple[str, Makes]]:
    """Yield the name of each world, and its maker."""
    yield from ((f"random {seed}", random_world(seed)) for seed in range(count))
    yield from ((f"looped {seed}", looped_world(seed)) for seed in range(0, count, LOOPED_PART))
    for solver in SOLVERS:
        yield from ((f"{name}, {solver}", touching_world(name, solver)) for name in SCENES)
        for robot in bundled_robots():
            for bounce in BOUNCES:
                yield (
                    f"{robot} on a floor, {solver}, {bounce}",
                    robot_on_floor(robot, solver, bounce),
                )
        for robot in ("ur5", "ur5e", "panda", "ur5_gripper"):
            for scene in bundled_scenes():
                yield f"{robot} in {scene}, {solver}", robot_in_scene(robot, scene, solver)


def hashed(numbers: Any) -> bytes:
    """Return the bits of numbers. Reports contain texts, too."""
    if isinstance(numbers, (tuple, list)):
        return repr(numbers).encode()
    array = np.array(numbers)
    if array.dtype == np.float64:
        array[np.isnan(array)] = np.nan  # the bits of a nan are arbitrary
    return array.tobytes()


def lines(count: int) -> Iterator[str]:
    """Yield the lines of this process's instruction set, one for each name in each world."""
    for number, (world, make) in enumerate(worlds(count)):
        simulation, cases = make()
        digests: dict[str, Any] = defaultdict(hashlib.sha256)
        for name, numbers in computed(simulation, cases, number):
            digests[name].update(hashed(numbers))
        for name, digest in digests.items():
            yield f"{world}: {name}: {digest.hexdigest()[:16]}"


def on(isa: str, count: int) -> list[str]:
    """Return the lines of a child process with this instruction set."""
    command = [sys.executable, "-P", __file__, "--worlds", str(count), "--print"]
    run = subprocess.run(
        command,
        env={**os.environ, "ROBOSIM_ISA": isa},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return run.stdout.splitlines()


def different(before: list[str], after: list[str]) -> Mapping[str, list[str]]:
    """Return by name the worlds whose hashes differ, or exist on one side only."""
    known, found = (
        {tuple(line.rsplit(": ", 2)[:2]): line.rsplit(": ", 1)[1] for line in x}
        for x in (before, after)
    )
    names: dict[str, list[str]] = defaultdict(list)
    for key in {**known, **found}:
        if known.get(key) != found.get(key):
            names[key[1]].append(key[0])
    return names


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", type=Path, metavar="FILE", help="write the lines to a file")
    parser.add_argument(
        "--against", type=Path, metavar="FILE", help="compare with the lines of a file"
    )
    parser.add_argument(
        "--worlds", type=int, default=WORLDS, help="how many random ones (default 1500)"
    )
    # Internal: print the lines of this process, for the parent that compares them.
    parser.add_argument("--print", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.print:
        for line in lines(options.worlds):
            print(line)
        return 0
    start = time.perf_counter()
    isas = _engine.build_info()["usable_kernels"]
    of_isa = {isa: on(isa, options.worlds) for isa in isas}
    first = of_isa[isas[0]]
    count = len({line.split(": ")[0] for line in first})
    print(
        f"{count} worlds, {len(first)} hashes on each of {', '.join(isas)},"
        f" {time.perf_counter() - start:.0f} s"
    )
    compared = [(f"{isa} and {isas[0]}", first, of_isa[isa]) for isa in isas[1:]]
    if options.against:
        compared.append(
            (f"this and {options.against.name}", options.against.read_text().splitlines(), first)
        )
    is_same = True
    for what, before, after in compared:
        names = different(before, after)
        is_same &= not names
        print(f"{what}: {'the same to the bit' if not names else 'DIFFERENT'}")
        for name, where in sorted(names.items(), key=lambda item: -len(item[1])):
            print(f"  {name}: {len(where)} worlds, as {'; '.join(where[:SHOWN])}")
    if options.write:
        options.write.write_text("\n".join(first) + "\n")
    return 0 if is_same else 1


if __name__ == "__main__":
    sys.exit(main())
