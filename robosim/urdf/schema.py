"""Which elements and attributes of URDF and SRDF we honour, and which we keep without using them.

Everything else is refused with its line: a misspelt tag must not silently change a robot. Sources: the URDF
specification (wiki.ros.org/urdf/XML and the urdfdom parsers), SRDF (srdfdom), and what published robots
contain.

An element's rule lists the attributes it needs, those it may have, and its children with how often they may
occur; `foreign` tags and attributes belong to other programs (simulators, drivers, controllers): they are
noted, never interpreted. `zero` attributes are accepted only where they say nothing (all zeros).
"""

from __future__ import annotations

import difflib
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from robosim.errors import RobosimError

__all__ = ["SRDF", "URDF", "Ignored", "Rule", "check_structure"]

MANY = 10**9
_XACRO = "xacro"


@dataclass(frozen=True)
class Rule:
    """What one element may contain."""

    required: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()
    foreign: tuple[str, ...] = ()
    zero: tuple[str, ...] = ()
    children: dict[str, tuple[int, int]] = field(default_factory=dict)  # tag -> (least, most)
    foreign_children: tuple[str, ...] = ()
    one_of: tuple[str, ...] = ()  # exactly one child among these


_GEOMETRIES = ("box", "cylinder", "sphere", "capsule", "mesh")

URDF: dict[str, Rule] = {
    "robot": Rule(
        optional=("name", "version"),
        children={"link": (1, MANY), "joint": (0, MANY), "material": (0, MANY)},
        foreign_children=("gazebo", "transmission", "ros2_control", "sensor", "mujoco", "plugin"),
    ),
    "link": Rule(
        required=("name",),
        foreign=("type",),
        children={"inertial": (0, 1), "visual": (0, MANY), "collision": (0, MANY), "origin": (0, 1)},
        foreign_children=(
            "contact", "gravity", "kinematic", "surface", "self_filter", "self_collide", "collision_checking", "sensor",
        ),
    ),
    "inertial": Rule(children={"origin": (0, 1), "mass": (1, 1), "inertia": (1, 1)}),
    "origin": Rule(optional=("xyz", "rpy")),
    "mass": Rule(required=("value",)),
    "inertia": Rule(required=("ixx", "iyy", "izz"), optional=("ixy", "ixz", "iyz"), foreign=("iyx", "izx", "izy")),
    "visual": Rule(optional=("name",), children={"origin": (0, 1), "geometry": (1, 1), "material": (0, 1)}),
    "collision": Rule(
        optional=("name",),
        foreign=("group", "mask"),
        children={"origin": (0, 1), "geometry": (1, 1)},
        foreign_children=("material", "verbose", "surface", "contact_coefficients"),
    ),
    "geometry": Rule(foreign=("name",), children=dict.fromkeys(_GEOMETRIES, (0, 1)), one_of=_GEOMETRIES),
    "box": Rule(required=("size",)),
    "cylinder": Rule(required=("radius", "length")),
    "capsule": Rule(required=("radius", "length")),
    "sphere": Rule(required=("radius",)),
    "mesh": Rule(required=("filename",), optional=("scale",)),
    "material": Rule(
        optional=("name",), children={"color": (0, 1), "texture": (0, 1)}, foreign_children=("specular", "ambient")
    ),
    "color": Rule(required=("rgba",)),
    "texture": Rule(foreign=("filename",)),
    "joint": Rule(
        required=("name", "type"),
        foreign=("dont_collapse",),
        children={
            "origin": (0, 1), "parent": (1, 1), "child": (1, 1), "axis": (0, 1), "limit": (0, 1), "dynamics": (0, 1),
            "joint_properties": (0, 1), "mimic": (0, 1), "safety_controller": (0, 1),
        },
        foreign_children=("calibration", "hardwareInterface"),
    ),
    "parent": Rule(required=("link",)),
    "child": Rule(required=("link",)),
    "axis": Rule(required=("xyz",), zero=("rpy",)),
    "limit": Rule(
        optional=("lower", "upper", "effort", "velocity", "acceleration"),
        foreign=("command_effort", "current", "gear_velocity", "jerk", "deceleration"),
    ),
    "dynamics": Rule(
        optional=("damping", "friction"),
        foreign=("D", "K", "mu_coulomb", "mu_viscous", "spring_reference", "spring_stiffness", "rotor_inertia"),
    ),
    "joint_properties": Rule(optional=("damping", "friction")),  # the old name of <dynamics>
    "mimic": Rule(required=("joint",), optional=("multiplier", "offset")),
    "safety_controller": Rule(optional=("soft_lower_limit", "soft_upper_limit", "k_position", "k_velocity")),
}  # fmt: skip

SRDF: dict[str, Rule] = {
    "robot": Rule(
        optional=("name", "version"),
        children={
            "group": (0, MANY), "group_state": (0, MANY), "end_effector": (0, MANY), "virtual_joint": (0, MANY),
            "passive_joint": (0, MANY), "disable_collisions": (0, MANY), "disable_default_collisions": (0, MANY),
            "enable_collisions": (0, MANY),
        },
        foreign_children=(
            "gripper", "handle", "contact", "position", "rotor_params", "specificities", "link_sphere_approximation",
            "joint_property",
        ),
    ),
    "group": Rule(
        required=("name",),
        children=dict.fromkeys(("joint", "link", "chain", "group", "passive_joint"), (0, MANY)),
    ),
    "joint": Rule(required=("name",), optional=("value",)),
    "link": Rule(required=("name",)),
    "chain": Rule(required=("base_link", "tip_link")),
    "group_state": Rule(required=("name", "group"), children={"joint": (0, MANY)}),
    "end_effector": Rule(required=("name", "parent_link", "group"), optional=("parent_group",)),
    "virtual_joint": Rule(required=("name", "type", "parent_frame", "child_link")),
    "passive_joint": Rule(required=("name",)),
    "disable_collisions": Rule(required=("link1", "link2"), optional=("reason",)),
    "enable_collisions": Rule(required=("link1", "link2"), optional=("reason",)),
    "disable_default_collisions": Rule(required=("link",)),
}  # fmt: skip


