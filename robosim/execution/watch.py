"""Monitoring of a moving arm: its states, its status, and requests to stop.

States must arrive, be fresh and not jump, and the arm must still be allowed to move.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from robosim.execution.arm import Arm
from robosim.execution.checks import Requirements, check_state, check_status
from robosim.execution.messages import ArmState, ArmStatus, names_in_order

__all__ = ["StopEvent", "Watch"]

Array = NDArray[np.float64]
# Transport jitter: two states that were measured a period apart may arrive together.
ARRIVAL_JITTER = 0.05  # [s]
LEAST_GAP = 1e-3  # [s]
NOISE = 0.01  # [rad or m]


class StopEvent(Protocol):
    """Request to stop the arm, such as a threading.Event."""

    def is_set(self) -> bool:
        """Return True to stop."""


class Watch:
    """Monitor of the last state of the moving joints, and of reasons to stop.

    Args:
        arm: arm that moves.
        joint_names: (n) joints to watch, in the order used here.
        speed: (n,) largest speeds [rad/s or m/s]; a state that moves faster has jumped.
        continuous: joints whose positions are known up to full turns.
        requirements: as in the checks before the motion.
        stop_event: requests a stop when set.

    Attributes:
        requirements: requirements in use.
        position: (n,) last measured positions.
        status: last status of the arm.
        stop_reason: reason of a requested stop, "" if there is none.
        speed: largest speed of a joint between the last two states [rad/s or m/s].
        states: number of states received.
        longest_gap: longest time between two states [s].
    """

    def __init__(
        self,
        arm: Arm,
        joint_names: Sequence[str],
        speed: Array,
        *,
        continuous: Collection[str] = (),
        requirements: Requirements | None = None,
        stop_event: StopEvent | None = None,
    ) -> None:
        self._arm = arm
        self._names = tuple(joint_names)
        self._greatest = speed
        self._turns = np.array([name in continuous for name in self._names])
        self.requirements = Requirements() if requirements is None else requirements
        self._stop_event = stop_event
        self._state: ArmState | None = None
        self._state_names: tuple[str, ...] = ()
        self._index: list[int] = []
        self.position: Array = np.full(len(self._names), np.nan)
        self.status: ArmStatus = arm.status()
        self.stop_reason = ""
        self.speed = math.inf
        self.states = 0
        self.longest_gap = 0.0

    def request_stop(self, reason: str) -> None:
        """Request a stop; the first reason is kept."""
        self.stop_reason = self.stop_reason or reason

    def look(self, now: float) -> str:
        """Read state and status. Returns the reason to hold the arm at once, or ""."""
        if self._stop_event is not None and self._stop_event.is_set():
            self.request_stop("asked to stop")
        state, self.status = self._arm.state(), self._arm.status()
        wrong = check_status(self.status, self.requirements)
        wrong = wrong or check_state(state, now, self.requirements, self._names)
        if wrong:
            return wrong[0].text
        assert state is not None  # guaranteed by `check_state`
        return self._take(state)

    def off(self, wanted: Array) -> Array:
        """(..., n) measured minus desired position, by the nearest turn for continuous joints."""
        return self._nearest(self.position - wanted)

    def _nearest(self, difference: Array) -> Array:
        return np.where(
            self._turns, np.remainder(difference + math.pi, 2 * math.pi) - math.pi, difference
        )

    def _take(self, state: ArmState) -> str:
        if state.joint_names != self._state_names:
            self._state_names = state.joint_names
            self._index = names_in_order(self._names, state.joint_names)
        position = state.position[self._index]
        before, self._state = self._state, state
        if before is not None and state.stamp == before.stamp:
            return ""
        last, self.position = self.position, position
        self.states += 1
        if before is None:
            return ""
        gap = state.stamp - before.stamp
        self.longest_gap = max(self.longest_gap, gap)
        apart = self._time_between(before, state)
        moved = np.abs(self._nearest(position - last))
        # Two states that arrive together were measured further apart.
        self.speed = float(moved.max()) / max(apart, LEAST_GAP)
        reach = self._greatest * (apart + ARRIVAL_JITTER) + NOISE
        if (moved <= reach).all():
            return ""
        i = int(np.argmax(moved - reach))
        return (
            f"the measured position of {self._names[i]} jumped from {last[i]:.6g} to"
            f" {position[i]:.6g} in {apart:.4f} s; at its greatest speed, {self._greatest[i]:.6g}"
            " per s, it cannot"
        )

    def _time_between(self, before: ArmState, state: ArmState) -> float:
        """Upper bound of the time between the measurements of two states [s].

        States that a busy machine received late arrive together, so the source's own time is used
        if it is longer. It is bounded by the largest age of a state, since the source's clock may
        be adjusted.
        """
        apart = max(state.stamp - before.stamp, 0.0)
        if before.measured is None or state.measured is None:
            return apart
        return max(apart, min(state.measured - before.measured, self.requirements.state_age))
