"""The process at the controller: one iteration per control cycle, in a deadline loop of its own.

Each iteration reads the controller's state, receives messages of the parent, computes the next
position and commands it. The position is that of a goal (by the trajectory executor), of a stream,
of a ramp to rest, or unchanged. As a separate process it keeps its deadlines regardless of the
parent's load, and can be ended regardless of the library's state. It stops the arm if the parent is
gone, if set points or states stop coming, and if the robot may not move.
"""

from __future__ import annotations

import contextlib
import os
import sys
import traceback
from multiprocessing.connection import Connection
from typing import Any

import numpy as np
import numpy.ma  # percentiles import it on first use, when no file can be opened any more
from numpy.typing import NDArray

from robosim.errors import ExecutionError
from robosim.execution.clock import monotonic
from robosim.execution.executor import ExecutorGoal, TrajectoryExecutor
from robosim.execution.goals import ErrorCode, GoalResult, GoalStatus, Rejection, RejectReason
from robosim.execution.loop import DeadlineLoop
from robosim.execution.messages import ArmState, ArmStatus
from robosim.execution.tolerances import ControllerTolerances
from robosim.execution.transports.rtde import wire
from robosim.execution.transports.rtde.controller import Controller, Lost, Reading
from robosim.execution.transports.rtde.joints import check_model
from robosim.execution.transports.rtde.motion import Motion, Playout
from robosim.trajectory import TrajectoryLimits

__all__ = ["main"]

Array = NDArray[np.float64]

STALE = 0.1  # [s] without a new state: stop
GONE = 2.0  # [s] without a new state: the connection is lost
GRACE = 0.2  # [s] for the robot to report why it stopped, before its program is ended
STREAM_TIMEOUT = 0.1  # [s] without a new set point: the stream has ended
AT_TARGET = 1e-3  # [rad] from the last set point: the stream ended as intended
# The path tolerance is that of UR's ROS driver. At the goal that driver accepts 0.1 rad, and waits
# without limit.
TOLERANCES = ControllerTolerances(path=0.2, goal=0.02, stopped_velocity=0.05, goal_time=2.0)


