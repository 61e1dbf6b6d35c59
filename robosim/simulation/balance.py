"""Where the energy and the momentum of a step come from and go to."""

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
    """Of all that moves."""

    kinetic: float
    """Drives included [J]."""
    potential: float
    """Of gravity, zero at the world's origin, and of springs [J]."""

    @property
    def total(self) -> float:
        """Both."""
        return self.kinetic + self.potential


class StepBalance(NamedTuple):
    """Energy and momentum before and after a step, and what has changed them."""

    before: Energy
    """At its start."""
    after: Energy
    """At its end."""
    work: Mapping[str, float]
    """[J] of `control`, `damping`, `contacts` (along their normals), `friction` (across and about
    them), `limits`, `joint_friction`, `motors`, `closures` and `equalities`: what each has given.
    Its impulses times the mean of the velocities before and after."""
    lifted: float
    """[J] of potential energy that taking back overlaps has given, which moves positions without a
    velocity."""
    momentum_before: Array
    """(6,) [linear; angular], about the world's origin [kg m/s, kg m^2/s]."""
    momentum_after: Array
    """The same at its end."""
    impulse: Mapping[str, Array]
    """(6,) likewise, of `gravity`, and of `contacts` and `closures` with the world."""

    @property
    def energy_error(self) -> float:
        """What nothing has given [J]: of velocities at the start's configuration alone the works
        are all that changes the kinetic energy, so it is what steps of a finite length make, of the
        order of dt^2 in each of them, and of dt where an impact changes the velocities all at once.
        """
        return self.after.total - self.before.total - sum(self.work.values()) - self.lifted

    @property
    def momentum_rest(self) -> Array:
        """(6,) what is left of the change of momentum: the impulse of joints that hold something to
        the world. Of what moves freely, but for what `tau` gives it, the linear part is zero to
        rounding, the angular one as `energy_error`."""
        rest: Array = self.momentum_after - self.momentum_before - sum(self.impulse.values())
        return rest


def balance_of(details: Linearization, closures: Sequence[Closure]) -> StepBalance:
    """Of one step without substeps.

    Args:
        details: the step, with all that acted.
        closures: in the simulation's order.
    """
    model, dt = details.simulation.model, details.simulation.dt
    state, control = details.start, details.control
    if details.report.status == StepStatus.diverged:  # it was not taken
        dt, after = 0.0, np.zeros(model.n_v)
        mean = after
    else:
        after = _in_axes_before(model, state.q, details.state)
        mean = 0.5 * (state.v + after)
    coordinate = {name: i for i, name in enumerate(model.velocity_names)}
    work = dict.fromkeys(_GIVERS, 0.0)
    if control.tau is not None:
        work["control"] = dt * float(np.asarray(control.tau) @ mean)
    work["damping"] = -dt * float((model.damping * after) @ mean)
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
    # None of a step that diverged.
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
    """Potential energy that there would not be had nothing been taken back."""
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
    """Mass of what is not fixed to the world [kg], and its first moment [kg m]."""
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
    """(6,) of what moves, about the world's origin."""
    about_com = model.centroidal_momentum(state.q, state.v)
    mass, moment = _moving(model, state.q)
    com = moment / mass if mass > 0 else np.zeros(3)
    with np.errstate(over="ignore", invalid="ignore"):  # of what has diverged
        return np.concatenate([about_com[:3], about_com[3:] + np.cross(com, about_com[:3])])


def _of_gravity(model: Model, q: Array, q_next: Array, dt: float) -> Array:
    """(6,) its impulse; the center of mass is taken half way."""
    mass, moment = _moving(model, q)
    _, moment_next = _moving(model, q_next)
    g = np.asarray(model._engine.gravity)
    return dt * np.concatenate([mass * g, np.cross(0.5 * (moment + moment_next), g)])


class _Twists:
    """(6,) [linear; angular] velocities of links at points in W; of the world, which is None,
    zero."""

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
    """Adds the impulse of what acts between something that moves and the world; `force` acts on
    B."""
    bodies = {frame.name: frame.body for frame in model._engine.frames}
    fixed = [link is None or bodies[link] == 0 for link in (A, B)]
    if fixed[0] == fixed[1]:
        return
    sign = 1.0 if fixed[0] else -1.0
    to += sign * dt * np.concatenate([force, np.cross(point, force) + moment])


def _followed(model: Model, q: Array, v: Array, law: JointEquality) -> float:
    """The velocity that a joint equality asks for."""
    if law.of is None:
        return 0.0
    i, c = model.position_names.index(law.of), model.velocity_names.index(law.of)
    slope = sum(k * x * q[i] ** (k - 1) for k, x in enumerate(law.coefficients) if k)
    return float(slope * v[c])


def _in_axes_before(model: Model, q: Array, after: State) -> Array:
    """(n_v,) the velocity at the end, of what moves freely in its axes at the start."""
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
