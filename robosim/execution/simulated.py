"""`SimulatedArm`: a simulated arm behind the same port as real arms.

Each control period, the arm takes the set point of the stream, or the command of the trajectory
controller, or holds. The command is made finite and bounded by the limits and by one sample's
motion (`guard`), and the body follows it (`plant`). The result is the state at the end of the
period. Speed scaling, a protective stop, a stopped program and an inactive controller have the
effects of a UR arm with its driver: on a fault the controller is stopped, its goal is aborted, and
nothing resumes by itself.

Time is simulated with a ManualClock, which moves in `sleep_until` and `step`; everything is then
deterministic to the bit. With any other clock, time is real: on every query, command or wait, the
arm first runs the periods that have passed since the last one.
"""

from __future__ import annotations

import math
import time as wall
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from robosim.errors import ExecutionError
from robosim.execution.clock import Clock, ManualClock
from robosim.execution.executor import Event, ExecutorGoal, TrajectoryExecutor
from robosim.execution.goals import Rejection, RejectReason
from robosim.execution.guard import Guard
from robosim.execution.messages import (
    ArmState,
    ArmStatus,
    Goal,
    JointTrajectory,
    SafetyMode,
    Setpoint,
)
from robosim.execution.plant import (
    DynamicPlant,
    Feedforward,
    Gains,
    IdealPlant,
    Plant,
    commandable,
    joint_columns,
)
from robosim.execution.profiles import JAZZY, Profile
from robosim.execution.tolerances import ControllerTolerances
from robosim.execution.tracking import TrackingRecorder
from robosim.model import Model
from robosim.trajectory import TrajectoryLimits

__all__ = ["UR_TOLERANCES", "SimulatedArm"]

Array = NDArray[np.float64]

# Tolerances with which the UR driver configures its trajectory controllers.
UR_TOLERANCES = ControllerTolerances(path=0.2, goal=0.1, stopped_velocity=0.2, goal_time=0.0)

WATCHDOG = 0.1  # [s]
_UNEVEN = 3  # periods in which an uneven stream is caught up with
_MOST_BEHIND = 1.0  # [s] of real time that are made up for
_ROUNDS = 10  # attempts to catch up, since catching up takes time itself
_FOLLOWS = (SafetyMode.NORMAL, SafetyMode.REDUCED)


