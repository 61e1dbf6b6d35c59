"""Every format has the same triangles; scale, units, axes and polygons are as documented."""

from __future__ import annotations

import re

import numpy as np
import pytest
import trimesh

from robosim.errors import MeshError
from robosim.meshes import load_mesh, mesh_mass_properties

# Off-center and without any symmetry, so that a swapped axis or a mirrored mesh shows.
VERTICES = np.array([[0.1, 0.2, 0.3], [1.1, 0.2, 0.3], [0.1, 1.7, 0.3], [0.1, 0.2, 2.8]])
FACES = np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])
FORMATS = ["stl", "stl_ascii", "obj", "ply", "ply_ascii", "glb", "dae"]


def write(folder, form: str, vertices=VERTICES, faces=FACES):
    mesh = trimesh.Trimesh(vertices, faces, process=False)
    options = (
        {"file_type": "ply", "encoding": "ascii"} if form == "ply_ascii" else {"file_type": form}
    )
    data = mesh.export(**options)
    path = folder / f"m.{form[:3]}"
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return path


def sorted_triangles(mesh) -> np.ndarray:
    """Triangles as a sorted array, each rotated to begin at its least corner.

    The rotation keeps the winding.
    """
    rows = []
    for triangle in np.round(mesh.triangles, 5) + 0.0:
        start = min(range(3), key=lambda i: tuple(triangle[i]))
        rows.append(np.roll(triangle, -start, axis=0).ravel())
    return np.array(sorted(map(tuple, rows)))


@pytest.mark.parametrize("form", FORMATS)
def test_formats_agree(form, tmp_path):
    mesh = load_mesh(write(tmp_path, form))
    expected = np.array(
        sorted(
            map(
                tuple,
                [
                    np.roll(t, -min(range(3), key=lambda i: tuple(t[i])), axis=0).ravel()
                    for t in VERTICES[FACES]
                ],
            )
        )
    )
    # STL, GLB and PLY store 32-bit floats: 1e-7 relative.
    np.testing.assert_allclose(sorted_triangles(mesh), expected, atol=1e-5)


@pytest.mark.parametrize("suffix", ["STL", "Obj", "GLB"])
def test_suffix_in_any_case(suffix, tmp_path):
    path = write(tmp_path, suffix.lower())
    path = path.rename(tmp_path / f"M.{suffix}")
    assert len(load_mesh(path).faces) == 4


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize(
    "scale", [(2, 3, 4), (-1, 1, 1), (0.001, -0.001, 0.001), (-1, -1, -1), (-1, -2, 1)]
)
def test_scale_keeps_the_outside_outside(form, scale, tmp_path):
    path = write(tmp_path, form)
    plain, scaled = load_mesh(path), load_mesh(path, scale=scale)
    a, exact = mesh_mass_properties(plain)
    b, still_exact = mesh_mass_properties(scaled)
    assert exact
    assert still_exact, "a mirrored mesh must stay closed and turned outward"
    # The volume of a closed mesh is positive only if its faces are oriented outward.
    assert b.volume == pytest.approx(a.volume * abs(np.prod(scale)), rel=1e-9)
    np.testing.assert_allclose(b.com, a.com * scale, rtol=1e-9)


def test_obj_polygons_negative_indices_and_continuation(tmp_path):
    path = tmp_path / "m.obj"
    path.write_text(
        "mtllib none.mtl\nv 0 0 0 1 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nvt 0 0\nvn 0 0 1\n"
        "o part\ng group\nusemtl m\ns off\n"
        "f 1/1/1 2/1/1 3//1 4/1\nv 0 0 1\nf -1 -5 \\\n -4\n"
    )
    mesh = load_mesh(path)
    expected = [
        [[0, 0, 0], [1, 0, 0], [1, 1, 0]],
        [[0, 0, 0], [1, 1, 0], [0, 1, 0]],
        [[0, 0, 1], [0, 0, 0], [1, 0, 0]],
    ]
    np.testing.assert_array_equal(mesh.triangles, expected)


