"""MoveIt's joint_limits.yaml: limits that URDF cannot express, and overrides of URDF limits.

    joint_limits:
      elbow_joint: {has_velocity_limits: true, max_velocity: 3.14, has_acceleration_limits: true,
          max_acceleration: 5.0}

`has_X_limits: true` replaces the URDF's value, `false` removes the limit, and without the key the
URDF's value is kept. The scaling factors are MoveIt's defaults for its own planners. Scaling
factors and jerk limits are recorded as ignored. Angles may have the units of xacro's tags:
`!degrees 90`, `!radians 1.5708`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from os import PathLike
from typing import Any

import yaml

from robosim.errors import JointLimitsError, suggestion
from robosim.files import read_file
from robosim.urdf.description import JointSpec, RobotSpec

__all__ = ["LimitOverrides", "apply_joint_limits", "read_joint_limits"]

_MAX_BYTES = 128 * 1024
_MAX_DEPTH = 20  # of brackets
_MAX_VALUE = 1e300
_QUANTITIES = ("position", "velocity", "acceleration", "effort", "deceleration", "jerk")
_BOUNDS = {"position": ("min_position", "max_position")} | {
    q: (f"max_{q}",) for q in _QUANTITIES[1:]
}
_KEYS = {key for q in _QUANTITIES for key in (f"has_{q}_limits", *_BOUNDS[q])}
_UNITS = {
    "!degrees": math.pi / 180,
    "!radians": 1.0,
    "!meters": 1.0,
    "!millimeters": 1e-3,
    "!inches": 0.0254,
    "!foot": 0.3048,
}
_TOP = ("joint_limits", "default_velocity_scaling_factor", "default_acceleration_scaling_factor")


@dataclass
class LimitOverrides:
    """Overrides by joint and quantity, None for a removed limit, and line numbers by joint."""

    source: str
    by_joint: dict[str, dict[str, tuple[float, ...] | None]] = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict)
    ignored: list[str] = field(default_factory=list)


def read_joint_limits(source: str | PathLike[str] | Mapping[str, Any]) -> LimitOverrides:
    """Read a joint_limits.yaml, or its content as a mapping (with or without "joint_limits").

    Raises:
        JointLimitsError: it is malformed; with file and line if it is a file.
        FileError: there is no such file.
    """
    if isinstance(source, Mapping):
        entries = source.get("joint_limits", source)
        overrides = LimitOverrides("argument joint_limits")
        if not isinstance(entries, Mapping):
            raise JointLimitsError(
                f"joint_limits is {type(entries).__name__}; a mapping by joint is needed"
            )
        for joint, limits in entries.items():
            if not isinstance(limits, Mapping):
                raise JointLimitsError(
                    f"joint {joint!r}: its limits are {limits!r}; a mapping is needed"
                )
            _add(overrides, str(joint), {str(k): (v, None) for k, v in limits.items()}, None, None)
        return overrides
    file = str(source)
    root = _compose(read_file(source, max_bytes=_MAX_BYTES), file)
    overrides = LimitOverrides(file)
    for key, (node, line) in _mapping(root, file, "the document").items():
        if key not in _TOP:
            raise JointLimitsError(
                f"unknown key {key!r}{suggestion(key, _TOP)}", file=file, line=line
            )
        if key != "joint_limits":
            overrides.ignored.append(f"{key} ({file}:{line})")
            continue
        for joint, (entry, joint_line) in _mapping(node, file, "joint_limits").items():
            values = {
                k: (_scalar(v, file), at)
                for k, (v, at) in _mapping(entry, file, f"joint {joint!r}").items()
            }
            _add(overrides, joint, values, file, joint_line)
    return overrides


def apply_joint_limits(robot: RobotSpec, overrides: LimitOverrides) -> dict[str, JointSpec]:
    """Return the robot's joints with overridden position, velocity, effort and acceleration limits.

    Raises:
        JointLimitsError: an entry names no joint.
    """
    joints = dict(robot.joints)
    file = None if overrides.source.startswith("argument") else overrides.source
    for name, limits in overrides.by_joint.items():
        line = overrides.lines.get(name)
        if name not in joints:
            near = suggestion(name, joints)
            raise JointLimitsError(
                f"there is no joint {name!r} in robot {robot.name!r}{near}", file=file, line=line
            )
        changes: dict[str, Any] = {}
        for quantity, values in limits.items():
            if quantity == "position":
                kind = joints[name].kind
                if kind not in ("revolute", "prismatic"):
                    overrides.ignored.append(
                        f"position limits of {kind} joint {name!r} ({overrides.source})"
                    )
                    continue
                changes["lower"], changes["upper"] = values if values is not None else (None, None)
            elif quantity in ("velocity", "effort", "acceleration"):
                changes[quantity] = None if values is None else values[0]
        joints[name] = replace(joints[name], **changes)
    return joints


def _add(
    overrides: LimitOverrides,
    joint: str,
    values: Mapping[str, tuple[Any, int | None]],
    file: str | None,
    line: int | None,
) -> None:
    """Check one joint's entry and convert it to overrides."""
    # Refuse unknown keys.
    for key, (_, at) in values.items():
        if key not in _KEYS and key != "angle_wraparound":
            near = suggestion(key, sorted(_KEYS), limit=None)
            raise JointLimitsError(
                f"joint {joint!r}: unknown key {key!r}{near}", file=file, line=at
            )
    limits: dict[str, tuple[float, ...] | None] = {}
    # Convert each quantity: removed by its flag, or replaced by valid numbers.
    for quantity, bounds in _BOUNDS.items():
        flag, at = values.get(f"has_{quantity}_limits", (None, line))
        given = [values[b] for b in bounds if b in values]
        if flag is None and not given:
            continue
        if flag is not None and not isinstance(flag, bool):
            raise JointLimitsError(
                f"joint {joint!r}: has_{quantity}_limits is {flag!r}; true or false",
                file=file,
                line=at,
            )
        if flag is False:
            limits[quantity] = None
            continue
        if len(given) != len(bounds):
            raise JointLimitsError(
                f"joint {joint!r}: {' and '.join(bounds)} needed", file=file, line=at
            )
        numbers = []
        for bound, (value, place) in zip(bounds, given, strict=True):
            if (
                isinstance(value, bool)
                or not isinstance(value, (int, float))
                or not abs(value) <= _MAX_VALUE
            ):
                message = f"joint {joint!r}: {bound} is {value!r}; a finite number is needed"
                raise JointLimitsError(message, file=file, line=place)
            if quantity != "position" and value <= 0:
                message = f"joint {joint!r}: {bound} is {value!r}; it must be positive"
                raise JointLimitsError(message, file=file, line=place)
            numbers.append(float(value))
        if quantity == "position" and numbers[0] > numbers[1]:
            message = (
                f"joint {joint!r}: min_position {numbers[0]:g} is above max_position {numbers[1]:g}"
            )
            raise JointLimitsError(message, file=file, line=given[0][1])
        if quantity in ("jerk", "deceleration"):
            overrides.ignored.append(f"{quantity} limit of joint {joint!r} ({overrides.source})")
        limits[quantity] = tuple(numbers)
    overrides.by_joint[joint] = limits
    if line is not None:
        overrides.lines[joint] = line


