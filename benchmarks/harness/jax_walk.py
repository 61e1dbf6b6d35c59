"""Walk of `bench_rollouts.py` in JAX: the same robot, contact and solver, by `jax.grad`.

This is the peer of `Simulation` with `pgs`: a trunk on legs of three hinges each, motors at all of
them, balls for feet, flat ground at z = 0. Each step is that of `engine/step/step.h`, so states
agree to rounding. It has mass matrix and bias by composite bodies and recursive Newton-Euler
(Featherstone 2008), rows for normals, two axes of friction and motors, and sweeps of projected
Gauss-Seidel from zero. Parts that the walk does not need are left out: contacts of other links,
limits of joints, dry friction and damping (checked in tests/bridges/test_jax_walk.py).

It is written in the style that suits JAX: double precision, no branches, one `lax.scan` over the
steps, and the legs side by side along one axis. The rows of motors, which have no bounds, take one
triangular product per sweep. A foot always has its three rows. Outside the margin `jnp.where` sets
their impulses to zero, so that their derivatives are zeros and never nan. Twists and wrenches are
[linear; angular] in the trunk's axes at its origin.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from numpy.typing import NDArray

from robosim.simulation import Simulation

Array = NDArray[np.float64]

LEGS, JOINTS = 4, 3
BASE, N_V = 6, 6 + LEGS * JOINTS
ERP, MARGIN, FASTEST = 0.2, 1e-3, 1.0  # defaults of `Simulation`
TOUCHING = 1e-5  # smaller gaps are kept (step/constraints/recovery.h)
# Lower triangle: sums over a joint and those before it along a leg. Its transpose sums over a joint
# and those after it.
UP_TO = np.tri(JOINTS)
EYE = np.eye(3)


class Inertia(NamedTuple):
    """Inertias of rigid bodies.

    They are mass [kg], mass times center of mass [kg m], and inertia about the origin [kg m^2].
    """

    mass: Any
    moment: Any
    inertia: Any


class Robot(NamedTuple):
    """Constants of the robot; legs and their joints are the first axes.

    Attributes:
        trunk: its inertia.
        links: (4, 3) inertias of the legs' links in their own frames, with everything welded to
            them.
        rotations: (4, 3, 3, 3) of each joint's frame in the link before it.
        offsets: (4, 3, 3) origin of each joint's frame in the link before it.
        axes: (4, 3, 3) of the joints.
        feet: (4, 3) centers of the balls in the last links.
        radius: of the balls.
        friction: between feet and ground.
        stiffness: (4, 3) position gains of the motors.
        damping: (4, 3) velocity gains.
        gravity: (3,).
        dt: length of a step.
        sweeps: number of sweeps.
    """

    trunk: Inertia
    links: Inertia
    rotations: Array
    offsets: Array
    axes: Array
    feet: Array
    radius: float
    friction: float
    stiffness: Array
    damping: Array
    gravity: Array
    dt: float
    sweeps: int


class State(NamedTuple):
    """Position and quaternion (x y z w) of the trunk, angles of the joints, and all velocities."""

    position: Any
    quaternion: Any
    angles: Any
    v: Any


def robot_of(simulation: Simulation, sweeps: int) -> Robot:
    """Read the constants from a simulation of a quadruped on a flat floor."""
    model = simulation.model
    links = {link.name: link for link in model.links}
    after = {name: [joint for joint in model.joints if joint.parent == name] for name in links}

    def body(name: str) -> Inertia:
        """Inertia of a link and of everything welded to it without rotation."""
        welds = [joint for joint in after[name] if joint.kind == "fixed"]
        parts = [
            (links[name], np.zeros(3)),
            *((links[weld.child], weld.X_PJ[:3, 3]) for weld in welds),
        ]
        mass = np.array([link.mass for link, _ in parts])
        c = np.array([p + link.com for link, p in parts])
        squares = np.einsum("ni,ni->n", c, c)[:, None, None] * EYE - np.einsum("ni,nj->nij", c, c)
        central = np.array([link.inertia for link, _ in parts])
        return Inertia(mass.sum(), mass @ c, (central + mass[:, None, None] * squares).sum(0))

    # Legs: chains of revolute joints from the trunk, and the feet welded to their last links.
    legs = []
    for hip in (joint for joint in after[model.root_link] if joint.kind == "revolute"):
        leg = [hip]
        while len(leg) < JOINTS:
            leg += [joint for joint in after[leg[-1].child] if joint.kind == "revolute"]
        legs.append(leg)
    bodies = [[body(joint.child) for joint in leg] for leg in legs]
    (feet,) = zip(*(after[leg[-1].child] for leg in legs), strict=True)
    (ball,) = (collider for collider in model.colliders if collider.link == feet[0].child)
    numbers = simulation.parameters
    return Robot(
        trunk=body(model.root_link),
        links=Inertia(*(np.array([[link[i] for link in leg] for leg in bodies]) for i in range(3))),
        rotations=np.array([[joint.X_PJ[:3, :3] for joint in leg] for leg in legs]),
        offsets=np.array([[joint.X_PJ[:3, 3] for joint in leg] for leg in legs]),
        axes=np.array([[joint.axis for joint in leg] for leg in legs]),
        feet=np.array([weld.X_PJ[:3, 3] for weld in feet]),
        radius=ball.shape.radius,
        friction=float(numbers["friction", (ball.name, "floor")]),
        stiffness=numbers["position_gain"][BASE:].reshape(LEGS, JOINTS),
        damping=numbers["velocity_gain"][BASE:].reshape(LEGS, JOINTS),
        gravity=np.array([0, 0, -9.80665]),
        dt=simulation.dt,
        sweeps=sweeps,
    )


def turned(axes: Any, angle: Any) -> Any:
    """Rotations about unit axes."""
    K = jnp.cross(axes[..., None, :], EYE)
    s, c = jnp.sin(angle)[..., None, None], jnp.cos(angle)[..., None, None]
    return EYE - s * K + (1 - c) * (K @ K)


def rotation(quaternion: Any) -> Any:
    """Rotation matrix of a unit quaternion."""
    u, w = quaternion[:3], quaternion[3]
    return (2 * w * w - 1) * EYE + 2 * jnp.outer(u, u) - 2 * w * jnp.cross(u, EYE)


def exponential(w: Any) -> Any:
    """Quaternion of a rotation vector, also smooth at zero."""
    square = w @ w
    is_small = square < 1e-8
    angle = jnp.sqrt(jnp.where(is_small, 1.0, square))
    part = jnp.where(is_small, 0.5 - square / 48, jnp.sin(angle / 2) / angle)
    return jnp.append(part * w, jnp.where(is_small, 1 - square / 8, jnp.cos(angle / 2)))


def product(a: Any, b: Any) -> Any:
    """Product of two quaternions."""
    u, v = a[:3], b[:3]
    return jnp.append(a[3] * v + b[3] * u + jnp.cross(u, v), a[3] * b[3] - u @ v)


def moved(V: Any, W: Any) -> Any:
    """Cross product of twists."""
    v, w = V[..., :3], V[..., 3:]
    return jnp.concatenate(
        [jnp.cross(w, W[..., :3]) + jnp.cross(v, W[..., 3:]), jnp.cross(w, W[..., 3:])], -1
    )


def pushed(V: Any, F: Any) -> Any:
    """Cross product of a twist and a wrench."""
    v, w = V[..., :3], V[..., 3:]
    return jnp.concatenate(
        [jnp.cross(w, F[..., :3]), jnp.cross(w, F[..., 3:]) + jnp.cross(v, F[..., :3])], -1
    )


def times(I: Inertia, V: Any) -> Any:  # noqa: E741
    """Momentum of a body with twist V."""
    v, w = V[..., :3], V[..., 3:]
    linear = I.mass[..., None] * v + jnp.cross(w, I.moment)
    angular = jnp.cross(I.moment, v) + jnp.einsum("...ij,...j->...i", I.inertia, w)
    return jnp.concatenate([linear, angular], -1)


def placed(robot: Robot, angles: Any) -> tuple[Any, Inertia, Any]:
    """Return axes of the joints, inertias of the links and centers of the feet, all in the trunk.

    The axes are twists (4, 3, 6).
    """
    turns = jnp.einsum("...ij,...jk->...ik", robot.rotations, turned(robot.axes, angles))
    R, p = [turns[:, 0]], [robot.offsets[:, 0]]
    for k in range(1, JOINTS):
        p.append(p[-1] + jnp.einsum("lij,lj->li", R[-1], robot.offsets[:, k]))
        R.append(R[-1] @ turns[:, k])
    Rs, ps = jnp.stack(R, 1), jnp.stack(p, 1)
    axes = jnp.einsum("...ij,...j->...i", Rs, robot.axes)
    S = jnp.concatenate([jnp.cross(ps, axes), axes], -1)
    # Parallel axis theorem about the trunk's origin, with h = R h'. The term that p and h have in
    # common counts twice.
    m, h = robot.links.mass, jnp.einsum("...ij,...j->...i", Rs, robot.links.moment)
    both = jnp.einsum("...i,...j->...ij", ps, h)
    square = (
        jnp.einsum("...i,...j->...ij", ps, ps) * m[..., None, None]
        + both
        + jnp.swapaxes(both, -1, -2)
    )
    inertia = Rs @ robot.links.inertia @ jnp.swapaxes(Rs, -1, -2)
    inertia += jnp.trace(square, axis1=-2, axis2=-1)[..., None, None] * EYE - square
    feet = ps[:, -1] + jnp.einsum("lij,lj->li", Rs[:, -1], robot.feet)
    return S, Inertia(m, h + m[..., None] * ps, inertia), feet


def mass_matrix(trunk: Inertia, links: Inertia, S: Any) -> Any:
    """Mass matrix (18, 18) by composite bodies: a joint moves all links after it."""
    composite = Inertia(*(jnp.einsum("kj,lk...->lj...", UP_TO, part) for part in links))
    F = times(composite, S)
    upper = jnp.einsum("lix,ljx->lij", S, F) * UP_TO.T
    legs = upper + jnp.swapaxes(upper, 1, 2) * np.tri(JOINTS, k=-1)
    whole = Inertia(*(a + b[:, 0].sum(0) for a, b in zip(trunk, composite, strict=True)))
    base = jax.vmap(partial(times, whole))(jnp.eye(BASE))
    coupling = F.reshape(-1, BASE)
    return jnp.block([[base, coupling.T], [coupling, jax.scipy.linalg.block_diag(*legs)]])


def bias(trunk: Inertia, links: Inertia, S: Any, v: Any, base_acceleration: Any) -> Any:
    """Forces (18,) for zero acceleration of the joints at this acceleration of the trunk.

    They follow from recursive Newton-Euler.
    """
    rates = S * v[BASE:].reshape(LEGS, JOINTS, 1)
    V = v[:BASE] + jnp.einsum("kj,ljx->lkx", UP_TO, rates)
    A = base_acceleration + jnp.einsum("kj,ljx->lkx", UP_TO, moved(V, rates))
    F = jnp.einsum("kj,lkx->ljx", UP_TO, times(links, A) + pushed(V, times(links, V)))
    base = (
        times(trunk, base_acceleration) + pushed(v[:BASE], times(trunk, v[:BASE])) + F[:, 0].sum(0)
    )
    return jnp.concatenate([base, (S * F).sum(-1).ravel()])


def impulses(A: Any, b: Any, is_near: Any, mu: float, sweeps: int) -> Any:
    """Solve w = A f + b for f by sweeps of projected Gauss-Seidel from zero.

    There are three rows for each foot, followed by the motors.
    """
    n = 3 * LEGS
    scale = 1 / jnp.diagonal(A)[:n]
    G, g = (scale[:, None] * A[:n]).reshape(LEGS, 3, -1), (scale * b[:n]).reshape(LEGS, 3)
    motors = jax.scipy.linalg.solve_triangular(
        A[n:, n:], jnp.column_stack([A[n:], b[n:]]), lower=True
    )

    def foot(f: Any, rows: Any) -> tuple[Any, None]:
        i, G, g, is_near = rows
        before, own = lax.dynamic_slice(f, (i,), (3,)), lax.dynamic_slice(G, (0, i), (3, 3))
        free = before - G @ f - g  # each row alone; changes of earlier rows are added below
        push = jnp.where(is_near, jnp.maximum(free[0], 0), 0.0)
        change = push - before[0]
        first = jnp.clip(free[1] - own[1, 0] * change, -mu * push, mu * push)
        second = free[2] - own[2, 0] * change - own[2, 1] * (first - before[1])
        second = jnp.clip(second, -mu * push, mu * push)
        return lax.dynamic_update_slice(f, jnp.stack([push, first, second]), (i,)), None

    def sweep(f: Any, _: None) -> tuple[Any, None]:
        f, _ = lax.scan(foot, f, (jnp.arange(0, n, 3), G, g, is_near))
        return f.at[n:].add(-motors[:, :-1] @ f - motors[:, -1]), None

    return lax.scan(sweep, jnp.zeros_like(b), None, length=sweeps)[0]


def corrections(A: Any, b: Any, pushed: Any, is_near: Any, sweeps: int) -> Any:
    """Sweep the corrections of normals, each of which may remove at most its own impulse."""

    def foot(c: Any, i: Any) -> tuple[Any, None]:
        free = c[i] - (A[i] @ c + b[i]) / A[i, i]
        return c.at[i].set(jnp.where(is_near[i], jnp.maximum(free, -pushed[i]), 0.0)), None

    def sweep(c: Any, _: None) -> tuple[Any, None]:
        return lax.scan(foot, c, jnp.arange(LEGS))[0], None

    return lax.scan(sweep, jnp.zeros_like(b), None, length=sweeps)[0]


def step(robot: Robot, state: State, target: Any) -> State:
    """Return the state one step later, with targets (4, 3) of the motors."""
    dt, v = robot.dt, state.v
    R = rotation(state.quaternion)
    S, links, feet = placed(robot, state.angles)
    # Free velocity. The trunk's axes rotate while its velocity is constant.
    turning = jnp.cross(v[:3], v[3:BASE]) - R.T @ robot.gravity
    h = bias(robot.trunk, links, S, v, jnp.concatenate([turning, jnp.zeros(3)]))

    # Rows: normals and friction of the feet, at the ground, then motors.
    centers = state.position + feet @ R.T
    gaps = centers[:, 2] - robot.radius
    on_ground = (centers.at[:, 2].set(0.0) - state.position) @ R
    # z, y and x of W, in the order for a normal from the foot to the floor (step/contact_axes.h).
    axes = jnp.stack([R[2], R[1], R[0]])
    arms = jnp.broadcast_to(on_ground[:, None], (LEGS, 3, 3))
    W = jnp.concatenate([jnp.broadcast_to(axes, (LEGS, 3, 3)), jnp.cross(arms, axes)], -1)
    of_legs = jnp.einsum("lrx,ljx->lrj", W, S)
    contacts = jnp.concatenate([W.reshape(-1, BASE), jax.scipy.linalg.block_diag(*of_legs)], 1)
    J = jnp.concatenate([contacts, jnp.eye(N_V)[BASE:]])
    gains = robot.stiffness * dt + robot.damping
    of_motors = (robot.stiffness * (target - state.angles) / gains).ravel()
    compliance = np.concatenate([np.zeros(3 * LEGS), 1 / (dt * gains.ravel())])

    M = mass_matrix(robot.trunk, links, S)
    solved = jax.scipy.linalg.solve(M, jnp.column_stack([J.T, -dt * h]), assume_a="pos")
    v_free = v + solved[:, -1]
    A = J @ solved[:, :-1] + np.diag(compliance)

    of_normals = -ERP / dt * jnp.maximum(gaps - TOUCHING, 0.0)
    targets = jnp.concatenate([jnp.zeros((LEGS, 3)).at[:, 0].set(of_normals).ravel(), of_motors])
    f = impulses(A, J @ v_free - targets, gaps <= MARGIN, robot.friction, robot.sweeps)
    v = v_free + solved[:, :-1] @ f
    # Correct penetration by positions, without adding velocity.
    n = slice(0, 3 * LEGS, 3)
    b = J[n] @ v - jnp.minimum(-ERP / dt * gaps, FASTEST)
    way = v + solved[:, n] @ corrections(A[n, n], b, f[n], gaps <= MARGIN, robot.sweeps)

    turn = exponential(dt * way[3:BASE])
    quaternion = product(state.quaternion, turn)
    return State(
        state.position + dt * (R @ way[:3]),
        quaternion / jnp.sqrt(quaternion @ quaternion),
        state.angles + dt * way[BASE:].reshape(LEGS, JOINTS),
        v.at[:3].set(rotation(turn).T @ v[:3]),
    )


def start_of(q: Array) -> State:
    """Return the state at configuration q at rest."""
    return State(
        *(jnp.asarray(x) for x in (q[:3], q[3:7], q[7:].reshape(LEGS, JOINTS), np.zeros(N_V)))
    )


def targets_of(q_target: Array) -> Any:
    """Reshape a control's targets (steps, 19) to (steps, 4, 3)."""
    return jnp.asarray(q_target[:, 7:].reshape(-1, LEGS, JOINTS))


