"""Models as entries of a world file: plain data that passes all checks of the builder.

An entry holds the arguments of `robosim.model.rebuilt.rebuilt_model`. Parts of a model are mappings
of their fields, without fields that have their default. Meshes are stored once per entry and
referred to by number.
"""

from __future__ import annotations

import base64
from collections.abc import Callable
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robosim.geometry import Shape, TriangleMesh, shape_sizes
from robosim.model import Model
from robosim.model.parts import (
    Collider,
    EndEffector,
    Group,
    Joint,
    Link,
    Mimic,
    NamedState,
    Safety,
    Visual,
)
from robosim.model.rebuilt import model_arguments, rebuilt_model
from robosim.scene.objects import make_shape
from robosim.scene.save import encoded, shape_entry
from robosim.scene.yaml_nodes import Node

__all__ = ["model_entry", "model_from", "plain"]

_LISTS = ("warnings", "ignored")
_WORDS = {"null": None, "true": True, "false": False}


def model_entry(model: Model) -> dict[str, Any]:
    """Return everything that a model is made of, for `robosim.scene.save.flow`."""
    arguments = model_arguments(model)
    description = dict(arguments["description"])
    # Meshes are collected while records are made, and numbered in this order.
    meshes: list[TriangleMesh] = []

    def number(mesh: TriangleMesh) -> int:
        for i, known in enumerate(meshes):
            if known is mesh:
                return i
        meshes.append(mesh)
        return len(meshes) - 1

    def shape(value: Any) -> dict[str, Any]:
        return {"mesh": number(value)} if isinstance(value, TriangleMesh) else shape_entry(value)

    def record(part: Any) -> dict[str, Any]:
        """Return the fields that have no default, or differ from their default."""
        found: dict[str, Any] = {}
        for field in fields(part):
            value = getattr(part, field.name)
            default = field.default if field.default_factory is MISSING else field.default_factory()
            if default is not MISSING and np.array_equal(value, default):
                continue
            if isinstance(value, Mimic | Safety):
                found[field.name] = record(value)
            elif isinstance(value, TriangleMesh) and field.name == "exact":
                found[field.name] = number(value)
            elif isinstance(value, Shape | TriangleMesh):
                found[field.name] = shape(value)
            elif isinstance(value, Path):
                found[field.name] = str(value)
            elif isinstance(value, np.ndarray):
                found[field.name] = value.tolist()
            else:
                found[field.name] = value
        return found

    # Parts of the description: lists, mappings by name, and visuals by link.
    parts = ("links", "joints", "colliders", "named_states")
    content: dict[str, Any] = {key: [record(x) for x in description.pop(key)] for key in parts}
    named = ("groups", "end_effectors")
    content |= {key: [record(x) for x in description.pop(key).values()] for key in named}
    visuals = description.pop("visuals")
    content["visuals"] = {link: [record(x) for x in looks] for link, looks in visuals.items()}
    return {
        "name": arguments["name"],
        "meshes": [
            {
                "vertices": encoded(mesh.vertices),
                "faces": encoded(np.asarray(mesh.faces, dtype=np.float64)),
                "solid": bool(mesh.is_solid),
            }
            for mesh in meshes
        ],
        "description": {**content, **description},
        "numbers": {key: np.asarray(x).tolist() for key, x in arguments["numbers"].items()},
        "collision_pairs": np.asarray(arguments["collision_pairs"]).tolist(),
        "disabled_collisions": [list(pair) for pair in arguments["disabled_collisions"]],
    }


