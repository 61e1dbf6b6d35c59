"""The solvers of contact that tests run: as the engine lists them."""

from __future__ import annotations

from robosim import _engine

ALL = tuple(_engine.row_solvers)
# To rounding; sweeps of `pgs` end when they end.
EXACT = tuple(solver for solver in ALL if solver != "pgs")
# Friction within a circle, not a square.
ROUND = tuple(solver for solver in EXACT if solver != "lcp")
