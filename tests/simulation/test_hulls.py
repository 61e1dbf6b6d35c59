"""Links whose hulls overlap though their meshes do not: simulations leave them alone, and say so."""

from __future__ import annotations

import json
import warnings

import numpy as np
import pytest
import trimesh

import robosim
from robosim.cli import main
from robosim.simulation import Simulation
from robosim.world import World

INERTIAL = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
TOLD = (
    "1 pair of links overlap by their hulls in the neutral configuration, and not by their meshes; simulations do not "
    "press them apart: channel and peg"
)


@pytest.fixture
def peg_in_slot(tmp_path):
    """A peg that slides along the slot of a channel, inside the channel's hull; and a gate that it can run into."""
    outline = np.array([[0, 0], [3, 0], [3, 2], [2, 2], [2, 0.5], [1, 0.5], [1, 2], [0, 2]])
    caps = [[0, 1, 4], [0, 4, 5], [1, 2, 4], [2, 3, 4], [0, 5, 7], [5, 6, 7]]
    vertices = np.vstack([np.column_stack([outline, np.full(8, z)]) for z in (0.0, 4.0)])
    sides = [f for i in range(8) for f in ([i, (i + 1) % 8, 8 + i], [(i + 1) % 8, 8 + (i + 1) % 8, 8 + i])]
    faces = [c[::-1] for c in caps] + [[8 + i for i in c] for c in caps] + sides
    trimesh.Trimesh(vertices, faces, process=False).export(tmp_path / "channel.stl")
    limit = '<limit lower="-1" upper="1" effort="1" velocity="1"/>'
    links = {
        "channel": '<mesh filename="channel.stl"/>',
        "peg": '<box size="0.8 1 1"/>',
        "gate": '<box size="0.8 1 0.1"/>',
    }
    path = tmp_path / "r.urdf"
    path.write_text(
        '<robot name="slot"><link name="root"/>'
        + "".join(
            f'<link name="{name}">{INERTIAL}<collision><geometry>{shape}</geometry></collision></link>'
            for name, shape in links.items()
        )
        + "".join(
            f'<joint name="to_{name}" type="prismatic"><parent link="root"/><child link="{name}"/>'
            f'<origin xyz="{xyz}"/><axis xyz="0 0 1"/>{limit}</joint>'
            for name, xyz in (("channel", "0 0 0"), ("peg", "1.5 1.2 2"), ("gate", "1.5 1.2 4.2"))
        )
        + "</robot>"
    )
    return path


def test_they_are_not_pressed_apart_and_a_warning_tells(peg_in_slot):
    model = robosim.load_robot(peg_in_slot)
    with pytest.warns(UserWarning, match=TOLD) as told:
        simulation = Simulation(World(model))
    assert told[0].filename == __file__
    assert simulation.left_out == (("channel", "peg"),)
    state = simulation.state()
    step = simulation.linearize(state)
    assert not [c for c in step.contacts if {c.A, c.B} == {"channel/0", "peg/0"}]
    # What may run into each other stays.
    assert {"peg/0", "gate/0"} in [set(pair) for pair in simulation.pairs]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert simulation.with_parameters({"gravity": [0, 0, 0]}).left_out == simulation.left_out
        assert Simulation(World(robosim.load_robot("ur5"))).left_out == ()


def test_commands_tell(peg_in_slot, capsys):
    assert main(["inspect", str(peg_in_slot)]) == 0
    assert TOLD in capsys.readouterr().out
    assert main(["inspect", str(peg_in_slot), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["left_out_of_simulations"] == [["channel", "peg"]]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert main(["simulate", str(peg_in_slot), "--scene", "none", "--for", "10ms"]) == 0
    assert TOLD in capsys.readouterr().out
