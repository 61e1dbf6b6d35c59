"""What stands for an arm's body in a simulation: ideal tracking, or the engine's dynamics under PD control.

Dynamics: M(q) dv/dt + h(q, v) + D v + friction = tau, with tau = kp (q_d - q) + kd (v_d - v) + feedforward within the
effort limits. A period is divided into steps of at most 1 ms; M and h are taken at a step's beginning, the PD law and
friction implicitly at its end (`drives`). Speed limits and position limits are hard: a joint neither moves faster nor
further, whatever drives it. Cost: about 25 us a step for six joints.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from typing import Literal, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from robosim.errors import ExecutionError
from robosim.execution.drives import Drives, end_velocity
from robosim.model import Model

__all__ = ["DynamicPlant", "Feedforward", "Gains", "IdealPlant", "Plant", "joint_columns"]

Array = NDArray[np.float64]
Feedforward = Literal["none", "gravity", "inverse_dynamics"]

FEEDFORWARDS: tuple[Feedforward, ...] = ("none", "gravity", "inverse_dynamics")
_STEP = 1e-3  # [s]
_DEFLECTION = 2e-3  # [rad or m] that default gains leave when every joint accelerates at its limit
_NO_LIMIT = 5.0  # [rad/s^2 or m/s^2] taken for a joint without acceleration limit


def joint_columns(model: Model, joint_names: Sequence[str]) -> list[int]:
    """Where in q each joint is; in v it is at `velocity_columns`.

    Raises:
        ExecutionError: a joint does not exist, appears twice, or has not exactly one position.
    """
    if len(set(joint_names)) != len(joint_names) or not joint_names:
        raise ExecutionError(f"joint names must be distinct and at least one, not {', '.join(joint_names)!r}")
    columns = []
    for name in joint_names:
        if name not in commandable(model):  # positions that a joint has several of have names, too
            part = "" if name not in model.position_names else "one of several positions of "
            kind = next((joint.kind for joint in model.joints if joint.name == name.partition("/")[0]), None)
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
    """Gains of joint controllers, (n,): `kp` [N m/rad or N/m], `kd` [N m s/rad or N s/m], neither negative."""

    kp: Array
    kd: Array

    @staticmethod
    def for_model(model: Model, columns: Sequence[int]) -> Gains:
        """Gains that fit the joints with these columns of v.

        kp keeps the deflection at 2 mrad (2 mm) under the inertial forces of all joints accelerating at their
        limits, with the greatest inertias among 32 configurations; kd damps the heaviest of these critically.
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
    """The engine's dynamics of some joints of a model under PD control; its other joints are held fast.

    Args:
        model: the robot.
        joint_names: (n) the joints that move.
        q: (n_q,) where all joints begin, at rest.
        gains: by default `Gains.for_model`.
        feedforward: "none"; "gravity": the forces that hold the joints where they are; "inverse_dynamics": those of
            the reference's motion, friction included.

    Attributes:
        gains: in use.

    Raises:
        ExecutionError: a joint, a gain or the feedforward is not valid, or nothing with mass moves along with a joint.
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
            raise ExecutionError(f"feedforward is {feedforward!r}; valid are {', '.join(FEEDFORWARDS)}")
        self._in_q = joint_columns(model, joint_names)
        self._in_v = [model.velocity_names.index(name) for name in joint_names]
        self._block = np.ix_(self._in_v, self._in_v)
        self._model = model
        self._q = np.array(q, dtype=float)
        for name, mass in zip(joint_names, np.diag(model.mass_matrix(self._q))[self._in_v], strict=True):
            if not mass > 0:
                raise ExecutionError(
                    f"nothing with mass moves along with {name!r}, so that its dynamics are undefined; "
                    "give its link an inertia, or use ideal tracking"
                )
        n = len(self._in_v)
        self.gains = (Gains.for_model(model, self._in_v) if gains is None else gains).checked(n)
        self._feedforward = feedforward
        limits = model.limits
        self._lower, self._upper = limits.lower[self._in_q], limits.upper[self._in_q]
        self._speed, self._limit = limits.velocity[self._in_v], limits.effort[self._in_v]
        self._damping, self._friction = model.damping[self._in_v], model.friction[self._in_v]
        self._rest = np.zeros(model.n_v)
        self._v = np.zeros(model.n_v)
        self.position: Array = self._q[self._in_q]
        self.velocity: Array = np.zeros(n)
        self.effort: Array | None = np.zeros(n)
        self._reference = self.position.copy()

    def step(self, position: Array, velocity: Array, acceleration: Array, period: float) -> None:
        """Move on by one period; the reference's position runs straight from the last one to the new."""
        count = max(1, ceil(period / _STEP - 1e-9))
        dt = period / count
        begin, rate = self._reference, (position - self._reference) / period
        for k in range(1, count + 1):
            self._substep(begin + rate * (k * dt), rate, acceleration, dt)
        self._reference = position.copy()

    def _substep(self, reference: Array, rate: Array, acceleration: Array, dt: float) -> None:
        model, position = self._model, self.position
        self._q[self._in_q] = position
        self._v[self._in_v] = self.velocity
        M = model.mass_matrix(self._q)[self._block]
        springs = model.joint_forces(self._q, self._rest)
        h = (model.nonlinear_effects(self._q, self._v) - springs)[self._in_v]
        kp, kd = self.gains.kp, self.gains.kd
        drives = Drives(
            kp * (reference - position) + kd * rate + self._forward(reference, rate, acceleration),
            kd + dt * kp,
            self._limit,
            self._damping,
            self._friction,
            np.maximum(-self._speed, (self._lower - position) / dt),
            np.minimum(self._speed, (self._upper - position) / dt),
        )
        self.velocity = end_velocity(M, M @ self.velocity - dt * h, drives, dt)
        self.position = np.clip(position + dt * self.velocity, self._lower, self._upper)
        self.effort = drives.force(self.velocity)

    def _forward(self, reference: Array, rate: Array, acceleration: Array) -> Array | float:
        """(n,) feedforward forces."""
        if self._feedforward == "none":
            return 0.0
        if self._feedforward == "gravity":
            springs = self._model.joint_forces(self._q, self._rest)
            return (self._model.gravity(self._q) - springs)[self._in_v]
        q, v, a = self._q.copy(), np.zeros_like(self._v), np.zeros_like(self._v)
        q[self._in_q], v[self._in_v], a[self._in_v] = reference, rate, acceleration
        return self._model.inverse_dynamics(q, v, a, joint_forces=True)[self._in_v]
