"""Details of a step: its status, forces, constraint rows, impacts and islands."""

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
    """Outcomes of solving a step, from the best to the worst; numbers are those of the engine."""

    solved = 0
    """Solved to rounding. `pgs` always reports `solved` after its sweeps."""
    basic = 1
    """Solved, but redundant rows have other impulses than the documented choice."""
    rough = 2
    """`convex`: friction bounds may be off, see `residual`. `lcp`: its own methods found no
    solution within their cost bound, and the solution is that of `convex`."""
    relaxed = 3
    """Rows contradicted each other, so bounces and penetration of the contacts there were left for
    later steps."""
    inconsistent = 4
    """Not solved: the closest approximation was taken."""
    diverged = 5
    """Not taken, since the result would have exceeded the range of numbers. The state is
    unchanged."""


class StepReport(NamedTuple):
    """Report on a step.

    With substeps: the worst status and residual, the contacts, rows and islands of the last
    substep, and the sums of the rest.
    """

    status: StepStatus
    """Worst status of the islands."""
    residual: float
    """Violation of the contact laws, relative to the velocities involved; rounding if solved."""
    contacts: int
    """Number of points that touch, are within the margin or would touch within the step."""
    rows: int
    """Number of constraint rows: normals, axes of friction, limits, motors."""
    islands: int
    """Number of groups that contacts connect, each solved by itself."""
    class_changes: int
    """Number of linear solves of `lcp` beyond the first, or of Newton steps of `convex`."""
    pivots: int
    """Number of pivots of Dantzig's and Lemke's methods, where the linear solves of `lcp` do not
    end."""
    coupled_bounces: int
    """Number of contacts that collide within the step at the same time as others that are coupled
    with them. They bounce at once, by Newton's law, since no law determines their order."""
    untimed_bounces: int
    """Number of contacts that, with `bounce="step"`, bounce wherever the step finds them. The
    gradient is exactly that of the step. It differs from that of continuous time, however short
    steps are: in the position of a ball before its bounce it is zero."""
    attempt: str
    """Last method that `lcp` needed: `prediction`, `sweeps`, `Dantzig`, `Lemke` or `convex`, in the
    order of its attempts. Empty for other solvers and without rows."""


class ContactForce(NamedTuple):
    """One contact point of two things."""

    A: str
    """Name of the first thing."""
    B: str
    """Name of the second thing."""
    point: Array
    """(3,) position in W [m]."""
    normal: Array
    """(3,) unit vector from A to B, in W."""
    gap: float
    """Gap along the normal, negative for penetration [m]."""
    force: Array
    """(3,) force on B at the point, in W; the opposite force acts on A [N]."""
    moment: Array
    """(3,) moment on B, of torsional and rolling friction [N m]."""
    mode: str
    """`open` (no force), `sticking` or `sliding`."""
    feature_A: ManifoldFeature
    """Feature of A that makes the point."""
    feature_B: ManifoldFeature
    """Feature of B that makes the point."""
    slide: float
    """Tangential distance that the two may move until other features make the point [m]; inf if
    none do."""


class JointForce(NamedTuple):
    """Force of a limit, a motor, dry friction or an equality on a coordinate."""

    coordinate: str
    """Name of the coordinate, from `Model.velocity_names`."""
    source: str
    """`lower_limit`, `upper_limit`, `backward_speed_limit`, `forward_speed_limit`,
    `joint_friction`, `motor` or `equality` (a law of another joint)."""
    force: float
    """Force on the coordinate [N m or N]."""


class ClosureForce(NamedTuple):
    """Force of a point closure or a weld."""

    name: str
    """Names of the links, as "a to b"."""
    point: Array
    """(3,) point of the second link, in W [m]."""
    force: Array
    """(3,) force on the second link at the point, in W; the opposite force acts on the first
    [N]."""
    moment: Array
    """(3,) moment on the second link, of a weld [N m]."""


