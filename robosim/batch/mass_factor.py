"""Factored mass matrices of n configurations."""

from __future__ import annotations

from numpy.typing import ArrayLike

from robosim.batch.calls import array
from robosim.model import Model
from robosim.model.mass_factor import columns_of
from robosim.model.parts import FloatArray


class MassFactors:
    """n factored mass matrices; `mass_factor` makes them.

    Attributes:
        factor: (n, n_v, n_v) as `MassFactor.factor` of each.
    """

    def __init__(self, model: Model, factor: FloatArray) -> None:
        self._model = model
        self.factor = factor

    def solve(self, B: ArrayLike, *, threads: int | None = None, out: FloatArray | None = None) -> FloatArray:
        """M^-1 B of each, of B's shape.

        Args:
            B: (n, n_v) or (n, n_v, m); of Jacobians J (n, 6, n_v) their transposes, J.swapaxes(1, 2).
            threads: at most so many.
            out: of B's shape.

        Raises:
            ModelError: B is of another shape.
        """
        columns = columns_of(B, self._model.n_v, batch=True)
        return array(self._model, "mass_solve", self.factor, B, threads=threads, out=out, columns=columns)


def mass_factor(model: Model, q: ArrayLike, *, threads: int | None = None) -> MassFactors:
    """`Model.mass_factor` at q (n, n_q), to solve with for n right-hand sides."""
    return MassFactors(model, array(model, "mass_factor", q, threads=threads))
