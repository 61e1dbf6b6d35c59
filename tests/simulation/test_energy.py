"""Contacts add no energy: the work of every row, in scenes of the benchmarks and random worlds."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from robosim.simulation import Simulation, StepStatus
from robosim.world import World

from .solvers import EXACT

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))

from harness.contact_accuracy import SCENES
from harness.contact_fuzz import any_step, any_world
from harness.energy_audit import audit
from harness.touching_scenes import with_solver

# `pgs` is left out, since its sweeps end before its impulses satisfy any law.


@pytest.mark.parametrize("solver", EXACT)
@pytest.mark.parametrize("scene", SCENES)
def test_rows_give_nothing_in_any_scene(scene, solver):
    own = with_solver(SCENES[scene](), solver)
    simulation = own.world.simulation()
    pushed = 0
    for case in own.cases(simulation, 20, 3):
        step = simulation.linearize(*case[:2])
        assert step.report.status < StepStatus.inconsistent
        energy = audit(step)
        assert not energy.is_gained, energy
        pushed += any(row.impulse != 0 for island in step.islands for row in island.rows) or any(
            island.impacts for island in step.islands
        )
    assert pushed


@pytest.mark.parametrize("solver", EXACT)
def test_rows_give_nothing_in_random_worlds(solver):
    """Restitution, friction and compliance are random, and so are initial overlaps."""
    met = 0
    for number in range(100):
        model, scene, arguments, options = any_world(number)
        options |= {"solver": solver, "bounce": "automatic", "substeps": 1}
        simulation = Simulation(World(model, scene, **arguments), **options)
        rng = np.random.default_rng([number, 1])
        for _ in range(3):
            step = simulation.linearize(*any_step(simulation, rng))
            assert step.report.status < StepStatus.diverged
            energy = audit(step)
            assert not energy.is_gained, (number, energy)
            met += any(island.impacts for island in step.islands)
    assert met > 50


def test_an_impact_that_friction_would_pay_has_less_restitution():
    """With the reduced restitution the impact does no work.

    The gradient of the impact is tested in test_accuracy.py.
    """
    least = 1.0
    for number in range(60):
        model, scene, arguments, options = any_world(number)
        simulation = Simulation(
            World(model, scene, **arguments),
            **options | {"bounce": "automatic", "substeps": 1, "solver": "lcp"},
        )
        rng = np.random.default_rng([number, 1])
        for _ in range(5):
            step = simulation.linearize(*any_step(simulation, rng))
            for impact in (
                impact for island in step.islands for impact in island.impacts if impact.landed
            ):
                size = sum(abs(row.impulse) for row in impact.rows) * np.abs(impact.before).max()
                assert impact.work == pytest.approx(0, abs=1e-11 * size)
                least = min(least, impact.restored)
    assert least < 0.9