class Ignored:
    """What a document says to other programs: each kind once, with its number and first line."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self._lines: dict[str, int] = {}

    def add(self, what: str, line: int) -> None:
        """Count one more of a kind."""
        self._counts[what] += 1
        self._lines.setdefault(what, line)

    def texts(self, file: str) -> list[str]:
        """One line of text per kind, in order of first appearance."""
        return [
            f"{what} ({n}x, first at {file}:{self._lines[what]})"
            if n > 1
            else f"{what} ({file}:{self._lines[what]})"
            for what, n in self._counts.items()
        ]


def check_structure(root: Any, rules: dict[str, Rule], *, file: str, error: type[RobosimError]) -> Ignored:
    """Hold a document against its rules.

    Args:
        root: of the parsed document; its tag must be "robot".
        rules: URDF or SRDF.
        file: named in errors.
        error: raised, with file and line, at the first element or attribute that has no place here.

    Returns:
        The foreign tags and attributes met.
    """
    if root.tag != "robot":
        raise error(f"begins with <{root.tag}>; expected <robot>", file=file, line=root.sourceline)
    ignored = Ignored()
    pending = [root]
    while pending:
        element = pending.pop()
        rule = rules[element.tag]
        _check_attributes(element, rule, file, error, ignored)
        _check_text(element, file, error)
        counts: Counter[str] = Counter()
        known = []
        for child in element:
            tag = child.tag
            if tag in rule.children:
                counts[tag] += 1
                most = rule.children[tag][1]
                if counts[tag] > most:
                    message = f"{label(element)}: more than {most} <{tag}>"
                    raise error(message, file=file, line=child.sourceline)
                known.append(child)
            elif tag.startswith("{"):
                if _XACRO in tag:
                    name = tag.rpartition("}")[2]
                    message = f"<{child.prefix}:{name}> is xacro; name the file .xacro to have it expanded"
                    raise error(message, file=file, line=child.sourceline)
                ignored.add(f"<{child.prefix or ''}:{tag.rpartition('}')[2]}>", child.sourceline)
            elif tag in rule.foreign_children:
                ignored.add(f"<{tag}> in <{element.tag}>", child.sourceline)
            else:
                valid = _valid(tag, rule.children)
                raise error(
                    f"{label(element)}: unknown element <{tag}>; {valid}", file=file, line=child.sourceline
                )
        for tag, (least, _) in rule.children.items():
            if counts[tag] < least:
                raise error(f"{label(element)}: lacks <{tag}>", file=file, line=element.sourceline)
        if rule.one_of and sum(counts[tag] for tag in rule.one_of) != 1:
            message = f"{label(element)}: needs just one of <{'>, <'.join(rule.one_of)}>"
            raise error(message, file=file, line=element.sourceline)
        pending.extend(reversed(known))
    return ignored


def _check_attributes(
    element: Any, rule: Rule, file: str, error: type[RobosimError], ignored: Ignored
) -> None:
    for name, value in element.attrib.items():
        if name in rule.required or name in rule.optional:
            continue
        if name in rule.foreign or name.startswith("{"):
            ignored.add(f"attribute {name.rpartition('}')[2]!r} of <{element.tag}>", element.sourceline)
        elif name not in rule.zero:
            valid = _valid(name, (*rule.required, *rule.optional))
            message = f"{label(element)}: unknown attribute {name!r} of <{element.tag}>; {valid}"
            raise error(message, file=file, line=element.sourceline)
        elif any(c not in "0.-+ \t\n" for c in value):
            message = f"{label(element)}: attribute {name!r} of <{element.tag}> is {value!r}; only zeros are possible"
            raise error(message, file=file, line=element.sourceline)
    for name in rule.required:
        if name not in element.attrib:
            raise error(
                f"{label(element)}: <{element.tag}> lacks attribute {name!r}",
                file=file,
                line=element.sourceline,
            )
        if not element.get(name).strip():
            message = f"{label(element)}: attribute {name!r} of <{element.tag}> is empty"
            raise error(message, file=file, line=element.sourceline)


def _check_text(element: Any, file: str, error: type[RobosimError]) -> None:
    """No text between elements: it would be a comment gone wrong."""
    for text in (element.text, *(child.tail for child in element)):
        if text and text.strip():
            message = f"{label(element)}: stray text {text.strip()[:40]!r} in <{element.tag}>"
            raise error(message, file=file, line=element.sourceline)


def label(element: Any) -> str:
    """The nearest named thing around an element, for messages: "link 'x'"."""
    while element is not None:
        if element.tag in (
            "link",
            "joint",
            "material",
            "group",
            "group_state",
            "end_effector",
        ) and element.get("name"):
            return f"{element.tag} {element.get('name')!r}"
        element = element.getparent()
    return "robot"


def _valid(name: str, known: Any) -> str:
    names = list(known)
    close = difflib.get_close_matches(name, names, n=1)
    if close:
        return f"did you mean {close[0]!r}?"
    return f"known are {', '.join(names)}" if names else "none is known here"
