"""Measures of a run of a scene: laws of contact, energy, drift, and derivatives."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

import numpy as np
from harness.derivative_audit import LONGEST
from harness.energy_audit import audit
from harness.ridders import ridders, shortest
from numpy.typing import NDArray
from zoo import ZooScene
from zoo_timing import Patience, Run

from robosim.simulation import (
    Control,
    Linearization,
    OneSidedCause,
    Simulation,
    State,
    StepIsland,
    StepRow,
    StepStatus,
)

Array = NDArray[np.float64]

AUDITED, LOOKED = 60, 500  # numbers of steps of a run: for all laws, and for overlaps alone
REST = 0.1  # fraction of a run, at its end
LEAST_SLIP = 1e-3  # [m/s] smallest speed of slip
RIGHT = 1e-6  # relative to the largest entry of a derivative
AGREEMENT = 1e-7  # of differences of two lengths, relative to the largest entry
ROUND = ("convex",)  # solvers with friction within a disc


@dataclass
class Laws:
    """Largest violations over all audited steps.

    Attributes:
        overlap: [m], after the scene has settled, and the step with this overlap.
        cone: friction beyond mu f_n, relative to the largest mu f_n of its step.
        opposition: missing power of friction, if slip is not opposed by mu f_n, relative to the
            largest mu f_n of its step times its largest slip.
        gliding: normal velocity of a slipping contact, relative to the speed of slip.
        gained: steps whose rows add energy, with the first of them.
        audited: number of steps whose energy was audited.
        looked: number of steps checked, at least for overlaps.
    """

    overlap: float = 0.0
    overlap_step: int = -1
    cone: float = 0.0
    opposition: float = 0.0
    gliding: float = 0.0
    gained: list[int] = field(default_factory=list)
    audited: int = 0
    looked: int = 0


@dataclass
class Gradients:
    """Comparison of derivatives of steps with differences.

    Attributes:
        states: number of states.
        right: number of steps whose derivative has errors of at most 1e-6.
        wrong: steps whose derivative has larger errors without a flag, and their errors.
        flagged: number of flagged steps by cause; a step may have several causes.
        flagged_states: number of flagged steps.
        untold: number of steps with inconclusive differences, as nearby steps have other modes or
            features.
        error: the largest error of the `right` derivatives.
    """

    states: int = 0
    right: int = 0
    wrong: dict[int, float] = field(default_factory=dict)
    flagged: dict[str, int] = field(default_factory=dict)
    flagged_states: int = 0
    untold: int = 0
    error: float = 0.0


def spread(steps: int, count: int) -> list[int]:
    """Return `count` evenly spaced steps of a run."""
    return sorted({int(x) for x in np.linspace(0, steps - 1, min(count, steps))})


def laws(
    scene: ZooScene, simulation: Simulation, run: Run, solver: str, patience: Patience
) -> Laws:
    """Audit evenly spaced steps of a run, and check more steps for overlaps."""
    found = Laws()
    count = len(run.controls)
    audited = spread(count, AUDITED)
    others = sorted(set(spread(count, LOOKED)).difference(audited))
    end = time.perf_counter() + patience.seconds
    for k in (*audited, *others):
        if time.perf_counter() > end:
            break
        found.looked += 1
        step = simulation.linearize(run.states[k], run.controls[k])
        if step.report.status == StepStatus.diverged:
            continue
        if k >= scene.settles:
            deepest = max((-contact.gap for contact in step.contacts), default=0.0)
            if deepest > found.overlap:
                found.overlap, found.overlap_step = deepest, k
        if found.looked > len(audited):
            continue
        for island in step.islands:
            _audit_friction(island, step, solver, found)
        if not step.report.untimed_bounces:
            found.audited += 1
            if audit(step).is_gained:
                found.gained.append(k)
    return found


def _audit_friction(island: StepIsland, step: Linearization, solver: str, found: Laws) -> None:
    """Compare the impulses of an island's first solve with Coulomb's law."""
    contacts: dict[int, dict[str, StepRow]] = {}
    for row in island.rows:
        if row.source in ("normal", "friction_1", "friction_2"):
            contacts.setdefault(row.of, {})[row.source] = row
    laid = []
    for of, rows in contacts.items():
        if len(rows) < 3 or rows["normal"].law == "soft":
            continue
        contact = step.contacts[of]
        mu = float(np.max(step.simulation.parameters["friction", (contact.A, contact.B)]))
        axes = (rows["friction_1"], rows["friction_2"])
        f = np.array([row.impulse for row in axes])
        w = np.array([row.velocity + row.target for row in axes])
        laid.append((mu * rows["normal"].impulse, f, w, rows["normal"]))
    scale = max((bound for bound, *_ in laid), default=0.0)
    if scale <= 0:
        return
    fastest = max(LEAST_SLIP, *(float(np.linalg.norm(w)) for _, _, w, _ in laid))
    for bound, f, w, normal in laid:
        if solver in ROUND:
            beyond = float(np.linalg.norm(f)) - bound
            lacking = bound * float(np.linalg.norm(w)) + float(f @ w)
        else:
            beyond = float(np.abs(f).max()) - bound
            lacking = bound * float(np.abs(w).sum()) + float(f @ w)
        found.cone = max(found.cone, beyond / scale)
        found.opposition = max(found.opposition, lacking / (scale * fastest))
        slip = float(np.linalg.norm(w))
        if normal.impulse > 0 and slip > LEAST_SLIP:
            found.gliding = max(found.gliding, abs(normal.velocity) / slip)


def drift(simulation: Simulation, run: Run) -> float:
    """Return the largest mean speed of a link's origin in the last tenth of a run [m/s]."""
    steps = len(run.controls)
    first = steps - max(1, round(REST * steps))
    before, after = run.states[first], run.states[-1]
    model = simulation.model
    X, Y = model.link_poses(before.q), model.link_poses(after.q)
    ways = (np.linalg.norm(Y[name][:3, 3] - X[name][:3, 3]) for name in X)
    return float(max(ways)) / ((steps - first) * simulation.dt)


