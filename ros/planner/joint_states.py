"""Where the joints are: the latest of each joint, from any number of messages in any order.

An arm and its gripper may each publish only their own joints, and messages may hold more joints
than the robot that is planned for; so each joint is remembered by its name, with the time at which
it was heard of.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from robosim.ros.planner.codes import ErrorCode, Refusal

__all__ = ["JointStates", "Sample"]


@dataclass(frozen=True)
class Sample:
    """One joint: position and velocity [rad or m, per s], and when that was [s]. A velocity not
    told is NaN."""

    position: float
    velocity: float
    time: float


class JointStates:
    """The latest state of each joint. Fed and asked from different threads."""

    def __init__(self) -> None:
        self._lock = threading.Condition()
        self._samples: dict[str, Sample] = {}

    def update(
        self,
        names: Sequence[str],
        positions: Sequence[float],
        velocities: Sequence[float],
        *,
        received: float,
        stamp: float = 0.0,
    ) -> str:
        """Take in a message.

        Args:
            names, positions: (n) of each; joints whose position is not finite are passed over.
            velocities: (n), or empty where none are told.
            received: now, on the node's clock [s].
            stamp: the message's own time [s], on the clock of who sent it; 0 if it has none. A
                state counts as old as the older of both says.

        Returns:
            What is wrong with the message, which is then not used at all; empty if nothing is.
        """
        if len(names) != len(positions) or len(velocities) not in (0, len(names)):
            return (
                f"a joint state names {len(names)} joints, with {len(positions)} positions and "
                f"{len(velocities)} velocities"
            )
        time = min(received, stamp) if stamp > 0 else received
        speeds = velocities if len(velocities) else [math.nan] * len(names)
        told = zip(names, positions, speeds, strict=True)
        fresh = {name: Sample(float(q), float(v), time) for name, q, v in told if math.isfinite(q)}
        with self._lock:
            self._samples.update(fresh)
            self._lock.notify_all()
        return ""

    def clear(self) -> None:
        """Forget all."""
        with self._lock:
            self._samples.clear()

    def age(self, names: Iterable[str], now: float) -> float:
        """How long ago the least recently heard of these joints was told [s]; infinite if one never
        was."""
        with self._lock:
            samples = [self._samples.get(name) for name in names]
        return max((math.inf if s is None else now - s.time for s in samples), default=0.0)

    def wait_for(self, names: Iterable[str], seconds: float) -> bool:
        """Wait until something is known of all these joints, at most so long by the computer's
        clock.

        A planner that has just begun is asked before the first states have found their way to it.

        Returns:
            Whether all are known.
        """
        wanted = set(names)
        with self._lock:
            return self._lock.wait_for(lambda: wanted <= self._samples.keys(), timeout=seconds)

    def of(self, names: Sequence[str], *, now: float, timeout: float) -> dict[str, Sample]:
        """The state of these joints.

        Args:
            names: of the joints.
            now: on the node's clock [s].
            timeout: [s] older states do not count. A clock that was set back makes them just as
                useless.

        Raises:
            Refusal: nothing is known, a joint is missing, or what is known is too old.
        """
        with self._lock:
            samples = dict(self._samples)
        if names and not samples:
            raise Refusal(
                ErrorCode.ROBOT_STATE_STALE,
                "no joint state has arrived; does somebody publish joint_states?",
            )
        if missing := [name for name in names if name not in samples]:
            raise Refusal(
                ErrorCode.INVALID_ROBOT_STATE,
                f"joint_states says nothing of {_listed(missing)}; it has told of"
                f" {_listed(sorted(samples))}",
            )
        for name in names:
            age = now - samples[name].time
            if abs(age) > timeout:
                when = (
                    f"{age:.3g} s old"
                    if age > 0
                    else f"from {-age:.3g} s ahead of this node's clock"
                )
                raise Refusal(
                    ErrorCode.ROBOT_STATE_STALE,
                    f"the state of joint {name!r} is {when}; at most {timeout:g} s are allowed "
                    "(parameter 'state_timeout')",
                )
        return {name: samples[name] for name in names}


def _listed(names: Sequence[str], limit: int = 12) -> str:
    shown = ", ".join(repr(name) for name in names[:limit])
    return f"{shown} and {len(names) - limit} more" if len(names) > limit else shown
