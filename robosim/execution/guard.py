"""The last word on what an arm is commanded: finite, within the limits, and never more than one
sample's motion on."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

__all__ = ["Guard"]

Array = NDArray[np.float64]

# What interpolation and rounding add to a motion that lies on its limits is clipped without a word.
_TELL, _TELL_SHARE = 2e-5, 0.02  # [rad or m], of a sample's motion


class Guard:
    """Lets positions through to an arm, changed as far as they must be.

    Args:
        joint_names: (n).
        lower, upper: (n,) position limits; infinite where there is none.
        speed: (n,) greatest speed; infinite where there is none.
        position: (n,) where the arm is, within the limits.

    Attributes:
        position: (n,) what was let through last.
        behind: for how many periods on end it has not let through all the way that was wanted.
    """

    def __init__(
        self, joint_names: Sequence[str], lower: Array, upper: Array, speed: Array, position: Array
    ) -> None:
        self._names = tuple(joint_names)
        self._lower, self._upper, self._speed = lower, upper, speed
        self.position: Array = position.copy()
        self.behind = 0

    def pass_on(self, wanted: Array, period: float, scaling: float = 1.0) -> tuple[Array, str]:
        """(n,) the position that the arm is given for `wanted`, and what was changed and why ("" if
        nothing).

        Args:
            wanted: (n,) any numbers at all.
            period: since the last one [s].
            scaling: of the greatest speed, 0 to 1.
        """
        if not np.isfinite(wanted).all():
            i, self.behind = int(np.argmin(np.isfinite(wanted))), 0
            return self.position, f"position {wanted[i]} of {self._names[i]} is refused; holding"
        last, time = self.position, period * scaling
        reach = self._speed * time if time > 0 else np.zeros_like(last)
        # What a step is off by rounding at the limit counts as within it.
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
