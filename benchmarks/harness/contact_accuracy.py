"""How exact the derivatives of steps are, compared with differences of the steps themselves.

A direction is *compared* where the step has one signature (`Simulation.signature`: features,
classes, of `pgs` at every update) at all points of the differences, with the longest of a few
lengths for which that holds. Elsewhere the derivative is compared with differences towards one
side, and with that of the same step in dual numbers, its classes and features held
(`frozen_step.py`). Differences have errors of their own, which extrapolation tells: where these are
above a quarter of the bar they are *coarse*, counted apart and held against them alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from harness.frozen_step import ARGUMENTS, FrozenStep
from harness.ridders import ROWS, one_sided, ridders, shortest
from harness.touching_scenes import SCENES, Case, ContactScene, with_solver
from harness.varied_world import Array, groups
from robosim import _engine
from robosim.simulation import Control, Jacobians, Simulation, State, StepGradient, StepStatus

SOLVERS = _engine.row_solvers
BAR, ONE_SIDED_BAR, PRODUCT_BAR, FROZEN_BAR = 1e-8, 1e-5, 1e-12, 1e-10
# Relative to the velocities at play; beyond it they are another choice, or undetermined.
SAME_IMPULSES = 1e-9
FROZEN_EVERY = 10  # which of the states that are not apart are compared with dual numbers, too
CURVATURE_BAR = 1e-7  # beside ten times what second-order products say of themselves
COARSE = 0.25 * BAR
RESULTS = ("q+", "v+")
CHANGES = (1e-2, 1e-3, 1e-4, 1e-5)  # [m/s, rad/s] of the new velocity over the longest differences
# Over shorter ones a step is straight: two differences tell as much, and rounding is that of the
# shortest of seven.
# [m/s, rad/s] of the new velocity, or of what it would change by in the air.
CLOSEST, CLOSEST_ROWS = 1e-6, 2
LONGEST = 1e-2  # [m, rad, m/s, rad/s, N, N m] of an argument
# Blocks below this part of what they usually are count as if they were as large as that.
SMALL = 1e-2
CHUNK = 100  # cases for which a direction of parameters is kept: each needs worlds of its own


class Length(NamedTuple):
    """The longest differences of a tableau, and of how many it is."""

    length: float
    rows: int


class Failure(NamedTuple):
    """A derivative that is not that of its step.

    Attributes:
        scene, solver, seed, case: where; `case` counts from 0.
        what: the block, or the kind of parameters.
        error: relative to the largest entry of the block.
    """

    scene: str
    solver: str
    seed: int
    case: int
    what: str
    error: float


@dataclass
class Tally:
    """What was found in one scene with one solver.

    Attributes:
        states: how many, and of them those `apart`: with a direction of an argument along which
        classes or features
            change, or whose gradient says `one_sided`.
        flagged: those that say so.
        unsolved: states whose step is `inconsistent`, left out.
        worst: the largest error of each block and kind of parameters that was compared.
        at: the case that has it.
        compared, coarse: how many directions.
        switched: directions along which something changes.
        sides, worst_side: of them how many were compared towards one side, and the largest error.
        flagged_sides, unmatched: the same where the gradient says that it is of one side, and how
        many of these are of
            neither that was compared.
        coarse_sides: those where differences over shorter lengths differ by as much as they do from
        the derivative.
        kinks: of them those where something changes on either side at once, or so near that
        differences cannot tell.
        frozen, worst_frozen: states that were compared with the step in dual numbers, and the
        largest difference.
        undetermined: those apart whose impulses the classes do not determine, or that touch meshes
        of triangles.
        products: the largest difference of a gradient from the matrices.
        curvatures: of each state that has second-order products, not of one side, how far one along
        a direction, taken
            along another, is from the other along the first, relative to the sum of its terms.
        failures: what does not hold.
    """

    scene: str
    solver: str
    states: int = 0
    apart: int = 0
    flagged: int = 0
    unsolved: int = 0
    worst: dict[str, float] = field(default_factory=dict)
    at: dict[str, int] = field(default_factory=dict)
    compared: Counter[str] = field(default_factory=Counter)
    coarse: Counter[str] = field(default_factory=Counter)
    switched: Counter[str] = field(default_factory=Counter)
    sides: int = 0
    coarse_sides: int = 0
    worst_side: float = 0.0
    flagged_sides: int = 0
    unmatched: int = 0
    kinks: int = 0
    frozen: int = 0
    worst_frozen: float = 0.0
    undetermined: int = 0
    products: float = 0.0
    curvatures: list[float] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)


class Comparison:
    """Derivatives of the steps of one scene with one solver.

    Args:
        scene: in which things touch.
        solver: of the rows.
        seed: of states and directions.
    """

    def __init__(self, scene: ContactScene, solver: str, seed: int):
        self._scene, self._solver, self._seed = with_solver(scene, solver), solver, seed
        self._simulation = self._scene.world.simulation()
        self._model = self._simulation.model
        self.tally = Tally(scene.name, solver)
        self._frozen = FrozenStep(self._scene.world, self._simulation)
        # How much the new velocity changes with an argument where nothing touches.
        model, motors = self._model, scene.world.motors.values()
        light = 1 / min(np.diag(model.mass_matrix(scene.target)).min(), 1.0)
        push = self._simulation.dt * light
        self._usual = {
            "q": 1.0, "v": 1.0, "tau": push,
            "q_target": push * max((motor.position_gain for motor in motors), default=0.0),
            "v_target": push * max((motor.velocity_gain for motor in motors), default=0.0),
        }  # fmt: skip

    def run(self, states: int, *, parameters: bool = True) -> Tally:
        """Compares this many states, half of them resting; with parameters or the Jacobians
        alone."""
        cases = list(enumerate(self._scene.cases(self._simulation, states, self._seed)))
        for first in range(0, states, CHUNK):
            chunk = cases[first : first + CHUNK]
            starts = [(number, case, self._arguments(number, case)) for number, case in chunk]
            if not parameters:
                continue
            self._parameters(
                [(number, case, start) for number, case, start in starts if start is not None],
                np.random.default_rng([self._seed, first]),
            )
        return self.tally

    def _moved(
        self, simulation: Simulation, case: Case, start: Start
    ) -> Callable[..., Array | None]:
        """(2, n_v): how far the next state is from what it is at the start; None where the step is
        another one."""

        def values(state: State, control: Control) -> Array | None:
            if simulation.linearize(state, control).signature != start.signature:
                return None
            after = simulation.step(state, control)
            return np.stack(
                [self._model.difference(start.after.q, after.q), after.v - start.after.v]
            )

        return values

    def _arguments(self, number: int, case: Case) -> Start | None:
        """Compares the Jacobians at a state; None where its step is not solved, or the gradient is
        of one side."""
        simulation, model, tally = self._simulation, self._model, self.tally
        step = simulation.linearize(*case[:2])
        if step.report.status == StepStatus.inconsistent:
            tally.unsolved += 1
            return None
        rng = np.random.default_rng([self._seed, number])
        jacobians = step.jacobians()
        rounding = rounding_of(case.state, step.state, jacobians)
        start = Start(step.state, step.signature, rounding)
        tally.states += 1
        tally.flagged += bool(jacobians.one_sided)
        bars = rng.normal(size=(2, model.n_v))
        gradient = step.vjp(*bars)
        values = self._moved(simulation, case, start)
        is_apart = jacobians.one_sided
        scales = {}
        self._judge_tangent(number, simulation, case, bars, gradient)
        self._judge_curvature(number, simulation, case, bars)
        for name in ARGUMENTS:
            matrices = getattr(jacobians, name)
            usual = self._usual[name] * np.array([simulation.dt, 1.0])
            if name == "q":
                usual[0] = 1.0
            if not usual.any():
                continue
            scale = scales[name] = np.maximum(np.abs(matrices).max(axis=(1, 2)), SMALL * usual)
            product = np.abs(getattr(gradient, name) - np.einsum("ri,rij->j", bars, matrices)).max()
            size = np.abs(bars).sum(axis=1) @ np.maximum(scale, usual)
            self._judge_product(number, name, product / size)
            direction = rng.uniform(-1, 1, matrices.shape[2])
            if name == "q_target":
                direction = direction[: model.n_q]
            expected = matrices @ direction
            way = (expected[0] - direction if name == "q" else expected[0]) / simulation.dt
            rate = max(np.abs(expected[1]).max(), np.abs(way).max(), 1e-300)
            lengths = [
                Length(min(change / rate, LONGEST * (change / CHANGES[0]) ** 0.5), ROWS)
                for change in CHANGES
            ]
            lengths.append(Length(CLOSEST / max(rate, self._usual[name]), CLOSEST_ROWS))

            def along(t: float, name: str = name, d: Array = direction) -> Array | None:
                return values(*displaced(model.integrate, case, name, t * d))

            blocks = [f"{result} by {name}" for result in RESULTS]
            same = self._compare(
                number,
                blocks,
                expected,
                scale,
                along,
                lengths,
                start.rounding,
                flagged=jacobians.one_sided,
            )
            is_apart |= not same
        tally.apart += bool(is_apart)
        if is_apart or number % FROZEN_EVERY == 0:
            self._judge_frozen(number, case, jacobians, scales)
        return None if jacobians.one_sided else start

    def _parameters(self, cases: list[tuple[int, Case, Start]], rng: np.random.Generator) -> None:
        """Compares the columns of each kind of parameters along one direction, and gradients with
        these."""
        simulation = self._simulation
        kinds = groups(simulation)
        states = []
        for number, case, start in cases:
            bars = np.random.default_rng([self._seed, number, 1]).normal(size=(2, self._model.n_v))
            step = simulation.linearize(case.state, case.control)
            gradient, columns = step.vjp(*bars), step.jacobians(*[group.name for group in kinds])
            states.append((number, case, start, bars, gradient, columns))
        for group in kinds if states else ():
            direction = group.direction(rng)
            worlds: dict[float, Simulation] = {}
            told = [group.columns_along(columns, direction) for *_, columns in states]
            usual = np.max([largest for _, largest in told], axis=0)
            for (number, case, start, bars, gradient, _), (expected, largest) in zip(
                states, told, strict=True
            ):
                scale = np.maximum(largest, SMALL * usual)
                if not scale.all():
                    continue
                loads = np.abs(bars).sum(axis=1)
                product = abs(group.along(gradient, direction) - np.sum(bars * expected))
                # Less than rounding of the step is nothing, as of friction that sweeps have all but
                # settled.
                product = max(0.0, product - loads @ start.rounding)
                self._judge_product(
                    number, group.name, product / (loads @ scale * np.count_nonzero(group.units))
                )

                def along(
                    t: float, case: Case = case, start: Start = start,
                    worlds: dict[float, Simulation] = worlds, change=group.changed,
                    d: Array = direction,
                ) -> Array | None:  # fmt: skip
                    if t not in worlds:
                        worlds[t] = change(t * d)
                    return self._moved(worlds[t], case, start)(case.state, case.control)

                blocks = [f"{result} by {group.name}" for result in RESULTS]
                self._compare(
                    number,
                    blocks,
                    expected,
                    scale,
                    along,
                    [Length(x, ROWS) for x in group.steps],
                    start.rounding,
                    flagged=False,
                )

    def _compare(
        self,
        number: int,
        blocks: list[str],
        expected: Array,
        scale: Array,
        along: Callable[[float], Array | None],
        lengths: list[Length],
        rounding: Array,
        *,
        flagged: bool,
    ) -> bool:
        """Judges two blocks along a direction; whether the step is one formula about the state.

        Args:
            number: of the case.
            blocks: names of the two.
            expected: (2, k) the derivative.
            scale: (2,) the largest entry of each block.
            along: (2, k) differences from the start, None where it is another step.
            lengths: of differences, the longest first.
            rounding: (2,) of the two results.
            flagged: whether the derivative says that it is of one side.
        """
        tally = self.tally
        if not flagged:
            found: list[Array] = []
            # What rounding makes of differences, over the shortest ones of those that are best off.
            ulps = np.inf
            for length, rows in lengths:
                derivative = ridders(along, length, rows)
                if derivative is None:
                    continue
                errors, ulps = (
                    np.abs(derivative.value - expected).max(axis=1),
                    np.minimum(ulps, rounding / (shortest(rows) * length)),
                )
                found.append(np.stack([errors, derivative.error.max(axis=1)]))
                if (errors <= BAR * scale).all():
                    break
            if found:
                for block, (errors, own), least, size in zip(
                    blocks, np.stack(found).transpose(2, 1, 0), ulps, scale, strict=True
                ):
                    # Lengths that differ among each other are no better than that.
                    exact = max(float(own.min()), float(np.ptp(errors)), float(least))
                    self._judge(number, block, float(errors.min()) / size, exact / size)
                return True
        for block in blocks:
            tally.switched[block] += 1
        longest = [length for length, rows in lengths if rows == ROWS]
        sides = one_sided_errors(along, longest[-1], expected, scale, rounding)
        if not sides:
            tally.kinks += 1
            return False
        tally.flagged_sides += flagged
        tally.sides += not flagged
        error, exact = min(sides)
        if flagged:
            tally.unmatched += error > ONE_SIDED_BAR
            return False
        if ONE_SIDED_BAR < error <= 10 * exact:
            tally.coarse_sides += 1
            return False
        tally.worst_side = max(tally.worst_side, error)
        if error > ONE_SIDED_BAR:
            tally.failures.append(self._failure(number, f"{' and '.join(blocks)}, one side", error))
        return False

    def _judge(self, number: int, block: str, error: float, exact: float) -> None:
        """How far differences are from the derivative, and how exact they are, relative to the
        block."""
        tally = self.tally
        if error > BAR and exact > COARSE:
            tally.coarse[block] += 1
            if error > 10 * exact:
                tally.failures.append(self._failure(number, f"{block}, coarse", error))
            return
        tally.compared[block] += 1
        if error >= tally.worst.get(block, -1.0):
            tally.worst[block], tally.at[block] = float(error), number
        if not error <= BAR:
            tally.failures.append(self._failure(number, block, error))

    def _judge_frozen(
        self, number: int, case: Case, jacobians: Jacobians, scales: dict[str, Array]
    ) -> None:
        """Compares the Jacobians with the step in dual numbers, with the classes and features that
        it has."""
        rng, tally = np.random.default_rng([self._seed, number, 4]), self.tally
        details = self._simulation.linearize(case.state, case.control)
        matrices = {name: getattr(jacobians, name) for name in ARGUMENTS}
        directions = {
            name: rng.uniform(-1, 1, self._model.n_q if name == "q_target" else matrix.shape[2])
            for name, matrix in matrices.items()
        }
        found = (
            self._frozen.along(case, directions, details) if self._frozen.knows(details) else None
        )
        if found is None or found.apart > SAME_IMPULSES:
            tally.undetermined += 1
            return
        tally.frozen += 1
        for k, name in enumerate(ARGUMENTS):
            for row, (result, rates) in enumerate(zip(RESULTS, (found.q, found.dv), strict=True)):
                if name not in scales:
                    continue
                error = (
                    np.abs(matrices[name][row] @ directions[name] - rates[:, k]).max()
                    / scales[name][row]
                )
                tally.worst_frozen = max(tally.worst_frozen, float(error))
                if not error <= FROZEN_BAR:
                    what = f"{result} by {name}, dual numbers"
                    tally.failures.append(self._failure(number, what, float(error)))

    def _judge_tangent(
        self, number: int, simulation: Simulation, case: Case, bars: Array, gradient: StepGradient
    ) -> None:
        """Compares the product with a direction of every number at once with that of the
        gradient."""
        rng = np.random.default_rng([self._seed, number, 2])
        sizes: list[Array] = []

        def of(by: Array) -> Array:
            step = np.where(np.isfinite(by), rng.normal(size=by.shape), 0.0)
            sizes.append((np.nan_to_num(by) * step).ravel())
            return step

        direction = {name: of(getattr(gradient, name)) for name in ARGUMENTS}
        parameters = {name: of(by) for name, by in gradient.parameters.items()}
        tangent = simulation.linearize(case.state, case.control).jvp(
            **direction, parameters=parameters
        )
        terms = np.concatenate(sizes)
        error = abs(bars[0] @ tangent.q + bars[1] @ tangent.v - terms.sum())
        self._judge_product(number, "one direction", error / max(np.abs(terms).sum(), 1.0))

    def _judge_curvature(
        self, number: int, simulation: Simulation, case: Case, bars: Array
    ) -> None:
        """Compares second-order products along two directions with each other: they are
        symmetric."""
        rng, model, dt = np.random.default_rng([self._seed, number, 3]), self._model, simulation.dt
        units = {
            "q": 1.0,
            "v": 1 / dt,
            "tau": self._scene.push,
            "q_target": 1.0,
            "v_target": 1 / dt,
        }
        sizes = {name: model.n_q if name == "q_target" else model.n_v for name in units}
        ways = [
            {name: unit * rng.normal(size=sizes[name]) for name, unit in units.items()}
            for _ in "ab"
        ]
        bars = bars * [[1.0], [dt]]
        step = simulation.linearize(case.state, case.control)
        found = [step.hvp(*bars, **way) for way in ways]
        if any(product.gradient.one_sided for product in found):
            return

        def terms(of: StepGradient, by: dict[str, Array]) -> Array:
            return np.concatenate([getattr(of, name) * step for name, step in by.items()])

        crossed = list(zip(found, reversed(ways), strict=True))
        one, other = (terms(product.gradient, way) for product, way in crossed)
        own = sum(np.abs(terms(product.error, way)).sum() for product, way in crossed)
        size = max(np.abs(one).sum(), np.abs(other).sum(), 1e-300)
        error = abs(one.sum() - other.sum()) / size
        self.tally.curvatures.append(float(error))
        if error > CURVATURE_BAR + 10 * own / size:
            self.tally.failures.append(self._failure(number, "second-order product", float(error)))

    def _judge_product(self, number: int, name: str, error: float) -> None:
        self.tally.products = max(self.tally.products, float(error))
        if not error <= PRODUCT_BAR:
            self.tally.failures.append(self._failure(number, f"product by {name}", float(error)))

    def _failure(self, number: int, what: str, error: float) -> Failure:
        return Failure(self._scene.name, self._solver, self._seed, number, what, float(error))


class Start(NamedTuple):
    """The step that is derived: where it ends, its signature, and (2,) the rounding of its
    results."""

    after: State
    signature: bytes

    rounding: Array


def rounding_of(state: State, after: State, jacobians: Jacobians) -> Array:
    """(2,) of the next q and v: half a unit in the last place of the largest number, and what that
    of q makes of v."""
    place, speed = max(np.abs(after.q).max(), 1.0), np.abs(after.v).max()
    return 1.1e-16 * np.array(
        [place, speed + np.abs(jacobians.q[1]).max() * max(np.abs(state.q).max(), 1.0)]
    )


def one_sided_errors(
    along: Callable[[float], Array | None],
    length: float,
    expected: Array,
    scale: Array,
    rounding: Array,
) -> list[tuple[float, float]]:
    """Of the derivative towards either side, where the step is the same one on it, relative to the
    blocks.

    Over this length and shorter ones, each with how far it is from the next shorter: where
    something slides very slowly the step is nearly a kink, and smooth only over lengths too short
    for this. None over a length that is too short to tell: rounding of the values comes into
    differences 104 / 12 times.
    """
    found = []
    for sign in (1, -1):
        values = [
            one_sided(lambda t, sign=sign: along(sign * t), length * 0.1**k) for k in range(4)
        ]
        for k in range(3):
            here, next_one = values[k], values[k + 1]
            if (
                here is None
                or (9 * rounding / (length * 0.1**k) > 0.1 * ONE_SIDED_BAR * scale).any()
            ):
                continue
            exact = 0.0 if next_one is None else apart(here, next_one, scale)
            found.append((apart(sign * here, expected, scale), exact))
    return found


def apart(a: Array, b: Array, scale: Array) -> float:
    """How far two derivatives are from each other, relative to the blocks."""
    return float((np.abs(a - b).max(axis=1) / scale).max())


def displaced(
    integrate: Callable[[Array, Array], Array], case: Case, name: str, by: Array
) -> tuple[State, Control]:
    """A state and control with one of their arrays moved."""
    state, control = case.state, case.control
    if name == "q":
        return State(integrate(state.q, by), state.v), control
    if name == "v":
        return State(state.q, state.v + by), control
    arrays = {x: np.asarray(getattr(control, x)) for x in ("tau", "q_target", "v_target")}
    arrays[name] = arrays[name] + by
    return state, Control(**arrays)


def compared(name: str, solver: str, states: int, seed: int, *, parameters: bool = True) -> Tally:
    """One scene with one solver; with gradients by parameters or the Jacobians alone."""
    return Comparison(SCENES[name](), solver, seed).run(states, parameters=parameters)
