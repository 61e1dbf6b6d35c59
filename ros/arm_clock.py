"""Clock of an arm behind ROS: the machine's monotonic clock, or simulated time made monotonic."""

from __future__ import annotations

import threading
import time
from typing import Any

from robosim.execution.clock import monotonic

__all__ = ["ArmClock"]

_LOOK = 0.0005  # [s] between checks of simulated time
_STANDSTILL = 0.2  # [s] of real time after which simulated time counts as standing still


class ArmClock:
    """Seconds on a node's clock.

    Setting the system's clock has no effect here. After a backward jump of simulated time, this
    clock continues from its last value.

    Args:
        node: rclpy node; its `use_sim_time` decides.
    """

    def __init__(self, node: Any) -> None:
        self._clock = node.get_clock()
        self._lock = threading.Lock()
        self._shown = 0  # latest simulated time [ns]; 0 before its first message
        self._elapsed = 0  # sum of all forward steps [ns]
        self.interrupted = threading.Event()

    def __call__(self) -> float:
        """Current time [s]."""
        if not self._clock.ros_time_is_active:
            return monotonic()
        with self._lock:
            now = int(self._clock.now().nanoseconds)
            if self._shown and now > self._shown:
                self._elapsed += now - self._shown
            self._shown = now
            return self._elapsed / 1e9

    def interrupt(self) -> None:
        """Wake all threads that sleep while simulated time stands still."""
        self.interrupted.set()

    def sleep_until(self, deadline: float) -> None:
        """Wait until it is `deadline` [s] or later.

        Raises KeyboardInterrupt if `interrupt` was called and simulated time stands still, because
        the wait could then be unbounded.
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
        """Time on the node's ROS clock [ns] when this clock is at `stamp` [s]."""
        now, ros = self(), int(self._clock.now().nanoseconds)
        return ros + round((stamp - now) * 1e9)

    def from_ros(self, nanoseconds: int) -> float:
        """Time of this clock [s] when the node's ROS clock is at `nanoseconds`."""
        return self() + (nanoseconds - int(self._clock.now().nanoseconds)) / 1e9
