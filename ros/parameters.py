"""Parameters of nodes as tables, from which they are declared, checked and documented.

A node's module has `PARAMETERS`, a tuple of `Parameter`. `declare` declares all of them on a ROS
node. The tables themselves need no ROS.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

from robosim.errors import ExecutionError, suggestion

__all__ = ["Parameter", "Value", "declare", "markdown"]

Value = bool | int | float | str | tuple[float, ...] | tuple[str, ...]

# Types of values, and their names in rcl_interfaces/ParameterType.
_KINDS = {
    "bool": "BOOL",
    "integer": "INTEGER",
    "double": "DOUBLE",
    "string": "STRING",
    "double array": "DOUBLE_ARRAY",
    "string array": "STRING_ARRAY",
}
# Parameters that every node has by default, or that rclpy itself declares.
_FOREIGN = ("use_sim_time", "start_type_description_service", "qos_overrides.")


@dataclass(frozen=True)
class Parameter:
    """One parameter of a node.

    Attributes:
        name: name on the command line; dots make groups.
        default: default value, which determines the type. An empty tuple needs `kind`.
        description: text for users, with the unit.
        minimum, maximum: bounds of a number, or of each of several; None for no bound.
        choices: valid strings; None for all.
        read_only: True if it cannot change while the node runs.
        kind: "bool", "integer", "double", "string", "double array" or "string array"; by default
            that of `default`.
    """

    name: str
    default: Value
    description: str
    minimum: float | None = None
    maximum: float | None = None
    choices: tuple[str, ...] | None = None
    read_only: bool = False
    kind: str = ""

    def __post_init__(self) -> None:
        kind = self.kind or _kind_of(self.default)
        if kind not in _KINDS:
            raise ExecutionError(
                f"parameter {self.name!r}: kind {kind!r} is none of {', '.join(_KINDS)}"
            )
        object.__setattr__(self, "kind", kind)
        object.__setattr__(self, "default", self.check(self.default))

    @property
    def attribute(self) -> str:
        """Name as a Python identifier, as in the namespace of `declare`."""
        return self.name.replace(".", "_").replace("-", "_")

    @property
    def valid(self) -> str:
        """Description of the valid values."""
        kind = f"{'an' if self.kind[0] in 'aeiou' else 'a'} {self.kind}"
        if self.choices is not None:
            return f"one of {', '.join(self.choices)}"
        if self.minimum is not None and self.maximum is not None:
            return f"{kind} from {self.minimum:g} to {self.maximum:g}"
        if self.minimum is not None:
            return f"{kind} not below {self.minimum:g}"
        if self.maximum is not None:
            return f"{kind} not above {self.maximum:g}"
        return kind

    def check(self, value: Any) -> Value:
        """Convert a value to the parameter's type.

        Integers pass as doubles, sequences become tuples.

        Raises:
            ExecutionError: the value has another type or is out of range. The message names the
                parameter, the value and the valid values.
        """
        made: Value | None = _as_kind(self.kind, value)
        if made is not None and self._in_range(made):
            return made
        shown = list(value) if isinstance(value, Sequence) and not isinstance(value, str) else value
        raise ExecutionError(f"parameter {self.name!r} is {shown!r}; it must be {self.valid}")

    def _in_range(self, value: Value) -> bool:
        for entry in value if isinstance(value, tuple) else (value,):
            if isinstance(entry, str):
                if self.choices is not None and entry not in self.choices:
                    return False
            elif not isinstance(entry, bool) and not (
                (-math.inf if self.minimum is None else self.minimum)
                <= entry
                <= (math.inf if self.maximum is None else self.maximum)
            ):
                return False
        return True


def _kind_of(value: object) -> str:
    if isinstance(value, (tuple, list)):
        return f"{_kind_of(value[0])} array" if value else ""
    return {bool: "bool", int: "integer", float: "double", str: "string"}.get(type(value), "")


def _as_kind(kind: str, value: Any) -> Any:
    """Convert a value to this type, or return None."""
    if kind.endswith(" array"):
        if isinstance(value, str | bytes) or not hasattr(value, "__iter__"):
            return None
        entries = [_as_kind(kind.removesuffix(" array"), entry) for entry in value]
        return None if any(entry is None for entry in entries) else tuple(entries)
    if isinstance(value, bool):
        return value if kind == "bool" else None
    if kind == "double":
        return float(value) if isinstance(value, int | float) and not math.isnan(value) else None
    return value if isinstance(value, {"bool": bool, "integer": int, "string": str}[kind]) else None


def markdown(parameters: Iterable[Parameter]) -> str:
    """Return a Markdown table of the parameters, for documentation."""
    lines = ["| parameter | type | default | meaning |", "|---|---|---|---|"]
    for p in parameters:
        limits = f" Valid: {p.valid}." if p.valid.split(" ", 1)[1] != p.kind else ""
        fixed = " Cannot change while the node runs." if p.read_only else ""
        text = f"{p.description}{limits}{fixed}".replace("|", "\\|")
        lines.append(f"| `{p.name}` | {p.kind} | {_shown(p.default)} | {text} |")
    return "\n".join(lines) + "\n"


def _shown(value: Value) -> str:
    if isinstance(value, tuple):
        return f"`[{', '.join(str(entry) for entry in value)}]`" if value else "none"
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    return "`''`" if value == "" else f"`{value}`"


def declare(
    node: Any,
    parameters: Sequence[Parameter],
    on_change: Callable[[str, Value], None] | None = None,
) -> SimpleNamespace:
    """Declare the parameters on an rclpy node, with descriptions and ranges.

    Args:
        node: rclpy.node.Node.
        parameters: all parameters of the node; a value for any other is refused.
        on_change: called with name and checked value before a running node accepts it. It may raise
            ExecutionError to refuse the value. Values in the namespace are updated in any case.

    Returns:
        The values, one attribute per parameter (`Parameter.attribute`).

    Raises:
        ExecutionError: a value was set for an unknown parameter, or has the wrong type or is out of
            range.
    """
    from rclpy.parameter import Parameter as RosParameter

    # Refuse unknown parameters.
    overrides = {
        name: given.value for name, given in getattr(node, "_parameter_overrides", {}).items()
    }
    by_name = {p.name: p for p in parameters}
    for name in overrides:
        if name not in by_name and not name.startswith(_FOREIGN):
            near = suggestion(name, sorted(by_name), limit=None)
            raise ExecutionError(f"there is no parameter {name!r}{near}")

    # Declare each parameter with its checked value.
    values = SimpleNamespace()
    for p in parameters:
        value = p.check(overrides[p.name]) if overrides.get(p.name) is not None else p.default
        setattr(values, p.attribute, value)
        # rclpy cannot infer the type of an empty array from its value.
        initial = list(value) if isinstance(value, tuple) else value
        declared = getattr(RosParameter.Type, _KINDS[p.kind]) if initial == [] else initial
        node.declare_parameter(p.name, declared, _descriptor(p), ignore_override=True)

    def change(changes: Sequence[Any]) -> Any:
        from rcl_interfaces.msg import SetParametersResult

        known = [(by_name[c.name], c) for c in changes if c.name in by_name]
        try:
            checked = [(p, p.check(c.value)) for p, c in known]
            for p, value in checked:
                if on_change is not None:
                    on_change(p.name, value)
                setattr(values, p.attribute, value)
        except ExecutionError as error:
            return SetParametersResult(successful=False, reason=str(error))
        return SetParametersResult(successful=True)

    node.add_on_set_parameters_callback(change)
    return values


def _descriptor(p: Parameter) -> Any:
    from rcl_interfaces.msg import FloatingPointRange, IntegerRange, ParameterDescriptor

    descriptor = ParameterDescriptor(description=p.description, read_only=p.read_only)
    if p.choices is not None:
        descriptor.additional_constraints = p.valid
    bounded = p.minimum is not None or p.maximum is not None
    if bounded and p.kind == "double":
        low = -math.inf if p.minimum is None else float(p.minimum)
        high = math.inf if p.maximum is None else float(p.maximum)
        descriptor.floating_point_range = [
            FloatingPointRange(from_value=low, to_value=high, step=0.0)
        ]
    elif bounded and p.kind == "integer":
        low_i = -(2**63) if p.minimum is None else int(p.minimum)
        high_i = 2**63 - 1 if p.maximum is None else int(p.maximum)
        descriptor.integer_range = [IntegerRange(from_value=low_i, to_value=high_i, step=1)]
    elif bounded:
        descriptor.additional_constraints = f"each {p.valid}"
    return descriptor
