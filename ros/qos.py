"""Qualities of service, in one place; needs rclpy.

What must reach a late joiner is latched (reliable, transient local, depth 1; the subscriber has to
ask for it too). States and other streams are reliable and queue four seconds of samples, so that
neither a stall nor a reader that asks late for what it has missed loses any. Set points are worth
nothing when late: depth 1.
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


# robot_description, tf_static, and states that change seldom: robot_program_running, safety_mode,
# robot_mode.
LATCHED = _reliable(1, latched=True)
# Whole trajectories, and the few messages that are rare and must arrive.
COMMANDS = EVENTS = _reliable(10)
# Set points of a stream: their writer is reliable, their reader takes any writer, as ros2_control's
# controllers do.
SETPOINTS = _reliable(1)
NEWEST = _best_effort(1)
# Subscriptions to topics that anybody may publish on, however reliably: /tf, a controller's
# trajectories.
ANYONES = _best_effort(100)
# tf_static, which has many publishers, each with one latched message.
STATIC = _reliable(100, latched=True)


# [s] of a stream that queues hold: more than the 3 s between Fast DDS's heartbeats, after which
# alone a reader may learn that it has missed samples, and ask for them.
_QUEUED = 4.0


def samples(rate: float) -> QoSProfile:
    """For a stream at `rate` [Hz] of which nothing may be lost: reliable, volatile, queueing four
    seconds of it."""
    return _reliable(max(10, math.ceil(_QUEUED * rate)))
