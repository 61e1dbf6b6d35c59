"""A UR arm as its controller sees it: joints that follow servoj or brake, modes, and a program.

One `step` is one control cycle. Following is ideal (the joint reaches the target within the cycle,
as far as the speed allows) or lags by a time constant. The speed slider bounds the speed, as on the
robot. An arm that is commanded faster than the slider allows falls behind, and stops protectively
when its target is too far away.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

JOINT_SPEED = math.pi  # [rad/s], UR5's data sheet
DEVIATION = 0.3  # [rad] between target and joint at which the controller stops
PROTECTIVE_DECELERATION = 25.0  # [rad/s^2]
PROGRAM_DECELERATION = 5.0  # [rad/s^2] when a program ends

NORMAL, REDUCED, PROTECTIVE_STOP, EMERGENCY = 1, 2, 3, 7
STOPPED, PLAYING, PAUSED = 1, 2, 4
RUNNING = 7  # robot mode


@dataclass
class Robot:
    rate: float
    q: list[float]
    lag: float = 0.0  # [s], time constant
    qd: list[float] = field(default_factory=lambda: [0.0] * 6)
    time: float = 100.0  # [s] since the controller started
    safety_mode: int = NORMAL
    robot_mode: int = RUNNING
    runtime_state: int = STOPPED
    speed_scaling: float = 1.0
    target_speed_fraction: float = 1.0
    servo_target: list[float] | None = None
    braking: float | None = None  # [rad/s^2]
    # Time, target (6), gain, look-ahead, duration.
    servo_log: list[list[float]] = field(default_factory=list)
    motion_log: list[list[float]] = field(default_factory=list)  # time, q (6), scaling
    events: list[str] = field(default_factory=list)

    def step(self) -> None:
        dt = 1.0 / self.rate
        self.time += dt
        before = list(self.q)
        if self.braking is not None or self.servo_target is None:
            self._brake(dt)
        elif self.runtime_state == PLAYING and self.safety_mode in (NORMAL, REDUCED):
            self._follow(self.servo_target, dt)
        self.qd = [(new - old) / dt for new, old in zip(self.q, before, strict=True)]
        if any(self.qd):
            self.motion_log.append([self.time, *self.q, self.scaling])

    @property
    def scaling(self) -> float:
        return self.speed_scaling * self.target_speed_fraction

    @property
    def at_rest(self) -> bool:
        return not any(self.qd)

    def servo(self, target: list[float], duration: float, lookahead: float, gain: float) -> None:
        self.braking = None
        self.servo_target = target
        self.servo_log.append([self.time, *target, gain, lookahead, duration])

    def brake(self, deceleration: float) -> None:
        """Leave servo mode and come to rest."""
        self.servo_target = None
        self.braking = deceleration

    def protective_stop(self, reason: str) -> None:
        """Brake the joints and pause the program.

        As on the robot, the program still runs and can be resumed.
        """
        self.safety_mode = PROTECTIVE_STOP
        if self.runtime_state == PLAYING:
            self.runtime_state = PAUSED
        self.brake(PROTECTIVE_DECELERATION)
        self.events.append(f"protective stop: {reason}")

    def _follow(self, target: list[float], dt: float) -> None:
        off = [goal - q for goal, q in zip(target, self.q, strict=True)]
        if max(map(abs, off)) > DEVIATION:
            self.protective_stop(f"{max(map(abs, off)):.3f} rad from the target")
            return
        share = 1.0 if self.lag == 0 else 1.0 - math.exp(-dt / self.lag)
        reach = JOINT_SPEED * self.scaling * dt
        self.q = [q + max(-reach, min(reach, share * d)) for q, d in zip(self.q, off, strict=True)]

    def _brake(self, dt: float) -> None:
        step = (PROGRAM_DECELERATION if self.braking is None else self.braking) * dt
        speeds = [math.copysign(max(0.0, abs(v) - step), v) for v in self.qd]
        self.q = [q + v * dt for q, v in zip(self.q, speeds, strict=True)]
        if not any(speeds):
            self.braking = None
