"""Balance of energy and momentum over a step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from robosim.simulation.details import StepStatus
from robosim.simulation.state import State
from robosim.world.closure import Closure, JointEquality

if TYPE_CHECKING:
    from robosim.model import Model
    from robosim.simulation.linearization import Linearization

__all__ = ["Energy", "StepBalance", "balance_of"]

Array = NDArray[np.float64]
_GIVERS = [
    "control",
    "damping",
    "contacts",
    "friction",
    "limits",
    "joint_friction",
    "motors",
    "closures",
    "equalities",
]


class Energy(NamedTuple):
    """Energy of everything that moves."""

    kinetic: float
    """Kinetic energy, including that of drives [J]."""
    potential: float
    """Potential energy of gravity, zero at the world's origin, and of springs [J]."""

    @property
    def total(self) -> float:
        """Sum of kinetic and potential energy [J]."""
        return self.kinetic + self.potential


class StepBalance(NamedTuple):
    """Energy and momentum before and after a step, and their sources."""

    before: Energy
    """Energy at the start of the step."""
    after: Energy
    """Energy at the end of the step."""
    work: Mapping[str, float]
    """Work of each source [J]: `control`, `damping`, `contacts` (along their normals), `friction`
    (tangential forces and friction moments), `limits`, `joint_friction`, `motors`, `closures` and
    `equalities`. The work is the impulse times the mean of the velocities before and after."""
    lifted: float
    """Potential energy added by position correction, which moves positions without velocity [J]."""
    momentum_before: Array
    """(6,) momentum at the start [linear; angular], about the world's origin [kg m/s, kg m^2/s]."""
    momentum_after: Array
    """(6,) momentum at the end."""
    impulse: Mapping[str, Array]
    """(6,) impulses on the moving bodies, of `gravity`, and of `contacts` and `closures` with the
    world."""

    @property
    def energy_error(self) -> float:
        """Change of energy that no source accounts for [J].

        At the configuration of the start, the works account for the whole change of kinetic energy.
        The error is thus due to the length of the step: of the order of dt^2 per step, and of dt if
        an impact changes velocities at once.
        """
        return self.after.total - self.before.total - sum(self.work.values()) - self.lifted

    @property
    def momentum_rest(self) -> Array:
        """(6,) remaining change of momentum.

        It is the impulse of joints that attach something to the world.

        For free bodies, except for the impulse of `tau`, the linear part is zero to rounding, and
        the angular part behaves as `energy_error`.
        """
        rest: Array = self.momentum_after - self.momentum_before - sum(self.impulse.values())
        return rest


def balance_of(details: Linearization, closures: Sequence[Closure]) -> StepBalance:
    """Balance of one step without substeps.

    Args:
        details: the step with all forces.
        closures: closures in the simulation's order.
    """
    model, dt = details.simulation.model, details.simulation.dt
    state, control = details.start, details.control
    # Mean velocity of the step, in the axes of its start.
    if details.report.status == StepStatus.diverged:  # the step was not taken
        dt, after = 0.0, np.zeros(model.n_v)
        mean = after
    else:
        after = _in_axes_before(model, state.q, details.state)
        mean = 0.5 * (state.v + after)
    # Work of the control and of damping.
    coordinate = {name: i for i, name in enumerate(model.velocity_names)}
    work = dict.fromkeys(_GIVERS, 0.0)
    if control.tau is not None:
        work["control"] = dt * float(np.asarray(control.tau) @ mean)
    work["damping"] = -dt * float((model.damping * after) @ mean)
    # Work of limits, dry friction, motors and joint equalities.
    laws: dict[str, list[JointEquality]] = {}
    for closure in closures:
        if isinstance(closure, JointEquality):
            laws.setdefault(closure.joint, []).append(closure)
    limits = ("lower_limit", "upper_limit", "backward_speed_limit", "forward_speed_limit")
    names = {**dict.fromkeys(limits, "limits"), "motor": "motors"}
    for force in details.joints:
        rate = mean[coordinate[force.coordinate]]
        if force.source == "equality":
            rate -= _followed(model, state.q, mean, laws[force.coordinate].pop(0))
            work["equalities"] += dt * force.force * rate
        else:
            work[names.get(force.source, force.source)] += dt * force.force * rate
    # Work of contacts, and impulses of gravity and of contacts with the world.
    links = {collider.name: collider.link for collider in model.colliders}
    linear_and_angular = _Twists(model, state.q, mean)
    impulse = {"gravity": _of_gravity(model, state.q, details.state.q, dt)}
    impulse["contacts"], impulse["closures"] = np.zeros(6), np.zeros(6)
    for contact in details.contacts:
        A, B = links.get(contact.A), links.get(contact.B)
        twist = linear_and_angular(B, contact.point) - linear_and_angular(A, contact.point)
        along = (contact.force @ contact.normal) * contact.normal
        work["contacts"] += dt * float(along @ twist[:3])
        work["friction"] += dt * float(
            (contact.force - along) @ twist[:3] + contact.moment @ twist[3:]
        )
        _add_outer(
            model, impulse["contacts"], dt, A, B, contact.point, contact.force, contact.moment
        )
    held = [c for c in closures if not isinstance(c, JointEquality)]
    # Work and impulses of point closures and welds. A step that diverged has no closure forces.
    for closure, force_at in zip(held, details.closures, strict=False):
        twist = linear_and_angular(closure.b, force_at.point) - linear_and_angular(
            closure.a, force_at.point
        )
        work["closures"] += dt * float(force_at.force @ twist[:3] + force_at.moment @ twist[3:])
        _add_outer(model, impulse["closures"], dt, closure.a, closure.b, *force_at[1:])
    return StepBalance(
        _energy(model, state),
        _energy(model, details.state),
        work,
        _lifted(model, details, dt),
        _momentum(model, state),
        _momentum(model, details.state),
        impulse,
    )


