"""Reading of launch files without ROS's launch, by stand-ins of its API that record calls.

This can check every name in a launch file (executables, parameters, files, arguments) and every
value. It cannot check that launch itself accepts the files. If launch is installed,
test_launch_files.py also loads them with it.
"""

from __future__ import annotations

import runpy
import sys
import types
from collections.abc import ItemsView, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml

PACKAGE = Path(__file__).resolve().parent.parent

# Module, name, and accepted keyword arguments.
API = {
    "launch": {"LaunchDescription": "initial_entities"},
    "launch.actions": {
        "DeclareLaunchArgument": "name default_value description choices condition",
        "IncludeLaunchDescription": "launch_arguments condition",
    },
    "launch.conditions": {"IfCondition": ""},
    "launch.launch_description_sources": {"PythonLaunchDescriptionSource": ""},
    "launch.substitutions": {"LaunchConfiguration": "", "PathJoinSubstitution": ""},
    "launch_ros.actions": {
        "Node": (
            "package executable name namespace parameters remappings arguments output condition"
            " emulate_tty"
        )
    },
    "launch_ros.parameter_descriptions": {"ParameterValue": "value_type"},
    "launch_ros.substitutions": {"FindPackageShare": ""},
}


@dataclass
class Call:
    """A recorded call of the API."""

    kind: str
    args: tuple[Any, ...]
    options: dict[str, Any]

    def walk(self) -> Iterator[Call]:
        """Yield this call and all calls within, in the order of the text."""
        yield self
        for thing in (*self.args, *self.options.values()):
            yield from _calls_in(thing)


def _calls_in(thing: Any) -> Iterator[Call]:
    if isinstance(thing, Call):
        yield from thing.walk()
    elif isinstance(thing, dict):
        yield from _calls_in([*thing.keys(), *thing.values()])
    elif isinstance(thing, (list, tuple, ItemsView)):
        for part in thing:
            yield from _calls_in(part)


@dataclass
class Started:
    """A node as launch would start it."""

    package: str
    executable: str
    name: str | None
    parameters: dict[str, Any] = field(default_factory=dict)
    files: list[Path] = field(default_factory=list)
    remappings: list[tuple[str, str]] = field(default_factory=list)
    arguments: list[str] = field(default_factory=list)


@dataclass
class LaunchFile:
    """A launch file: its arguments by name, and the nodes that it starts for given values."""

    path: Path
    description: Call

    def calls(self, kind: str) -> list[Call]:
        return [call for call in self.description.walk() if call.kind == kind]

    @property
    def arguments(self) -> dict[str, dict[str, Any]]:
        return {call.args[0]: call.options for call in self.calls("DeclareLaunchArgument")}

    def starts(self, **given: str) -> list[Started]:
        """Nodes of this file and of the included files of this package.

        Arguments have their defaults unless given.
        """
        values = dict(given)
        for name, options in self.arguments.items():  # a default may name an argument before it
            value = values.setdefault(name, _resolve(options["default_value"], values))
            assert value in options.get("choices", [value]), (
                f"{self.path.name}: {name} is {value!r}"
            )
        nodes = []
        for call in self.description.walk():
            if call.kind == "Node" and _holds(call.options.get("condition"), values):
                nodes.append(_started(call, values))
            elif call.kind == "IncludeLaunchDescription" and _holds(
                call.options.get("condition"), values
            ):
                nodes += _included(call, values)
        return nodes


def _included(call: Call, values: dict[str, str]) -> list[Started]:
    """Nodes of an included file, which sees the values of the including file, as in launch."""
    path = Path(_resolve(call.args[0].args[0], values))
    if not path.is_relative_to(PACKAGE):  # a file of another package, which is not available
        return []
    file = read_launch_file(path)
    passed = {name: _resolve(value, values) for name, value in call.options["launch_arguments"]}
    unknown = set(passed) - set(file.arguments)
    assert not unknown, f"{path.name} has no argument {', '.join(sorted(unknown))}"
    return file.starts(**values | passed)


