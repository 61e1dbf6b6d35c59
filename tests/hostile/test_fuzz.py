"""Random damage to valid files: only RobosimError may be raised, and in time.

Each round applies a few random edits to a valid file: bytes flipped, pieces cut, doubled or
swapped, numbers replaced by hostile ones, tags and attributes exchanged. A failure prints the seed
that reproduces it.
"""

from __future__ import annotations

import random
import re
import time

import numpy as np
import pytest

from robosim.errors import RobosimError
from robosim.meshes import load_mesh
from robosim.urdf import load_robot

from ..scale import repeats  # noqa: TID252 (tests have no absolute name)

ROUNDS = repeats(60, 3000)  # per kind
NUMBERS = [
    b"nan",
    b"inf",
    b"-inf",
    b"1e308",
    b"1e-308",
    b"-1",
    b"0",
    b"",
    b"1e5",
    b"9" * 400,
    b"0x10",
    b"1,5",
    b"4294967295",
]
WORDS = [
    b"link",
    b"joint",
    b"name",
    b"type",
    b"fixed",
    b"floating",
    b"planar",
    b"mimic",
    b"origin",
    b"mesh",
    b"&x;",
    b"<",
    b'"',
]

URDF = b"""<?xml version="1.0"?>
<robot name="fuzz">
  <material name="gray"><color rgba="0.5 0.5 0.5 1"/></material>
  <link name="base"><inertial><mass value="2"/><inertia ixx="1" iyy="1" izz="1"/></inertial>
    <collision name="c"><origin xyz="0 0 0.1" rpy="0 0 1"/><geometry>\
<box size="0.1 0.2 0.3"/></geometry></collision></link>
  <link name="arm"><inertial><origin xyz="0 0 0.2"/><mass value="1.5"/>\
<inertia ixx="0.02" iyy="0.02" izz="0.01" ixy="0.001"/></inertial>
    <visual><geometry><cylinder radius="0.05" length="0.4"/></geometry>\
<material name="gray"/></visual>
    <collision><geometry><capsule radius="0.05" length="0.4"/></geometry></collision></link>
  <link name="hand"><inertial><mass value="0.5"/>\
<inertia ixx="0.01" iyy="0.01" izz="0.01"/></inertial>
    <collision><geometry><mesh filename="cube.stl" scale="0.1 0.1 -0.1"/></geometry>\
</collision></link>
  <link name="tool"/>
  <joint name="shoulder" type="revolute"><parent link="base"/><child link="arm"/>\
<origin xyz="0 0 0.3" rpy="0.1 0.2 0.3"/>
    <axis xyz="0 1 0"/><limit lower="-2" upper="2" effort="50" velocity="3"/>\
<dynamics damping="0.1" friction="0.2"/>
    <safety_controller soft_lower_limit="-1.5" soft_upper_limit="1.5" k_velocity="1"/></joint>
  <joint name="slide" type="prismatic"><parent link="arm"/><child link="hand"/><axis xyz="0 0 1"/>
    <limit lower="0" upper="0.1" effort="5" velocity="0.3"/>\
<mimic joint="shoulder" multiplier="0.03" offset="0.05"/></joint>
  <joint name="weld" type="fixed"><parent link="hand"/><child link="tool"/></joint>
  <gazebo reference="arm"/>
</robot>
"""
SRDF = b"""<robot name="fuzz"><group name="g"><chain base_link="base" tip_link="tool"/></group>
<group_state name="home" group="g"><joint name="shoulder" value="0.5"/></group_state>
<end_effector name="e" parent_link="tool" group="g"/>\
<disable_collisions link1="base" link2="arm" reason="Adjacent"/></robot>"""
LIMITS = b"""joint_limits:
  shoulder:
    has_velocity_limits: true
    max_velocity: 2.5
    max_acceleration: 7
"""


def damaged(data: bytes, rng: random.Random) -> bytes:
    """The data with one to four random edits."""
    for _ in range(rng.randint(1, 4)):
        at, length = rng.randrange(len(data) + 1), rng.choice([1, 1, 3, 10, 60])
        numbers = [m.span() for m in re.finditer(rb"-?\d+\.?\d*", data)]
        words = [m.span() for m in re.finditer(rb"[a-z_]{3,}", data)]
        match rng.randrange(7):
            case 0:
                data = (
                    data[:at]
                    + bytes(rng.randrange(256) for _ in range(length))
                    + data[at + length :]
                )
            case 1:
                data = data[:at] + data[at + length :]
            case 2:
                data = (
                    data[:at]
                    + data[at : at + length] * rng.choice([2, 2, 50])
                    + data[at + length :]
                )
            case 3:
                data = data[: rng.randrange(len(data) + 1)]
            case 4 if numbers:
                begin, end = rng.choice(numbers)
                data = data[:begin] + rng.choice(NUMBERS) + data[end:]
            case 5 if words:
                begin, end = rng.choice(words)
                data = data[:begin] + rng.choice(WORDS) + data[end:]
            case _:
                other = rng.randrange(len(data) + 1)
                data = data[:at] + data[other : other + length] + data[at:]
    return data


