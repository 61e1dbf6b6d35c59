"""Errors of the derivatives of steps, from differences of the steps themselves.

A direction is *compared* if the step has one signature (`Simulation.signature`: features, modes,
and for `pgs` the outcome of every update) at all points of the differences. The longest of a few
lengths for which this is true is used. Otherwise the derivative is compared with one-sided
differences, and with the derivative of the same step in dual numbers with fixed modes and features
(`frozen_step.py`). The errors of the differences themselves are estimated by extrapolation. If the
estimate is above a quarter of the bar, the direction is *coarse*: it is counted separately and
compared with the estimate alone.
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
# Relative to the velocities involved. Beyond it the impulses are another choice, or undetermined.
SAME_IMPULSES = 1e-9
FROZEN_EVERY = 10  # every tenth state is compared with dual numbers even if not `apart`
CURVATURE_BAR = 1e-7  # in addition to ten times the error estimate of the second-order product
COARSE = 0.25 * BAR
RESULTS = ("q+", "v+")
CHANGES = (1e-2, 1e-3, 1e-4, 1e-5)  # [m/s, rad/s] change of the velocity over longest differences
# Shortest differences: [m/s, rad/s] of the new velocity, or of its change in free flight. A step is
# nearly linear over such lengths. Two differences are then accurate enough, with the rounding error
# of the shortest of seven.
CLOSEST, CLOSEST_ROWS = 1e-6, 2
LONGEST = 1e-2  # [m, rad, m/s, rad/s, N, N m] change of an argument
# Lower bound of a block's size in relative errors, as a fraction of its usual size.
SMALL = 1e-2
CHUNK = 100  # number of cases that share a direction of parameters, which needs worlds of its own


class Length(NamedTuple):
    """Length of the longest differences of a tableau, and its number of rows."""

    length: float
    rows: int


class Failure(NamedTuple):
    """A derivative that differs from the derivative of its step.

    Attributes:
        scene, solver, seed, case: identification; `case` counts from 0.
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
    """Results for one scene and one solver.

    Attributes:
        states: number of states.
        apart: states with a direction of an argument along which modes or features change, or whose
            gradient reports `one_sided`.
        flagged: states whose gradient reports `one_sided`.
        unsolved: states whose step is `inconsistent`, left out.
        worst: the largest error of each block and kind of parameters that was compared.
        at: the case with that error.
        compared, coarse: numbers of directions.
        switched: directions along which something changes.
        sides, worst_side: number of directions compared with one-sided differences, and the largest
            error.
        flagged_sides, unmatched: the same if the gradient reports that it is one-sided, and the
            number of gradients that match neither side.
        coarse_sides: directions where differences over shorter lengths deviate by as much as the
            derivative does.
        kinks: directions along which something changes on both sides at once, or too near for
            differences.
        frozen, worst_frozen: states that were compared with the step in dual numbers, and the
            largest difference.
        undetermined: states `apart` whose impulses the modes do not determine, or that touch
            triangle meshes.
        products: the largest difference between a gradient and the Jacobians.
        curvatures: asymmetry of second-order products along two directions, of each state that has
            them and is not one-sided, relative to the sum of terms.
        failures: derivatives that violate a bar.
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
    """Comparison of the derivatives of one scene's steps with one solver.

    Args:
        scene: scene with contact.
        solver: solver of the rows.
        seed: of states and directions.
    """

    def __init__(self, scene: ContactScene, solver: str, seed: int):
        self._scene, self._solver, self._seed = with_solver(scene, solver), solver, seed
        self._simulation = self._scene.world.simulation()
        self._model = self._simulation.model
        self.tally = Tally(scene.name, solver)
        self._frozen = FrozenStep(self._scene.world, self._simulation)
        # Change of the new velocity with each argument in free flight.
        model, motors = self._model, scene.world.motors.values()
        light = 1 / min(np.diag(model.mass_matrix(scene.target)).min(), 1.0)
        push = self._simulation.dt * light
        self._usual = {
            "q": 1.0, "v": 1.0, "tau": push,
            "q_target": push * max((motor.position_gain for motor in motors), default=0.0),
            "v_target": push * max((motor.velocity_gain for motor in motors), default=0.0),
        }  # fmt: skip

    def run(self, states: int, *, parameters: bool = True) -> Tally:
        """Compare `states` states, half of them resting, with parameters or the Jacobians alone."""
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
        """Return a function of the change (2, n_v) of the next state from the start's.

        The function returns None if the modes or features of the step are different.
        """

        def values(state: State, control: Control) -> Array | None:
            if simulation.linearize(state, control).signature != start.signature:
                return None
            after = simulation.step(state, control)
            return np.stack(
                [self._model.difference(start.after.q, after.q), after.v - start.after.v]
            )

        return values

    def _arguments(self, number: int, case: Case) -> Start | None:
        """Compare the Jacobians at a state.

        Returns None if the step is unsolved or its gradient is one-sided.
        """
        simulation, model, tally = self._simulation, self._model, self.tally
        step = simulation.linearize(*case[:2])
        if step.report.status == StepStatus.inconsistent:
            tally.unsolved += 1
            return None
        # Step, Jacobians and gradient at the state.
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
        # For each argument: products of gradients with matrices, then differences along a
        # direction.
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
        # The same step in dual numbers.
        if is_apart or number % FROZEN_EVERY == 0:
            self._judge_frozen(number, case, jacobians, scales)
        return None if jacobians.one_sided else start

    def _parameters(self, cases: list[tuple[int, Case, Start]], rng: np.random.Generator) -> None:
        """Compare columns of each kind of parameters along a direction, and gradients with them."""
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
                # A difference below the rounding of the step counts as zero, as for friction that
                # sweeps have almost converged.
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
        """Compare two blocks along a direction with differences.

        Args:
            number: of the case.
            blocks: names of the two.
            expected: (2, k) the derivative.
            scale: (2,) the largest entry of each block.
            along: (2, k) differences from the start; None if modes or features are different.
            lengths: of differences, the longest first.
            rounding: (2,) of the two results.
            flagged: True if the derivative reports that it is one-sided.

        Returns:
            True if modes and features are the same at all points of some differences.
        """
        tally = self.tally
        if not flagged:
            found: list[Array] = []
            # Rounding error of the differences, over the shortest differences of the best tableau.
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
                    # The error estimate is at least the variation between lengths.
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
        """Compare an error with the bar; both numbers are relative to the block.

        Args:
            number: of the case.
            block: name of the block.
            error: deviation of the differences from the derivative.
            exact: error estimate of the differences.
        """
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
        """Compare the Jacobians with the step in dual numbers with the same modes and features."""
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
        """Compare the JVP along a direction of all arguments and parameters with the gradient."""
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
        """Compare second-order products along two directions, which are symmetric."""
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
    """A step whose derivative is compared: its end, its signature, and its rounding (2,)."""

    after: State
    signature: bytes

    rounding: Array


def rounding_of(state: State, after: State, jacobians: Jacobians) -> Array:
    """Rounding (2,) of the next q and v.

    Half a unit in the last place of the largest number, and the effect of q's rounding on v.
    """
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
    """Errors of a derivative against one-sided differences, relative to the blocks.

    A side counts if the step has the same modes and features on it. There is one entry for this
    length and each shorter one, with the deviation from the next shorter length: where a contact
    slides very slowly the step is nearly a kink, and smooth only over lengths too short for
    `length`. Lengths too short for the rounding of the values, which differences amplify 104 / 12
    times, are left out.
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
    """Largest deviation of two derivatives, relative to the blocks."""
    return float((np.abs(a - b).max(axis=1) / scale).max())


def displaced(
    integrate: Callable[[Array, Array], Array], case: Case, name: str, by: Array
) -> tuple[State, Control]:
    """Return state and control with one of their arrays displaced."""
    state, control = case.state, case.control
    if name == "q":
        return State(integrate(state.q, by), state.v), control
    if name == "v":
        return State(state.q, state.v + by), control
    arrays = {x: np.asarray(getattr(control, x)) for x in ("tau", "q_target", "v_target")}
    arrays[name] = arrays[name] + by
    return state, Control(**arrays)


def compared(name: str, solver: str, states: int, seed: int, *, parameters: bool = True) -> Tally:
    """Compare one scene with one solver, with gradients by parameters or the Jacobians alone."""
    return Comparison(SCENES[name](), solver, seed).run(states, parameters=parameters)
