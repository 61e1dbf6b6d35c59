"""SRDF, MoveIt's companion of URDF: groups, named states, end effectors, disabled link pairs.

Treatment of each element:

group            joints: the listed joints, the parent joints of its links, the joints of its
                 chains, and its subgroups' joints, in the robot's order, without fixed, mimic and
                 passive joints. tip: tip of its only chain, otherwise the link of the group where
                 an end effector of another group is mounted, otherwise the child of the last joint
                 of a serial group
group_state      its positions; values for fixed, mimic and virtual joints are recorded as ignored
end_effector     link and group
disable_default_collisions, disable_collisions, enable_collisions
                 applied in this order, the last wins
virtual_joint    mounting of the robot, for `load_robot(base="described")`; another base overrides
                 it, and a different type is recorded
passive_joint    a joint without a drive, not part of any group
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from robosim.errors import ModelError, RobosimError, SrdfError, suggestion
from robosim.files import parse_xml
from robosim.model import ModelBuilder
from robosim.urdf.description import RobotSpec
from robosim.urdf.schema import SRDF, check_structure
from robosim.urdf.values import Reader

__all__ = ["Semantics", "add_semantics", "read_srdf"]

T = TypeVar("T")
# Name of the base's joint in Pinocchio, and in SRDF files written for it.
_ROOT_JOINT = "root_joint"


@dataclass(frozen=True)
class Group:
    """A group resolved to joints."""

    name: str
    line: int
    joints: tuple[str, ...]
    tip: str | None


@dataclass
class Semantics:
    """Content of an SRDF for one robot."""

    file: str
    groups: list[Group] = field(default_factory=list)
    states: list[tuple[str, str, dict[str, float], int]] = field(
        default_factory=list
    )  # group, name, positions, line
    # Name, link, group, line.
    end_effectors: list[tuple[str, str, str, int]] = field(default_factory=list)
    disabled: dict[tuple[str, str], str] = field(default_factory=dict)  # (link a, link b) -> reason
    lists_pairs: bool = False
    floating_base: bool = False  # as described, or as requested
    warnings: list[str] = field(default_factory=list)
    ignored: list[str] = field(default_factory=list)


def read_srdf(
    data: bytes | str,
    robot: RobotSpec,
    *,
    file: str,
    floating_base: bool | None = False,
    strict: bool = False,
) -> Semantics:
    """Read an SRDF for a robot.

    Elements that name a missing link, joint or group are omitted with a warning.

    Args:
        data: the document.
        robot: robot that the SRDF describes.
        file: name of the file in errors.
        floating_base: True if the base is free to move; None if its virtual joint decides.
        strict: True if missing names are errors.

    Raises:
        SrdfError: the document is malformed; with file and line.
    """
    out = Semantics(file, floating_base=bool(floating_base))
    root = parse_xml(data, file=file, error=SrdfError, warnings=out.warnings, strict=strict)
    link = next((e.sourceline for e in root if e.tag in ("link", "joint")), None)
    foreign = check_structure(
        root, SRDF, file=file, error=SrdfError, strict=strict, warnings=out.warnings
    )
    if link is not None:
        raise SrdfError("describes links, as a URDF does; an SRDF names them", file=file, line=link)
    _Document(root, robot, out, floating_base, strict).read_all()
    out.ignored = foreign.texts(file) + out.ignored
    return out


def add_semantics(builder: ModelBuilder, semantics: Semantics) -> None:
    """Add groups, states, end effectors and disabled pairs to the builder."""
    line = 1
    try:
        for group in semantics.groups:
            line = group.line
            builder.add_group(group.name, group.joints, tip=group.tip)
        for state in semantics.states:
            group_name, name, positions, line = state
            builder.add_named_state(group_name, name, positions)
        for end_effector in semantics.end_effectors:
            name, link, group_name, line = end_effector
            builder.add_end_effector(name, link, group_name)
        for (a, b), reason in semantics.disabled.items():
            builder.disable_collision(a, b, reason)
    except ModelError as e:
        raise SrdfError(str(e), file=semantics.file, line=line) from None
    for warning in semantics.warnings:
        builder.add_warning(warning)
    for ignored in semantics.ignored:
        builder.add_ignored(ignored)


class _Document:
    def __init__(
        self,
        root: Any,
        robot: RobotSpec,
        out: Semantics,
        floating_base: bool | None,
        strict: bool = False,
    ) -> None:
        self.root, self.robot, self.out, self.floating_base = root, robot, out, floating_base
        self.strict = strict
        self.read = Reader(out.file, SrdfError)
        self.parent_joint = {joint.child: joint for joint in robot.joints.values()}
        self.order = {name: i for i, name in enumerate(_tree_order(robot))}
        self.virtual = {e.get("name") for e in root.findall("virtual_joint")}
        if not strict and _ROOT_JOINT not in robot.joints:
            self.virtual.add(_ROOT_JOINT)
        self.passive: set[str] = set()
        self.groups: dict[str, Any] = {}

    def read_all(self) -> None:
        name = self.root.get("name", "")
        if name and name != self.robot.name:
            self.warn(self.root, f"is for a robot called {name!r}; this one is {self.robot.name!r}")
        for e in self.root.findall("virtual_joint"):
            self.tolerate(self._virtual_joint, e)
        for e in self.root.findall("passive_joint"):
            self.passive |= self.tolerate(lambda x: {self._joint(x)}, e) or set()
        self.passive -= self.virtual
        for e in self.root.findall("group"):
            self.tolerate(self._name_group, e)
        for name, e in self.groups.items():
            joints = sorted(self._members(e, ()), key=self.order.__getitem__)
            active = tuple(j for j in joints if self._moves(j))
            if still := [j for j in joints if j in self.passive]:
                self.warn(
                    e,
                    f"group {name!r} has passive joints, which a plan never moves:"
                    f" {', '.join(still)}",
                )
            self.out.groups.append(Group(name, e.sourceline, active, self._tip(e, active)))
        for tag, read in ("end_effector", self._end_effector), ("group_state", self._state):
            for e in self.root.findall(tag):
                self.tolerate(read, e)
        self._pairs()

    def tolerate(self, read: Callable[[Any], T], e: Any) -> T | None:
        """Read an element. If it fails and reading is not strict, add a warning and return None."""
        try:
            return read(e)
        except SrdfError as fault:
            if self.strict:
                raise
            self.out.warnings.append(f"{fault}; passed over")
            return None

    def _name_group(self, e: Any) -> None:
        if e.get("name") in self.groups:
            raise self.read.fail(
                e, f"is defined already in line {self.groups[e.get('name')].sourceline}"
            )
        self.groups[e.get("name")] = e

    def warn(self, e: Any, message: str) -> None:
        self.out.warnings.append(f"{self.out.file}:{e.sourceline}: {message}")

    def ignore(self, e: Any, message: str) -> None:
        self.out.ignored.append(f"{message} ({self.out.file}:{e.sourceline})")

    def _moves(self, joint: str) -> bool:
        spec = self.robot.joints[joint]
        return spec.kind != "fixed" and spec.mimic is None and joint not in self.passive

    def _link(self, e: Any, attribute: str = "name") -> str:
        name = str(e.get(attribute))
        if name not in self.robot.links:
            near = suggestion(name, self.robot.links)
            raise self.read.fail(e, f"there is no link {name!r} in robot {self.robot.name!r}{near}")
        return name

    def _joint(self, e: Any) -> str:
        name = str(e.get("name"))
        if name not in self.robot.joints and name not in self.virtual:
            near = suggestion(name, [*self.robot.joints, *sorted(map(str, self.virtual))])
            raise self.read.fail(
                e, f"there is no joint {name!r} in robot {self.robot.name!r}{near}"
            )
        return name

    def _no_group(self, e: Any, name: str) -> RobosimError:
        return self.read.fail(e, f"there is no group {name!r}{suggestion(name, self.groups)}")

    def _virtual_joint(self, e: Any) -> None:
        kind = e.get("type").strip()
        if kind not in ("fixed", "floating", "planar"):
            raise self.read.fail(
                e, f"virtual joint type {kind!r} is not known; use fixed, floating or planar"
            )
        link = self._link(e, "child_link")
        if self.floating_base is None and kind == "floating" and link not in self.parent_joint:
            self.out.floating_base = True
        base = "floating" if self.out.floating_base else "fixed"
        if kind != base:
            self.ignore(
                e, f"virtual joint {e.get('name')!r} of type {kind}: the base was loaded as {base}"
            )

    # Groups

    def _members(self, e: Any, trail: tuple[str, ...]) -> set[str]:
        """Return all joints of a group, fixed ones included."""
        name = e.get("name")
        if name in trail:
            raise self.read.fail(e, f"contains itself, through {' -> '.join((*trail, name))}")
        joints: set[str] = set()
        for child in e:
            joints |= self.tolerate(lambda x: self._joints_of(x, (*trail, name)), child) or set()
        return joints

    def _joints_of(self, child: Any, trail: tuple[str, ...]) -> set[str]:
        """Return the joints that one element of a group stands for."""
        if child.tag in ("joint", "passive_joint"):
            return {self._joint(child)} - self.virtual
        if child.tag == "link":
            parent = self.parent_joint.get(self._link(child))
            return {parent.name} if parent else set()
        if child.tag == "chain":
            return set(self._chain(child))
        if child.get("name") not in self.groups:
            raise self._no_group(child, child.get("name"))
        return self._members(self.groups[child.get("name")], trail)

    def _chain(self, e: Any) -> list[str]:
        """Return the joints from base to tip.

        If the tip is not below the base, the path is through a common ancestor.
        """
        base, tip = self._link(e, "base_link"), self._link(e, "tip_link")
        up_base, up_tip = self._ancestry(base), self._ancestry(tip)
        common = set(up_base) & set(up_tip)
        path = [link for link in (*up_tip, *up_base) if link not in common]
        return [self.parent_joint[link].name for link in path]

    def _ancestry(self, link: str) -> list[str]:
        out = [link]
        while (joint := self.parent_joint.get(out[-1])) is not None and joint.parent not in out:
            out.append(joint.parent)
        return out

    def _tip(self, e: Any, active: tuple[str, ...]) -> str | None:
        chains = [c for c in e if c.tag == "chain" and c.get("tip_link") in self.robot.links]
        if len(chains) == 1:
            return str(chains[0].get("tip_link"))
        for tool in self.root.findall("end_effector"):
            # The parent group of the tool, or a group whose last link carries the tool.
            if (
                tool.get("parent_group") == e.get("name")
                and tool.get("parent_link") in self.robot.links
            ):
                return str(tool.get("parent_link"))
        joints = [self.robot.joints[j] for j in active]
        up = self._ancestry(joints[-1].child) if joints else []
        return joints[-1].child if joints and all(j.child in up for j in joints) else None

    # States and tools

    def _state(self, e: Any) -> None:
        group, name = e.get("group"), e.get("name")
        if group not in self.groups:
            raise self._no_group(e, group)
        positions: dict[str, float] = {}
        unused = Counter[str]()
        for child in e:
            joint = self.tolerate(self._joint, child)
            if joint is None:
                continue
            if child.get("value") is None:
                raise self.read.fail(child, f"joint {joint!r} lacks its value")
            if joint in self.virtual or joint not in self.robot.joints:
                unused["a virtual joint"] += 1
            elif (
                self.robot.joints[joint].kind == "fixed"
                or self.robot.joints[joint].mimic is not None
            ):
                unused["fixed or mimic joints"] += 1
            elif self.robot.joints[joint].kind in ("floating", "planar"):
                unused[f"a {self.robot.joints[joint].kind} joint"] += 1
            elif joint in positions:
                raise self.read.fail(child, f"joint {joint!r} has two values")
            else:
                positions[joint] = self.read.number(child, "value")
        for what in unused:
            self.ignore(e, f"values for {what} in state {name!r}")
        self.out.states.append((group, name, positions, e.sourceline))

    def _end_effector(self, e: Any) -> None:
        for attribute in ("group", "parent_group"):
            if (group := e.get(attribute)) is not None and group not in self.groups:
                raise self._no_group(e, group)
        self.out.end_effectors.append(
            (e.get("name"), self._link(e, "parent_link"), e.get("group"), e.sourceline)
        )

    # Pairs

    def _pairs(self) -> None:
        disabled = self.out.disabled
        for e in self.root.findall("disable_default_collisions"):
            self.out.lists_pairs = True
            link = self._link(e, "link")
            for other in self.robot.links:
                if other != link:
                    disabled[_pair(link, other)] = "Default"
        for tag in ("disable_collisions", "enable_collisions"):
            for e in self.root.findall(tag):
                self.out.lists_pairs = True
                a, b = e.get("link1"), e.get("link2")
                unknown = [link for link in (a, b) if link not in self.robot.links]
                if unknown:
                    self.warn(
                        e, f"<{tag}> names link {unknown[0]!r}, which does not exist; passed over"
                    )
                elif a == b:
                    self.warn(e, f"<{tag}> names link {a!r} twice; passed over")
                elif tag == "disable_collisions":
                    disabled[_pair(a, b)] = e.get("reason", "")
                else:
                    disabled.pop(_pair(a, b), None)


def _pair(a: str, b: str) -> tuple[str, str]:
    return (a, b) if a < b else (b, a)


def _tree_order(robot: RobotSpec) -> list[str]:
    """Joints depth first, children in document order.

    Joints off the tree, which are refused later, come last.
    """
    children: dict[str, list[str]] = {}
    for joint in robot.joints.values():
        children.setdefault(joint.parent, []).append(joint.name)
    order: dict[str, None] = {}
    pending = [j for root in reversed(robot.roots) for j in reversed(children.get(root, []))]
    while pending:
        name = pending.pop()
        if name not in order:
            order[name] = None
            pending.extend(reversed(children.get(robot.joints[name].child, [])))
    return [*order, *(name for name in robot.joints if name not in order)]
