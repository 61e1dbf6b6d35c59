"""Every command end to end, on the bundled robot and scenes."""

import json
import os
import signal
import socket
import subprocess

import numpy as np
import pytest

from robosim import load_robot
from robosim.cli import main
from robosim.scene import load_scene
from robosim.trajectory import Trajectory
from robosim.urdf import bundled_robots

from ..isolated import PYTHON  # noqa: TID252

SHELF = ["plan", "ur5", "--scene", "bookshelf_small"]
HOME = "0,-1.57,0,-1.57,0,0"


def robosim(*arguments, **options):
    options = {"capture_output": True, "text": True, "timeout": 120, **options}
    return subprocess.run([*PYTHON, "-m", "robosim.cli", *arguments], check=False, **options)


@pytest.fixture(scope="module")
def plan_file(tmp_path_factory):
    path = tmp_path_factory.mktemp("plan") / "plan.json"
    assert main([*SHELF, "-o", str(path)]) == 0
    return path


def test_plan_in_a_pipe(tmp_path):
    done = robosim(*SHELF, "-o", "plan.json", cwd=tmp_path)
    assert done.returncode == 0
    assert done.stderr == ""
    assert "\x1b" not in done.stdout
    for part in (
        "ur5 in bookshelf_small: solved",
        "duration",
        "clearance",
        "self-clearance",
        "wrist_3_joint",
        "search",
        "total",
        "wrote plan.json",
    ):
        assert part in done.stdout
    assert [p.name for p in tmp_path.iterdir()] == ["plan.json"]
    trajectory = Trajectory.load(tmp_path / "plan.json")
    assert trajectory.robot == "ur5"
    assert trajectory.seed == 0
    assert trajectory.validate() == []


