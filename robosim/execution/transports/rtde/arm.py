"""`RtdeArm`: the Arm over RTDE, served by a process of its own (`process`)."""

from __future__ import annotations

import contextlib
import json
import subprocess
import tempfile
import threading
from collections.abc import Sequence
from multiprocessing import Pipe
from types import TracebackType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from robosim.errors import ExecutionError
from robosim.execution.checks import REAL_ARM
from robosim.execution.clock import monotonic
from robosim.execution.executor import Event, Feedback
from robosim.execution.goals import ErrorCode, GoalHandle, GoalResult, GoalStatus, Rejection
from robosim.execution.loop import sleep_until
from robosim.execution.messages import ArmState, ArmStatus, Goal, Setpoint
from robosim.execution.transports.rtde import wire
from robosim.execution.universal_robots import UR_JOINTS
from robosim.processes import start_worker

__all__ = ["RtdeArm", "RtdeGoal"]

MODULE = "robosim.execution.transports.rtde.process"
SILENT = 0.5  # [s] without a message from the process: the connection counts as lost
ANSWER = 1.0  # [s] to wait for the acceptance of a goal
FINISH = 5.0  # [s] for the process to stop the arm and end


class RtdeGoal:
    """A goal that was sent."""

    def __init__(self, arm: RtdeArm, number: int) -> None:
        self._arm, self._number = arm, number
        self._answered = threading.Event()
        self._rejection: Rejection | None = None
        self._result: GoalResult | None = None
        self.feedback: Feedback | None = None  # of the last control cycle that followed it

    @property
    def status(self) -> GoalStatus:
        """Current status of the goal."""
        return GoalStatus.EXECUTING if self._result is None else self._result.status

    @property
    def result(self) -> GoalResult | None:
        """Result of the goal, or None while it is executing. A late refusal is an aborted goal."""
        return self._result

    def cancel(self) -> None:
        """Cancel the goal: the arm slows down to rest and holds."""
        self._arm._tell({"cancel": self._number})

    def _settle(self, outcome: GoalResult | Rejection | None) -> None:
        if isinstance(outcome, Rejection):
            self._rejection = outcome
            outcome = GoalResult(
                GoalStatus.ABORTED, ErrorCode.INVALID_GOAL, outcome.text, rejected=True
            )
        if outcome is not None and self._result is None:
            self._result = outcome
        self._answered.set()


