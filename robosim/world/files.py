"""World files: YAML, written by hand or by `World.save`.

    format: robosim-world
    version: 1
    name: cell
    scene:                   # optional: the entries of a scene file, or the name of one
      objects:
        - {name: floor, half_space: {}}
    parts:
      - {name: left, robot: ur5, q: ready, pose: {xyz: [0, 0.5, 0]}}
      - {name: hand, robot: gripper_2f, on: left/tool0}
      - name: crate
        body: {box: {size: [0.1, 0.1, 0.1]}}
        mass: 0.5
        pose: {xyz: [0.4, 1.2, 0.05]}
    materials:               # optional
      - {of: crate, friction: 0.7}
      - {of: [crate, floor], friction: 0.4}
    motors: {left/elbow_joint: {position_gain: 2000, velocity_gain: 100}}
    closures:                # or point: with at_a, at_b, axes; or equality: with of, coefficients
      - {weld: [left/tool0, crate]}

A part has one of these keys:

- `robot`: the name of a bundled robot, or the path of a file relative to the folder of the world
  file, with an optional `base` (fixed, floating, described)
- `body`: a shape as in scene files, with its `mass`
- `model`: the number of one of `models`, which hold everything that a model is made of; `save`
  writes these, to the bit

The first part may be without a name. `pose` is {xyz, rpy | quaternion} or a matrix (4, 4). `q` is
positions by name, the name of a state, or a list. Lengths are in m, angles in rad. Unknown keys,
formats and versions are refused by name.
"""

from __future__ import annotations

from dataclasses import fields
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from robosim.errors import RobosimError, SceneError
from robosim.geometry import PointCloud
from robosim.model import Model
from robosim.model.composition import ROOT
from robosim.scene import Scene
from robosim.scene.files import check_format, read_part, read_pose, scene_from
from robosim.scene.save import flow, scene_lines, text, write_lines
from robosim.scene.yaml_nodes import Node, read_yaml
from robosim.urdf import load_robot
from robosim.world.closure import Closure, JointEquality, PointClosure, Weld
from robosim.world.material import Material
from robosim.world.model_entries import model_entry, model_from, plain
from robosim.world.motor import Motor

if TYPE_CHECKING:
    from robosim.world.world import World

__all__ = ["read_world", "write_world"]

FORMAT, VERSION = "robosim-world", 1


def write_world(world: World, path: str | PathLike[str]) -> None:
    """Write a world file. See `World.save`."""
    models: list[Model] = []
    parts = []
    for part, start in zip(world._parts, world._starts, strict=True):
        number = next((i for i, known in enumerate(models) if known is part.model), len(models))
        if number == len(models):
            models.append(part.model)
        entry: dict[str, Any] = {"name": part.name} if part.name else {}
        entry |= {"model": number, "q": start.tolist()}
        entry |= {} if part.parent == ROOT else {"on": part.parent}
        entry |= {} if np.array_equal(part.X_PB, np.eye(4)) else {"pose": part.X_PB.tolist()}
        parts.append(entry)
    lines = [f"format: {FORMAT}", f"version: {VERSION}", f"name: {text(world.name)}", "scene:"]
    lines += [f"  {line}" for line in scene_lines(world.scene, Path(path).parent)]
    sections: dict[str, list[Any]] = {
        "models": [model_entry(model) for model in models],
        "parts": parts,
        "materials": [{"of": of, **_changed(material)} for of, material in world.materials.items()],
        "closures": [_closure_entry(closure) for closure in world.closures],
    }
    for name, entries in sections.items():
        lines += [f"{name}:", *(f"  - {flow(entry)}" for entry in entries)] if entries else []
    if world.motors:
        lines.append("motors:")
        lines += [
            f"  {text(name)}: {flow(_changed(motor))}" for name, motor in world.motors.items()
        ]
    write_lines(path, lines, f"world {world.name!r}")


def _changed(value: Material | Motor) -> dict[str, Any]:
    """Return the fields that differ from their default."""
    return {
        f.name: getattr(value, f.name) for f in fields(value) if getattr(value, f.name) != f.default
    }


def _closure_entry(closure: Closure) -> dict[str, Any]:
    if isinstance(closure, JointEquality):
        return {
            "equality": closure.joint,
            "of": closure.of,
            "coefficients": list(closure.coefficients),
        }
    ends = {"at_a": np.asarray(closure.at_a).tolist(), "at_b": np.asarray(closure.at_b).tolist()}
    if isinstance(closure, Weld):
        return {"weld": [closure.a, closure.b], **ends}
    return {"point": [closure.a, closure.b], **ends, "axes": closure.axes}


