"""`Linearization`: a single step with its forces and its derivatives."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from robosim import _engine
from robosim.simulation.arguments import engine_errors
from robosim.simulation.balance import StepBalance, balance_of
from robosim.simulation.details import (
    ClosureForce,
    ContactForce,
    JointForce,
    StepIsland,
    StepReport,
    closure_from,
    contact_from,
    island_from,
    joint_from,
    report_from,
)
from robosim.simulation.gradients import (
    Jacobians,
    OneSidedCause,
    StepCurvature,
    StepGradient,
    StepTangent,
)
from robosim.simulation.parameters import Key, ParameterErrors
from robosim.simulation.state import Control, State
from robosim.world.closure import JointEquality

if TYPE_CHECKING:
    from robosim.simulation.simulation import Simulation

__all__ = ["Linearization"]

Array = NDArray[np.float64]


class Linearization:
    """A single step: its end state, its forces and the derivatives of its end state.

    `Simulation.linearize` makes it. Results are exact for that step and computed on first access.

    Attributes:
        simulation: the simulation that took the step.
        start: the state before the step.
        control: the control of the step.
    """

    _step: _engine.TakenStep

    def __init__(self, simulation: Simulation, start: State, control: Control) -> None:
        self.simulation, self.start, self.control = simulation, start, control
        with engine_errors():
            self._step = simulation._engine.take(
                (start.q, start.v), (control.tau, control.q_target, control.v_target)
            )

    @cached_property
    def state(self) -> State:
        """The state at the end of the step, bitwise equal to that of `Simulation.step`."""
        q, v = self._step.state
        return State._made(q, v, self.start.time + self.simulation.dt, self._step.report)

    @cached_property
    def report(self) -> StepReport:
        """Report on how the step was solved."""
        return report_from(self._step.report)

    # Forces

    @cached_property
    def contacts(self) -> list[ContactForce]:
        """All points within the margin or touched in the step.

        With substeps, this and the following properties describe the last substep.
        """
        return [contact_from(x) for x in self._details.contacts]

    @cached_property
    def joints(self) -> list[JointForce]:
        """Forces of joint limits within the margin, motors, dry friction and joint equalities."""
        names = self.simulation.model.velocity_names
        return [joint_from(x, names) for x in self._details.joints]

    @cached_property
    def closures(self) -> list[ClosureForce]:
        """Forces of point closures and welds, in the order of the world's closures."""
        return [closure_from(x) for x in self._details.closures]

    @cached_property
    def islands(self) -> list[StepIsland]:
        """Groups of constraint rows that were solved together."""
        return [island_from(x) for x in self._details.islands]

    @cached_property
    def _details(self) -> _engine.StepDetails:
        return self._step.details

    @property
    def switch(self) -> float:
        """Smallest distance of a row to another mode [m/s or rad/s]; inf without rows."""
        return min((row.switch for island in self.islands for row in island.rows), default=np.inf)

    @property
    def condition(self) -> float:
        """Largest condition number of the islands."""
        return max((island.condition for island in self.islands), default=1.0)

    @cached_property
    def signature(self) -> bytes:
        """Signature of the formula of the step: the features that touch and the mode of each row.

        Steps with equal signatures are values of one smooth function, so finite differences between
        them can be compared with derivatives. Where the signature changes, the step function has a
        kink or a jump. Signatures have no other meaning, and signatures of different models cannot
        be compared.
        """
        return self._step.signature

    def balance(self) -> StepBalance:
        """Energy and momentum before and after the step, with the work and impulses between.

        With substeps, the balance is that of the last substep. Takes some milliseconds, since the
        model computes the motion of each link.
        """
        simulation = self.simulation
        substeps = simulation._made_of["substeps"]
        last = self
        if substeps > 1:
            one = (simulation._made or simulation)._with(
                {**simulation._changes, "dt": np.array(simulation.dt / substeps)}, substeps=1
            )
            state = self.start
            for _ in range(substeps - 1):
                state = one.step(state, self.control)
            last = one.linearize(state, self.control)
        coefficients = iter(simulation.parameters["coefficients"])
        closures = [
            (
                c
                if not isinstance(c, JointEquality)
                else replace(c, coefficients=next(coefficients)[: None if c.of else 1])
            )
            for c in simulation._closures
        ]
        return balance_of(last, closures)

    # Derivatives

    def vjp(self, q_bar: ArrayLike | None = None, v_bar: ArrayLike | None = None) -> StepGradient:
        """Gradient of a loss of the end state with respect to everything that the step depends on.

        The gradient is with respect to the state, the control and every parameter: masses, lengths,
        springs, limits, materials, motors, shapes down to the vertices of convex meshes, gravity
        and dt. It accounts for contacts: points move, normals turn, and each contact sticks, slides
        or bounces and each limit is active as in the step. Modes are held fixed. Where a mode
        changes exactly at this state, the gradient is one-sided. With `pgs` the gradient is that of
        the sweeps, converged or not.

        Args:
            q_bar: (n_v,) gradient of the loss in q at the end, in its tangent space; None for zero.
            v_bar: (n_v,) gradient of the loss in v at the end; None for zero.

        Raises:
            SimulationError: an array has the wrong shape or is not finite.

        Source: `engine/step/linearization/step_vjp.cpp`; Werling et al., "Fast and feature-complete
        differentiable physics for articulated rigid bodies with contact", RSS 2021, with one
        transposed solve instead of its matrices. For `pgs`, the adjoint of the sweeps: Qiao et al.,
        "Efficient differentiable simulation of articulated bodies", ICML 2021, Algorithm 1.
        """
        with engine_errors():
            return self.simulation._gradient(self._step.vjp(self._bar(q_bar, v_bar)))

    def jvp(
        self,
        *,
        q: ArrayLike | None = None,
        v: ArrayLike | None = None,
        tau: ArrayLike | None = None,
        q_target: ArrayLike | None = None,
        v_target: ArrayLike | None = None,
        parameters: Mapping[Key, ArrayLike] | None = None,
    ) -> StepTangent:
        """Derivative of the end state along one direction of everything that the step depends on.

        The Jacobian-vector product, computed without forming the matrix; `vjp` is its transpose.
        Arguments that are not given do not change.

        Args:
            q: (n_v,) direction of q at the start, in its tangent space.
            v: (n_v,) direction of v at the start.
            tau: (n_v,) direction of the control's forces.
            q_target: (n_q,) direction of the control's target positions.
            v_target: (n_v,) direction of the control's target velocities.
            parameters: directions by name, as in `Simulation.parameters`. Sizes and scales of
                bodies made of pieces have no derivative: if they change and anything touches, the
                result is nan.

        Raises:
            SimulationError: an array has the wrong shape or is not finite, or no parameter has that
                name.

        Example:
            >>> import numpy as np, robosim
            >>> from robosim.simulation import Simulation
            >>> from robosim.world import World
            >>> cart = Simulation(World(robosim.load_robot("cart_pole")), dt=0.01)
            >>> pushed = cart.linearize(cart.state()).jvp(tau=[1.0, 0.0])
            >>> np.allclose(pushed.q, cart.dt * pushed.v)
            True

        Source: `engine/step/linearization/step_jvp.cpp`.
        """
        direction = _given(q=q, v=v, tau=tau, q_target=q_target, v_target=v_target)
        if parameters is not None:
            direction |= self.simulation._names.direction(self.simulation._links, parameters)
        with engine_errors():
            (q_change, v_change), causes = self._step.jvp(direction)
        return StepTangent(q_change, v_change, OneSidedCause(causes))

    def hvp(
        self,
        q_bar: ArrayLike | None = None,
        v_bar: ArrayLike | None = None,
        *,
        q: ArrayLike | None = None,
        v: ArrayLike | None = None,
        tau: ArrayLike | None = None,
        q_target: ArrayLike | None = None,
        v_target: ArrayLike | None = None,
    ) -> StepCurvature:
        """Derivative of the gradient of `vjp` along one direction of state and control.

        The product of the Hessian of the loss q_bar . (q_next - q_next here) + v_bar . v_next with
        the direction, while the modes and features of all contacts stay as they are. Newton-type
        planners need it beside the Jacobians. The product is symmetric in q, v and the control,
        where q moves along the tangent space at the state (`Model.integrate`) and differences of
        configurations are those of `Model.difference`. The entries of parameters are mixed
        derivatives.

        The product is extrapolated from exact gradients at nearby states, to about ten digits;
        `error` estimates the error of each number. The points are moved closer until all of them
        are steps of one formula (`signature`). Costs about as much as ten gradients. Does not
        depend on `complementarity_aware`.

        Args:
            q_bar: as in `vjp`.
            v_bar: as in `vjp`.
            q: (n_v,) direction of q at the start, in its tangent space; None for zero, as for the
                other directions.
            v: (n_v,) direction of v at the start.
            tau: (n_v,) direction of the control's forces.
            q_target: (n_q,) direction of the control's target positions, if the control has them.
            v_target: (n_v,) direction of the control's target velocities, if the control has them.

        Raises:
            SimulationError: an array has the wrong shape or is not finite.

        Example:
            >>> import numpy as np, robosim
            >>> from robosim.simulation import Simulation
            >>> from robosim.world import World
            >>> cart = Simulation(World(robosim.load_robot("cart_pole")), dt=0.01)
            >>> step = cart.linearize(cart.state([0.0, 0.3], [0.0, 1.0]))
            >>> by_q = step.hvp(v_bar=[0.0, 1.0], q=[0.0, 1.0]).gradient
            >>> by_v = step.hvp(v_bar=[0.0, 1.0], v=[0.0, 1.0]).gradient
            >>> np.allclose(by_q.v[1], by_v.q[1], rtol=1e-8)
            True

        Source: `engine/rollout/hessian_product.cpp`; Ridders (1982).
        """
        direction = _given(q=q, v=v, tau=tau, q_target=q_target, v_target=v_target)
        with engine_errors():
            product, error = self._step.hvp(self._bar(q_bar, v_bar), direction)
        gradient = self.simulation._gradient
        return StepCurvature(gradient(product), gradient(error, ParameterErrors))

    def jacobians(self, *by: Key) -> Jacobians:
        """Derivatives of the end state in the state before, in the control and in parameters.

        Args:
            by: any of q, v, tau, q_target and v_target, and parameters by name, as in
                `Simulation.parameters`; the first five by default. Derivatives that are not named
                are not computed and have no columns.

        Raises:
            SimulationError: `by` has an unknown name.

        Example:
            >>> import robosim
            >>> from robosim.simulation import Simulation
            >>> from robosim.world import World
            >>> arm = Simulation(World(robosim.load_robot("ur5")))
            >>> step = arm.linearize(arm.state())
            >>> found = step.jacobians("v", "gravity", ("com", "forearm_link"))
            >>> found.parameters["com", "forearm_link"].shape
            (2, 6, 3)

        Source: `engine/step/linearization/step_jacobians.cpp`.
        """
        wanted, keys, columns = self.simulation._wanted(by)
        with engine_errors():
            found = self._step.jacobians(wanted, columns)
        return self.simulation._jacobians(found, keys)

    def _bar(self, q_bar: ArrayLike | None, v_bar: ArrayLike | None) -> tuple[ArrayLike, ArrayLike]:
        zero = np.zeros(self.simulation.model.n_v)
        return (zero if q_bar is None else q_bar), (zero if v_bar is None else v_bar)

    def __repr__(self) -> str:
        status = self.report.status.name
        return (
            f"<Linearization of a step of {self.simulation.model.name!r} at {self.start.time:g} s,"
            f" {status}>"
        )


def _given(**directions: ArrayLike | None) -> dict[str, Any]:
    return {name: value for name, value in directions.items() if value is not None}