class SimulatedArm:
    """A simulated arm with the interface `Arm`. Not thread safe.

    Args:
        model: the robot.
        joint_names: (n) joints of the arm, in the order of commands; all joints with one position
            by default. Other joints of the model are held in place.
        rate: rate of the control loop [Hz].
        tracking: "ideal": the arm is where it is commanded; "dynamics": the engine's dynamics under
            PD control.
        gains, feedforward: options of "dynamics", see `plant.DynamicPlant`.
        profile: ROS 2 distribution of the trajectory controller.
        tolerances: tolerances of the trajectory controller; UR_TOLERANCES by default.
        clock: a ManualClock for simulated time (a fresh one by default), or a running clock for
            real time.
        initial: start configuration: (n_q,), positions by joint name, or the name of a state; by
            default the model's neutral configuration, clipped to the limits.
        watchdog: time without set points after which a stream ends and the arm holds [s]; 0.1 by
            default, infinite for never.
        on_event: called with every event.
        parameters: further arguments of `TrajectoryExecutor`, such as allow_partial_joints_goal.

    Attributes:
        executor: the trajectory controller; send goals with `send` and `publish`.
        events: the last 1000 events of the arm and its controller: what was refused, changed or
            aborted, and why.
        recorder: if set, records the wanted, commanded and actual positions of every period.

    Raises:
        ExecutionError: an argument is not valid, or the start is outside the limits.
        ModelError: `initial` does not fit the model.
    """

    def __init__(
        self,
        model: Model,
        *,
        joint_names: Sequence[str] | None = None,
        rate: float = 500.0,
        tracking: Literal["ideal", "dynamics"] = "ideal",
        gains: Gains | None = None,
        feedforward: Feedforward = "gravity",
        profile: Profile = JAZZY,
        tolerances: ControllerTolerances | None = None,
        clock: Clock | None = None,
        initial: ArrayLike | Mapping[str, float] | str | None = None,
        watchdog: float | None = None,
        on_event: Callable[[Event], None] | None = None,
        **parameters: Any,
    ) -> None:
        self.model = model
        self.joint_names = commandable(model) if joint_names is None else tuple(joint_names)
        self.rate = _positive("rate", rate, "Hz")
        self.period = 1.0 / self.rate
        # Limits of the joints, and the start configuration within them.
        limits, in_q = model.limits, joint_columns(model, self.joint_names)
        in_v = [model.velocity_names.index(name) for name in self.joint_names]
        lower, upper, self._speed = limits.lower[in_q], limits.upper[in_q], limits.velocity[in_v]
        self._acceleration = np.minimum(limits.acceleration[in_v], 1e6)
        q = _configuration(model, initial)
        position = q[in_q]
        for i in np.flatnonzero(~((lower <= position) & (position <= upper))):
            raise ExecutionError(
                f"the arm cannot begin with {self.joint_names[i]} at {position[i]:.6g}; "
                f"its limits are {lower[i]:.6g} to {upper[i]:.6g}"
            )
        # Body and guard.
        self._plant: Plant
        if tracking == "ideal":
            self._plant = IdealPlant(position)
        elif tracking == "dynamics":
            self._plant = DynamicPlant(
                model, self.joint_names, q, gains=gains, feedforward=feedforward
            )
        else:
            raise ExecutionError(f"tracking is {tracking!r}; valid are 'ideal' and 'dynamics'")
        self._guard = Guard(self.joint_names, lower, upper, self._speed, position)
        self._zeros = np.zeros(len(position))

        # Clock, state and events.
        self._clock: Clock = ManualClock() if clock is None else clock
        self._origin, self._ticks = self._clock(), 0
        self._state = ArmState(
            self.joint_names, position, self._zeros, self._origin, self._plant.effort
        )
        self.on_event = on_event
        self.events: deque[Event] = deque(maxlen=1000)
        # Reported refusals of set points since the last accepted one, and whether it was clipped.
        self._refusals: set[str] = set()
        self._clipped = False
        self.recorder: TrackingRecorder | None = None

        # Stream: its last set point, its age in periods, and the number of periods to reach it.
        self._setpoint: Setpoint | None = None
        self._age, self._interval, self._spread = 0, 0, 1
        seconds = _positive(
            "watchdog", WATCHDOG if watchdog is None else watchdog, "s", infinite=True
        )
        self._watchdog, self._patience = seconds, max(1.0, seconds * self.rate - 1e-9)

        # Conditions of the robot, and the trajectory controller.
        self._speed_scaling = 1.0
        self._safety_mode = SafetyMode.NORMAL
        self._program_running = self._controller_active = True
        self._closed = self._follows = self._catching_up = False
        continuous = [joint.name for joint in model.joints if joint.kind == "continuous"]
        self.executor = TrajectoryExecutor(
            self.joint_names,
            clock=lambda: self._state.stamp,
            profile=profile,
            tolerances=UR_TOLERANCES if tolerances is None else tolerances,
            limits=TrajectoryLimits(lower=lower, upper=upper, velocity=self._speed),
            on_event=self._note,
            **{
                "velocity_command": False,
                "continuous_joints": [name for name in self.joint_names if name in continuous],
                **parameters,
            },
        )
        self._switch()

    # Arm interface

    def clock(self) -> float:
        """Return the present time [s]."""
        return self._clock()

    def sleep_until(self, time: float) -> None:
        """Run control periods until the clock shows `time` or later."""
        clock = self._clock
        if isinstance(clock, ManualClock):
            # A period that ends after `time` only by rounding is included.
            while self._due() <= time + 1e-6 * self.period:
                self.step()
            clock.advance_to(time)
            return
        while (now := clock()) < time:
            self._catch_up()
            wall.sleep(max(0.0, min(time, self._due()) - now))
        self._catch_up()

    def state(self) -> ArmState:
        """Return the state at the end of the last control period."""
        self._catch_up()
        return self._state

    def status(self) -> ArmStatus:
        """Return the arm's readiness to follow commands."""
        return ArmStatus(
            connected=not self._closed,
            controller_active=self._follows,
            program_running=self._program_running,
            safety_mode=self._safety_mode,
            speed_scaling=self._speed_scaling,
        )

    def send(self, goal: Goal) -> ExecutorGoal | Rejection:
        """Send a goal to the trajectory controller, which ends a stream of set points."""
        self._catch_up()
        if (refusal := self._refusal()) is not None:
            self._tell("error", f"goal rejected: {refusal.text}")
            return refusal
        return self._controller().submit(goal)  # reports its own refusals

    def publish(self, trajectory: JointTrajectory) -> Rejection | None:
        """Send a trajectory to the controller as on its topic, without a handle.

        Ends a stream of set points.
        """
        self._catch_up()
        if (refusal := self._refusal()) is not None:
            self._tell("error", f"trajectory rejected: {refusal.text}")
            return refusal
        return self._controller().publish(trajectory)

    def stream(self, setpoint: Setpoint) -> None:
        """Accept the next set point of a stream, to be reached when the following one is due.

        A refusal is reported by an event, once per reason until a set point is accepted. Clipping
        is reported by an event later.
        """
        self._catch_up()
        why = self._unfit(setpoint)
        if why:
            if why not in self._refusals:
                self._refusals.add(why)
                self._tell("warning", f"set point refused: {why}")
            return
        self._refusals.clear()
        # The last two intervals predict the arrival of the next set point, even for unmatched
        # periods.
        interval = 0 if self._setpoint is None else self._age
        self._spread, self._interval = max(1, interval, self._interval), interval
        # Copies, since the caller may reuse its arrays.
        velocity = None if setpoint.velocity is None else setpoint.velocity.copy()
        self._setpoint, self._age = Setpoint(setpoint.position.copy(), velocity), 0

    def stop(self) -> None:
        """Cancel the goal or end the stream, and hold."""
        self._catch_up()
        if not self._end_stream() and self._follows:
            self.executor.stop()

    def close(self) -> None:
        """Stop, and accept no more commands."""
        self.stop()
        self._closed = True
        self._switch()

    def __enter__(self) -> SimulatedArm:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    # Events of the robot

    @property
    def speed_scaling(self) -> float:
        """Speed slider, 0 (paused) to 1 (full speed); settable."""
        return self._speed_scaling

    @speed_scaling.setter
    def speed_scaling(self, value: float) -> None:
        if not 0 <= value <= 1:
            raise ExecutionError(f"speed scaling is {value!r}; it is 0 (paused) to 1 (full speed)")
        self._catch_up()
        self._speed_scaling = float(value)

    @property
    def controller_active(self) -> bool:
        """True if the controllers are active; settable."""
        return self._controller_active

    @controller_active.setter
    def controller_active(self, value: bool) -> None:
        self._controller_active = bool(value)
        self._switch()

    @property
    def program_running(self) -> bool:
        """True if the program that receives commands runs on the robot; settable."""
        return self._program_running

    @program_running.setter
    def program_running(self, value: bool) -> None:
        self._program_running = bool(value)
        self._switch()

    @property
    def safety_mode(self) -> SafetyMode:
        """Safety mode of the robot; settable. The arm follows commands in NORMAL and REDUCED."""
        return self._safety_mode

    @safety_mode.setter
    def safety_mode(self, value: SafetyMode) -> None:
        self._safety_mode = SafetyMode(value)
        self._switch()

    def protective_stop(self) -> None:
        """Trigger a protective stop, as a collision does: the robot and its program stop."""
        self._safety_mode, self._program_running = SafetyMode.PROTECTIVE_STOP, False
        self._switch()

    def unlock_protective_stop(self) -> None:
        """Return to normal; the program must be started separately: `program_running = True`."""
        if self._safety_mode is SafetyMode.PROTECTIVE_STOP:
            self.safety_mode = SafetyMode.NORMAL

    # Control cycle

    def step(self) -> ArmState:
        """Run to the end of the control period, as `sleep_until` does.

        Returns the state at that time.
        """
        if isinstance(self._clock, ManualClock):
            self._cycle(self._clock.advance_to(self._due()))
        else:
            self.sleep_until(self._due())
        return self._state

    def _cycle(self, end: float) -> None:
        """Run the control period that ends at `end`."""
        self._ticks += 1
        last, scaling = self._guard.position, self._speed_scaling
        wanted, velocity, acceleration = self._wanted(last, scaling)
        position, complaint = self._guard.pass_on(wanted, self.period, scaling)
        # Not reported: set points that arrive two at a time, as from a busy machine, and at speed
        # scaling 0 the controller's look-ahead of one period.
        quiet = scaling == 0 if self._setpoint is None else 0 < self._guard.behind <= _UNEVEN
        clipped = bool(complaint) and not quiet
        if clipped and not self._clipped:  # reported once, not in every period
            self._tell("warning", complaint)
        self._clipped = clipped
        if complaint or velocity is None or not np.isfinite(velocity).all():
            velocity, acceleration = (position - last) / self.period, self._zeros
        velocity = np.clip(velocity, -self._speed, self._speed)
        acceleration = np.clip(np.nan_to_num(acceleration), -self._acceleration, self._acceleration)
        self._plant.step(position, velocity, acceleration, self.period)
        plant = self._plant
        self._state = ArmState(self.joint_names, plant.position, plant.velocity, end, plant.effort)
        if self.recorder is not None:
            known = wanted if np.isfinite(wanted).all() else position
            self.recorder.add(end, known, position, plant.position)

    def _wanted(self, last: Array, scaling: float) -> tuple[Array, Array | None, Array]:
        """Return position, velocity and acceleration for the end of the period.

        A velocity of None stands for the resulting one.
        """
        if not self._follows:
            return last, self._zeros, self._zeros
        if self._setpoint is not None and (
            self.executor.goal is not None or not self.executor.holding
        ):
            self._setpoint = None  # the executor was commanded directly
        if self._setpoint is not None and self._age >= self._patience:
            self._tell("warning", f"no set point for {self._watchdog:g} s; holding")
            self._end_stream()
        if self._setpoint is None:
            command = self.executor.update(self._state, self.period, speed_scaling=scaling)
            return command.position, command.velocity * scaling, command.acceleration * scaling**2
        left = self._spread - self._age
        self._age += 1
        if left > 1:
            return last + (self._setpoint.position - last) / left, None, self._zeros
        return (
            self._setpoint.position,
            self._setpoint.velocity if self._age == 1 else None,
            self._zeros,
        )

    def _due(self) -> float:
        """Return the end of the present control period [s]."""
        return self._origin + (self._ticks + 1) * self.period

    def _catch_up(self) -> None:
        """In real time, run the control periods that are over.

        Nested calls return at once, since a callback of an event may query the arm.
        """
        if isinstance(self._clock, ManualClock) or self._catching_up:
            return
        self._catching_up = True
        try:
            for _ in range(_ROUNDS):
                now = self._clock()
                behind = now - self._due()
                if behind > _MOST_BEHIND or behind < -2 * self.period:
                    if self._setpoint is not None or not self.executor.holding:
                        self._tell(
                            "warning",
                            f"the clock jumped by {behind:.3g} s; the arm goes on from there",
                        )
                    self._origin, self._ticks = now - self.period, 0
                if self._due() > now:
                    return
                while self._due() <= now:
                    self._cycle(self._due())
        finally:
            self._catching_up = False

    # Control authority

    def _hindrance(self) -> str:
        """Return the reason why the arm does not follow, or ""."""
        if self._closed:
            return "the arm is closed"
        if self._safety_mode not in _FOLLOWS:
            return f"the safety mode is {self._safety_mode.name}, not NORMAL"
        if not self._program_running:
            return "the robot's program is not running"
        return "" if self._controller_active else "the controller is not active"

    def _refusal(self) -> Rejection | None:
        hindrance = self._hindrance()
        return Rejection(RejectReason.INACTIVE, hindrance) if hindrance else None

    def _switch(self) -> None:
        """Start or stop the controller after a change."""
        hindrance = self._hindrance()
        if self._follows and hindrance:
            self._tell("warning", f"{hindrance}; holding")
            self._setpoint = None
            self.executor.deactivate()
        elif not self._follows and not hindrance:
            self._restart()
        self._follows = not hindrance

    def _restart(self) -> None:
        """Let the controller hold the last command.

        Otherwise a sagging body would sag further each time.
        """
        state = self._state
        self.executor.activate(
            ArmState(self.joint_names, self._guard.position, self._zeros, state.stamp)
        )

    def _controller(self) -> TrajectoryExecutor:
        """Return the trajectory controller, after ending a stream."""
        self._end_stream()
        return self.executor

    def _end_stream(self) -> bool:
        """End the stream; return True if there was one."""
        if self._setpoint is None:
            return False
        self._setpoint = None
        self._restart()
        return True

    def _unfit(self, setpoint: Setpoint) -> str:
        """Return the reason to refuse a set point, or ""."""
        hindrance = self._hindrance()
        if hindrance:
            return hindrance
        if self.executor.goal is not None:
            return "a trajectory is being followed; stop it first"
        for name, values in (("position", setpoint.position), ("velocity", setpoint.velocity)):
            if values is None:
                continue
            if values.shape != self._zeros.shape:
                return f"{name} has shape {values.shape}; expected {self._zeros.shape}"
            if not np.isfinite(values).all():
                i = int(np.argmin(np.isfinite(values)))
                return f"{name} of {self.joint_names[i]} is {values[i]}"
        return ""

    def _tell(self, level: str, text: str) -> None:
        self._note(Event(self._state.stamp, level, text))

    def _note(self, event: Event) -> None:
        self.events.append(event)
        if self.on_event is not None:
            self.on_event(event)


def _positive(what: str, value: float, unit: str, *, infinite: bool = False) -> float:
    if not (value > 0 and (infinite or math.isfinite(value))):
        raise ExecutionError(f"{what} is {value!r}; expected a positive number [{unit}]")
    return float(value)


def _configuration(model: Model, initial: ArrayLike | Mapping[str, float] | str | None) -> Array:
    """Return the start configuration (n_q,) of the model."""
    if initial is None:
        return np.clip(model.neutral(), model.limits.lower, model.limits.upper)
    if isinstance(initial, str | Mapping):
        return model.configuration(initial)
    return model.configuration({}, rest=initial)
