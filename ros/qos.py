"""QoS profiles, in one place; needs rclpy.

Messages for late subscribers are latched (reliable, transient local, depth 1; the subscriber has to
request it as well). States and other streams are reliable and queue four seconds of samples.
Neither a stall nor a reader that requests missed samples late then loses any. Late set points are
useless: depth 1.
"""

from __future__ import annotations

import math

from rclpy.qos import DurabilityPolicy, HistoryPolicy, QoSProfile, ReliabilityPolicy

__all__ = ["ANYONES", "COMMANDS", "EVENTS", "LATCHED", "NEWEST", "SETPOINTS", "STATIC", "samples"]


def _reliable(depth: int, *, latched: bool = False) -> QoSProfile:
    return QoSProfile(
        history=HistoryPolicy.KEEP_LAST,
        depth=depth,
        reliability=ReliabilityPolicy.RELIABLE,
        durability=DurabilityPolicy.TRANSIENT_LOCAL if latched else DurabilityPolicy.VOLATILE,
    )


def _best_effort(depth: int) -> QoSProfile:
    return QoSProfile(
        history=HistoryPolicy.KEEP_LAST,
        depth=depth,
        reliability=ReliabilityPolicy.BEST_EFFORT,
        durability=DurabilityPolicy.VOLATILE,
    )


# robot_description, tf_static, and states that rarely change: robot_program_running, safety_mode,
# robot_mode.
LATCHED = _reliable(1, latched=True)
# Whole trajectories, and rare messages that must arrive.
COMMANDS = EVENTS = _reliable(10)
# Set points of a stream. The writer is reliable, the reader accepts any writer, as in ros2_control.
SETPOINTS = _reliable(1)
NEWEST = _best_effort(1)
# Subscriptions to topics with publishers of any reliability: /tf, a controller's trajectories.
ANYONES = _best_effort(100)
# tf_static, which has many publishers, each with one latched message.
STATIC = _reliable(100, latched=True)


# Length of queues of streams [s]: more than the 3 s between Fast DDS's heartbeats. Only after a
# heartbeat a reader may notice that it has missed samples, and request them.
_QUEUED = 4.0


def samples(rate: float) -> QoSProfile:
    """Profile of a lossless stream at `rate` [Hz]: reliable, volatile, queue of four seconds."""
    return _reliable(max(10, math.ceil(_QUEUED * rate)))
