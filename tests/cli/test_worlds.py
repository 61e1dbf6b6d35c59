"""Commands that take a world file in place of a robot."""

from __future__ import annotations

import json

import numpy as np
import pytest

import robosim
from robosim.cli import main
from robosim.planners import JointGoal, Problem, plan
from robosim.scene import load_scene
from robosim.simulation import Control, Simulation, State
from robosim.trajectory import Trajectory
from robosim.world import World

CELL = """\
format: robosim-world
version: 1
name: cell
scene: {objects: [{name: floor, half_space: {}}]}
parts:
  - {name: left, robot: ur5, pose: {xyz: [0, 0.5, 0.02]},
     q: {shoulder_lift_joint: -1.2, elbow_joint: 1.0}}
  - {name: right, robot: ur5, pose: {xyz: [0, -0.5, 0.02]},
     q: {shoulder_lift_joint: -1.2, elbow_joint: 1.0}}
  - {name: hand, robot: gripper_2f, on: left/tool0}
  - {name: crate, body: {box: {size: [0.1, 0.1, 0.1]}}, mass: 0.5, pose: {xyz: [0.4, 1.2, 0.05]}}
materials: [{of: crate, friction: 0.7}]
motors: {left/elbow_joint: {position_gain: 2000, velocity_gain: 100}}
"""


@pytest.fixture
def cell(tmp_path):
    file = tmp_path / "cell.yaml"
    file.write_text(CELL)
    return file


def printed(capsys, *arguments):
    code = main([str(argument) for argument in arguments])
    return code, json.loads(capsys.readouterr().out)


def test_a_plan_begins_where_the_world_does(cell, tmp_path, capsys):
    """The plan moves only the requested group.

    An object that rests on the floor is not part of the clearance.
    """
    out = tmp_path / "plan.json"
    options = ("--goal", "left/elbow_joint=1.4", "--group", "left/manipulator", "-o", out, "--json")
    code, summary = printed(capsys, "plan", cell, *options)
    assert code == 0
    assert summary["robot"] == "cell"
    assert summary["clearance"]["distance"] > 0.01
    assert "floor" in summary["clearance"]["between"]
    assert not any("crate" in name for name in summary["clearance"]["between"])

    world, trajectory = World.load(cell), Trajectory.load(out)
    assert np.array_equal(trajectory.configuration(0.0, world.model, world.start), world.start)
    goal = JointGoal({"left/elbow_joint": 1.4})
    problem = Problem(
        world.model, world.scene, start=world.start, goal=goal, group="left/manipulator"
    )
    assert np.array_equal(plan(problem).trajectory.coefficients, trajectory.coefficients)


def test_a_start_by_name_leaves_the_others_where_the_world_has_them(cell, capsys):
    options = ("--start", "left/elbow_joint=0.8", "--goal", "left/elbow_joint=1.4", "--json")
    code, summary = printed(capsys, "plan", cell, *options)
    assert code == 0
    ways = {joint["name"]: joint["way"] for joint in summary["joints"]}
    assert ways["left/elbow_joint"] == pytest.approx(0.6, abs=1e-3)


def test_a_simulation_is_of_the_file_and_its_motors_hold(cell, tmp_path, capsys):
    out = tmp_path / "state.json"
    code, summary = printed(capsys, "simulate", cell, "--for", "100ms", "-o", out, "--json")
    assert code == 0
    assert summary["scene"]["why"] == summary["base"]["why"] == "world file"
    world = World.load(cell)
    simulation = Simulation(world)
    start = simulation.state()
    end = simulation.rollout(start, 100, Control(q_target=start.q)).end
    state = State.load(out)
    assert np.array_equal(state.q, end.q)
    assert np.array_equal(state.v, end.v)
    assert abs(summary["q"]["left/elbow_joint"] - 1.0) < 0.05
    assert abs(summary["q"]["right/elbow_joint"] - 1.0) > 0.05  # the joint has no motor
    code, held = printed(capsys, "simulate", cell, "--for", "100ms", "--hold", "--json")
    assert code == 0
    assert abs(held["q"]["right/elbow_joint"] - 1.0) < 0.02


def test_a_picture_has_all_of_it(cell, tmp_path):
    out = tmp_path / "cell.png"
    assert main(["render", str(cell), "-o", str(out), "--size", "200x150"]) == 0
    assert out.stat().st_size > 1000


@pytest.mark.parametrize(
    ("arguments", "flag"),
    [
        (("simulate", "--scene", "none"), "--scene"),
        (("simulate", "--base", "fixed"), "--base"),
        (("simulate", "--friction", "0.5"), "--friction"),
        (("render", "-o", "out.png", "--convex", "mesh"), "--convex"),
        (("plan", "--no-exact-meshes"), "--no-exact-meshes"),
        (("plan", "--package-dir", "."), "--package-dir"),
        (("view", "--strict"), "--strict"),
    ],
)
def test_what_a_world_file_says_is_not_said_again(cell, arguments, flag, capsys):
    command, *options = arguments
    assert main([command, str(cell), *options]) == 2
    assert f"is a world file, which says that itself; leave out {flag}" in capsys.readouterr().err


def test_a_file_of_another_kind_is_refused_with_its_place(tmp_path, capsys):
    scene = tmp_path / "scene.yaml"
    scene.write_text("format: robosim-scene\nversion: 1\nobjects: []\n")
    assert main(["simulate", str(scene)]) == 2
    assert f"{scene}:1: " in capsys.readouterr().err


def test_robots_still_begin_where_their_scene_says(capsys):
    scene = load_scene("bookshelf_small", model=robosim.load_robot("ur5"))
    code, summary = printed(
        capsys, "simulate", "ur5", "--scene", "bookshelf_small", "--hold", "--for", "5ms", "--json"
    )
    assert code == 0
    for joint, position in scene.starts["start"].items():
        assert summary["q"][joint] == pytest.approx(position, abs=1e-3)
