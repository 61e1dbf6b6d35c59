"""One guard per mesh format: check a file's claims before a parser acts on them, and keep only its
geometry.

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
