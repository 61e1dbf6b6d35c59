"""`inspect_robot`: plain data that agrees with the model, and reports errors of hulls."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import trimesh

from robosim.urdf import inspect_robot

INERTIAL = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial>'


def test_bundled_robot_as_json():
    report = inspect_robot("ur5")
    data = json.loads(json.dumps(report.to_dict(), allow_nan=False))
    model = report.model
    assert (data["name"], data["n_q"], data["root"]) == ("ur5", 6, model.root_link)
    assert data["mass"] == pytest.approx(sum(k["mass"] for k in data["links"]))
    assert [p["name"] for p in data["positions"]] == list(model.position_names)
    assert all(p["source"].startswith(data["file"]) for p in data["positions"])
    assert all(v["sources"]["acceleration"] == data["joint_limits"] for v in data["velocities"])
    assert sum(len(c["names"]) for c in data["colliders"]) == len(model.colliders)
    assert data["hull_only_pairs"] == []
    lines = Path(data["file"]).read_text().splitlines()
    assert all(f'name="{k["name"]}"' in lines[k["line"] - 1] for k in data["links"])
    assert all(f'name="{j["name"]}"' in lines[j["line"] - 1] for j in data["joints"])


@pytest.fixture
def peg_in_slot(tmp_path):
    """A channel (mesh) and a peg that slides along its slot.

    The peg is free, but inside the channel's hull.
    """
    outline = np.array([[0, 0], [3, 0], [3, 2], [2, 2], [2, 0.5], [1, 0.5], [1, 2], [0, 2]])
    caps = [[0, 1, 4], [0, 4, 5], [1, 2, 4], [2, 3, 4], [0, 5, 7], [5, 6, 7]]
    vertices = np.vstack([np.column_stack([outline, np.full(8, z)]) for z in (0.0, 4.0)])
    sides = [
        f
        for i in range(8)
        for f in ([i, (i + 1) % 8, 8 + i], [(i + 1) % 8, 8 + (i + 1) % 8, 8 + i])
    ]
    faces = [c[::-1] for c in caps] + [[8 + i for i in c] for c in caps] + sides
    trimesh.Trimesh(vertices, faces, process=False).export(tmp_path / "channel.stl")
    path = tmp_path / "r.urdf"
    # A link without colliders between channel and peg, so that the pair is not adjacent.
    path.write_text(
        '<robot name="r"><link name="root"/>\n'
        f'<link name="channel">{INERTIAL}<collision><geometry><mesh filename="channel.stl"/>'
        "</geometry></collision></link>\n"
        f'<link name="peg">{INERTIAL}<collision><geometry><box size="0.8 1 1"/>'
        "</geometry></collision></link>\n"
        '<joint name="turn" type="revolute"><parent link="root"/><child link="channel"/>'
        '<axis xyz="0 0 1"/><limit lower="-0.01" upper="0.01" effort="1" velocity="1"/></joint>\n'
        '<joint name="slide" type="prismatic"><parent link="root"/><child link="peg"/>'
        '<origin xyz="1.5 1.2 2"/><axis xyz="0 0 1"/>'
        '<limit lower="-1" upper="1" effort="1" velocity="1"/>'
        '<safety_controller soft_upper_limit="0.9" k_velocity="1"/></joint></robot>'
    )
    return path


def test_pairs_that_collide_only_because_of_a_hull(peg_in_slot):
    report = inspect_robot(peg_in_slot, exact_meshes=False)
    (pair,) = report.hull_pairs
    assert pair.links == ("channel", "peg")
    assert pair.example == "neutral"
    assert pair.overlaps == report.hull_samples + 1
    assert pair.tested > 0
    assert not pair.checked, (
        "the hull swallows the peg, so that the filter took them for always touching"
    )
    channel = next(c for c in report.colliders if c.link == "channel")
    assert channel.fidelity.faces == 28
    assert not channel.fidelity.convex
    assert abs(channel.fidelity.standoff - 0.5) <= channel.fidelity.resolution
    assert channel.fidelity.left_out == pytest.approx(0, abs=1e-6)
    peg = next(c for c in report.colliders if c.link == "peg")
    assert (peg.type, peg.fidelity, peg.mesh, peg.exact) == ("box", None, None, False)


def test_no_pair_collides_only_because_of_a_hull_where_meshes_decide(peg_in_slot):
    report = inspect_robot(peg_in_slot)
    assert report.hull_pairs == ()
    channel, peg = report.colliders
    assert (channel.exact, peg.exact) == (True, False)
    model = report.loaded.model
    assert len(model.collision_pairs) == 1, "the filter finds the peg free in its slot"


def test_a_true_collision_is_not_blamed_on_the_hull(peg_in_slot):
    text = peg_in_slot.read_text()
    peg_in_slot.write_text(text.replace('<box size="0.8 1 1"/>', '<box size="1.2 1 1"/>'))
    assert inspect_robot(peg_in_slot, exact_meshes=False).hull_pairs == ()


def test_pieces_clear_the_slot(peg_in_slot):
    pytest.importorskip("coacd", reason="coacd is not installed")
    pieces = {"convex": {"channel": "pieces"}, "piece_threshold": 0.2}
    report = inspect_robot(peg_in_slot, exact_meshes=False, **pieces)
    channel = next(c for c in report.colliders if c.link == "channel")
    assert channel.fidelity.pieces == len(channel.names) >= 2
    assert channel.fidelity.standoff < 0.25
    assert report.hull_pairs == ()


def test_sources_of_limits(peg_in_slot):
    report = inspect_robot(
        peg_in_slot,
        joint_limits={"turn": {"max_velocity": 2, "min_position": -1, "max_position": 1}},
    )
    data = report.to_dict()
    turn, slide = data["positions"]
    assert turn["source"] == "argument joint_limits"
    assert slide["source"].endswith("r.urdf:5, narrowed by its safety_controller")
    assert slide["upper"] == 0.9
    assert data["velocities"][0]["sources"] == {
        "velocity": "argument joint_limits",
        "effort": f"{peg_in_slot}:4",
        "acceleration": "default",
    }
    assert data["self_collision_filter"]["samples"] == 10_000
