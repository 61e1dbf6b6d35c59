"""Parts of the planner node that need no ROS: its thread, its markers, execution of a plan."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import robosim
from robosim.errors import ExecutionError
from robosim.execution.simulated import SimulatedArm
from robosim.geometry import Shape, pose
from robosim.meshes.tessellate import tessellated
from robosim.ros.parameters import markdown
from robosim.ros.planner.codes import ErrorCode
from robosim.ros.planner.display import plan_marks, scene_marks
from robosim.ros.planner.execution import execute, stream_options
from robosim.ros.planner.jobs import Job, Worker
from robosim.ros.planner.joint_states import JointStates
from robosim.ros.planner.parameters import EXECUTION, PARAMETERS
from robosim.ros.planner.planning import plan_motion
from robosim.ros.planner.request import MotionRequest, Settings
from robosim.scene import Scene

from .harness.waiting import LIMIT, wait_for

Q = [0.3, -1.6, 1.2, -1.2, -1.5, 0.4]


@pytest.fixture(scope="module")
def ur5():
    return robosim.load_robot("ur5")


def planned(model, scene=None, q=Q, **fields):
    states = JointStates()
    states.update(model.position_names, q, (), received=0.0)
    answer = plan_motion(
        MotionRequest(**fields), model, lambda: scene, states, Settings(), clock=lambda: 0.0
    )
    assert answer.ok, answer.message
    return answer


# The joint states


def test_the_first_joint_states_are_waited_for():
    states = JointStates()
    assert states.wait_for([], 0.0)
    assert not states.wait_for(["arm"], 0.01)
    threading.Timer(0.05, lambda: states.update(["arm"], [0.1], (), received=0.0)).start()
    threading.Timer(0.1, lambda: states.update(["gripper"], [0.2], (), received=0.0)).start()
    assert states.wait_for(["gripper", "arm"], LIMIT)
    assert set(states.of(["gripper", "arm"], now=0.0, timeout=1.0)) == {"gripper", "arm"}


def test_a_plan_waits_for_the_first_joint_states(ur5):
    states = JointStates()
    told = threading.Timer(0.1, lambda: states.update(ur5.position_names, Q, (), received=0.0))
    told.start()
    request = MotionRequest(goal_name="home")
    answer = plan_motion(request, ur5, lambda: None, states, Settings(), clock=lambda: 0.0)
    assert answer.ok, answer.message


# The thread


def test_jobs_are_done_in_order():
    worker, order = Worker("test"), []
    jobs = [
        worker.submit(Job(lambda job, i=i: order.append(i) or i, lambda: -1)) for i in range(20)
    ]
    for job in jobs:
        assert job.wait(LIMIT)
    assert order == [job.result() for job in jobs] == list(range(20))
    worker.close()


def test_cancelling_jobs():
    """A running job is notified; a waiting job is refused at once and never runs."""
    worker, begun, done = Worker("test"), threading.Event(), []

    def go_on(job):
        begun.set()
        wait_for(job.cancelled, "the word to stop")
        return "stopped"

    told = []
    running = worker.submit(Job(go_on, lambda: "refused", lambda: told.append("running")))
    assert begun.wait(LIMIT)
    waiting = worker.submit(Job(done.append, lambda: "refused", lambda: told.append("waiting")))
    assert worker.busy
    assert worker.waiting == 1
    waiting.cancel()
    assert waiting.result() == "refused"
    running.on_cancel(lambda: told.append("asked"))
    running.cancel()
    assert running.wait(LIMIT)
    assert running.result() == "stopped"
    assert told == ["waiting", "asked", "running"]
    worker.close()
    assert done == []


def test_closing_the_worker():
    worker, begun = Worker("test"), threading.Event()

    def go_on(job):
        begun.set()
        wait_for(job.cancelled, "the word to stop")
        return "stopped"

    running = worker.submit(Job(go_on, lambda: "refused"))
    waiting = [worker.submit(Job(lambda job: "done", lambda: "refused")) for _ in range(3)]
    assert begun.wait(LIMIT)
    worker.close()
    assert running.result() == "stopped"
    assert [job.result() for job in waiting] == ["refused"] * 3
    assert worker.submit(Job(lambda job: "done", lambda: "refused")).result() == "refused"


def test_what_a_job_raises():
    worker = Worker("test")
    job = worker.submit(Job(lambda job: 1 / 0, lambda: None))
    assert job.wait(LIMIT)
    with pytest.raises(ZeroDivisionError):
        job.result()
    after = worker.submit(Job(lambda job: "alive", lambda: None))
    assert after.wait(LIMIT)
    assert after.result() == "alive"
    worker.close()


# Markers


def shapes_scene():
    scene = Scene("shapes")
    X = pose((1.0, 2.0, 3.0), rpy=(0.1, 0.2, 0.3))
    scene.add_box("box", (0.1, 0.2, 0.3), X, (0.1, 0.2, 0.3, 0.4))
    scene.add_sphere("sphere", 0.1, X)
    scene.add_cylinder("cylinder", 0.1, 0.5, X)
    scene.add_capsule("capsule", 0.1, 0.5, X)
    scene.add_shape("egg", Shape.ellipsoid((0.1, 0.2, 0.3)), X)
    scene.add_shape("cone", Shape.cone(0.1, 0.5), X)
    scene.add_half_space("floor", pose((0, 0, -0.5)))
    scene.add_convex("hull", [*np.eye(3).tolist(), [0.0, 0.0, 0.0]], X)
    scene.add_points("cloud", [[0.0, 0, 0], [0, 0, 1]], 0.02, X)
    wedge = tessellated(scene.objects["capsule"].shapes[0])
    scene.add_mesh("mesh", (wedge.vertices, wedge.faces), X)
    return scene, X


def test_marks_of_every_shape():
    scene, X = shapes_scene()
    marks = {mark.namespace: mark for mark in scene_marks(scene)}
    assert {name: mark.kind for name, mark in marks.items()} == {
        "scene/box": "cube", "scene/sphere": "sphere", "scene/cylinder": "cylinder",
        "scene/floor": "cube",
        "scene/capsule": "triangle_list", "scene/hull": "triangle_list",
        "scene/mesh": "triangle_list",
        "scene/cloud": "sphere_list", "scene/egg": "sphere", "scene/cone": "triangle_list",
    }  # fmt: skip
    assert marks["scene/box"].scale == (0.1, 0.2, 0.3)
    assert marks["scene/box"].rgba == (0.1, 0.2, 0.3, 0.4)
    assert marks["scene/sphere"].scale == (0.2, 0.2, 0.2)
    assert marks["scene/cylinder"].scale == (0.2, 0.2, 0.5)
    assert marks["scene/egg"].scale == (0.2, 0.4, 0.6)
    assert marks["scene/cloud"].scale == (0.04, 0.04, 0.04)
    assert len(marks["scene/cloud"].points) == 2
    for name, mark in marks.items():
        if name != "scene/floor":
            np.testing.assert_allclose(mark.X, X, atol=1e-12)
        if mark.kind == "triangle_list":
            assert len(mark.points) % 3 == 0
    # The plate's upper face is the surface of the half-space.
    floor = marks["scene/floor"]
    assert floor.X[2, 3] + floor.scale[2] / 2 == pytest.approx(-0.5)
    # The triangles of a mesh enclose the same volume as the mesh.
    p = marks["scene/mesh"].points.reshape(-1, 3, 3)
    volume = np.einsum("ij,ij->i", p[:, 0], np.cross(p[:, 1], p[:, 2])).sum() / 6
    # A polyhedron of 32 segments, inscribed in the capsule: its volume is a few per cent less.
    assert 0.95 < volume / (np.pi * 0.1**2 * 0.5 + 4 / 3 * np.pi * 0.1**3) < 1.0
    assert scene_marks(None) == []


def test_marks_of_a_plan(ur5):
    """Paths begin and end at the tip; the ghost at the goal includes the attached object."""
    scene = Scene("held")
    scene.add_box("tool", (0.02, 0.02, 0.1), color=(1.0, 0.0, 0.0, 1.0))
    scene.attach("tool", "tool0", pose=pose((0, 0, 0.1)))
    answer = planned(ur5, scene, goal_joint_names=("elbow_joint",), goal_positions=(0.6,))
    assert scene_marks(scene) == []  # the attached object belongs to the robot
    marks = plan_marks(ur5, answer.result, scene)
    path = next(mark for mark in marks if mark.kind == "line_strip")
    assert path.namespace == "path/tool0"
    end = [*Q[:2], 0.6, *Q[3:]]
    for point, q in ((path.points[0], Q), (path.points[-1], end)):
        np.testing.assert_allclose(point, ur5.frame_pose(q, "tool0")[:3, 3], atol=1e-8)
    held = next(mark for mark in marks if mark.namespace == "goal/tool")
    np.testing.assert_allclose(held.X, ur5.frame_pose(end, "tool0") @ pose((0, 0, 0.1)), atol=1e-8)
    assert held.rgba == (1.0, 0.0, 0.0, 0.5)
    shown = sorted(mark.namespace for mark in marks if mark not in (path, held))
    moving = set(ur5.link_names) - {ur5.root_link, "base_link", "base", "base_link_inertia"}
    assert shown == sorted(f"goal/{c.link}" for c in ur5.colliders if c.link in moving)


# Execution


class Values:
    """Defaults of the parameters `execution.*`, for an arm that reports its joints only."""

    def __init__(self, **changes):
        for p in PARAMETERS:
            setattr(self, p.attribute, p.default)
        self.execution_require = ("",)
        self.__dict__.update(changes)


@pytest.fixture
def arm(ur5):
    with SimulatedArm(ur5, initial=Q) as simulated:
        yield simulated


def follow(arm, ur5, answer, scene_now=lambda: None, cancelled=lambda told: False, **changes):
    """Execute a plan; return the answer and the feedback.

    `cancelled` is called with the feedback so far.
    """
    told: list[tuple[str, float]] = []
    end = execute(
        arm, answer, ur5, scene_now, stream_options(Values(**changes), ur5.joint_names),
        cancelled=lambda: cancelled(told), feedback=lambda stage,
        fraction: told.append((stage, fraction)),
    )  # fmt: skip
    return end, told


@pytest.mark.parametrize("interface", ["action", "forward_position"])
def test_execution(arm, ur5, interface):
    target = (0.9, -1.2, 0.8, -1.0, -1.2, 0.0)
    answer = planned(ur5, goal_joint_names=ur5.joint_names, goal_positions=target)
    end, told = follow(arm, ur5, answer, execution_interface=interface)
    assert end.code is ErrorCode.SUCCESS, end.message
    assert end.trajectory is answer.trajectory
    # Ideal tracking, and one period to come to rest.
    np.testing.assert_allclose(arm.state().position, target, atol=1e-4)
    fractions = [fraction for stage, fraction in told if stage == "execution"]
    assert len(fractions) == len(told) >= 5
    assert fractions == sorted(fractions)


def test_execution_is_cancelled(arm, ur5):
    answer = planned(ur5, goal_joint_names=("shoulder_pan_joint",), goal_positions=(2.5,))
    end, told = follow(arm, ur5, answer, cancelled=lambda told: len(told) >= 3)
    assert end.code is ErrorCode.PREEMPTED
    assert told[-1][1] < 1.0
    assert 0.3 < arm.state().position[0] < 2.4
    # The arm is not at the start of the plan.
    end, _ = follow(arm, ur5, answer)
    assert end.code is ErrorCode.CONTROL_FAILED
    assert "refused" in end.message
    assert "shoulder_pan_joint" in end.message


def test_execution_in_a_scene_that_changes(arm, ur5):
    """An obstacle on the part already done is ignored; one ahead of the arm stops the arm."""
    before, after = Scene("before"), Scene("after")
    after.add_box("where it was", (0.1, 0.1, 0.1), ur5.frame_pose(Q, "wrist_3_link"))
    goal = [2.5, *Q[1:]]

    def run(scene, when, answer):
        told: list[tuple[str, float]] = []
        end = execute(
            arm, answer, ur5, lambda: before if told[-1][1] < when else scene,
            stream_options(Values(), ur5.joint_names),
            cancelled=lambda: False, feedback=lambda stage,
            fraction: told.append((stage, fraction)),
        )  # fmt: skip
        return end, told

    pan = {"goal_joint_names": ("shoulder_pan_joint",)}
    there = planned(ur5, before, **pan, goal_positions=(2.5,))
    end, _ = run(after, 0.5, there)
    assert end.code is ErrorCode.SUCCESS, end.message
    back = planned(ur5, before, goal, **pan, goal_positions=(Q[0],))
    end, told = run(after, 0.3, back)
    assert end.code is ErrorCode.MOTION_PLAN_INVALIDATED_BY_ENVIRONMENT_CHANGE
    assert "'where it was'" in end.message
    assert told[-1][1] < 1.0
    q = arm.state().position
    assert 0.5 < q[0] < 2.5
    assert not after.compile(ur5).collides(q)


def test_what_execution_requires():
    names = {p.name for p in PARAMETERS if p.name.startswith("execution.")}
    assert names == {f"execution.{name}" for name in EXECUTION}
    options = stream_options(
        Values(execution_require=("safety_mode",), execution_path_tolerance=0.1), ("a", "b")
    )
    assert options["requirements"].safety_mode
    assert not options["requirements"].program_running
    assert [(t.name, t.position) for t in options["path_tolerance"]] == [("a", 0.1), ("b", 0.1)]
    with pytest.raises(ExecutionError, match=r"'execution.require' has 'luck'"):
        stream_options(Values(execution_require=("luck",)), ())


def test_parameters_are_documented():
    table = markdown(PARAMETERS)
    assert len({p.name for p in PARAMETERS}) == len(PARAMETERS)
    assert table.count("\n") == len(PARAMETERS) + 2
