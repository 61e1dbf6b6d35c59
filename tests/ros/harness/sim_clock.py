"""Publisher of /clock that runs, stands still or jumps."""

from __future__ import annotations

import threading
import time
from typing import Any

from robosim.ros.messages import set_time


class SimClock:
    """Simulated time for all nodes with `use_sim_time`, by default 5 ms every 5 ms.

    If this thread is late it catches up, but by no more than the time limits of nodes allow. On a
    very busy machine simulated time is slow.
    """

    STEP = 5_000_000  # [ns]
    MOST = 4  # most steps at once: a fifth of the shortest limit

    def __init__(self, node: Any, begin: float = 1000.0) -> None:
        from rclpy.qos import QoSProfile
        from rosgraph_msgs.msg import Clock

        self._kind = Clock
        self._publisher = node.create_publisher(Clock, "/clock", QoSProfile(depth=10))
        self._now = round(begin * 1e9)
        self._lock = threading.Lock()
        self._paused = False
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        last = time.monotonic()
        while not self._ended.wait(self.STEP / 1e9):  # the clock's rate
            before, last = last, time.monotonic()
            steps = min(self.MOST, round((last - before) * 1e9 / self.STEP))
            with self._lock:
                if not self._paused:
                    self._tell(self._now + steps * self.STEP)

    @property
    def now(self) -> int:
        """Time published last [ns]."""
        with self._lock:
            return self._now

    def jump(self, seconds: float) -> None:
        """Move the time forward or back."""
        with self._lock:
            self._tell(self._now + round(seconds * 1e9))

    def _tell(self, now: int) -> None:
        self._now = now
        message = self._kind()
        set_time(message.clock, now)
        self._publisher.publish(message)

    def pause(self) -> None:
        """Stop the clock; no more time passes when this returns."""
        with self._lock:
            self._paused = True

    def resume(self) -> None:
        with self._lock:
            self._paused = False

    def close(self) -> None:
        self._ended.set()
        self._thread.join()
