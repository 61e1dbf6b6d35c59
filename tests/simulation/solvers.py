"""Contact solvers that tests run, as the engine lists them."""

from __future__ import annotations

from robosim import _engine

ALL = tuple(_engine.row_solvers)
# Solvers that are exact to rounding. `pgs` stops after a number of sweeps.
EXACT = tuple(solver for solver in ALL if solver != "pgs")
# Solvers whose friction lies within a circle, not a square.
ROUND = tuple(solver for solver in EXACT if solver != "lcp")
