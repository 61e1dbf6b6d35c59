"""`Replay`: states of a run at a steady rate with their contact forces, for display."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from robosim.errors import SimulationError
from robosim.simulation.details import ContactForce

__all__ = ["Replay"]

Array = NDArray[np.float64]
MAX_STATES = 3600  # largest number of states of a replay: one minute at 60 per second


class Replay(NamedTuple):
    """States of a run, from the first to the last, each with the contacts of the step that begins
    there."""

    times: Array
    """(k,) [s]."""
    q: Array
    """(k, n_q)."""
    contacts: list[list[ContactForce]]
    """k lists: all points within the margin, as in `Linearization.contacts`."""

    def nearest(self, time: float) -> int:
        """Return the index of the state nearest to a time [s]."""
        after = min(max(int(np.searchsorted(self.times, time)), 1), len(self.times) - 1)
        if after < 1:
            return 0
        return after - int(time - self.times[after - 1] < self.times[after] - time)


def spread(times: Array, rate: float) -> NDArray[np.int64]:
    """Select states at an even rate.

    The selection includes the first and the last state. Its rate is as even as the times allow.

    Args:
        times: (n,) times of the states [s].
        rate: states per second [Hz].

    Returns:
        Indices into `times`.

    Raises:
        SimulationError: the rate is not positive.
    """
    if not (0 < rate < math.inf):
        raise SimulationError(f"rate is {rate} states per second; it must be positive")
    n = len(times) - 1
    # Rounding of the times must not add a state.
    count = min(n, max(math.ceil((times[-1] - times[0]) * rate - 1e-6), 1), MAX_STATES - 1)
    return np.rint(np.linspace(0, n, count + 1)).astype(np.int64)
