"""Inertial data from geometry.

Primitives are compared with closed forms, and meshes with primitives. Other tests check when
geometry is used.
"""

from __future__ import annotations

import re

import numpy as np
import pytest
import trimesh

from robosim.errors import RobosimError, UrdfError
from robosim.geometry import pose
from robosim.planners import Problem, plan
from robosim.simulation import Simulation
from robosim.urdf import load_robot
from robosim.world import World


def robot(inertial: str, *geometries: str, tag: str = "collision", tail: str = "") -> str:
    parts = "".join(f"<{tag}>{g}</{tag}>" for g in geometries)
    return f"""<robot name="r"><link name="a"/><link name="b">{inertial}{parts}</link>
    <joint name="j" type="continuous"><parent link="a"/><child link="b"/></joint>{tail}</robot>"""


def geometry(shape: str, origin: str = "") -> str:
    return f"{origin}<geometry>{shape}</geometry>"


def link(text: str, **options):
    model = load_robot(text, inertia_from_meshes=True, filter_self_collisions=False, **options)
    return next(k for k in model.links if k.name == "b"), model


r, h = 0.3, 0.8
BALL, TUBE = 4 / 3 * np.pi * r**3, np.pi * r**2 * h
# A capsule's moments by integrating discs: I_zz = rho int (pi a^4 / 2) dz, I_xx = rho int (pi a^4 /
# 4 + pi a^2 z^2) dz.
_z = np.linspace(-h / 2 - r, h / 2 + r, 2_000_001)
_a2 = np.where(np.abs(_z) <= h / 2, r**2, r**2 - (np.abs(_z) - h / 2) ** 2).clip(0)
CAPSULE = np.array(
    [np.sum(np.pi * _a2**2 / 4 + np.pi * _a2 * _z**2)] * 2 + [np.sum(np.pi * _a2**2 / 2)]
) * (_z[1] - _z[0])


@pytest.mark.parametrize(
    ("shape", "volume", "moments"),
    [
        (f'<sphere radius="{r}"/>', BALL, np.full(3, 0.4 * BALL * r**2)),
        ('<box size="1 2 3"/>', 6, np.array([4 + 9, 1 + 9, 1 + 4]) * 6 / 12),
        (
            f'<cylinder radius="{r}" length="{h}"/>',
            TUBE,
            TUBE * np.array([r**2 / 4 + h**2 / 12, r**2 / 4 + h**2 / 12, r**2 / 2]),
        ),
        (f'<capsule radius="{r}" length="{h}"/>', TUBE + BALL, CAPSULE),
    ],
)
@pytest.mark.parametrize("mass", [None, 2.5])
def test_primitives(shape, volume, moments, mass):
    given = (
        f'<inertial><mass value="{mass}"/><inertia ixx="-1" iyy="1" izz="1"/></inertial>'
        if mass
        else ""
    )
    got, model = link(
        robot(given, geometry(shape, '<origin xyz="1 2 3" rpy="0.1 0.2 0.3"/>')), density=700
    )
    density = 700 if mass is None else mass / volume
    R = pose(rpy=(0.1, 0.2, 0.3))[:3, :3]
    assert got.mass == pytest.approx(density * volume, rel=1e-12)
    np.testing.assert_allclose(got.com, [1, 2, 3], rtol=1e-12)
    # The disc integral is accurate to 1e-9.
    np.testing.assert_allclose(
        got.inertia, R @ np.diag(density * moments) @ R.T, atol=1e-8 * density * volume
    )
    assert any(
        "link 'b': inertia computed from its collision geometry" in w for w in model.warnings
    )


def test_two_shapes_add_up():
    """Two boxes side by side are one box."""
    halves = [geometry('<box size="1 2 3"/>', f'<origin xyz="{x} 0 0"/>') for x in (-0.5, 0.5)]
    a, b = link(robot("", *halves))[0], link(robot("", geometry('<box size="2 2 3"/>')))[0]
    assert a.mass == pytest.approx(b.mass)
    np.testing.assert_allclose(a.com, b.com, atol=1e-12)
    np.testing.assert_allclose(a.inertia, b.inertia, rtol=1e-12, atol=1e-9)


@pytest.mark.parametrize("closed", [True, False])
@pytest.mark.parametrize("tag", ["collision", "visual"])
def test_meshes(tmp_path, closed, tag):
    box = trimesh.creation.box((1, 2, 3))
    if not closed:
        box.update_faces(np.arange(12) > 0)
    box.export(tmp_path / "box.stl")
    mesh = geometry(f'<mesh filename="{tmp_path}/box.stl" scale="0.5 -1 1"/>')
    got, model = link(robot("", mesh, tag=tag))
    expected, _ = link(robot("", geometry('<box size="0.5 2 3"/>')))
    assert got.mass == pytest.approx(expected.mass, rel=1e-6)
    np.testing.assert_allclose(got.inertia, expected.inertia, rtol=1e-6, atol=1e-3)
    assert any(
        f"from its {tag} geometry" in w and ("convex hull" in w) == (not closed)
        for w in model.warnings
    )


