"""Configurations from user input: arrays, positions by joint name, names of states.

Also the coordinates that a plan may move ("columns" of q), and the limits of each.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from robosim.errors import ModelError, PlanningError, suggestion, told_apart
from robosim.model.configurations import (
    check_configuration,
    configuration_by_names,
    joint_positions,
    named_positions,
)
from robosim.trajectory.limits import LIMIT_NOISE

if TYPE_CHECKING:
    from robosim.model import Model
    from robosim.planners.problem import Positions
    from robosim.scene import Scene

FloatArray = NDArray[np.float64]
_PLANAR = {"x": "vx", "y": "vy", "theta": "omega"}


@dataclass(frozen=True, eq=False)
class Columns:
    """Entries of q that may move, and their limits.

    Attributes:
        q: indices of c entries of q.
        v: indices into v of the same coordinates.
        names: of the positions.
        joints: of these coordinates.
        units: "rad" or "m" each.
        periodic: (c,) bool, True if 2 pi more is the same pose.
        lower, upper: (c,) positions; infinite if unlimited.
        velocity, acceleration: (c,) limits of the coordinates' derivatives.

    The limits of a planar joint are in its moving frame. Here x and y get 1/sqrt(2) of the smaller
    of both limits each, which satisfies the limits in every direction.
    """

    q: tuple[int, ...]
    v: tuple[int, ...]
    names: tuple[str, ...]
    joints: tuple[str, ...]
    units: tuple[str, ...]
    periodic: NDArray[np.bool_]
    lower: FloatArray
    upper: FloatArray
    velocity: FloatArray
    acceleration: FloatArray

    @property
    def noise(self) -> FloatArray:
        """(c,) excess over limits that is accepted as measurement error and then corrected."""
        return np.array([LIMIT_NOISE[unit] for unit in self.units])

    def excess(self, q: FloatArray) -> FloatArray:
        """(c,) distance of each beyond its limits in q (n_q,); 0 inside."""
        x = q[list(self.q)]
        out: FloatArray = np.maximum(np.maximum(self.lower - x, x - self.upper), 0.0)
        return out

    def inside(self, q: FloatArray) -> FloatArray:
        """Clip a configuration (n_q,) to the limits; q itself if it is within them."""
        x = q[list(self.q)]
        if not ((x < self.lower) | (x > self.upper)).any():
            return q
        out: FloatArray = q.copy()
        out[list(self.q)] = np.clip(x, self.lower, self.upper)
        return out


def joint_kinds(model: Model) -> dict[str, str]:
    """Return the kind of every joint by name.

    The joint of a free-flying base is "floating", though no description lists it.
    """
    described: dict[str, str] = {joint.name: joint.kind for joint in model.joints}
    return {**dict.fromkeys(model.joint_names, "floating"), **described}


def chain(model: Model, link: str) -> set[str]:
    """Return the names of the joints that move a link, mimic joints by their source.

    Raises:
        PlanningError: no such link.
    """
    if link not in model.link_names:
        raise PlanningError(
            f"{model.name!r} has no link {link!r}{suggestion(link, model.link_names)}"
        )
    by_child = {joint.child: joint for joint in model.joints}
    out = set()
    while link in by_child:
        joint = by_child[link]
        out.add(joint.name if joint.mimic is None else joint.mimic.source)
        link = joint.parent
    return out & set(model.joint_names)


def make_columns(model: Model, joints: Sequence[str]) -> Columns:
    """Return the coordinates of these joints, in model order."""
    q, v, units, periodic = [], [], [], []
    velocity_index = {name: i for i, name in enumerate(model.velocity_names)}
    limits = model.limits
    velocity, acceleration = [], []
    for joint in model.joint_names:
        if joint not in joints:
            continue
        for i in joint_positions(model, joint):
            part = model.position_names[i][len(joint) + 1 :]
            j = velocity_index[f"{joint}/{_PLANAR[part]}" if part else joint]
            kind = model.position_kinds[i]
            both = (
                [velocity_index[f"{joint}/vx"], velocity_index[f"{joint}/vy"]]
                if part in ("x", "y")
                else [j]
            )
            q.append(i)
            v.append(j)
            units.append("m" if kind == "length" else "rad")
            periodic.append(kind == "periodic angle")
            share = np.sqrt(0.5) if len(both) == 2 else 1.0
            velocity.append(share * limits.velocity[both].min())
            acceleration.append(share * limits.acceleration[both].min())
    return Columns(
        tuple(q),
        tuple(v),
        tuple(model.position_names[i] for i in q),
        tuple(joint for joint in model.joint_names if joint in joints),
        tuple(units),
        np.array(periodic, dtype=bool),
        limits.lower[q],
        limits.upper[q],
        np.array(velocity),
        np.array(acceleration),
    )


def configuration(
    model: Model,
    value: Positions,
    rest: FloatArray,
    what: str,
    *,
    group: Sequence[str] = (),
    scene: Scene | None = None,
) -> FloatArray:
    """Read a configuration (n_q,) from positions as users write them.

    Args:
        model: the robot.
        value: (n_q,) in model order; or one number per joint of `group`; or positions by name; or
            the name of a state.
        rest: (n_q,) for positions that `value` omits.
        what: name of the value in errors.
        group: names of joints.
        scene: its starts can be named, too.

    Raises:
        PlanningError: unknown names, wrong lengths, numbers that are not finite.
    """
    if isinstance(value, str):
        value = _named(model, value, scene, what)
    if isinstance(value, Mapping):
        with _about(what):
            return configuration_by_names(model, value, rest)
    q: FloatArray = rest.copy()
    try:
        array = np.asarray(value)
        if array.dtype.kind not in "iuf":
            raise TypeError
        array = array.astype(float)
    except (TypeError, ValueError):
        raise PlanningError(
            f"{what} is {value!r}; expected numbers, positions by joint name, or a name"
        ) from None
    moved = [i for joint in group for i in joint_positions(model, joint)]
    if array.shape == (model.n_q,):
        q[:] = array
    elif group and array.shape == (len(moved),):
        q[moved] = array
    else:
        partly = (
            f" or ({len(moved)},), one per joint of the group"
            if group and len(moved) != model.n_q
            else ""
        )
        raise PlanningError(
            f"{what} has shape {array.shape}; expected ({model.n_q},), {_order(model)}{partly}"
        )
    with _about(what):
        check_configuration(model, q)
    return q


def _order(model: Model) -> str:
    return "in the order " + ", ".join(model.position_names)


@contextmanager
def _about(what: str) -> Iterator[None]:
    """Prefix errors of the model with their subject."""
    try:
        yield
    except ModelError as error:
        raise PlanningError(f"{what}: {error}") from None


def _named(model: Model, name: str, scene: Scene | None, what: str) -> Mapping[str, float]:
    """Return the positions of a named state of the model, or of a start of the scene.

    Names are "home" or "group/home".
    """
    with _about(what):
        positions = named_positions(model, name)
    if positions is not None:
        return positions
    starts = {} if scene is None else scene.starts
    if name in starts:
        return starts[name]
    known = [state.name for state in model.named_states] + list(starts)
    raise PlanningError(f"{what}: there is no state {name!r}{suggestion(name, known)}")


def _number(value: Any, what: str) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        raise PlanningError(f"{what} is {value!r}; expected a number") from None


def velocities(
    model: Model, value: ArrayLike | Mapping[str, float] | None, what: str
) -> FloatArray:
    """Read velocities (n_v,) from an array or from values by joint name; the others are zero.

    Raises:
        PlanningError: unknown names, wrong length, numbers that are not finite.
    """
    v = np.zeros(model.n_v)
    if value is None:
        return v
    if isinstance(value, Mapping):
        names = list(model.velocity_names)
        for name, given in value.items():
            if name not in names:
                raise PlanningError(
                    f"{what}: there is no coordinate {name!r}{suggestion(name, names)}"
                )
            v[names.index(name)] = _number(given, f"{what} of {name!r}")
    else:
        array = np.asarray(value, dtype=float)
        if array.shape != v.shape:
            raise PlanningError(
                f"{what} has shape {array.shape}; expected {v.shape}, in the order"
                f" {', '.join(model.velocity_names)}"
            )
        v[:] = array
    for i in np.flatnonzero(~np.isfinite(v)):
        raise PlanningError(f"{what}: {model.velocity_names[i]!r} is {v[i]}; it must be finite")
    return v


def limit_violations(
    columns: Columns, q: FloatArray, allowed: FloatArray | None = None
) -> list[str]:
    """Describe the columns that are out of their limits in q (n_q,), and by how much.

    Args:
        columns: coordinates to check; other joints are ignored.
        q: (n_q,).
        allowed: (c,) accepted excess; `columns.noise` by default.
    """
    excess = columns.excess(q)
    if not excess.any():
        return []
    room = columns.noise if allowed is None else allowed
    out = []
    for k in np.flatnonzero(excess > room + 1e-9):
        x, side = q[columns.q[k]], "lower" if q[columns.q[k]] < columns.lower[k] else "upper"
        at, bound = told_apart(x, columns.lower[k] if side == "lower" else columns.upper[k])
        out.append(
            f"joint {columns.names[k]!r} is at {at}, beyond its {side} limit {bound} by"
            f" {excess[k]:.3g}"
        )
    return out


def nearest_equivalent(columns: Columns, goal: FloatArray, start: FloatArray) -> FloatArray:
    """Return the configuration nearest to `start` among those equal to `goal` up to full turns.

    Entries of the result differ by 2 pi k from `goal` and are within limits.

    Only joints that can turn more than 2 pi have a choice. Both are (n_q,); a value out of limits
    is left as it is.
    """
    q: FloatArray = goal.copy()
    turn = 2 * np.pi
    for i, periodic, lower, upper in zip(
        columns.q, columns.periodic, columns.lower, columns.upper, strict=True
    ):
        if not periodic or not lower <= q[i] <= upper:
            continue
        best = q[i] - turn * np.round((q[i] - start[i]) / turn)
        if best < lower:
            best += turn * np.ceil((lower - best) / turn)
        elif best > upper:
            best -= turn * np.ceil((best - upper) / turn)
        if lower <= best <= upper and abs(best - start[i]) < abs(q[i] - start[i]):
            q[i] = best
    return q
