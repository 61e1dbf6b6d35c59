"""One step in dual numbers, with the features and modes that the production step has found.

The equations are those of engine/step (README.md), written in NumPy on whole matrices: bodies by
their definitions (`dual_bodies.py`), rows along directions of W, one linear system for all
impulses. The engine supplies only the contacts, their features, the mode of each row, and the
motion of the points of a manifold with the two shapes, which accuracy_geometry.py checks.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from harness.dual import Array, Dual, projector, solved, sqrt, stacked
from harness.dual_bodies import DualBodies, Link, point_jacobian, twist_of
from harness.touching_scenes import ROUND_SOLVERS, Case
from harness.varied_world import World
from robosim.geometry import Compound, ManifoldDerivatives, Shape, contact_manifold_derivatives
from robosim.simulation import (
    ContactForce,
    Linearization,
    Simulation,
    StepImpact,
    StepRow,
    StepStatus,
)

ARGUMENTS = ("q", "v", "tau", "q_target", "v_target")
LEAST_FACING = 1e-12  # as in contact_axes.h
HELD = 1e-9  # [m/s] a disc at its bound with less speed has no direction of its own
CLAMPING, SEPARATING, LOWER, UPPER = range(4)  # RowClass of rows.h
Outcomes = list[tuple[int, NDArray[np.intc]]]
TOUCHING, TOUCHING_SHARE = (
    1e-5,
    0.01,
)  # smaller gaps, and gaps below this fraction of the margin, are kept (constraints/recovery.h)
CREEP = 100.0  # compliance of friction relative to springs of the same admittance (bounded_rows.h)
TORN = 1e-6  # largest part of the rates that may leave the range of the rows, relative to the rates


class Frozen(NamedTuple):
    """Result of a step, and its rates.

    Attributes:
        v: (n_v,) the new velocity.
        q: (n_v, k) rates of the new configuration, in its tangent space.
        dv: (n_v, k) rates of the new velocity.
        apart: deviation of the engine's impulses from these equations, relative to the velocities
            involved.
    """

    v: Array
    q: Array
    dv: Array
    apart: float


@dataclass
class Row:
    """A constraint row, as in rows.h.

    Attributes:
        row: the engine's report of the row.
        J: (n_v,) the velocity of the row is J v.
        target: the target of that velocity.
        compliance: R.
        bounds: of its impulse, if these are numbers.
        mu, normal: of friction: its bound per impulse of row `normal`.
        gap: gap that position correction uses, if its target differs from the velocity's.
        contact: of a contact's row.
        pair: of a disc: index of its other row.
    """

    row: StepRow
    J: Dual
    target: Dual
    compliance: float = 0.0
    bounds: tuple[Dual | float, float] = (0.0, np.inf)
    mu: float | None = None
    normal: int = -1
    gap: Dual | None = None
    pair: int = -1
    contact: _Contact | None = None


@dataclass
class _Contact:
    """A contact point: its location, gap, and links."""

    gap: Dual
    n: Dual
    p: Dual
    links: tuple[Link, Link]
    lever: float
    bodies: tuple[int, int]
    is_met: bool = False  # friction acts at the touching point from the impact on


class _Met(NamedTuple):
    """An impact: its fraction of the step, and its rows."""

    share: Dual
    rows: list[Row]


class FrozenStep:
    """Steps of a world with given modes.

    Args:
        world: without closures, and with obstacles of one shape each.
        simulation: of the world, without substeps.
    """

    def __init__(self, world: World, simulation: Simulation):
        self._world, self._simulation, self._model = world, simulation, world.model
        options = {
            "erp": 0.2,
            "recovery_speed": 1.0,
            "margin": 1e-3,
            "limit_margin": 1e-3,
        } | world.options
        self._erp, self._recovery_speed = options["erp"], options["recovery_speed"]
        self._margin, self._limit_margin = options["margin"], options["limit_margin"]
        self._solver, self._sweeps = options.get("solver", "convex"), options.get("sweeps", 50)
        self._colliders = {c.name: (c.shape, c.link, c.X_LC) for c in self._model.colliders}
        self._obstacles = {x.name: (x.shapes[0], x.pose @ x.shape_poses[0]) for x in world.scene}
        frames = self._model._engine.frames
        self._body = {frame.name: frame.body for frame in frames}

    def knows(self, details: Linearization) -> bool:
        """Return True if all contacts are between single shapes."""
        return not any(
            isinstance(self._shape(name), Compound) for c in details.contacts for name in (c.A, c.B)
        )

    def along(
        self, case: Case, directions: dict[str, Array], details: Linearization
    ) -> Frozen | None:
        """Return the step and its rates along one direction of each argument, or None.

        None means that the modes leave the rates undetermined. Examples are a contact at rest at
        the bound of its friction circle, and rows that are linearly dependent at this state only.

        Args:
            case: state and control.
            directions: of each of `ARGUMENTS`, (n,).
            details: of the production step.
        """
        model, dt, k = self._model, self._simulation.dt, len(ARGUMENTS)

        # Dual numbers of state and control, one direction for each argument.
        def seeded(name: str, x: Array) -> Dual:
            d = np.zeros((len(x), k))
            d[:, ARGUMENTS.index(name)] = directions[name]
            return Dual(x, d)

        dq = seeded("q", np.zeros(model.n_v)).d
        v, tau = seeded("v", case.state.v), seeded("tau", np.asarray(case.control.tau))
        self._targets = (
            seeded("q_target", np.asarray(case.control.q_target)),
            seeded("v_target", np.asarray(case.control.v_target)),
        )
        self._q, self._dq = case.state.q, dq
        self._bodies = bodies = DualBodies(model, case.state.q, dq, v)
        # Free motion, with damping and springs of joints implicit.
        D, K = model.damping, model.stiffness
        spring = Dual.constant(np.zeros(model.n_v), k)
        for c in np.flatnonzero(K):
            spring[c] = K[c] * (self._position(int(c)) - model.spring_reference[c])
        M = bodies.M + np.diag(dt * (D + dt * K))
        v_free = v + solved(M, dt * (tau - bodies.bias - (D + dt * K) * v - spring))
        moved = way = v_free
        self._apart = self._at_play = 0.0
        self._found_contacts = self._contacts(details)
        # Rows of `lcp` are slightly compliant if it has handed them over to `convex`. Not all rows
        # need be handed over, so both cases are tried.
        self._gives = {self._solver == "convex", details.state.report.attempt == "convex"}
        outcomes = self._outcomes(case, details) if self._solver == "pgs" else {}
        rows = self._rows(details, v)
        if rows or any(island.impacts for island in details.islands):
            f = Dual.constant(np.zeros(0), k)
            if rows:
                f, Y = self._solved(M, rows, v_free, outcomes.get("rows", []))
                if f is None:
                    return None
                moved = v_free + Y @ f
            # Impacts in their order. Each moves the velocity at its time in the step.
            rested, late = moved, Dual.constant(np.zeros(model.n_v), k)
            for i, island in enumerate(details.islands):
                share = Dual.constant(0.0, k)
                for number, impact in enumerate(island.impacts):
                    met = self._met(impact, details, moved, rested, v, late, share, number > 0)
                    share = met.share
                    pushed = self._impact(M, impact, met, moved, rested, v, outcomes, (i, number))
                    if pushed is None:
                        return None
                    moved, late = moved + pushed, late + share * pushed
            way = moved - late
            # Corrections of positions, which do not change the velocity.
            corrections = self._corrections(details, rows, f)
            if corrections:
                c, Y = self._solved(M, corrections, moved, outcomes.get("way", []))
                if c is None:
                    return None
                way = way + Y @ c
        q_next, v_next = bodies.advanced(dt, way, moved)
        return Frozen(v_next.x, q_next.d, v_next.d, self._apart)

    def _solved(
        self, M: Dual, rows: list[Row], seen: Dual, outcomes: Outcomes, found: Array | None = None
    ) -> tuple[Dual | None, Dual]:
        """Solve rows for their impulses, with the velocity `seen` before them.

        Returns:
            The impulses, None if they are undetermined, and M^-1 J^T.

        found: the engine's impulses, if they are not those of the rows.
        """
        J = stacked([row.J for row in rows])
        Y = solved(M, J.T)
        free = J @ seen - stacked([row.target for row in rows])
        A = J @ Y + np.diag([row.compliance for row in rows])
        impulses = np.array([row.row.impulse for row in rows])
        if self._solver == "pgs":
            f = self._swept(rows, A, free, outcomes)
        else:
            ways = [_solved_rows(rows, J, A, free, gives=gives) for gives in self._gives]
            known = [way for way in ways if way is not None]
            is_open = len(known) < len(ways)
            f = None if is_open else min(known, key=lambda way: np.abs(way.x - impulses).max())
        if f is not None and found is None:
            self._compare(f.x, impulses, np.abs(np.diag(A.x)), np.abs(free.x))
        return f, Y

    def _compare(self, f: Array, found: Array, sizes: Array, free: Array) -> None:
        """Record the deviation of impulses from those of the engine."""
        self._at_play = max(self._at_play, (sizes * np.abs(found)).max(), free.max(), 1e-300)
        self._apart = max(self._apart, float((sizes * np.abs(f - found)).max() / self._at_play))

    # -- Impacts --------------------------------------------------------------------------------

    def _met(
        self,
        impact: StepImpact,
        details: Linearization,
        seen: Dual,
        rested: Dual,
        before: Dual,
        late: Dual,
        share: Dual,
        is_later: bool,
    ) -> _Met:
        """Return the rows of an impact after earlier impacts, and its time.

        The earlier impacts act at `share` of the step (constraints/impacts.h).
        """
        dt, k = self._simulation.dt, self._dq.shape[-1]
        restitution = self._world.material.restitution
        nothing, rows, shares, normal = Dual.constant(0.0, k), [], [], -1
        touching = min(TOUCHING, TOUCHING_SHARE * self._margin) * (1 if is_later else -1)
        for own in impact.rows:
            if own.direction is None:
                rows.append(self._of_joint(own, details))
                continue
            contact = self._found_contacts[own.of]
            if own.source != "normal":
                rows.append(self._of_friction(own, contact, normal))
                continue
            normal = len(rows)
            J = self._across(contact, contact.p, contact.n)
            rows.append(Row(own, J, nothing, contact=contact))
            if own.law != "held":
                gap = contact.gap + dt * (share * (J @ seen) - J @ late)
                when = (contact.gap / dt - J @ late) / (-1.0 * (J @ seen))
                shares.append(when if gap.x > touching and when.x > -1 else share)
        if shares:
            share = sum(shares[1:], shares[0]) / len(shares)
        for row in rows:
            if row.row.law == "impact" and row.row.source == "normal":
                change = (0.5 - share) * (row.J @ rested - row.J @ before)
                row.target = -restitution * (row.J @ seen) + (1 + restitution) * change
        self._pair_discs(rows, 0)
        return _Met(share, rows)

    def _impact(
        self,
        M: Dual,
        impact: StepImpact,
        met: _Met,
        seen: Dual,
        rested: Dual,
        before: Dual,
        outcomes: dict[object, Outcomes],
        key: tuple[int, int],
    ) -> Dual | None:
        """Return the change of the velocity by an impact."""
        f, Y = self._solved(
            M, met.rows, seen, outcomes.get((*key, 0), []), np.zeros(0) if impact.landed else None
        )
        if f is None or not impact.landed:
            return None if f is None else Y @ f
        nothing = Dual.constant(0.0, self._dq.shape[-1])
        landed = [
            replace(row, row=own, target=nothing if own.law == "landing" else row.target)
            for row, own in zip(met.rows, impact.landed, strict=True)
        ]
        g, _ = self._solved(M, landed, seen, outcomes.get((*key, 1), []))
        if g is None:
            return None
        # Work is a + b r + c r^2 in the fraction r of restitution.
        J = stacked([row.J for row in met.rows])
        h, mean = f - g, J @ (seen + 0.5 * (Y @ g))
        until = (0.5 - met.share) * (J @ (rested - before))
        bounces = np.array(
            [row.row.law == "impact" and row.row.source == "normal" for row in met.rows], float
        )
        a = g @ mean
        b = h @ mean + 0.5 * (g @ (J @ (Y @ h))) - (bounces * g) @ until
        c = 0.5 * (h @ (J @ (Y @ h))) - (bounces * h) @ until
        root = sqrt(b * b - 4.0 * (a * c))
        part = (-2.0 * a) / (b + root) if b.x > 0 else (root - b) / (2.0 * c)
        mixed = g + part * h
        self._compare(
            mixed.x,
            np.array([row.impulse for row in impact.rows]),
            np.abs(np.einsum("rn,nr->r", J.x, Y.x)),
            np.abs((J @ seen).x),
        )
        return Y @ mixed

    # -- Rows -----------------------------------------------------------------------------------

    def _position(self, c: int) -> Dual:
        """Position of the one-position joint whose velocity is entry c."""
        i = self._model.position_names.index(self._model.velocity_names[c])
        return Dual(self._q[i], self._dq[c])

    def _rows(self, details: Linearization, v: Dual) -> list[Row]:
        """Return all rows, in the order of the sweeps."""
        contacts = self._found_contacts
        rows: list[Row] = []
        for island in details.islands:
            first, normal = len(rows), -1
            for row in island.rows:
                if row.direction is None:
                    rows.append(self._of_joint(row, details))
                    continue
                contact = contacts[row.of]
                if row.source == "normal":
                    normal = len(rows)
                    rows.append(self._of_normal(row, contact, v, details.state.report.status))
                else:
                    rows.append(self._of_friction(row, contact, normal))
            self._pair_discs(rows, first)
        return rows

    def _pair_discs(self, rows: list[Row], first: int) -> None:
        """Pair the axes of each disc of an island, for solvers with round friction.

        The rows of the island begin at `first`.
        """
        if self._solver not in ROUND_SOLVERS:
            return
        for i in range(first, len(rows) - 1):
            one, other = rows[i].row, rows[i + 1].row
            if one.of == other.of and (one.source, other.source) in (
                ("friction_1", "friction_2"),
                ("rolling_1", "rolling_2"),
            ):
                rows[i].pair, rows[i + 1].pair = i + 1, i

    def _corrections(self, details: Linearization, rows: list[Row], f: Dual) -> list[Row]:
        """Return the rows of normals and limits that correct positions (constraints/recovery.h)."""
        out, first = [], 0
        rate = -self._erp / self._simulation.dt
        for island in details.islands:
            place = first
            for own in island.way:
                while (rows[place].row.source, rows[place].row.of) != (own.source, own.of):
                    place += 1
                corrected, gap = rows[place], rows[place].gap
                target = corrected.target
                if gap is not None:
                    is_slow = rate * gap.x <= self._recovery_speed
                    target = rate * gap if is_slow else 0.0 * gap + self._recovery_speed
                if details.state.report.status == StepStatus.relaxed and own.target == 0:
                    target = 0.0 * target
                pushes = f.x[place] > 0 and corrected.row.law != "bounce"
                out.append(
                    Row(
                        own,
                        corrected.J,
                        target,
                        bounds=(-1.0 * f[place] if pushes else 0.0, np.inf),
                    )
                )
            first += len(island.rows)
        return out

    def _kept(self, gap: Dual, margin: float) -> Dual:
        """Target of a row that keeps a gap (constraints/recovery.h)."""
        beyond = gap - min(TOUCHING, TOUCHING_SHARE * margin)
        return -self._erp / self._simulation.dt * beyond if beyond.x > 0 else 0.0 * gap

    def _of_joint(self, row: StepRow, details: Linearization) -> Row:
        """Return the row of dry friction, of a motor or of a limit of a coordinate."""
        model, dt, k = self._model, self._simulation.dt, self._dq.shape[-1]
        c = model.velocity_names.index(details.joints[row.of].coordinate)
        J = Dual.constant(np.eye(model.n_v)[c], k)
        nothing = Dual.constant(0.0, k)
        if row.source == "joint_friction":
            bound = model.friction[c] * dt
            return Row(row, J, nothing, bounds=(-bound, bound))
        if row.source == "motor":
            motor = self._world.motors[model.velocity_names[c]]
            position_gain, velocity_gain = motor.position_gain, motor.velocity_gain
            limit = model.limits.effort[c] if motor.limit is None else motor.limit
            stretch = nothing
            if position_gain > 0:
                i = model.position_names.index(model.velocity_names[c])
                stretch = self._targets[0][i] - self._position(c)
            give = position_gain * dt + velocity_gain
            target = (position_gain * stretch + velocity_gain * self._targets[1][c]) / give
            return Row(row, J, target, 1 / (dt * give), (-limit * dt, limit * dt))
        assert row.source in ("lower_limit", "upper_limit"), row.source
        i = model.position_names.index(model.velocity_names[c])
        sign = 1.0 if row.source == "lower_limit" else -1.0
        bound = model.limits.lower[i] if sign > 0 else model.limits.upper[i]
        gap = sign * (self._position(c) - bound)
        target = self._kept(gap, self._limit_margin)
        if details.state.report.status == StepStatus.relaxed and row.target == 0:
            target = nothing
        return Row(row, sign * J, target, gap=gap)

    def _of_normal(self, row: StepRow, contact: _Contact, v: Dual, status: StepStatus) -> Row:
        """Return the row of a normal, by its law (constraints/normal_law.h)."""
        dt = self._simulation.dt
        material = self._world.material
        restitution, give, time = (
            material.restitution,
            material.compliance,
            material.relaxation_time,
        )
        J = self._across(contact, contact.p, contact.n)
        before, compliance = J @ v, 0.0
        target = Dual.constant(0.0, self._dq.shape[-1])
        if row.law == "rest":
            target = self._kept(contact.gap, self._margin)
        elif row.law == "bounce":
            target = -restitution * before
        elif row.law == "ahead":
            target = -1 / dt * contact.gap
        else:
            assert row.law == "soft", row.law
            target = -1 / (dt + time) * contact.gap
            compliance = give / (dt * (dt + time))
        if status == StepStatus.relaxed and row.target == 0 and row.law != "soft":
            target = 0.0 * target
        gap = contact.gap if row.law in ("rest", "bounce") else None
        return Row(row, J, target, compliance, gap=gap, contact=contact)

    def _of_friction(self, row: StepRow, contact: _Contact, normal: int) -> Row:
        """Return a row of sliding, torsional or rolling friction, with the index of its normal."""
        material = self._world.material
        turning = {"torsion": material.torsional_friction, "rolling": material.rolling_friction}
        mu = turning.get(row.source.partition("_")[0], material.friction)
        if row.source == "torsion":
            u = contact.n
        else:
            axes = friction_axes(contact.n)
            u = sum(
                (float(row.direction @ t.x) * t for t in axes[1:]),
                float(row.direction @ axes[0].x) * axes[0],
            )
        if "friction" in row.source:
            p = contact.p
            if row.law in ("impact", "landing") or contact.is_met:
                contact.is_met = True
                p = p + contact.lever * (contact.gap * contact.n)
            J = self._across(contact, p, u)
        else:
            J = u @ (contact.links[1].J_w - contact.links[0].J_w)
        zero = Dual.constant(0.0, self._dq.shape[-1])
        return Row(row, J, zero, mu=mu, normal=normal, contact=contact)

    def _across(self, contact: _Contact, p: Dual, u: Dual) -> Dual:
        """Jacobian (n_v,) of the velocity of B's point at p relative to A's, along u."""
        A, B = contact.links
        return u @ (point_jacobian(B, p) - point_jacobian(A, p))

    # -- Contacts -------------------------------------------------------------------------------

    def _shape(self, name: str) -> Shape | Compound:
        found = self._colliders.get(name)
        return self._obstacles[name][0] if found is None else found[0]

    def _contacts(self, details: Linearization) -> list[_Contact]:
        """Return the motion of each contact of the step; a pair of shapes has one manifold."""
        found: dict[int, _Contact] = {}
        together: dict[tuple[str, str], list[int]] = {}
        for i, contact in enumerate(details.contacts):
            together.setdefault((contact.A, contact.B), []).append(i)
        for (A, B), numbers in together.items():
            poses, twists, links = zip(*(self._placed(name) for name in (A, B)), strict=True)
            margin = max(0.0, max(details.contacts[i].gap for i in numbers)) * (1 + 1e-9) + 1e-12
            derived = contact_manifold_derivatives(
                self._shape(A), poses[0], self._shape(B), poses[1], margin=margin
            )
            twist = np.concatenate(twists)
            bodies = tuple(self._body.get(self._link_of(name), 0) for name in (A, B))
            for i in numbers:
                found[i] = _contact_of(derived, details.contacts[i], twist, links, bodies)
        return [found[i] for i in range(len(details.contacts))]

    def _link_of(self, name: str) -> str:
        return self._colliders[name][1] if name in self._colliders else self._model.root_link

    def _placed(self, name: str) -> tuple[Array, Array, Link]:
        """Return the pose of a shape, its rates (6, k), and the link that carries the shape."""
        k = self._dq.shape[-1]
        if name in self._obstacles:
            nothing = Dual.constant(np.zeros(3), k)
            still = Dual.constant(np.zeros((3, self._model.n_v)), k)
            at = Link(
                Dual.constant(np.eye(3), k),
                nothing,
                still,
                still,
                nothing,
                nothing,
                nothing,
                nothing,
            )
            return self._obstacles[name][1], np.zeros((6, k)), at
        _, link, X_LC = self._colliders[name]
        at = self._bodies.links[link]
        X = np.eye(4)
        X[:3, :3], X[:3, 3] = at.R.x @ X_LC[:3, :3], at.p.x + at.R.x @ X_LC[:3, 3]
        return X, twist_of(at, X_LC), at

    # -- Impulses -------------------------------------------------------------------------------

    def _outcomes(self, case: Case, details: Linearization) -> dict[object, Outcomes]:
        """Read the outcomes of all updates of the sweeps from the signature of the step.

        Returns:
            For `rows` and `way` the first row of each island and the outcomes (sweeps, rows).
            Likewise for (island, impact, 0), and for (island, impact, 1) without restitution.

        The outcomes are the end of a step's signature (step_signature.cpp), in this order:

        - for each island three numbers per row, then the outcomes of its rows;
        - for each of its impacts a number, the same of the impact's rows, the same of these rows
          without restitution if there are any, and two numbers per row;
        - for each island with corrections its number, and the same of the corrections.
        """
        numbers = np.frombuffer(
            self._simulation.linearize(case.state, case.control).signature, dtype=np.intc
        )
        parts: list[tuple[int, object, int, int]] = []  # numbers before, key, rows, numbers behind
        for i, island in enumerate(details.islands):
            parts.append((0, "rows", len(island.rows), 0))
            for number, impact in enumerate(island.impacts):
                n = len(impact.rows)
                parts.append((1, (i, number, 0), n, 0 if impact.landed else 2 * n))
                if impact.landed:
                    parts.append((0, (i, number, 1), n, 2 * n))
        parts.extend((1, "way", len(island.way), 0) for island in details.islands if island.way)
        at = len(numbers) - sum(
            before + (3 + self._sweeps) * n + behind for before, _, n, behind in parts
        )
        found: dict[object, Outcomes] = {}
        for before, key, n, behind in parts:
            at += before + 3 * n
            those = found.setdefault(key, [])
            first = those[-1][0] + those[-1][1].shape[1] if those else 0
            those.append((first, numbers[at : at + self._sweeps * n].reshape(self._sweeps, n)))
            at += self._sweeps * n + behind
        return found

    def _swept(self, rows: list[Row], A: Dual, free: Dual, outcomes: Outcomes) -> Dual:
        """Return the impulses of projected Gauss-Seidel, with the known outcome of each update."""
        k = free.d.shape[-1]
        f = Dual.constant(np.zeros(len(rows)), k)
        own = [A[i, i] for i in range(len(rows))]
        for first, sweeps in outcomes:
            for i, outcome in ((first + r, out) for sweep in sweeps for r, out in enumerate(sweep)):
                row = rows[i]
                if outcome == CLAMPING:
                    f[i] = f[i] - (A[i] @ f + free[i]) / own[i]
                elif outcome == SEPARATING:
                    f[i] = 0.0
                elif row.mu is not None:
                    f[i] = (row.mu if outcome == UPPER else -row.mu) * f[row.normal]
                else:
                    f[i] = row.bounds[int(outcome == UPPER)]
        return f


def _solved_rows(rows: list[Row], J: Dual, A: Dual, free: Dual, gives: bool) -> Dual | None:
    """Return the impulses of the exact solvers, by Newton's method with the given modes.

    The last iteration is in dual numbers. Of impulses with the same effect on the bodies, those of
    least friction are taken, and of these the smallest (row_basis.h). If each row is slightly
    compliant, those with the least energy stored in the compliance are taken (bounded_rows.h).
    """
    n = len(rows)
    f = np.array([row.row.impulse for row in rows])
    modes = [row.row.mode for row in rows]
    C = [i for i in range(n) if modes[i] == "clamping"]
    rigid = [i for i in C if rows[i].compliance == 0]
    k = free.d.shape[-1]
    P = Dual.constant(np.eye(n), k)
    springs, creeping = (
        [i for i in rigid if (rows[i].mu is not None) == of_friction] for of_friction in (0, 1)
    )
    softness = Dual.constant(np.ones(n), k)  # square root of the compliance of each row
    if gives:
        softness, springs, creeping = _softness(rows, A), rigid, []
    left = Dual.constant(np.eye(J.x.shape[1]), k)
    for part in springs, creeping:
        if not part:
            continue
        size = np.linalg.norm(J.x[rigid], 2)
        soft = (J[part] @ left).T / softness[part]
        own, outside = projector(soft.T, size=size)
        seen, outside_seen = projector(soft, size=size)
        if max(outside, outside_seen) > TORN * max(np.abs(J.d).max(), 1.0):
            return None
        P[np.ix_(part, part)] = own
        left = left - seen
    for _ in range(3):
        F, slope = _conditions(rows, modes, C, P, A, free, f, softness)
        if F is None:
            return None
        f = f - np.linalg.solve(slope, F.x)
    F, slope = _conditions(rows, modes, C, P, A, free, f, softness)
    return None if F is None else Dual(f, -np.linalg.solve(slope, F.d))


def _softness(rows: list[Row], A: Dual) -> Dual:
    """Square root of the compliance of each row, (n,).

    Normals of the same two bodies share one value, as do the two axes of a disc.
    """

    def is_like(one: Row, other: Row) -> bool:
        if one.mu is not None or one.contact is None:
            return one is other or (one.pair >= 0 and other is rows[one.pair])
        normal = other.contact is not None and other.mu is None
        return normal and set(other.contact.bodies) == set(one.contact.bodies)

    out = Dual.constant(np.ones(len(rows)), A.d.shape[-1])
    for i, row in enumerate(rows):
        alike = [j for j, other in enumerate(rows) if is_like(row, other)]
        mean = sum(
            (A[j, j] - rows[j].compliance for j in alike), Dual.constant(0.0, A.d.shape[-1])
        ) / len(alike)
        out[i] = sqrt((CREEP if row.mu is not None else 1.0) * mean)
    return out


def _conditions(
    rows: list[Row],
    modes: list[str],
    C: list[int],
    P: Dual,
    A: Dual,
    free: Dual,
    f: Array,
    softness: Dual,
) -> tuple[Dual | None, Array]:
    """Residuals that vanish at the impulses f, and their Jacobian with respect to f.

    The rates of f itself are not included.
    """
    n, k = len(rows), free.d.shape[-1]
    w = A @ f + free
    F, slope = Dual.constant(np.zeros(n), k), np.zeros((n, n))
    if C:
        own, soft = P[np.ix_(C, C)], softness[C]
        F[C] = own @ (w[C] / soft) + (np.eye(len(C)) - own) @ (soft * f[C])
        slope[C] = own.x @ (A.x[C] / soft.x[:, None])
        slope[np.ix_(C, C)] += (np.eye(len(C)) - own.x) * soft.x
    for i, row in enumerate(rows):
        if modes[i] == "clamping":
            continue
        slope[i, i] = 1.0
        F[i] = Dual.constant(f[i], k)
        first = min(i, row.pair)
        # Slip on a friction disc: f + mu f_n w / |w| = 0.
        if row.pair >= 0 and modes[first] == "upper":
            one, other = w[first], w[first + 1]
            speed = sqrt(one * one + other * other)
            if speed.x < HELD:
                return None, slope
            along = w[i] / speed
            F[i] = F[i] + row.mu * f[row.normal] * along
            slope[i, row.normal] += row.mu * along.x
            turned = (
                A.x[i] - along.x * (one.x * A.x[first] + other.x * A.x[first + 1]) / speed.x
            ) / speed.x
            slope[i] += row.mu * f[row.normal] * turned
        elif modes[i] in ("lower", "upper"):
            sign = -1.0 if modes[i] == "lower" else 1.0
            if row.mu is None:
                F[i] = F[i] - row.bounds[int(sign > 0)]
            else:
                F[i] = F[i] - sign * row.mu * f[row.normal]
                slope[i, row.normal] -= sign * row.mu
    return F, slope


def _contact_of(
    derived: ManifoldDerivatives,
    contact: ContactForce,
    twist: Array,
    links: tuple[Link, Link],
    bodies: tuple[int, int],
) -> _Contact:
    """Return the contact point of a manifold that is at the given location.

    In an impact friction acts on the moving body, else half way (constraints/normal_law.h).
    """
    manifold, rates = derived.manifold, derived.twist
    i = int(np.argmin(np.linalg.norm(manifold.p_W - contact.point, axis=1)))
    assert np.linalg.norm(manifold.p_W[i] - contact.point) < 1e-9
    met = 1.0 if bodies[0] == 0 else 0.0 if bodies[1] == 0 else 0.5
    plane = {"A": 0.0, "B": 1.0, None: 0.5}[manifold.reference]
    return _Contact(
        Dual(manifold.gap[i], rates.gap[i] @ twist),
        Dual(manifold.normal, rates.normal @ twist),
        Dual(manifold.p_W[i], rates.p_W[i] @ twist),
        links,
        met - plane,
        bodies,
    )


def friction_axes(n: Dual) -> tuple[Dual, Dual]:
    """Tangent axes as in contact_axes.h."""
    r = np.array([0.5, 0.5, 0.0]) * np.sqrt(2)
    facing = 1 + n @ r
    assert facing.x > LEAST_FACING
    a, b = np.array([0.5, -0.5, -np.sqrt(0.5)]), np.array([-0.5, 0.5, -np.sqrt(0.5)])
    one, other = (x - ((n @ x) / facing) * (r + n) for x in (a, b))
    return one, other
