"""Comparison of the derivative of one step along a direction with differences of the step itself.

The step may have any contacts.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from harness.ridders import ridders
from robosim.simulation import Control, Linearization

Array = NDArray[np.float64]

LONGEST = (1e-3, 1e-4, 1e-5, 1e-6, 1e-7)  # longest differences [units of the coordinates]
# Relative agreement of two consecutive values of this list at which the derivative is accepted.
AGREEMENT = 1e-8
WRONG = 1e-7


class Comparison(NamedTuple):
    """Errors of a tangent.

    Attributes:
        error: deviation from differences, relative to the largest entry of the differences.
        pairing: deviation of the gradient's product with the direction from the tangent's product
            with the gradient's seed, likewise.
    """

    error: float
    pairing: float

    @property
    def is_wrong(self) -> bool:
        """True if the error is above 1e-7, ten times the agreement required of differences."""
        return self.error > WRONG


def compare(step: Linearization, control: Control, rng: np.random.Generator) -> Comparison | None:
    """Compare a step's derivative along a random direction of its state with differences.

    None if differences are inconclusive: nearby steps have other modes or features
    (`Linearization.signature`), or only differences dominated by rounding are left.
    """
    simulation = step.simulation
    model = simulation.model
    q_way, v_way, *bars = rng.normal(size=(4, model.n_v))

    def change(t: float) -> Array | None:
        start = simulation.state(model.integrate(step.start.q, t * q_way), step.start.v + t * v_way)
        moved = simulation.linearize(start, control)
        if moved.signature != step.signature:
            return None
        return np.concatenate(
            [model.difference(step.state.q, moved.state.q), moved.state.v - step.state.v]
        )

    tangent = step.jvp(q=q_way, v=v_way)
    found = np.concatenate([tangent.q, tangent.v])
    before: Array | None = None
    for longest in LONGEST:
        derivative = ridders(change, longest)
        value = None if derivative is None else derivative.value
        if value is not None and before is not None:
            size = float(np.abs(value).max())
            if size > 0 and np.abs(value - before).max() <= AGREEMENT * size:
                gradient = step.vjp(*bars)
                pairing = gradient.q @ q_way + gradient.v @ v_way - np.concatenate(bars) @ found
                return Comparison(
                    float(np.abs(found - value).max()) / size, abs(float(pairing)) / size
                )
        before = value
    return None
