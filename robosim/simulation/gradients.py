"""How steps and rollouts change with what they are made from."""

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
    """A convex mesh or a triangle, and where its vertices are in `parameters["vertices"]`."""

    name: str
    """Of its object, as in `Simulation.objects`."""
    object: int
    """Its place there."""
    rows: slice
    """Of its vertices, in the order of `shape.vertices`."""
    shape: Shape
    """Itself."""


class OneSidedCause(IntFlag):
    """Causes for which a derivative holds on one side only, or not at all; numbers are the
    engine's.

    Those of a step are or-ed: `gradient.causes & OneSidedCause.tie`. `OneSidedCause(number)` names
    what arrays hold.
    """

    feature = 1
    """Another feature of a contact takes over right here: the derivative is that of the feature
    that is there."""
    tie = 2
    """A row is at the edge of its class: it pushes or not, sticks or slides. The derivative is that
    of its class."""
    undetermined = 4
    """Velocities are not unique, or the direction in which a contact slides is not: no
    derivative."""
    unsolved = 8
    """The impulses are those of no active set, as of steps that are `inconsistent`, or `convex` has
    bounds of friction that are off."""
    torn = 16
    """Rows that depend on each other contradict each other as soon as something moves: no
    derivative."""
    other_classes = 32
    """The direction that `complementarity_aware` took: no derivative, and meant so."""
    diverged = 64
    """The step was not taken: the derivative is that of standing still."""
    switches = 128
    """Of `hvp`: steps beside this one, however near, are by other formulas, and the product is
    nan."""


class StepGradient(NamedTuple):
    """The gradient of a loss in the arguments of a step, or of a rollout, with whose leading axes
    all arrays begin.

    Along q it is in the tangent space, as all of robosim's derivatives are: dloss = q . dv for a q
    that moves along dv.
    """

    q: Array
    """(n_v,) of the first configuration."""
    v: Array
    """(n_v,) of the first velocity."""
    tau: Array
    """(n_v,), of a rollout (..., steps, n_v)."""
    q_target: Array
    """(n_q,), of a rollout (..., steps, n_q)."""
    v_target: Array
    """(n_v,), of a rollout (..., steps, n_v)."""
    parameters: ParameterGradient
    """By every parameter of the world, by name: `parameters["friction", ("tire", "road")]`. By
    compliance and relaxation time of what is hard it is zero: it does not begin to give, but
    follows another law."""
    causes: Any
    """`OneSidedCause`: why it holds to one side only, or not at all, of all steps; of rollouts
    (...) numbers."""

    @property
    def one_sided(self) -> Any:
        """True where it holds to one side only, or not at all; of rollouts (...)."""
        return self.causes != 0


class Jacobians(NamedTuple):
    """Derivatives of the state after a step: [0] of q (tangent space), [1] of v, n_v rows each.

    Those of a rollout have its leading axes and its steps in front: (..., steps, 2, n_v, n_v).
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
    """(2, n_v, ...) in each parameter that was asked for, by its name: then the axes of its
    numbers."""
    causes: Any
    """As of `StepGradient`; of a rollout (..., steps), of each step."""

    @property
    def one_sided(self) -> Any:
        """As of `StepGradient`; of a rollout (..., steps)."""
        return self.causes != 0


class StepTangent(NamedTuple):
    """What the next state changes by along a direction of everything that it depends on."""

    q: Array
    """(n_v,) in its tangent space."""
    v: Array
    """(n_v,)."""
    causes: OneSidedCause
    """As of `StepGradient`."""

    @property
    def one_sided(self) -> bool:
        """As of `StepGradient`."""
        return self.causes != 0


class StepCurvature(NamedTuple):
    """What the gradient of a step changes by along one direction of its state and control."""

    gradient: StepGradient
    """By all that it is in, parameters too. Where steps beside it are by other formulas, however
    near, it is nan and `causes` has `switches`. Where the gradient itself is `one_sided` it is not
    to be relied on."""
    error: StepGradient
    """About how far off each of these numbers may be."""
