"""Detection of simulated time without a publisher of /clock: logged once, and named in refusals."""

from __future__ import annotations

from typing import Any

__all__ = ["ClockWatch", "no_clock"]

PATIENCE = 2.0  # [s] of real time for a first message on /clock


def no_clock(node: Any) -> str:
    """Return why a node's time stands still, or "" if it moves or has moved."""
    clock = node.get_clock()
    if not clock.ros_time_is_active or clock.now().nanoseconds != 0:
        return ""
    return (
        "use_sim_time is true and nothing has arrived on /clock, so time stands still: whoever"
        " simulates has to publish it, or parameter 'use_sim_time' has to be false"
    )


class ClockWatch:
    """Logs once that a node has waited for /clock in vain.

    Args:
        node: rclpy node.
    """

    def __init__(self, node: Any) -> None:
        from rclpy.clock import Clock, ClockType

        self._node = node
        self._timer = node.create_timer(
            PATIENCE, self._look, clock=Clock(clock_type=ClockType.STEADY_TIME)
        )

    def _look(self) -> None:
        self._timer.cancel()
        if missing := no_clock(self._node):
            self._node.get_logger().error(missing)
