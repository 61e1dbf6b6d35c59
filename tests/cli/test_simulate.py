"""`robosim simulate`: results, files and refusals."""

from __future__ import annotations

import json

import numpy as np
import pytest

from robosim import load_robot
from robosim.cli import main
from robosim.cli.simulate import floor
from robosim.simulation import State
from robosim.urdf import bundled_robots


def test_an_arm_swings_and_keeps_its_energy_to_first_order(capsys):
    lost = []
    for dt in ("1ms", "0.5ms", "0.25ms"):
        assert main(["simulate", "ur5", "--for", "200ms", "--dt", dt, "--json"]) == 0
        told = json.loads(capsys.readouterr().out)
        assert told["steps"] == round(0.2 / told["dt"])
        assert (told["status"], told["contacts"]) == ("solved", 0)
        assert told["fastest"] > 0.1
        lost.append(told["energy"][0] - told["energy"][1])
    # Half the step, half the error: 1 % is for the second order.
    np.testing.assert_allclose(np.divide(lost[:-1], lost[1:]), 2, rtol=0.01)


@pytest.mark.parametrize(
    ("robot", "mass"), [("half_cheetah", 14.0), ("jump_worm", 4.0), ("catapult", 1.0)]
)
def test_what_moves_freely_in_a_plane_falls_on_a_floor_too(robot, mass, capsys):
    """In the end the floor carries the robot's weight; of the catapult, the ball's weight."""
    assert main(["simulate", robot, "--for", "2s", "--json"]) == 0
    end = json.loads(capsys.readouterr().out)
    assert end["pushing"] == pytest.approx(mass * 9.80665, rel=1e-6)


def test_a_gripper_falls_on_a_floor_and_lies(capsys, tmp_path):
    curves, page = tmp_path / "fall.png", tmp_path / "fall.html"
    arguments = [
        "simulate",
        "gripper_2f",
        "--base",
        "floating",
        "--for",
        "1s",
        "--plot",
        str(curves),
    ]
    assert main([*arguments, "--render", str(page)]) == 0
    out = capsys.readouterr().out
    assert "gripper_2f: 1000 steps of 1 ms" in out
    assert f"wrote {curves}\nwrote {page}" in out
    assert curves.read_bytes().startswith(b"\x89PNG")
    assert b"contact forces: an arrow of" in page.read_bytes()


def test_the_plot_shows_energy_forces_and_contacts(capsys, monkeypatch):
    """A box-like gripper falls, hits the floor, and comes to rest."""
    from robosim.cli import files

    kept = []
    monkeypatch.setattr(files, "save_figure", lambda figure, name: kept.append(figure))
    assert (
        main(
            ["simulate", "gripper_2f", "--base", "floating", "--for", "500ms", "--plot", "fall.svg"]
        )
        == 0
    )
    _, energies, forces, contacts = kept[0].axes
    kinetic, potential, together = (line.get_ydata() for line in energies.lines)
    assert potential.min() == 0.0
    np.testing.assert_allclose(together, kinetic + potential, rtol=1e-15)
    # Free fall by 1 cm conserves energy to first order in steps of a millisecond; impacts never add
    # energy.
    np.testing.assert_allclose(together[:44], together[0], rtol=0.04)
    assert (np.diff(together) < 1e-12).all()
    normal, friction, weight = (line.get_ydata() for line in forces.lines)
    times = forces.lines[0].get_xdata()
    assert len(times) == 501
    assert not normal[times < 0.043].any()
    assert normal.max() > 10 * weight[0]
    assert forces.get_yscale() == "symlog"
    np.testing.assert_allclose(normal[times > 0.4], weight[0], rtol=1e-6)
    assert friction[-1] == pytest.approx(0, abs=1e-6 * weight[0])
    assert [text.get_text() for text in contacts.get_legend().get_texts()] == [
        "sticking",
        "sliding",
    ]


@pytest.mark.parametrize("driven", [[], ["--hold"]])
def test_a_state_goes_on_to_the_bit(driven, tmp_path):
    half, whole = tmp_path / "half.json", tmp_path / "whole.json"
    run = ["simulate", "ur5", "--scene", "bookshelf_small", *driven]
    assert main([*run, "--for", "100ms", "-o", str(half)]) == 0
    assert main([*run, "--for", "100ms", "--from", str(half), "-o", str(half)]) == 0
    assert main([*run, "--for", "0.2", "-o", str(whole)]) == 0
    assert half.read_bytes() == whole.read_bytes()