def numbers(states: State) -> tuple[Array, Array]:
    """Return q and v in robosim's layout."""
    angles = states.angles.reshape(*states.angles.shape[:-2], -1)
    return np.concatenate([states.position, states.quaternion, angles], -1), np.asarray(states.v)


def run(robot: Robot, start: State, targets: Any) -> State:
    """Return the states after each step, with targets (steps, 4, 3)."""

    def both(state: State, target: Any) -> tuple[State, State]:
        state = step(robot, state, target)
        return state, state

    return lax.scan(both, start, targets)[1]


def end(robot: Robot, start: State, targets: Any, segment: int | None) -> State:
    """Return the last state, for differentiation.

    Without `segment` all intermediate results of the steps are stored. Otherwise only the states at
    the beginning of every `segment` steps are stored, and the steps are computed again.
    """

    def one(state: State, target: Any) -> tuple[State, None]:
        return step(robot, state, target), None

    def many(state: State, targets: Any) -> tuple[State, None]:
        return lax.scan(one, state, targets)[0], None

    if segment is None:
        return many(start, targets)[0]
    inner = jax.checkpoint(one if segment == 1 else many, prevent_cse=False)
    if segment > 1:
        targets = targets.reshape(-1, segment, LEGS, JOINTS)
    return lax.scan(inner, start, targets)[0]


def gradient(
    robot: Robot, start: State, direction: Array, segment: int | None = None
) -> Callable[[Any], Any]:
    """Return a function of targets (steps, 4, 3): the trunk's displacement and its gradient.

    The final displacement is along a direction in the trunk's own axes at the end. The gradient
    holds these axes fixed, as robosim's gradients with respect to q do (docs/conventions.md).
    """

    def reached(targets: Any) -> Any:
        last = end(robot, start, targets, segment)
        return lax.stop_gradient(rotation(last.quaternion) @ direction) @ last.position

    return jax.value_and_grad(reached)
