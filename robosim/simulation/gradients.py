"""Derivatives of steps and rollouts."""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntFlag
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from robosim.geometry import Shape
from robosim.simulation.parameters import Key, ParameterGradient

__all__ = [
    "Jacobians",
    "MeshRows",
    "OneSidedCause",
    "StepCurvature",
    "StepGradient",
    "StepTangent",
]

Array = NDArray[np.float64]


class MeshRows(NamedTuple):
    """A convex mesh or a triangle, and the rows of its vertices in `parameters["vertices"]`."""

    name: str
    """Name of its object, as in `Simulation.objects`."""
    object: int
    """Index of its object in `Simulation.objects`."""
    rows: slice
    """Rows of its vertices, in the order of `shape.vertices`."""
    shape: Shape
    """The mesh or triangle."""


class OneSidedCause(IntFlag):
    """Reasons why a derivative is one-sided or does not exist; the numbers are those of the engine.

    The causes of a step are combined with "or": `gradient.causes & OneSidedCause.tie`.
    `OneSidedCause(number)` names the causes in an array of numbers.
    """

    feature = 1
    """Another feature of a contact takes over exactly here. The derivative is that of the present
    feature."""
    tie = 2
    """A row is degenerate: at the border of separating and pushing, or of sticking and slipping.
    The derivative is that of its present mode."""
    undetermined = 4
    """Velocities are not unique, or the sliding direction of a contact is not: no derivative."""
    unsolved = 8
    """The impulses belong to no active set: the step is `inconsistent`, or friction bounds of
    `convex` are off."""
    torn = 16
    """Redundant rows contradict each other as soon as something moves: no derivative."""
    other_classes = 32
    """The direction is that of `complementarity_aware`: intentionally not a derivative."""
    diverged = 64
    """The step was not taken: the derivative is that of keeping the state."""
    switches = 128
    """Steps nearby, however close, follow other formulas: the product of `hvp` is nan."""


class StepGradient(NamedTuple):
    """Gradient of a loss with respect to all arguments of a step or a rollout.

    The arrays of a rollout have its leading axes in front. The gradient in q is in the tangent
    space, as are all derivatives of robosim: dloss = q . dv for a q that moves along dv.
    """

    q: Array
    """(n_v,) gradient in the first configuration."""
    v: Array
    """(n_v,) gradient in the first velocity."""
    tau: Array
    """(n_v,), for a rollout (..., steps, n_v)."""
    q_target: Array
    """(n_q,), for a rollout (..., steps, n_q)."""
    v_target: Array
    """(n_v,), for a rollout (..., steps, n_v)."""
    parameters: ParameterGradient
    """Gradient in every parameter of the world, by name: `parameters["friction", ("tire",
    "road")]`. Zero in the compliance and relaxation time of hard contacts, since compliant contacts
    follow another law."""
    causes: Any
    """`OneSidedCause`: reasons why the gradient is one-sided or does not exist, over all steps; for
    rollouts an array (...) of numbers."""

    @property
    def one_sided(self) -> Any:
        """True if the gradient is one-sided or does not exist; for rollouts an array (...)."""
        return self.causes != 0


class Jacobians(NamedTuple):
    """Derivatives of the state after a step: [0] of q (tangent space), [1] of v, n_v rows each.

    The Jacobians of a rollout have its leading axes and its steps in front: (..., steps, 2, n_v,
    n_v).
    """

    q: Array
    """(2, n_v, n_v) in q before the step, in its tangent space."""
    v: Array
    """(2, n_v, n_v)."""
    tau: Array
    """(2, n_v, n_v)."""
    q_target: Array
    """(2, n_v, n_q)."""
    v_target: Array
    """(2, n_v, n_v)."""
    parameters: Mapping[Key, Array]
    """(2, n_v, ...) in each requested parameter, by its name: the last axes are those of its
    numbers."""
    causes: Any
    """Causes of each step, as in `StepGradient`; for a rollout (..., steps)."""

    @property
    def one_sided(self) -> Any:
        """True if derivatives are one-sided, as in `StepGradient`; for a rollout (..., steps)."""
        return self.causes != 0


class StepTangent(NamedTuple):
    """Derivative of the next state along a direction of everything that it depends on."""

    q: Array
    """(n_v,) change of q, in its tangent space."""
    v: Array
    """(n_v,) change of v."""
    causes: OneSidedCause
    """Causes, as in `StepGradient`."""

    @property
    def one_sided(self) -> bool:
        """True if the derivative is one-sided or does not exist."""
        return self.causes != 0


class StepCurvature(NamedTuple):
    """Derivative of the gradient of a step along one direction of its state and control."""

    gradient: StepGradient
    """Derivative of the gradient in all arguments, including parameters. Where steps nearby,
    however close, follow other formulas, it is nan and `causes` has `switches`. Where the gradient
    itself is `one_sided`, it is not reliable."""
    error: StepGradient
    """Estimated error of each number."""