def model_from(node: Node) -> Model:
    """Make the model of an entry.

    Raises:
        SceneError: this is not a valid entry, with file:line.
        ModelError: the entry does not make a valid model.
    """
    # Meshes of the entry, and readers of shapes and fields.
    keys = ("name", "meshes", "description", "numbers", "collision_pairs", "disabled_collisions")
    entry = node.mapping("model", keys=keys, required=keys)
    meshes = [_mesh(x) for x in entry["meshes"].sequence("meshes")]

    def shape(entry: Node, what: str) -> Any:
        (kind, *others) = entry.mapping(what)
        if others:
            raise entry.error(f"{what}: expected one shape, found {', '.join((kind, *others))}")
        body = entry.value[kind]
        if kind == "mesh":
            return mesh(body, what)
        if kind not in shape_sizes():
            raise entry.error(
                f"{what}: expected one of {', '.join(shape_sizes())} or mesh, found {kind!r}"
            )
        return make_shape(what, kind, **plain(body))

    def mesh(entry: Node, what: str) -> TriangleMesh:
        number = entry.integer(what)
        if not 0 <= number < len(meshes):
            raise entry.error(f"{what}: there is no mesh {number}; there are {len(meshes)}")
        return meshes[number]

    read: dict[str, Callable[[Node, str], Any]] = {
        "shape": shape,
        "exact": mesh,
        "mesh": lambda x, what: Path(x.text(what)),
        "mimic": lambda x, what: record(Mimic, x, what),
        "safety": lambda x, what: record(Safety, x, what),
    }

    def record(kind: type[Any], entry: Node, what: str) -> Any:
        known = [field.name for field in fields(kind)]
        required = [
            f.name for f in fields(kind) if f.default is MISSING and f.default_factory is MISSING
        ]
        values = entry.mapping(what, keys=known, required=required)
        types = {field.name: str(field.type) for field in fields(kind)}

        def read_field(name: str, x: Node) -> Any:
            if x.is_null():
                return None
            if name in read:
                return read[name](x, f"{what}, {name}")
            if "FloatArray" in types[name]:
                return _array(x, f"{what}, {name}")
            return _typed(types[name], plain(x))

        try:
            return kind(**{name: read_field(name, x) for name, x in values.items()})
        except (TypeError, ValueError) as error:
            raise entry.error(f"{what}: {error}") from error

    # Parts of the description.
    description = dict(entry["description"].mapping("description"))

    def taken(key: str) -> Node:
        if key not in description:
            raise entry["description"].error(f"description: {key!r} is missing")
        return description.pop(key)

    def records(key: str, kind: type[Any]) -> tuple[Any, ...]:
        return tuple(record(kind, x, key) for x in taken(key).sequence(key))

    content: dict[str, Any] = {
        "links": records("links", Link),
        "joints": records("joints", Joint),
        "colliders": records("colliders", Collider),
        "named_states": records("named_states", NamedState),
        "groups": {x.name: x for x in records("groups", Group)},
        "end_effectors": {x.name: x for x in records("end_effectors", EndEffector)},
        "visuals": {
            link: tuple(record(Visual, x, "visual") for x in looks.sequence("visuals"))
            for link, looks in taken("visuals").mapping("visuals").items()
        },
    }
    content |= {key: _typed("tuple" * (key in _LISTS), plain(x)) for key, x in description.items()}
    # Numbers and pairs, then the model.
    numbers = {
        key: _array(x, key) if isinstance(x.value, list) else x.number(key)
        for key, x in entry["numbers"].mapping("numbers").items()
    }
    pairs = plain(entry["collision_pairs"])
    try:
        return rebuilt_model(
            entry["name"].text("name"),
            content,
            numbers,
            np.array(pairs, dtype=np.intc).reshape(-1, 2),
            [tuple(pair) for pair in plain(entry["disabled_collisions"])],
        )
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        raise node.error(f"model: {error}") from error


def _typed(kind: str, value: Any) -> Any:
    """Convert a value to the type of a field: YAML has lists for tuples, and whole numbers without
    a point."""
    if isinstance(value, list) and kind.startswith("tuple"):
        return tuple(_typed("float" * ("float" in kind), x) for x in value)
    if isinstance(value, dict) and "float" in kind:
        return {key: _typed("float", x) for key, x in value.items()}
    return float(value) if type(value) is int and "float" in kind else value


def plain(node: Node) -> Any:
    """Convert a node to text, numbers, None, lists and dicts.

    Quoted text stays text, even if it looks like a number.
    """
    if isinstance(node.value, dict):
        return {key: plain(x) for key, x in node.value.items()}
    if isinstance(node.value, list):
        return [plain(x) for x in node.value]
    if not node.plain:
        return node.value
    if node.value in _WORDS:
        return _WORDS[node.value]
    try:
        return float(node.value) if not node.value.lstrip("-").isdigit() else int(node.value)
    except ValueError:
        return node.value


def _array(node: Node, what: str) -> NDArray[np.float64]:
    """Return an array of numbers, which may be infinite."""
    try:
        return np.array(plain(node), dtype=np.float64)
    except (TypeError, ValueError):
        raise node.error(f"{what}: expected an array of numbers, found {node.kind}") from None


def _mesh(node: Node) -> TriangleMesh:
    entry = node.mapping(
        "mesh", keys=("vertices", "faces", "solid"), required=("vertices", "faces", "solid")
    )
    vertices, faces = (_rows(entry[key], key) for key in ("vertices", "faces"))
    return TriangleMesh(vertices, faces.astype(np.int64), solid=entry["solid"].boolean("solid"))


def _rows(node: Node, what: str) -> NDArray[np.float64]:
    """Decode rows of three doubles from base64."""
    try:
        data = base64.b64decode(node.text(what), validate=True)
        return np.frombuffer(data, dtype="<f8").reshape(-1, 3)
    except ValueError as error:
        raise node.error(f"{what}: not rows of three doubles in base64: {error}") from error