def test_json_is_all_that_stdout_gets(tmp_path, capsys):
    assert main([*SHELF, "--json", "-o", str(tmp_path / "plan.npz")]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    data = json.loads(out)
    assert data["ok"]
    assert data["status"] == "solved"
    assert data["scene"] == "bookshelf_small"
    assert data["written"] == [str(tmp_path / "plan.npz")]
    # The clearance to the scene, and the clearance between the robot's own parts.
    assert data["clearance"]["distance"] > 0
    assert set(data["clearance"]["between"]) & set(load_scene("bookshelf_small").objects)
    assert data["self_clearance"]["distance"] > 0
    assert all("link" in name for name in data["self_clearance"]["between"])
    trajectory = Trajectory.load(tmp_path / "plan.npz")
    assert np.isclose(data["duration"], trajectory.duration)
    for joint in data["joints"]:
        for quantity in ("velocity", "acceleration", "torque"):
            assert joint[quantity] <= joint[f"{quantity}_limit"] * (1 + 1e-6)


def test_what_is_held_has_clearance_to_the_scene_and_to_the_robot():
    from robosim.cli.report import summarize
    from robosim.geometry import pose
    from robosim.planners import Problem, plan
    from robosim.scene import Scene
    from robosim.urdf import load_robot

    ur5, scene = load_robot("ur5"), Scene("held")
    start, goal = [0, -1.2, 1.2, -1.6, -1.6, 0], [0.4, -1.2, 1.2, -1.6, -1.6, 0]
    at = ur5.frame_pose(start, "tool0")[:3, 3]
    scene.add_sphere("ball", 0.02)
    scene.attach("ball", "tool0", pose=pose((0, 0, 0.03)))
    summary = summarize(plan(Problem(ur5, scene, start, goal)), ur5, scene)
    assert summary["clearance"] is None, "nothing stands around"
    near = summary["self_clearance"]
    scene.add_box("shelf", (0.2, 0.2, 0.1), pose((at[0], at[1], at[2] - 0.2)))
    allowed = scene.allowed
    with_shelf = summarize(plan(Problem(ur5, scene, start, goal)), ur5, scene)
    # The ball's lowest point is 3 + 2 cm below the flange, the shelf's top 15 cm below.
    assert with_shelf["clearance"]["distance"] == pytest.approx(0.1, abs=2e-3)
    assert set(with_shelf["clearance"]["between"]) == {"ball", "shelf"}
    assert with_shelf["self_clearance"]["distance"] == pytest.approx(near["distance"], abs=1e-4)
    assert scene.allowed == allowed


def test_same_seed_same_file(plan_file, tmp_path):
    again, other = tmp_path / "again.json", tmp_path / "other.json"
    assert main([*SHELF, "-o", str(again)]) == 0
    assert main([*SHELF, "--seed", "5", "-o", str(other)]) == 0
    assert again.read_bytes() == plan_file.read_bytes()
    assert other.read_bytes() != plan_file.read_bytes()


@pytest.mark.parametrize(
    ("goal", "expected"),
    [
        (["--goal", "-0.5,-1.2,1.1,-1.5,-1.5,0.3"], [-0.5, -1.2, 1.1, -1.5, -1.5, 0.3]),
        (["--goal", "elbow_joint=0.5,wrist_3_joint=-1"], [0, -1.57, 0.5, -1.57, 0, -1]),
        (["--goal-named", "ready"], None),
    ],
)
def test_goals_in_joint_space(goal, expected, tmp_path, capsys):
    path = tmp_path / "plan.csv"
    assert main(["plan", "ur5", "--start", HOME, *goal, "-o", str(path)]) == 0
    trajectory = Trajectory.load(path)
    if expected is None:
        (ready,) = (s for s in load_robot("ur5").named_states if s.name == "ready")
        expected = [ready.positions[name] for name in trajectory.position_names]
    assert np.allclose(trajectory.position(0.0), [0, -1.57, 0, -1.57, 0, 0], atol=1e-9)
    assert np.allclose(trajectory.position(trajectory.duration), expected, atol=1e-9)


@pytest.mark.parametrize("frame", [[], ["--frame", "wrist_3_link"]])
def test_goal_pose(frame, tmp_path, capsys):
    path = tmp_path / "plan.json"
    pose = ["-0.4", "0.2", "0.5", "0", "1", "0", "0"]
    assert (
        main(["plan", "ur5", "--start", "ready", "--goal-pose", *pose, *frame, "-o", str(path)])
        == 0
    )
    model, trajectory = load_robot("ur5"), Trajectory.load(path)
    X = model.frame_pose(trajectory.position(trajectory.duration), frame[-1] if frame else "tool0")
    assert np.allclose(X[:3, 3], [-0.4, 0.2, 0.5], atol=1e-5)
    assert np.allclose(X[:3, :3], np.diag([-1, 1, -1]), atol=1e-5)


def test_scaling_slows_down(capsys):
    durations = []
    for options in (
        [],
        ["--velocity-scaling", "0.25"],
        ["--acceleration-scaling", "0.25"],
        ["--jerk-limit", "20"],
    ):
        assert (
            main(["plan", "ur5", "--start", HOME, "--goal-named", "ready", "--json", *options]) == 0
        )
        durations.append(json.loads(capsys.readouterr().out)["duration"])
    assert min(durations[1:]) > 1.05 * durations[0]


def test_unwinding(capsys):
    """From a full turn to 0: nothing to do, unless the positions are to be reached as given."""
    command = [
        "plan",
        "ur5",
        "--start",
        "wrist_3_joint=6.283",
        "--goal",
        "wrist_3_joint=0",
        "--json",
    ]
    durations = []
    for options in ([], ["--full-turns"], ["--no-full-turns"]):
        assert main([*command, *options]) == 0
        durations.append(json.loads(capsys.readouterr().out)["duration"])
    assert max(durations[:2]) < 0.1
    assert durations[2] > 1.5  # at most pi rad/s
    assert main(["plan", "ur5", "--scene", "bookshelf_small", "--no-full-turns"]) == 2
    assert "--no-full-turns is about --goal" in capsys.readouterr().err


def test_no_plan_is_code_3_with_the_reason(tmp_path, capsys):
    output = tmp_path / "none.json"
    far = ["--goal-pose", "5", "0", "0", "0", "0", "0", "1"]
    assert main(["plan", "ur5", *far, "-o", str(output)]) == 3
    out, _ = capsys.readouterr()
    assert "goal unreachable" in out
    assert " m" in out.splitlines()[1]
    assert not output.exists()
    assert main(["plan", "ur5", "--goal", "elbow_joint=3.1", "--start", HOME, "--json"]) == 3
    data = json.loads(capsys.readouterr().out)
    assert data["status"] == "goal in collision"
    assert "link" in data["reason"]
    assert not data["ok"]
    assert data["duration"] is None


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["plan", "ur55", "--goal", "0"], "ur55"),
        (["plan", "ur5"], "there is no goal"),
        (["plan", "ur5", "--scene", "bookshelf_smal"], "bookshelf_small"),
        (["plan", "ur5", "--scene", "none.yaml"], "none.yaml"),
        (["plan", "ur5", "--goal", "1,2,3"], "6"),
        (["plan", "ur5", "--goal", "1,2,3,4,5,x"], "'x' is not a number"),
        (["plan", "ur5", "--goal", "elbow=1"], "elbow_joint"),
        (["plan", "ur5", "--goal", "nan,0,0,0,0,0"], "nan"),
        (["plan", "ur5", "--goal-named", "hom"], "home"),
        (["plan", "ur5", "--goal-pose", *"0001111"], "length 2;"),
        (["plan", "ur5", "--goal-pose", *"1000001", "--frame", "tool9"], "tool9"),
        (
            ["plan", "ur5", "--goal-named", "home", "--frame", "tool0"],
            "--frame is about --goal-pose",
        ),
        (["plan", "ur5", "--goal-named", "home", "--planner", "magic"], "rrt_connect"),
        (["plan", "ur5", "--goal-named", "home", "--group", "leg"], "leg"),
        (["plan", "ur5", "--goal-named", "home", "--velocity-scaling", "2"], "2"),
        (["plan", "ur5", "--goal-named", "home", "--budget", "-1"], "-1"),
        (["plan", "ur5", "--goal-named", "home", "-o", "plan.txt"], ".json, .csv or .npz"),
        (["plan", "ur5", "--goal-named", "home", "-o", "nowhere/plan.json"], "nowhere"),
        (
            ["plan", "ur5", "--goal-named", "home", "--plot", "a.png", "--render", "a.png"],
            "same file",
        ),
        (["inspect", "none.urdf"], "none.urdf"),
        (["inspect", "broken.urdf"], "broken.urdf:2"),
        (["view", "ur5", "--trajectory", "none.json"], "none.json"),
        (["view", "ur5", "--host", "203.0.113.7"], "203.0.113.7"),
        (["render", "ur5", "-o", "a.jpg"], ".html, .png, .gif or .mp4"),
        (["render", "ur5", "-o", "a.png", "--size", "big"], "1200x900"),
        (["render", "ur5", "-o", "a.png", "--size", "9x9"], "9 x 9"),
    ],
)
def test_bad_input_is_one_line_with_the_remedy_and_code_2(
    arguments, expected, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "broken.urdf").write_text("<robot name='r'>\n<link name='a'></lnk>\n</robot>\n")
    assert main(arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("robosim: error: ")
    assert expected in err
    assert err.count("\n") == 1
    assert [p.name for p in tmp_path.iterdir()] == ["broken.urdf"]


def test_plot_and_render(tmp_path, capsys):
    from PIL import Image

    plot, page = tmp_path / "plot.png", tmp_path / "motion.html"
    pytest.importorskip("viser", reason="the extra `view` is not installed")
    assert main([*SHELF, "--plot", str(plot), "--render", str(page)]) == 0
    with Image.open(plot) as image:
        assert min(image.size) > 300
    assert b"__VISER_EMBED_DATA__" in page.read_bytes()
    assert capsys.readouterr().out.count("wrote ") == 2


def test_plan_and_view(monkeypatch, capsys):
    shown = []
    monkeypatch.setattr(
        "robosim.viewer.show", lambda *what, **options: shown.append((what, options))
    )
    assert main([*SHELF, "--view", "--json"]) == 0
    json.loads(capsys.readouterr().out)
    ((model, scene, trajectory), options) = shown[0]
    assert (model.name, scene.name) == ("ur5", "bookshelf_small")
    assert np.allclose(options["q"][: trajectory.n], trajectory.position(0.0))


def test_render_png(plan_file, tmp_path, capsys):
    from PIL import Image

    path = tmp_path / "motion.png"
    options = ["--size", "160x120", "--ghosts", "1", "--azimuth", "-60", "--elevation", "20"]
    assert (
        main(
            [
                "render",
                "ur5",
                "--scene",
                "bookshelf_small",
                "--trajectory",
                str(plan_file),
                "-o",
                str(path),
                *options,
            ]
        )
        == 0
    )
    with Image.open(path) as image:
        assert image.size == (160, 120)


@pytest.mark.parametrize("name", bundled_robots())
def test_every_bundled_robot_is_drawn_and_shown_without_a_scene(name, monkeypatch, tmp_path):
    path, shown = tmp_path / "robot.png", []
    assert main(["render", name, "--scene", "none", "-o", str(path), "--size", "64x64"]) == 0
    assert path.read_bytes().startswith(b"\x89PNG")
    monkeypatch.setattr(
        "robosim.viewer.show", lambda *what, **options: shown.append((what, options))
    )
    assert main(["view", name, "--scene", "none", "--no-open"]) == 0
    ((model, scene, _), options) = shown[0]
    assert (model.name, scene) == (name, None)
    np.testing.assert_array_equal(options["q"], model.neutral())


def test_inspect(capsys):
    assert main(["inspect", "ur5"]) == 0
    text = capsys.readouterr().out
    for part in (
        "└─ tool0",
        "8.393 kg",
        "elbow_joint (revolute)",
        "150 N m",
        "joint_limits.yaml",
        "x cylinder",
        "pairs are checked",
    ):
        assert part in text
    assert main(["inspect", "ur5", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["n_q"] == 6
    assert np.isclose(facts["mass"], load_robot("ur5").total_mass)
    assert {j["name"] for j in facts["joints"]} >= {"elbow_joint"}


def test_inspect_says_what_was_ignored(tmp_path, capsys):
    path = tmp_path / "r.urdf"
    path.write_text("<robot name='r'>\n<link name='a'/>\n<gazebo reference='a'/>\n</robot>\n")
    assert main(["inspect", str(path)]) == 0
    text = capsys.readouterr().out
    assert "Ignored" in text
    assert "gazebo" in text


HOSTILE = "<robot name='r'>\n<link name='a'/>\n<link name='\u00e9 &#x9;b'/>\n{}</robot>\n"
WELD = "<joint name='j' type='fixed'><parent link='a'/><child link='\u00e9 &#x9;b'/></joint>\n"


def test_names_cannot_steer_the_terminal_nor_break_an_old_one(tmp_path):
    path = tmp_path / "r.urdf"
    path.write_text(HOSTILE.format(WELD), encoding="utf-8")
    for encoding in ("utf-8", "ascii", "latin-1"):
        done = robosim(
            "inspect",
            str(path),
            env={**os.environ, "PYTHONIOENCODING": encoding},
            encoding=encoding,
        )
        if done.returncode == 2:  # the reader may refuse such a name, with an error message
            assert "robosim: error: " in done.stderr
            continue
        assert done.returncode == 0
        assert done.stderr == ""
        assert "\t" not in done.stdout
        assert "\\t" in done.stdout
        assert ("\u2514" in done.stdout) == (encoding == "utf-8")


def test_lists(capsys):
    for what, expected in (
        ("robots", "ur5"),
        ("scenes", "bookshelf_small"),
        ("planners", "rrt_connect"),
    ):
        assert main([what]) == 0
        assert expected in capsys.readouterr().out.splitlines()
        assert main([what, "--json"]) == 0
        assert expected in json.loads(capsys.readouterr().out)[what]


def test_view_says_where_it_is_and_ends_on_ctrl_c(plan_file):
    pytest.importorskip("viser", reason="the extra `view` is not installed")
    with socket.socket() as busy:
        busy.bind(("127.0.0.1", 0))
        busy.listen()
        port = busy.getsockname()[1]
        command = [*PYTHON, "-m", "robosim.cli", "view", "ur5", "--scene", "bookshelf_small"]
        process = subprocess.Popen(
            [*command, "--trajectory", str(plan_file), "--port", str(port), "--no-open"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
        )
        assert process.stdout.readline().startswith(f"port {port} is busy; listening on ")
        url = process.stdout.readline().split()[1]
        assert url.startswith("http://127.0.0.1:")
        with socket.create_connection(("127.0.0.1", int(url.rpartition(":")[2])), timeout=5):
            pass
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=15)
    assert process.returncode == 0
    assert errors == ""


def test_a_robot_with_nothing_to_collide_with_is_planned_and_written(tmp_path):
    urdf = tmp_path / "slider.urdf"
    urdf.write_text(
        '<robot name="slider"><link name="base"/><link name="cart"><inertial><mass value="1"/>'
        '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>'
        '<joint name="slide" type="prismatic"><parent link="base"/><child link="cart"/>'
        '<limit lower="0" upper="1" velocity="1" effort="10"/></joint></robot>'
    )
    out = tmp_path / "plan.json"
    done = robosim("plan", urdf, "--goal", "0.5", "-o", out)
    assert done.returncode == 0, done.stderr
    assert "nothing to collide with" in done.stdout
    assert Trajectory.load(out).position(10.0)[0] == pytest.approx(0.5)
