"""Control thread: one call per period, on a grid of absolute deadlines, in real or simulated time.

In real time, the monotonic clock determines the periods, which nobody can set. The ROS clock only
determines the stamps. If it is set to another time, the stamps follow and the arm does not. In
simulated time (`use_sim_time`), the ROS clock determines the periods; if it stands still, so does
the arm. In both, missed periods are made up for, up to a bound. A larger jump, or a jump back, is
not time that has passed for the arm, which continues from its state with one period.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

from robosim.execution.loop import DeadlineLoop, LoopStatistics

__all__ = ["ControlThread"]

_MOST_BEHIND = 1.0  # [s] largest delay that is made up for
_CLOCK_SET = 50_000_000  # [ns] a larger difference means that the ROS clock was set, not slewed
_SLEW = 10_000  # [ns] by which stamps may follow a slewed clock per period
_LOOK = 0.2  # [s] between checks for the end, while simulated time stands still


class ControlThread:
    """Calls `on_period` once per control period until stopped.

    Args:
        clock: the node's rclpy clock.
        rate: [Hz].
        on_period: called with the stamp of the period's end [ns, ROS time]. Stamps are whole
            periods apart, without gaps except where time has jumped.
        on_jump: called with a description of a clock jump.
        on_failure: called with an exception of `on_period`, which has ended the thread.

    Attributes:
        jumps: number of clock jumps.
    """

    def __init__(
        self,
        clock: Any,
        rate: float,
        on_period: Callable[[int], None],
        on_jump: Callable[[str], None],
        on_failure: Callable[[BaseException], None],
    ) -> None:
        self._clock, self._rate = clock, rate
        self._on_period, self._on_jump, self._on_failure = on_period, on_jump, on_failure
        self._period_ns = round(1e9 / rate)
        self._most_behind = max(1, round(_MOST_BEHIND * rate))
        self._stopped = threading.Event()
        self._moved = threading.Event()  # set when simulated time has moved
        self.jumps = 0
        self._last = 0  # latest time of the ROS clock [ns]
        self._loop: DeadlineLoop | None = None
        self._thread = threading.Thread(target=self._run, name="control", daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def stop(self) -> None:
        """Stop the thread and wait for its end."""
        self._stopped.set()
        self._moved.set()
        if self._thread.is_alive() and self._thread is not threading.current_thread():
            self._thread.join()

    def statistics(self) -> LoopStatistics | None:
        """Statistics of the deadlines, or None before the first."""
        return None if self._loop is None else self._loop.statistics()

    def _run(self) -> None:
        try:
            while not self._stopped.is_set():
                if self._clock.ros_time_is_active:
                    self._simulated_time()
                else:
                    self._real_time()
        except BaseException as failure:
            self._on_failure(failure)

    # -- Real time ---------------------------------------------------------------------------------

    def _real_time(self) -> None:
        """Run until stopped, or until simulated time begins."""
        self._loop = loop = DeadlineLoop(self._rate)
        offset = self._ros_offset()
        while not self._stopped.is_set() and not self._clock.ros_time_is_active:
            tick = loop.wait()
            off = self._ros_offset() - offset
            if abs(off) > _CLOCK_SET:
                self._jump(
                    f"the clock was set by {off / 1e9:.3f} s; stamps follow, the arm does not"
                    " notice"
                )
                offset += off
            else:
                # Gradually, because the thread may have been suspended between the two readings.
                offset += min(max(off, -_SLEW), _SLEW)
            self._periods(tick.missed, round(tick.deadline * 1e9) + offset)

    def _ros_offset(self) -> int:
        return int(self._clock.now().nanoseconds) - time.monotonic_ns()

    # -- Simulated time ----------------------------------------------------------------------------

    def _simulated_time(self) -> None:
        """Run until stopped, or until simulated time ends."""
        from rclpy.clock import JumpThreshold
        from rclpy.duration import Duration

        threshold = JumpThreshold(
            min_forward=Duration(nanoseconds=1),
            min_backward=Duration(nanoseconds=-1),
            on_clock_change=True,
        )
        with self._clock.create_jump_callback(threshold, post_callback=lambda _: self._moved.set()):
            if not self._sleep(0):  # stopped before the first message on /clock
                return
            # Seconds since a recent origin, because a double of seconds since 1970 cannot resolve
            # nanoseconds.
            origin = self._now()

            def sleep_until(deadline: float) -> None:
                self._sleep(origin + round(deadline * 1e9))

            self._loop = loop = DeadlineLoop(
                self._rate, lambda: (self._now() - origin) / 1e9, sleep_until
            )
            last = 0.0
            while True:
                tick = loop.wait()
                if self._stopped.is_set() or not self._clock.ros_time_is_active:
                    return
                if tick.time < last:
                    self._jump(
                        f"the clock went back by {last - tick.time:.3f} s; the arm goes on from"
                        " where it is"
                    )
                last = tick.time
                self._periods(tick.missed, origin + round(tick.deadline * 1e9))

    def _now(self) -> int:
        self._last = int(self._clock.now().nanoseconds)
        return self._last

    def _sleep(self, deadline: int) -> bool:
        """Sleep until the ROS clock is above 0 and at least `deadline` [ns], or has gone back.

        Return false if the thread must end.
        """
        while True:
            self._moved.clear()
            if self._stopped.is_set() or not self._clock.ros_time_is_active:
                return False
            last, now = self._last, self._now()
            if now > 0 and (now >= deadline or now < last):
                return True
            self._moved.wait(_LOOK)

    # -- Both --------------------------------------------------------------------------------------

    def _jump(self, what: str) -> None:
        self.jumps += 1
        self._on_jump(what)

    def _periods(self, missed: int, stamp: int) -> None:
        """Run the periods that are over: those missed, then the one that ends at `stamp` [ns]."""
        if missed > self._most_behind:
            self._jump(f"{missed / self._rate:.3f} s are missing; the arm goes on from where it is")
            missed = 0
        for behind in range(missed, -1, -1):
            self._on_period(stamp - behind * self._period_ns)
