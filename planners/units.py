"""Hints at numbers in other units than radians and meters, if they explain why there is no plan."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from robosim.model import Model

__all__ = ["degrees_hint", "millimeters_hint"]

FloatArray = NDArray[np.float64]
_FARTHEST = 10.0  # [m]: no robot reaches farther


def degrees_hint(model: Model, q: FloatArray) -> str:
    """Hint for a message about q (n_q,), if angles far out of limits fit as degrees; else empty."""
    lower, upper = model.limits.lower, model.limits.upper
    out = (q < lower - 1) | (q > upper + 1)
    is_angle = np.array(["angle" in kind for kind in model.position_kinds], dtype=bool)
    in_radians = np.radians(q)
    fits = (np.abs(q) > 2 * np.pi) & (in_radians >= lower) & (in_radians <= upper)
    return (
        "; the angles look like degrees: use numpy.radians" if (out & is_angle & fits).any() else ""
    )


def millimeters_hint(model: Model, link: str, pose: FloatArray) -> str:
    """Hint for a message about an unreachable pose (4, 4) in millimeters; else empty."""
    by_child = {joint.child: joint for joint in model.joints}
    reach, at = 0.0, link
    while at in by_child:
        joint = by_child[at]
        reach += float(np.linalg.norm(joint.X_PJ[:3, 3]))
        if joint.kind == "prismatic":
            ends = [abs(float(x[0])) for x in (joint.lower, joint.upper) if x is not None]
            reach += max((x for x in ends if np.isfinite(x)), default=0.0)
        at = joint.parent
    distance = float(np.linalg.norm(pose[:3, 3]))
    if distance > max(_FARTHEST, reach) and distance / 1000 <= reach:
        return (
            f"; it is {distance:.4g} m from the base, which looks like millimeters: poses are in"
            " meters"
        )
    return ""
