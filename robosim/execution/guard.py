"""Final guard of commanded positions: finite, within limits, at most one sample's motion away."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

__all__ = ["Guard"]

Array = NDArray[np.float64]

# Excess of interpolation and rounding for a motion on its limits, which is clipped silently.
_TELL, _TELL_SHARE = 2e-5, 0.02  # [rad or m], and fraction of a sample's motion


class Guard:
    """Bounds on the positions that are passed on to an arm.

    Args:
        joint_names: (n) names of the joints.
        lower, upper: (n,) position limits; infinite if there is none.
        speed: (n,) largest speeds; infinite if there is none.
        position: (n,) present position of the arm, within the limits.

    Attributes:
        position: (n,) position passed on last.
        behind: number of consecutive periods in which the wanted position was not reached.
    """

    def __init__(
        self, joint_names: Sequence[str], lower: Array, upper: Array, speed: Array, position: Array
    ) -> None:
        self._names = tuple(joint_names)
        self._lower, self._upper, self._speed = lower, upper, speed
        self.position: Array = position.copy()
        self.behind = 0

    def pass_on(self, wanted: Array, period: float, scaling: float = 1.0) -> tuple[Array, str]:
        """Return the position (n,) to command for `wanted`, and the changes in words ("" if none).

        Args:
            wanted: (n,) any numbers.
            period: time since the last position [s].
            scaling: fraction of the largest speed, 0 to 1.
        """
        if not np.isfinite(wanted).all():
            i, self.behind = int(np.argmin(np.isfinite(wanted))), 0
            return self.position, f"position {wanted[i]} of {self._names[i]} is refused; holding"
        last, time = self.position, period * scaling
        reach = self._speed * time if time > 0 else np.zeros_like(last)
        # Rounding errors of a step at the limit count as within it.
        within = np.minimum(np.maximum(wanted, self._lower), self._upper)
        self.position = np.minimum(np.maximum(within, last - reach), last + reach)
        short = bool((np.abs(within - self.position) > _TELL + _TELL_SHARE * reach).any())
        self.behind = self.behind + 1 if short else 0
        if not short and (np.abs(wanted - within) <= _TELL).all():
            return self.position, ""
        return self.position, self._complaint(wanted, within, last, period, scaling)

    def _complaint(
        self, wanted: Array, within: Array, last: Array, period: float, scaling: float
    ) -> str:
        outside = np.abs(within - wanted)
        if outside.max() > _TELL:
            i = int(np.argmax(outside))
            return (
                f"position {wanted[i]:.6g} of {self._names[i]} is outside its limits "
                f"{self._lower[i]:.6g} to {self._upper[i]:.6g}; clipped"
            )
        i = int(np.argmax(np.abs(self.position - wanted)))
        if scaling == 0:
            return (
                f"position {wanted[i]:.6g} of {self._names[i]} is not gone to while the speed"
                " scaling is 0"
            )
        return (
            f"position {wanted[i]:.6g} of {self._names[i]}, {abs(wanted[i] - last[i]):.6g} away, is"
            f" more than one sample's motion, {self._speed[i] * period * scaling:.6g}; clipped"
        )