def cube(suffix: str) -> bytes:
    import trimesh

    exported = trimesh.creation.box().export(file_type=suffix)
    return exported if isinstance(exported, bytes) else exported.encode()


def rounds(data: bytes, kind: str, call) -> None:
    accepted = 0
    for seed in range(ROUNDS):
        begin = time.process_time()
        try:
            call(damaged(data, random.Random(f"{kind} {seed}")))
            accepted += 1
        except RobosimError as e:
            if not str(e):
                pytest.fail(f"{kind} {seed}: an error without a message")
        except BaseException as e:
            raise AssertionError(f"{kind} {seed}: {type(e).__name__} escaped: {e}") from e
        assert time.process_time() - begin < 2.0, f"{kind} {seed}: took too long"
    assert accepted < ROUNDS, "the damage is too weak to test anything"


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "cube.stl").write_bytes(cube("stl"))
    return tmp_path


def assert_works(path) -> None:
    """Assert that an accepted file has finite poses, inertia matrix and torques at q = 0.

    The robot is at rest.
    """
    model = load_robot(path, filter_self_collisions=False)
    q, rest = model.neutral(), np.zeros(model.n_v)
    assert all(np.all(np.isfinite(X)) for X in model.link_poses(q).values())
    assert np.all(np.isfinite(model.mass_matrix(q)))
    assert np.all(np.isfinite(model.inverse_dynamics(q, rest, rest)))
    assert np.all(np.isfinite(model.joint_forces(q, rest)))
    assert np.isfinite(model.potential_energy(q))


def test_urdf(folder):
    def call(data):
        (folder / "r.urdf").write_bytes(data)
        assert_works(folder / "r.urdf")

    rounds(URDF, "urdf", call)


@pytest.mark.parametrize("seed", [2352])
def test_urdf_that_once_escaped(folder, seed):
    """The seed of this damage is used by the full campaign only."""
    (folder / "r.urdf").write_bytes(damaged(URDF, random.Random(f"urdf {seed}")))
    with pytest.raises(RobosimError, match="more than numbers can hold"):
        load_robot(folder / "r.urdf", filter_self_collisions=False)


@pytest.mark.parametrize(
    "size", [b"1e308", b"-1e308", b"1e200", b"1e154", b"1e100", b"1e-154", b"1e-308"]
)
def test_each_number_so_large_that_products_overflow(folder, size):
    """Replace each number of a description in turn: it is refused, or all results are finite."""
    spans = [m.span() for m in re.finditer(rb'(?<=[" ])-?\d+\.?\d*(?=[" ])', URDF)]
    assert len(spans) > 60
    refused = 0
    for begin, end in spans:
        (folder / "r.urdf").write_bytes(URDF[:begin] + size + URDF[end:])
        try:
            assert_works(folder / "r.urdf")
        except RobosimError:
            refused += 1
    assert refused > 0 or b"e-" in size


def test_srdf(folder):
    (folder / "r.urdf").write_bytes(URDF)

    def call(data):
        (folder / "x.srdf").write_bytes(data)
        load_robot(folder / "r.urdf", srdf=folder / "x.srdf", filter_self_collisions=False)

    rounds(SRDF, "srdf", call)


def test_joint_limits(folder):
    (folder / "r.urdf").write_bytes(URDF)

    def call(data):
        (folder / "limits.yaml").write_bytes(data)
        load_robot(
            folder / "r.urdf", joint_limits=folder / "limits.yaml", filter_self_collisions=False
        )

    rounds(LIMITS, "limits", call)


@pytest.mark.parametrize("suffix", ["stl", "stl_ascii", "obj", "dae", "ply", "glb"])
def test_mesh(suffix, tmp_path):
    path = tmp_path / f"m.{suffix[:3]}"

    def call(data):
        path.write_bytes(data)
        mesh = load_mesh(path)
        assert np.all(np.isfinite(mesh.triangles))

    rounds(cube(suffix), suffix, call)