def moved(simulation: Simulation, run: Run) -> float:
    """Return the largest displacement of a link's origin from the start to the end [m]."""
    model = simulation.model
    X, Y = (model.link_poses(run.states[k].q) for k in (0, -1))
    return float(max(np.linalg.norm(Y[name][:3, 3] - X[name][:3, 3]) for name in X))


def gradients(simulation: Simulation, run: Run, patience: Patience) -> Gradients:
    """Compare derivatives at states of a run with differences, in a random order."""
    rng = np.random.default_rng(0)
    found = Gradients()
    end = time.perf_counter() + patience.seconds
    for k in rng.permutation(spread(len(run.controls), patience.states)).tolist():
        if time.perf_counter() > end:
            break
        control = run.controls[k]
        step = simulation.linearize(run.states[k], control)
        causes = step.vjp(*rng.normal(size=(2, simulation.model.n_v))).causes
        if causes:
            found.states += 1
            found.flagged_states += 1
            for cause in OneSidedCause:
                if causes & cause:
                    found.flagged[cause.name] = found.flagged.get(cause.name, 0) + 1
            continue
        try:
            error = derivative_error(step, control, rng, end)
        except TimeoutError:
            break
        found.states += 1
        if error is None:
            found.untold += 1
        elif error > RIGHT:
            found.wrong[k] = error
        else:
            found.right += 1
            found.error = max(found.error, error)
    return found


def derivative_error(
    step: Linearization, control: Control, rng: np.random.Generator, end: float
) -> float | None:
    """Relative error of a step's derivative along a random direction.

    The error is relative to the derivative's largest entry. Ridders' differences determine the
    derivative if two consecutive lengths agree. Scenes with many contacts have so many features
    that nearby steps almost always have different features, often without any effect. Therefore a
    derivative is right if it agrees with the differences. It is wrong if it does not, all of these
    steps have the same modes and features, and the shortest differences are off by as much. A
    sliding velocity near zero bends the step within less than the lengths, and only the shortest
    differences see its derivative. Otherwise the comparison is inconclusive, and the result is
    None. The gradient is compared with the same derivative, in the product with another direction.

    Raises:
        TimeoutError: there is no result at `end` [s, of `time.perf_counter`].
    """
    simulation = step.simulation
    model = simulation.model
    q_way, v_way, *bars = rng.normal(size=(4, model.n_v))

    def start(t: float) -> State:
        return simulation.state(model.integrate(step.start.q, t * q_way), step.start.v + t * v_way)

    def change(t: float) -> Array:
        if time.perf_counter() > end:
            raise TimeoutError
        moved = simulation.step(start(t), control)
        return np.concatenate([model.difference(step.state.q, moved.q), moved.v - step.state.v])

    tangent = step.jvp(q=q_way, v=v_way)
    found = np.concatenate([tangent.q, tangent.v])
    before: Array | None = None
    # Differences determine the derivative if two consecutive lengths agree.
    for longest in LONGEST:
        told = ridders(change, longest)
        assert told is not None
        size = float(np.abs(told.value).max())
        if before is not None and np.abs(told.value - before).max() <= AGREEMENT * size:
            gradient = step.vjp(*bars)
            pairing = gradient.q @ q_way + gradient.v @ v_way - np.concatenate(bars) @ found
            mismatch = abs(float(pairing)) / size
            error = max(float(np.abs(found - told.value).max()) / size, mismatch)
            # A larger error only counts if all steps of the differences have the same signature.
            ends = (sign * longest * part for sign in (1, -1) for part in (1.0, shortest()))
            same = (simulation.linearize(start(t), control).signature for t in ends)
            if error <= RIGHT or mismatch > RIGHT:
                return error
            if all(signature == step.signature for signature in same):
                nearest = ridders(change, LONGEST[-1])
                assert nearest is not None
                is_off = np.abs(found - nearest.value).max() > 0.5 * error * size
                return error if is_off else None
        before = told.value
    return None
