"""What happened in a step."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from robosim.simulation.state import State

__all__ = ["ClosureForce", "ContactForce", "JointForce", "StepDetails", "StepReport"]

Array = NDArray[np.float64]


class StepReport(NamedTuple):
    """How a step was solved; of several the worst status and residual, the last one's contacts, rows and islands, and
    the sums of the rest."""

    status: str
    """`solved`; `basic`: solved, but where rows depend on each other not by the documented choice of impulses;
    `rough`: to 1e-8, by impulses that no rule has chosen;
    `relaxed`: rows contradicted each other, so that bounces and overlaps of what touches there were left for later;
    `inconsistent`: not solved, and what came nearest was taken. `pgs` ends when its sweeps do, and says `solved`.
    `diverged`: the step would have ended beyond what numbers hold and was not taken; the state is what it was."""
    residual: float
    """How far the laws of contact are from holding, relative to the velocities at play: if solved rounding."""
    contacts: int
    """Points that touch or are within the margin."""
    rows: int
    """Normals, axes of friction, limits, motors."""
    islands: int
    """Groups that contacts connect, each solved by itself."""
    class_changes: int
    """Linear solves of `lcp` and `cone` beyond the first."""
    pivots: int
    """Of Dantzig's and Lemke's methods, where those solves do not end."""
    coupled_bounces: int
    """With `bounce="time_of_impact"`: contacts that bounce while others that feel them push. These happen at once, as
    nothing says in which order; where they are, gradients are `one_sided`."""


class ContactForce(NamedTuple):
    """One point where two things touch."""

    A: str
    """Name of the first."""
    B: str
    """Name of the second."""
    point: Array
    """(3,) in W [m]."""
    normal: Array
    """(3,) unit, from A to B, in W."""
    gap: float
    """Along the normal, negative where they overlap [m]."""
    force: Array
    """(3,) on B at the point, in W; the opposite acts on A [N]."""
    moment: Array
    """(3,) on B, of torsional and rolling friction [N m]."""
    mode: str
    """`open`: nothing is pushed; `sticking`; `sliding`."""


class JointForce(NamedTuple):
    """What a limit, a motor, dry friction or an equality exerts on a coordinate."""

    coordinate: str
    """Its entry of `Model.velocity_names`."""
    source: str
    """`lower_limit`, `upper_limit`, `joint_friction`, `motor` or `equality` (a law of another joint)."""
    force: float
    """[N m or N]."""


class ClosureForce(NamedTuple):
    """What holds two links together."""

    name: str
    """Of the links, as "a to b"."""
    point: Array
    """(3,) the second one's, in W [m]."""
    force: Array
    """(3,) on the second there, in W; the opposite acts on the first [N]."""
    moment: Array
    """(3,) on the second, of a weld [N m]."""


class StepDetails(NamedTuple):
    """A step with all that acted in it; of several substeps in the last."""

    state: State
    """At the end."""
    contacts: list[ContactForce]
    """All points within the margin."""
    joints: list[JointForce]
    """Of limits within the margin, motors, dry friction and equalities."""
    closures: list[ClosureForce]
    """Of points and welds, in their order."""