def test_good_data_are_kept():
    given = '<inertial><mass value="2"/><inertia ixx="1" iyy="1" izz="1"/></inertial>'
    got, model = link(robot(given, geometry('<sphere radius="1"/>')))
    np.testing.assert_array_equal(got.inertia, np.eye(3))
    assert got.mass == 2
    assert model.warnings == ()


def test_a_body_without_mass_is_strictly_an_error_that_names_the_option():
    text = robot("", geometry('<sphere radius="1"/>'))
    with pytest.raises(
        UrdfError, match=r"<string>:1: link 'b': moves, but has no mass.*inertia_from_meshes=True"
    ):
        load_robot(text, strict=True)


IMPOSSIBLE = {
    "triangle": (
        '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="3"/></inertial>',
        "exceeds the sum",
    ),
    "all equal": (
        '<inertial><mass value="1"/>'
        '<inertia ixx="1" ixy="1" ixz="1" iyy="1" iyz="1" izz="1"/></inertial>',
        "exceeds the sum",
    ),
    "negative mass": (
        '<inertial><mass value="-1"/><inertia ixx="1" iyy="1" izz="1"/></inertial>',
        "negative",
    ),
    "not a number": (
        '<inertial><mass value="nan"/><inertia ixx="1" iyy="1" izz="1"/></inertial>',
        "finite number",
    ),
    "no tensor": ('<inertial><mass value="2"/></inertial>', "lacks <inertia>"),
    "no moment": ('<inertial><mass value="2"/><inertia ixx="1" iyy="1"/></inertial>', "'izz'"),
    "no mass": ('<inertial><inertia ixx="1" iyy="1" izz="1"/></inertial>', "lacks <mass>"),
    "zeros": (
        '<inertial><mass value="0"/><inertia ixx="0" iyy="0" izz="0"/></inertial>',
        "has mass",
    ),
    "nothing": ("", "has mass"),
}


@pytest.mark.parametrize("name", IMPOSSIBLE)
def test_robots_without_valid_dynamics_load(name):
    """Robots without valid dynamics can be planned for, without torque limits.

    Functions that need inertia raise with the link, its place and possible remedies.
    """
    inertial, reason = IMPOSSIBLE[name]
    text = robot(inertial, geometry('<box size="0.1 0.2 0.3"/>')).replace("<robot", "\n<robot")
    with pytest.raises(UrdfError, match="<string>:2: link 'b'"):
        load_robot(text, strict=True)
    model = load_robot(text)
    [fault] = model.dynamics_faults
    assert re.fullmatch(rf"<string>:2: link 'b': .*{reason}.*", fault)
    assert fault in model.warnings
    for refused in (
        lambda: model.mass_matrix([0]),
        lambda: model.forward_dynamics([0], [0], [0]),
        lambda: model.inverse_dynamics([[0]], [[0]], [[0]]),
        lambda: Simulation(World(model), dt=1e-3),
    ):
        with pytest.raises(
            RobosimError, match=f"{re.escape(fault)}.*<inertial>.*inertia_from_meshes=True"
        ):
            refused()
    np.testing.assert_allclose(
        model.frame_pose([np.pi / 2], "b")[:3, :3] @ [0, 1, 0], [0, 0, 1], atol=1e-15
    )
    result = plan(Problem(model, start=[0.0], goal=[1.0]))
    assert result.ok
    assert fault in result.reason
    assert result.trajectory.inverse_dynamics is None
    assert result.trajectory.validate() == []
    assert plan(Problem(model, start=[0.0], goal=[1.0]), torque_limits=False).reason == ""
    whole = load_robot(text, inertia_from_meshes=True)
    assert whole.dynamics_faults == ()
    assert whole.mass_matrix([0])[0, 0] > 0


def test_only_what_is_impossible_is_computed():
    """A base without inertial, a massless frame between joints, and valid data stay as they are."""
    good = '<inertial><mass value="2"/><inertia ixx="1" iyy="1" izz="1"/></inertial>'
    box = '<collision><geometry><box size="1 1 1"/></geometry></collision>'
    text = f"""<robot name="r"><link name="base">{box}</link><link name="arm">{good}{box}</link>
    <link name="tool">{box}</link><link name="hand">{box}</link>
    <joint name="j" type="continuous"><parent link="base"/><child link="arm"/></joint>
    <joint name="weld" type="fixed"><parent link="arm"/><child link="tool"/></joint>
    <joint name="k" type="continuous"><parent link="tool"/><child link="hand"/></joint></robot>"""
    masses = {k.name: k.mass for k in load_robot(text, inertia_from_meshes=True).links}
    assert masses == {"base": 0, "arm": 2, "tool": 0, "hand": 1000}
    flying = load_robot(text, inertia_from_meshes=True, base="floating")
    assert {k.name: k.mass for k in flying.links} == masses | {"base": 1000}


