"""References to files: packages, schemes, scaled meshes, companion files, and xacro."""

from __future__ import annotations

import numpy as np
import pytest
import trimesh

from robosim.errors import UrdfError
from robosim.urdf import expand_xacro, load_robot
from robosim.urdf.packages import find_package, resolve


def with_mesh(uri: str, scale: str = "1 1 1") -> str:
    return f"""<robot name="r"><link name="a">
    <visual><geometry><mesh filename="{uri}" scale="{scale}"/></geometry></visual>
    <collision><origin xyz="0 0 1"/><geometry><mesh filename="{uri}" scale="{scale}"/></geometry>
    </collision></link></robot>"""


@pytest.fixture
def workspace(tmp_path):
    """Workspace src/my_robot with package.xml, urdf/ and meshes/.

    The package's name differs from the folder's.
    """
    root = tmp_path / "src" / "folder_of_other_name"
    (root / "urdf").mkdir(parents=True)
    (root / "meshes").mkdir()
    (root / "package.xml").write_text("<package format='3'><name>my_robot</name></package>")
    box = trimesh.creation.box((1, 2, 3))
    box.export(root / "meshes" / "box.stl")
    return root


@pytest.mark.parametrize(
    "uri",
    [
        "package://my_robot/meshes/box.stl",
        "model://my_robot/meshes/box.stl",
        "../meshes/box.stl",
        "file://{root}/meshes/box.stl",
        "{root}/meshes/box.stl",
        "package:///my_robot/meshes/box.stl",
    ],
)
def test_all_forms_of_reference(workspace, uri):
    path = workspace / "urdf" / "r.urdf"
    path.write_text(with_mesh(uri.format(root=workspace), "2 1 -1"))
    model = load_robot(path)
    (collider,) = model.colliders
    np.testing.assert_allclose(np.ptp(collider.shape.vertices, axis=0), [2, 2, 3])
    (visual,) = model.visuals["a"]
    assert visual.mesh.resolve() == (workspace / "meshes" / "box.stl").resolve()
    assert visual.scale == (2, 1, -1)


def test_string_descriptions_resolve_packages_but_not_relative_paths(workspace):
    assert load_robot(
        with_mesh("package://my_robot/meshes/box.stl"), package_dirs=[workspace]
    ).colliders
    with pytest.raises(ValueError, match=r"<string>:3: .*relative"):
        load_robot(with_mesh("meshes/box.stl"))


def test_order_of_package_search(tmp_path, monkeypatch):
    folders = {}
    for place in ("given", "ros", "ament/share", "above"):
        folders[place] = tmp_path / place / "pkg"
        folders[place].mkdir(parents=True)
    base = tmp_path / "above" / "x" / "y"
    base.mkdir(parents=True)
    assert find_package("pkg", base) == folders["above"].resolve()
    monkeypatch.setenv("AMENT_PREFIX_PATH", str(tmp_path / "ament"))
    assert find_package("pkg", base) == folders["ament/share"]
    monkeypatch.setenv("ROS_PACKAGE_PATH", f"{tmp_path / 'nowhere'}:{tmp_path / 'ros'}")
    assert find_package("pkg", base) == folders["ros"]
    assert find_package("pkg", base, [tmp_path / "given"]) == folders["given"]
    assert find_package("pkg", base, [folders["given"]]) == folders["given"]
    assert find_package("other", base) is None
    assert find_package("..", base) is None
    assert (
        resolve("package://pkg/a/b.stl", base, [tmp_path / "given"])[0]
        == folders["given"] / "a/b.stl"
    )


def test_escaped_file_uri(tmp_path):
    assert resolve("file:///a%20b/c.stl", None)[0].as_posix() == "/a b/c.stl"


