"""A small arm for tests that follows exactly and has scripted faults.

Its time advances when a caller sleeps. It interpolates whole trajectories with the executor, and
records every set point and position.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from robosim.execution.clock import ManualClock
from robosim.execution.executor import TrajectoryExecutor
from robosim.execution.messages import ArmState, ArmStatus, SafetyMode
from robosim.execution.tolerances import ControllerTolerances
from robosim.trajectory import Trajectory, TrajectoryLimits

NAMES = ("a", "b")
LIMITS = TrajectoryLimits(
    lower=[-3.0, -3.0],
    upper=[3.0, 3.0],
    velocity=[2.0, 2.0],
    acceleration=[8.0, 8.0],
    acceleration_source="test",
)


def plan(goal=(1.0, -0.5), start=(0.0, 0.0), duration=2.0, limits=LIMITS, names=NAMES):
    """A quintic from rest to rest.

    Its greatest speed is 1.875 distance / time, and its greatest acceleration 5.78 distance /
    time^2.
    """
    zero = np.zeros((2, len(names)))
    return Trajectory.from_knots(
        [0, duration], [start, goal], zero, zero, position_names=names, limits=limits
    )


class FakeArm:
    """Implementation of `Arm` with scripted faults.

    Attributes:
        script: time -> callable(arm), each called once when the time is reached.
        delays: time by which each sleep overshoots [s].
        frozen: True if states are not renewed.
        missing: True if there are no states.
        stuck: True if the arm does not move.
        ceiling: upper bound of positions.
        drift: added to the position once more every period.
        setpoints: (time, position) of every set point.
        path: (time, position) of every period of the arm.
    """

    def __init__(
        self, position=(0.0, 0.0), *, names=NAMES, period=0.002, script=None, delays=(), extra=()
    ):
        self.joint_names = tuple(names)
        self._clock = ManualClock(50.0)
        self.start = 50.0
        self.period = period
        self.position = np.array(position, dtype=float)
        self.velocity = np.zeros(len(self.position))
        self.extra = dict(extra)
        self._status = ArmStatus(
            connected=True,
            controller_active=True,
            program_running=True,
            safety_mode=SafetyMode.NORMAL,
        )
        self.script = dict(script or {})
        self.delays = list(delays)
        self.frozen = self.missing = self.stuck = False
        self.ceiling, self.drift, self.drifted = np.inf, 0.0, 0.0
        self.setpoints, self.path = [], []
        self.stops = 0
        self._wanted = None
        self.executor = TrajectoryExecutor(
            self.joint_names,
            clock=self._clock,
            tolerances=ControllerTolerances(goal=0.05, path=0.5),
        )
        self._measure()
        self.executor.activate(self._state)

    # -- Arm ---------------------------------------------------------------------------------------

    def clock(self):
        return self._clock()

    def sleep_until(self, time):
        time += self.delays.pop(0) if self.delays else 0.0
        while self._clock() < time - 1e-9:
            self._clock.advance(min(time - self._clock(), self.period))
            for when in [when for when in self.script if self._clock() - self.start >= when - 1e-9]:
                self.script.pop(when)(self)
            self._step()

    def state(self):
        return None if self.missing else self._state

    def status(self):
        return self._status

    def send(self, goal):
        return self.executor.submit(goal)

    def stream(self, setpoint):
        self.setpoints.append((self._clock(), setpoint.position.copy()))
        self._wanted = setpoint.position.copy()

    def stop(self):
        self.stops += 1
        self._wanted = None
        self.executor.stop()

    def close(self):
        self.stop()

    # -- Motion and measurement --------------------------------------------------------------------

    def set_status(self, **fields):
        self._status = dataclasses.replace(self._status, **fields)

    def _step(self):
        wanted = self._wanted
        if wanted is None:
            scaling = self._status.speed_scaling
            wanted = self.executor.update(self._state, self.period, speed_scaling=scaling).position
        if not self.stuck:
            self.velocity = (wanted - self.position) / self.period
            self.position = np.array(wanted, dtype=float)
            self.drifted = self.drifted + self.drift
            self.position = np.minimum(self.position + self.drifted, self.ceiling)
        self.path.append((self._clock(), self.position.copy()))
        if not self.frozen:
            self._measure()

    def _measure(self):
        # In reverse order and with joints of others, since callers have to match joints by name.
        names = (*self.extra, *reversed(self.joint_names))
        position = np.concatenate([list(self.extra.values()), self.position[::-1]])
        velocity = np.concatenate([np.zeros(len(self.extra)), self.velocity[::-1]])
        self._state = ArmState(names, position, velocity, self._clock())
