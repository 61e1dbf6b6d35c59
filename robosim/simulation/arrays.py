"""Many runs from arrays to arrays, for callers that keep states in arrays of their own: the bridges to frameworks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from robosim.simulation.arguments import engine_errors, thread_count

if TYPE_CHECKING:
    from robosim.simulation.gradients import StepGradient
    from robosim.simulation.simulation import Simulation

__all__ = ["Drive", "run_arrays", "run_arrays_vjp"]

Array = NDArray[np.float64]
Drive = tuple[Array | None, Array | None, Array | None]


def run_arrays(
    simulation: Simulation,
    q: Array,
    v: Array,
    steps: int,
    drive: Drive,
    *,
    is_shared: bool,
    interval: int = 1,
    threads: int | None = None,
) -> tuple[Array, Array, NDArray[np.bool_]]:
    """`Simulation.run_many` of m starts q (m, n_q) and v (m, n_v): the same states, to the bit.

    Args:
        simulation: what is run.
        q: of each start.
        v: of each start.
        steps: of all runs.
        drive: tau, q_target and v_target of a `Control`, each None or with one row per step, (steps, n) where the runs
            share them, else (m, steps, n).
        is_shared: whether they do.
        interval: every which state is kept, beside the last.
        threads: at most; None for as many as `robosim.get_threads` says.

    Returns:
        q (m, n, n_q) and v (m, n, n_v) of the n states that were kept, and (m,) whether some step was not solved.

    Raises:
        SimulationError: as of `Simulation.run_many`.
    """
    with engine_errors():
        (qs, vs), reports = simulation._engine.run(
            (q, v), steps, interval, is_shared, drive, thread_count(threads), None
        )
    return qs, vs, np.array([first is not None for _, first in reports], dtype=np.bool_)


def run_arrays_vjp(
    simulation: Simulation,
    q: Array,
    v: Array,
    q_bar: Array,
    v_bar: Array,
    steps: int,
    drive: Drive,
    *,
    is_shared: bool,
    interval: int = 1,
    threads: int | None = None,
) -> list[StepGradient]:
    """`Simulation.run_many_vjp` of what `run_arrays` gave: the same gradients, to the bit.

    Raises:
        SimulationError: as of `Simulation.run_many_vjp`.
    """
    with engine_errors():
        gradients = simulation._engine.run_vjp(
            (q, v),
            (q_bar, v_bar),
            steps,
            interval,
            is_shared,
            drive,
            thread_count(threads),
            None,
            (True, True, True),
        )
    return [simulation._gradient(parts) for parts in gradients]
