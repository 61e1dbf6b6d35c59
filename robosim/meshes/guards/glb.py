"""Guard for GLB (binary glTF 2.0): a 12-byte header, a JSON chunk, and a BIN chunk with arrays.

Only positions and indices of triangle primitives are kept. Accessors are checked against the binary
chunk, and nodes against cycles and unbounded instancing. Source: Khronos glTF 2.0 specification,
sections 3.6 (buffers), 3.5 (nodes), 4.4 (GLB layout).
"""

from __future__ import annotations

import json
import struct
from typing import Any

from robosim.errors import MeshError
from robosim.meshes.guards.guarded import Guarded

__all__ = ["guard"]

_JSON, _BIN = 0x4E4F534A, 0x004E4942
_COMPONENT_BYTES = {5120: 1, 5121: 1, 5122: 2, 5123: 2, 5125: 4, 5126: 4}
_TRIANGLES, _STRIP, _FAN = 4, 5, 6
_MAX_NODES = 100_000


def guard(data: bytes, path: str) -> Guarded:
    """Check the chunks and rebuild the file from geometry alone."""
    document, binary = _chunks(data, path)
    try:
        cleaned = _clean(document, binary, path)
    except (KeyError, IndexError, TypeError, AttributeError, ValueError) as e:
        if isinstance(e, MeshError):
            raise
        raise MeshError(f"GLB is malformed: {type(e).__name__}: {e}"[:300], file=path) from None
    text = json.dumps(cleaned).encode()
    text += b" " * (-len(text) % 4)
    binary += b"\0" * (-len(binary) % 4)
    total = 12 + 8 + len(text) + 8 + len(binary)
    return Guarded(
        struct.pack("<4sII", b"glTF", 2, total)
        + struct.pack("<II", len(text), _JSON)
        + text
        + struct.pack("<II", len(binary), _BIN)
        + binary
    )


def _chunks(data: bytes, path: str) -> tuple[Any, bytes]:
    """Return the parsed JSON chunk and the binary chunk."""
    if len(data) < 20 or data[:4] != b"glTF":
        raise MeshError("GLB does not begin with a glTF header", file=path)
    version, length = struct.unpack_from("<II", data, 4)
    if version != 2:
        raise MeshError(f"GLB version {version} is not supported; 2 is", file=path)
    if length != len(data):
        raise MeshError(
            f"GLB announces {length} bytes and has {len(data)}: truncated or damaged", file=path
        )
    chunks, at = [], 12
    while at + 8 <= len(data):
        size, kind = struct.unpack_from("<II", data, at)
        if at + 8 + size > len(data):
            raise MeshError(f"GLB chunk of {size} bytes runs past the end of the file", file=path)
        chunks.append((kind, data[at + 8 : at + 8 + size]))
        at += 8 + size
    if not chunks or chunks[0][0] != _JSON:
        raise MeshError("GLB does not begin with a JSON chunk", file=path)
    try:
        document = json.loads(chunks[0][1])
    except (ValueError, RecursionError) as e:
        raise MeshError(f"GLB's JSON chunk is malformed: {e}", file=path) from None
    if not isinstance(document, dict):
        raise MeshError("GLB's JSON chunk is not an object", file=path)
    return document, next((c for kind, c in chunks[1:] if kind == _BIN), b"")


