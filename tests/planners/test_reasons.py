"""Status and reason of missing plans, which name the error and its size."""

from __future__ import annotations

import re

import numpy as np
import pytest

from robosim.errors import MissingDependencyError, PlanningError
from robosim.geometry import Shape, pose
from robosim.model import ModelBuilder
from robosim.planners import JointGoal, NoPlan, PoseGoal, Problem, Status, plan, prepare
from robosim.planners.registry import Planner, get_planner
from robosim.scene import Scene

from ..concave import channel  # noqa: TID252 (tests have no absolute name)


def refused(problem, status, *words, **options):
    result = plan(problem, **options)
    assert not result
    assert result.status is status
    for word in words:
        assert word in result.reason
    assert result.trajectory is None
    assert result.timings["total"] > 0
    with pytest.raises(PlanningError, match=re.escape(result.status.value)):
        result.configuration(0.0)
    with pytest.raises(PlanningError):
        result.save("never_written.json")
    return result


def test_start_out_of_limits(arm):
    refused(
        Problem(arm, None, [0, 4.0, 0], [0, 0, 0]),
        Status.START_OUT_OF_LIMITS,
        "'joint2' is at 4, beyond its upper limit 3.14159 by 0.858",
    )


def test_start_in_collision(arm, robots):
    """The pillar's axis is 0.8 m away, so that the straight arm goes through it.

    The reason has both names and the depth.
    """
    result = refused(
        Problem(arm, robots.pillar_scene(), [0, 0, 0], [1, 0, 0]),
        Status.START_IN_COLLISION,
        "start:",
        "'pillar'",
        "overlap by",
    )
    depths = [float(x) for x in re.findall(r"overlap by ([\d.]+) mm", result.reason)]
    assert depths == sorted(depths, reverse=True)
    # The second link ends at 0.8 - 0.05 + 0.03 m, and the pillar begins at 0.72 m.
    assert depths[0] == pytest.approx(60, rel=1e-3)
    with pytest.raises(NoPlan) as caught:
        prepare(Problem(arm, robots.pillar_scene(), [0, 0, 0], [1, 0, 0]))
    assert caught.value.status is Status.START_IN_COLLISION


def test_the_depth_of_a_hull_is_an_upper_bound():
    """A ball in the floor of a channel, whose hull contains the whole ball."""
    mesh = channel()
    builder = ModelBuilder("channel")
    builder.add_link("channel")
    builder.add_collider("channel", Shape.convex(mesh.vertices), exact=mesh)
    builder.add_link("ball", mass=1, inertia=np.eye(3))
    builder.add_joint(
        "z", "prismatic", "channel", "ball", axis=(0, 0, 1), lower=-1, upper=1, velocity=1, effort=1
    )
    builder.add_collider("ball", Shape.sphere(0.02))
    model = builder.build(filter_adjacent=False)
    compiled = Scene().compile(model)
    assert compiled.stand_ins == ["channel/0"]
    # Down through the hull's bottom: 10 mm and the radius.
    result = refused(
        Problem(model, None, [-0.14], [0.5]), Status.START_IN_COLLISION, "overlap by up to 30 mm"
    )
    assert "'ball/0'" in result.reason


def test_goal_in_collision_and_out_of_limits(arm, robots):
    problem = Problem(arm, robots.pillar_scene(), [1, 0, 0], [0, 0, 0])
    refused(problem, Status.GOAL_IN_COLLISION, "goal:", "'pillar'", "overlap by")
    problem = Problem(arm, None, [1, 0, 0], [0, 0, -3.5])
    refused(problem, Status.GOAL_OUT_OF_LIMITS, "'joint3' is at -3.5, beyond its lower limit")


def test_all_alternatives_are_told(arm, robots):
    goals = [JointGoal([0, 0, 0]), JointGoal([0, 0, 9])]
    result = refused(
        Problem(arm, robots.pillar_scene(), [1, 0, 0], goals),
        Status.GOAL_IN_COLLISION,
        "goal[0]",
        "goal[1]",
    )
    assert "beyond its upper limit" in result.reason


def test_goal_unreachable(arm):
    """The arm is 1.2 m long, so a point at 1.5 m is missed by 0.3 m."""
    result = refused(
        Problem(
            arm,
            None,
            [0.1, 0.1, 0.1],
            PoseGoal("tip", pose((1.5, 0, 0.5)), rotation_tolerance=np.inf),
        ),
        Status.GOAL_UNREACHABLE,
        "'tip'",
    )
    assert float(re.search(r"by ([\d.]+) m", result.reason)[1]) == pytest.approx(0.3, abs=0.01)


def test_goal_pose_in_collision(arm, robots):
    goal = PoseGoal("tip", pose((0.8, 0.0, 0.5)), rotation_tolerance=np.inf)
    refused(
        Problem(arm, robots.pillar_scene(), [1.5, 0, 0], goal),
        Status.GOAL_IN_COLLISION,
        "'pillar'",
        "configurations",
    )


def closed(robots):
    scene = Scene("closed")
    scene.add_box("wall", (0.1, 6.0, 1.0), pose((1.0, 1.0, 0)))
    return Problem(robots.gantry(), scene, {"x": 0.3, "y": 0.3}, {"x": 1.7, "y": 1.7})


def test_no_path_and_budget(robots):
    refused(closed(robots), Status.NO_PATH, "300 iterations", "'rrt_connect'", max_iterations=300)
    refused(closed(robots), Status.BUDGET, "wall-clock budget", budget_s=0.1, max_iterations=10**9)


