"""Solvers in `benchmarks/accuracy_physics.py`: motions with a formula, and the laws of contact."""

from __future__ import annotations

import sys
from math import sqrt
from pathlib import Path

import numpy as np
import pytest

from .solvers import EXACT

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
sys.path.append(str(BENCHMARKS))

# Found by the line above, so they come after it: E402.
import accuracy_physics  # noqa: E402
from harness.free_bodies import ours  # noqa: E402

MEASURES = accuracy_physics.measures(quick=True)
JUDGED = [(m, s) for m in MEASURES for s in EXACT if s != "lcp" or m.box_too]


@pytest.mark.parametrize(("measure", "solver"), JUDGED, ids=[f"{s}: {m.name}" for m, s in JUDGED])
def test_motions_are_those_of_the_formula(measure, solver):
    runs = [(case, *ours(case, solver)) for case in measure.cases]
    assert measure.of([(case, seen) for case, seen, _ in runs]) <= measure.bar
    assert all(report.residual <= measure.residual_bar for _, _, report in runs)


@pytest.mark.parametrize("solver", ["lcp", "pgs"])
def test_friction_within_a_square_is_stronger_between_its_axes(solver):
    case = accuracy_physics.incline(accuracy_physics.STEEP, np.pi / 4, 500)
    seen, _ = ours(case, solver)
    assert accuracy_physics.off_coulomb(case, seen) == pytest.approx(sqrt(2) - 1, rel=1e-9)


@pytest.mark.parametrize("solver", EXACT)
def test_contacts_keep_their_laws(solver):
    case = accuracy_physics.tumbling()
    assert (accuracy_physics.laws(case, solver, 20) <= accuracy_physics.RESIDUAL_BAR).all()


def test_broken_laws_are_seen():
    """Impulses that a square of friction allows break the law of a circle."""
    case = accuracy_physics.incline(accuracy_physics.STEEP, np.pi / 4, 100)
    simulation = case.simulation("lcp")
    motion = simulation.rollout(simulation.state(case.q, case.v), case.steps)
    island = simulation.linearize(simulation.state(motion.q[50], motion.v[50])).islands[0]
    assert (
        accuracy_physics.broken_laws(island, case.friction, "lcp").max()
        <= accuracy_physics.RESIDUAL_BAR
    )
    assert accuracy_physics.broken_laws(island, case.friction, "convex")[1] > 0.1
    assert accuracy_physics.broken_laws(island, 0.5 * case.friction, "lcp")[1] > 0.1
    drives = island._replace(rows=[row._replace(velocity=-row.velocity) for row in island.rows])
    assert accuracy_physics.broken_laws(drives, case.friction, "lcp")[2] > 0.1
