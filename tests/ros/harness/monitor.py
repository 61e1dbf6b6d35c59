"""Monitor of an arm's joint states: asserts that the arm stays within its limits without jumps.

The motion allowed for one sample is the velocity limit times the control period. DDS numbers the
messages of each publisher. The monitor counts samples by these numbers, so that it notices a lost
sample whatever its stamp is.
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

# Slack of a bound for rounding in the arm's arithmetic.
ROUNDING = 1e-9


@dataclass
class Life:
    """Samples of one publisher, that is, of one run of the arm's process."""

    sequence: list[int] = field(default_factory=list)
    stamp: list[int] = field(default_factory=list)  # [ns]
    position: list[np.ndarray] = field(default_factory=list)
    velocity: list[np.ndarray] = field(default_factory=list)


class Monitor:
    """Recorder of all joint states from now on; `check` asserts that they are as allowed.

    Args:
        node: a spinning rclpy node.
        model: the robot, for its limits.
        rate: rate of the arm's control loop [Hz].
        joints: order in which positions are recorded.
        topic: topic of the joint states.
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
        # Capacity for ten seconds of samples at 500 Hz: a stall of this process loses none.
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
        """Expect that the arm's process was ended: a gap in the numbers begins another life.

        The numbers of the next life may begin above those of the last one, since messages that a
        publisher sends before it is discovered are lost.
        """
        with self._lock:
            self._restarts = True

    # -- Queries -----------------------------------------------------------------------------------

    @property
    def count(self) -> int:
        """Number of samples of all lives."""
        with self._lock:
            return sum(len(life.sequence) for life in self.lives)

    def so_far(self) -> list[Life]:
        """Copy of all lives, to which later samples are not added."""
        with self._lock:
            return [
                Life(
                    list(life.sequence), list(life.stamp), list(life.position), list(life.velocity)
                )
                for life in self.lives
            ]

    def wait_first(self) -> None:
        """Wait for the first sample: states of an arm that takes goals may not have arrived yet."""
        wait_for(lambda: self.count > 0, "a first joint state")

    @property
    def position(self) -> np.ndarray:
        """Last position, or the first one to arrive."""
        self.wait_first()
        with self._lock:
            return self.lives[-1].position[-1]

    @property
    def velocity(self) -> np.ndarray:
        """Last velocity, or the first one to arrive."""
        self.wait_first()
        with self._lock:
            return self.lives[-1].velocity[-1]

    def moved(self, since: np.ndarray) -> float:
        """Largest motion of a joint since the positions `since` [rad]."""
        return float(np.abs(self.position - since).max())

    def wait_motion(self, distance: float = 0.05, timeout: float = LIMIT) -> np.ndarray:
        """Wait until a joint has moved by `distance` from its present position.

        Returns the positions of all joints at the time of the call.
        """
        begin = self.position
        wait_for(
            lambda: self.moved(begin) > distance, f"the arm to move by {distance} rad", timeout
        )
        return begin

    def wait_rest(self, samples: int = 20, timeout: float = LIMIT) -> np.ndarray:
        """Wait until the last `samples` positions are equal; return this position."""
        self.wait_first()
        first = self.count

        def still() -> bool:
            with self._lock:
                last = self.lives[-1].position[-samples:]
            return self.count >= first + samples and all((q == last[0]).all() for q in last)

        wait_for(still, "the arm to stand still", timeout)
        return self.position

    def largest_step(self) -> float:
        """Largest motion between two samples, relative to the motion allowed."""
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

    # -- The verdict -------------------------------------------------------------------------------

    def check(self, *, whole: bool = True) -> None:
        """Assert that the arm stayed within its limits and moved by one sample's motion at most.

        Args:
            whole: assert also that no sample was lost and that their order was kept.
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