def _clean(document: dict[str, Any], binary: bytes, path: str) -> dict[str, Any]:
    """Reduce the document to asset, scene, nodes, meshes and the accessors that the meshes use."""
    required = document.get("extensionsRequired", [])
    if required:
        raise MeshError(
            f"GLB requires extensions {required}, which are not supported; export it without",
            file=path,
        )
    if any("uri" in buffer for buffer in document.get("buffers", [])):
        raise MeshError("GLB refers to buffers outside the file; embed them", file=path)
    views = [
        {
            k: _natural(view, k, path)
            for k in ("byteOffset", "byteLength", "byteStride")
            if k in view
        }
        | {"buffer": 0}
        for view in document.get("bufferViews", [])
    ]
    for view in views:
        if view.get("byteOffset", 0) + view["byteLength"] > len(binary):
            raise MeshError("GLB buffer view runs past the end of its data", file=path)

    accessors: list[dict[str, Any]] = []

    def keep(index: int, kind: str, components: tuple[int, ...]) -> int:
        accessor = document["accessors"][_index(index, document["accessors"], path)]
        if "sparse" in accessor or "bufferView" not in accessor:
            raise MeshError("GLB has sparse or empty accessors, which are not supported", file=path)
        if accessor["type"] != kind or accessor["componentType"] not in components:
            raise MeshError(
                f"GLB accessor {index} has the wrong type for positions or indices", file=path
            )
        count, offset = _natural(accessor, "count", path), 0
        if "byteOffset" in accessor:
            offset = _natural(accessor, "byteOffset", path)
        view_index = _index(accessor["bufferView"], views, path)
        view, row = (
            views[view_index],
            _COMPONENT_BYTES[accessor["componentType"]] * (3 if kind == "VEC3" else 1),
        )
        stride = view.get("byteStride", row)
        if count < 1 or stride < row or offset + (count - 1) * stride + row > view["byteLength"]:
            raise MeshError(
                f"GLB accessor {index} of {count} items does not fit its buffer view", file=path
            )
        clean = {"bufferView": view_index, "byteOffset": offset, "count": count, "type": kind}
        accessors.append({**clean, "componentType": accessor["componentType"]})
        return len(accessors) - 1

    meshes = []
    for mesh in document.get("meshes", []):
        primitives = []
        for p in mesh["primitives"]:
            mode = p.get("mode", _TRIANGLES)
            if mode == _FAN:
                raise MeshError(
                    "GLB has triangle fans, which are not supported; export plain triangles",
                    file=path,
                )
            if mode not in (_TRIANGLES, _STRIP):
                continue  # points and lines
            clean = {
                "mode": mode,
                "attributes": {"POSITION": keep(p["attributes"]["POSITION"], "VEC3", (5126,))},
            }
            if "indices" in p:
                clean["indices"] = keep(p["indices"], "SCALAR", (5121, 5123, 5125))
            primitives.append(clean)
        meshes.append({"primitives": primitives})
    scenes = document.get("scenes") or [{"nodes": list(range(len(document.get("nodes", []))))}]
    scene = scenes[_index(document.get("scene", 0), scenes, path)]
    nodes = _nodes(document, scene.get("nodes", []), len(meshes), path)
    if not any(m["primitives"] for m in meshes):
        raise MeshError("GLB has no triangles", file=path)
    # A mesh without triangles (lines, points) would stop the parser: remove it from its node.
    for node in nodes:
        if "mesh" in node and not meshes[node["mesh"]]["primitives"]:
            del node["mesh"]
    return {
        "asset": {"version": "2.0"}, "scene": 0, "scenes": [{"nodes": scene.get("nodes", [])}],
        "nodes": nodes,
        "meshes": meshes, "accessors": accessors, "bufferViews": views,
        "buffers": [{"byteLength": len(binary)}],
    }  # fmt: skip


def _nodes(
    document: dict[str, Any], roots: list[int], n_meshes: int, path: str
) -> list[dict[str, Any]]:
    """Reduce nodes to children, transform and mesh.

    Each may have one parent, so cycles are excluded.
    """
    nodes = document.get("nodes", [])
    if len(nodes) > _MAX_NODES:
        raise MeshError(f"GLB has {len(nodes)} nodes; at most {_MAX_NODES} are read", file=path)
    seen: set[int] = set()
    pending = list(roots)
    while pending:
        i = _index(pending.pop(), nodes, path)
        if i in seen:
            raise MeshError(
                f"GLB node {i} hangs from more than one place; nodes must form a tree", file=path
            )
        seen.add(i)
        pending.extend(nodes[i].get("children", []))
    clean = []
    for node in nodes:
        if "mesh" in node:
            _index(node["mesh"], range(n_meshes), path)
        if "skin" in node:
            raise MeshError(
                "GLB has a skinned mesh, which is not supported; export it rigid", file=path
            )
        keys = ("children", "matrix", "translation", "rotation", "scale", "mesh")
        clean.append({k: node[k] for k in keys if k in node})
    return clean


def _natural(owner: dict[str, Any], key: str, path: str) -> int:
    value = owner[key]
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 2**31:
        raise MeshError(f"GLB {key} {value!r} is not a count", file=path)
    return value


def _index(value: Any, owner: Any, path: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < len(owner):
        raise MeshError(f"GLB refers to item {value!r} of {len(owner)}", file=path)
    return value
