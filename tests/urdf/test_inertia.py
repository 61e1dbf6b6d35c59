"""Inertial data from geometry: closed forms for primitives, meshes against primitives, and when it is used."""

# ruff: noqa: E501 (descriptions of robots stay on their lines)
from __future__ import annotations

import numpy as np
import pytest
import trimesh

from robosim.errors import UrdfError
from robosim.geometry import pose
from robosim.urdf import load_robot


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
# A capsule's moments by integrating discs: I_zz = rho int (pi a^4 / 2) dz, I_xx = rho int (pi a^4 / 4 + pi a^2 z^2) dz.
_z = np.linspace(-h / 2 - r, h / 2 + r, 2_000_001)
_a2 = np.where(np.abs(_z) <= h / 2, r**2, r**2 - (np.abs(_z) - h / 2) ** 2).clip(0)
CAPSULE = np.array([np.sum(np.pi * _a2**2 / 4 + np.pi * _a2 * _z**2)] * 2 + [np.sum(np.pi * _a2**2 / 2)]) * (
    _z[1] - _z[0]
)


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
    given = f'<inertial><mass value="{mass}"/><inertia ixx="-1" iyy="1" izz="1"/></inertial>' if mass else ""
    got, model = link(robot(given, geometry(shape, '<origin xyz="1 2 3" rpy="0.1 0.2 0.3"/>')), density=700)
    density = 700 if mass is None else mass / volume
    R = pose(rpy=(0.1, 0.2, 0.3))[:3, :3]
    assert got.mass == pytest.approx(density * volume, rel=1e-12)
    np.testing.assert_allclose(got.com, [1, 2, 3], rtol=1e-12)
    # The disc integral is good to 1e-9.
    np.testing.assert_allclose(
        got.inertia, R @ np.diag(density * moments) @ R.T, atol=1e-8 * density * volume
    )
    assert any("link 'b': inertia computed from its collision geometry" in w for w in model.warnings)


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
        f"from its {tag} geometry" in w and ("convex hull" in w) == (not closed) for w in model.warnings
    )


def test_good_data_are_kept():
    given = '<inertial><mass value="2"/><inertia ixx="1" iyy="1" izz="1"/></inertial>'
    got, model = link(robot(given, geometry('<sphere radius="1"/>')))
    np.testing.assert_array_equal(got.inertia, np.eye(3))
    assert got.mass == 2
    assert model.warnings == ()


def test_without_the_option_it_is_an_error_that_names_it():
    text = robot("", geometry('<sphere radius="1"/>'))
    with pytest.raises(
        UrdfError, match=r"<string>:1: link 'b': moves, but has no mass.*inertia_from_meshes=True"
    ):
        load_robot(text)


def test_a_massless_link_between_two_joints():
    """Refused by default; with the option, and nothing to compute it from, it stays massless while something hangs from it."""
    tail = """<link name="c"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial></link>
    <joint name="k" type="continuous"><parent link="b"/><child link="c"/><axis xyz="0 1 0"/></joint>"""
    with pytest.raises(UrdfError, match="link 'b': moves, but has no mass"):
        load_robot(robot("", tail=tail))
    _, model = link(robot("", tail=tail))
    assert model.total_mass == 1
    with pytest.raises(UrdfError, match="'j'"):
        link(robot(""))


def test_a_free_base_needs_mass():
    text = """<robot name="r"><link name="a"/><link name="b"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial></link>
    <joint name="j" type="fixed"><parent link="a"/><child link="b"/></joint></robot>"""
    assert load_robot(text, base="floating").total_mass == 1
    with pytest.raises(UrdfError, match="link 'a': moves, but has no mass"):
        load_robot(text.replace('type="fixed"', 'type="continuous"'), base="floating")


def test_tiny_and_massless_moments():
    """Rounding errors of a zero inertia are zero; moments without mass count as none, with a warning."""
    tiny = '<inertial><mass value="1"/><inertia ixx="-2e-35" iyy="0" izz="2e-35"/></inertial>'
    text = robot(tiny)
    model = load_robot(text)
    np.testing.assert_array_equal(next(k for k in model.links if k.name == "b").inertia, np.zeros((3, 3)))
    base = robot('<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial>').replace(
        '<link name="a"/>',
        '<link name="a"><inertial><mass value="0"/><inertia ixx="1" iyy="1" izz="1"/></inertial></link>',
    )
    assert any("moments of inertia but no mass" in w for w in load_robot(base).warnings)
