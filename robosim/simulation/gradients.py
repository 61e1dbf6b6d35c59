"""How steps and rollouts change with what they are made from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from robosim.geometry import Shape
from robosim.simulation.parameters import Key, ParameterGradient

__all__ = [
    "Jacobians",
    "MeshRows",
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


class StepGradient(NamedTuple):
    """The gradient of a loss in the arguments of a step, or of a rollout, with whose leading axes all arrays begin.

    Along q it is in the tangent space, as all of robosim's derivatives are: dloss = q . dv for a q that moves along dv.
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
    """By every parameter of the world, by name: `parameters["friction", ("tyre", "road")]`. By compliance and
    relaxation time of what is hard it is zero: it does not begin to give, but follows another law."""
    one_sided: Any
    """(...) whether, in some step, it holds to one side only: where features of a contact change right there, or the
    impulses of points that depend on each other are not those of the documented choice."""


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
    """(2, n_v, ...) in each parameter that was asked for, by its name: then the axes of its numbers."""
    one_sided: Any
    """As of `StepGradient`; of a rollout (..., steps)."""


class StepTangent(NamedTuple):
    """What the next state changes by along a direction of everything that it depends on."""

    q: Array
    """(n_v,) in its tangent space."""
    v: Array
    """(n_v,)."""
    one_sided: bool
    """As of `StepGradient`."""


class StepCurvature(NamedTuple):
    """What the gradient of a step changes by along one direction of its state and control."""

    gradient: StepGradient
    """By all that it is in, parameters too. Where steps beside it are by other formulas, however near, `one_sided` and
    nan; `one_sided` as well where the gradient is, and then not to be relied on."""
    error: StepGradient
    """About how far off each of these numbers may be."""
