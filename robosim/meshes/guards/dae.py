"""Guard for DAE (COLLADA 1.4/1.5): XML with libraries of geometries, instanced by a tree of nodes.

All content except geometry and nodes is removed (materials, images, animations). Each list of
numbers is then checked against its declared count, so that a reader that stops at the first invalid
character cannot drop triangles unnoticed.
"""

from __future__ import annotations

import math
import re
from typing import Any

from lxml import etree

from robosim.errors import MeshError
from robosim.files import parse_xml
from robosim.meshes.guards.guarded import MAX_TEXT_BYTES, Guarded

__all__ = ["guard"]

_KEEP = {"asset", "library_geometries", "library_nodes", "library_visual_scenes", "scene"}
_DROP_ANYWHERE = (
    "extra",
    "bind_material",
    "instance_light",
    "instance_camera",
    "instance_physics_scene",
)
_INTEGERS = re.compile(r"[\s0-9]*\Z")
_FLOATS = re.compile(r"[\s0-9.eE+\-]*\Z")
_NAMESPACE = "http://www.collada.org/2005/11/COLLADASchema"
_MAX_INSTANCES = 100_000


def guard(data: bytes, path: str) -> Guarded:
    """Reduce to geometry, check counts and the depth of instancing, and read the unit."""
    if len(data) > MAX_TEXT_BYTES:
        raise MeshError(f"DAE of {len(data)} bytes exceeds {MAX_TEXT_BYTES}", file=path)
    root = parse_xml(data, file=path, error=MeshError, long_texts=True, strict=False)
    if _tag(root) != "COLLADA":
        raise MeshError(
            f"DAE begins with <{_tag(root)}>, not <COLLADA>", file=path, line=root.sourceline
        )
    for child in list(root):
        if _tag(child) not in _KEEP:
            root.remove(child)
    for element in [e for e in root.iter() if _tag(e) in _DROP_ANYWHERE]:
        element.getparent().remove(element)
    _name_space(root)
    _name_scene(root, path)
    _check_arrays(root, path)
    _check_instances(root, path)
    return Guarded(etree.tostring(root), unit=_unit(root, path))


def _name_space(root: Any) -> None:
    """Move all elements to COLLADA's namespace if the file has none, or another."""
    space = str(root.tag).rpartition("}")[0][1:]
    if not space.startswith("http://www.collada.org/"):
        for element in root.iter():
            element.tag = f"{{{_NAMESPACE}}}{_tag(element)}"


def _name_scene(root: Any, path: str) -> None:
    """Check that <scene> names the visual scene. If it is missing, name the only one."""
    scenes = [e for e in root.iter() if _tag(e) == "visual_scene"]
    named = [e for e in root.iter() if _tag(e) == "instance_visual_scene"]
    if named:
        known = {e.get("id") for e in scenes}
        if str(named[0].get("url"))[1:] not in known:
            message = (
                f"DAE <scene> names {named[0].get('url')!r}, which is no visual scene of the file"
            )
            raise MeshError(message, file=path, line=named[0].sourceline)
        return
    if len(scenes) != 1:
        raise MeshError(
            f"DAE has no <scene>, and {len(scenes)} visual scenes; it must have one", file=path
        )
    space = str(root.tag).rpartition("}")[0] + "}"
    for old in [e for e in root if _tag(e) == "scene"]:
        root.remove(old)
    scenes[0].set("id", scenes[0].get("id") or "only_scene")
    scene = etree.SubElement(root, f"{space}scene")
    etree.SubElement(scene, f"{space}instance_visual_scene").set("url", f"#{scenes[0].get('id')}")


def _tag(element: Any) -> str:
    return str(element.tag).rpartition("}")[2]


def _unit(root: Any, path: str) -> float:
    """Length of the file's unit [m]; 1 if the file declares none."""
    asset = next((e for e in root if _tag(e) == "asset"), ())
    unit = next((e for e in asset if _tag(e) == "unit"), None)
    if unit is None or unit.get("meter") is None:
        return 1.0
    try:
        meter = float(unit.get("meter"))
    except ValueError:
        meter = math.nan
    if not (math.isfinite(meter) and meter > 0):
        message = f"DAE unit of {unit.get('meter')!r} meters is not a positive number"
        raise MeshError(message, file=path, line=unit.sourceline)
    return meter