def test_massless_links_between_joints():
    """Mass matrices of a planar base of three joints and of a universal joint, in closed form."""
    good = """<inertial><origin xyz="0 0 0.5"/><mass value="2"/>
    <inertia ixx="0.1" iyy="0.2" izz="0.3"/></inertial>"""

    def joint(name, kind, parent, child, axis):
        return f"""<joint name="{name}" type="{kind}"><parent link="{parent}"/>
        <child link="{child}"/><axis xyz="{axis}"/>
        <limit lower="-1" upper="1" effort="1" velocity="1"/></joint>"""

    links = "".join(f'<link name="{n}"/>' for n in "wxy") + f'<link name="body">{good}</link>'
    base = load_robot(
        f"""<robot name="base">{links}{joint("jx", "prismatic", "w", "x", "1 0 0")}
    {joint("jy", "prismatic", "x", "y", "0 1 0")}
    {joint("jt", "revolute", "y", "body", "0 0 1")}</robot>""",
        strict=False,
    )
    assert base.dynamics_faults == ()
    np.testing.assert_allclose(base.mass_matrix([0.1, 0.2, 0.3]), np.diag([2, 2, 0.3]), atol=1e-15)
    links = '<link name="w"/><link name="cross"/>' + f'<link name="body">{good}</link>'
    cardan = load_robot(
        f"""<robot name="cardan">{links}{joint("a", "revolute", "w", "cross", "1 0 0")}
    {joint("b", "revolute", "cross", "body", "0 1 0")}</robot>"""
    )
    assert cardan.dynamics_faults == ()
    b = 0.4  # about x: the body's moments about its hinge, rotated by b; about y: its own
    about_x = (0.1 + 2 * 0.25) * np.cos(b) ** 2 + 0.3 * np.sin(b) ** 2
    np.testing.assert_allclose(
        cardan.mass_matrix([0.2, b]), np.diag([about_x, 0.2 + 2 * 0.25]), atol=1e-15
    )


def test_massless_links_that_make_the_mass_matrix_singular():
    """Two joints move the same mass in the same direction at every q.

    The robot is a slide on a massless floating base.
    """
    good = '<inertial><mass value="2"/><inertia ixx="0.1" iyy="0.2" izz="0.3"/></inertial>'
    text = f"""<robot name="r"><link name="base"/><link name="cart">{good}</link>
    <joint name="j" type="prismatic"><parent link="base"/><child link="cart"/>
    <limit lower="-1" upper="1" effort="1" velocity="1"/></joint></robot>"""
    assert load_robot(text).dynamics_faults == ()
    flying = load_robot(text, base="floating")
    [fault] = flying.dynamics_faults
    assert fault.startswith("<string>:1: link 'base': has no mass, and joints can move it")
    assert fault in flying.warnings
    with pytest.raises(RobosimError, match="mass matrix is singular"):
        flying.mass_matrix(flying.neutral())
    parallel = (
        text.replace(
            "</joint></robot>",
            """</joint><link name="hand"/><joint name="k" type="fixed"><parent link="cart"/>
    <child link="hand"/></joint></robot>""",
        )
        .replace('<link name="base"/>', '<link name="base"/><link name="mid"/>')
        .replace('<parent link="base"/>', '<parent link="mid"/>')
        .replace(
            "</robot>",
            """<joint name="i" type="prismatic"><parent link="base"/><child link="mid"/>
    <limit lower="-1" upper="1" effort="1" velocity="1"/></joint></robot>""",
        )
    )
    assert ["link 'mid'" in f for f in load_robot(parallel).dynamics_faults] == [True]
    crossed = parallel.replace('<child link="mid"/>', '<child link="mid"/><axis xyz="0 1 0"/>')
    assert load_robot(crossed).dynamics_faults == ()


def test_a_free_base_needs_mass():
    text = """<robot name="r"><link name="a"/>
    <link name="b"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial></link>
    <joint name="j" type="fixed"><parent link="a"/><child link="b"/></joint></robot>"""
    assert load_robot(text, base="floating", strict=True).total_mass == 1
    with pytest.raises(UrdfError, match="link 'a': moves, but has no mass"):
        load_robot(text.replace('type="fixed"', 'type="continuous"'), base="floating", strict=True)


def test_tiny_moments_are_zero():
    """Rounding errors of a zero inertia count as zero."""
    tiny = '<inertial><mass value="1"/><inertia ixx="-2e-35" iyy="0" izz="2e-35"/></inertial>'
    model = load_robot(robot(tiny))
    np.testing.assert_array_equal(
        next(k for k in model.links if k.name == "b").inertia, np.zeros((3, 3))
    )


def test_moments_without_mass_count():
    text = robot('<inertial><mass value="0"/><inertia ixx="0.5" iyy="1" izz="1"/></inertial>')
    model = load_robot(text)
    np.testing.assert_allclose(model.mass_matrix([0.3]), [[0.5]])
    assert any("moments of inertia but no mass; they count" in w for w in model.warnings)
    with pytest.raises(UrdfError, match="link 'b': has moments of inertia but no mass"):
        load_robot(text, strict=True)
