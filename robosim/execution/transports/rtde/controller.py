"""`Controller`: a UR controller through `ur-rtde`, as far as following set points requires.

For use only in a process of its own. The library writes to the standard output and may block for
seconds. After a lost connection it reconnects by itself, uploads its program again and repeats its
last command, wherever the arm is by then. `start` therefore ends by forbidding this process to open
any more files or sockets, so a lost connection stays lost.
"""

from __future__ import annotations

import contextlib
import re
import resource
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from robosim.errors import ExecutionError
from robosim.execution.messages import SafetyMode

__all__ = ["Controller", "Lost", "Reading"]

Array = NDArray[np.float64]

# Runtime states of RTDE in which a program exists: playing, pausing, paused, resuming.
_PLAYING, _PROGRAM = 2, (2, 3, 4, 5)
_RUNNING = 7  # robot mode: brakes released
_SAFETY_MODES = {mode.value: mode for mode in SafetyMode}
_MOVING_MODES = (SafetyMode.NORMAL, SafetyMode.REDUCED)
_OUTPUTS = [
    "timestamp",
    "actual_q",
    "actual_qd",
    "robot_mode",
    "safety_mode",
    "runtime_state",
    "speed_scaling",
    "target_speed_fraction",
]


class Lost(Exception):
    """The connection is lost, or the library failed: this process can do no more for the arm."""


class Reading(NamedTuple):
    """Last state of the controller.

    Attributes:
        timestamp: time on the controller's clock [s].
        position, velocity: (6,) [rad, rad/s].
        safety_mode: None if the controller reports an unknown one.
        program_running: True if the uploaded program exists; it may be paused.
        paused: True if the program exists and is not playing.
        speed_scaling: 0 to 1; 0 while the program is paused.
    """

    timestamp: float
    position: Array
    velocity: Array
    safety_mode: SafetyMode | None
    program_running: bool
    paused: bool
    speed_scaling: float

    @property
    def trouble(self) -> str:
        """Reason why the arm must not be commanded, or ""."""
        if self.safety_mode not in _MOVING_MODES:
            name = "not known" if self.safety_mode is None else self.safety_mode.name
            return f"the safety mode is {name}"
        return "" if self.program_running else "the robot's program does not run any more"


class Controller:
    """Connection to a controller; nothing moves yet.

    `start` uploads the library's control program.

    Args:
        host: name or address.
        gain, lookahead: parameters of servoj; 100 to 2000, and 0.03 to 0.2 s.
        watchdog: rate of commands below which the controller ends the program, which stops the arm
            [Hz].

    Attributes:
        model: name of the arm on the dashboard.
        e_series: True if the controller is newer than CB3.
        rate: rate of its control cycle [Hz].

    Raises:
        ExecutionError: the controller does not answer, or the arm is not ready to be commanded; the
            message says what to do.
    """

    def __init__(self, host: str, *, gain: float, lookahead: float, watchdog: float) -> None:
        from dashboard_client import DashboardClient
        from rtde_receive import RTDEReceiveInterface

        self._gain, self._lookahead, self._watchdog = gain, lookahead, watchdog
        self._watched = False
        self._control: Any = None
        try:
            self._dashboard = DashboardClient(host)
            self._dashboard.connect(2000)
            self.model = str(self._dashboard.getRobotModel()).strip()
            version = str(self._dashboard.polyscopeVersion())
            running = bool(self._dashboard.running())
        except RuntimeError as error:
            raise ExecutionError(
                f"the dashboard of {host} (port 29999) does not answer: {error}"
            ) from None
        found = re.search(r"\d+", version)
        self.e_series = found is None or int(found[0]) > 3
        self.rate = 500.0 if self.e_series else 125.0
        if running:
            raise ExecutionError(
                f"a program runs on {host}: stop it on the teach pendant first; it would be"
                " replaced by ours"
            )
        try:
            self._receive = RTDEReceiveInterface(host, self.rate, _OUTPUTS)
        except RuntimeError as error:
            raise ExecutionError(f"RTDE of {host} (port 30004) does not answer: {error}") from None

    def start(self, host: str) -> None:
        """Upload and run the control program. Raises ExecutionError if the arm is not ready."""
        from rtde_control import RTDEControlInterface

        reading = self.read()
        if reading.safety_mode is not SafetyMode.NORMAL:
            name = "not known" if reading.safety_mode is None else reading.safety_mode.name
            raise ExecutionError(f"the safety mode of {host} is {name}; it has to be NORMAL")
        mode = int(self._receive.getRobotMode())
        if mode != _RUNNING:
            raise ExecutionError(
                f"the robot mode of {host} is {mode}; it has to be 7 (RUNNING): switch the arm on,"
                " release its brakes"
            )
        try:
            self._control = RTDEControlInterface(host, self.rate)
        except RuntimeError as error:
            text = str(error)
            hint = (
                "; enable remote control on the teach pendant" if "remote" in text.lower() else ""
            )
            raise ExecutionError(
                f"the control program does not start on {host}: {text}{hint}"
            ) from None
        # From here on no file or socket can be opened. The limit is 1, not 0, because polling
        # counts against it, too.
        resource.setrlimit(resource.RLIMIT_NOFILE, (1, 1))

    def read(self) -> Reading:
        """Return the last state. Raises Lost if no more states can come."""
        receive = self._receive
        if not receive.isConnected() or (
            self._control is not None and not self._control.isConnected()
        ):
            raise Lost("the connection to the controller is lost")
        runtime = int(receive.getRuntimeState())
        scaling = float(receive.getSpeedScaling()) * float(receive.getTargetSpeedFraction())
        return Reading(
            float(receive.getTimestamp()),
            np.array(receive.getActualQ()),
            np.array(receive.getActualQd()),
            _SAFETY_MODES.get(int(receive.getSafetyMode())),
            runtime in _PROGRAM,
            runtime in _PROGRAM and runtime != _PLAYING,
            min(max(scaling, 0.0), 1.0) if runtime == _PLAYING else 0.0,
        )

    def servo(self, position: Array) -> bool:
        """Command the joints' position for the next control cycle; False if it is not accepted.

        After the first command, the controller's watchdog requires commands regularly. Raises Lost.
        """
        try:
            if not self._watched:
                self._watched = bool(self._control.setWatchdog(self._watchdog))
            return self._watched and bool(
                # Speed and acceleration are required arguments that the library ignores.
                self._control.servoJ(
                    position.tolist(), 0.5, 0.5, 1 / self.rate, self._lookahead, self._gain
                )
            )
        except RuntimeError as error:
            raise Lost(f"a set point could not be sent: {error}") from None

    def finish(self) -> None:
        """End servoing and the program. The arm should be at rest. May take seconds."""
        with contextlib.suppress(RuntimeError, Lost):
            if self._control is not None and self.read().program_running:
                self._control.servoStop()
                self._control.stopScript()

    def abandon(self) -> None:
        """End the program, which holds the last set point and could be resumed with it."""
        with contextlib.suppress(RuntimeError):
            self._dashboard.stop()
