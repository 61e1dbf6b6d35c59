"""`ModelBuilder`: builds robot models in Python code. Loaders of description files use it too."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from robosim import _engine
from robosim.errors import ModelError, suggestion
from robosim.model.checks import checked_name, limit, number, real_array
from robosim.model.model import Description, Model
from robosim.model.parts import (
    Collider,
    EndEffector,
    FloatArray,
    Group,
    Joint,
    JointKind,
    Link,
    Mimic,
    NamedState,
    Safety,
    Visual,
)

_Z_AXIS = (0.0, 0.0, 1.0)


class ModelBuilder:
    """Collects links, joints and what is attached to them, and builds a `Model`.

    Every method raises `robosim.errors.ModelError`, which names the part, its value and what would
    be valid. Each part is checked when it is added. Conditions on the whole model (one root, no
    cycle, mimic joints) are checked in `build`.

    Args:
        name: name of the model.
        floating_base: True if the root link is free to move; otherwise it is fixed to the world. A
            floating base adds a floating joint called "floating_base" (or "floating_base_2", ... if
            that name is taken).
    """

    def __init__(self, name: str, *, floating_base: bool = False) -> None:
        self._name = checked_name(name, "model name")
        self._floating_base = bool(floating_base)
        self._engine = _engine.ModelBuilder(self._name, self._floating_base)
        self._links: dict[str, Link] = {}
        self._joints: dict[str, Joint] = {}
        self._axes: list[FloatArray] = []
        self._colliders: dict[str, list[tuple[Any, FloatArray, _engine.TriangleMesh | None]]] = {}
        self._exact: dict[int, _engine.ExactBody] = {}
        self._visuals: dict[str, list[Visual]] = {}
        self._groups: dict[str, Group] = {}
        self._named_states: dict[tuple[str, str], NamedState] = {}
        self._end_effectors: dict[str, EndEffector] = {}
        self._warnings: list[str] = []
        self._ignored: list[str] = []
        self._acceleration_limits: Mapping[str, float] | float | None = None
        self._acceleration_source = ""

    def add_link(
        self,
        name: str,
        *,
        mass: float = 0.0,
        com: ArrayLike = (0.0, 0.0, 0.0),
        inertia: ArrayLike | None = None,
        fault: str = "",
        place: str = "",
    ) -> None:
        """Add a link.

        Args:
            name: unique among links.
            mass: [kg]; zero for a pure frame.
            com: (3,) center of mass in the link's frame [m].
            inertia: (3, 3) about the center of mass, in the axes of the link [kg m^2]; None for a
                point mass. Moments without mass are those of a rotor whose mass is counted
                elsewhere.
            fault: reason why the numbers above are not physically valid. The model then has
                kinematics but no dynamics, see `Model.dynamics_faults`. Empty if the numbers are
                valid.
            place: file:line of the description, for messages.

        Raises:
            ModelError: the name is taken, or the inertia is not physically valid: mass or a
                principal moment is negative, the matrix is not symmetric, or one principal moment
                exceeds the sum of the other two (by more than 0.1 % of the largest).
        """
        what = f"link {checked_name(name, 'link name')!r}"
        link = Link(
            name,
            number(mass, f"{what}: mass"),
            real_array(com, (3,), f"{what}: com"),
            real_array(
                np.zeros((3, 3)) if inertia is None else inertia, (3, 3), f"{what}: inertia"
            ),
            fault,
            place,
        )
        if fault:  # methods that use inertia will refuse to run
            self._engine.add_link(name, max(link.mass, 0.0), link.com, np.zeros((3, 3)))
        else:
            self._engine.add_link(name, link.mass, link.com, link.inertia)
        self._links[name] = link

    def add_joint(
        self,
        name: str,
        kind: JointKind,
        parent: str,
        child: str,
        *,
        X_PJ: ArrayLike | None = None,
        axis: ArrayLike = _Z_AXIS,
        pitch: float | None = None,
        lower: ArrayLike | None = None,
        upper: ArrayLike | None = None,
        velocity: ArrayLike | None = None,
        effort: ArrayLike | None = None,
        acceleration: ArrayLike | None = None,
        damping: float = 0.0,
        friction: float = 0.0,
        friction_width: float = _engine.default_friction_width,
        stiffness: float = 0.0,
        spring_reference: float = 0.0,
        armature: float = 0.0,
        rotor_inertia: float = 0.0,
        gear_ratio: float = 1.0,
        mimic: tuple[str, float, float] | None = None,
        safety: Safety | None = None,
    ) -> None:
        """Add a joint. Its parent and child links may be added before or after.

        Args:
            name: unique among joints.
            kind: "revolute", "continuous" (revolute without position limits), "prismatic",
                "helical" (a screw), "fixed", "floating" or "planar".
            parent: link that carries the joint.
            child: link that the joint moves. The child's frame is the joint frame at q = 0.
            X_PJ: (4, 4) joint frame in the parent link; None for the same frame.
            axis: (3,) axis of rotation or translation, or normal of the plane, in the joint frame.
                It is scaled to unit length.
            pitch: [m/rad] of a helical joint, which turns by q about the axis and moves by pitch *
                q along the axis. Negative for a left-handed screw. A lead of p meters per turn is a
                pitch of p / (2 pi). None for all other kinds.
            lower: least position [rad or m], one per q for planar (x, y, theta) and floating
                joints; None for no limit.
            upper: greatest position, likewise.
            velocity: greatest absolute velocity, one for all or one per v [rad/s or m/s].
            effort: greatest absolute torque or force, likewise [N m or N].
            acceleration: greatest absolute acceleration, likewise [rad/s^2 or m/s^2]; None for the
                default.
            damping: viscous friction [N m s/rad or N s/m].
            friction: dry friction [N m or N].
            friction_width: positive speed scale [rad/s or m/s] across which dry friction changes
                sign smoothly.
            stiffness: spring stiffness [N m/rad or N/m], for joints with one position.
            spring_reference: position [rad or m] at which the spring exerts no force.
            armature: inertia as seen at the joint that does not belong to a link [kg m^2 or kg].
            rotor_inertia: inertia of a rotor behind a gear [kg m^2]. It adds gear_ratio^2 *
                rotor_inertia to the armature. Effects of the rotor's mass belong in the inertia of
                its link.
            gear_ratio: the rotor turns at gear_ratio * v [rad/s].
            mimic: (source joint, multiplier, offset). The joint has no coordinate of its own and
                follows q = multiplier * q_source + offset. Its position and velocity limits also
                bind the source. Its effort limit is ignored, because the joint has no drive.
            safety: soft limits, which narrow the position limits.

        Raises:
            ModelError: an argument is invalid. The message names the joint, the value and what is
                valid.
        """
        # Validate all arguments.
        what = f"joint {checked_name(name, 'joint name')!r}"
        for link, role in ((parent, "parent"), (child, "child")):
            checked_name(link, f"{what}: {role}")
        if mimic is not None and len(mimic) != 3:
            raise ModelError(
                f"{what}: mimic is {mimic!r}; (source joint, multiplier, offset) is needed"
            )
        joint = Joint(
            name,
            kind,
            parent,
            child,
            real_array(np.eye(4) if X_PJ is None else X_PJ, (4, 4), f"{what}: X_PJ"),
            real_array(axis, (3,), f"{what}: axis"),
            limit(lower, f"{what}: lower limit"),
            limit(upper, f"{what}: upper limit"),
            limit(velocity, f"{what}: velocity limit"),
            limit(effort, f"{what}: effort limit"),
            limit(acceleration, f"{what}: acceleration limit"),
            number(damping, f"{what}: damping"),
            number(friction, f"{what}: friction"),
            number(armature, f"{what}: armature"),
            (
                None
                if mimic is None
                else Mimic(
                    checked_name(mimic[0], f"{what}: mimic source"),
                    number(mimic[1], f"{what}: mimic multiplier"),
                    number(mimic[2], f"{what}: mimic offset"),
                )
            ),
            safety,
            None if pitch is None else number(pitch, f"{what}: pitch"),
            number(friction_width, f"{what}: friction width"),
            number(stiffness, f"{what}: stiffness"),
            number(spring_reference, f"{what}: spring reference"),
            number(rotor_inertia, f"{what}: rotor inertia"),
            number(gear_ratio, f"{what}: gear ratio"),
        )
        joint = _narrowed(joint)
        # Add the joint to the engine.
        self._engine.add_joint(
            name,
            kind,
            parent,
            child,
            joint.X_PJ,
            joint.axis,
            joint.pitch,
            _listed(joint.lower),
            _listed(joint.upper),
            _listed(joint.velocity),
            _listed(joint.acceleration),
            _listed(joint.effort),
            joint.damping,
            joint.friction,
            joint.friction_width,
            joint.stiffness,
            joint.spring_reference,
            joint.armature,
            joint.rotor_inertia,
            joint.gear_ratio,
            (
                None
                if joint.mimic is None
                else (joint.mimic.source, joint.mimic.multiplier, joint.mimic.offset)
            ),
        )
        # Keep the description with a unit axis, and the axis as given.
        length = float(np.linalg.norm(joint.axis))
        unit = joint.axis / length if length > 0 else joint.axis
        unit.setflags(write=False)
        self._joints[name] = replace(joint, axis=unit)
        self._axes.append(joint.axis)

    def add_collider(
        self,
        link: str,
        shape: _engine.Shape | _engine.TriangleMesh,
        *,
        X_LC: ArrayLike | None = None,
        name: str | None = None,
        exact: _engine.TriangleMesh | None = None,
    ) -> None:
        """Fix a collision shape to a link. A link may have several.

        Args:
            link: link that carries the shape; it must exist.
            shape: a `robosim.geometry.Shape`, or a `robosim.geometry.TriangleMesh`, concave or not,
                which encloses its solid. Parts of other bodies are colliders of their own.
            X_LC: (4, 4) shape frame in the link; None for the same frame.
            name: unique in the link; None for its number. The model calls the collider "link/name".
            exact: mesh, in the same frame, that the convex shape approximates as its hull or as one
                of its pieces. Whether shapes overlap, and distances, are computed from the mesh.
                Penetration depths and contact forces are computed from the shape. A point is inside
                a mesh with holes if its winding number exceeds one half.

        Raises:
            ModelError: there is no such link, the name is taken, or an exact mesh is given for a
                mesh.
        """
        pose = real_array(
            np.eye(4) if X_LC is None else X_LC, (4, 4), f"collider of link {link!r}: X_LC"
        )
        self._known_link(link, "collider")
        if name is not None:
            checked_name(name, f"collider of link {link!r}: name")
        if not isinstance(shape, (_engine.Shape, _engine.TriangleMesh)):
            raise ModelError(
                f"collider of link {link!r}: a Shape or a TriangleMesh is needed, found"
                f" {type(shape).__name__}"
            )
        if exact is not None and not isinstance(exact, _engine.TriangleMesh):
            raise ModelError(
                f"collider of link {link!r}: exact must be a TriangleMesh, got"
                f" {type(exact).__name__}"
            )
        body = None
        if exact is not None:  # shared by all shapes that approximate this mesh
            body = self._exact.setdefault(id(exact), _engine.ExactBody(exact))
        self._engine.add_collider(link, shape, pose, name or "", body)
        self._colliders.setdefault(link, []).append((shape, pose, exact))

    def add_visual(self, link: str, visual: Visual) -> None:
        """Add a visual shape or mesh to a link. A link may have several.

        Raises:
            ModelError: there is no such link, or the visual does not have exactly one of shape and
                mesh.
        """
        self._known_link(link, "visual")
        if (visual.shape is None) == (visual.mesh is None):
            raise ModelError(f"visual of link {link!r} needs a shape or a mesh, and not both")
        real_array(visual.X_LV, (4, 4), f"visual of link {link!r}: X_LV")
        self._visuals.setdefault(link, []).append(visual)

    def add_group(self, name: str, joints: Sequence[str], *, tip: str | None = None) -> None:
        """Define a group of joints that are planned together, and the tip link that they move.

        Raises:
            ModelError: the name is taken, or a joint or the tip does not exist.
        """
        checked_name(name, "group name")
        if name in self._groups:
            raise ModelError(f"group {name!r} exists already")
        for joint in joints:
            self._known_joint(joint, f"group {name!r}")
        if tip is not None:
            self._known_link(tip, f"group {name!r}: tip")
        self._groups[name] = Group(name, tuple(joints), tip)

    def add_named_state(self, group: str, name: str, positions: Mapping[str, float]) -> None:
        """Define a named state of a group, such as "home", by positions [rad or m] of its joints.

        Raises:
            ModelError: the group or a joint does not exist, or the name is taken in this group.
        """
        self._known_group(group, f"named state {name!r}")
        if (group, checked_name(name, "name of a state")) in self._named_states:
            raise ModelError(f"named state {name!r} of group {group!r} exists already")
        values = {}
        for joint, value in positions.items():
            self._known_joint(joint, f"named state {name!r}")
            values[joint] = number(value, f"named state {name!r}: joint {joint!r}")
        self._named_states[group, name] = NamedState(group, name, values)

    def add_end_effector(self, name: str, link: str, group: str) -> None:
        """Define a tool: the link where it is mounted and the group of its own joints.

        Raises:
            ModelError: the name is taken, or the link or the group does not exist.
        """
        if checked_name(name, "end effector name") in self._end_effectors:
            raise ModelError(f"end effector {name!r} exists already")
        self._known_link(link, f"end effector {name!r}")
        self._known_group(group, f"end effector {name!r}")
        self._end_effectors[name] = EndEffector(name, link, group)

    def disable_collision(self, link_a: str, link_b: str, reason: str = "") -> None:
        """Exclude a pair of links from self-collision.

        Raises:
            ModelError: a link does not exist.
        """
        for link in (link_a, link_b):
            self._known_link(link, "disabled collision")
        self._engine.disable_collision(link_a, link_b, reason)

    def set_acceleration_limits(
        self, limits: Mapping[str, float] | float, source: str = "argument"
    ) -> None:
        """Override acceleration limits [rad/s^2 or m/s^2]: one for all, or some by position name.

        Args:
            limits: positive.
            source: text for `Model.limits.acceleration_source`.
        """
        self._acceleration_limits = limits
        self._acceleration_source = source

    def add_warning(self, text: str) -> None:
        """Record a warning for the user. `Model.warnings` lists it."""
        self._warnings.append(text)

    def add_ignored(self, text: str) -> None:
        """Record a part of the description that has no effect. `Model.ignored` lists it."""
        self._ignored.append(text)

    def build(self, *, allow_massless: bool = False, filter_adjacent: bool = True) -> Model:
        """Build the model.

        Args:
            allow_massless: accept joints that move no mass. Everything except forward dynamics then
                works.
            filter_adjacent: exclude adjacent links from self-collision: a link and its nearest
                ancestor with colliders. Switch this off if the description lists its own disabled
                pairs.

        Raises:
            ModelError: the joints do not form one tree, a mimic joint follows itself or nothing,
                limits contradict each other, or a joint moves no mass.
        """
        if (
            not isinstance(self._acceleration_limits, Mapping)
            and self._acceleration_limits is not None
        ):
            number(self._acceleration_limits, "acceleration limit")
        # Check references between parts, which are known only now.
        for joint in self._joints.values():
            what = f"joint {joint.name!r}"
            self._known_link(joint.parent, f"{what}: parent")
            self._known_link(joint.child, f"{what}: child")
            if joint.mimic is not None and (source := joint.mimic.source) not in self._joints:
                near = suggestion(source, self._joints)
                raise ModelError(f"{what} mimics {source!r}, which is not a joint{near}")
        # Build the mechanism and its description.
        engine = self._engine.build(allow_massless, filter_adjacent)
        model = Model(
            engine,
            Description(
                floating_base=self._floating_base,
                links=tuple(self._links.values()),
                joints=tuple(self._joints.values()),
                axes=tuple(self._axes),
                colliders=self._named_colliders(engine),
                visuals={link: tuple(visuals) for link, visuals in self._visuals.items()},
                groups=dict(self._groups),
                named_states=tuple(self._named_states.values()),
                end_effectors=dict(self._end_effectors),
                warnings=tuple(self._warnings),
                ignored=tuple(self._ignored),
                acceleration_source=self._described_accelerations(),
            ),
        )
        if self._acceleration_limits is not None:
            model = model.with_acceleration_limits(
                self._acceleration_limits, self._acceleration_source
            )
        return model

    def _named_colliders(self, engine: _engine.Model) -> tuple[Collider, ...]:
        """Colliders in model order, with their names in the model.

        Colliders of one link are in order of addition.
        """
        given = {link: iter(colliders) for link, colliders in self._colliders.items()}
        links = [engine.frames[collider.frame].name for collider in engine.colliders]
        return tuple(
            Collider(collider.name, link, *next(given[link]))
            for collider, link in zip(engine.colliders, links, strict=True)
        )

    def _described_accelerations(self) -> str:
        """Describe the source of acceleration limits, before `set_acceleration_limits`."""
        default = (
            f"default {_engine.default_angular_acceleration:g} rad/s^2 and "
            f"{_engine.default_linear_acceleration:g} m/s^2"
        )
        moving = [
            joint
            for joint in self._joints.values()
            if joint.kind != "fixed" and joint.mimic is None
        ]
        given = [joint.name for joint in moving if joint.acceleration is not None]
        if not given:
            return f"{default} (none were given)"
        if len(given) == len(moving) and not self._floating_base:
            return "robot description"
        return f"robot description for {', '.join(given)}; {default} for the others"

    def _known_link(self, name: str, asker: str) -> None:
        if name not in self._links:
            raise ModelError(f"{asker}: there is no link {name!r}{suggestion(name, self._links)}")

    def _known_joint(self, name: str, asker: str) -> None:
        if name not in self._joints:
            raise ModelError(f"{asker}: there is no joint {name!r}{suggestion(name, self._joints)}")

    def _known_group(self, name: str, asker: str) -> None:
        if name not in self._groups:
            raise ModelError(f"{asker}: there is no group {name!r}{suggestion(name, self._groups)}")


def _listed(bound: FloatArray | None) -> list[float]:
    """Convert a limit for the engine: an empty list means no limit."""
    return [] if bound is None else [float(value) for value in bound]


def _narrowed(joint: Joint) -> Joint:
    """Return the joint with its position limits narrowed to its safety controller's soft limits."""
    safety = joint.safety
    if safety is None or joint.kind not in ("revolute", "prismatic", "helical"):
        return joint
    lower, upper = joint.lower, joint.upper
    if safety.soft_lower is not None:
        soft = np.array([number(safety.soft_lower, f"joint {joint.name!r}: soft lower limit")])
        lower = soft if lower is None else np.maximum(lower, soft)
    if safety.soft_upper is not None:
        soft = np.array([number(safety.soft_upper, f"joint {joint.name!r}: soft upper limit")])
        upper = soft if upper is None else np.minimum(upper, soft)
    return replace(joint, lower=lower, upper=upper)
