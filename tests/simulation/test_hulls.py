"""Links whose hulls overlap, but not their meshes: simulations warn and do not separate them."""

from __future__ import annotations

import json
import warnings

import pytest
import trimesh

import robosim
from robosim.cli import main
from robosim.simulation import Simulation
from robosim.world import World

from ..concave import channel  # noqa: TID252 (tests have no absolute name)

INERTIAL = (
    '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0"'
    ' iyz="0"/></inertial>'
)
TOLD = (
    "1 pair of links overlap by their hulls in the neutral configuration, and not by their meshes;"
    " simulations do not press them apart: channel and peg"
)


@pytest.fixture
def peg_in_slot(tmp_path):
    """A peg that slides along the slot of a channel, inside the channel's hull, and a gate.

    The peg can collide with the gate.
    """
    hollow = channel()
    trimesh.Trimesh(hollow.vertices, hollow.faces, process=False).export(tmp_path / "channel.stl")
    limit = '<limit lower="-1" upper="1" effort="1" velocity="1"/>'
    links = {
        "channel": '<mesh filename="channel.stl"/>',
        "peg": '<box size="0.1 0.1 0.1"/>',
        "gate": '<box size="0.1 0.1 0.02"/>',
    }
    path = tmp_path / "r.urdf"
    path.write_text(
        '<robot name="slot"><link name="root"/>'
        + "".join(
            "<link"
            f' name="{name}">{INERTIAL}<collision><geometry>{shape}</geometry></collision></link>'
            for name, shape in links.items()
        )
        + "".join(
            f'<joint name="to_{name}" type="prismatic"><parent link="root"/><child link="{name}"/>'
            f'<origin xyz="{xyz}"/><axis xyz="0 0 1"/>{limit}</joint>'
            for name, xyz in (("channel", "0 0 0"), ("peg", "0 0 0"), ("gate", "0 0 0.5"))
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
    # Pairs that may collide stay.
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
