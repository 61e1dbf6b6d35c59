"""What callers give, as the engine takes it: arrays of the right size, forces and targets by runs and steps."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from robosim.errors import SimulationError, suggestion
from robosim.simulation.state import DRIVES, Control, State

__all__ = [
    "Drive",
    "Parts",
    "asked_for",
    "aware",
    "drive_of",
    "drive_rows",
    "each_step",
    "engine_errors",
    "listed",
    "sized",
    "stacked",
    "state_of",
    "thread_count",
]

Array = NDArray[np.float64]
Drive = tuple[ArrayLike | None, ArrayLike | None, ArrayLike | None]
Parts = tuple[ArrayLike, ArrayLike]


def sized(value: ArrayLike, shape: tuple[int, ...], what: str) -> Array:
    """As an array, which has to have this shape; `what` it is, for the error."""
    array = np.asarray(value, dtype=float)
    if array.shape != shape:
        raise SimulationError(f"{what} has shape {array.shape}; expected {shape}")
    return array


def asked_for(by: Collection[str], names: tuple[str, ...], which: str) -> tuple[bool, ...]:
    """Of each name whether it is there."""
    try:
        return _asked_for(tuple(by), names, which)
    except TypeError:  # what cannot be hashed is no name
        return _asked_for.__wrapped__(tuple(by), names, which)


@lru_cache  # asked for by each of many short calls alike
def _asked_for(by: tuple[str, ...], names: tuple[str, ...], which: str) -> tuple[bool, ...]:
    asked = tuple([name in by for name in names])
    if sum(asked) != len(by):  # one is none of them, or there twice
        for name in by:
            if name not in names:
                raise SimulationError(f"by has {name!r}; {which} {', '.join(names)}")
    return asked


def listed(name: str, known: Sequence[str], what: str) -> str:
    """A name of what the engine lists."""
    if name not in known:
        raise SimulationError(f"{what} is {name!r}{suggestion(name, known)}")
    return name


def stacked(arrays: list[Array]) -> Array:
    """One behind the other; a single one, which may be large, is not copied."""
    return arrays[0][np.newaxis] if len(arrays) == 1 else np.stack(arrays)


def aware(value: bool | str) -> str:
    """The engine's name for it."""
    if isinstance(value, bool | np.bool_):
        return "each" if value else "none"
    if isinstance(value, str) and value == "together":
        return value
    raise SimulationError(f"complementarity_aware is {value!r}; it is False, True or 'together'")


def thread_count(threads: int | None) -> int:
    """As the engine has it: 0 for as many as there may be."""
    if threads is not None and threads < 1:
        raise SimulationError(
            f"threads is {threads}; at least 1 is needed, or None for as many as there may be"
        )
    return threads or 0


def state_of(state: State) -> Parts:
    """Its arrays, as the engine takes them."""
    return state.q, state.v


def drive_of(control: Control) -> Drive:
    """Its arrays, in the order of DRIVES."""
    return control.tau, control.q_target, control.v_target


def drive_rows(controls: Control | Sequence[Control], runs: int, steps: int) -> tuple[bool, Drive]:
    """Whether all runs have the same, and its arrays: of all steps or with one row per step; or those of each run."""
    if isinstance(controls, Control):
        return True, drive_of(controls)
    if len(controls) != runs:
        raise SimulationError(f"there are {len(controls)} controls for {runs} runs")
    arrays = []
    for name, of_runs in zip(
        DRIVES,
        zip(*(each_step(control, steps) for control in controls), strict=True),
        strict=True,
    ):
        given = [x for x in of_runs if x is not None]
        if len({np.shape(x) for x in given}) > 1 or len(given) not in (0, runs):
            raise SimulationError(
                f"{name} is not given to all runs alike; expected one shape, or None, in all controls"
            )
        arrays.append(stacked([np.asarray(x) for x in given]) if given else None)
    tau, q_target, v_target = arrays
    return False, (tau, q_target, v_target)


def each_step(control: Control, steps: int) -> Drive:
    """One row per step of what is the same for all."""
    tau, q_target, v_target = (
        value
        if value is None or np.ndim(value) != 1
        else np.broadcast_to(value, (max(steps, 0), len(np.asarray(value))))
        for value in drive_of(control)
    )
    return tau, q_target, v_target


class engine_errors:
    """The engine's errors as robosim's, in what is done with it. Not of contextlib, which takes microseconds."""

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, ValueError):
            raise SimulationError(str(error)) from None
