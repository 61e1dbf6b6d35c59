"""Validation of inputs of the model builder. Errors name the input, its value and what is valid."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from robosim.errors import ModelError
from robosim.model.parts import FloatArray


def real_array(value: ArrayLike, shape: tuple[int, ...], what: str) -> FloatArray:
    """Return a read-only float64 copy of `value`, which must have this shape."""
    try:
        given = np.asarray(value)
        if given.dtype.kind not in "iuf":
            raise TypeError(f"dtype {given.dtype}")
        array = np.array(given, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ModelError(f"{what} is not an array of real numbers: {error}") from None
    if array.shape != shape:
        raise ModelError(f"{what} has shape {array.shape}; expected {shape}")
    if not np.isfinite(array).all():
        raise ModelError(f"{what} is not finite: {array.tolist()}")
    array.setflags(write=False)
    return array


def leading_axes(value: ArrayLike, own: int) -> tuple[int, ...]:
    """Return the shape without its last `own` axes; () if there are no more axes or no array."""
    try:
        shape = np.shape(value)
    except ValueError:
        return ()
    return shape[: max(len(shape) - own, 0)]


def number(value: float, what: str) -> float:
    """Return `value` as a float. Raise ModelError unless it is a finite real number."""
    return float(real_array(value, (), what))


def limit(value: ArrayLike | None, what: str) -> FloatArray | None:
    """Return a limit as a one-dimensional array, or None.

    Infinity means no limit. NaN is invalid.
    """
    if value is None:
        return None
    try:
        array = np.atleast_1d(np.array(value, dtype=np.float64))
    except (TypeError, ValueError):
        raise ModelError(f"{what} is {value!r}; numbers are needed") from None
    if array.ndim != 1 or np.isnan(array).any():
        raise ModelError(f"{what} is {value!r}; one number, or one per coordinate, is needed")
    array.setflags(write=False)
    return array


def checked_name(value: str, what: str) -> str:
    """Return `value` if it is a non-empty string, otherwise raise ModelError."""
    if not isinstance(value, str) or not value:
        raise ModelError(f"{what} {value!r} is not a name; a non-empty string is needed")
    return value