DAE = """<?xml version="1.0"?>
<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">
<asset><unit meter="{unit}" name="x"/><up_axis>{up}</up_axis></asset>
<library_images><image id="i"><init_from>missing.png</init_from></image></library_images>
<library_geometries><geometry id="g"><mesh>
<source id="p"><float_array id="pa" count="9">0 0 0 1 0 0 0 2 0</float_array><technique_common>
<accessor source="#pa" count="3" stride="3">
<param name="X" type="float"/><param name="Y" type="float"/><param name="Z" type="float"/>
</accessor></technique_common></source>
<source id="n"><float_array id="na" count="3">0 0 1</float_array><technique_common>
<accessor source="#na" count="1" stride="3">
<param name="X" type="float"/><param name="Y" type="float"/><param name="Z" type="float"/>
</accessor></technique_common></source>
<vertices id="v"><input semantic="POSITION" source="#p"/></vertices>
<{primitive} count="1" material="unbound"><input semantic="VERTEX" source="#v" offset="{at}"/>
<input semantic="NORMAL" source="#n" offset="{other}"/>{vcount}<p>{p}</p></{primitive}>
</mesh></geometry></library_geometries>
<library_nodes><node id="shared"><translate>0 0 5</translate>
<instance_geometry url="#g"/></node></library_nodes>
<library_visual_scenes><visual_scene id="s">
<node id="a"><matrix>1 0 0 10  0 1 0 0  0 0 1 0  0 0 0 1</matrix>
<node id="b"><rotate>0 0 1 90</rotate><scale>1 1 1</scale>
<instance_geometry url="#g"/></node></node>
<node id="c"><instance_node url="#shared"/></node>
</visual_scene></library_visual_scenes>
<scene><instance_visual_scene url="#s"/></scene></COLLADA>
"""


@pytest.mark.parametrize("unit", [1.0, 0.0254, 0.01])
@pytest.mark.parametrize("up", ["X_UP", "Y_UP", "Z_UP"])
@pytest.mark.parametrize(
    "layout", [{"at": 0, "other": 1, "p": "0 0 1 0 2 0"}, {"at": 1, "other": 0, "p": "0 0 0 1 0 2"}]
)
@pytest.mark.parametrize(
    ("primitive", "vcount"), [("triangles", ""), ("polylist", "<vcount>3</vcount>")]
)
def test_dae_unit_counts_and_up_axis_does_not(unit, up, primitive, vcount, layout, tmp_path):
    path = tmp_path / "m.dae"
    path.write_text(DAE.format(unit=unit, up=up, primitive=primitive, vcount=vcount, **layout))
    # Node b turns by 90 degrees about z, then a shifts by 10 in x. The shared node shifts by 5 in
    # z.
    first = [[10, 0, 0], [10, 1, 0], [8, 0, 0]]
    second = [[0, 0, 5], [1, 0, 5], [0, 2, 5]]
    mesh = load_mesh(path)
    got = mesh.triangles[np.argsort(mesh.triangles[:, 0, 2])]
    # The reader uses 32-bit floats.
    np.testing.assert_allclose(got, unit * np.array([first, second]), atol=1e-6)


def test_glb_transforms_against_trimesh(tmp_path):
    rng = np.random.default_rng(0)
    scene = trimesh.Scene()
    for i in range(4):
        X = trimesh.transformations.random_rotation_matrix(rng.random(3))
        X[:3, 3] = rng.normal(size=3)
        parent = f"n{i - 1}" if i else None
        scene.add_geometry(
            trimesh.Trimesh(VERTICES * (i + 1), FACES, process=False),
            node_name=f"n{i}",
            parent_node_name=parent,
            transform=X,
        )
    path = tmp_path / "m.glb"
    path.write_bytes(scene.export(file_type="glb"))
    expected = scene.to_mesh()
    ours = load_mesh(path)
    assert len(ours.faces) == len(expected.faces) == 16
    np.testing.assert_allclose(
        np.sort(ours.triangles.mean(axis=1), axis=0),
        np.sort(expected.triangles.mean(axis=1), axis=0),
        atol=1e-5,
    )