class StepRow(NamedTuple):
    """One constraint row of a step."""

    source: str
    """Source of the row. For a contact: `normal`, `friction_1`, `friction_2`, `torsion`,
    `rolling_1`, `rolling_2`. For a coordinate: as in `JointForce.source`. Else `closure`."""
    of: int
    """Index of its contact in `Linearization.contacts`, of its force in `joints`, or of its closure
    in `closures`."""
    direction: Array | None
    """(3,) unit vector in W, along which the row acts, or about which for torsion and rolling; None
    if the row is not of a contact."""
    law: str
    """Law of the normal of its contact. `rest`: zero velocity, or keep a part of the gap; `bounce`;
    `ahead`: approach at most until touching; `soft`: compliant. In impacts within a step, `impact`
    and `landing` for contacts that collide, and `held` for contacts that touch meanwhile. Else
    empty."""
    mode: str
    """`clamping`: held at its target velocity by an impulse within its bounds; `separating`: no
    impulse; `lower` and `upper`: moving, with its impulse at a bound. Two axes of friction that
    slide within a circle are `upper` and `separating`. With `pgs`, the mode after the last
    update."""
    impulse: float
    """Impulse [N s or N m s]."""
    velocity: float
    """Residual velocity w [m/s or rad/s], zero for a clamping row: the velocity after the step less
    `target`, plus compliance times impulse for a motor's gains."""
    target: float
    """Target velocity [m/s or rad/s]."""
    switch: float
    """Distance to another mode, as a velocity [m/s or rad/s]. For a clamping row: the distance of
    its impulse from a bound, times its admittance. Else: the velocity of the row. For redundant
    rows it follows from the impulses that were chosen. inf if there is no other mode, and for
    friction whose normal does not push."""


class StepImpact(NamedTuple):
    """An impact within a step: contacts that collide at one time, with all rows active then."""

    share: float
    """Fraction of the step after which the impulses act."""
    restored: float
    """Fraction of restitution that is applied: the largest that gains no energy. Below 1 only with
    friction."""
    before: Array
    """(n,) velocity of each row before the impact [m/s or rad/s]. For normals that bounce, the
    velocity at the time of impact, which differs from that of the step by a part of the change due
    to forces."""
    after: Array
    """(n,) velocity of each row just after the impact."""
    rows: list[StepRow]
    """Rows in the order in which `pgs` takes them."""
    landed: list[StepRow]
    """Rows of the solution without restitution, which has a part in `rows` if not all restitution
    is applied; else empty."""

    @property
    def work(self) -> float:
        """Work of the impulses [J]: at most zero, up to rounding."""
        impulses = np.array([row.impulse for row in self.rows])
        return float(impulses @ (self.before + self.after)) / 2


class StepIsland(NamedTuple):
    """Constraint rows of bodies that contacts and closures couple, solved together."""

    rows: list[StepRow]
    """Rows in the order in which `pgs` takes them."""
    way: list[StepRow]
    """Rows as solved for the displacement, which includes position correction; empty if the
    displacement follows the velocity."""
    impacts: list[StepImpact]
    """Impacts after these rows, each starting from the velocity after the one before."""
    admittance: Array
    """(n, n) matrix A of the rows' velocities per unit of impulse, symmetric and positive
    semidefinite [1/kg, 1/(kg m), 1/(kg m^2)]; the compliance of motors is on its diagonal."""

    @property
    def clamping(self) -> NDArray[np.bool_]:
        """(n,) True for rows that clamp."""
        return np.array([row.mode == "clamping" for row in self.rows], dtype=bool)

    @property
    def rank(self) -> int:
        """Number of linearly independent clamping rows: six for a box on its four corners."""
        return (
            int(np.linalg.matrix_rank(self._held(), hermitian=True)) if self.clamping.any() else 0
        )

    @property
    def condition(self) -> float:
        """Condition number of A_CC, of the clamping rows, in as many directions as its `rank`.

        It is 1 without clamping rows.

        Each row is scaled by its own admittance, so that rows of different units compare.
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
    """Make a record from a struct of the engine with equal field names, except for these fields."""
    names: tuple[str, ...] = kind._fields  # type: ignore[attr-defined]
    made: _Record = kind(
        *[fields[name] if name in fields else getattr(found, name) for name in names]
    )
    return made


def report_from(report: _engine.StepReport) -> StepReport:
    """Convert the engine's report."""
    return _made(StepReport, report, status=_STATUSES[report.status])


def contact_from(contact: _engine.ContactForce) -> ContactForce:
    """Convert the engine's contact force."""
    features = ManifoldFeature(*contact.feature_A), ManifoldFeature(*contact.feature_B)
    return _made(ContactForce, contact, feature_A=features[0], feature_B=features[1])


def joint_from(joint: _engine.JointForce, names: Sequence[str]) -> JointForce:
    """Convert the engine's joint force, with the names of coordinates."""
    return _made(JointForce, joint, coordinate=names[joint.coordinate])


def closure_from(closure: _engine.ClosureForce) -> ClosureForce:
    """Convert the engine's closure force."""
    return _made(ClosureForce, closure)


def island_from(island: _engine.StepIsland) -> StepIsland:
    """Convert the engine's island."""

    def rows_from(rows: list[_engine.StepRow]) -> list[StepRow]:
        return [_made(StepRow, row) for row in rows]

    impacts = [
        _made(StepImpact, impact, rows=rows_from(impact.rows), landed=rows_from(impact.landed))
        for impact in island.impacts
    ]
    return StepIsland(rows_from(island.rows), rows_from(island.way), impacts, island.admittance)
