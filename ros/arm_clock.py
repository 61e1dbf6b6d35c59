"""The clock of an arm behind ROS: the machine's monotonic clock, or simulated time made to never go
back."""

from __future__ import annotations

import threading
import time
from typing import Any

from robosim.execution.clock import monotonic

__all__ = ["ArmClock"]

_LOOK = 0.0005  # [s] between looks at simulated time
_STANDSTILL = 0.2  # [s] of real time after which simulated time counts as standing still


class ArmClock:
    """Seconds on a node's clock. Setting the system's clock moves nothing here, and a jump back of
    simulated time neither: time goes on from where it was.

    Args:
        node: rclpy node; its `use_sim_time` decides.
    """

    def __init__(self, node: Any) -> None:
        self._clock = node.get_clock()
        self._lock = threading.Lock()
        self._shown = 0  # what simulated time was last [ns]; 0 before its first message
        self._elapsed = 0  # how far it has moved forward in all [ns]
        self.interrupted = threading.Event()

    def __call__(self) -> float:
        """Now [s]."""
        if not self._clock.ros_time_is_active:
            return monotonic()
        with self._lock:
            now = int(self._clock.now().nanoseconds)
            if self._shown and now > self._shown:
                self._elapsed += now - self._shown
            self._shown = now
            return self._elapsed / 1e9

    def interrupt(self) -> None:
        """Wake whoever sleeps while simulated time stands still."""
        self.interrupted.set()

    def sleep_until(self, deadline: float) -> None:
        """Wait until it is `deadline` [s] or later.

        Raises KeyboardInterrupt when `interrupt` was called and simulated time stands still: then
        nobody knows for how long.
        """
        last, since = self(), monotonic()
        while (left := deadline - (now := self())) > 0:
            if not self._clock.ros_time_is_active:
                time.sleep(left)
                continue
            if now > last:
                last, since = now, monotonic()
            elif self.interrupted.is_set() and monotonic() - since > _STANDSTILL:
                raise KeyboardInterrupt
            time.sleep(_LOOK)

    def to_ros(self, stamp: float) -> int:
        """The time on the node's ROS clock [ns] when this one shows `stamp` [s]."""
        now, ros = self(), int(self._clock.now().nanoseconds)
        return ros + round((stamp - now) * 1e9)

    def from_ros(self, nanoseconds: int) -> float:
        """What this clock shows [s] when the node's ROS clock shows `nanoseconds`."""
        return self() + (nanoseconds - int(self._clock.now().nanoseconds)) / 1e9
