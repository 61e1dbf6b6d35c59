"""Malformed and hostile mesh files raise a MeshError with file and reason, in time.

Memory claimed in a header is not allocated.
"""

from __future__ import annotations

import json
import struct
import tracemalloc

import numpy as np
import pytest

from robosim.errors import MeshError
from robosim.meshes import convex_hull, load_mesh

FLOATS = (0, 0, 0, 1, 0, 0, 0, 1, 0)
TRIANGLE = struct.pack("<12fH", 0, 0, 1, *FLOATS, 0)
TEXT_STL = (
    "solid s\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\n"
    "endloop\nendfacet\nendsolid s\n"
)
PLY = (
    "ply\nformat ascii 1.0\n"
    "element vertex 3\nproperty float x\nproperty float y\nproperty float z\n"
    "element face 1\nproperty list uchar int vertex_indices\nend_header\n"
    "0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n"
)
POSITIONS = struct.pack("<9f", *FLOATS)


def stl(count: int, *records: bytes) -> bytes:
    return bytes(80) + struct.pack("<I", count) + b"".join(records)


def glb(binary: bytes = POSITIONS, **changes) -> bytes:
    document = {
        "asset": {"version": "2.0"},
        "scene": 0,
        "scenes": [{"nodes": [0]}],
        "nodes": [{"mesh": 0}],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}}]}],
        "accessors": [{"bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3"}],
        "bufferViews": [{"buffer": 0, "byteLength": len(binary)}],
        "buffers": [{"byteLength": len(binary)}],
    } | changes
    text = json.dumps(document).encode()
    text += b" " * (-len(text) % 4)
    length = 28 + len(text) + len(binary)
    chunks = (
        struct.pack("<II", len(text), 0x4E4F534A)
        + text
        + struct.pack("<II", len(binary), 0x004E4942)
        + binary
    )
    return struct.pack("<4sII", b"glTF", 2, length) + chunks


def dae(
    geometry: str | None = None,
    nodes: str | None = None,
    unit: str = "1",
    count: int = 9,
    floats: str = "0 0 0 1 0 0 0 1 0",
) -> str:
    geometry = geometry or (
        f"<source id='p'><float_array id='pa' count='{count}'>{floats}</float_array>"
        "<technique_common><accessor source='#pa' count='3' stride='3'>"
        "<param name='X' type='float'/><param name='Y' type='float'/>"
        "<param name='Z' type='float'/></accessor></technique_common></source>"
        "<vertices id='v'><input semantic='POSITION' source='#p'/></vertices>"
        "<triangles count='1'><input semantic='VERTEX' source='#v' offset='0'/>"
        "<p>0 1 2</p></triangles>"
    )
    nodes = nodes or "<node id='n'><instance_geometry url='#g'/></node>"
    return (
        "<?xml version='1.0'?>\n"
        "<COLLADA xmlns='http://www.collada.org/2005/11/COLLADASchema' version='1.4.1'>\n"
        f"<asset><unit meter='{unit}' name='m'/><up_axis>Y_UP</up_axis></asset>\n"
        f"<library_geometries><geometry id='g'><mesh>\n{geometry}\n"
        "</mesh></geometry></library_geometries>\n"
        f"<library_visual_scenes><visual_scene id='s'>\n{nodes}\n"
        "</visual_scene></library_visual_scenes>\n"
        "<scene><instance_visual_scene url='#s'/></scene></COLLADA>"
    )


BOMB = "".join(
    f"<node id='n{i}'>" + f"<instance_node url='#n{i + 1}'/>" * 10 + "</node>" for i in range(20)
)

