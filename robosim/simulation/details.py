"""What happened in a step."""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from robosim import _engine
from robosim.geometry import ManifoldFeature

__all__ = [
    "ClosureForce",
    "ContactForce",
    "JointForce",
    "StepIsland",
    "StepReport",
    "StepRow",
    "StepStatus",
    "closure_from",
    "contact_from",
    "island_from",
    "joint_from",
    "report_from",
]

Array = NDArray[np.float64]


class StepStatus(IntEnum):
    """Outcomes of solving the conditions of a step, from the best to the worst; numbers are the
    engine's."""

    solved = 0
    """To rounding. `pgs` ends when its sweeps do, and says `solved`."""
    basic = 1
    """Solved, but where rows depend on each other not by the documented choice of impulses."""
    rough = 2
    """`convex`: bounds of friction may be off, see `residual`. `lcp`: its own methods had no
    solution within its bound, and this is that of `convex`."""
    relaxed = 3
    """Rows contradicted each other, so that bounces and overlaps of what touches there were left
    for later."""
    inconsistent = 4
    """Not solved: what came nearest was taken."""
    diverged = 5
    """Not taken, as it would have ended beyond what numbers hold: the state is what it was."""


class StepReport(NamedTuple):
    """Report on a step; of substeps the worst status and residual, the last one's contacts, rows
    and islands, and the sums of the rest."""

    status: StepStatus
    """The worst of the islands."""
    residual: float
    """How far the laws of contact are from holding, relative to the velocities at play: if solved
    rounding."""
    contacts: int
    """Points that touch, are within the margin or would be met within the step."""
    rows: int
    """Normals, axes of friction, limits, motors."""
    islands: int
    """Groups that contacts connect, each solved by itself."""
    class_changes: int
    """Linear solves of `lcp` beyond the first; Newton steps of `convex`."""
    pivots: int
    """Of Dantzig's and Lemke's methods, where those solves do not end."""
    coupled_bounces: int
    """Contacts that are met within the step at the same time as others that feel them. These bounce
    at once, by Newton's law, as nothing says in which order."""
    untimed_bounces: int
    """With `bounce="step"`: contacts that bounce where the step finds them. The gradient is exactly
    that of the step, and not that of continuous time, however short steps are: by where a ball was
    it is zero."""
    attempt: str
    """The last of its methods that `lcp` needed: `prediction`, `sweeps`, `Dantzig`, `Lemke` or
    `convex`, in the order in which it tries them; empty of other solvers and where there are no
    rows."""


class ContactForce(NamedTuple):
    """One point where two things touch."""

    A: str
    """Name of the first."""
    B: str
    """Name of the second."""
    point: Array
    """(3,) in W [m]."""
    normal: Array
    """(3,) unit, from A to B, in W."""
    gap: float
    """Along the normal, negative where they overlap [m]."""
    force: Array
    """(3,) on B at the point, in W; the opposite acts on A [N]."""
    moment: Array
    """(3,) on B, of torsional and rolling friction [N m]."""
    mode: str
    """`open`: nothing is pushed; `sticking`; `sliding`."""
    feature_A: ManifoldFeature
    """What of A makes the point."""
    feature_B: ManifoldFeature
    """The same of B."""
    slide: float
    """How far the two may move across the normal until other features make the point [m]; inf where
    none do."""


class JointForce(NamedTuple):
    """What a limit, a motor, dry friction or an equality exerts on a coordinate."""

    coordinate: str
    """Its entry of `Model.velocity_names`."""
    source: str
    """`lower_limit`, `upper_limit`, `backward_speed_limit`, `forward_speed_limit`,
    `joint_friction`, `motor` or `equality` (a law of another joint)."""
    force: float
    """[N m or N]."""


class ClosureForce(NamedTuple):
    """What holds two links together."""

    name: str
    """Of the links, as "a to b"."""
    point: Array
    """(3,) the second one's, in W [m]."""
    force: Array
    """(3,) on the second there, in W; the opposite acts on the first [N]."""
    moment: Array
    """(3,) on the second, of a weld [N m]."""


class StepRow(NamedTuple):
    """One of the conditions that impulses were found for."""

    source: str
    """Of a contact `normal`, `friction_1`, `friction_2`, `torsion`, `rolling_1`, `rolling_2`; of a
    coordinate those of `JointForce.source`; `closure`."""
    of: int
    """Number of its contact in `Linearization.contacts`, of its force in `joints` or of its closure
    in `closures`."""
    direction: Array | None
    """(3,) unit, in W: along which it acts, about which of torsion and rolling; None where it is of
    no contact."""
    law: str
    """What the normal of its contact asks for: `rest`, standing still, or a part of the gap kept;
    `bounce`; `ahead`, that it comes no nearer than it touches; `soft`, that it gives; of impacts
    within a step `impact` and `landing`, of what is met, and `held`, of what touches meanwhile.
    Else ""."""
    mode: str
    """`clamping`: held at its velocity, by an impulse within its bounds; `separating`: without an
    impulse; `lower` and `upper`: it moves, with its impulse at a bound. Two axes of friction that
    slide within a circle are `upper` and `separating`. Of `pgs` as its last update left it."""
    impulse: float
    """[N s or N m s]."""
    velocity: float
    """What is left of what it asks for, zero where it clamps: its velocity after the step less
    `target`, and of a motor what its gains give [m/s or rad/s]."""
    target: float
    """The velocity that it asks for [m/s or rad/s]."""
    switch: float
    """How far it is from another mode, as a velocity [m/s or rad/s]: where it clamps what it would
    move by with as much more of its impulse as there is to a bound; else the velocity that it has.
    Rows that could do each other's work are each as near as the chosen impulses say. inf where
    there is no other mode, and where its normal does not push."""