def _check_arrays(root: Any, path: str) -> None:
    """Check each list of numbers, and reduce each mesh to positions and their indices."""
    for element in root.iter():
        tag = _tag(element)
        if tag in ("p", "vcount") and not _INTEGERS.match(element.text or ""):
            message = f"DAE <{tag}> holds something that is not an index"
            raise MeshError(message, file=path, line=element.sourceline)
        if tag in ("trifans", "tristrips"):
            raise MeshError(
                f"DAE <{tag}> is not supported; export triangles",
                file=path,
                line=element.sourceline,
            )
    for mesh in [e for e in root.iter() if _tag(e) == "mesh"]:
        positions = set()
        for child in list(mesh):
            if _tag(child) in ("triangles", "polylist"):
                _reduce_primitive(child, path)
            elif _tag(child) == "vertices":
                for unused in [i for i in child if i.get("semantic") != "POSITION"]:
                    child.remove(unused)
                positions |= {str(i.get("source"))[1:] for i in child}
            elif _tag(child) in ("lines", "linestrips"):
                mesh.remove(child)
        for child in [c for c in mesh if _tag(c) == "source" and c.get("id") not in positions]:
            mesh.remove(child)
    # The rest are positions. Normals, which some exporters write as nan, are removed.
    for element in [e for e in root.iter() if _tag(e) == "float_array"]:
        if not _FLOATS.match(element.text or ""):
            message = "DAE float_array holds something that is not a finite number"
            raise MeshError(message, file=path, line=element.sourceline)
        _check_count(element, len((element.text or "").split()), path)


def _reduce_primitive(element: Any, path: str) -> None:
    """Check the number of indices in <p>, and keep the indices of vertices.

    The number must be the declared corners times the inputs' stride.
    """
    tag = _tag(element)
    lists = {
        _tag(child): (child.text or "").split()
        for child in element
        if _tag(child) in ("p", "vcount")
    }
    inputs = [child for child in element if _tag(child) == "input"]
    vertex = [i for i in inputs if i.get("semantic") == "VERTEX"]
    try:
        stride = 1 + max(int(i.get("offset")) for i in inputs)
        count = int(element.get("count"))
        corners = 3 * count if tag == "triangles" else sum(map(int, lists.get("vcount", [])))
        (offset,) = (int(i.get("offset")) for i in vertex)
    except (TypeError, ValueError):
        message = f"DAE <{tag}> lacks a count, or one VERTEX input with an offset"
        raise MeshError(message, file=path, line=element.sourceline) from None
    if tag == "polylist":
        _check_count(element, len(lists.get("vcount", [])), path)
    indices = lists.get("p", [])
    if len(indices) != corners * stride:
        message = f"DAE <{tag}> announces {corners * stride} indices and has {len(indices)}"
        raise MeshError(message, file=path, line=element.sourceline)
    for unused in [i for i in inputs if i is not vertex[0]]:
        element.remove(unused)
    vertex[0].set("offset", "0")
    for child in element:
        if _tag(child) == "p":
            child.text = " ".join(indices[offset::stride])


def _check_count(element: Any, found: int, path: str) -> None:
    announced = element.get("count", "")
    if not announced.strip().isdecimal() or int(announced) != found:
        message = f"DAE <{_tag(element)}> announces {announced!r} items and has {found}"
        raise MeshError(message, file=path, line=element.sourceline)


def _check_instances(root: Any, path: str) -> None:
    """Count the nodes that instancing expands to.

    Cycles and explosive growth are refused.
    """
    nodes = {e.get("id"): e for e in root.iter() if _tag(e) == "node" and e.get("id")}
    totals: dict[str, int] = {}

    # Number of nodes and instances below an element.
    def expanded(element: Any, trail: tuple[str, ...]) -> int:
        total = 1
        for child in element:
            tag = _tag(child)
            if tag == "node":
                total += expanded(child, trail)
            elif tag == "instance_controller":
                raise MeshError(
                    "DAE has a skinned mesh, which is not supported; export it rigid",
                    file=path,
                    line=child.sourceline,
                )
            elif tag in ("instance_geometry", "instance_node"):
                url = child.get("url", "")
                if not url.startswith("#"):
                    raise MeshError(
                        f"DAE instance {url!r} is not in this file",
                        file=path,
                        line=child.sourceline,
                    )
                total += 1
                if tag == "instance_node":
                    total += of(url[1:], child, trail)
            if total > _MAX_INSTANCES:
                raise MeshError(
                    f"DAE expands to more than {_MAX_INSTANCES} instances",
                    file=path,
                    line=child.sourceline,
                )
        return total

    # Number of nodes and instances of a named node, cached, with a check for cycles.
    def of(name: str, instance: Any, trail: tuple[str, ...]) -> int:
        if name in trail or len(trail) > 50:
            raise MeshError(
                f"DAE node {name!r} instances itself, or too deep",
                file=path,
                line=instance.sourceline,
            )
        if name not in nodes:
            raise MeshError(
                f"DAE instance of an unknown node {name!r}", file=path, line=instance.sourceline
            )
        if name not in totals:
            totals[name] = expanded(nodes[name], (*trail, name))
        return totals[name]

    for scene in root.iter():
        if _tag(scene) == "visual_scene":
            expanded(scene, ())