def test_mirroring_node_keeps_the_outside_outside(tmp_path):
    scene = trimesh.Scene()
    scene.add_geometry(
        trimesh.Trimesh(VERTICES, FACES, process=False), transform=np.diag([-1.0, 1, 1, 1])
    )
    path = tmp_path / "m.glb"
    path.write_bytes(scene.export(file_type="glb"))
    properties, exact = mesh_mass_properties(load_mesh(path))
    assert exact
    assert properties.volume == pytest.approx(1.0 * 1.5 * 2.5 / 6, rel=1e-6)


FACETS = "".join(
    f"facet normal 0 0 0\nouter loop\nvertex {a}\nvertex {b}\nvertex {c}\nendloop\nendfacet\n"
    for a, b, c in (
        ("0 0 0", "0 1 0", "1 0 0"),
        ("0 0 0", "1 0 0", "0 0 1"),
        ("0 0 0", "0 0 1", "0 1 0"),
        ("1 0 0", "0 1 0", "0 0 1"),
    )
)
TETRAHEDRON_OBJ = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"
COLLADA = 'xmlns="http://www.collada.org/2005/11/COLLADASchema"'
SCENE = '<scene><instance_visual_scene url="#S"/></scene>'


def tetrahedron_dae(space=COLLADA, scene=SCENE, normals=""):
    return f"""<?xml version="1.0"?><COLLADA {space} version="1.4.1"><asset/>
    <library_geometries><geometry id="G"><mesh>
    <source id="P"><float_array id="A" count="12">0 0 0 1 0 0 0 1 0 0 0 1</float_array>
    <technique_common><accessor
    source="#A" count="4" stride="3"><param name="X" type="float"/>
    <param name="Y" type="float"/><param name="Z" type="float"/></accessor></technique_common>
    </source>{normals}<vertices id="V"><input semantic="POSITION" source="#P"/></vertices>
    <triangles count="4"><input semantic="VERTEX" source="#V" offset="0"/>
    <p>0 2 1 0 1 3 0 3 2
    1 2 3</p></triangles></mesh></geometry></library_geometries>
    <library_visual_scenes><visual_scene id="S"><node id="N"><instance_geometry url="#G"/></node>
    </visual_scene></library_visual_scenes>{scene}</COLLADA>"""


NAN_NORMALS = """<source id="Q"><float_array id="B" count="3">nan -1.#IND 0</float_array>
<technique_common><accessor source="#B" count="1" stride="3"/></technique_common></source>"""
BINARY = bytes(80) + (4).to_bytes(4, "little")

