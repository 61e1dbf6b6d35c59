"""Joint states: the latest of each joint, from any number of messages in any order.

An arm and its gripper may each publish only their own joints, and messages may have more joints
than the planned robot. Therefore each joint is stored by name, with its time.
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
    """State of one joint: position, velocity [rad or m, per s] and time [s].

    An unreported velocity is NaN.
    """

    position: float
    velocity: float
    time: float


class JointStates:
    """The latest state of each joint. Thread-safe."""

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
        """Store a message.

        Args:
            names, positions: (n) each; joints with non-finite positions are ignored.
            velocities: (n), or empty if unreported.
            received: present time on the node's clock [s].
            stamp: the message's own time [s], on the sender's clock; 0 if it has none. The earlier
                of both times counts.

        Returns:
            The error of an invalid message, which is ignored altogether; empty if valid.
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
        """Remove all states."""
        with self._lock:
            self._samples.clear()

    def age(self, names: Iterable[str], now: float) -> float:
        """Age of the oldest state of these joints [s]; infinite if one has no state."""
        with self._lock:
            samples = [self._samples.get(name) for name in names]
        return max((math.inf if s is None else now - s.time for s in samples), default=0.0)

    def wait_for(self, names: Iterable[str], seconds: float) -> bool:
        """Wait until all these joints have a state, up to a time [s] on the machine's clock.

        A planner that has just started may get requests before the first states arrive.

        Returns:
            True if all have a state.
        """
        wanted = set(names)
        with self._lock:
            return self._lock.wait_for(lambda: wanted <= self._samples.keys(), timeout=seconds)

    def of(self, names: Sequence[str], *, now: float, timeout: float) -> dict[str, Sample]:
        """Return the states of these joints.

        Args:
            names: names of the joints.
            now: present time on the node's clock [s].
            timeout: largest age of states [s]. States from before the clock was set back are
                invalid as well.

        Raises:
            Refusal: there are no states, a joint is missing, or a state is too old.
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