CASES: dict[str, tuple[str, bytes | str, str]] = {
    "stl empty": ("stl", b"", "empty"),
    "stl junk": ("stl", bytes(range(256)), "announces"),
    "stl short": ("stl", b"abc", "neither binary"),
    "stl no triangles": ("stl", stl(0), "no triangles"),
    "stl four billion": ("stl", stl(0xFFFFFFFF, TRIANGLE), "truncated.*4294967295"),
    "stl truncated": ("stl", stl(2, TRIANGLE), "truncated"),
    "stl trailing": ("stl", stl(1, TRIANGLE, TRIANGLE), "trailing"),
    "stl nan": ("stl", stl(1, struct.pack("<12fH", 0, 0, 1, float("nan"), *FLOATS[1:], 0)),
        "not finite"),
    "stl inf": ("stl", stl(1, struct.pack("<12fH", 0, 0, 1, float("inf"), *FLOATS[1:], 0)),
        "not finite"),
    "stl huge": ("stl", stl(1, struct.pack("<12fH", 0, 0, 1, 3e38, *FLOATS[1:], 0)),
        "from its origin"),
    "stl text truncated": ("stl", TEXT_STL[:70], "truncated"),
    "stl text without end": ("stl", TEXT_STL.replace("endsolid s", ""), "no endsolid"),
    "stl text words": ("stl", TEXT_STL.replace("vertex 1 0 0", "vertex one 0 0"),
        "vertex must be numbers, got 'one'"),
    "stl text nan": ("stl", TEXT_STL.replace("vertex 1 0 0", "vertex nan 0 0"),
        "not finite|cannot be read"),
    "stl text solids": ("stl", "solid\nfacet\nvertex\nvertex\nvertex\nendfacet\nendsolid\n" * 2000,
        "solids"),
    "obj empty": ("obj", "\n", "no faces"),
    "obj no faces": ("obj", "v 0 0 0\n", "no faces"),
    "obj words": ("obj", "v 0 0 0\nv 1 x 0\n", ":2: OBJ vertex"),
    "obj short vertex": ("obj", "v 0 0\n", ":1: OBJ vertex"),
    "obj out of range": ("obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 4\n",
        ":4: .*vertex 4, but there are 3"),
    "obj zero": ("obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 0 1 2\n", ":4: .*not a valid index"),
    "obj negative": ("obj", "v 0 0 0\nf -1 -2 -3\n", ":2: .*not a valid index"),
    "obj line": ("obj", "v 0 0 0\nv 1 0 0\nf 1 2\n", ":3: .*fewer than 3"),
    "obj float index": ("obj", "v 0 0 0\nf 1.5 1 1\n", ":2: .*not an index"),
    "obj nan": ("obj", "v nan 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", "not finite"),
    "obj huge index": ("obj", "v 0 0 0\nf 1 1 " + "9" * 100 + "\n", "vertex 9+"),
    "obj binary": ("obj", bytes(range(256)) * 50, "no faces|not"),
    "ply no header": ("ply", "hello\n", "no complete header"),
    "ply four billion": ("ply", PLY.replace("vertex 3", "vertex 4000000000"), "rows|truncated"),
    "ply binary four billion": ("ply",
        PLY.replace("ascii", "binary_little_endian").replace("vertex 3", "vertex 4000000000"),
        "truncated"),
    "ply truncated": ("ply", PLY[:-9], "rows|not numeric"),
    "ply words": ("ply", PLY.replace("1 0 0", "one 0 0"), "not numeric"),
    "ply no faces": ("ply",
        PLY.replace("element face 1", "element face 0").replace("3 0 1 2\n", ""), "no face"),
    "ply bad type": ("ply", PLY.replace("property float x", "property quaternion x"),
        ":4: PLY header line"),
    "ply bad index": ("ply", PLY.replace("3 0 1 2", "3 0 1 7"), "vertex|cannot be read"),
    "ply no x": ("ply", PLY.replace("float x", "float w"), "lack x"),
    "ply bomb header": ("ply", "ply\nformat ascii 1.0\n" + "element e 1\n" * 10000,
        "no complete header"),
    "glb junk": ("glb", bytes(100), "glTF header"),
    "glb truncated": ("glb", glb()[:-4], "truncated"),
    "glb version": ("glb", b"glTF" + struct.pack("<II", 1, 20) + bytes(8), "version 1"),
    "glb bad json": ("glb", glb().replace(b'{"asset"', b'["asset"', 1), "malformed"),
    "glb deep json": ("glb",
        struct.pack("<4sIIII", b"glTF", 2, 20 + 100_000, 100_000, 0x4E4F534A) + b"[" * 100_000,
        "malformed"),
    "glb four billion": ("glb",
        glb(accessors=[{"bufferView": 0, "componentType": 5126, "count": 2**31 - 1,
        "type": "VEC3"}]), "does not fit"),
    "glb no view": ("glb",
        glb(accessors=[{"componentType": 5126, "count": 2**31 - 1, "type": "VEC3"}]),
        "sparse or empty"),
    "glb view": ("glb", glb(bufferViews=[{"buffer": 0, "byteLength": 2**30}]), "past the end"),
    "glb stride": ("glb", glb(bufferViews=[{"buffer": 0, "byteLength": 36, "byteStride": 0}]),
        "does not fit"),
    "glb cycle": ("glb", glb(nodes=[{"mesh": 0, "children": [0]}]), "more than one place"),
    "glb shared node": ("glb", glb(nodes=[{"children": [1, 1]}, {"mesh": 0}]),
        "more than one place"),
    "glb no such mesh": ("glb", glb(nodes=[{"mesh": 7}]), "item 7 of 1"),
    "glb no such node": ("glb", glb(scenes=[{"nodes": [5]}]), "item 5 of 1"),
    "glb outside": ("glb", glb(buffers=[{"byteLength": 36, "uri": "file:///etc/passwd"}]),
        "outside the file"),
    "glb extension": ("glb", glb(extensionsRequired=["KHR_draco_mesh_compression"]),
        "requires extensions"),
    "glb points": ("glb", glb(meshes=[{"primitives": [{"attributes": {"POSITION": 0},
        "mode": 0}]}]), "no triangles"),
    "glb wrong types": ("glb", glb(meshes=[{"primitives": 3}]), "malformed"),
    "dae not xml": ("dae", "solid s", "not well-formed"),
    "dae other xml": ("dae", "<svg/>", "begins with <svg>"),
    "dae entity": ("dae",
        "<!DOCTYPE COLLADA [<!ENTITY x SYSTEM 'file:///etc/passwd'>]><COLLADA>&x;</COLLADA>",
        "DOCTYPE"),
    "dae empty": ("dae", "<COLLADA xmlns='http://www.collada.org/2005/11/COLLADASchema'/>",
        "no triangles|cannot be read|visual scenes; it must have one"),
    "dae floats": ("dae", dae(floats="0 0 0 1 0 0 0 one 0"), ":5: .*not a finite number"),
    "dae nan": ("dae", dae(floats="0 0 0 1 0 0 0 nan 0"), ":5: .*not a finite number"),
    "dae count": ("dae", dae(count=4_000_000_000), ":5: .*announces '4000000000' items and has 9"),
    "dae index": ("dae", dae().replace("<p>0 1 2</p>", "<p>0 1 99</p>"), "cannot be read|vertex"),
    "dae few indices": ("dae", dae().replace("<p>0 1 2</p>", "<p>0 1</p>"),
        "announces 3 indices and has 2"),
    "dae unit": ("dae", dae(unit="-1"), ":3: .*unit"),
    "dae unit nan": ("dae", dae(unit="nan"), ":3: .*unit"),
    "dae no such geometry": ("dae", dae(nodes="<node><instance_geometry url='#nope'/></node>"),
        "cannot be read|no triangles"),
    "dae outside": ("dae",
        dae(nodes="<node><instance_geometry url='http://127.0.0.1:9/x.dae#g'/></node>"),
        "not in this file"),
    "dae self instance": ("dae", dae(nodes="<node id='n'><instance_node url='#n'/></node>"),
        ":8: .*instances itself"),
    "dae instance bomb": ("dae",
        dae(nodes=BOMB + "<node id='n20'><instance_geometry url='#g'/></node>"), "instances"),
    "dae skinned": ("dae", dae(nodes="<node><instance_controller url='#c'/></node>"), "skinned"),
    "unknown suffix": ("fbx", b"x", "format '.fbx' is not supported"),
    "no suffix": ("", b"x", "not supported"),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_refused(name, tmp_path, refuses):
    suffix, data, pattern = CASES[name]
    path = tmp_path / f"bad.{suffix}" if suffix else tmp_path / "bad"
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    refuses(lambda: load_mesh(path), MeshError, place=f"{path}:", pattern=pattern)


@pytest.mark.parametrize(
    "name", ["stl four billion", "ply four billion", "ply binary four billion", "glb four billion"]
)
def test_claims_do_not_allocate(name, tmp_path):
    suffix, data, _ = CASES[name]
    path = tmp_path / f"bad.{suffix}"
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    tracemalloc.start()
    with pytest.raises(MeshError):
        load_mesh(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 64 * 2**20, "a file of a few bytes must not cost memory"


@pytest.mark.parametrize(
    "points", [np.zeros((5, 3)), np.full((4, 3), np.nan), np.zeros((0, 3)), np.zeros((4, 2))]
)
def test_no_hull(points):
    with pytest.raises(MeshError):
        convex_hull(points)


def test_missing_and_folder(tmp_path, refuses):
    refuses(lambda: load_mesh(tmp_path / "no.stl"), MeshError, place="", pattern="no such file")
    (tmp_path / "d.stl").mkdir()
    refuses(lambda: load_mesh(tmp_path / "d.stl"), MeshError, place="", pattern="is a folder")


@pytest.mark.parametrize("scale", [(0, 1, 1), (np.nan, 1, 1), (1, 1), (np.inf, 1, 1)])
def test_scale(scale, tmp_path, refuses):
    path = tmp_path / "m.stl"
    path.write_text(TEXT_STL)
    refuses(lambda: load_mesh(path, scale=scale), MeshError, place=f"{path}: ", pattern="scale")
