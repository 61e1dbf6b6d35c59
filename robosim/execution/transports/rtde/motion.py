"""Commanded position of the joints in each cycle: the wanted position, bounded; or a ramp to rest.

A stop slows all joints down together, each with constant deceleration along its direction of
motion. The joint that needs the longest time T at the full deceleration determines the time for
all: q(t) = q0 + v0 (t - t^2 / 2T).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from robosim.execution.guard import Guard

__all__ = ["Motion", "Playout"]

Array = NDArray[np.float64]

_JUMP = 0.05  # [s] at the largest speed: a set point further away is an error, not a late one


class Motion:
    """Bounded motion of n joints in steps of one period.

    Args:
        joint_names: (n) names of the joints.
        lower, upper: (n,) position limits.
        speed: (n,) largest speeds, finite.
        deceleration: deceleration of a stop [rad/s^2].
        period: length of a step [s].
        position: (n,) present position of the joints.

    Attributes:
        position: (n,) position commanded last.
        velocity: (n,) velocity of the last step.
    """

    def __init__(
        self,
        joint_names: Sequence[str],
        lower: Array,
        upper: Array,
        speed: Array,
        deceleration: float,
        period: float,
        position: Array,
    ) -> None:
        self._names, self._speed, self._period = tuple(joint_names), speed, period
        self._lower, self._upper, self._deceleration = lower, upper, deceleration
        self.restart(position)

    def restart(self, position: Array) -> None:
        """Restart at rest at `position`."""
        # An arm that is slightly outside its limits may return.
        lower, upper = np.minimum(self._lower, position), np.maximum(self._upper, position)
        self._guard = Guard(self._names, lower, upper, self._speed, position)
        self.position: Array = position.copy()
        self.velocity: Array = np.zeros_like(position)

    @property
    def at_rest(self) -> bool:
        """True if the last step moved nothing."""
        return not self.velocity.any()

    def refusal(self, wanted: Array, last: Array | None = None) -> str:
        """Return the reason why `wanted` cannot follow `last`, or "".

        `last` is the present position by default.
        """
        last = self.position if last is None else last
        if wanted.shape != self.position.shape:
            return f"a set point has {len(self.position)} positions, this one {wanted.size}"
        if not np.isfinite(wanted).all():
            i = int(np.argmin(np.isfinite(wanted)))
            return f"position {wanted[i]} of {self._names[i]} is not finite"
        reach = self._speed * max(_JUMP, 4 * self._period)
        far = np.abs(wanted - last)
        if (far > reach).any():
            i = int(np.argmax(far / reach))
            return (
                f"position {wanted[i]:.6g} of {self._names[i]} is {far[i]:.6g} rad away from the"
                f" last one; {reach[i]:.6g} is the most that counts as a motion and not as a jump"
            )
        return ""

    def step_to(self, wanted: Array) -> str:
        """Move to `wanted`, as far as limits and one period allow.

        Returns a description of changes, or "".
        """
        last = self.position
        self.position, complaint = self._guard.pass_on(wanted, self._period)
        self.velocity = (self.position - last) / self._period
        return complaint

    def brake(self) -> None:
        """Make one step of slowing down to rest."""
        time = float(np.max(np.abs(self.velocity))) / self._deceleration
        if time <= self._period:
            self.velocity = np.zeros_like(self.velocity)
            return
        slower = self.velocity * (1.0 - self._period / time)
        self.step_to(self.position + slower * self._period)


class Playout:
    """Set points that arrive at an approximate rate, played out evenly, a part in each cycle.

    A set point is spread over the number of cycles between two set points. The first one waits
    until the second has arrived. A lower rate or a late message has therefore no effect on the
    motion, at the cost of a delay of one interval.

    Attributes:
        last: (n,) newest set point; before the first one, the arm's position.
    """

    def __init__(self, period: float, position: Array) -> None:
        self.last = position
        self._period = period
        self._waiting: deque[Array] = deque(maxlen=3)  # more would add delay
        self._arrivals: deque[float] = deque(maxlen=6)
        self._target = position
        self._cycles = 0  # cycles until the target
        self._running = False

    def put(self, wanted: Array, now: float) -> None:
        """Add a set point."""
        self._arrivals.append(now)
        self._waiting.append(wanted)
        self.last = wanted

    def age(self, now: float) -> float:
        """Time since the last set point [s]; infinite if there was none."""
        return now - self._arrivals[-1] if self._arrivals else np.inf

    def next(self, position: Array, *, flush: bool = False) -> Array | None:
        """Return the position after this cycle, coming from `position`; None if there is no target.

        Args:
            position: (n,) present position.
            flush: True to play out the first set point even if no other has arrived after it.
        """
        if self._cycles == 0:
            if len(self._waiting) < (1 if self._running or flush else 2):
                return None
            self._target, self._running = self._waiting.popleft(), True
            self._cycles = self._interval()
        wanted = position + (self._target - position) / self._cycles
        self._cycles -= 1
        return wanted

    def _interval(self) -> int:
        """Number of cycles between two set points."""
        if len(self._arrivals) < 2:
            return 1
        between = sorted(b - a for a, b in pairwise(self._arrivals))[(len(self._arrivals) - 1) // 2]
        return int(min(max(round(between / self._period), 1), round(0.1 / self._period)))