def test_files_beside_the_description_belong_to_it(tmp_path):
    urdf = """<robot name="r"><link name="a"/>
    <link name="b"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial></link>
    <joint name="j" type="continuous"><parent link="a"/><child link="b"/></joint></robot>"""
    (tmp_path / "r.urdf").write_text(urdf)
    (tmp_path / "r.srdf").write_text(
        '<robot name="r"><group name="g"><joint name="j"/></group></robot>'
    )
    (tmp_path / "joint_limits.yaml").write_text("joint_limits: {j: {max_acceleration: 3}}")
    model = load_robot(tmp_path / "r.urdf")
    assert "g" in model.groups
    assert model.limits.acceleration[0] == 3
    assert model.limits.acceleration_source.startswith(str(tmp_path / "joint_limits.yaml"))
    bare = load_robot(tmp_path / "r.urdf", srdf=False, joint_limits=False)
    assert not bare.groups
    assert "default" in bare.limits.acceleration_source


XACRO = """<?xml version="1.0"?>
<robot name="x" xmlns:xacro="http://www.ros.org/wiki/xacro">
  <xacro:arg name="n" default="2"/>
  <xacro:include filename="$(find my_robot)/urdf/part.xacro"/>
  <link name="l0"/>
  <xacro:chain i="$(arg n)"/>
</robot>"""
PART = """<robot xmlns:xacro="http://www.ros.org/wiki/xacro">
  <xacro:property name="size" value="${0.1 + 0.2}"/>
  <xacro:macro name="chain" params="i">
    <xacro:if value="${i > 1}"><xacro:chain i="${i - 1}"/></xacro:if>
    <link name="l${i}"><inertial><mass value="${i}"/><inertia ixx="1" iyy="1" izz="1"/></inertial>
      <collision><geometry><sphere radius="${size}"/></geometry></collision></link>
    <joint name="j${i}" type="continuous"><parent link="l${i - 1}"/><child link="l${i}"/>
      <origin xyz="0 0 ${sin(pi / 2)}"/></joint>
  </xacro:macro>
</robot>"""


@pytest.fixture
def macros(workspace):
    pytest.importorskip("xacro", reason="xacro is not installed")
    (workspace / "urdf" / "x.urdf.xacro").write_text(XACRO)
    (workspace / "urdf" / "part.xacro").write_text(PART)
    return workspace / "urdf" / "x.urdf.xacro"


@pytest.mark.parametrize(("arguments", "n"), [(None, 2), ({"n": "4"}, 4)])
def test_xacro(macros, arguments, n):
    model = load_robot(macros, xacro_args=arguments)
    assert model.joint_names == tuple(f"j{i + 1}" for i in range(n))
    assert model.total_mass == sum(range(1, n + 1))
    assert model.colliders[0].shape.radius == pytest.approx(0.3)
    np.testing.assert_allclose(model.frame_pose(np.zeros(n), f"l{n}")[:3, 3], [0, 0, n])


def test_xacro_errors_name_the_file_that_is_at_fault(macros):
    part = macros.with_name("part.xacro")
    part.write_text(PART.replace("${size}", "${sizes}"))
    with pytest.raises(
        UrdfError, match=r"part\.xacro:6: xacro: .*sizes|x\.urdf\.xacro:\d+: xacro: .*sizes"
    ):
        load_robot(macros)
    part.write_text(PART.replace('radius="${size}"', 'raduis="${size}"'))
    with pytest.raises(UrdfError, match=r"x\.urdf\.xacro \(expanded\):\d+: link 'l1': .*raduis"):
        load_robot(macros)


def test_xacro_line_numbers_are_those_of_its_command(macros):
    text = expand_xacro(macros)
    with pytest.raises(UrdfError) as caught:
        load_robot(macros.with_name("y.urdf"), srdf=False) if macros.with_name("y.urdf").write_text(
            text.replace('name="j1"', 'nam="j1"')
        ) else None
    assert text.splitlines()[caught.value.line - 1].strip().startswith("<joint")


def test_arguments_need_xacro(workspace):
    path = workspace / "urdf" / "r.urdf"
    path.write_text(with_mesh("../meshes/box.stl"))
    with pytest.raises(UrdfError, match=r"not a \.xacro file"):
        load_robot(path, xacro_args={"n": "1"})
