"""Hard problems of contact solvers: stacks, large mass ratios, redundant rows, jamming friction."""

from __future__ import annotations

from math import cos, sin

import numpy as np
import pytest

from robosim.geometry import Shape
from robosim.model import ModelBuilder
from robosim.simulation import Simulation, State, StepStatus
from robosim.world import Material, World

from .solvers import EXACT
from .worlds import G, floor, free_boxes, resting

exact = pytest.mark.parametrize("solver", EXACT)


@exact
def test_ten_boxes_on_top_of_each_other_stay(solver):
    simulation = Simulation(World(free_boxes(10), floor()), solver=solver)
    start = simulation.state(resting(*(0.05 + 0.1 * np.arange(10))))
    motion = simulation.rollout(start, 2000)
    assert motion.report.status == StepStatus.solved
    assert motion.report.residual < 1e-12
    # Rounding of a stack of 20 kg.
    assert np.abs(motion.q - start.q).max() < 1e-12
    assert np.abs(motion.v).max() < 1e-12


@exact
def test_a_thousand_times_the_mass_on_top(solver):
    builder = ModelBuilder("two")
    builder.add_link("root")
    for i, mass in enumerate((1.0, 1000.0)):
        builder.add_link(f"box{i}", mass=mass, inertia=mass / 600 * np.eye(3))
        builder.add_joint(f"free{i}", "floating", "root", f"box{i}")
        builder.add_collider(f"box{i}", Shape.box((0.1, 0.1, 0.1)))
    simulation = Simulation(World(builder.build(), floor()), solver=solver)
    motion = simulation.rollout(simulation.state(resting(0.05, 0.15)), 1000)
    assert motion.report.status == StepStatus.solved
    assert np.abs(motion.q - motion.q[0]).max() < 1e-11
    forces = [c.force[2] for c in simulation.linearize(motion.end).contacts if c.B == "floor"]
    assert sum(forces) == pytest.approx(-1001 * G, rel=1e-9)


@pytest.mark.parametrize(("solver", "n"), [("lcp", 5), ("convex", 2)])
def test_a_row_of_dominoes_falls(solver, n):
    simulation = Simulation(
        World(
            free_boxes(n, size=(0.02, 0.1, 0.2), mass=0.2),
            floor(),
            materials={"floor": Material(0.6)},
        ),
        solver=solver,
    )
    q = np.concatenate([[0.1 * i, 0, 0.1, 0, 0, 0, 1] for i in range(n)])
    v = np.zeros(6 * n)
    v[0], v[4] = 0.3, 3.0  # push the first one over
    state, rough = simulation.state(q, v), 0
    for _ in range(900):
        state = simulation.step(state)
        # Dominoes lie on each other and almost slide. In five steps the modes of `lcp` cycle, and
        # it returns the solution of `convex`, with bounds of friction that are off by 2e-8.
        is_rough = state.report.status == StepStatus.rough
        assert is_rough or state.report.status <= StepStatus.basic
        assert state.report.residual <= (1e-7 if is_rough else 1e-12)
        rough += is_rough
    assert rough <= (10 if solver == "lcp" else 0)
    # From the last one on the floor backwards, each domino leans on the next. Axes that were
    # vertical have turned by 60 degrees or more.
    x, y = state.q.reshape(n, 7)[:, 3:5].T
    assert (1 - 2 * (x**2 + y**2) < cos(np.radians(60))).all()


@exact
@pytest.mark.parametrize("mu", [0.5, 1.0, 2.0, 3.0])
@pytest.mark.parametrize("direction", [1.0, -1.0])
def test_a_rod_that_jams_is_no_failure(mu, direction, solver):
    """Painleve's rod that slides on its tip.

    Rigid friction has no solution in forces there, but one in impulses.
    """
    builder = ModelBuilder("rod")
    builder.add_link("root")
    builder.add_link("rod", mass=1.0, inertia=np.diag([1 / 12, 1 / 12, 1e-3]))
    builder.add_joint("free", "floating", "root", "rod")
    builder.add_collider("rod", Shape.capsule(0.01, 1.0))
    simulation = Simulation(
        World(builder.build(), floor(), materials={("rod", "floor"): Material(mu)}), solver=solver
    )
    lean = 0.5
    q = [0, 0, 0.5 * cos(lean) + 0.01, 0, sin(lean / 2), 0, cos(lean / 2)]
    v = direction * 3.0 * np.array([cos(lean), 0, sin(lean), 0, 0, 0])  # along x, in the rod's axes
    state = simulation.state(q, v)
    energy = None
    for _ in range(300):
        state = simulation.step(state)
        assert state.report.status == StepStatus.solved
        assert state.report.residual < 1e-12
        w = state.v[3:]
        now = (
            0.5 * state.v[:3] @ state.v[:3] + 0.5 * (w**2 @ [1 / 12, 1 / 12, 1e-3]) + G * state.q[2]
        )
        # A step adds at most the error of the explicit part of the spin's equation.
        assert energy is None or now < energy + 1e-2
        energy = now


def test_friction_never_adds_energy_to_what_slides():
    simulation = Simulation(World(free_boxes(1), floor(), materials={"floor": Material(0.3)}))
    state = simulation.state(resting(0.05), [1, 0.5, 0, 0, 0, 4])
    speeds = []
    while np.abs(state.v).max() > 1e-12 and state.time < 2:
        speeds.append(np.linalg.norm(state.v))
        state = simulation.step(State(state.q, state.v, state.time))
    assert state.time < 2
    assert (np.diff(speeds) <= 1e-13).all()