def test_cancelled(robots):
    """The caller stops an endless search. `stop` is called before every stage."""
    asked = []

    def fifth_time():
        asked.append(1)
        return len(asked) >= 5

    refused(
        closed(robots), Status.CANCELLED, "of the search", stop=fifth_time, max_iterations=10**9
    )
    assert len(asked) == 5
    stages: list[str] = []
    refused(closed(robots), Status.CANCELLED, "before the stage 'search'",
            stop=lambda: "inverse kinematics" in stages, progress=stages.append)  # fmt: skip
    assert stages == ["setup", "inverse kinematics"]


def test_torque_limit(robots):
    """The reason names the joint of an arm that cannot hold itself up in a vertical plane."""
    arm = robots.planar_arm().with_gravity((0, -9.81, 0)).with_limits(effort={"joint1": 3.0})
    result = refused(Problem(arm, None, [0, 0, 0], [0.5, 0, 0]), Status.NO_TIMING, "joint1")
    assert plan(Problem(arm, None, [0, 0, 0], [0.5, 0, 0]), torque_limits=False)
    assert result.timings["timing"] > 0


def test_zero_velocity_limit(robots):
    arm = robots.planar_arm().with_limits(velocity={"joint2": 0.0})
    refused(Problem(arm, None, [0, 0, 0], [0.5, 0.2, 0]), Status.NO_TIMING, "joint2")
    assert plan(Problem(arm, None, [0, 0, 0], [0.5, 0, 0.2]))


def test_start_velocity(arm, robots):
    problem = Problem(arm, None, [0, 0, 0], [1, 0, 0], start_velocity=[2.5, 0, 0])
    refused(problem, Status.START_VELOCITY, "'joint1' is 2.5, beyond its limit 2")
    problem = Problem(arm, None, [3.0, 0, 0], [1, 0, 0], start_velocity=[1.9, 0, 0])
    refused(problem, Status.START_VELOCITY, "cannot stop", "'joint1'", "upper limit")
    problem = Problem(
        arm, robots.pillar_scene(), [0.25, 0, 0], [1, 0, 0], start_velocity=[-1.9, 0, 0]
    )
    refused(problem, Status.START_VELOCITY, "cannot stop", "'pillar'")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"start": [0, 0]}, "start has shape (2,); expected (3,)"),
        ({"start": [0, np.nan, 0]}, "'joint2' is nan"),
        ({"start": {"joint9": 1}}, "no joint 'joint9'"),
        ({"start": {"joint1": "a"}}, "position of 'joint1' is 'a'"),
        ({"start": "rigt"}, "no state 'rigt'"),
        ({"start": [["x"]]}, "start is"),
        ({"goal": "nowhere"}, "no state 'nowhere'"),
        ({"goal": None}, "the scene has no goal"),
        ({"goal": []}, "an empty list"),
        ({"goal": PoseGoal("tipp", np.eye(4))}, "no link 'tipp'; did you mean 'tip'"),
        ({"group": "legs"}, "no group 'legs'"),
        ({"group": ["joint1", "jointx"]}, "no joint 'jointx'"),
        ({"group": ["joint1"]}, "'joint2' is 0.1 and 0 at the start, but may not move"),
        ({"group": []}, "may move"),
        ({"start_velocity": [1, 2]}, "start_velocity has shape (2,)"),
        ({"start_velocity": {"joint5": 1.0}}, "no coordinate 'joint5'"),
        (
            {
                "group": ["joint1", "joint2"],
                "start_velocity": {"joint3": 1.0},
                "goal": {"joint1": 1.0},
            },
            "'joint3' moves",
        ),
    ],
)
def test_badly_posed(arm, change, words):
    arguments = {"start": [0, 0, 0], "goal": [0.1, 0.1, 0], **change}
    with pytest.raises(PlanningError, match=re.escape(words)):
        plan(Problem(arm, None, **arguments))


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("seed", -1),
        ("seed", 1.5),
        ("seed", True),
        ("budget_s", 0),
        ("budget_s", np.nan),
        ("max_iterations", 0),
        ("shortcut_iterations", -1),
        ("resolution", 0.0),
        ("resolution", np.inf),
        ("velocity_scaling", 0),
        ("velocity_scaling", 1.1),
        ("acceleration_scaling", -1),
        ("jerk", 0),
        ("jerk", [1, 2]),
        ("jerk", {"jont1": 3}),
        ("planner", "rrt_conect"),
    ],
)
def test_bad_options(arm, option, value):
    with pytest.raises(
        PlanningError, match=option if option != "planner" else "did you mean 'rrt_connect'"
    ):
        plan(Problem(arm, None, [0, 0, 0], [1, 0, 0]), **{option: value})


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"pose": np.eye(3)}, "4x4"),
        ({"pose": np.diag([1, 1, -1, 1])}, "not a rigid transform"),
        ({"pose": np.full((4, 4), np.nan)}, "finite"),
        ({"pose": np.eye(4), "position_tolerance": -1}, "position_tolerance"),
        ({"pose": np.eye(4), "rotation_tolerance": [1, 2]}, "rotation_tolerance"),
        ({"pose": np.eye(4), "rotation_tolerance": np.nan}, "rotation_tolerance"),
    ],
)
def test_bad_pose_goals(arguments, words):
    with pytest.raises(PlanningError, match=words):
        PoseGoal("tip", **arguments)


def test_missing_package(monkeypatch):
    from robosim.planners import registry

    get_planner("rrt_connect")
    lacking = Planner("lacking", lambda query: None, requires=("no_such_package_at_all",))
    monkeypatch.setitem(registry._planners, "lacking", lacking)
    with pytest.raises(MissingDependencyError, match="no_such_package_at_all"):
        get_planner("lacking")
    assert "lacking" not in registry.available_planners()