def _lifted(model: Model, details: Linearization, dt: float) -> float:
    """Potential energy that position correction has added [J]."""
    q, q_next = details.start.q, details.state.q
    taken_back = dt * details._details.taken_back
    if not taken_back.any():
        return 0.0
    other = model.integrate(q, model.difference(q, q_next) - taken_back)
    return float(model.potential_energy(q_next) - model.potential_energy(other))


def _energy(model: Model, state: State) -> Energy:
    kinetic, potential = model.kinetic_energy(state.q, state.v), model.potential_energy(state.q)
    return Energy(float(kinetic), float(potential))


def _moving(model: Model, q: Array) -> tuple[float, Array]:
    """Mass of the moving bodies [kg], and its first moment [kg m]."""
    engine = model._engine
    poses = model.link_poses(q)
    mass, moment = 0.0, np.zeros(3)
    bodies = {frame.name: frame.body for frame in engine.frames}
    for link in model.links:
        if bodies[link.name] == 0:
            continue
        X = poses[link.name]
        mass += link.mass
        moment += link.mass * (X[:3, :3] @ link.com + X[:3, 3])
    return mass, moment


def _momentum(model: Model, state: State) -> Array:
    """(6,) momentum of the moving bodies, about the world's origin."""
    about_com = model.centroidal_momentum(state.q, state.v)
    mass, moment = _moving(model, state.q)
    com = moment / mass if mass > 0 else np.zeros(3)
    with np.errstate(over="ignore", invalid="ignore"):  # after divergence
        return np.concatenate([about_com[:3], about_com[3:] + np.cross(com, about_com[:3])])


def _of_gravity(model: Model, q: Array, q_next: Array, dt: float) -> Array:
    """(6,) impulse of gravity, with the center of mass halfway between start and end."""
    mass, moment = _moving(model, q)
    _, moment_next = _moving(model, q_next)
    g = np.asarray(model._engine.gravity)
    return dt * np.concatenate([mass * g, np.cross(0.5 * (moment + moment_next), g)])


class _Twists:
    """Twists (6,) [linear; angular] of links at points in W; zero for the world, which is None."""

    def __init__(self, model: Model, q: Array, v: Array):
        self._model, self._q, self._v = model, q, v
        self._known: dict[str, tuple[Array, Array]] = {}

    def __call__(self, link: str | None, point: Array) -> Array:
        if link is None:
            return np.zeros(6)
        if link not in self._known:
            twist = self._model.frame_velocity(self._q, self._v, link)
            self._known[link] = self._model.frame_pose(self._q, link)[:3, 3], twist
        origin, twist = self._known[link]
        return np.concatenate([twist[:3] + np.cross(twist[3:], point - origin), twist[3:]])


def _add_outer(
    model: Model,
    to: Array,
    dt: float,
    A: str | None,
    B: str | None,
    point: Array,
    force: Array,
    moment: Array,
) -> None:
    """Add the impulse of a force between a moving body and the world; `force` acts on B."""
    bodies = {frame.name: frame.body for frame in model._engine.frames}
    fixed = [link is None or bodies[link] == 0 for link in (A, B)]
    if fixed[0] == fixed[1]:
        return
    sign = 1.0 if fixed[0] else -1.0
    to += sign * dt * np.concatenate([force, np.cross(point, force) + moment])


def _followed(model: Model, q: Array, v: Array, law: JointEquality) -> float:
    """Velocity that a joint equality requires."""
    if law.of is None:
        return 0.0
    i, c = model.position_names.index(law.of), model.velocity_names.index(law.of)
    slope = sum(k * x * q[i] ** (k - 1) for k, x in enumerate(law.coefficients) if k)
    return float(slope * v[c])


def _in_axes_before(model: Model, q: Array, after: State) -> Array:
    """(n_v,) velocity at the end, with that of free bodies in their axes at the start."""
    v = np.array(after.v)
    free = [(model.root_link, 0)] if model.floating_base else []
    for joint in model.joints:
        if joint.kind == "floating":
            free.append((joint.child, model.velocity_names.index(f"{joint.name}/vx")))
        if joint.kind == "planar":
            c = model.velocity_names.index(f"{joint.name}/vx")
            i = model.position_names.index(f"{joint.name}/theta")
            cos, sin = np.cos(after.q[i] - q[i]), np.sin(after.q[i] - q[i])
            v[c : c + 2] = cos * v[c] - sin * v[c + 1], sin * v[c] + cos * v[c + 1]
    for link, c in free:
        before, now = (model.frame_pose(x, link)[:3, :3] for x in (q, after.q))
        v[c : c + 3] = before.T @ now @ v[c : c + 3]
    return v
