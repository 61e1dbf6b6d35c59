"""Broadcasting of the engine's operations over leading axes, for many states in one call.

States are computed in SIMD lanes, on several threads. The result of each state has the same bits as
a call for that state alone. It does not depend on the state's index, its neighbors or the number of
threads.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cache
from math import prod
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import ArrayLike

from robosim import _engine, parallel
from robosim.errors import ModelError
from robosim.model.checks import leading_axes

if TYPE_CHECKING:
    from robosim.model.model import Model
    from robosim.model.operations import Choices

Array = np.ndarray[tuple[int, ...], np.dtype[Any]]

_ROWS = _engine.operations()

# Workspaces of batched calls, by model. After fork() the threads that may have been using one do
# not exist in the child to return it, so the child starts with fresh memory.
_memory: WeakKeyDictionary[Model, _engine.Batch] = WeakKeyDictionary()
os.register_at_fork(after_in_child=_memory.clear)


def has_leading_axes(operation: str, inputs: Sequence[ArrayLike], choices: Choices) -> bool:
    """Return true if an input has more axes than one state's share of it."""
    own = _own_axes(operation, isinstance(choices.frames, int), choices.columns < 0)
    return any(
        leading_axes(value, len(axes)) for value, axes in zip(inputs, own.values(), strict=False)
    )


def evaluate(
    model: Model, operation: str, inputs: Sequence[ArrayLike], choices: Choices, out: Any
) -> Any:
    """Compute an operation for all states, with the leading axes that the inputs broadcast to.

    Raises:
        ModelError: an input has the wrong shape, or leading axes that do not broadcast with those
            of the others; `out` is not C-contiguous float64 of the results' shapes; or the engine
            refuses a value.
    """
    own = _own_shapes(model, operation, choices)
    given = [_array(name, value, own[name]) for name, value in zip(own, inputs, strict=False)]
    leading = _common(
        {name: a.shape[: a.ndim - len(own[name])] for name, a in zip(own, given, strict=False)}
    )

    # The engine takes one leading axis, or none for an input that all states share.
    flat = tuple(_flat(a, own[name], leading) for name, a in zip(own, given, strict=False))
    memory = _memory.get(model)
    if memory is None:
        memory = _memory.setdefault(model, _engine.Batch())
    found = _engine.evaluate_batch(
        _ROWS[operation]["index"],
        model._engine,
        memory,
        flat,
        _flat_out(out, leading),
        *choices,
        parallel.of_call(),
    )
    if out is not None:
        return out
    if len(leading) == 1:
        return found
    if isinstance(found, tuple):
        return tuple(result.reshape(*leading, *result.shape[1:]) for result in found)
    return found.reshape(*leading, *found.shape[1:])


@cache
def _own_axes(operation: str, one_frame: bool, vectors: bool) -> dict[str, tuple[str | int, ...]]:
    """Axes of one state's share of each input, by name, with wrenches last."""
    left_out = ("frames",) * one_frame + ("columns",) * vectors
    inputs = {**_ROWS[operation]["inputs"], "wrenches": ("wrenches", 6)}
    return {
        name: tuple(axis for axis in axes if axis not in left_out) for name, axes in inputs.items()
    }


def _own_shapes(model: Model, operation: str, choices: Choices) -> dict[str, tuple[int, ...]]:
    """Shape of one state's share of each input, by name, with wrenches last."""
    one_frame = isinstance(choices.frames, int)
    bodies = model._engine.n_bodies - 1
    extents: dict[str | int, int] = {
        "n_q": model.n_q,
        "n_v": model.n_v,
        "frames": 1 if isinstance(choices.frames, int) else len(choices.frames),
        "wrenches": len(choices.wrench_frames),
        "bodies": bodies,
        "joints": bodies,
        "inertial": 10 * bodies,
        "columns": choices.columns,
    }
    own = _own_axes(operation, one_frame, choices.columns < 0)
    return {
        name: tuple(extents[a] if isinstance(a, str) else a for a in axes)
        for name, axes in own.items()
    }


def _array(name: str, value: ArrayLike, own: tuple[int, ...]) -> Array:
    """Convert an input to an array, whose shape must end with `own`."""
    try:
        array = np.asarray(value)
    except (TypeError, ValueError):
        raise ModelError(f"{name} is not an array of numbers") from None
    if array.ndim < len(own) or array.shape[array.ndim - len(own) :] != own:
        expected = ", ".join(map(str, ("...", *own)))
        raise ModelError(f"{name} has shape {array.shape}; it must be ({expected})")
    return array


def _common(leading: dict[str, tuple[int, ...]]) -> tuple[int, ...]:
    """Return the shape that the leading axes broadcast to."""
    try:
        return np.broadcast_shapes(*leading.values())
    except ValueError:
        shapes = ", ".join(f"{name} {shape}" for name, shape in leading.items() if shape)
        raise ModelError(f"leading axes must broadcast; they are of {shapes}") from None


def _flat(array: Array, own: tuple[int, ...], leading: tuple[int, ...]) -> Array:
    """Reshape to (n, *own), or to `own` if the array has no leading axes."""
    if array.ndim == len(own) or (array.shape == leading + own and len(leading) == 1):
        return array
    return np.broadcast_to(array, leading + own).reshape(prod(leading), *own)


def _flat_out(out: Any, leading: tuple[int, ...]) -> Any:
    """View `out` with its leading axes merged into one. The engine checks the remaining axes."""
    if out is None or len(leading) == 1:
        return out
    if isinstance(out, tuple):
        return tuple(_flat_out(each, leading) for each in out)
    if not isinstance(out, np.ndarray) or not out.flags.c_contiguous:
        raise ModelError("out must be a C-contiguous float64 array")
    if out.shape[: len(leading)] != leading:
        raise ModelError(f"out has shape {out.shape}; its leading axes must be {leading}")
    return out.reshape(prod(leading), *out.shape[len(leading) :])
