"""Energy that contacts, friction, limits and closures give in one step: none, whatever they meet.

Of impulses f along rows whose velocities are w after them and w* without them the work is f . (w +
w*) / 2, what the kinetic energy changes by at the placements of the step. Of impacts within the
step both velocities are those at the impact. What a compliance stores meanwhile is counted with it.
Overlaps are taken back by positions alone; the potential energy that this lifts is told apart.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from robosim.simulation import Linearization, StepIsland

DRIVES = ("motor",)  # what is there to give energy
GIVEN, ROUNDING_OF_STORED = 1e-9, 1e-11


class Audit(NamedTuple):
    """Energies of one step [J].

    Attributes:
        given: the most that one island's rows, or one impact's, give.
        kinetic: the kinetic energy of all that moves, the larger of those before and after the
        step.
        stored: what is stored in what gives, before the step.
    """

    given: float
    kinetic: float
    stored: float

    @property
    def is_gained(self) -> bool:
        """True where `given` is above rounding: 1e-9 of `kinetic`, and 1e-11 of `stored`, whose
        parts cancel."""
        return self.given > GIVEN * self.kinetic + ROUNDING_OF_STORED * self.stored


def audit(step: Linearization) -> Audit:
    """Return the energies of a step that was taken, without substeps."""
    model = step.simulation.model
    worst = 0.0
    for island in step.islands:
        worst = max(worst, _of_rows(island, step), *(impact.work for impact in island.impacts))
    kinetic = max(
        float(model.kinetic_energy(step.start.q, step.start.v)),
        float(model.kinetic_energy(step.state.q, step.state.v)),
    )
    soft = {
        row.of
        for island in step.islands
        for row in island.rows
        if row.law == "soft" and row.source == "normal"
    }
    return Audit(
        worst, kinetic, sum(_stored(step, contact, step.contacts[contact].gap) for contact in soft)
    )


def _of_rows(island: StepIsland, step: Linearization) -> float:
    """Return the work of an island's first solve, drives aside [J]; w* is without the impulses of
    its rows."""
    asked = [i for i, row in enumerate(island.rows) if row.source not in DRIVES]
    if not asked:
        return 0.0
    rows = [island.rows[i] for i in asked]
    f = np.array([row.impulse for row in rows])
    after = np.array([row.velocity + row.target for row in rows])
    A = np.array(island.admittance)[np.ix_(asked, asked)]
    # Velocities of rows that give are without what they give, which is on the diagonal.
    gives = np.array(
        [_compliance(row.law, step, row.of) if row.source == "normal" else 0.0 for row in rows]
    )
    after -= gives * f
    free = after - (A - np.diag(gives)) @ f
    stored = 0.0
    for row, compliance, w in zip(rows, gives, after, strict=True):
        if compliance > 0 and row.source == "normal":
            gap = step.contacts[row.of].gap
            stored += _stored(step, row.of, gap + step.simulation.dt * w) - _stored(
                step, row.of, gap
            )
    return float(f @ (free + after)) / 2 + stored


def _of_pair(step: Linearization, kind: str, contact: int) -> float:
    found = step.contacts[contact]
    return float(step.simulation.parameters[kind, (found.A, found.B)])


def _compliance(law: str, step: Linearization, contact: int) -> float:
    """[m/s per N s] of a row (constraints/normal_law.h); zero of what does not give."""
    if law != "soft":
        return 0.0
    dt = step.simulation.dt
    return _of_pair(step, "compliance", contact) / (
        dt * (dt + _of_pair(step, "relaxation_time", contact))
    )


def _stored(step: Linearization, contact: int, gap: float) -> float:
    """[J] in what is pressed."""
    return min(gap, 0.0) ** 2 / (2 * _of_pair(step, "compliance", contact))