@pytest.mark.parametrize("name", ["quadruped", "humanoid"])
def test_motors_hold_a_free_robot_on_its_legs(name, capsys):
    """The gains match the mass that stands on the legs, not the feet that hang from them."""
    how = ["--start", "standing", "--hold", "--for", "1s", "--json"]
    assert main(["simulate", name, *how]) == 0
    told = json.loads(capsys.readouterr().out)
    robot = load_robot(name, base="floating")
    assert told["pushing"] == pytest.approx(robot.total_mass * 9.80665, rel=1e-6)
    for joint, position in zip(
        robot.position_names[7:], robot.configuration("standing")[7:], strict=True
    ):
        assert told["q"][joint] == pytest.approx(position, abs=0.005), joint


def test_a_robot_whose_zero_is_beyond_its_limits_begins_at_them(capsys):
    """From 0.9 rad beyond the limits it would be thrown back at 180 rad/s in the first step."""
    limits = load_robot("quadruped", base="described").limits
    assert (limits.upper < -0.9).any()
    assert main(["simulate", "quadruped", "--for", "1ms", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["fastest"] < 0.5  # gravity, for a millisecond
    assert (np.array(list(told["q"].values())) <= limits.upper + 1e-9).all()


def clearance(name, q):
    """Distance of a robot from the floor [m]."""
    robot = load_robot(name, base="described")
    alone = robot.with_collision_pairs(np.empty((0, 2), dtype=int))
    return floor().compile(alone).min_distance(np.array(list(q.values())))[0]


@pytest.mark.parametrize("name", bundled_robots())
def test_what_nothing_holds_begins_above_a_floor_and_comes_to_rest_on_it(name, capsys):
    robot = load_robot(name, base="described")
    planar = any(joint.kind == "planar" for joint in robot.joints)
    whole = robot.floating_base or name_of_all(robot)
    begin = starts(capsys, name)
    assert main(["simulate", name, "--for", "3s", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["base"]["kind"] == ("floating" if robot.floating_base else "fixed")
    assert told["scene"]["name"] == ("floor" if robot.floating_base or planar else "none")
    assert np.isfinite(list(told["q"].values())).all()
    if robot.floating_base or planar:
        assert told["contacts"] > 0
        assert told["energy"][1] < told["energy"][0]
        assert -1e-3 < clearance(name, told["q"]) < 1e-3
    if whole:
        assert clearance(name, begin) == pytest.approx(0.01, abs=1e-9)


def name_of_all(robot):
    """Return true if a single planar joint carries the whole robot."""
    return [joint.kind for joint in robot.joints if joint.parent == robot.root_link] == ["planar"]


def test_options_overrule_base_and_floor(capsys):
    for name in bundled_robots():
        if not load_robot(name, base="described").floating_base:
            continue
        run = ["simulate", name, "--for", "100ms", "--json"]
        told = {}
        for options in (
            [],
            ["--base", "fixed"],
            ["--scene", "none"],
            ["--base", "floating", "--scene", "none"],
        ):
            assert main([*run, *options]) == 0
            told[" ".join(options)] = json.loads(capsys.readouterr().out)
        held, falls = told["--base fixed"], told["--scene none"]
        assert (held["base"], held["scene"]["name"]) == ({"kind": "fixed", "why": "--base"}, "none")
        assert not any("floating_base" in joint for joint in held["q"])
        assert falls["scene"] == {"name": "none", "why": "--scene"}
        assert falls["contacts"] == 0
        assert falls["q"] == told["--base floating --scene none"]["q"]
        # A hundred steps of a millisecond, each adding g dt to the velocity. The center of mass is
        # compared, since joints swing about it.
        robot = load_robot(name, base="floating")
        fell = robot.center_of_mass(np.array(list(falls["q"].values())))[2]
        begin = robot.center_of_mass(
            np.array(list(starts(capsys, name, "--scene", "none").values()))
        )[2]
        assert fell - begin == pytest.approx(-9.80665 * 1e-6 * 5050, rel=1e-3)


def test_output_says_which_base_and_floor_were_chosen(capsys):
    assert main(["simulate", "quadruped", "--for", "1ms"]) == 0
    out = capsys.readouterr().out
    assert "base        floating (virtual joint of its SRDF)" in out
    assert "scene       floor (something is free to fall; --scene none leaves it out)" in out
    assert main(["simulate", "ur5", "--for", "1ms"]) == 0
    out = capsys.readouterr().out
    assert "base        fixed (by default)" in out
    assert "scene       none (the base is held)" in out


def test_held_joints_stay(capsys):
    assert main(["simulate", "ur5", "--hold", "--for", "500ms", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert max(abs(x) for x in told["q"].values()) < 0.02
    assert told["fastest"] < 0.02


def starts(capsys, *arguments):
    """Positions of a robot after a microsecond."""
    assert main(["simulate", *arguments, "--for", "1e-6s", "--dt", "1e-6s", "--json"]) == 0
    return json.loads(capsys.readouterr().out)["q"]


def test_where_it_begins(capsys):
    legs = starts(capsys, "quadruped", "--start", "standing")
    neutral = starts(capsys, "quadruped")
    assert legs["FL_calf_joint"] < -1.0
    assert neutral["FL_calf_joint"] != pytest.approx(legs["FL_calf_joint"])
    assert legs["floating_base/z"] > 0.1  # on its feet, not with its body on the floor
    one = starts(capsys, "ur5", "--start", "elbow_joint=0.5")
    assert one["elbow_joint"] == pytest.approx(0.5, abs=1e-9)
    given = [0.1, -0.2, 0.3, -0.4, 0.5, -0.6]
    every = starts(capsys, "ur5", "--start", ",".join(map(str, given)))
    np.testing.assert_allclose(list(every.values()), given, atol=1e-9)


@pytest.mark.parametrize(("arguments", "text"), [
    (["--for", "five"], "--for five: expected a positive time such as 5s, 250ms or 1min"),
    (["--for", "0s"], "--for 0s: expected a positive time"),
    (["--for", "1.2.3s"], "--for 1.2.3s: expected a positive time"),
    (["--dt", "0ms"], "--dt 0ms: expected a positive time"),
    (["--for", "1e6min"], "at most 1e7 are taken"),
    (["--friction", "-1"], "material: friction is -1.0; it must not be negative"),
    (["-o", "state.txt"], "the name must end in"),
    (["--render", "fall.jpg"], "--render fall.jpg: the name must end in .html, .png, .gif or .mp4"),
    (["--plot", "a.png", "--render", "a.png"], "--plot writes the same file"),
    (["--from", "nothing.json"], "no such file"),
    (["--start", "nowhere"], "'ur5' has no state 'nowhere'"),
    (["--start", "0.1,0.2"], "q has shape (2,); it must be (..., 6)"),
    (["--start", "0,0,0,0,0,0", "--from", "state.json"],
        "--from: not allowed with argument --start"),
])  # fmt: skip
def test_what_cannot_be_used_is_refused(arguments, text, capsys):
    scene = ["--scene", "bookshelf_small"]
    assert main(["simulate", "ur5", *scene, *arguments]) == 2
    err = capsys.readouterr().err
    assert err.startswith("robosim: error: ")
    assert text in err


def test_what_numbers_do_not_hold_is_told(tmp_path, capsys):
    model = load_robot("ur5")
    State(model.neutral(), 1e200 * np.eye(model.n_v)[0]).save(tmp_path / "wild.json")
    arguments = ["simulate", "ur5", "--from", str(tmp_path / "wild.json"), "--for", "5ms"]
    assert main(arguments) == 3
    assert "from step 0 on; a shorter --dt may help" in capsys.readouterr().out
    assert main([*arguments, "--json"]) == 3
    told = json.loads(capsys.readouterr().out)
    assert (told["status"], told["q"]["elbow_joint"]) == ("diverged", 0)


def test_a_state_of_another_robot_is_refused(tmp_path, capsys):
    State(np.zeros(2), np.zeros(2)).save(tmp_path / "other.json")
    assert main(["simulate", "ur5", "--from", str(tmp_path / "other.json")]) == 2
    assert "q has shape (2,); it must be (..., 6)" in capsys.readouterr().err
