"""Guards, one per mesh format: check declared counts before parsing, and keep only geometry.

A guard takes (data, path) and returns a `Guarded`: bytes of the same format that are safe to parse.
"""

from __future__ import annotations

from collections.abc import Callable

from robosim.meshes.guards import dae, glb, obj, ply, stl
from robosim.meshes.guards.guarded import Guarded

__all__ = ["GUARDS", "Guarded"]

GUARDS: dict[str, Callable[[bytes, str], Guarded]] = {
    ".stl": stl.guard,
    ".obj": obj.guard,
    ".dae": dae.guard,
    ".ply": ply.guard,
    ".glb": glb.guard,
}
