"""What is watched while an arm moves: that its state arrives, is fresh and does not jump, that it
still may move, and whether someone wants it to stop.
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
# States travel: two that were measured a period apart may arrive together.
ARRIVAL_JITTER = 0.05  # [s]
LEAST_GAP = 1e-3  # [s]
NOISE = 0.01  # [rad or m]


class StopEvent(Protocol):
    """What says that someone wants the arm to stop: threading.Event is one."""

    def is_set(self) -> bool:
        """Whether to stop."""


class Watch:
    """Keeps the last state of the joints that move, and finds what forbids going on.

    Args:
        arm: that moves.
        joint_names: (n) the joints to watch, in the order wanted here.
        speed: (n,) their greatest speed [rad/s or m/s]; a state that moves faster has jumped.
        continuous: joints whose position is known up to whole turns.
        requirements: as of the checks before the motion.
        stop_event: when set, the arm is to stop.

    Attributes:
        requirements: those.
        position: (n,) the last measured position.
        status: the arm's, as last looked at.
        stop_reason: why someone wants a stop, "" when nobody does.
        speed: greatest of any joint between the last two states [rad/s or m/s].
        states: how many were seen.
        longest_gap: between two of them [s].
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
        """Someone wants a stop; the first reason is kept."""
        self.stop_reason = self.stop_reason or reason

    def look(self, now: float) -> str:
        """Take in state and status. Returns why the arm must be held at once, or "" when all is
        well."""
        if self._stop_event is not None and self._stop_event.is_set():
            self.request_stop("asked to stop")
        state, self.status = self._arm.state(), self._arm.status()
        wrong = check_status(self.status, self.requirements)
        wrong = wrong or check_state(state, now, self.requirements, self._names)
        if wrong:
            return wrong[0].text
        assert state is not None  # an absent one was found wrong
        return self._take(state)

    def off(self, wanted: Array) -> Array:
        """(..., n) measured minus wanted position, by the nearest turn for continuous joints."""
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
        # Two that arrive together were measured further apart.
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
        """What lies at most between the measurements of two states [s].

        States that a busy machine was late for arrive together, so what their source says counts
        where it is more; but no more than a state may be old, as that clock is not ours and may be
        set.
        """
        apart = max(state.stamp - before.stamp, 0.0)
        if before.measured is None or state.measured is None:
            return apart
        return max(apart, min(state.measured - before.measured, self.requirements.state_age))