class Driver:
    """Server of one parent and one controller, until the connection to either ends."""

    def __init__(self, parent: Connection, controller: Controller, options: dict[str, Any]) -> None:
        self._parent, self._controller = parent, controller
        self._names = tuple(options["joint_names"])
        lower, upper, speed = (np.array(options[name]) for name in ("lower", "upper", "speed"))
        self._loop = DeadlineLoop(controller.rate)
        self._period = 1.0 / controller.rate
        self._reading = controller.read()
        self._seen = monotonic()  # time of the last new state of the controller
        self._motion = Motion(
            self._names,
            lower,
            upper,
            speed,
            options["deceleration"],
            self._period,
            self._reading.position,
        )
        self._playout = Playout(self._period, self._reading.position)
        limits = TrajectoryLimits(lower=lower, upper=upper, velocity=speed)
        self._executor = TrajectoryExecutor(
            self._names, clock=monotonic, tolerances=TOLERANCES, limits=limits
        )
        self._goals: dict[int, ExecutorGoal] = {}
        self._doing = "idle"  # idle (not servoing yet), hold, goal, stream, brake
        self._fault = ""
        self._why = ""  # reason of the present stop
        self._closing = False
        self._refused: float | None = None  # time since which no set point has been accepted
        self._failed_at, self._given_up = np.inf, False

    def run(self) -> None:
        """Run until closed. Raises Lost."""
        while not (
            self._closing and (self._motion.at_rest or self._doing == "idle" or self._fault)
        ):
            tick = self._loop.wait()
            self._read(tick.time)
            self._listen()
            if self._doing != "idle" and not self._fault:
                self._move(tick.time)
            self._report_goals()
            self._report_state()
            if not self._given_up and tick.time - self._failed_at > GRACE:
                self._give_up()
        if self._fault or monotonic() - self._seen > STALE:
            self._give_up()  # the library would wait in vain for answers
        else:
            self._controller.finish()
        self._send({"closed": str(self._loop.statistics())})

    # Controller side

    def _read(self, now: float) -> None:
        reading = self._controller.read()
        if reading.timestamp != self._reading.timestamp:
            self._seen = now
        self._reading = reading
        if now - self._seen > GONE:
            raise Lost(f"the controller has sent no new state for {GONE:g} s")
        if reading.trouble and not self._fault:
            self._fail(reading.trouble)
        elif now - self._seen > STALE and self._doing in ("goal", "stream"):
            self._stop(f"the controller has sent no new state for {STALE:g} s")

    def _move(self, now: float) -> None:
        if self._reading.paused:  # the library sends nothing then, and the arm stands still
            self._motion.step_to(self._motion.position)
            self._refused = None
            return
        # A position that was not accepted is sent again. The library learns about the program over
        # a connection of its own: slightly later that a pause has ended, or slightly earlier that
        # commands are not accepted any more.
        if self._refused is None:
            self._step(now)
        if self._controller.servo(self._motion.position):
            self._refused = None
        elif self._refused is None:
            self._refused = now
        elif now - self._refused > STALE:
            self._fail("the controller does not take set points")

    def _step(self, now: float) -> None:
        """Compute the position of this cycle."""
        motion = self._motion
        if self._doing == "goal":
            self._follow_goal()
        elif self._doing == "stream":
            self._follow_stream(now)
        elif self._doing == "brake":
            motion.brake()
            self._doing = "hold" if motion.at_rest else "brake"
        else:
            motion.step_to(motion.position)

    def _follow_goal(self) -> None:
        goal = self._executor.goal
        if goal is None:  # canceled or preempted meanwhile
            self._doing = "brake"
            self._motion.brake()
            return
        wanted = self._executor.update(
            self._state(), self._period, speed_scaling=self._reading.speed_scaling
        ).position
        result = goal.result
        jump = self._motion.refusal(wanted)
        if result is None and jump:
            self._stop(jump)
        if self._executor.goal is not None or (result is not None and result.ok):
            self._motion.step_to(wanted)
            self._doing = "goal" if result is None else "hold"
        else:  # aborted: slow down from the commanded position, not from the measured one
            self._doing = "brake"
            self._motion.brake()

    def _follow_stream(self, now: float) -> None:
        motion, playout = self._motion, self._playout
        silent = playout.age(now) > STREAM_TIMEOUT
        wanted = playout.next(motion.position, flush=silent)
        if wanted is None:  # late, or the last set point: slow down meanwhile
            motion.brake()
        elif complaint := motion.step_to(wanted):
            self._note(complaint)
        if silent and wanted is None:
            self._doing = "brake"
            if np.abs(motion.position - playout.last).max() > AT_TARGET:
                self._note(f"no set point for {STREAM_TIMEOUT:g} s: holding")

    # Parent side

    def _listen(self) -> None:
        try:
            while self._parent.poll(0):
                self._take(wire.decode(self._parent.recv_bytes()))
        except (EOFError, OSError):  # the parent is gone
            self._stop("the commanding process is gone")
            self._closing = True

    def _take(self, message: dict[str, Any]) -> None:
        if "goal" in message:
            number = message["id"]
            answer = self._submit(wire.goal(message["goal"]))
            if isinstance(answer, ExecutorGoal):
                self._goals[number] = answer
                self._send({"id": number, "answer": None})
            else:
                self._send({"id": number, "answer": wire.outcome_fields(answer)})
        elif "cancel" in message:
            goal = self._goals.get(message["cancel"])
            if goal is not None:
                goal.cancel()
        elif "setpoint" in message:
            self._stream(np.array(message["setpoint"], dtype=float), message["time"])
        elif "stop" in message:
            self._stop("")
        elif "close" in message:
            self._stop("the connection is being closed")
            self._closing = True

    def _submit(self, goal: Any) -> ExecutorGoal | Rejection:
        if self._fault or self._closing:
            return Rejection(RejectReason.INACTIVE, self._fault or "the connection is being closed")
        if not self._motion.at_rest and self._doing != "goal":
            return Rejection(
                RejectReason.INACTIVE, "the arm still moves; wait until it has stopped"
            )
        if not self._executor.active:
            self._executor.activate(self._state())
        answer = self._executor.submit(goal)
        if isinstance(answer, ExecutorGoal):
            self._begin("goal")
        return answer

    def _stream(self, wanted: Array, sent: float) -> None:
        if self._fault or self._closing or self._doing == "brake":
            return
        if self._doing != "stream":
            if self._executor.goal is not None:
                self._end_goal("set points came while it went on")
            idle = self._doing == "idle"
            self._playout = Playout(
                self._period, self._reading.position if idle else self._motion.position
            )
        complaint = self._motion.refusal(wanted, self._playout.last)
        if complaint:
            self._stop(complaint)
            return
        self._begin("stream")
        self._playout.put(wanted, sent)

    def _begin(self, what: str) -> None:
        if self._doing == "idle":  # start from the arm's present position
            self._motion.restart(self._reading.position)
        self._doing = what

    # Stops and reports

    def _stop(self, why: str) -> None:
        """Slow down to rest, and report the reason unless it was requested."""
        if self._doing in ("goal", "stream"):
            self._doing = "brake"
            if why:
                self._note(why)
        if self._executor.goal is not None:
            self._end_goal(why)

    def _end_goal(self, why: str) -> None:
        goal = self._executor.goal
        number = next((number for number, g in self._goals.items() if g is goal), None)
        self._executor.deactivate()
        if number is not None:
            del self._goals[number]
            status = GoalStatus.ABORTED if why else GoalStatus.CANCELED
            code = ErrorCode.INVALID_GOAL if why else ErrorCode.SUCCESSFUL
            self._send({"id": number, "result": wire.outcome_fields(GoalResult(status, code, why))})

    def _fail(self, why: str) -> None:
        """Handle a fault: the robot must not be commanded any more.

        It has stopped by itself and must not resume by itself.
        """
        self._fault = f"{why}; connect again when the arm is ready"
        self._stop(why)
        self._note(why)
        self._failed_at = monotonic()

    def _give_up(self) -> None:
        """End the program, which holds the last set point and could be resumed with it."""
        self._given_up = True
        if self._doing != "idle" and self._reading.program_running:
            self._controller.abandon()

    def _report_state(self) -> None:
        message = wire.state_fields(self._state(), self._status())
        number = next(
            (number for number, goal in self._goals.items() if goal is self._executor.goal), None
        )
        if number is not None and self._doing == "goal":
            message |= {"id": number, "feedback": wire.feedback_fields(self._executor.feedback)}
        self._send(message)

    def _report_goals(self) -> None:
        for number, goal in list(self._goals.items()):
            if goal.result is not None:
                del self._goals[number]
                self._send({"id": number, "result": wire.outcome_fields(goal.result)})

    def _state(self) -> ArmState:
        return ArmState(self._names, self._reading.position, self._reading.velocity, self._seen)

    def _status(self) -> ArmStatus:
        reading: Reading = self._reading
        return ArmStatus(
            controller_active=not (self._given_up or self._closing),
            program_running=reading.program_running,
            safety_mode=reading.safety_mode,
            speed_scaling=reading.speed_scaling,
        )

    def _note(self, text: str) -> None:
        if text != self._why:
            self._why = text
            self._send({"note": text})

    def _send(self, message: dict[str, Any]) -> None:
        try:
            self._parent.send_bytes(wire.encode(message))
        except OSError:
            self._closing = True


def main() -> None:
    """Run with a connected socket's number and the options in JSON as the last two arguments."""
    parent = Connection(int(sys.argv[-2]))
    options = wire.decode(sys.argv[-1].encode())
    try:
        controller = Controller(
            options["host"],
            gain=options["gain"],
            lookahead=options["lookahead"],
            watchdog=options["watchdog"],
        )
        check_model(options["robot"], controller.model, controller.e_series)
        controller.start(options["host"])
        driver = Driver(parent, controller, options)
        message: dict[str, Any] = {"ready": {"rate": controller.rate, "model": controller.model}}
    except (ExecutionError, Lost) as error:
        message = {"error": str(error)}
    try:
        parent.send_bytes(wire.encode(message))
        if "ready" in message:
            driver.run()
    except Exception as error:  # in any case, the arm must not be left with the last set point
        reason = (
            str(error)
            if isinstance(error, Lost)
            else "".join(traceback.format_exception_only(error)).strip()
        )
        with contextlib.suppress(OSError):
            parent.send_bytes(wire.encode({"lost": reason}))
        controller.abandon()
    # Exit without cleanup, since the library's threads may hang.
    os._exit(0)
