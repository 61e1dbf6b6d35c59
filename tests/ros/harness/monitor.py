"""Watches an arm's joint states during a whole test: whatever happens, it stays within its limits
and does not jump.

One sample's motion is the velocity limit times the control period. Samples are counted by the
number that DDS gives each of a publisher's messages, so that a lost one is seen whatever its stamp
says.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from robosim.execution.plant import joint_columns
from robosim.model import Model
from robosim.ros.messages import nanoseconds_of

from .waiting import LIMIT, wait_for

# What may be added to a bound by rounding in the arm's own arithmetic.
ROUNDING = 1e-9


@dataclass
class Life:
    """The samples of one publisher, which is one life of the arm's process."""

    sequence: list[int] = field(default_factory=list)
    stamp: list[int] = field(default_factory=list)  # [ns]
    position: list[np.ndarray] = field(default_factory=list)
    velocity: list[np.ndarray] = field(default_factory=list)


class Monitor:
    """Notes every joint state from now on; `check` says whether all was well.

    Args:
        node: a spinning rclpy node.
        model: the robot, for its limits.
        rate: of the arm's control loop [Hz].
        joints: in the order in which positions are kept.
        topic: of the joint states.
    """

    def __init__(
        self,
        node: Any,
        model: Model,
        rate: float,
        joints: tuple[str, ...],
        topic: str = "/joint_states",
    ) -> None:
        from rclpy.qos import QoSProfile
        from sensor_msgs.msg import JointState

        self.joints, self.rate = joints, rate
        columns = joint_columns(model, joints)
        self._lower, self._upper = model.limits.lower[columns], model.limits.upper[columns]
        self._speed = model.limits.velocity[[model.velocity_names.index(name) for name in joints]]
        self._lock = threading.Lock()
        self.lives: list[Life] = []
        self._restarts = False
        # Ten seconds of samples at 500 Hz: a stall of this process loses none.
        self._subscription = node.create_subscription(
            JointState, topic, self._on_state, QoSProfile(depth=5000)
        )

    def _on_state(self, message: Any, info: dict[str, Any]) -> None:
        index = {name: i for i, name in enumerate(message.name)}
        order = [index[name] for name in self.joints]
        with self._lock:
            number = info["publication_sequence_number"]
            last = self.lives[-1].sequence[-1] if self.lives else number
            if not self.lives or number <= last or (self._restarts and number != last + 1):
                self._restarts = False
                self.lives.append(Life())
            life = self.lives[-1]
            life.sequence.append(number)
            life.stamp.append(nanoseconds_of(message.header.stamp))
            life.position.append(np.array(message.position)[order])
            life.velocity.append(np.array(message.velocity)[order])

    def expect_restart(self) -> None:
        """The arm's process was ended: where the numbers do not go on, another life begins. They
        may begin above the old one's, for what a publisher says before it is found is not heard."""
        with self._lock:
            self._restarts = True

    # -- What the test asks
    # ----------------------------------------------------------------------------------

    @property
    def count(self) -> int:
        """Samples so far, of all lives."""
        with self._lock:
            return sum(len(life.sequence) for life in self.lives)

    def so_far(self) -> list[Life]:
        """All lives as they are now: what comes later is in none of their lists."""
        with self._lock:
            return [
                Life(
                    list(life.sequence), list(life.stamp), list(life.position), list(life.velocity)
                )
                for life in self.lives
            ]

    def wait_first(self) -> None:
        """Wait until there is a sample: an arm that takes goals may not have been heard yet."""
        wait_for(lambda: self.count > 0, "a first joint state")

    @property
    def position(self) -> np.ndarray:
        """The last one, or the first that comes."""
        self.wait_first()
        with self._lock:
            return self.lives[-1].position[-1]

    @property
    def velocity(self) -> np.ndarray:
        """The last one, or the first that comes."""
        self.wait_first()
        with self._lock:
            return self.lives[-1].velocity[-1]

    def moved(self, since: np.ndarray) -> float:
        """How far the joint is that is farthest from where it was [rad]."""
        return float(np.abs(self.position - since).max())

    def wait_motion(self, distance: float = 0.05, timeout: float = LIMIT) -> np.ndarray:
        """Wait until a joint is `distance` from where it is now, and moves; where all were at the
        beginning."""
        begin = self.position
        wait_for(
            lambda: self.moved(begin) > distance, f"the arm to move by {distance} rad", timeout
        )
        return begin

    def wait_rest(self, samples: int = 20, timeout: float = LIMIT) -> np.ndarray:
        """Wait until the last `samples` positions are the same; where that is."""
        self.wait_first()
        first = self.count

        def still() -> bool:
            with self._lock:
                last = self.lives[-1].position[-samples:]
            return self.count >= first + samples and all((q == last[0]).all() for q in last)

        wait_for(still, "the arm to stand still", timeout)
        return self.position

    def largest_step(self) -> float:
        """The largest motion between two samples, as a part of what is allowed."""
        return max(float((step / allowed).max()) for step, allowed in self._steps())

    def _steps(self) -> list[tuple[np.ndarray, np.ndarray]]:
        return [
            (
                np.abs(np.diff(np.array(life.position), axis=0)),
                np.diff(life.sequence)[:, None] * (self._speed / self.rate) + ROUNDING,
            )
            for life in self.so_far()
            if len(life.position) > 1
        ]

    # -- The verdict
    # -----------------------------------------------------------------------------------------

    def check(self, *, whole: bool = True) -> None:
        """Fail unless the arm stayed within its limits and moved by no more than one sample's
        motion at a time.

        Args:
            whole: also that no sample was lost and their order was kept.
        """
        assert self.count > 1, "no joint states came"
        for life in self.so_far():
            q, v = np.array(life.position), np.array(life.velocity)
            assert np.isfinite(q).all()
            assert np.isfinite(v).all()
            for name, low, values, high in zip(
                self.joints, self._lower, q.T, self._upper, strict=True
            ):
                assert low - ROUNDING <= values.min(), (
                    f"{name} is at {values.min()}, below its limit {low}"
                )
                assert values.max() <= high + ROUNDING, (
                    f"{name} is at {values.max()}, above its limit {high}"
                )
            fastest = np.abs(v).max(axis=0)
            assert (fastest <= self._speed * (1 + ROUNDING)).all(), (
                f"velocities {fastest}, allowed {self._speed}"
            )
            if whole:
                missing = [
                    b for a, b in zip(life.sequence, life.sequence[1:], strict=False) if b != a + 1
                ]
                assert not missing, (
                    f"samples are missing before numbers {missing[:5]} of {life.sequence[-1]}"
                )
        for step, allowed in self._steps():
            worst = np.unravel_index(int((step / allowed).argmax()), step.shape)
            assert (step <= allowed).all(), (
                f"{self.joints[worst[1]]} jumped by {step[worst]} rad at sample {worst[0]}; allowed"
                f" {allowed[worst[0]]}"
            )
