"""Energy that contacts, friction, limits and closures add in one step, which must not be positive.

The work of impulses f along rows with velocities w after the impulses and w* without them is f . (w
+ w*) / 2. This is the change of kinetic energy at the configuration of the step. For impacts within
the step both velocities are those at the impact. Energy stored in compliant contacts is included.
Overlaps are corrected by positions alone; the potential energy that these corrections add is
reported separately.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from robosim.simulation import Linearization, StepIsland

DRIVES = ("motor",)  # sources that are allowed to add energy
GIVEN, ROUNDING_OF_STORED = 1e-9, 1e-11


class Audit(NamedTuple):
    """Energies of one step [J].

    Attributes:
        given: the largest work of one island's rows, or of one impact's.
        kinetic: the kinetic energy of all bodies, the larger of those before and after the step.
        stored: energy stored in compliant contacts before the step.
    """

    given: float
    kinetic: float
    stored: float

    @property
    def is_gained(self) -> bool:
        """True if `given` exceeds rounding.

        Rounding is 1e-9 of `kinetic`, and 1e-11 of `stored`, whose parts cancel.
        """
        return self.given > GIVEN * self.kinetic + ROUNDING_OF_STORED * self.stored


def audit(step: Linearization) -> Audit:
    """Return the energies of a completed step without substeps."""
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
    """Return the work of an island's first solve without drives [J].

    w* is without the impulses of the island's rows.
    """
    asked = [i for i, row in enumerate(island.rows) if row.source not in DRIVES]
    if not asked:
        return 0.0
    rows = [island.rows[i] for i in asked]
    f = np.array([row.impulse for row in rows])
    after = np.array([row.velocity + row.target for row in rows])
    A = np.array(island.admittance)[np.ix_(asked, asked)]
    # Remove the compliance, which is on the diagonal, from the velocities of compliant rows.
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
    """Compliance of a row [m/s per N s] (constraints/normal_law.h); zero for rigid contacts."""
    if law != "soft":
        return 0.0
    dt = step.simulation.dt
    return _of_pair(step, "compliance", contact) / (
        dt * (dt + _of_pair(step, "relaxation_time", contact))
    )


def _stored(step: Linearization, contact: int, gap: float) -> float:
    """Energy [J] stored in a compressed contact."""
    return min(gap, 0.0) ** 2 / (2 * _of_pair(step, "compliance", contact))
