"""The factored mass matrix."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from robosim.errors import ModelError
from robosim.model.parts import FloatArray

if TYPE_CHECKING:
    from robosim.model.operations import Operations


class MassFactor:
    """M = L^T D L of one configuration; `Model.mass_factor` makes it.

    Attributes:
        factor: (n_v, n_v) L below the diagonal, on it one over D's; zeros above.
    """

    def __init__(self, owner: Operations, factor: FloatArray) -> None:
        self._owner = owner
        self.factor = factor

    def solve(self, B: ArrayLike, *, out: FloatArray | None = None) -> FloatArray:
        """M^-1 B, of B's shape, in O(n depth) per column.

        Args:
            B: (n_v,) or (n_v, m); of a Jacobian its transpose, J.T.
            out: of B's shape.

        Raises:
            ModelError: B is of another shape.
        """
        columns = columns_of(B, self._owner.n_v)
        return self._owner._array("mass_solve", self.factor, B, out=out, columns=columns)


def columns_of(B: ArrayLike, n_v: int, *, batch: bool = False) -> int:
    """Number of columns of a right-hand side; -1 of a vector."""
    shape = np.shape(B)
    own = shape[1:] if batch else shape
    if len(own) not in (1, 2) or own[0] != n_v:
        n = "n, " if batch else ""
        raise ModelError(f"B has shape {shape}; expected ({n}{n_v}) or ({n}{n_v}, m)")
    return -1 if len(own) == 1 else own[1]
