"""`Rollout`: the states of one or many runs, with their derivatives."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from robosim import parallel
from robosim.errors import SimulationError
from robosim.pickling import Value
from robosim.simulation.arguments import asked_for, engine_errors
from robosim.simulation.axes import one_axis, with_axes
from robosim.simulation.details import StepStatus
from robosim.simulation.gradients import Jacobians, StepGradient
from robosim.simulation.parameters import Key
from robosim.simulation.replay import Replay, spread
from robosim.simulation.state import DRIVES, Control, State

if TYPE_CHECKING:
    from robosim.simulation.simulation import Simulation

__all__ = ["Rollout", "RolloutReport", "roll", "roll_vjp"]

Array = NDArray[np.float64]
Progress = Callable[[int], object]


class RolloutReport(NamedTuple):
    """Report on the steps of a rollout.

    Each field is one number for one run, or an array (...) for many runs.
    """

    status: Any
    """Worst `StepStatus` of all steps."""
    residual: Any
    """Largest residual, as in `StepReport`."""
    contacts: Any
    """Number in the last step, as are rows and islands."""
    rows: Any
    islands: Any
    class_changes: Any
    """Sum over all steps, as are the next three fields."""
    pivots: Any
    coupled_bounces: Any
    untimed_bounces: Any
    attempt: Any
    """Last of the solver's methods that any step needed."""
    first_unsolved: Any
    """Index of the first step that was `relaxed`, `inconsistent` or `diverged`; -1 if none was."""

    @property
    def solved(self) -> Any:
        """True if no step was `relaxed`, `inconsistent` or `diverged`."""
        return self.first_unsolved < 0


@dataclass(frozen=True, eq=False, repr=False)
class Rollout(Value):
    """States of one run, or of many runs with leading axes: every `interval`-th state and the last.

    `Simulation.rollout` makes it. Only states are stored. Derivatives take each step again from its
    state, backward through the run.

    Attributes:
        simulation: the simulation that took the steps.
        control: the control of the steps.
        times: (n,) times of the states [s].
        q: (..., n, n_q) configurations.
        v: (..., n, n_v) velocities.
        steps: number of steps taken.
        interval: number of steps between stored states.
        report: how the steps were solved.
    """

    simulation: Simulation
    control: Control
    times: Array
    q: Array
    v: Array
    steps: int
    interval: int
    report: RolloutReport

    def __repr__(self) -> str:
        what = f"{self.shape} runs of " if self.shape else ""
        return (
            f"<Rollout: {what}{self.steps} steps of {self.simulation.model.name!r},"
            f" {len(self.times)} states kept>"
        )

    @property
    def end(self) -> State:
        """The last state of each run."""
        return State(self.q[..., -1, :], self.v[..., -1, :], float(self.times[-1]))

    @property
    def shape(self) -> tuple[int, ...]:
        """Leading axes of the runs: () for one run."""
        return self.q.shape[:-2]

    def vjp(
        self,
        q_bar: ArrayLike | None = None,
        v_bar: ArrayLike | None = None,
        *,
        by: Collection[str] = DRIVES,
        progress: Progress | None = None,
    ) -> StepGradient:
        """Gradient of a loss of all stored states in everything that the runs depend on.

        Goes backward from the last step, on several threads if there are many runs. The result is
        the same to the bit for any number of threads, and for any interval if the loss depends on
        the same states. Ctrl-C interrupts it.

        Args:
            q_bar: (..., n, n_v) gradient of the loss in each q, in its tangent space; None for
                zero.
            v_bar: (..., n, n_v) gradient of the loss in each v; None for zero.
            by: controls whose gradients are kept; gradients of other controls have no rows. In long
                runs these gradients are larger than the states.
            progress: called about every thousand steps with the number of steps gone back. An
                exception from it ends the computation.

        Raises:
            SimulationError: an array has the wrong shape or is not finite.
        """
        given = self.simulation, self.q, self.v, self.steps, self.control, self.interval
        return roll_vjp(*given, q_bar, v_bar, by=by, progress=progress)

    def jacobians(self, *by: Key, progress: Progress | None = None) -> Jacobians:
        """Derivatives of the state after each step in the state before, the control and parameters.

        Runs on several threads. The result is the same to the bit for any number of threads and any
        interval. Ctrl-C interrupts it.

        Args:
            by: as in `Linearization.jacobians`. The Jacobians of a long run take much memory.
            progress: called about every thousand steps with the number of steps whose Jacobians are
                computed.

        Returns:
            Jacobians with the axes (..., steps) in front.

        Raises:
            SimulationError: as in `Linearization.jacobians`.

        Example:
            >>> import robosim
            >>> from robosim.simulation import Simulation
            >>> from robosim.world import World
            >>> cart = Simulation(World(robosim.load_robot("cart_pole")), dt=0.01)
            >>> cart.rollout(cart.state([0.0, 0.3]), 20).jacobians("q", "v", "tau").tau.shape
            (20, 2, 2, 2)
        """
        simulation = self.simulation
        wanted, keys, columns = simulation._wanted(by)
        shape = self.shape
        drive = _Drive.of(split_control(simulation, self.control, self.steps), self.steps, shape)
        q, v = one_axis(self.q, shape), one_axis(self.v, shape)
        with engine_errors():
            found = simulation._engine.run_jacobians(
                (q, v),
                self.steps,
                self.interval,
                drive.is_shared,
                drive.arrays,
                parallel.of_call(),
                progress,
                wanted,
                columns,
            )
        return simulation._jacobians(found, keys, shape)

    def replay(self, *, rate: float = 60.0) -> Replay:
        """States of one run with the contact forces that act there, for display by
        `robosim.viewer`.

        The steps from these states are taken again, the same to the bit. At the last state of the
        run, an extra step is taken with the control of the step before.

        Args:
            rate: states per second [Hz], at most as many as the run has. The rate is reduced where
                the replay would have more than 3600 states.

        Raises:
            SimulationError: the rate is not positive, or there are many runs.
        """
        if self.shape:
            raise SimulationError(f"these are runs of shape {self.shape}; a replay must be of one")
        split = split_control(self.simulation, self.control, self.steps)
        rows = _Drive.of(split, self.steps, ()).arrays
        chosen = spread(self.times, rate)
        contacts = []
        for i in chosen:
            k = max(min(i * self.interval, self.steps - 1), 0)
            control = Control(*(row if row is None or row.ndim == 1 else row[k] for row in rows))
            state = State(self.q[i], self.v[i])
            contacts.append(self.simulation.linearize(state, control).contacts)
        return Replay(self.times[chosen], self.q[chosen], contacts)