def _holds(condition: Call | None, values: dict[str, str]) -> bool:
    if condition is None:
        return True
    text = _resolve(condition.args[0], values)
    assert text in ("true", "false"), f"IfCondition of {text!r}"
    return bool(text == "true")


def _resolve(thing: Any, values: dict[str, str]) -> Any:
    """Value of a substitution."""
    if isinstance(thing, list):
        return "".join(_resolve(part, values) for part in thing)
    if not isinstance(thing, Call):
        return thing
    if thing.kind == "LaunchConfiguration":
        assert thing.args[0] in values, (
            f"launch argument {thing.args[0]!r} is used and not declared"
        )
        return values[thing.args[0]]
    if thing.kind == "PathJoinSubstitution":
        return str(Path(*(_resolve(part, values) for part in thing.args[0])))
    if thing.kind == "FindPackageShare":
        return str(PACKAGE) if thing.args[0] == PACKAGE.name else f"/share/{thing.args[0]}"
    if thing.kind == "ParameterValue":
        text = _resolve(thing.args[0], values)
        return (
            thing.options["value_type"](text)
            if "value_type" in thing.options
            else yaml.safe_load(text)
        )
    raise AssertionError(f"{thing.kind} cannot be resolved")


def _started(call: Call, values: dict[str, str]) -> Started:
    options = call.options
    name = _resolve(options["name"], values) if "name" in options else None
    node = Started(
        _resolve(options["package"], values), _resolve(options["executable"], values), name
    )
    for given in options.get("parameters", []):
        if isinstance(given, dict):
            for key, value in given.items():
                resolved = _resolve(value, values)
                # launch parses the text of a bare substitution as YAML, and has no value for an
                # empty one.
                if isinstance(value, Call) and value.kind != "ParameterValue":
                    assert resolved != "", (
                        f"{key}: an empty text needs ParameterValue(..., value_type=str)"
                    )
                    resolved = yaml.safe_load(resolved)
                node.parameters[key] = resolved
        else:
            file = Path(_resolve(given, values))
            node.files.append(file)
            node.parameters |= parameters_of(file, name or node.executable)
    node.remappings = [
        (_resolve(a, values), _resolve(b, values)) for a, b in options.get("remappings", [])
    ]
    node.arguments = [_resolve(a, values) for a in options.get("arguments", [])]
    return node


def parameters_of(file: Path, name: str) -> dict[str, Any]:
    """Parameters of a file for a node of this name, with groups flattened to dots."""
    sections = yaml.safe_load(file.read_text(encoding="utf-8"))
    found: dict[str, Any] = {}
    for section in ("/**", name, f"/**/{name}"):
        if section in sections:
            found |= _flat(sections[section]["ros__parameters"])
    return found


def _flat(group: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for key, value in group.items():
        flat |= (
            _flat(value, f"{prefix}{key}.")
            if isinstance(value, dict)
            else {f"{prefix}{key}": value}
        )
    return flat


def _stand_in(kind: str, keywords: set[str]) -> Any:
    def make(*args: Any, **options: Any) -> Call:
        unknown = set(options) - keywords
        assert not unknown, f"{kind} takes no {', '.join(sorted(unknown))}"
        return Call(kind, args, options)

    return make


def read_launch_file(path: Path) -> LaunchFile:
    """Run a launch file against the stand-ins."""
    modules = {}
    for name, classes in API.items():
        modules[name] = types.ModuleType(name)
        for kind, keywords in classes.items():
            setattr(modules[name], kind, _stand_in(kind, set(keywords.split())))
    modules["launch_ros"] = types.ModuleType("launch_ros")
    with pytest.MonkeyPatch.context() as patch:
        for name, module in modules.items():
            patch.setitem(sys.modules, name, module)
        description = runpy.run_path(str(path))["generate_launch_description"]()
    assert isinstance(description, Call)
    assert description.kind == "LaunchDescription"
    return LaunchFile(path, description)


@pytest.fixture(scope="session")
def launch_files() -> dict[str, LaunchFile]:
    """All launch files of this package, read, by file name."""
    return {
        path.name: read_launch_file(path)
        for path in sorted((PACKAGE / "launch").glob("*.launch.py"))
    }
