"""How steps and rollouts change with what they are made from."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["StepGradient", "StepJacobians"]

Array = NDArray[np.float64]


class StepGradient(NamedTuple):
    """The gradient of a loss in the arguments of a step, or of a whole run.

    Along q it is in the tangent space, as all of robosim's derivatives are: dloss = q . dv for a q that moves along dv.
    """

    q: Array
    """(n_v,) of the first configuration."""
    v: Array
    """(n_v,) of the first velocity."""
    tau: Array
    """(n_v,), of a run (steps, n_v)."""
    q_target: Array
    """(n_q,), of a run (steps, n_q)."""
    v_target: Array
    """(n_v,), of a run (steps, n_v)."""
    materials: Array
    """(m, 4) of each pair of `Simulation.pairs`: friction, restitution, torsional and rolling friction."""
    motors: Array
    """(n_v, 3) of each coordinate: position gain, velocity gain, limit."""
    one_sided: bool
    """Whether, in some step, it holds to one side only: where features of a contact change right there, or the impulses
    of points that depend on each other are not those of the documented choice."""


class StepJacobians(NamedTuple):
    """Derivatives of the next state: [0] of q (tangent space), [1] of v, n_v rows each."""

    q: Array
    """(2, n_v, n_v) in q, in its tangent space."""
    v: Array
    """(2, n_v, n_v)."""
    tau: Array
    """(2, n_v, n_v)."""
    q_target: Array
    """(2, n_v, n_q)."""
    v_target: Array
    """(2, n_v, n_v)."""
    one_sided: bool
    """As of `StepGradient`."""
