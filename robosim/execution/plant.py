"""What stands for an arm's body in a simulation: ideal tracking, or `Simulation` under PD control.

Drives: tau = kp (q_d - q) + kd (v_d - v) + feedforward within the effort limits, with q and v at the end of a step, so
that it is steady with any gains. A period is divided into steps of at most 1 ms. Speed limits and position limits are
hard: a joint neither moves faster nor further, whatever drives it.
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
    """Some joints of a model under PD control, in a simulation; its other joints are locked, and nothing touches.

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
            raise ExecutionError(f"feedforward is {feedforward!r}; valid are {', '.join(FEEDFORWARDS)}")
        in_q = joint_columns(model, joint_names)
        in_v = [model.velocity_names.index(name) for name in joint_names]
        q = np.array(q, dtype=float)
        inertia = np.diag(model.mass_matrix(q))
        for name, i in zip(joint_names, in_v, strict=True):
            if not inertia[i] > 0:
                raise ExecutionError(
                    f"nothing with mass moves along with {name!r}, so that its dynamics are undefined; "
                    "give its link an inertia, or use ideal tracking"
                )
        self.gains = (Gains.for_model(model, in_v) if gains is None else gains).checked(len(in_v))
        self._feedforward = feedforward
        limits = model.limits
        self._lower, self._upper = limits.lower[in_q], limits.upper[in_q]
        self._speed, self._limit = limits.velocity[in_v], limits.effort[in_v]

        others = [name for name in model.joint_names if name not in joint_names]
        # Where joints together move no mass, as two on one axis with nothing between them, a trace of it decides.
        model = model.with_armature(model.armature + _TRACE * inertia)
        self._model = model.with_locked_joints(others, q).with_collision_pairs([])
        # The joints' order here, in that of the model, and the other way round.
        self._order = [self._model.velocity_names.index(name) for name in joint_names]
        self._columns = np.argsort(self._order)
        self._simulations: dict[float, Simulation] = {}
        self._rest = np.zeros(len(in_v))
        self._state = State(q[in_q][self._columns], self._rest)
        self.position: Array = q[in_q]
        self.velocity: Array = np.zeros(len(in_v))
        self.effort: Array | None = np.zeros(len(in_v))
        self._reference = self.position.copy()

    def step(self, position: Array, velocity: Array, acceleration: Array, period: float) -> None:
        """Move on by one period; the reference's position runs straight from the last one to the new."""
        count = max(1, ceil(period / _STEP - 1e-9))
        dt = period / count
        simulation = self._simulations.get(dt) or self._simulation(dt)
        begin, rate = self._reference, (position - self._reference) / period
        for k in range(1, count + 1):
            self._substep(simulation, begin + rate * (k * dt), rate, acceleration)
        # What is exact but for rounding is exact for those who look.
        self.position = np.clip(self._state.q[self._order], self._lower, self._upper)
        self.velocity = np.clip(self._state.v[self._order], -self._speed, self._speed)
        self._reference = position.copy()

    def _substep(self, simulation: Simulation, reference: Array, rate: Array, acceleration: Array) -> None:
        """A step under the drives' forces f = u - g v+ within their limits, v+ being the velocity at its end."""
        state, kp, kd = self._state, self.gains.kp, self.gains.kd
        forward = self._forward(state.q, reference, rate, acceleration)
        u = kp * (reference - state.q[self._order]) + kd * rate + forward
        g = self._damping_of(simulation.dt)
        # A motor whose gain is g exerts g (v_target - v+); a drive without gains exerts u alone.
        driven = g > 0
        v_target = np.divide(u, g, out=np.zeros_like(u), where=driven)
        tau = np.where(driven, 0.0, np.clip(u, -self._limit, self._limit))
        control = Control(tau=tau[self._columns], v_target=v_target[self._columns])
        self._state = simulation.step(state, control)
        self.effort = np.clip(u - g * self._state.v[self._order], -self._limit, self._limit)

    def _damping_of(self, dt: float) -> Array:
        """(n,) how much a drive's force falls with the velocity at a step's end; none where that is next to none."""
        g = self.gains.kd + dt * self.gains.kp
        return np.where(g > _NO_GAIN, g, 0.0)

    def _simulation(self, dt: float) -> Simulation:
        """Steps of this length, which see each limit that a joint may come to."""
        g = self._damping_of(dt)
        motors = {
            self._model.velocity_names[i]: Motor(velocity_gain=float(gain), limit=float(limit))
            for i, gain, limit in zip(self._order, g, self._limit, strict=True)
            if gain > 0
        }
        # No joint comes further in a step than its speed limit lets it.
        ends = np.isfinite(self._lower) | np.isfinite(self._upper)
        reach = min(_FAR, 2 * dt * self._speed[ends].max(initial=0.0))
        simulation = Simulation(
            World(self._model, motors=motors), dt=dt, erp=1.0, limit_margin=reach, speed_limits=True
        )
        self._simulations = {dt: simulation}
        return simulation

    def _forward(self, q: Array, reference: Array, rate: Array, acceleration: Array) -> Array | float:
        """(n,) feedforward forces."""
        model, columns = self._model, self._columns
        if self._feedforward == "none":
            return 0.0
        if self._feedforward == "gravity":
            return (model.gravity(q) - model.joint_forces(q, self._rest))[self._order]
        reference, rate, acceleration = reference[columns], rate[columns], acceleration[columns]
        return model.inverse_dynamics(reference, rate, acceleration, joint_forces=True)[self._order]
