"""Elements and attributes of URDF and SRDF that have a meaning here, and the treatment of others.

Sources: the URDF specification (wiki.ros.org/urdf/XML and the urdfdom parsers), SRDF (srdfdom), and
the contents of published robots.

An element's rule lists its required and optional attributes, and its children with their numbers of
occurrences. `foreign` tags and attributes belong to other programs (simulators, drivers,
controllers). They are recorded, never interpreted. `zero` attributes are accepted only without
effect (all zeros).

Content without a rule is ignored and recorded like foreign content. A likely misspelling of a known
name causes a warning. An element without required content is omitted with a warning if the robot
does not depend on it (`expendable`); otherwise it is an error. In strict reading each of these is
an error with file and line.
"""

from __future__ import annotations

import difflib
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from robosim.errors import RobosimError

__all__ = ["SRDF", "URDF", "Ignored", "Rule", "check_structure", "without_default_namespace"]

MANY = 10**9
_XACRO = "xacro"


@dataclass(frozen=True)
class Rule:
    """Valid content of one element."""

    required: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()
    foreign: tuple[str, ...] = ()
    zero: tuple[str, ...] = ()
    children: dict[str, tuple[int, int]] = field(default_factory=dict)  # tag -> (least, most)
    foreign_children: tuple[str, ...] = ()
    one_of: tuple[str, ...] = ()  # exactly one child among these
    expendable: bool = False  # the robot moves, weighs and collides the same without it
    incomplete: bool = False  # the reader handles missing content


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
        children={"inertial": (0, 1), "visual": (0, MANY), "collision": (0, MANY),
            "origin": (0, 1)},
        foreign_children=(
            "contact", "gravity", "kinematic", "surface", "self_filter", "self_collide",
            "collision_checking", "sensor",
        ),
    ),
    "inertial": Rule(children={"origin": (0, 1), "mass": (1, 1), "inertia": (1, 1)},
        incomplete=True),
    "origin": Rule(optional=("xyz", "rpy")),
    "mass": Rule(required=("value",), incomplete=True),
    "inertia": Rule(
        required=("ixx", "iyy", "izz"),
        optional=("ixy", "ixz", "iyz"),
        foreign=("iyx", "izx", "izy"),
        incomplete=True,
    ),
    "visual": Rule(
        optional=("name",), children={"origin": (0, 1), "geometry": (1, 1), "material": (0, 1)},
        expendable=True
    ),
    "collision": Rule(
        optional=("name",),
        foreign=("group", "mask"),
        children={"origin": (0, 1), "geometry": (1, 1)},
        foreign_children=("material", "verbose", "surface", "contact_coefficients"),
    ),
    "geometry": Rule(foreign=("name",), children=dict.fromkeys(_GEOMETRIES, (0, 1)),
        one_of=_GEOMETRIES),
    "box": Rule(required=("size",)),
    "cylinder": Rule(required=("radius", "length")),
    "capsule": Rule(required=("radius", "length")),
    "sphere": Rule(required=("radius",)),
    "mesh": Rule(required=("filename",), optional=("scale",)),
    "material": Rule(
        optional=("name",),
        children={"color": (0, 1), "texture": (0, 1)},
        foreign_children=("specular", "ambient"),
        expendable=True,
    ),
    "color": Rule(required=("rgba",), expendable=True),
    "texture": Rule(foreign=("filename",), expendable=True),
    "joint": Rule(
        required=("name", "type"),
        foreign=("dont_collapse",),
        children={
            "origin": (0, 1), "parent": (1, 1), "child": (1, 1), "axis": (0, 1), "limit": (0, 1),
            "dynamics": (0, 1),
            "joint_properties": (0, 1), "mimic": (0, 1), "safety_controller": (0, 1),
        },
        foreign_children=("calibration", "hardwareInterface"),
    ),
    "parent": Rule(required=("link",)),
    "child": Rule(required=("link",)),
    "axis": Rule(required=("xyz",), zero=("rpy",), expendable=True),  # defaults to (1, 0, 0)
    "limit": Rule(
        optional=("lower", "upper", "effort", "velocity", "acceleration"),
        foreign=("command_effort", "current", "gear_velocity", "jerk", "deceleration"),
    ),
    "dynamics": Rule(
        optional=("damping", "friction"),
        foreign=("D", "K", "mu_coulomb", "mu_viscous", "spring_reference", "spring_stiffness",
            "rotor_inertia"),
    ),
    "joint_properties": Rule(optional=("damping", "friction")),  # obsolete name of <dynamics>
    "mimic": Rule(required=("joint",), optional=("multiplier", "offset")),
    "safety_controller": Rule(optional=("soft_lower_limit", "soft_upper_limit", "k_position",
        "k_velocity")),
}  # fmt: skip

