"""`Arm`: interface to an arm behind any transport: a simulation, ROS 2, DDS, RTDE.

An arm has its own clock. The clock of a real arm is that of the machine; the clock of a simulated
arm moves while someone waits for it. The same streaming code therefore runs with both.
"""

from __future__ import annotations

from types import TracebackType
from typing import Protocol

from robosim.execution.goals import GoalHandle, Rejection
from robosim.execution.messages import ArmState, ArmStatus, Goal, Setpoint

__all__ = ["Arm"]


class Arm(Protocol):
    """An arm that can be commanded.

    Methods may be called from one thread at a time; only `sleep_until` blocks.
    """

    @property
    def joint_names(self) -> tuple[str, ...]:
        """Names of the joints, in the arm's own order.

        Set points use this order; trajectories are matched by name.
        """

    def clock(self) -> float:
        """Return the present time on the arm's clock [s]."""

    def sleep_until(self, time: float) -> None:
        """Wait until the arm's clock shows `time` or later."""

    def state(self) -> ArmState | None:
        """Return the last state that was received, or None before the first."""

    def status(self) -> ArmStatus:
        """Return the arm's readiness to follow commands."""

    def send(self, goal: Goal) -> GoalHandle | Rejection:
        """Send a whole trajectory, which the arm interpolates.

        If the transport answers late, a refusal may also come as the handle's result.
        """

    def stream(self, setpoint: Setpoint) -> None:
        """Send one set point of a stream.

        The caller keeps the rate, and the arm holds when the stream stops.
        """

    def stop(self) -> None:
        """Cancel the present motion and hold the present position."""

    def close(self) -> None:
        """Stop, and close the connection. The arm continues to hold. May be called twice."""

    def __enter__(self) -> Arm:
        """Return the arm itself; leaving the block closes it."""

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...