class StepImpact(NamedTuple):
    """An impact within a step: contacts that are met at one time, and all that holds then."""

    share: float
    """The part of the step after which its impulses act."""
    restored: float
    """The part of its restitution that it has: the largest that gains no energy. Below 1 only with
    friction."""
    before: Array
    """(n,) the velocity of each row before it [m/s or rad/s]; of normals that bounce that at the
    impact, which is off from the step's by a part of what forces change it by."""
    after: Array
    """(n,) likewise just after it."""
    rows: list[StepRow]
    """In the order in which `pgs` takes them."""
    landed: list[StepRow]
    """The same rows without restitution, of which `rows` have a part where not all is restored;
    else empty."""

    @property
    def work(self) -> float:
        """Work of its impulses [J]: never above zero, but for rounding."""
        impulses = np.array([row.impulse for row in self.rows])
        return float(impulses @ (self.before + self.after)) / 2


class StepIsland(NamedTuple):
    """Rows that feel each other: those of what contacts and closures connect, solved together."""

    rows: list[StepRow]
    """In the order in which `pgs` takes them."""
    way: list[StepRow]
    """The same rows as they were solved for the way that positions go, which takes back overlaps;
    empty where positions go by the velocity."""
    impacts: list[StepImpact]
    """After these rows, each with the velocity that the one before has left."""
    admittance: Array
    """(n, n) A: what their velocities change by with their impulses, symmetric and positive
    semidefinite [1/kg, 1/(kg m), 1/(kg m^2)]; with what motors give on the diagonal."""

    @property
    def clamping(self) -> NDArray[np.bool_]:
        """(n,) which rows are held."""
        return np.array([row.mode == "clamping" for row in self.rows], dtype=bool)

    @property
    def rank(self) -> int:
        """How many of the rows that clamp do not depend on each other: those of a box on its four
        corners on six."""
        return (
            int(np.linalg.matrix_rank(self._held(), hermitian=True)) if self.clamping.any() else 0
        )

    @property
    def condition(self) -> float:
        """Condition number of A_CC, of the rows that clamp, in as many directions as its `rank`; 1
        without any.

        Each row is measured by its own admittance, so that it is one of numbers alike, whatever
        their units.
        """
        if not self.rank:
            return 1.0
        values = np.sort(np.linalg.eigvalsh(self._held()))[-self.rank :]
        return float(values[-1] / values[0])

    def _held(self) -> Array:
        held = self.clamping
        A = self.admittance[np.ix_(held, held)]
        size = np.sqrt(np.maximum(np.diag(A), 1e-300))
        scaled: Array = A / size / size[:, None]
        return scaled


_Record = TypeVar("_Record", bound=tuple[Any, ...])
_STATUSES = tuple(StepStatus)


def _made(kind: type[_Record], found: Any, **fields: Any) -> _Record:
    """From a struct of the engine, whose fields have the same names, but for these."""
    names: tuple[str, ...] = kind._fields  # type: ignore[attr-defined]
    made: _Record = kind(
        *[fields[name] if name in fields else getattr(found, name) for name in names]
    )
    return made


def report_from(report: _engine.StepReport) -> StepReport:
    """From the engine's."""
    return _made(StepReport, report, status=_STATUSES[report.status])


def contact_from(contact: _engine.ContactForce) -> ContactForce:
    """From the engine's."""
    features = ManifoldFeature(*contact.feature_A), ManifoldFeature(*contact.feature_B)
    return _made(ContactForce, contact, feature_A=features[0], feature_B=features[1])


def joint_from(joint: _engine.JointForce, names: Sequence[str]) -> JointForce:
    """From the engine's, with the names of coordinates."""
    return _made(JointForce, joint, coordinate=names[joint.coordinate])


def closure_from(closure: _engine.ClosureForce) -> ClosureForce:
    """From the engine's."""
    return _made(ClosureForce, closure)


def island_from(island: _engine.StepIsland) -> StepIsland:
    """From the engine's."""

    def rows_from(rows: list[_engine.StepRow]) -> list[StepRow]:
        return [_made(StepRow, row) for row in rows]

    impacts = [
        _made(StepImpact, impact, rows=rows_from(impact.rows), landed=rows_from(impact.landed))
        for impact in island.impacts
    ]
    return StepIsland(rows_from(island.rows), rows_from(island.way), impacts, island.admittance)
