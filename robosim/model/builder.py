"""`ModelBuilder`: robot models in Python code, without a file. What a description file says ends up
here too."""

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
    """Collects links, joints and what hangs on them, and builds a `Model`.

    Every method raises `robosim.errors.ModelError` naming the part, its value and what would be
    valid. What concerns one part is checked as it is added, what concerns the whole (one root, no
    cycle, mimic joints) in `build`.

    Args:
        name: of the model.
        floating_base: whether the root link flies freely; otherwise it is fixed to the world. A
        free-flying base adds a
            floating joint called "floating_base" (or "floating_base_2", … where that name is
            taken).
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
        """Adds a link.

        Args:
            name: unique among links.
            mass: [kg]; zero for a mere frame.
            com: (3,) center of mass in the link's frame [m].
            inertia: (3, 3) about the center of mass, in the axes of the link [kg m^2]; None for a
            point mass. Moments
                without mass are a rotor's whose mass is counted elsewhere.
            fault: why the numbers before are not those of a body. The model then has kinematics and
            no dynamics, see
                `Model.dynamics_faults`. Empty: they must be.
            place: file:line of the description, for messages.

        Raises:
            ModelError: the name is taken, or no body has this inertia: mass or a principal moment
            negative, the
                matrix not symmetric, or one principal moment above the sum of the other two (by
                more than 0.1 % of the
                largest).
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
        if fault:  # no operation that uses inertia will see it
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
        """Adds a joint. Parent and child link may be added before or after.

        Args:
            name: unique among joints.
            kind: "revolute", "continuous" (revolute without position limits), "prismatic",
            "helical" (a screw),
                "fixed", "floating" or "planar".
            parent: link that carries the joint.
            child: link that it moves; its frame is the joint frame at q = 0.
            X_PJ: (4, 4) joint frame in the parent link; None for the same frame.
            axis: (3,) in the joint frame, scaled to unit length: of rotation or translation, or
            normal of the plane.
            pitch: [m/rad] of a helical joint, which turns by q about the axis and moves by pitch *
            q along it; negative
                for a left-handed screw. A lead of p meters per turn is a pitch of p / (2 pi). None
                for all others.
            lower: least position [rad or m], one per q for planar (x, y, theta) and floating
            joints; None for none.
            upper: greatest position.
            velocity: greatest absolute velocity, one for all or one per v [rad/s or m/s].
            effort: greatest absolute torque or force, likewise [N m or N].
            acceleration: greatest absolute acceleration, likewise [rad/s^2 or m/s^2]; None for the
            default.
            damping: viscous friction [N m s/rad or N s/m].
            friction: dry friction [N m or N].
            friction_width: positive; the speed [rad/s or m/s] through which dry friction changes
            its sign smoothly.
            stiffness: of a spring [N m/rad or N/m]; for joints with one position.
            spring_reference: position [rad or m] at which the spring exerts nothing.
            armature: inertia as seen at the joint that does not belong to a link [kg m^2 or kg].
            rotor_inertia: of a rotor behind a gear [kg m^2]; as seen at the joint it is
            gear_ratio^2 times as large and
                adds to the armature. What the rotor's own mass does belongs into its link's
                inertia.
            gear_ratio: the rotor turns at gear_ratio * v [rad/s].
            mimic: (source joint, multiplier, offset): the joint has no coordinate of its own but
            follows
                q = multiplier * q_source + offset. Its position and velocity limits also bind the
                source; its effort
                limit belongs to no drive and is not used.
            safety: soft limits, which narrow the position limits.

        Raises:
            ModelError: names the joint, the value and what is valid.
        """
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
        """Fixes a collision shape to a link. A link may have several.

        Args:
            link: that carries it; it must exist.
            shape: see `robosim.geometry.Shape`; or a `robosim.geometry.TriangleMesh`, concave or
            not, with what it
                encloses where it is solid. Parts of other bodies are colliders of their own.
            X_LC: (4, 4) shape frame in the link; None for the same frame.
            name: unique in the link; None for its number. The model calls the collider "link/name".
            exact: the mesh, in the same frame, that a convex shape stands for, as its hull or one
            of its pieces. Where
                shapes overlap it decides, and distances are its own; how deep things overlap, and
                contact forces, are
                those of the shape. A point is inside a mesh with holes where its winding number is
                above one half.

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
        if exact is not None:  # shared by all shapes that stand for it
            body = self._exact.setdefault(id(exact), _engine.ExactBody(exact))
        self._engine.add_collider(link, shape, pose, name or "", body)
        self._colliders.setdefault(link, []).append((shape, pose, exact))

    def add_visual(self, link: str, visual: Visual) -> None:
        """Gives a link something to be drawn as. A link may have several.

        Raises:
            ModelError: there is no such link, or the visual has not exactly one of shape and mesh.
        """
        self._known_link(link, "visual")
        if (visual.shape is None) == (visual.mesh is None):
            raise ModelError(f"visual of link {link!r} needs a shape or a mesh, and not both")
        real_array(visual.X_LV, (4, 4), f"visual of link {link!r}: X_LV")
        self._visuals.setdefault(link, []).append(visual)

    def add_group(self, name: str, joints: Sequence[str], *, tip: str | None = None) -> None:
        """Names joints that are planned together, and the link that they are meant to move.

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
        """Names positions [rad or m] of a group's joints, such as "home".

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
        """Names a tool: the link where it is mounted and the group that is its own joints.

        Raises:
            ModelError: the name is taken, or link or group do not exist.
        """
        if checked_name(name, "end effector name") in self._end_effectors:
            raise ModelError(f"end effector {name!r} exists already")
        self._known_link(link, f"end effector {name!r}")
        self._known_group(group, f"end effector {name!r}")
        self._end_effectors[name] = EndEffector(name, link, group)

    def disable_collision(self, link_a: str, link_b: str, reason: str = "") -> None:
        """Leaves the collision of two links unchecked.

        Raises:
            ModelError: a link does not exist.
        """
        for link in (link_a, link_b):
            self._known_link(link, "disabled collision")
        self._engine.disable_collision(link_a, link_b, reason)

    def set_acceleration_limits(
        self, limits: Mapping[str, float] | float, source: str = "argument"
    ) -> None:
        """Overrides acceleration limits [rad/s^2 or m/s^2]: one for all coordinates, or some by
        position name.

        Args:
            limits: positive.
            source: what `Model.limits.acceleration_source` shall name.
        """
        self._acceleration_limits = limits
        self._acceleration_source = source

    def add_warning(self, text: str) -> None:
        """Records something that the user should look at; `Model.warnings` lists it."""
        self._warnings.append(text)

    def add_ignored(self, text: str) -> None:
        """Records something in the description that was kept but has no effect; `Model.ignored`
        lists it."""
        self._ignored.append(text)

    def build(self, *, allow_massless: bool = False, filter_adjacent: bool = True) -> Model:
        """Puts everything together.

        Args:
            allow_massless: accept joints that move no mass. Everything but forward dynamics then
            works.
            filter_adjacent: leave adjacent links out of self-collision: a link and the nearest one
            above it that has
                colliders. Switch off where the description lists its own disabled pairs.

        Raises:
            ModelError: the joints do not make one tree, a mimic joint follows itself or nothing,
            limits contradict one
                another, or a joint moves no mass.
        """
        if (
            not isinstance(self._acceleration_limits, Mapping)
            and self._acceleration_limits is not None
        ):
            number(self._acceleration_limits, "acceleration limit")
        for joint in self._joints.values():
            what = f"joint {joint.name!r}"
            self._known_link(joint.parent, f"{what}: parent")
            self._known_link(joint.child, f"{what}: child")
            if joint.mimic is not None and (source := joint.mimic.source) not in self._joints:
                near = suggestion(source, self._joints)
                raise ModelError(f"{what} mimics {source!r}, which is not a joint{near}")
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
        """In model order, within one link as they were added, with the names that they have
        there."""
        given = {link: iter(colliders) for link, colliders in self._colliders.items()}
        links = [engine.frames[collider.frame].name for collider in engine.colliders]
        return tuple(
            Collider(collider.name, link, *next(given[link]))
            for collider, link in zip(engine.colliders, links, strict=True)
        )

    def _described_accelerations(self) -> str:
        """Where acceleration limits come from, before `set_acceleration_limits`."""
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
    """A limit as the engine takes it: empty for none."""
    return [] if bound is None else [float(value) for value in bound]


def _narrowed(joint: Joint) -> Joint:
    """The joint with its position limits cut down to the soft limits of its safety controller."""
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
