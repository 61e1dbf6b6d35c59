"""The port through which trajectories reach an arm, whatever is behind it: a simulation, ROS 2,
DDS, RTDE.

An arm owns its time: a real one's clock is the machine's, a simulated one's moves when someone
waits for it. So the same streaming code runs against both.
"""

from __future__ import annotations

from types import TracebackType
from typing import Protocol

from robosim.execution.goals import GoalHandle, Rejection
from robosim.execution.messages import ArmState, ArmStatus, Goal, Setpoint

__all__ = ["Arm"]


class Arm(Protocol):
    """An arm that can be commanded. Methods may be called from one thread at a time; none blocks
    but `sleep_until`."""

    @property
    def joint_names(self) -> tuple[str, ...]:
        """The joints, in the arm's own order; set points are in this order, trajectories are
        matched by name."""

    def clock(self) -> float:
        """Now [s], on the arm's clock."""

    def sleep_until(self, time: float) -> None:
        """Wait until the arm's clock shows `time` or later."""

    def state(self) -> ArmState | None:
        """The last state that was heard of, or None before the first."""

    def status(self) -> ArmStatus:
        """Whether it would follow."""

    def send(self, goal: Goal) -> GoalHandle | Rejection:
        """Send a whole trajectory; the arm interpolates. A refusal may also come later, as the
        handle's result, where the transport answers late."""

    def stream(self, setpoint: Setpoint) -> None:
        """Send one set point of a stream; the caller keeps the rate. The arm holds when the stream
        stops."""

    def stop(self) -> None:
        """Give up what goes on and hold the present position."""

    def close(self) -> None:
        """Stop, and let go of the connection. The arm keeps holding. May be called twice."""

    def __enter__(self) -> Arm:
        """The arm itself; leaving the block closes it."""

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...