class RtdeArm:
    """A UR arm over RTDE: CB3 at 125 Hz, e-Series at 500 Hz.

    The arm follows servoj set points, one per control cycle, which a process of its own makes: from
    a goal by the trajectory executor, or from a stream, whose rate may be lower. The process never
    lets a joint leave its limits or move further in a cycle than its speed allows. It stops the arm
    along its direction of motion if set points, states or this process stop, or if the robot may
    not move. After a protective stop or a lost connection the object is of no further use: connect
    again.

    Args:
        host: name or address of the controller.
        joint_names: the six joints, in the controller's order.
        lower, upper: (6,) position limits [rad].
        speed: (6,) largest speeds, finite [rad/s].
        robot: name of the robot; a UR type in the name must match the controller.
        gain, lookahead: parameters of servoj: 100 to 2000; 0.03 to 0.2 s. A higher gain and a
        shorter look-ahead follow more closely.
        deceleration: deceleration of the fastest joint in a stop [rad/s^2].
        watchdog: rate of set points below which the controller stops the arm [Hz].
        timeout: time to connect [s].

    Attributes:
        rate: rate of the controller [Hz]: 125 or 500.
        requirements: conditions that must be known to hold before motion: all that the arm reports.
        events: what was refused, changed or aborted, and why.
        statistics: punctuality of the process at the controller; available after `close`.

    Raises:
        ExecutionError: the arm cannot be reached, is not ready, or is of another type; the message
            says what to do.
    """

    def __init__(
        self,
        host: str,
        joint_names: Sequence[str] = UR_JOINTS,
        *,
        lower: ArrayLike,
        upper: ArrayLike,
        speed: ArrayLike,
        robot: str = "",
        gain: float = 2000.0,
        lookahead: float = 0.03,
        deceleration: float = 5.0,
        watchdog: float = 10.0,
        timeout: float = 10.0,
    ) -> None:
        # Options of the process.
        self._names = tuple(joint_names)
        bounds = {"lower": lower, "upper": upper, "speed": speed}
        limits = {name: _six(name, value) for name, value in bounds.items()}
        if not np.isfinite(limits["speed"]).all():
            raise ExecutionError(f"speed: every joint needs a finite limit, got {speed!r}")
        options = {
            "host": host,
            "joint_names": self._names,
            **{name: value.tolist() for name, value in limits.items()},
            "robot": robot,
            "gain": gain,
            "lookahead": lookahead,
            "deceleration": deceleration,
            "watchdog": watchdog,
        }
        # State of the connection, shared with the listener thread.
        self._lock = threading.Lock()
        self._goals: dict[int, RtdeGoal] = {}
        self._number = 0
        self._state: ArmState | None = None
        self._status = ArmStatus(connected=False)
        self._heard = monotonic()
        self._lost = ""
        self._closing = False
        self._listener: threading.Thread | None = None
        self.requirements = REAL_ARM
        self.events: list[Event] = []
        self.statistics = ""
        # Output of the library, shown only if something goes wrong.
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 (closed in `_end`)
        self._parent, child = Pipe()
        with child:
            self._process: subprocess.Popen[bytes] = start_worker(
                MODULE,
                [str(child.fileno()), json.dumps(options)],
                pass_fds=[child.fileno()],
                output=self._log,
            )
        try:
            self.rate = self._connect(host, timeout)
        except BaseException:
            self._end(0.0)
            raise
        self._listener = threading.Thread(target=self._listen, name="rtde", daemon=True)
        self._listener.start()

    def _connect(self, host: str, timeout: float) -> float:
        try:
            if not self._parent.poll(timeout):
                raise ExecutionError(f"{host} does not answer within {timeout:g} s")
            message = wire.decode(self._parent.recv_bytes())
        except (EOFError, OSError):
            raise ExecutionError(f"connecting to {host} failed: {self._last_words()}") from None
        if "error" in message:
            raise ExecutionError(message["error"])
        return float(message["ready"]["rate"])

    # Arm interface

    @property
    def joint_names(self) -> tuple[str, ...]:
        """The six joints, in the controller's order."""
        return self._names

    def clock(self) -> float:
        """Return the monotonic time of this machine [s]."""
        return monotonic()

    def sleep_until(self, time: float) -> None:
        """Wait until the clock shows `time` or later."""
        sleep_until(time)

    def state(self) -> ArmState | None:
        """Return the last state.

        Its stamp is when the controller's own time was last seen to advance.
        """
        return self._state

    def status(self) -> ArmStatus:
        """Return the arm's readiness to follow commands."""
        status = self._status
        if not self._alive:
            return ArmStatus(
                False, False, status.program_running, status.safety_mode, status.speed_scaling
            )
        return status

    def send(self, goal: Goal) -> GoalHandle | Rejection:
        """Send a whole trajectory.

        Waits for the answer, normally for one control cycle and at most 1 s. A later refusal comes
        as the handle's result.
        """
        with self._lock:
            self._number += 1
            handle = RtdeGoal(self, self._number)
            self._goals[self._number] = handle
        self._tell({"goal": wire.goal_fields(goal), "id": handle._number})
        handle._answered.wait(ANSWER)
        return handle if handle._rejection is None else handle._rejection

    def stream(self, setpoint: Setpoint) -> None:
        """Send one set point, at the controller's rate or at a lower one that divides it.

        The arm holds if no set point comes for 0.1 s, or if one is further away than a joint moves
        in 0.05 s. To restart, send nothing for that long. Velocities are not used.
        """
        self._tell(
            {"setpoint": np.asarray(setpoint.position, dtype=float).tolist(), "time": monotonic()}
        )

    def stop(self) -> None:
        """Cancel the present motion: slow down to rest and hold."""
        self._tell({"stop": True})

    def close(self) -> None:
        """Stop, end the robot's program, and close the connection. May be called twice."""
        if self._closing:
            return
        self._closing = True
        self._tell({"close": True})
        self._end(FINISH)

    def __enter__(self) -> RtdeArm:
        """Return the arm itself; leaving the block closes it."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    # Process

    @property
    def _alive(self) -> bool:
        return not (self._lost or self._closing) and monotonic() - self._heard < SILENT

    def _tell(self, message: dict[str, Any]) -> None:
        # A process that does not listen must not block this one; messages to it count as lost.
        if self._alive or ("close" in message and not self._lost):
            with contextlib.suppress(OSError), self._lock:
                self._parent.send_bytes(wire.encode(message))
        elif "goal" in message:
            self._goals.pop(message["id"])._settle(
                GoalResult(
                    GoalStatus.ABORTED,
                    ErrorCode.INVALID_GOAL,
                    self._lost or "the arm is not connected",
                )
            )

    def _listen(self) -> None:
        try:
            while True:
                self._take(wire.decode(self._parent.recv_bytes()))
        except (EOFError, OSError):
            if not self._closing:
                self._lose(f"the process at the controller has ended: {self._last_words()}")

    def _take(self, message: dict[str, Any]) -> None:
        if "q" in message:
            self._state = ArmState(
                self._names, np.array(message["q"]), np.array(message["v"]), message["stamp"]
            )
            self._status = wire.status(message)
            self._heard = monotonic()
            goal = self._goals.get(message.get("id", 0))
            if goal is not None:
                goal.feedback = wire.feedback(message["feedback"], self._names)
        elif "answer" in message:
            if message["answer"] is not None:
                self._goals.pop(message["id"])._settle(wire.outcome(message["answer"]))
            else:
                self._goals[message["id"]]._settle(None)
        elif "result" in message:
            self._goals.pop(message["id"])._settle(wire.outcome(message["result"]))
        elif "note" in message:
            self._note(message["note"])
        elif "lost" in message:
            self._lose(message["lost"])
        elif "closed" in message:
            self.statistics = message["closed"]

    def _lose(self, why: str) -> None:
        if not self._lost:
            self._lost = why
            if not self._closing:
                self._note(why)
        for number in list(self._goals):
            result = GoalResult(GoalStatus.ABORTED, ErrorCode.INVALID_GOAL, self._lost)
            self._goals.pop(number)._settle(result)

    def _note(self, text: str) -> None:
        self.events.append(Event(monotonic(), "warning", text))

    def _end(self, timeout: float) -> None:
        try:
            self._process.wait(timeout)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        if self._listener is not None:  # the listener ends with the process
            self._listener.join()
        self._lose("the connection is closed")
        self._parent.close()
        self._log.close()

    def _last_words(self) -> str:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(FINISH)
        self._log.seek(0)
        lines = self._log.read().decode(errors="replace").strip().splitlines()
        return (
            "\n".join(lines)
            if lines
            else f"its process ended with status {self._process.returncode}"
        )


def _six(name: str, value: ArrayLike) -> np.ndarray[Any, np.dtype[np.float64]]:
    array = np.array(value, dtype=float)
    if array.shape != (6,) or np.isnan(array).any():
        raise ExecutionError(f"{name}: must be six numbers, not {value!r}")
    return array
