"""What all bridges share: runs of arrays with any leading axes, their gradients, and which shapes
go together."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from robosim.bridges.entries import from_entries, to_entries
from robosim.errors import SimulationError
from robosim.parallel import of_call, threads
from robosim.simulation import Control, Simulation
from robosim.simulation.parameters import Key
from robosim.simulation.rollout import roll, roll_vjp

__all__ = ["NO_SECOND_DERIVATIVES", "OPERANDS", "OperandShape", "Runs"]

Array = NDArray[np.float64]
OPERANDS = ("q", "v", "tau", "q_target", "v_target")
"""What runs are functions of, in this order everywhere; parameters follow."""
_DRIVE, _PARAMETERS = slice(2, 5), slice(5, None)
NO_SECOND_DERIVATIVES = (
    "steps have first derivatives in reverse mode only: no second ones, and none in forward mode; "
    "Linearization.jacobians gives the matrices of a step"
)


class OperandShape(NamedTuple):
    """How an operand is laid out for `Runs`."""

    padded: tuple[int, ...]
    """As it was given, with ones in front."""
    expanded: tuple[int, ...]
    """With a row for each step, where it had one for all."""


@dataclass(frozen=True)
class Runs:
    """A function of arrays, and its gradient: runs of one simulation, all of `steps` steps.

    Operands are float64 arrays, each with the same number of leading axes and there 1 or the common
    size, and None where one is not given (never q and v). There are as many runs as leading
    entries, all made at once. It is hashed by which simulation it has, as frameworks ask.

    Args:
        simulation: what is run.
        steps: of each run.
        parameters: names of parameters, as of `Simulation.parameters`, that are operands as well,
        and whose values take
            the place of its own.
        interval: every which state is kept, beside the last.
        threads: at most; 0 for as many as `robosim.get_threads` says. By default those of the block
        where it is made:
            frameworks run it later, and on threads of their own.
    """

    simulation: Simulation
    steps: int
    parameters: tuple[Key, ...] = ()
    interval: int = 1
    threads: int = field(default_factory=of_call)

    def __post_init__(self) -> None:
        if self.steps < 0:
            raise SimulationError(f"steps is {self.steps}; it must not be negative")
        if self.interval < 1:
            raise SimulationError(f"interval is {self.interval}; it must be at least 1")

    @property
    def kept(self) -> int:
        """How many states of each run are kept."""
        return -(-self.steps // self.interval) + 1

    @cached_property
    def core_shapes(self) -> tuple[tuple[int, ...], ...]:
        """Of each operand, without leading axes."""
        model, names = self.simulation.model, self.simulation._names
        n_q, n_v, steps = model.n_q, model.n_v, self.steps
        of_parameters = (names.select(key).shape for key in self.parameters)
        return ((n_q,), (n_v,), (steps, n_v), (steps, n_q), (steps, n_v), *of_parameters)

    @property
    def _names(self) -> tuple[Any, ...]:
        """Of the operands, for errors."""
        return (*OPERANDS, *self.parameters)

    def layout(self, shapes: Sequence[tuple[int, ...] | None]) -> list[OperandShape | None]:
        """How operands of these shapes go together, by NumPy's rules of broadcasting: leading axes,
        and rows of steps.

        Raises:
            SimulationError: one has another shape than it must, or leading axes do not go together.
        """
        split: list[tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]] | None] = []
        for name, shape, core in zip(self._names, shapes, self.core_shapes, strict=True):
            if shape is None:
                split.append(None)
                continue
            has_rows = name in OPERANDS[_DRIVE]
            given = shape if len(shape) >= len(core) or not has_rows else (1, *shape)
            own = given[len(given) - len(core) :]
            if own != core and not (has_rows and own == (1, *core[1:])):
                wanted = ", ".join(map(str, core))
                either = f", or ({core[1]},) of all steps" if has_rows else ""
                raise SimulationError(f"{name} has shape {shape}; expected (..., {wanted}){either}")
            split.append((given[: len(given) - len(core)], own, core))
        leading = [parts[0] for parts in split if parts is not None]
        try:
            depth = len(np.broadcast_shapes(*leading))
        except ValueError:
            described = ", ".join(
                f"{name} {shape}"
                for name, shape in zip(self._names, shapes, strict=True)
                if shape is not None
            )
            raise SimulationError(f"leading axes do not go together: {described}") from None
        return [
            None
            if parts is None
            else OperandShape(
                (1,) * (depth - len(parts[0])) + parts[0] + parts[1],
                (1,) * (depth - len(parts[0])) + parts[0] + parts[2],
            )
            for parts in split
        ]

    def leading(self, operands: Sequence[Array | None]) -> tuple[int, ...]:
        """The common leading axes."""
        return np.broadcast_shapes(
            *(
                x.shape[: x.ndim - len(core)]
                for x, core in zip(operands, self.core_shapes, strict=True)
                if x is not None
            )
        )

    def forward(self, operands: Sequence[Array | None]) -> tuple[Array, Array, NDArray[np.bool_]]:
        """The n states that are kept, the first included.

        Returns:
            q (..., n, n_q), v (..., n, n_v), and (...) whether some step was not solved.

        Raises:
            SimulationError: as of `Simulation.rollout`.
        """
        leading, model = self.leading(operands), self.simulation.model
        count = math.prod(leading)
        q, v = np.empty((count, self.kept, model.n_q)), np.empty((count, self.kept, model.n_v))
        unsolved = np.zeros(count, dtype=np.bool_)
        flat = self._flat(operands, leading)
        for simulation, runs in self._worlds(flat, count):
            (q_first, v_first), control = self._of(flat, runs)
            with self._threads():
                found = roll(
                    simulation, q_first, v_first, 0.0, self.steps, control, self.interval, None
                )
            q[runs], v[runs], unsolved[runs] = found.q, found.v, np.logical_not(found.report.solved)
        return (
            q.reshape(*leading, *q.shape[1:]),
            v.reshape(*leading, *v.shape[1:]),
            unsolved.reshape(leading),
        )

    def vjp(
        self, operands: Sequence[Array | None], q: Array, v: Array, q_bar: Array, v_bar: Array
    ) -> list[Array | None]:
        """The gradient of a loss of all states that were kept, by each operand: of each run, with
        all leading axes.

        What is the same in several runs has the sum of theirs, which is left to the caller.

        Args:
            operands: as of `forward`.
            q: (..., n, n_q) what `forward` gave.
            v: (..., n, n_v) likewise.
            q_bar: (..., n, n_q) what the loss changes by with the entries of each q.
            v_bar: (..., n, n_v) and with each v.

        Raises:
            SimulationError: as of `Rollout.vjp`.
        """
        model = self.simulation.model
        leading = np.broadcast_shapes(
            self.leading(operands), *(x.shape[:-2] for x in (q, v, q_bar, v_bar))
        )
        count = math.prod(leading)
        q, v, q_bar, v_bar = (
            np.broadcast_to(x, (*leading, *x.shape[-2:])).reshape(count, *x.shape[-2:])
            for x in (q, v, q_bar, v_bar)
        )
        # The first state is what was given: of any length of quaternion, where the others have unit
        # length.
        t_bar = np.zeros((count, self.kept, model.n_v))
        t_bar[:, 1:] = from_entries(model, q[:, 1:], q_bar[:, 1:])
        flat = self._flat(operands, leading)
        found = [None if x is None else np.empty((count, *x.shape[1:])) for x in flat]
        for simulation, runs in self._worlds(flat, count):
            _, control = self._of(flat, runs)
            made = simulation, q[runs], v[runs], self.steps, control, self.interval
            with self._threads():
                gradient = roll_vjp(*made, t_bar[runs], v_bar[runs])
            columns = [getattr(gradient, name) for name in OPERANDS]
            columns += [gradient.parameters[key] for key in self.parameters]
            columns[0] = to_entries(model, q[runs, 0], columns[0]) + q_bar[runs, 0]
            for out, column in zip(found, columns, strict=True):
                if out is not None:
                    out[runs] = column
        return [None if x is None else x.reshape((*leading, *x.shape[1:])) for x in found]

    def _flat(
        self, operands: Sequence[Array | None], leading: tuple[int, ...]
    ) -> list[Array | None]:
        """With one leading axis: of all runs, or where they share controls or numbers of 1."""
        count = math.prod(leading)
        is_alike = [x is None or math.prod(x.shape[: len(leading)]) == 1 for x in operands]
        is_alike[:2] = False, False
        # As rollouts have it: all of a control, or nothing.
        is_alike[_DRIVE] = [all(is_alike[_DRIVE])] * 3
        is_alike[_PARAMETERS] = [all(is_alike[_PARAMETERS])] * len(self.parameters)
        return [
            None
            if x is None
            else x.reshape(1, *core)
            if alike
            else x.reshape(count, *core)
            if x.shape[: len(leading)] == leading
            else np.broadcast_to(x, (*leading, *core)).reshape(count, *core)
            for x, core, alike in zip(operands, self.core_shapes, is_alike, strict=True)
        ]

    def _worlds(
        self, flat: list[Array | None], count: int
    ) -> list[tuple[Simulation, NDArray[np.intp] | slice]]:
        """The simulations with the numbers that runs have, and which runs each has."""
        if not count:
            return []
        given = [x for x in flat[_PARAMETERS] if x is not None]
        if not given:
            return [(self.simulation, slice(None))]

        def world(k: int) -> Simulation:
            return self.simulation.with_parameters(
                {key: x[k] for key, x in zip(self.parameters, given, strict=True)}
            )

        if len(given[0]) == 1:
            return [(world(0), slice(None))]
        rows = np.concatenate([x.reshape(count, -1) for x in given], axis=1)
        _, first, which = np.unique(rows, axis=0, return_index=True, return_inverse=True)
        return [(world(k), np.flatnonzero(which.reshape(-1) == i)) for i, k in enumerate(first)]

    def _of(
        self, flat: list[Array | None], runs: NDArray[np.intp] | slice
    ) -> tuple[tuple[Array, Array], Control]:
        """Starts and controls of some runs."""
        q, v, *drive = flat[:5]
        assert q is not None
        assert v is not None
        own = (x if x is None or len(x) == 1 else x[runs] for x in drive)
        return (q[runs], v[runs]), Control(*own)

    def _threads(self) -> AbstractContextManager[None]:
        return nullcontext() if self.threads == 0 else threads(self.threads)