SRDF: dict[str, Rule] = {
    "robot": Rule(
        optional=("name", "version"),
        children={
            "group": (0, MANY), "group_state": (0, MANY), "end_effector": (0, MANY),
            "virtual_joint": (0, MANY),
            "passive_joint": (0, MANY), "disable_collisions": (0, MANY),
            "disable_default_collisions": (0, MANY),
            "enable_collisions": (0, MANY),
        },
        foreign_children=(
            "gripper", "handle", "contact", "position", "rotor_params", "specificities",
            "link_sphere_approximation",
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
    "group_state": Rule(required=("name", "group"), children={"joint": (0, MANY)}, expendable=True),
    "end_effector": Rule(required=("name", "parent_link", "group"), optional=("parent_group",),
        expendable=True),
    "virtual_joint": Rule(required=("name", "type", "parent_frame", "child_link"), expendable=True),
    "passive_joint": Rule(required=("name",), expendable=True),
    "disable_collisions": Rule(required=("link1", "link2"), optional=("reason",), expendable=True),
    "enable_collisions": Rule(required=("link1", "link2"), optional=("reason",), expendable=True),
    "disable_default_collisions": Rule(required=("link",), expendable=True),
}  # fmt: skip


class Ignored:
    """Content without effect: each kind once, with its count and first line."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self._lines: dict[str, int] = {}

    def add(self, what: str, line: int) -> None:
        """Count an occurrence of a kind."""
        self._counts[what] += 1
        self._lines.setdefault(what, line)

    def texts(self, file: str) -> list[str]:
        """Return one line of text per kind, in order of first appearance."""
        return [
            f"{what} ({n}x, first at {file}:{self._lines[what]})"
            if n > 1
            else f"{what} ({file}:{self._lines[what]})"
            for what, n in self._counts.items()
        ]


def check_structure(
    root: Any,
    rules: dict[str, Rule],
    *,
    file: str,
    error: type[RobosimError],
    strict: bool = True,
    warnings: list[str] | None = None,
) -> Ignored:
    """Check a document against rules, and remove content that has no valid place.

    Args:
        root: root of the parsed document. Its tag must be "robot", in any default namespace.
        rules: URDF or SRDF.
        file: name of the file in errors.
        error: class of the errors, which have file and line. Raised at the first content without a
            meaning; in strict reading at the first element, attribute or text that is not allowed.
        strict: True for strict reading.
        warnings: list to which warnings are appended.

    Returns:
        Ignored content.
    """
    check = _Check(rules, file, error, strict)
    check.namespace(root)
    if root.tag != "robot":
        raise error(f"begins with <{root.tag}>; expected <robot>", file=file, line=root.sourceline)
    check.element(root)
    if warnings is not None:
        warnings += check.texts()
    return check.ignored


def without_default_namespace(root: Any) -> str:
    """Remove the root's default namespace (files of Drake and old ROS) from all elements.

    Return the namespace, or "".
    """
    tag = str(root.tag)
    if not tag.startswith("{") or root.prefix is not None:
        return ""
    space = tag[: tag.index("}") + 1]
    for element in root.iter():
        if str(element.tag).startswith(space):
            element.tag = element.tag[len(space) :]
    return space[1:-1]


class _Check:
    """Checks elements against rules."""

    def __init__(
        self, rules: dict[str, Rule], file: str, error: type[RobosimError], strict: bool
    ) -> None:
        self.rules, self.file, self.error, self.strict = rules, file, error, strict
        self.ignored, self.misspelled = Ignored(), Ignored()
        self.warnings: list[str] = []

    def texts(self) -> list[str]:
        """Return the warnings."""
        return self.warnings + self.misspelled.texts(self.file)

    def fail(self, element: Any, message: str) -> RobosimError:
        """Return the error to raise about an element."""
        return self.error(f"{label(element)}: {message}", file=self.file, line=element.sourceline)

    def namespace(self, root: Any) -> None:
        """Record and remove a default namespace, unless reading is strict."""
        if not self.strict and (space := without_default_namespace(root)):
            self.ignored.add(f"xmlns={space!r}", root.sourceline)

    def element(self, e: Any) -> None:
        """Check an element and its content. All content that remains is valid."""
        rule = self.rules[e.tag]
        self._attributes(e, rule)
        self._text(e)
        counts: Counter[str] = Counter()
        for child in list(e):
            if child.tag not in rule.children:
                self._foreign(e, rule, child)
                e.remove(child)
                continue
            most = rule.children[child.tag][1]
            if counts[child.tag] == most:
                self._surplus(e, child, f"more than {most} <{child.tag}>")
                continue
            try:
                self.element(child)
            except self.error as fault:
                if self.strict or not self.rules[child.tag].expendable:
                    raise
                self.warnings.append(f"{fault}; left out")
                e.remove(child)
                continue
            counts[child.tag] += 1
        for tag, (least, _) in rule.children.items():
            if counts[tag] < least and (self.strict or not rule.incomplete):
                raise self.fail(e, f"lacks <{tag}>")
        self._choice(e, rule)

    def _choice(self, e: Any, rule: Rule) -> None:
        found = [child for child in e if child.tag in rule.one_of]
        for child in found[1:] if not self.strict else ():
            self._surplus(e, child, f"more than one of <{'>, <'.join(rule.one_of)}>")
        if rule.one_of and (not found or (self.strict and len(found) > 1)):
            raise self.fail(e, f"needs just one of <{'>, <'.join(rule.one_of)}>")

    def _surplus(self, e: Any, child: Any, message: str) -> None:
        if self.strict:
            raise self.error(f"{label(e)}: {message}", file=self.file, line=child.sourceline)
        self.warnings.append(
            f"{self.file}:{child.sourceline}: {label(e)}: {message}; the first one counts"
        )
        e.remove(child)

    def _foreign(self, e: Any, rule: Rule, child: Any) -> None:
        """Record a child that is not allowed."""
        tag, line = str(child.tag), child.sourceline
        if tag.startswith("{") or ":" in tag:
            prefix, name = (
                (child.prefix or "", tag.rpartition("}")[2]) if "{" in tag else tag.split(":", 1)
            )
            if _XACRO in tag:
                message = f"<{prefix}:{name}> is xacro; name the file .xacro to have it expanded"
                if self.strict:
                    raise self.error(message, file=self.file, line=line)
                self.warnings.append(f"{self.file}:{line}: {message}; passed over")
            else:
                self.ignored.add(f"<{prefix}:{name}>", line)
            return
        if tag not in rule.foreign_children:
            if self.strict:
                message = f"{label(e)}: unknown element <{tag}>; {_valid(tag, rule.children)}"
                raise self.error(message, file=self.file, line=line)
            if close := _misspelled(tag, rule.children):
                self.misspelled.add(
                    f"<{tag}> in <{e.tag}> is passed over; did you mean <{close}>?", line
                )
                return
        self.ignored.add(f"<{tag}> in <{e.tag}>", line)

    def _attributes(self, e: Any, rule: Rule) -> None:
        for name, value in e.attrib.items():
            if name in rule.required or name in rule.optional:
                if not value.strip() and not self.strict and name in rule.optional:
                    self.ignored.add(f"empty attribute {name!r} of <{e.tag}>", e.sourceline)
                    del e.attrib[name]
                continue
            self._unknown_attribute(e, rule, name, value)
        for name in () if rule.incomplete and not self.strict else rule.required:
            if name not in e.attrib:
                others = [
                    repr(x) for x in e.attrib if x not in rule.required and x not in rule.optional
                ]
                has = f"; it has {', '.join(others)}" if others else ""
                raise self.fail(e, f"<{e.tag}> lacks attribute {name!r}{has}")
            if not e.get(name).strip():
                raise self.fail(e, f"attribute {name!r} of <{e.tag}> is empty")

    def _unknown_attribute(self, e: Any, rule: Rule, name: str, value: str) -> None:
        known = (*rule.required, *rule.optional)
        is_foreign = name in rule.foreign or name.startswith("{") or ":" in name
        says_nothing = name in rule.zero and all(c in "0.-+ \t\n" for c in value)
        if self.strict and name in rule.zero and not says_nothing:
            raise self.fail(
                e, f"attribute {name!r} of <{e.tag}> is {value!r}; only zeros are possible"
            )
        if self.strict and not is_foreign and not says_nothing:
            raise self.fail(e, f"unknown attribute {name!r} of <{e.tag}>; {_valid(name, known)}")
        close = None if is_foreign or name in rule.zero else _misspelled(name, known)
        if close and close not in e.attrib:
            what = f"attribute {name!r} of <{e.tag}> is passed over; did you mean {close!r}?"
            self.misspelled.add(what, e.sourceline)
        elif not says_nothing:
            self.ignored.add(f"attribute {name.rpartition('}')[2]!r} of <{e.tag}>", e.sourceline)

    def _text(self, e: Any) -> None:
        """Check for text between elements, which is likely a malformed comment."""
        for text in (e.text, *(child.tail for child in e)):
            if text and text.strip():
                what = f"stray text {text.strip()[:40]!r} in <{e.tag}>"
                if self.strict:
                    raise self.fail(e, what)
                self.ignored.add(what, e.sourceline)


def label(element: Any) -> str:
    """Name of the nearest named element around an element, for messages: "link 'x'"."""
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


def _misspelled(name: str, known: Any) -> str | None:
    """Return the known name that this one likely misspells, or None."""
    close = difflib.get_close_matches(name.lower(), list(known), n=1, cutoff=0.8)
    return close[0] if close else None
