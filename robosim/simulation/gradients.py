"""How steps and rollouts change with what they are made from."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from robosim.geometry import Shape

__all__ = [
    "ClosureGradients",
    "MeshRows",
    "ModelGradient",
    "ObjectGradients",
    "RunJacobians",
    "StepGradient",
    "StepJacobians",
    "StepTangent",
]

Array = NDArray[np.float64]


class ModelGradient(NamedTuple):
    """What a loss changes by with the model's numbers, per SI unit of each.

    The n_b bodies and their joints are counted, and their frames are, as in `Model.inverse_dynamics_parameter_vjp`.
    """

    mass: Array
    """(n_b,), centre of mass and moments about it held."""
    com: Array
    """(n_b, 3) of the centre of mass, moments about it held."""
    inertia: Array
    """(n_b, 6) of xx, xy, yy, xz, yz, zz about the centre of mass."""
    placement: Array
    """(n_b, 6) of the twist [linear; angular] that moves the body's joint in its parent, with all that hangs on it."""
    armature: Array
    """(n_v,)."""
    damping: Array
    """(n_v,)."""
    friction: Array
    """(n_v,) of the dry friction of joints that have some."""
    stiffness: Array
    """(n_v,) of the springs."""
    spring_reference: Array
    """(n_v,)."""
    q_lower: Array
    """(n_q,) of the joints' limits."""
    q_upper: Array
    """(n_q,)."""
    gravity: Array
    """(3,)."""


class ObjectGradients(NamedTuple):
    """What a loss changes by with the n shapes that may touch: colliders and obstacles, as in `Simulation.objects`."""

    pose: Array
    """(n, 6) of the twist [linear; angular] that moves the shape in its own frame [m, rad]."""
    size: Array
    """(n, 4) of each size, in the order of its type in `robosim.geometry.shape_sizes`, in metres, zero beyond; of
    bodies made of pieces nan."""
    scale: Array
    """(n,) of a factor, at 1, by which it grows about its frame's origin; of bodies made of pieces nan."""
    vertices: Array
    """(k, 3) of the coordinates of each vertex [m], those of all convex meshes and triangles, one shape behind the
    other: `Simulation.meshes` tells which rows are whose. In the frame of the shape, of a file's mesh after its
    scaling; the rounding, which is a size, stays. Zero of vertices that nothing touches. Where all faces that touch are
    triangles it holds along every direction; a face of more corners is one only as long as they keep it flat, and along
    directions that do so it holds. Surfaces (`TriangleMesh`, `HeightField`) have no rows.

    Source: `engine/geometry/manifolds/manifold_derivatives.h`."""


class MeshRows(NamedTuple):
    """A convex mesh or a triangle, and where its vertices are in `ObjectGradients.vertices`."""

    name: str
    """Of its object, as in `Simulation.objects`."""
    object: int
    """Its place there."""
    rows: slice
    """Of its vertices, in the order of `shape.vertices`."""
    shape: Shape
    """Itself."""


class ClosureGradients(NamedTuple):
    """What a loss changes by with what closes loops, in the order of `closures`."""

    frames: Array
    """(n, 2, 6) of each point and weld: of the twists [linear; angular] that move its frames in themselves [m, rad]."""
    coefficients: Array
    """(m, 5) of each equality."""


class StepGradient(NamedTuple):
    """The gradient of a loss in the arguments of a step, or of a whole run.

    Along q it is in the tangent space, as all of robosim's derivatives are: dloss = q . dv for a q that moves along dv.
    """

    q: Array
    """(n_v,) of the first configuration."""
    v: Array
    """(n_v,) of the first velocity."""
    tau: Array
    """(n_v,), of a run (steps, n_v)."""
    q_target: Array
    """(n_q,), of a run (steps, n_q)."""
    v_target: Array
    """(n_v,), of a run (steps, n_v)."""
    materials: Array
    """(m, 6) of each pair of `Simulation.pairs`: the numbers of `Material`, in its order. By compliance and relaxation
    time of what is hard it is zero: it does not begin to give, but follows another law."""
    motors: Array
    """(n_v, 3) of each coordinate: position gain, velocity gain, limit."""
    model: ModelGradient
    """By masses, lengths, springs, limits, gravity."""
    objects: ObjectGradients
    """By poses and sizes of what may touch."""
    closures: ClosureGradients
    """By frames and coefficients of what closes loops."""
    dt: float
    """By the length of a step."""
    one_sided: bool
    """Whether, in some step, it holds to one side only: where features of a contact change right there, or the impulses
    of points that depend on each other are not those of the documented choice."""


class StepJacobians(NamedTuple):
    """Derivatives of the next state: [0] of q (tangent space), [1] of v, n_v rows each."""

    q: Array
    """(2, n_v, n_v) in q, in its tangent space."""
    v: Array
    """(2, n_v, n_v)."""
    tau: Array
    """(2, n_v, n_v)."""
    q_target: Array
    """(2, n_v, n_q)."""
    v_target: Array
    """(2, n_v, n_v)."""
    one_sided: bool
    """As of `StepGradient`."""


class RunJacobians(NamedTuple):
    """`StepJacobians` of each of a run's n steps."""

    q: Array
    """(n, 2, n_v, n_v), as there, and so the others."""
    v: Array
    """(n, 2, n_v, n_v)."""
    tau: Array
    """(n, 2, n_v, n_v)."""
    q_target: Array
    """(n, 2, n_v, n_q)."""
    v_target: Array
    """(n, 2, n_v, n_v)."""
    one_sided: NDArray[np.bool_]
    """(n,)."""


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
