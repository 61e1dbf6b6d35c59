"""Random worlds with contact, and the laws that every step in them must satisfy.

A world is a seed. It has one to three trees of joints of all kinds, with shapes, masses over four
powers of ten, limits, dry friction, springs and motors, over a floor and among obstacles. Options
of the step, the solver and the kind of bounce are random. Its states are random configurations,
possibly overlapping, at speeds over four powers of ten.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from harness.derivative_audit import compare
from harness.energy_audit import audit
from robosim import _engine
from robosim.geometry import Shape, pose
from robosim.model import Model, ModelBuilder
from robosim.scene import Scene
from robosim.simulation import Control, OneSidedCause, Simulation, State, StepGradient, StepStatus
from robosim.world import Material, Motor, World

Array = NDArray[np.float64]
Random = np.random.Generator

# States per world; every REPEATED-th state is stepped again in another world of the same seed.
STATES, REPEATED = 20, 5
COMPARED = 10  # in every 10th world one derivative is compared with differences
JOINTS = ("revolute", "continuous", "prismatic", "helical", "planar", "floating", "fixed")
SOLVERS, BOUNCES = _engine.row_solvers, ("step", "time_of_impact")
# Residuals of `lcp` by its own methods, by reported status; `inconsistent` reports an unsolved
# step.
RESIDUALS = {
    StepStatus.solved: 1e-12,
    StepStatus.basic: 1e-12,
    StepStatus.relaxed: 1e-8,
}
# `convex`, also for rows that `lcp` hands over, is slightly compliant where rows are almost
# linearly dependent, and reports its accuracy where it is `rough`.
RESIDUALS_OF_CONVEX = {StepStatus.solved: 1e-6}


class Finding(NamedTuple):
    """A violated law.

    Attributes:
        seed, state: world, and index of its state; -1 for the world as a whole.
        broken: the law.
    """

    seed: int
    state: int
    broken: str


class Slowest(NamedTuple):
    """The slowest step of one solver: processor time [s], and its world and state."""

    seconds: float
    seed: int
    state: int


def any_of(rng: Random, low: float, high: float) -> float:
    """Random number whose logarithm is uniformly distributed."""
    return float(np.exp(rng.uniform(np.log(low), np.log(high))))


def any_pose(rng: Random, spread: float) -> Array:
    """Random pose with any orientation."""
    return pose(rng.uniform(-spread, spread, 3), rpy=rng.uniform(-np.pi, np.pi, 3))


def any_shape(rng: Random) -> Shape:
    """Random shape of any type that can move."""
    a, b, c = rng.uniform(0.02, 0.3, 3)
    made = (
        lambda: Shape.sphere(a),
        lambda: Shape.box((a, b, c)),
        lambda: Shape.box((a, b, c), 0.3 * min(a, b, c)),
        lambda: Shape.capsule(a, b),
        lambda: Shape.cylinder(a, b),
        lambda: Shape.cone(a, b),
        lambda: Shape.ellipsoid((a, b, c)),
        lambda: Shape.convex(c * rng.normal(size=(int(rng.integers(4, 12)), 3))),
    )
    return made[rng.integers(len(made))]()


def any_model(rng: Random) -> Model:
    """Random model of one to three trees."""
    builder = ModelBuilder("fuzz")
    builder.add_link("root")
    names = ["root"]
    for k in range(int(rng.integers(1, 8))):
        name = f"link{k}"
        mass = any_of(rng, 1e-2, 1e2)
        size = any_of(rng, 0.02, 0.5)
        turn = any_pose(rng, 0.0)[:3, :3]
        moments = mass * size**2 * rng.uniform(0.5, 1, 3)
        inertia = turn @ np.diag(moments) @ turn.T
        builder.add_link(
            name, mass=mass, com=rng.normal(size=3) * 0.3 * size, inertia=(inertia + inertia.T) / 2
        )
        parent = "root" if k == 0 or rng.random() < 0.3 else names[rng.integers(1, len(names))]
        kind = JOINTS[rng.integers(len(JOINTS))] if k else "floating"
        has_one = kind in ("revolute", "continuous", "prismatic", "helical")
        bounds = {}
        if kind in ("revolute", "prismatic", "helical") and (
            kind == "revolute" or rng.random() < 0.5
        ):
            bounds = {"lower": -rng.uniform(0, 2), "upper": rng.uniform(0, 2), "velocity": 10.0}
            bounds["effort"] = any_of(rng, 0.1, 100)
        builder.add_joint(
            f"joint{k}", kind, parent, name, X_PJ=any_pose(rng, 0.3), axis=rng.normal(size=3),
            pitch=0.1 * rng.normal() if kind == "helical" else None,
            damping=rng.choice([0.0, any_of(rng, 1e-3, 10)]),
            friction=rng.choice([0.0, any_of(rng, 1e-3, 10)]),
            armature=rng.choice([0.0, any_of(rng, 1e-4, 1)]),
            stiffness=rng.choice([0.0, any_of(rng, 1e-1, 1e4)]) if has_one else 0.0, **bounds,
        )  # fmt: skip
        for _ in range(int(rng.integers(0, 3))):
            builder.add_collider(name, any_shape(rng), X_LC=any_pose(rng, 0.2))
        names.append(name)
    return builder.build().with_gravity([0, 0, rng.choice([0.0, -9.81])])


def any_scene(rng: Random) -> Scene:
    """Scene with a floor and up to three obstacles."""
    scene = Scene("fuzz")
    scene.add_half_space("floor", any_pose(rng, 0.0) if rng.random() < 0.2 else None)
    for k in range(int(rng.integers(0, 3))):
        scene.add_shape(f"obstacle{k}", any_shape(rng), any_pose(rng, 1.0))
    if rng.random() < 0.1:
        heights = 0.2 * rng.uniform(-1, 1, (5, 5))
        scene.add_height_field("terrain", heights, 0.5, pose=pose((-1, -1, 0)))
    return scene


def any_simulation(seed: int) -> tuple[Simulation, dict[str, Any]]:
    """Return the simulation of a seed, and its options."""
    model, scene, arguments, options = any_world(seed)
    return Simulation(World(model, scene, **arguments), **options), options


def any_world(seed: int) -> tuple[Model, Scene, dict[str, Any], dict[str, Any]]:
    """Return model, scene, motors, materials and options of a seed."""
    rng = np.random.default_rng(seed)
    model, scene = any_model(rng), any_scene(rng)
    names = [
        name
        for name, kind in zip(model.velocity_names, np.abs(model.limits.velocity), strict=True)
        if kind < np.inf
    ]
    motors = {
        name: Motor(
            any_of(rng, 1e-1, 1e4),
            any_of(rng, 1e-2, 1e2),
            rng.choice([None, any_of(rng, 0.1, 100)]),
        )
        for name in names
        if rng.random() < 0.5
    }

    gives = (
        rng.uniform() < 0.25
    )  # of a world all surfaces or none, since restitution excludes compliance

    def surface() -> Material:
        return Material(
            rng.choice([0.0, rng.uniform(0, 2)]),
            0.0 if gives else rng.choice([0.0, 1.0, rng.uniform()]),
            rng.choice([0.0, 0.0, rng.uniform(0, 0.02)]),
            rng.choice([0.0, 0.0, rng.uniform(0, 0.02)]),
            rng.choice([0.0, any_of(rng, 1e-9, 1e-2)]) if gives else 0.0,
            rng.choice([0.0, any_of(rng, 1e-5, 1e-1)]),
        )  # fmt: skip

    options = {
        "dt": any_of(rng, 1e-4, 2e-2),
        "solver": str(rng.choice(SOLVERS)),
        "bounce": str(rng.choice(BOUNCES)),
        "substeps": int(rng.integers(1, 3)),
        "sweeps": int(rng.integers(1, 60)),
        "erp": float(rng.choice([0.0, 0.2, 1.0])),
        "margin": any_of(rng, 1e-5, 1e-2),
    }
    links = [link.name for link in model.links if link.name != "root"]
    materials = {name: surface() for name in (*links, "floor")}
    return model, scene, {"motors": motors, "materials": materials}, options


def any_step(simulation: Simulation, rng: Random) -> tuple[State, Control]:
    """Random state and control."""
    model = simulation.model
    q = model.integrate(model.neutral(), rng.choice([0.1, 0.5, 2.0]) * rng.normal(size=model.n_v))
    v = any_of(rng, 1e-2, 1e2) * rng.normal(size=model.n_v) * (rng.random() < 0.9)
    drives = [
        any_of(rng, 1e-2, 1e3) * rng.normal(size=n) if rng.random() < 0.7 else None
        for n in (model.n_v, model.n_q, model.n_v)
    ]
    return simulation.state(q, v), Control(*drives)


def numbers(gradient: StepGradient, simulation: Simulation) -> Iterator[tuple[str, Array]]:
    """Iterate over all numbers of a gradient.

    Sizes and scale of a terrain made of pieces, which have no gradient, are left out.
    """
    yield from ((name, getattr(gradient, name)) for name in StepGradient._fields[:5])
    whole = ~np.isnan(gradient.parameters["scale"])
    own = whole | (np.array(simulation.objects, dtype=str) != "terrain")
    for name, array in gradient.parameters.items():
        yield name, array[own] if name in ("sizes", "scale") else array


def findings(seed: int, counts: Counter[str], slowest: dict[str, Slowest]) -> Iterator[Finding]:
    """Yield the laws that are violated in the world of a seed.

    Counts the statuses of its steps, and keeps the slowest step of each solver.
    """
    simulation, options = any_simulation(seed)
    again = any_simulation(seed)[0]
    rng = np.random.default_rng([seed, 1])
    for k in range(STATES):
        state, control = any_step(simulation, rng)
        begun = time.thread_time()
        after = simulation.step(state, control)
        took = Slowest(time.thread_time() - begun, seed, k)
        slowest[options["solver"]] = max(slowest.get(options["solver"], took), took)
        report = after.report
        assert report is not None
        counts["states"] += 1
        counts["touching"] += report.contacts > 0
        counts[f"{options['solver']} {report.status.name}"] += 1
        for name, array in (
            ("q", after.q),
            ("v", after.v),
            ("residual", np.array([report.residual])),
        ):
            if not np.isfinite(array).all():
                yield Finding(seed, k, f"{name} is not finite")
        solver = "convex" if report.attempt == "convex" else options["solver"]
        bars_of = {"pgs": {}, "convex": RESIDUALS_OF_CONVEX}.get(solver, RESIDUALS)
        least = bars_of.get(report.status, np.inf)
        if report.residual > least:
            yield Finding(
                seed,
                k,
                f"{options['solver']}, {report.status.name}: residual {report.residual:.1e}",
            )
        bars = rng.normal(size=(2, simulation.model.n_v))
        step = simulation.linearize(state, control)
        # The laws promise no energy balance for unfinished sweeps, nor for bounces without a time
        # of impact.
        if options["substeps"] == 1 and options["solver"] != "pgs" and not report.untimed_bounces:
            counts["audited"] += 1
            energy = audit(step)
            if energy.is_gained:
                yield Finding(
                    seed, k, f"rows give {energy.given:.1e} J beside {energy.kinetic:.1e} J"
                )
        gradient = step.vjp(*bars)
        counts["one-sided"] += gradient.one_sided
        for cause in OneSidedCause:
            counts[f"one-sided, {cause.name}"] += bool(gradient.causes & cause)
        if seed % COMPARED == 0 and k == 0 and options["substeps"] == 1 and not gradient.one_sided:
            found = compare(step, control, rng)
            counts["derivatives compared"] += found is not None
            if found is not None and found.is_wrong:
                yield Finding(seed, k, f"derivative off by {found.error:.1e} of its largest entry")
        for name, array in numbers(gradient, simulation):
            if not np.isfinite(array).all():
                yield Finding(seed, k, f"gradient by {name} is not finite")
        same = after if k % REPEATED else again.step(state, control)
        if same.q.tobytes() != after.q.tobytes() or same.v.tobytes() != after.v.tobytes():
            yield Finding(seed, k, "another world of the same seed gives other bits")
