"""`Model`: a compiled articulated mechanism with its names, limits and description."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from robosim import _engine
from robosim.errors import ModelError, suggestion
from robosim.model import broadcasting
from robosim.model.checks import limit
from robosim.model.configurations import configuration_by_names, named_positions
from robosim.model.data import Data
from robosim.model.methods import Methods
from robosim.model.operations import Choices, operation_index
from robosim.model.parts import (
    Collider,
    DisabledCollision,
    EndEffector,
    FloatArray,
    Group,
    Joint,
    Limits,
    Link,
    NamedState,
    Visual,
)
from robosim.pickling import rebuild


@dataclass(frozen=True)
class Description:
    """Description that a model was built from, kept beside the compiled mechanism."""

    floating_base: bool
    links: tuple[Link, ...]
    joints: tuple[Joint, ...]
    axes: tuple[FloatArray, ...]  # joint axes as given, not normalized
    colliders: tuple[Collider, ...]
    visuals: Mapping[str, tuple[Visual, ...]]
    groups: Mapping[str, Group]
    named_states: tuple[NamedState, ...]
    end_effectors: Mapping[str, EndEffector]
    warnings: tuple[str, ...]
    ignored: tuple[str, ...]
    acceleration_source: str


def _frozen(array: FloatArray) -> FloatArray:
    array.setflags(write=False)
    return array


def _at(link: Link) -> str:
    return f"{link.place}: link {link.name!r}: " if link.place else f"link {link.name!r}: "


class Model(Methods):
    """An articulated mechanism, immutable. `ModelBuilder` and `robosim.load_robot` create it.

    Coordinates: each revolute, continuous, prismatic or helical joint has one q (rad or m) and one
    v. A planar joint has q = (x, y, theta) in its plane and v = (vx, vy, omega) in the moving
    frame. A floating joint has q = (x, y, z, quaternion x y z w) and v = (linear, angular) in the
    moving frame. Joints are numbered depth first, with children in the order of the description.
    Fixed joints weld links to one body; every link keeps its name. Mimic joints have no coordinate
    of their own.

    Spatial vectors and Jacobian rows are [linear; angular]. Poses are (4, 4) matrices. X_WL maps
    points from link to world.

    Attributes:
        name: name of the robot.
        n_q: number of position coordinates.
        n_v: number of velocity coordinates.
        dynamics_faults: reasons why the model has no valid dynamics, one text per link. Empty if
            the dynamics are valid. If it is not empty, methods that use inertia raise a ModelError
            with the first text, and all others work.
    """

    def __init__(self, engine: _engine.Model, description: Description) -> None:
        self._engine = engine
        self._data = _engine.OperationData(engine)
        self._description = description
        self.name: str = engine.name
        self.n_q: int = engine.n_q
        self.n_v: int = engine.n_v
        known = {link.name for link in description.links}
        self._frames = {
            frame.name: i for i, frame in enumerate(engine.frames) if frame.name in known
        }
        self.dynamics_faults = self._find_dynamics_faults()
        self._dynamics_fault = self._dynamics_refusal()

    def _evaluate(
        self,
        operation: str,
        inputs: tuple[ArrayLike, ...],
        choices: Choices,
        out: Any,
        results: type[tuple[FloatArray, ...]] | None,
    ) -> Any:
        if broadcasting.has_leading_axes(operation, inputs, choices):
            found = broadcasting.evaluate(self, operation, inputs, choices, out)
        else:
            found = _engine.evaluate(
                operation_index(operation), self._engine, self._data, inputs, out, *choices
            )
        return found if results is None else results(*found)

    def __repr__(self) -> str:
        base = "free-flying" if self.floating_base else "fixed"
        return (
            f"<Model {self.name!r}: {base} base, n_q {self.n_q}, n_v {self.n_v},"
            f" {len(self._frames)} links, {len(self.colliders)} colliders,"
            f" {len(self.collision_pairs)} collision pairs>"
        )

    def _find_dynamics_faults(self) -> tuple[str, ...]:
        """Describe links without valid inertia, and described joints that move no mass."""
        engine, faults = self._engine, []
        for link in self._description.links:
            # A link that is welded to the world never moves, so its inertia does not matter.
            if link.fault and engine.frames[self._frames[link.name]].body > 0:
                faults.append(_at(link) + link.fault)
        links = {link.name: link for link in self._description.links}
        below = {joint.name: links[joint.child] for joint in self._description.joints}
        for i in engine.massless:
            link = below.get(engine.joints[i].name) or links[self.root_link]
            if link.place and not link.fault:
                faults.append(_at(link) + "moves, but neither it nor what it carries has mass")
        return tuple(faults)

    def _dynamics_refusal(self) -> str:
        if not self.dynamics_faults:
            return ""
        first, *others = self.dynamics_faults
        more = f" (and {len(others)} more, see dynamics_faults)" if others else ""
        remedy = "correct or add the <inertial>, or load with inertia_from_meshes=True"
        return f"model {self.name!r} has no valid dynamics: {first}{more}; {remedy}"

    def __copy__(self) -> Model:
        return self

    def __deepcopy__(self, memo: object) -> Model:
        return self  # immutable

    def __reduce__(self) -> tuple[Any, ...]:
        from robosim.model.rebuilt import model_arguments, rebuilt_model

        return rebuild, (rebuilt_model, model_arguments(self))

    def data(self) -> Data:
        """Return a workspace with the same methods, for loops. Its results are reused arrays."""
        return Data(self)

    # Names

    @property
    def floating_base(self) -> bool:
        """True if the root link is free to move."""
        return self._description.floating_base

    @cached_property
    def joint_names(self) -> tuple[str, ...]:
        """Joints with coordinates of their own, in model order; neither fixed nor mimic joints."""
        return tuple(joint.name for joint in self._engine.joints[1:] if not joint.mimic)

    @cached_property
    def position_names(self) -> tuple[str, ...]:
        """(n_q) name of each entry of q.

        It is the joint's name, or "joint/x", "joint/qw", "joint/theta" for a joint with several
        entries.
        """
        return tuple(self._engine.q_names)

    @cached_property
    def position_kinds(self) -> tuple[str, ...]:
        """(n_q) quantity of each entry of q.

        "length" [m], "angle" [rad], "periodic angle" (2 pi more is the same pose) or "quaternion"
        (four entries together, x y z w, of unit length).
        """
        return tuple(self._engine.q_kinds)

    @cached_property
    def velocity_names(self) -> tuple[str, ...]:
        """(n_v) name of each entry of v.

        It is the joint's name, or "joint/vx", "joint/wz", "joint/omega" for a joint with several
        entries.
        """
        return tuple(self._engine.v_names)

    @cached_property
    def link_names(self) -> tuple[str, ...]:
        """Links, depth first from the root."""
        return tuple(self._frames)

    @property
    def root_link(self) -> str:
        """Root of the tree of links."""
        return self.link_names[0]

    # Parts

    @property
    def links(self) -> tuple[Link, ...]:
        """Links as described, in the order of the description."""
        return self._description.links

    @property
    def joints(self) -> tuple[Joint, ...]:
        """Joints of all kinds as described, in the order of the description."""
        return self._description.joints

    @property
    def colliders(self) -> tuple[Collider, ...]:
        """Collision shapes in model order, which is also the engine's order."""
        return self._description.colliders

    @property
    def visuals(self) -> Mapping[str, tuple[Visual, ...]]:
        """Visual shapes and meshes, by link name. Links without visuals are absent."""
        return MappingProxyType(dict(self._description.visuals))

    @property
    def groups(self) -> Mapping[str, Group]:
        """Joints that are planned together, by name."""
        return MappingProxyType(dict(self._description.groups))

    @property
    def named_states(self) -> tuple[NamedState, ...]:
        """Named positions of groups."""
        return self._description.named_states

    @property
    def end_effectors(self) -> Mapping[str, EndEffector]:
        """Tools, by name."""
        return MappingProxyType(dict(self._description.end_effectors))

    @property
    def warnings(self) -> tuple[str, ...]:
        """Warnings about the description for the user to review."""
        return self._description.warnings

    @property
    def ignored(self) -> tuple[str, ...]:
        """Parts of the description that have no effect here."""
        return self._description.ignored

    @cached_property
    def limits(self) -> Limits:
        """Limits of all coordinates. Limits of a mimic joint bind its source joint."""
        engine = self._engine
        return Limits(
            _frozen(engine.lower),
            _frozen(engine.upper),
            _frozen(engine.velocity),
            _frozen(engine.acceleration),
            _frozen(engine.effort),
            self._description.acceleration_source,
        )

    # Passive joint forces and drives

    @cached_property
    def damping(self) -> FloatArray:
        """(n_v,) viscous friction [N m s/rad or N s/m].

        Here and below, the value of a mimic joint is included in that of its source joint.
        """
        return _frozen(self._engine.damping)

    @cached_property
    def friction(self) -> FloatArray:
        """(n_v,) dry friction [N m or N]."""
        return _frozen(self._engine.friction)

    @cached_property
    def friction_width(self) -> FloatArray:
        """(n_v,) speed scale across which dry friction changes sign [rad/s or m/s]."""
        return _frozen(self._engine.friction_width)

    @cached_property
    def stiffness(self) -> FloatArray:
        """(n_v,) spring stiffness [N m/rad or N/m].

        It is zero for joints without exactly one position.
        """
        return _frozen(self._engine.stiffness)

    @cached_property
    def spring_reference(self) -> FloatArray:
        """(n_v,) position at which a spring exerts no force [rad or m]."""
        return _frozen(self._engine.spring_reference)

    @cached_property
    def armature(self) -> FloatArray:
        """(n_v,) inertia of the drives as seen at the joints [kg m^2 or kg].

        Rotors behind gears are included.
        """
        return _frozen(self._engine.armature)

    # Self-collision

    @cached_property
    def collision_pairs(self) -> np.ndarray[tuple[int, int], np.dtype[np.intc]]:
        """(m, 2) indices into `colliders` of the pairs that self-collision checks."""
        pairs: np.ndarray[tuple[int, int], np.dtype[np.intc]] = self._engine.collision_pairs
        pairs.setflags(write=False)
        return pairs

    @cached_property
    def disabled_collisions(self) -> tuple[DisabledCollision, ...]:
        """Pairs of links excluded from self-collision, with reasons.

        Links of one body are excluded without an entry here.
        """
        return tuple(DisabledCollision(*pair) for pair in self._engine.disabled_collisions)

    # Copies with changes

    def with_collision_pairs(self, pairs: ArrayLike) -> Model:
        """Return a copy whose self-collision checks exactly these pairs.

        Args:
            pairs: (m, 2) indices into `colliders`.

        Raises:
            ModelError: the array has another shape, or a pair does not name two colliders.
        """
        array = np.asarray(pairs)
        if array.size and (array.dtype.kind not in "iu" or array.ndim != 2 or array.shape[1] != 2):
            raise ModelError(
                f"collision pairs have shape {array.shape} and dtype {array.dtype}; (m, 2) integers"
                " are needed"
            )
        indices = [(int(a), int(b)) for a, b in array] if array.size else []
        return Model(self._engine.with_collision_pairs(indices), self._description)

    def with_disabled_collisions(self, disabled: Iterable[DisabledCollision]) -> Model:
        """Return a copy that excludes these pairs of links from self-collision.

        The pairs are added to `disabled_collisions` with their reasons.

        Raises:
            ModelError: a link does not exist.
        """
        indexed = [(self._frame(d.link_a), self._frame(d.link_b), d.reason) for d in disabled]
        return Model(self._engine.with_disabled_collisions(indexed), self._description)

    def with_fault(self, link: str, fault: str) -> Model:
        """Return a copy whose dynamics are invalid because of this fault at this link.

        See `dynamics_faults`.

        Raises:
            ModelError: there is no such link.
        """
        self._frame(link)
        links = tuple(replace(k, fault=fault) if k.name == link else k for k in self.links)
        return Model(self._engine, replace(self._description, links=links))

    def with_warnings(self, warnings: Iterable[str]) -> Model:
        """Return a copy with these warnings in addition to the present ones."""
        return Model(self._engine, replace(self._description, warnings=(*self.warnings, *warnings)))

    def with_gravity(self, gravity: ArrayLike) -> Model:
        """Return a copy with another gravity, (3,) in world axes [m/s^2].

        Raises:
            ModelError: not three finite numbers.
        """
        return Model(self._engine.with_gravity(gravity), self._description)

    def with_damping(self, damping: Mapping[str, float] | ArrayLike) -> Model:
        """Return a copy with other viscous friction [N m s/rad or N s/m].

        Args:
            damping: non-negative. One value for all coordinates, (n_v,) values, or a mapping from
                the name of a joint or of an entry of `velocity_names`. The next three methods take
                their values likewise.

        Raises:
            ModelError: an unknown name, or a number that is negative, not finite or too large.
        """
        return self._with_joint_forces(damping=damping)

    def with_friction(
        self,
        friction: Mapping[str, float] | ArrayLike | None = None,
        *,
        width: Mapping[str, float] | ArrayLike | None = None,
    ) -> Model:
        """Return a copy with other dry friction [N m or N] and width [rad/s or m/s].

        None keeps a value.

        Raises:
            ModelError: an unknown name, a negative friction, a width that is not positive, or
                values for which friction / width or width^2 overflows.
        """
        return self._with_joint_forces(friction=friction, width=width)

    def with_stiffness(
        self,
        stiffness: Mapping[str, float] | ArrayLike | None = None,
        *,
        reference: Mapping[str, float] | ArrayLike | None = None,
    ) -> Model:
        """Return a copy with other springs [N m/rad or N/m] and references [rad or m].

        None keeps a value. Springs act on whole coordinates, mimic joints included, and store no
        energy at their references.

        Raises:
            ModelError: an unknown name, a stiffness that is negative or too large, or a spring on a
                joint without exactly one position.
        """
        return self._with_springs(stiffness, reference, 0.0)

    def with_armature(self, armature: Mapping[str, float] | ArrayLike) -> Model:
        """Return a copy with other inertia of the drives as seen at the joints [kg m^2 or kg].

        Raises:
            ModelError: an unknown name, or a number that is negative, not finite or too large.
        """
        inertia = self._magnitudes(self.armature, armature, "armature")
        return Model(self._engine.with_armature(inertia), self._description)

    def _with_springs(
        self,
        stiffness: Mapping[str, float] | ArrayLike | None,
        reference: Mapping[str, float] | ArrayLike | None,
        rest_energy: float,
    ) -> Model:
        """Return a copy with these springs, storing `rest_energy` [J] at the references.

        The rest energy is constant and exerts no force.
        """
        names = self.velocity_names
        stiff = self._magnitudes(self.stiffness, stiffness, "stiffness")
        at = self._override(self.spring_reference, reference, names, "spring reference")
        for i in np.flatnonzero(~np.isfinite(at)):
            raise ModelError(f"spring reference of {names[i]!r} is {at[i]}; it must be finite")
        return Model(self._engine.with_springs(stiff, at, rest_energy), self._description)

    def _with_joint_forces(
        self,
        damping: Mapping[str, float] | ArrayLike | None = None,
        friction: Mapping[str, float] | ArrayLike | None = None,
        width: Mapping[str, float] | ArrayLike | None = None,
    ) -> Model:
        widths = self._magnitudes(self.friction_width, width, "friction width")
        for i in np.flatnonzero(widths == 0):
            raise ModelError(
                f"friction width of {self.velocity_names[i]!r} is 0; it must be positive"
            )
        engine = self._engine.with_joint_forces(
            self._magnitudes(self.damping, damping, "damping"),
            self._magnitudes(self.friction, friction, "friction"),
            widths,
        )
        return Model(engine, self._description)

    def _magnitudes(
        self, current: FloatArray, change: Mapping[str, float] | ArrayLike | None, what: str
    ) -> FloatArray:
        """Return `current` with changed entries by velocity name.

        All must be finite and non-negative.
        """
        array = self._override(current, change, self.velocity_names, what)
        for i in np.flatnonzero(~((array >= 0) & np.isfinite(array))):
            raise ModelError(
                f"{what} of {self.velocity_names[i]!r} is {array[i]}; it must be a number >= 0"
            )
        return array

    def configuration(
        self, positions: Mapping[str, float] | str, *, rest: ArrayLike | None = None
    ) -> FloatArray:
        """Return the configuration (n_q,) with these positions.

        Args:
            positions: positions by joint name [rad, m], or the name of a state: "ready", or
                "manipulator/ready".
            rest: (n_q,) values for the joints that `positions` omits; `neutral()` by default.

        Raises:
            ModelError: an unknown name, a number that is not finite, or a position that contradicts
                a mimic joint's source.
        """
        base = self.neutral() if rest is None else np.array(rest, dtype=float)
        if base.shape != (self.n_q,):
            raise ModelError(f"rest has shape {base.shape}; expected ({self.n_q},)")
        if isinstance(positions, str):
            named = named_positions(self, positions)
            if named is None:
                known = [state.name for state in self.named_states]
                raise ModelError(
                    f"{self.name!r} has no state {positions!r}{suggestion(positions, known)}"
                )
            positions = named
        return configuration_by_names(self, positions, base)

    def with_locked_joints(
        self, joints: Iterable[str], at: ArrayLike | Mapping[str, float] | str | None = None
    ) -> Model:
        """Return a smaller model with some joints replaced by fixed joints.

        Links, tools, groups and pairs of self-collision keep their names. q and v omit the locked
        joints. Mimic joints are locked together with the joint that they follow. If a floating base
        is locked, the base is fixed to an added link "world".

        Args:
            joints: names of the joints to lock.
            at: configuration to lock them at: (n_q,), positions by joint name, or the name of a
                state; `neutral()` by default. Positions of other joints do not matter.

        Raises:
            ModelError: a name is not a moving joint, a mimic joint is listed without its source, or
                `at` does not fit the model.

        Example:
            >>> import robosim
            >>> arm = robosim.load_robot("ur5")
            >>> arm = arm.with_locked_joints(["elbow_joint"], {"elbow_joint": 1.2})
            >>> arm.n_q
            5
        """
        from robosim.model.locking import locked_model

        if at is None or isinstance(at, str | Mapping):
            q = self.configuration({} if at is None else at)
        else:
            q = self.configuration({}, rest=at)
        return locked_model(self, joints, q)

    def with_acceleration_limits(
        self, limits: Mapping[str, float] | ArrayLike, source: str = "argument"
    ) -> Model:
        """Return a copy with other acceleration limits [rad/s^2 or m/s^2].

        Args:
            limits: positive. One value for all coordinates, (n_v,) values, or a mapping from the
                name of a joint (for all its coordinates) or of an entry of `velocity_names`.
            source: text for `limits.acceleration_source`.

        Raises:
            ModelError: an unknown name, or a limit that is not positive.
        """
        before = self.limits.acceleration_source.removesuffix(" for the others")
        described = (
            f"{source} for {', '.join(limits)}; {before} for the others"
            if (isinstance(limits, Mapping) and set(limits) != set(self.joint_names))
            else source
        )
        model = self.with_limits(acceleration=limits)
        return Model(model._engine, replace(self._description, acceleration_source=described))

    def with_limits(
        self,
        *,
        lower: Mapping[str, float] | ArrayLike | None = None,
        upper: Mapping[str, float] | ArrayLike | None = None,
        velocity: Mapping[str, float] | ArrayLike | None = None,
        acceleration: Mapping[str, float] | ArrayLike | None = None,
        effort: Mapping[str, float] | ArrayLike | None = None,
    ) -> Model:
        """Return a copy with other limits. None keeps a limit.

        Args:
            lower: least positions. One value for all, (n_q,) values, or a mapping from the name of
                a joint or of an entry of `position_names`.
            upper: greatest positions, likewise; not below `lower`.
            velocity: likewise by entry of v, non-negative, as are the next two.
            acceleration: `with_acceleration_limits` also records the source of these limits.
            effort: torques or forces.

        Raises:
            ModelError: an unknown name, a negative limit, or bounds without a position between
                them.
        """
        old = self.limits
        new_lower = self._override(old.lower, lower, self.position_names, "lower limit")
        new_upper = self._override(old.upper, upper, self.position_names, "upper limit")
        for i in np.flatnonzero(~(new_lower <= new_upper)):
            raise ModelError(
                f"{self.position_names[i]!r}: lower limit {new_lower[i]} and upper limit"
                f" {new_upper[i]} leave no position"
            )
        rates = []
        for value, current, what in (
            (velocity, old.velocity, "velocity limit"),
            (acceleration, old.acceleration, "acceleration limit"),
            (effort, old.effort, "effort limit"),
        ):
            array = self._override(current, value, self.velocity_names, what)
            for i in np.flatnonzero(~(array >= 0)):
                raise ModelError(
                    f"{what} of {self.velocity_names[i]!r} is {array[i]}; it must not be negative"
                )
            rates.append(array)
        return Model(self._engine.with_limits(new_lower, new_upper, *rates), self._description)

    def _override(
        self,
        current: FloatArray,
        change: Mapping[str, float] | ArrayLike | None,
        names: tuple[str, ...],
        what: str,
    ) -> FloatArray:
        """Return `current` with the changed entries, named by coordinate or by joint."""
        array = np.array(current)
        if change is None:
            return array
        if not isinstance(change, Mapping):
            values = limit(change, what)
            assert values is not None
            if values.size not in (1, array.size):
                raise ModelError(f"{what} has {values.size} numbers; 1 or {array.size} are needed")
            array[:] = values
            return array
        for name, value in change.items():
            own = [
                i for i, known in enumerate(names) if known == name or known.startswith(f"{name}/")
            ]
            if not own:
                raise ModelError(
                    f"{what}: there is no joint or coordinate {name!r}{suggestion(name, names)}"
                )
            values = limit(value, f"{what} of {name!r}")
            if values is None or values.size not in (1, len(own)):
                raise ModelError(f"{what} of {name!r} is {value!r}; one number is needed")
            array[own] = values
        return array
