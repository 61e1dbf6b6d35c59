"""The control program of ur_rtde on the controller, as far as servoing needs it.

The library uploads a program that reads a command's number from input integer register 0 and its
values from the input double registers. It answers in output integer register 0: 1 ready for a
command, 2 done with one. Real-time commands (servoj) are read again in every cycle. Any other
command runs once, and the next command is taken after a 0. While servoing, a thread of the program
repeats servoj with the latest target.
"""

from __future__ import annotations

from typing import Any

from robot import PAUSED, PLAYING, STOPPED, Robot

READY, DONE = 1, 2
NO_COMMAND, SERVOJ, SERVO_STOP, STOPL, STOPJ, SET_WATCHDOG, STOP_SCRIPT = 0, 11, 16, 33, 34, 35, 255
START_TIME = 0.05  # [s] from the upload to the program's first cycle


class ControlProgram:
    def __init__(self, robot: Robot) -> None:
        self.robot = robot
        self.inputs: dict[str, Any] = {}
        self.outputs: dict[str, object] = {}
        self.starts_at: float | None = None
        self.busy = False  # a command that is not real-time has been taken
        self.stopping = False  # waiting for the arm to come to rest
        self.watchdog: float | None = None  # [s] allowed between writes of input integer register 0
        self.written_at = 0.0

    @property
    def running(self) -> bool:
        return self.robot.runtime_state in (PLAYING, PAUSED)

    def upload(self, text: str) -> None:
        """Replace the running program."""
        self.end("a program was uploaded")
        if not text.startswith("def rtde_control():") or "servoj(" not in text:
            self.robot.events.append("an unknown program was uploaded")
            return
        self.robot.events.append("program uploaded")
        self.starts_at = self.robot.time + START_TIME

    def write(self, values: dict[str, Any]) -> None:
        self.inputs.update(values)
        if "input_int_register_0" in values:
            self.written_at = self.robot.time

    def end(self, reason: str) -> None:
        if self.running:
            self.robot.events.append(f"program ended: {reason}")
        self.robot.runtime_state = STOPPED
        self.robot.servo_target = None
        self.watchdog = self.starts_at = None

    def step(self) -> None:
        robot = self.robot
        if self.starts_at is not None and robot.time >= self.starts_at:
            self.starts_at, self.busy, self.stopping = None, False, False
            robot.runtime_state = PLAYING
            self.outputs["output_int_register_0"] = READY
            return
        if (
            self.watchdog is not None
            and self.running
            and robot.time - self.written_at > self.watchdog
        ):
            self.end("the RTDE watchdog expired")
        if robot.runtime_state != PLAYING:
            return
        if self.stopping:
            if robot.at_rest and robot.braking is None:
                self.stopping = False
                self.outputs["output_int_register_0"] = DONE
            return
        command = int(self.inputs.get("input_int_register_0", 0))
        if command == SERVOJ:
            robot.servo(self._doubles(0, 6), self._double(8), self._double(9), self._double(10))
            self.outputs["output_int_register_0"] = READY
        elif command == NO_COMMAND:
            self.busy = False
            self.outputs["output_int_register_0"] = READY
        elif not self.busy:
            self.busy = True
            self._run(command)

    def _run(self, command: int) -> None:
        if command == STOP_SCRIPT:
            self.end("stop of the program was asked for")
            return
        if command in (SERVO_STOP, STOPL, STOPJ):
            # Tool decelerations [m/s^2] are taken as joint decelerations [rad/s^2]: an arm of about
            # 1 m.
            self.robot.brake(self._double(0))
            self.robot.events.append("stop")
            self.stopping = True
            return
        if command == SET_WATCHDOG:
            self.watchdog = 1.0 / self._double(0)
            self.robot.events.append(f"watchdog {self._double(0):g} Hz")
        else:
            self.robot.events.append(f"command {command}")
        self.outputs["output_int_register_0"] = DONE

    def _double(self, register: int) -> float:
        return float(self.inputs.get(f"input_double_register_{register}", 0.0))

    def _doubles(self, first: int, count: int) -> list[float]:
        return [self._double(first + i) for i in range(count)]
