"""How the functions of `robosim.batch` run: lanes of a processor's registers inside, threads outside."""

from __future__ import annotations

import os
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import ArrayLike

from robosim import _engine
from robosim.errors import ModelError
from robosim.model import Model
from robosim.model.operations import Choices, External, Results, operation_index
from robosim.model.parts import FloatArray

# The memory that a model's batches work in. After fork() the threads that may have been within one are not here to
# give it back, so the child starts with new memory.
_memory: WeakKeyDictionary[Model, _engine.Batch] = WeakKeyDictionary()
os.register_at_fork(after_in_child=_memory.clear)


def get_threads() -> int:
    """How many threads a batch may use where it is not told.

    The environment variable ROBOSIM_THREADS, else the number of processors that this process may run on, unless
    `set_threads` was called. Results do not depend on it.
    """
    return _engine.thread_limit()


def set_threads(n: int) -> None:
    """Set how many threads batches may use, in the whole process, also those that ask for more.

    Raises:
        ModelError: n is not between 1 and 1024.
    """
    _engine.set_thread_limit(n)


def array(
    model: Model,
    operation: str,
    *inputs: ArrayLike,
    threads: int | None,
    out: FloatArray | None = None,
    link: str | None = None,
    axes: str = "world",
    external: External | None = None,
    joint_forces: bool = False,
    columns: int = -1,
) -> FloatArray:
    """(n, ...) the only result of an operation."""
    choices = model._choices(operation, link, axes, external, joint_forces, columns)
    found: FloatArray = evaluate(model, operation, inputs, choices, external, threads, out)
    return found


def arrays(
    results: type[Results],
    model: Model,
    operation: str,
    *inputs: ArrayLike,
    threads: int | None,
    out: Results | None = None,
    link: str | None = None,
    axes: str = "world",
    external: External | None = None,
    joint_forces: bool = False,
) -> Results:
    """(n, ...) all results of an operation that has several."""
    choices = model._choices(operation, link, axes, external, joint_forces)
    return results(*evaluate(model, operation, inputs, choices, external, threads, out))


def evaluate(
    model: Model,
    operation: str,
    inputs: tuple[ArrayLike, ...],
    choices: Choices,
    external: External | None,
    threads: int | None,
    out: Any,
) -> Any:
    """What the engine makes of n states."""
    if threads is not None and threads < 1:
        raise ModelError(f"threads is {threads}; at least 1 is needed, or None for as many as there may be")
    if external:
        inputs = (*inputs, stacked_wrenches(external))
    memory = _memory.get(model)
    if memory is None:
        memory = _memory.setdefault(model, _engine.Batch())
    return _engine.evaluate_batch(
        operation_index(operation), model._engine, memory, inputs, out, *choices, threads or 0
    )


def stacked_wrenches(external: External) -> FloatArray:
    """(k, 6), or (n, k, 6) where one of them has a batch axis, the wrenches in the mapping's order."""
    each: list[FloatArray] = []
    for link, wrench in external.items():
        given = np.asarray(wrench)
        if given.dtype.kind not in "iuf" or given.ndim not in (1, 2) or given.shape[-1] != 6:
            raise ModelError(
                f"wrench on {link!r} has shape {given.shape} and dtype {given.dtype}; "
                "(6,) or (n, 6) real numbers are needed"
            )
        each.append(given.astype(np.float64, copy=False))
    counts = {len(wrench) for wrench in each if wrench.ndim == 2}
    if len(counts) > 1:
        raise ModelError(
            f"wrenches hold {', '.join(map(str, sorted(counts)))} states; all need the same number"
        )
    if not counts:
        return np.array(each)
    n = counts.pop()
    return np.stack([np.broadcast_to(wrench, (n, 6)) for wrench in each], axis=1)