def read_world(path: str | PathLike[str]) -> World:
    """Read a world file. See `World.load`."""
    from robosim.world.world import World

    root, folder = read_yaml(path), Path(path).parent
    check_format(root, "world", FORMAT, VERSION)
    known = (
        "format",
        "version",
        "name",
        "scene",
        "models",
        "parts",
        "materials",
        "motors",
        "closures",
    )
    top = root.mapping("world", keys=known)
    name = top["name"].text("name") if "name" in top else Path(path).stem
    models = [_located(x, model_from, x) for x in _entries(top, "models")]
    world = World(scene=_scene(top["scene"], folder) if "scene" in top else None, name=name)
    for node in _entries(top, "parts"):
        _located(node, _add_part, world, node, models, folder)
    for node in _entries(top, "materials"):
        entry = node.mapping(
            "material", keys=("of", *(f.name for f in fields(Material))), required=("of",)
        )
        of = entry["of"]
        is_pair = isinstance(of.value, list)
        names: Any = tuple(x.text("of") for x in of.sequence("of", 2)) if is_pair else of.text("of")
        values = {key: x.number(key) for key, x in entry.items() if key != "of"}
        world.materials[names] = _located(node, Material, **values)
    for joint, node in (top["motors"].mapping("motors") if "motors" in top else {}).items():
        entry = node.mapping(f"motor {joint!r}", keys=[f.name for f in fields(Motor)])
        world.motors[joint] = Motor(
            **{key: x.number(key) for key, x in entry.items() if not x.is_null()}
        )
    for node in _entries(top, "closures"):
        world.closures.append(_located(node, _closure, node))
    return world


def _entries(top: dict[str, Node], name: str) -> list[Node]:
    return top[name].sequence(name) if name in top else []


def _located(node: Node, make: Any, *arguments: Any, **named: Any) -> Any:
    """Return the result of `make`; an error without a location gets that of the node."""
    try:
        return make(*arguments, **named)
    except RobosimError as error:
        if isinstance(error, SceneError) and error.file is not None:
            raise
        raise SceneError(str(error), file=node.file, line=node.line) from error


def _scene(node: Node, folder: Path) -> Scene:
    if isinstance(node.value, dict):
        return scene_from(node, "scene", folder)
    scene: Scene = _located(node, Scene.load, folder / node.text("scene"))
    return scene


def _add_part(world: World, node: Node, models: list[Model], folder: Path) -> None:
    own = ("name", "robot", "base", "body", "mass", "model", "on", "pose", "q")
    entry = node.mapping("part", keys=own)
    kinds = [key for key in ("robot", "body", "model") if key in entry]
    if len(kinds) != 1:
        raise node.error(
            f"part: expected one of robot, body and model, found {', '.join(kinds) or 'none'}"
        )
    for key, kind in ("base", "robot"), ("mass", "body"):
        if key in entry and kinds != [kind]:
            raise entry[key].error(f"part: {key!r} is of a {kind}")
    name = entry["name"].text("name") if "name" in entry else ""
    if not name and (world._parts or kinds == ["body"]):
        raise node.error("part: 'name' is missing; a first robot alone may be without a name")
    placed: dict[str, Any] = {"pose": _pose(entry["pose"])} if "pose" in entry else {}
    if kinds == ["body"]:
        if {"on", "q"} & entry.keys():
            raise node.error(f"part {name!r}: a body is free; it has no 'on' and no 'q'")
        what = f"part {name!r}, body"
        (shape, X), *others = read_part(entry["body"], what, name, folder)
        if others or isinstance(shape, PointCloud):
            raise entry["body"].error(
                f"{what}: it must be one shape, or a mesh that is kept as it is"
            )
        if X is not None:
            raise entry["body"].error(f"{what}: it has no pose; the part has one")
        mass = entry["mass"].number("mass") if "mass" in entry else 1.0
        world.add_body(name, shape, mass=mass, **placed)
        return
    model = _robot(entry, folder) if kinds == ["robot"] else _numbered(entry["model"], models)
    q = plain(entry["q"]) if "q" in entry else None
    if name:
        on = entry["on"].text("on") if "on" in entry else None
        world.add(model, name, on=on, q=q, **placed)
    else:
        if {"on", "pose"} & entry.keys():
            raise node.error("part: without a name it has no 'on' and no 'pose'")
        world._begin(model, q)


def _numbered(node: Node, models: list[Model]) -> Model:
    number = node.integer("model")
    if not 0 <= number < len(models):
        raise node.error(f"there is no model {number}; there are {len(models)}, from 0 on")
    return models[number]


def _robot(entry: dict[str, Node], folder: Path) -> Model:
    called = entry["robot"].text("robot")
    beside = folder / called
    options: dict[str, Any] = {"base": entry["base"].text("base")} if "base" in entry else {}
    return load_robot(beside if beside.exists() else called, **options)


def _pose(node: Node) -> Any:
    return plain(node) if isinstance(node.value, list) else read_pose(node, "pose")


def _closure(node: Node) -> Closure:
    entry = node.mapping("closure")
    kinds = [key for key in ("point", "weld", "equality") if key in entry]
    if len(kinds) != 1:
        raise node.error(
            f"closure: expected one of point, weld and equality, found {', '.join(kinds) or 'none'}"
        )
    (kind,) = kinds
    if kind == "equality":
        entry = node.mapping("equality", keys=("equality", "of", "coefficients"))
        of = entry["of"].text("of") if "of" in entry and not entry["of"].is_null() else None
        joint = entry["equality"].text("equality")
        if "coefficients" not in entry:
            return JointEquality(joint, of)
        return JointEquality(joint, of, tuple(entry["coefficients"].numbers("coefficients")))
    keys = (kind, "at_a", "at_b", *(("axes",) if kind == "point" else ()))
    entry = node.mapping(kind, keys=keys)
    a, b = (x.text(kind) for x in entry[kind].sequence(kind, 2))
    ends = {key: plain(entry[key]) for key in ("at_a", "at_b") if key in entry}
    if kind == "weld":
        return Weld(a, b, **ends)
    return PointClosure(
        a, b, **ends, **({"axes": entry["axes"].text("axes")} if "axes" in entry else {})
    )