# One tetrahedron, as exporters and editors write it.
ODD = {
    "name of keywords.stl": f"solid facet vertex endfacet normal\n{FACETS}endsolid facet endloop\n",
    "no name.stl": f"solid\n{FACETS}endsolid\n",
    "name of other scripts.stl": f"solid Größe 模型\n{FACETS}endsolid\n",
    "long name.stl": f"solid {'x' * 5000}\n{FACETS}endsolid\n",
    "upper case.stl": f"solid a\n{FACETS}endsolid a\n".upper(),
    "byte order mark.stl": f"\ufeffsolid a\n{FACETS}endsolid a\n",
    "carriage returns.stl": f"solid a\n{FACETS}endsolid a\n".replace("\n", "\r"),
    "windows.stl": f"solid a\n{FACETS}endsolid a\n".replace("\n", "\r\n"),
    "one line.stl": f"solid a\n{FACETS}".replace("\n", " ") + "\nendsolid a",
    "two solids.stl": (
        f"solid a\n{FACETS[: len(FACETS) // 2]}endsolid a\n"
        f"solid b\n{FACETS[len(FACETS) // 2 :]}endsolid b\n"
    ),
    "indented.stl": f"solid a\n{FACETS}endsolid a\n".replace("\n", "\n   \t"),
    "nan normals.stl": f"solid a\n{FACETS}endsolid a\n".replace(
        "normal 0 0 0", "normal nan nan nan"
    ),
    "byte order mark.obj": "\ufeff" + TETRAHEDRON_OBJ,
    "carriage returns.obj": TETRAHEDRON_OBJ.replace("\n", "\r"),
    "carriage returns.ply": (
        "ply\nformat ascii 1.0\n"
        "element vertex 4\nproperty float x\nproperty float y\nproperty float z\n"
        "element face 4\nproperty list uchar int vertex_indices\nend_header\n"
        "0 0 0\n1 0 0\n0 1 0\n0 0 1\n3 0 2 1\n3 0 1 3\n3 0 3 2\n3 1 2 3\n"
    ).replace("\n", "\r"),
    "whole.dae": tetrahedron_dae(),
    "no scene.dae": tetrahedron_dae(scene=""),
    "empty scene.dae": tetrahedron_dae(scene="<scene/>"),
    "no namespace.dae": tetrahedron_dae(space=""),
    "other namespace.dae": tetrahedron_dae(space='xmlns="urn:other"'),
    "neither.dae": tetrahedron_dae(space="", scene=""),
    "nan normals.dae": tetrahedron_dae(normals=NAN_NORMALS),
    "latin-1 comment.dae": tetrahedron_dae().replace("<asset/>", "<asset/><!-- M\udcfcller -->"),
}


@pytest.mark.parametrize("name", ODD)
def test_odd_but_whole_files(name, tmp_path):
    path = tmp_path / name
    path.write_bytes(ODD[name].encode("utf-8", "surrogateescape"))
    mesh = load_mesh(path)
    assert len(mesh.faces) == 4
    properties, is_exact = mesh_mass_properties(mesh)
    assert is_exact  # closed, and oriented outwards
    assert properties.volume == pytest.approx(1 / 6, rel=1e-6)


@pytest.mark.parametrize("trailing", [b"", b"\n", b"\0" * 40])
def test_binary_stl_with_a_little_behind_it(trailing, tmp_path):
    records = b"".join(
        np.float32([0, 0, 1, *x]).tobytes() + b"\0\0" for x in np.arange(36).reshape(4, 9)
    )
    path = tmp_path / "m.stl"
    path.write_bytes(b"solid".ljust(80) + BINARY[80:] + records + trailing)
    mesh = load_mesh(path)
    np.testing.assert_array_equal(mesh.vertices[mesh.faces].ravel(), np.arange(36))


@pytest.mark.parametrize(
    ("name", "content", "pattern"),
    [
        (
            "m.stl",
            "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n",
            "pointer of Git LFS.*git lfs pull",
        ),
        ("m.stl", f"solid a\n{FACETS}endsolid".replace("1 0 0", "١ 0 0"), "must be numbers, got"),
        ("m.obj", TETRAHEDRON_OBJ.replace("v 1 0 0", "v 1_0 0 0"), "must be numbers, got '1_0'"),
        ("m.stl", f"solid a\n{FACETS[:-20]}\nendsolid", "'facet normal' belongs to no whole facet"),
        (
            "m.dae",
            tetrahedron_dae(scene=SCENE.replace("#S", "#T")),
            "names '#T', which is no visual scene",
        ),
    ],
)
def test_files_that_say_why_not(name, content, pattern, tmp_path):
    path = tmp_path / name
    path.write_bytes(content.encode())
    with pytest.raises(MeshError, match=rf"{re.escape(str(path))}.*{pattern}"):
        load_mesh(path)
