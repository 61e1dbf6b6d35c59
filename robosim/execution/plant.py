"""The body of a simulated arm: ideal tracking, or `Simulation` under PD control.

Drives: tau = kp (q_d - q) + kd (v_d - v) + feedforward within the effort limits, with q and v at
the end of a step, so that it is steady with any gains. A period is divided into steps of at most 1
ms. Speed limits and position limits are hard: a joint neither moves faster nor further, whatever
drives it.
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
_DEFLECTION = 2e-3  # [rad or m] that default gains leave when every joint accelerates at its limit
_NO_LIMIT = 5.0  # [rad/s^2 or m/s^2] taken for a joint without acceleration limit
_TRACE = 1e-9  # of a joint's own inertia, that is added to it
_NO_GAIN = 1e-9  # [N m s/rad or N s/m] of velocity, less than which no joint feels
_FAR = 1e6  # [rad or m] from a position limit: farther than any joint comes in a step


def joint_columns(model: Model, joint_names: Sequence[str]) -> list[int]:
    """Where in q each joint is; in v it is at `velocity_columns`.

    Raises:
        ExecutionError: a joint does not exist, appears twice, or has not exactly one position.
    """
    if len(set(joint_names)) != len(joint_names) or not joint_names:
        raise ExecutionError(
            f"joint names must be distinct and at least one, not {', '.join(joint_names)!r}"
        )
    columns = []
    for name in joint_names:
        if name not in commandable(model):  # positions that a joint has several of have names, too
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
    """The joints with one position each, in model order."""
    return tuple(name for name in model.joint_names if name in model.position_names)


class Plant(Protocol):
    """Something with n joints that is given a reference at every control period.

    Attributes:
        position, velocity: (n,) now; fresh arrays after each step.
        effort: (n,) of the drives over the last step, or None where it has no meaning.
    """

    position: Array
    velocity: Array
    effort: Array | None

    def step(self, position: Array, velocity: Array, acceleration: Array, period: float) -> None:
        """Move on by one period.

        Args:
            position, velocity, acceleration: (n,) the reference at the period's end.
            period: [s].
        """


class IdealPlant:
    """A body that is where it shall be.

    Args:
        position: (n,) where it begins.
    """

    def __init__(self, position: Array) -> None:
        self.position: Array = np.array(position, dtype=float)
        self.velocity: Array = np.zeros(len(self.position))
        self.effort: Array | None = None

    def step(self, position: Array, velocity: Array, acceleration: Array, period: float) -> None:
        """Be there."""
        self.position = position.copy()
        self.velocity = velocity.copy()


@dataclass(frozen=True, eq=False)
class Gains:
    """Gains of joint controllers, (n,): `kp` [N m/rad or N/m], `kd` [N m s/rad or N s/m], neither
    negative."""

    kp: Array
    kd: Array

    @staticmethod
    def for_model(model: Model, columns: Sequence[int]) -> Gains:
        """Gains that fit the joints with these columns of v.

        kp keeps the deflection at 2 mrad (2 mm) under the inertial forces of all joints
        accelerating at their limits, with the greatest inertias among 32 configurations; kd damps
        the heaviest of these critically.
        """
        rng = np.random.default_rng(0)
        samples = [model.mass_matrix(model.random_configuration(rng)) for _ in range(32)]
        M = np.abs(np.array(samples)).max(axis=0)[np.ix_(columns, columns)]
        limit = model.limits.acceleration[list(columns)]
        kp = M @ np.where(np.isfinite(limit), limit, _NO_LIMIT) / _DEFLECTION
        return Gains(kp, 2 * np.sqrt(kp * np.diag(M)))

    def checked(self, n: int) -> Gains:
        """The gains as (n,) arrays, one number standing for all joints. Raises ExecutionError."""
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
    """Some joints of a model under PD control, in a simulation; its other joints are locked, and
    nothing touches.

    Args:
        model: the robot.
        joint_names: (n) the joints that move.
        q: (n_q,) where all joints begin, at rest.
        gains: by default `Gains.for_model`.
        feedforward: "none"; "gravity": the forces that hold the joints where they are;
        "inverse_dynamics": those of
            the reference's motion, friction included.

    Attributes:
        gains: in use.

    Raises:
        ExecutionError: a joint, a gain or the feedforward is not valid, or nothing with mass moves
        along with a joint.
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
        # A trace of inertia decides where joints together move no mass, as two on one axis with
        # nothing between them.
        model = model.with_armature(model.armature + _TRACE * inertia)
        others = [name for name in model.joint_names if name not in joint_names]
        self._model = model.with_locked_joints(others, q).with_collision_pairs([])
        self._data = self._model.data()
        self._has_springs = bool(self._model.stiffness.any())

        # All below is in the model's order of joints, to which `into` leads, and from which `out`.
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
        """Move on by one period; the reference's position runs straight from the last one to the
        new."""
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
        # Limits hold to rounding in the simulation, and exactly in what is shown.
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
        """(n,) feedforward forces."""
        if self._feedforward == "none":
            return 0.0
        if self._feedforward == "inverse_dynamics":
            return self._data.inverse_dynamics(reference, rate, acceleration, joint_forces=True)
        gravity = self._data.gravity(q)
        return gravity - self._data.joint_forces(q, self._rest) if self._has_springs else gravity


class _Drives:
    """Forces f = u - g v+ within the effort limits, v+ being the velocity at a step's end, and the
    steps under them.

    Args:
        model: whose joints they drive.
        kp, kd: (n,) gains, g = kd + dt kp.
        dt: length of a step [s].
    """

    def __init__(self, model: Model, kp: Array, kd: Array, dt: float) -> None:
        self.dt = dt
        gain = kd + dt * kp
        self.damping: Array = np.where(gain > _NO_GAIN, gain, 0.0)
        # A motor of this gain exerts g (v_target - v+); a drive without gain exerts u alone.
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
        # Steps see each limit that a joint may come to: none comes further in one than its speed
        # limit lets it.
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
        """The control of a step for forces u, (n,)."""
        if not len(self._free):
            return Control(v_target=u * self._per_gain)
        tau = np.zeros_like(u)
        tau[self._free] = np.clip(u, -self._effort, self._effort)[self._free]
        return Control(tau=tau, v_target=u * self._per_gain)
