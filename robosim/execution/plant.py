"""The body of a simulated arm: ideal tracking, or a `Simulation` under PD control.

Drives: tau = kp (q_d - q) + kd (v_d - v) + feedforward within the effort limits, with q and v at
the end of a step, so the control is stable with any gains. A period is divided into steps of at
most 1 ms. Limits of speed and position are hard: no force drives a joint faster or farther.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from typing import Literal, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from robosim.errors import ExecutionError
from robosim.model import Model
from robosim.simulation import Control, Simulation, State
from robosim.world import Motor, World

__all__ = ["DynamicPlant", "Feedforward", "Gains", "IdealPlant", "Plant", "joint_columns"]

Array = NDArray[np.float64]
Feedforward = Literal["none", "gravity", "inverse_dynamics"]

FEEDFORWARDS: tuple[Feedforward, ...] = ("none", "gravity", "inverse_dynamics")
_STEP = 1e-3  # [s]
_DEFLECTION = 2e-3  # [rad or m] of default gains with all joints accelerating at their limits
_NO_LIMIT = 5.0  # [rad/s^2 or m/s^2] assumed for a joint without acceleration limit
_TRACE = 1e-9  # fraction of a joint's own inertia that is added to it
_NO_GAIN = 1e-9  # [N m s/rad or N s/m] velocity gain that counts as zero
_FAR = 1e6  # [rad or m] largest distance to a position limit, beyond any motion in a step


def joint_columns(model: Model, joint_names: Sequence[str]) -> list[int]:
    """Return the index of each joint in q.

    Raises:
        ExecutionError: a joint does not exist, appears twice, or has not exactly one position.
    """
    if len(set(joint_names)) != len(joint_names) or not joint_names:
        raise ExecutionError(
            f"joint names must be distinct and at least one, not {', '.join(joint_names)!r}"
        )
    columns = []
    for name in joint_names:
        if name not in commandable(model):  # single positions of a joint have names, too
            part = "" if name not in model.position_names else "one of several positions of "
            kind = next(
                (joint.kind for joint in model.joints if joint.name == name.partition("/")[0]), None
            )
            raise ExecutionError(
                f"{name!r} is {part}{f'a {kind} joint' if kind else 'no joint'} of {model.name!r}; "
                f"joints that can be commanded: {', '.join(commandable(model)) or 'none'}"
            )
        columns.append(model.position_names.index(name))
    return columns


def commandable(model: Model) -> tuple[str, ...]:
    """Return the joints with one position each, in model order."""
    return tuple(name for name in model.joint_names if name in model.position_names)


class Plant(Protocol):
    """A body with n joints that follows a reference in every control period.

    Attributes:
        position, velocity: (n,) present state; fresh arrays after each step.
        effort: (n,) forces of the drives in the last step, or None if not defined.
    """

    position: Array
    velocity: Array
    effort: Array | None

    def step(self, position: Array, velocity: Array, acceleration: Array, period: float) -> None:
        """Advance by one period.

        Args:
            position, velocity, acceleration: (n,) reference at the end of the period.
            period: length of the period [s].
        """


class IdealPlant:
    """A body that follows its reference exactly.

    Args:
        position: (n,) start position.
    """

    def __init__(self, position: Array) -> None:
        self.position: Array = np.array(position, dtype=float)
        self.velocity: Array = np.zeros(len(self.position))
        self.effort: Array | None = None

    def step(self, position: Array, velocity: Array, acceleration: Array, period: float) -> None:
        """Move to the reference."""
        self.position = position.copy()
        self.velocity = velocity.copy()


@dataclass(frozen=True, eq=False)
class Gains:
    """Gains (n,), not negative: `kp` [N m/rad or N/m], `kd` [N m s/rad or N s/m]."""

    kp: Array
    kd: Array

    @staticmethod
    def for_model(model: Model, columns: Sequence[int]) -> Gains:
        """Return gains for the joints with these columns of v.

        kp limits the deflection to 2 mrad (2 mm) under the inertial forces of all joints
        accelerating at their limits, with the largest inertias of 32 configurations. kd damps the
        largest of these inertias critically.
        """
        rng = np.random.default_rng(0)
        samples = [model.mass_matrix(model.random_configuration(rng)) for _ in range(32)]
        M = np.abs(np.array(samples)).max(axis=0)[np.ix_(columns, columns)]
        limit = model.limits.acceleration[list(columns)]
        kp = M @ np.where(np.isfinite(limit), limit, _NO_LIMIT) / _DEFLECTION
        return Gains(kp, 2 * np.sqrt(kp * np.diag(M)))

    def checked(self, n: int) -> Gains:
        """Return the gains as (n,) arrays; one number applies to all joints.

        Raises ExecutionError.
        """
        arrays = []
        for name in ("kp", "kd"):
            try:
                array = np.broadcast_to(np.asarray(getattr(self, name), dtype=float), (n,)).copy()
            except (TypeError, ValueError):
                raise ExecutionError(
                    f"{name} is {getattr(self, name)!r}; one number or {n} are needed"
                ) from None
            if not (np.isfinite(array).all() and (array >= 0).all()):
                raise ExecutionError(f"{name} is {array}; gains are finite and not negative")
            arrays.append(array)
        return Gains(*arrays)


class DynamicPlant:
    """Some joints of a model under PD control, in a simulation without contacts.

    Other joints are locked.

    Args:
        model: the robot.
        joint_names: (n) joints that move.
        q: (n_q,) start positions of all joints, at rest.
        gains: by default `Gains.for_model`.
        feedforward: "none"; "gravity": forces that hold the joints in place; "inverse_dynamics":
            forces of the reference's motion, including friction.

    Attributes:
        gains: gains in use.

    Raises:
        ExecutionError: a joint, a gain or the feedforward is not valid, or a joint moves no mass.
        SimulationError: the model has no valid dynamics.
    """

    def __init__(
        self,
        model: Model,
        joint_names: Sequence[str],
        q: ArrayLike,
        *,
        gains: Gains | None = None,
        feedforward: Feedforward = "gravity",
    ) -> None:
        if feedforward not in FEEDFORWARDS:
            raise ExecutionError(
                f"feedforward is {feedforward!r}; valid are {', '.join(FEEDFORWARDS)}"
            )
        in_q = joint_columns(model, joint_names)
        in_v = [model.velocity_names.index(name) for name in joint_names]
        q = np.array(q, dtype=float)
        inertia = np.diag(model.mass_matrix(q))
        for name, i in zip(joint_names, in_v, strict=True):
            if not inertia[i] > 0:
                raise ExecutionError(
                    f"nothing with mass moves along with {name!r}, so that its dynamics are"
                    " undefined; give its link an inertia, or use ideal tracking"
                )
        self.gains = (Gains.for_model(model, in_v) if gains is None else gains).checked(len(in_v))
        self._feedforward = feedforward
        # A trace of inertia regularizes joints that together move no mass, such as two on one axis
        # with nothing between them.
        model = model.with_armature(model.armature + _TRACE * inertia)
        others = [name for name in model.joint_names if name not in joint_names]
        self._model = model.with_locked_joints(others, q).with_collision_pairs([])
        self._data = self._model.data()
        self._has_springs = bool(self._model.stiffness.any())

        # The following arrays are in the model's order of joints: `into` leads there, `out` back.
        self._out = [self._model.velocity_names.index(name) for name in joint_names]
        self._into = np.argsort(self._out)
        self._kp, self._kd = self.gains.kp[self._into], self.gains.kd[self._into]
        self._drives: _Drives | None = None
        self._rest = np.zeros(len(in_v))
        self._state = State(q[in_q][self._into], self._rest)
        self._reference = self._state.q
        self.position: Array = q[in_q]
        self.velocity: Array = np.zeros(len(in_v))
        self.effort: Array | None = np.zeros(len(in_v))

    def step(self, position: Array, velocity: Array, acceleration: Array, period: float) -> None:
        """Advance by one period; the reference position changes linearly from the last one."""
        count = max(1, ceil(period / _STEP - 1e-9))
        drives = self._drives_of(period / count)
        position, acceleration = position[self._into], acceleration[self._into]
        begin, rate = self._reference, (position - self._reference) / period
        for k in range(1, count + 1):
            reference = begin + rate * (k * drives.dt)
            q = self._state.q
            forward = self._forward(q, reference, rate, acceleration)
            u = self._kp * (reference - q) + self._kd * rate + forward
            self._state = drives.simulation.step(self._state, drives.control(u))
        limits, state, out = self._model.limits, self._state, self._out
        # Limits hold to rounding in the simulation, and exactly in the reported state.
        self.position = np.clip(state.q, limits.lower, limits.upper)[out]
        self.velocity = np.clip(state.v, -limits.velocity, limits.velocity)[out]
        self.effort = np.clip(u - drives.damping * state.v, -limits.effort, limits.effort)[out]
        self._reference = position

    def _drives_of(self, dt: float) -> _Drives:
        if self._drives is None or self._drives.dt != dt:
            self._drives = _Drives(self._model, self._kp, self._kd, dt)
        return self._drives

    def _forward(
        self, q: Array, reference: Array, rate: Array, acceleration: Array
    ) -> Array | float:
        """Feedforward forces (n,)."""
        if self._feedforward == "none":
            return 0.0
        if self._feedforward == "inverse_dynamics":
            return self._data.inverse_dynamics(reference, rate, acceleration, joint_forces=True)
        gravity = self._data.gravity(q)
        return gravity - self._data.joint_forces(q, self._rest) if self._has_springs else gravity


class _Drives:
    """Forces f = u - g v+ within the effort limits, v+ being the velocity at the end of a step.

    Args:
        model: model whose joints are driven.
        kp, kd: (n,) gains, g = kd + dt kp.
        dt: length of a step [s].
    """

    def __init__(self, model: Model, kp: Array, kd: Array, dt: float) -> None:
        self.dt = dt
        gain = kd + dt * kp
        self.damping: Array = np.where(gain > _NO_GAIN, gain, 0.0)
        # A motor with this gain exerts g (v_target - v+); a drive without gain exerts u alone.
        self._per_gain = np.divide(
            1.0, self.damping, out=np.zeros_like(gain), where=self.damping > 0
        )
        self._free = np.flatnonzero(self.damping == 0)
        limits = model.limits
        self._effort = limits.effort
        motors = {
            name: Motor(velocity_gain=float(g), limit=float(limit))
            for name, g, limit in zip(
                model.velocity_names, self.damping, limits.effort, strict=True
            )
            if g > 0
        }
        # The limit margin covers the motion in a step, which the speed limits bound.
        ends = np.isfinite(limits.lower) | np.isfinite(limits.upper)
        reach = min(_FAR, 2 * dt * limits.velocity[ends].max(initial=0.0))
        self.simulation = Simulation(
            World(model, motors=motors),
            dt=dt,
            solver="lcp",  # limits, motors and dry friction to rounding
            erp=1.0,
            limit_margin=reach,
            speed_limits=True,
        )

    def control(self, u: Array) -> Control:
        """Return the control of a step for forces u (n,)."""
        if not len(self._free):
            return Control(v_target=u * self._per_gain)
        tau = np.zeros_like(u)
        tau[self._free] = np.clip(u, -self._effort, self._effort)[self._free]
        return Control(tau=tau, v_target=u * self._per_gain)
