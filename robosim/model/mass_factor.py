"""Factored mass matrix."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from robosim.errors import ModelError
from robosim.model.parts import FloatArray

if TYPE_CHECKING:
    from robosim.model.operations import Operations


class MassFactor:
    """Factorization M = L^T D L for one or more configurations; `Model.mass_factor` creates it.

    Attributes:
        factor: (..., n_v, n_v) L below the diagonal, the inverse of D on the diagonal, zeros above.
    """

    def __init__(self, owner: Operations, factor: FloatArray) -> None:
        self._owner = owner
        self.factor = factor

    def solve(self, B: ArrayLike, *, out: FloatArray | None = None) -> FloatArray:
        """Solve M X = B, in O(n depth) per column.

        Args:
            B: (n_v,) vectors if B has one axis, or one axis less than `factor`; otherwise matrices
                (n_v, m), for example transposed Jacobians. Leading axes broadcast with those of
                `factor`.
            out: array of the result's shape, which is that of B if the leading axes agree.

        Raises:
            ModelError: B has another shape.
        """
        shape, n_v = np.shape(B), self._owner.n_v
        are_vectors = len(shape) == 1 or len(shape) == self.factor.ndim - 1
        own = shape[-1:] if are_vectors else shape[-2:]
        if not own or own[0] != n_v:
            raise ModelError(f"B has shape {shape}; it must be (..., {n_v}) or (..., {n_v}, m)")
        columns = -1 if are_vectors else own[1]
        return self._owner._array("mass_solve", self.factor, B, out=out, columns=columns)