# YAML with line numbers: nodes instead of values. Anchors and aliases are refused (an alias bomb is
# a few hundred bytes), and unit tags are the only tags.


def _compose(data: bytes, file: str) -> yaml.Node:
    loader = None
    try:
        text = data.decode("utf-8-sig")
        # The scanner takes quadratic time on nested brackets.
        depth = 0
        for character in text:
            depth += (character in "[{") - (character in "]}")
            if depth > _MAX_DEPTH:
                raise JointLimitsError(
                    f"is nested deeper than {_MAX_DEPTH} brackets", file=file, line=1
                )
        # Refuse anchors, aliases and unknown tags before composing nodes.
        for token in yaml.scan(text, Loader=yaml.SafeLoader):
            line = token.start_mark.line + 1
            if isinstance(token, (yaml.AliasToken, yaml.AnchorToken)):
                raise JointLimitsError(
                    "anchors and aliases are not supported", file=file, line=line
                )
            if (
                isinstance(token, yaml.TagToken)
                and (tag := "".join(filter(None, token.value))) not in _UNITS
            ):
                known = ", ".join(_UNITS)
                raise JointLimitsError(f"tag {tag!r} must be one of {known}", file=file, line=line)
        loader = yaml.SafeLoader(text)
        node = loader.get_single_node()
    except UnicodeDecodeError as e:
        raise JointLimitsError(f"is not UTF-8 text (byte {e.start})", file=file, line=1) from None
    except yaml.YAMLError as e:
        mark = getattr(e, "problem_mark", None)
        reason = getattr(e, "problem", None) or str(e).splitlines()[0]
        raise JointLimitsError(
            f"is not YAML: {reason}", file=file, line=mark.line + 1 if mark else 1
        ) from None
    except JointLimitsError:
        raise
    except (RecursionError, ValueError) as e:
        reason = "is nested too deep" if isinstance(e, RecursionError) else f"is not YAML: {e}"
        raise JointLimitsError(reason, file=file, line=1) from None
    finally:
        if loader is not None:
            loader.dispose()
    if node is None:
        raise JointLimitsError("is empty; expected the key 'joint_limits'", file=file, line=1)
    return node


def _mapping(node: yaml.Node, file: str, what: str) -> dict[str, tuple[yaml.Node, int]]:
    """Return a mapping from keys, which must be unique strings, to value nodes and lines."""
    if not isinstance(node, yaml.MappingNode):
        raise JointLimitsError(
            f"{what} must be a mapping", file=file, line=node.start_mark.line + 1
        )
    out: dict[str, tuple[yaml.Node, int]] = {}
    for key, value in node.value:
        line = key.start_mark.line + 1
        if not isinstance(key, yaml.ScalarNode):
            raise JointLimitsError(f"{what}: a key is not a name", file=file, line=line)
        if key.value in out:
            raise JointLimitsError(
                f"{what}: key {key.value!r} is there twice", file=file, line=line
            )
        out[key.value] = (value, line)
    return out


def _scalar(node: yaml.Node, file: str) -> Any:
    if not isinstance(node, yaml.ScalarNode):
        raise JointLimitsError(
            "a number, true or false is needed", file=file, line=node.start_mark.line + 1
        )
    if node.tag in _UNITS:
        try:
            return _UNITS[node.tag] * float(node.value)
        except ValueError:
            return f"{node.tag} {node.value}"
    try:
        value = yaml.SafeLoader("").construct_object(node)
    except (ValueError, yaml.YAMLError):
        return node.value
    if isinstance(value, str):  # YAML 1.1 reads 1e3 as text, but it is a number
        try:
            return float(value)
        except ValueError:
            return value
    return value
