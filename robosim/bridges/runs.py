"""Common part of the bridges: runs with leading axes, their gradients, and checks of shapes."""

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
"""Arguments of runs, in this order everywhere; parameters follow."""
_DRIVE, _PARAMETERS = slice(2, 5), slice(5, None)
NO_SECOND_DERIVATIVES = (
    "steps have first derivatives in reverse mode only: no second ones, and none in forward mode; "
    "Linearization.jacobians gives the matrices of a step"
)


class OperandShape(NamedTuple):
    """Layout of an operand for `Runs`."""

    padded: tuple[int, ...]
    """The given shape, with ones in front."""
    expanded: tuple[int, ...]
    """The padded shape with a row for each step, where one row stands for all steps."""


@dataclass(frozen=True)
class Runs:
    """A function of arrays and its gradient: runs of one simulation, all with `steps` steps.

    Operands are float64 arrays with the same number of leading axes, each of length 1 or of a
    common length. An operand that is not given is None (never q and v). There is one run per
    leading entry, and all runs are made at once. The hash of `Runs` uses the identity of the
    simulation, as frameworks require.

    Args:
        simulation: the simulation that runs.
        steps: number of steps of each run.
        parameters: names of parameters, as in `Simulation.parameters`, that are operands as well,
            with values that replace those of the simulation.
        interval: number of steps between stored states; the last state is always stored.
        threads: largest number of threads; 0 for `robosim.get_threads`. The default is that of the
            block in which the object is made, since frameworks run it later and on threads of their
            own.
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
        """Number of stored states of each run."""
        return -(-self.steps // self.interval) + 1

    @cached_property
    def core_shapes(self) -> tuple[tuple[int, ...], ...]:
        """Shape of each operand without leading axes."""
        model, names = self.simulation.model, self.simulation._names
        n_q, n_v, steps = model.n_q, model.n_v, self.steps
        of_parameters = (names.select(key).shape for key in self.parameters)
        return ((n_q,), (n_v,), (steps, n_v), (steps, n_q), (steps, n_v), *of_parameters)

    @property
    def _names(self) -> tuple[Any, ...]:
        """Names of the operands, for errors."""
        return (*OPERANDS, *self.parameters)

    def layout(self, shapes: Sequence[tuple[int, ...] | None]) -> list[OperandShape | None]:
        """Return the common layout of operands of these shapes, by NumPy's rules of broadcasting.

        The rules apply to leading axes and to rows of steps.

        Raises:
            SimulationError: an operand has the wrong shape, or leading axes do not broadcast.
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
        """Return the common leading axes."""
        return np.broadcast_shapes(
            *(
                x.shape[: x.ndim - len(core)]
                for x, core in zip(operands, self.core_shapes, strict=True)
                if x is not None
            )
        )

    def forward(self, operands: Sequence[Array | None]) -> tuple[Array, Array, NDArray[np.bool_]]:
        """Return the n stored states, including the first.

        Returns:
            q (..., n, n_q), v (..., n, n_v), and (...) True for runs with a step that was not
            solved.

        Raises:
            SimulationError: as in `Simulation.rollout`.
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
        """Gradient of a loss of all stored states in each operand, for each run by itself.

        Gradients have all leading axes. The gradient of an operand that several runs share is the
        sum over these runs, which the caller must take.

        Args:
            operands: as in `forward`.
            q: (..., n, n_q) result of `forward`.
            v: (..., n, n_v) result of `forward`.
            q_bar: (..., n, n_q) gradient of the loss in the entries of each q.
            v_bar: (..., n, n_v) gradient of the loss in each v.

        Raises:
            SimulationError: as in `Rollout.vjp`.
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
        # The first state is the argument, with quaternions of any length; the other states have
        # unit quaternions.
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
        """Flatten the leading axes.

        There is one axis, of all runs, or of length 1 for shared controls or parameters.
        """
        count = math.prod(leading)
        is_alike = [x is None or math.prod(x.shape[: len(leading)]) == 1 for x in operands]
        is_alike[:2] = False, False
        # Rollouts share all arrays of a control, or none.
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
        """Return the simulations for the distinct parameter values, each with the indices of its
        runs."""
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
        """Return the starts and the control of some runs."""
        q, v, *drive = flat[:5]
        assert q is not None
        assert v is not None
        own = (x if x is None or len(x) == 1 else x[runs] for x in drive)
        return (q[runs], v[runs]), Control(*own)

    def _threads(self) -> AbstractContextManager[None]:
        return nullcontext() if self.threads == 0 else threads(self.threads)
