"""A simulated arm behind the port that real ones are reached through, so that all above it cannot
tell the difference.

Once a control period: take the set point of the stream, or what the trajectory controller commands,
or hold; keep it finite, within the limits and within one sample's motion (`guard`); let the body
follow (`plant`). What is done then has happened when the period is over. Speed scaling, a
protective stop, a program that stops and a controller that is switched off do what they do on a UR
arm with its driver: unless all is well the controller is stopped, its goal is aborted, and nothing
goes on by itself afterwards.

Time is simulated (a ManualClock, which moves in `sleep_until` and `step`), and then everything is
deterministic to the bit; or it is real (any other clock): whenever someone looks, commands or
waits, the arm first does the periods that have passed meanwhile, as an arm that waits for nobody.
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

# What the UR driver configures its trajectory controllers with.
UR_TOLERANCES = ControllerTolerances(path=0.2, goal=0.1, stopped_velocity=0.2, goal_time=0.0)

WATCHDOG = 0.1  # [s]
_UNEVEN = 3  # periods in which a stream that comes unevenly is caught up with
_MOST_BEHIND = 1.0  # [s] of real time that is made up for,
_ROUNDS = 10  # as often as making up takes time itself
_FOLLOWS = (SafetyMode.NORMAL, SafetyMode.REDUCED)


class SimulatedArm:
    """An arm in simulation; meets the port `Arm`. Not thread safe.

    Args:
        model: the robot.
        joint_names: (n) the joints that it commands, in its order; all that have one position by
        default. The model's
            other joints are held where they are.
        rate: of its control loop [Hz].
        tracking: "ideal": it is where it is commanded; "dynamics": the engine's dynamics under PD
        control.
        gains, feedforward: of "dynamics", see `plant.DynamicPlant`.
        profile: which distribution's trajectory controller.
        tolerances: of the trajectory controller; UR_TOLERANCES by default.
        clock: a ManualClock for simulated time (a new one by default), or a clock that runs, for
        real time.
        initial: where it stands at first: (n_q,), positions by joint name, or the name of a state;
        by default what
            is next to the model's neutral configuration within the limits.
        watchdog: [s] after which it holds when a stream of set points stops; 0.1 by default,
        infinite for never.
        on_event: is told every event as it happens.
        parameters: more of `TrajectoryExecutor`'s, such as allow_partial_joints_goal.

    Attributes:
        executor: the trajectory controller; give it goals through `send` and `publish`.
        events: the last 1000 of the arm and its controller: what was refused, changed or given up,
        and why.
        recorder: when set, notes every period: what was wanted, what was let through, where the arm
        is.

    Raises:
        ExecutionError: an argument is not valid, or the arm would stand outside its limits.
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

        self._clock: Clock = ManualClock() if clock is None else clock
        self._origin, self._ticks = self._clock(), 0
        self._state = ArmState(
            self.joint_names, position, self._zeros, self._origin, self._plant.effort
        )
        self.on_event = on_event
        self.events: deque[Event] = deque(maxlen=1000)
        # What was told of the stream: why set points were refused since one was taken; that one is
        # clipped.
        self._refusals: set[str] = set()
        self._clipped = False
        self.recorder: TrackingRecorder | None = None

        # The stream: its last set point, periods since then, and over how many it is to be reached.
        self._setpoint: Setpoint | None = None
        self._age, self._interval, self._spread = 0, 0, 1
        seconds = _positive(
            "watchdog", WATCHDOG if watchdog is None else watchdog, "s", infinite=True
        )
        self._watchdog, self._patience = seconds, max(1.0, seconds * self.rate - 1e-9)

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

    # -- The port
    # --------------------------------------------------------------------------------------------

    def clock(self) -> float:
        """Now [s]."""
        return self._clock()

    def sleep_until(self, time: float) -> None:
        """Move, one control period after the other, until the clock shows `time` or later."""
        clock = self._clock
        if isinstance(clock, ManualClock):
            # A period that ends later than `time` by rounding alone belongs to it.
            while self._due() <= time + 1e-6 * self.period:
                self.step()
            clock.advance_to(time)
            return
        while (now := clock()) < time:
            self._catch_up()
            wall.sleep(max(0.0, min(time, self._due()) - now))
        self._catch_up()

    def state(self) -> ArmState:
        """Where it is since the last control period."""
        self._catch_up()
        return self._state

    def status(self) -> ArmStatus:
        """Whether it would follow."""
        return ArmStatus(
            connected=not self._closed,
            controller_active=self._follows,
            program_running=self._program_running,
            safety_mode=self._safety_mode,
            speed_scaling=self._speed_scaling,
        )

    def send(self, goal: Goal) -> ExecutorGoal | Rejection:
        """Give a goal to the trajectory controller, which ends a stream of set points."""
        self._catch_up()
        if (refusal := self._refusal()) is not None:
            self._tell("error", f"goal rejected: {refusal.text}")
            return refusal
        return self._controller().submit(goal)  # which tells of its own refusal

    def publish(self, trajectory: JointTrajectory) -> Rejection | None:
        """Give a trajectory to the trajectory controller as its topic does, without an account of
        what becomes of it. Ends a stream of set points."""
        self._catch_up()
        if (refusal := self._refusal()) is not None:
            self._tell("error", f"trajectory rejected: {refusal.text}")
            return refusal
        return self._controller().publish(trajectory)

    def stream(self, setpoint: Setpoint) -> None:
        """Take the next set point of a stream, to be reached by when the one after it is due. An
        event tells when it is refused, each reason once until one is taken, or later when it is
        clipped."""
        self._catch_up()
        why = self._unfit(setpoint)
        if why:
            if why not in self._refusals:
                self._refusals.add(why)
                self._tell("warning", f"set point refused: {why}")
            return
        self._refusals.clear()
        # The last two intervals tell when the next one is due, also where the periods do not match.
        interval = 0 if self._setpoint is None else self._age
        self._spread, self._interval = max(1, interval, self._interval), interval
        # Copies: a caller may use its arrays again.
        velocity = None if setpoint.velocity is None else setpoint.velocity.copy()
        self._setpoint, self._age = Setpoint(setpoint.position.copy(), velocity), 0

    def stop(self) -> None:
        """Give up goal or stream and hold."""
        self._catch_up()
        if not self._end_stream() and self._follows:
            self.executor.stop()

    def close(self) -> None:
        """Stop, and take no more commands."""
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

    # -- What befalls an arm
    # ---------------------------------------------------------------------------------

    @property
    def speed_scaling(self) -> float:
        """0 (paused) to 1 (full speed), as a speed slider; may be set."""
        return self._speed_scaling

    @speed_scaling.setter
    def speed_scaling(self, value: float) -> None:
        if not 0 <= value <= 1:
            raise ExecutionError(f"speed scaling is {value!r}; it is 0 (paused) to 1 (full speed)")
        self._catch_up()
        self._speed_scaling = float(value)

    @property
    def controller_active(self) -> bool:
        """Whether the controllers are switched on; may be set."""
        return self._controller_active

    @controller_active.setter
    def controller_active(self, value: bool) -> None:
        self._controller_active = bool(value)
        self._switch()

    @property
    def program_running(self) -> bool:
        """Whether the program that listens to us runs on the robot; may be set."""
        return self._program_running

    @program_running.setter
    def program_running(self, value: bool) -> None:
        self._program_running = bool(value)
        self._switch()

    @property
    def safety_mode(self) -> SafetyMode:
        """Of the robot; may be set. It follows commands when NORMAL or REDUCED."""
        return self._safety_mode

    @safety_mode.setter
    def safety_mode(self, value: SafetyMode) -> None:
        self._safety_mode = SafetyMode(value)
        self._switch()

    def protective_stop(self) -> None:
        """What a collision does: the robot stops, and so does its program."""
        self._safety_mode, self._program_running = SafetyMode.PROTECTIVE_STOP, False
        self._switch()

    def unlock_protective_stop(self) -> None:
        """Back to normal, except that the program has to be started again: `program_running =
        True`."""
        if self._safety_mode is SafetyMode.PROTECTIVE_STOP:
            self.safety_mode = SafetyMode.NORMAL

    # -- The control cycle
    # -----------------------------------------------------------------------------------

    def step(self) -> ArmState:
        """Go on to the end of the control period, as `sleep_until` does. Returns the state then."""
        if isinstance(self._clock, ManualClock):
            self._cycle(self._clock.advance_to(self._due()))
        else:
            self.sleep_until(self._due())
        return self._state

    def _cycle(self, end: float) -> None:
        """The control period that is over at `end`."""
        self._ticks += 1
        last, scaling = self._guard.position, self._speed_scaling
        wanted, velocity, acceleration = self._wanted(last, scaling)
        position, complaint = self._guard.pass_on(wanted, self.period, scaling)
        # Not worth a word: set points that come two at a time, as those of a busy machine do, and
        # at speed scaling 0 the controller's look ahead of one period.
        quiet = scaling == 0 if self._setpoint is None else 0 < self._guard.behind <= _UNEVEN
        clipped = bool(complaint) and not quiet
        if clipped and not self._clipped:  # not every period again while it goes on
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
        """Position, velocity (None: as it comes out) and acceleration for the end of this
        period."""
        if not self._follows:
            return last, self._zeros, self._zeros
        if self._setpoint is not None and (
            self.executor.goal is not None or not self.executor.holding
        ):
            self._setpoint = None  # someone has commanded the executor itself
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
        """When the control period that goes on is over [s]."""
        return self._origin + (self._ticks + 1) * self.period

    def _catch_up(self) -> None:
        """In real time, do the control periods that are over. Who is told of an event may look at
        the arm."""
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

    # -- Who commands
    # ----------------------------------------------------------------------------------------

    def _hindrance(self) -> str:
        """Why the arm does not follow, or ""."""
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
        """Start or stop the controller after something has changed."""
        hindrance = self._hindrance()
        if self._follows and hindrance:
            self._tell("warning", f"{hindrance}; holding")
            self._setpoint = None
            self.executor.deactivate()
        elif not self._follows and not hindrance:
            self._restart()
        self._follows = not hindrance

    def _restart(self) -> None:
        """Have the controller hold what was commanded last: a body that sags shall not sag further
        each time."""
        state = self._state
        self.executor.activate(
            ArmState(self.joint_names, self._guard.position, self._zeros, state.stamp)
        )

    def _controller(self) -> TrajectoryExecutor:
        """The trajectory controller, in command."""
        self._end_stream()
        return self.executor

    def _end_stream(self) -> bool:
        """Whether there was one."""
        if self._setpoint is None:
            return False
        self._setpoint = None
        self._restart()
        return True

    def _unfit(self, setpoint: Setpoint) -> str:
        """Why a set point is refused, or ""."""
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
    """(n_q,) where the model begins."""
    if initial is None:
        return np.clip(model.neutral(), model.limits.lower, model.limits.upper)
    if isinstance(initial, str | Mapping):
        return model.configuration(initial)
    return model.configuration({}, rest=initial)
