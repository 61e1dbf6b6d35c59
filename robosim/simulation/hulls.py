"""Links whose hulls overlap while their meshes do not.

A contact between such hulls would push apart links that do not touch.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from robosim import geometry

if TYPE_CHECKING:
    from robosim import _engine
    from robosim.model import Model

__all__ = ["links_in_hulls", "told_left_out"]


def links_in_hulls(model: Model, scene: _engine.CollisionScene) -> list[tuple[str, str]]:
    """Find pairs of links whose hulls or pieces overlap in the neutral configuration, and whose
    meshes do not.

    Args:
        model: the robot.
        scene: scene compiled from the model; its pairs are checked.
    """
    colliders = model.colliders
    pairs = [
        (a, b)
        for a, b in scene.pairs.tolist()
        if max(a, b) < len(colliders)
        and (colliders[a].exact is not None or colliders[b].exact is not None)
    ]
    if not pairs:
        return []
    q = np.clip(model.neutral(), model.limits.lower, model.limits.upper)
    X = model.link_poses(q)
    X_W = {i: X[colliders[i].link] @ colliders[i].X_LC for pair in pairs for i in pair}
    index = {c.name: i for i, c in enumerate(colliders)}
    meet = {
        frozenset(colliders[index[n]].link for n in (a, b))
        for a, b, _ in scene.collisions(q)
        if {a, b} <= index.keys()
    }
    out = {
        (colliders[a].link, colliders[b].link)
        for a, b in pairs
        if geometry.collide(colliders[a].shape, X_W[a], colliders[b].shape, X_W[b])
    }
    return sorted(pair for pair in out if frozenset(pair) not in meet)


def told_left_out(pairs: Sequence[tuple[str, str]], most: int = 3) -> str:
    """Describe the pairs in words, with the first `most` of them by name."""
    named = ", ".join(f"{a} and {b}" for a, b in pairs[:most]) + (
        ", ..." if len(pairs) > most else ""
    )
    return (
        f"{len(pairs)} {'pair' if len(pairs) == 1 else 'pairs'} of links overlap by their hulls in"
        " the neutral configuration, and not by their meshes; simulations do not press them apart:"
        f" {named}"
    )