class _Drive(NamedTuple):
    """Arrays of a control in the engine's layout: shared by all runs, or for each run."""

    is_shared: bool
    arrays: tuple[Array | None, Array | None, Array | None]
    """(steps, n) or (n,) if shared by all runs, else (m, steps, n)."""

    @classmethod
    def of(cls, split: _Split, steps: int, shape: tuple[int, ...]) -> _Drive:
        """Return the drive of runs with these leading axes, from the result of `split_control`."""
        if all(
            x is None or x.ndim == own or prod(x.shape[: x.ndim - own]) == 1 for x, own in split
        ):

            def of_all(x: Array | None, own: int) -> Array | None:
                if x is None:
                    return None
                rows: Array = x if x.ndim == own else x.reshape(x.shape[x.ndim - own :])
                return (
                    rows if own == 1 or len(rows) == steps else rows[0]
                )  # a single row for all steps has no axis of steps

            tau, q_target, v_target = [of_all(x, own) for x, own in split]
            return cls(True, (tau, q_target, v_target))
        m = prod(shape)

        def of_each(x: Array | None, own: int) -> Array | None:
            if x is None:
                return None
            rows = x if own == 2 else x[..., None, :]
            n = rows.shape[-1]
            return np.broadcast_to(rows, (*shape, steps, n)).reshape(m, steps, n)

        tau, q_target, v_target = (of_each(x, own) for x, own in split)
        return cls(False, (tau, q_target, v_target))


_Split = list[tuple[Array | None, int]]


def split_control(simulation: Simulation, control: Control, steps: int) -> _Split:
    """Return the control's arrays, each with its number of own axes.

    The number is 1 for an array that is shared by all steps, and 2 for an array with a row for each
    step.

    Raises:
        SimulationError: an array has the wrong shape.
    """
    model = simulation.model
    found: _Split = []
    for name, value in zip(DRIVES, (control.tau, control.q_target, control.v_target), strict=True):
        if value is None:
            found.append((None, 0))
            continue
        n = model.n_q if name == "q_target" else model.n_v
        try:
            array = np.asarray(value, dtype=np.float64)
        except (TypeError, ValueError):
            raise SimulationError(f"{name} is not an array of numbers") from None
        own = 1 if array.ndim == 1 else 2
        if (
            array.ndim == 0
            or array.shape[-1] != n
            or (own == 2 and array.shape[-2] not in (1, steps))
        ):
            raise SimulationError(
                f"{name} has shape {array.shape}; it must be ({n},), or (..., {steps}, {n}) with a"
                f" row for each step, or (..., 1, {n}) of all steps"
            )
        found.append((array, own))
    return found


def roll(
    simulation: Simulation,
    q: Array,
    v: Array,
    time: float,
    steps: int,
    control: Control,
    interval: int,
    progress: Progress | None,
) -> Rollout:
    """Run from states q (..., n_q), v (..., n_v), which broadcast with the control's leading
    axes."""
    model = simulation.model
    split = split_control(simulation, control, steps)
    leading = {"q": q.shape[:-1], "v": v.shape[:-1]}
    leading |= {
        name: x.shape[: x.ndim - own]
        for name, (x, own) in zip(DRIVES, split, strict=True)
        if x is not None
    }
    shape = q.shape[:-1]
    if any(axes != shape for axes in leading.values()):
        try:
            shape = np.broadcast_shapes(*leading.values())
        except ValueError:
            shapes = ", ".join(f"{name} {axes}" for name, axes in leading.items() if axes)
            raise SimulationError(f"leading axes must broadcast; they are of {shapes}") from None
    drive = _Drive.of(split, steps, shape)
    for name, x, n in ("q", q, model.n_q), ("v", v, model.n_v):
        if x.shape[-1] != n:
            raise SimulationError(f"{name} has shape {x.shape}; it must be (..., {n})")
    starts = [_of_each_run(x, shape) for x in (q, v)]
    with engine_errors():
        (qs, vs), reports = simulation._engine.run(
            (starts[0], starts[1]),
            steps,
            interval,
            drive.is_shared,
            drive.arrays,
            parallel.of_call(),
            progress,
        )
    times = np.full(steps + 1, simulation.dt)
    times[0] = time
    np.add.accumulate(times, out=times)  # one by one, as in single steps
    kept = [*range(0, steps, interval), steps]
    qs, vs = with_axes(qs, shape), with_axes(vs, shape)
    return Rollout(
        simulation, control, times[kept], qs, vs, steps, interval, _report(reports, shape)
    )


def _of_each_run(x: Array, shape: tuple[int, ...]) -> Array:
    """Return the states (..., n) of all runs with these leading axes, as (m, n)."""
    whole = x if x.shape[:-1] == shape else np.broadcast_to(x, (*shape, x.shape[-1]))
    return one_axis(whole, shape)


def roll_vjp(
    simulation: Simulation,
    q: Array,
    v: Array,
    steps: int,
    control: Control,
    interval: int,
    q_bar: ArrayLike | None,
    v_bar: ArrayLike | None,
    *,
    by: Collection[str] = DRIVES,
    progress: Progress | None = None,
) -> StepGradient:
    """Gradient of a loss of the stored states q (..., n, n_q), v (..., n, n_v) of runs.

    See `Rollout.vjp`.
    """
    shape, own = q.shape[:-2], (q.shape[-2], simulation.model.n_v)
    drive = _Drive.of(split_control(simulation, control, steps), steps, shape)
    bars = [_bar(x, shape, own, name) for x, name in ((q_bar, "q_bar"), (v_bar, "v_bar"))]
    wanted = asked_for(by, DRIVES, "a control has")
    with engine_errors():
        found = simulation._engine.run_vjp(
            (one_axis(q, shape), one_axis(v, shape)),
            (bars[0], bars[1]),
            steps,
            interval,
            drive.is_shared,
            drive.arrays,
            parallel.of_call(),
            progress,
            wanted,
        )
    return simulation._gradient(found, leading=shape)


def _bar(given: ArrayLike | None, shape: tuple[int, ...], own: tuple[int, int], name: str) -> Array:
    """Return the gradient of a loss in each state as (m, n, n_v)."""
    if given is None:
        return np.zeros((prod(shape), *own))
    try:
        array = np.asarray(given, dtype=np.float64)
        return one_axis(np.broadcast_to(array, (*shape, *own)), shape)
    except (TypeError, ValueError):
        expected = ", ".join(map(str, (*shape, *own)))
        raise SimulationError(
            f"{name} has shape {np.shape(given)}; it must broadcast to ({expected})"
        ) from None


def _report(reports: Any, shape: tuple[int, ...]) -> RolloutReport:
    # Fields are arrays, or lists of names.
    found = (getattr(reports, name) for name in RolloutReport._fields)
    if shape:
        return RolloutReport._make(np.asarray(x).reshape(shape) for x in found)
    status, *rest = (x[0] if isinstance(x, list) else x.item() for x in found)
    return RolloutReport._make([StepStatus(status), *rest])
