"""Parts of sim_arm that need no ROS: the robot and the arm, and the control thread."""

from __future__ import annotations

import math
import time
from types import SimpleNamespace

import numpy as np
import pytest

from robosim import load_robot
from robosim.errors import ExecutionError, FileError, ModelError
from robosim.execution.messages import SafetyMode
from robosim.ros.description import describe
from robosim.ros.names import UR_JOINTS, prefixed, series_of
from robosim.ros.sim_arm import PARAMETERS
from robosim.ros.sim_arm.arm import control_rate, controlled_joints, make_arm, read_robot
from robosim.ros.sim_arm.control import ControlThread

from .harness.waiting import wait_for


def values(**given):
    """Values of parameters as returned by `declare`."""
    defaults = {p.attribute: p.default for p in PARAMETERS}
    assert set(given) <= set(defaults)
    checked = {p.attribute: p.check(given[p.attribute]) for p in PARAMETERS if p.attribute in given}
    return SimpleNamespace(**defaults | checked)


def arm_of(**given):
    asked = values(**given)
    return make_arm(asked, read_robot(asked).model, 0.0, lambda event: None)


# -- Descriptions ----------------------------------------------------------------------------------


@pytest.mark.parametrize("robot", ["ur5", "ur5e", "ur5_gripper", "panda"])
def test_a_prefix_changes_names_and_nothing_else(robot):
    plain, made = load_robot(robot), describe(robot, tf_prefix="left_")
    model = made.model
    assert model.link_names == prefixed(plain.link_names, "left_")
    assert model.joint_names == prefixed(plain.joint_names, "left_")
    for name in ("lower", "upper", "velocity", "acceleration", "effort"):
        np.testing.assert_array_equal(getattr(model.limits, name), getattr(plain.limits, name))
    np.testing.assert_array_equal(model.collision_pairs, plain.collision_pairs)
    assert [(s.group, s.name) for s in model.named_states] == [
        (s.group, s.name) for s in plain.named_states
    ]
    assert list(model.groups) == list(plain.groups)
    q = plain.random_configuration(np.random.default_rng(0))
    for link in plain.link_names:
        np.testing.assert_array_equal(
            model.frame_pose(q, f"left_{link}"), plain.frame_pose(q, link)
        )
    # The texts alone describe the same robot.
    again = load_robot(made.urdf, srdf=made.srdf or False)
    assert again.link_names == model.link_names


def test_meshes_beside_the_file_are_found_from_anywhere(tmp_path, monkeypatch):
    trimesh = pytest.importorskip("trimesh")
    (tmp_path / "my meshes").mkdir()
    trimesh.creation.box((1, 2, 3)).export(tmp_path / "my meshes" / "box.stl")
    (tmp_path / "box.urdf").write_text(
        '<robot name="box"><link name="body"><collision><geometry><mesh filename="my'
        ' meshes/box.stl"/></geometry></collision></link></robot>'
    )
    made = describe(str(tmp_path / "box.urdf"))
    monkeypatch.chdir("/")
    assert len(load_robot(made.urdf).colliders) == 1
    assert "file:///" in made.urdf
    assert made.srdf == ""


def test_xacro_arguments_are_passed_on(tmp_path):
    (tmp_path / "rod.urdf.xacro").write_text(
        '<robot name="rod" xmlns:xacro="http://www.ros.org/wiki/xacro"><xacro:arg name="tip"'
        ' default="end"/><link name="base"/><link name="$(arg tip)"/><joint name="j"'
        ' type="fixed"><parent link="base"/><child link="$(arg tip)"/></joint></robot>'
    )
    asked = values(robot=str(tmp_path / "rod.urdf.xacro"), xacro_arguments=["tip:=hand"])
    assert "hand" in read_robot(asked).model.link_names
    with pytest.raises(ExecutionError, match="'tip=hand'; it must be name:=value"):
        read_robot(values(robot=str(tmp_path / "rod.urdf.xacro"), xacro_arguments=["tip=hand"]))


# -- The arm that the parameters specify -----------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "rate"),
    [
        ({"robot": "ur5"}, 125),
        ({"robot": "ur5e"}, 500),
        ({"robot": "ur5_gripper"}, 125),
        ({"robot": "panda"}, 500),
        ({"robot": "ur5", "series": "e-series"}, 500),
        ({"robot": "ur5e", "series": "cb3"}, 125),
        ({"robot": "ur5e", "rate": 250.0}, 250),
    ],
)
def test_the_rate_is_the_one_given_or_that_of_the_series(given, rate):
    asked = values(**given)
    assert control_rate(asked, read_robot(asked).model) == rate


def test_series_go_by_the_robots_name():
    assert series_of("ur10").rate == 125
    assert series_of("ur10e").rate == series_of("UR3e").rate == 500
    assert series_of("panda") is None


def test_the_controller_has_a_ur_arms_six_joints_or_all():
    gripper = values(robot="ur5_gripper", tf_prefix="a_")
    assert controlled_joints(gripper, read_robot(gripper).model) == prefixed(UR_JOINTS, "a_")
    panda = values(robot="panda")
    model = read_robot(panda).model
    assert controlled_joints(panda, model) == model.joint_names
    some = values(robot="panda", joints=model.joint_names[:2])
    assert controlled_joints(some, model) == model.joint_names[:2]


def test_the_arm_starts_where_it_is_told_within_its_limits():
    home = load_robot("ur5").configuration("home")
    np.testing.assert_array_equal(arm_of()[0].state().position, home)
    ready = load_robot("ur5").configuration("ready")
    np.testing.assert_array_equal(arm_of(initial_state="ready")[0].state().position, ready)
    order = UR_JOINTS[::-1]
    arm, q = arm_of(joints=order, initial_positions=[0.6, 0.5, 0.4, 0.3, 0.2, 0.1])
    np.testing.assert_array_equal(arm.state().position, [0.6, 0.5, 0.4, 0.3, 0.2, 0.1])
    np.testing.assert_array_equal(q, [0.1, 0.2, 0.3, 0.4, 0.5, 0.6])
    limits = load_robot("panda").limits
    arm, q = arm_of(robot="panda")
    assert ((limits.lower <= q) & (q <= limits.upper)).all()


@pytest.mark.parametrize(
    ("given", "error", "says"),
    [
        ({"robot": "ur55"}, FileError, "no bundled robot 'ur55'"),
        ({"joints": ["elbow"]}, ExecutionError, "'elbow' is no joint"),
        ({"joints": ["elbow_joint", "elbow_joint"]}, ExecutionError, "distinct"),
        (
            {"initial_positions": [0.0, 0.0]},
            ExecutionError,
            "'initial_positions' has 2 numbers; there are 6 joints",
        ),
        (
            {"initial_positions": [0.0, 0.0, 4.0, 0.0, 0.0, 0.0]},
            ExecutionError,
            "cannot begin with elbow_joint at 4",
        ),
        ({"initial_state": "nowhere"}, ModelError, "no state 'nowhere'"),
    ],
)
def test_what_does_not_fit_the_robot_is_refused_by_name(given, error, says):
    with pytest.raises(error) as caught:
        arm_of(**given)
    assert says in str(caught.value)


def test_the_arm_waits_for_activation_and_has_the_controllers_parameters():
    arm, _ = arm_of(
        distribution="humble",
        constraints_decelerate_on_cancel=True,
        allow_partial_joints_goal=True,
        allow_nonzero_velocity_at_trajectory_end="false",
        watchdog=0.5,
    )
    assert arm.status().controller_active is False
    arm.controller_active = True
    assert arm.status().controller_active is True
    assert arm.executor.profile.name == "humble"
    arm.protective_stop()
    assert arm.status().safety_mode is SafetyMode.PROTECTIVE_STOP


# -- The control thread, in real time --------------------------------------------------------------


class RosClock:
    """Part of rclpy's clock that the thread needs: the system's time plus a chosen offset."""

    ros_time_is_active = False

    def __init__(self):
        self.offset = 10**18

    def now(self):
        return SimpleNamespace(nanoseconds=time.monotonic_ns() + self.offset)


class Control:
    """Control thread with a record of its stamps and messages."""

    def __init__(self, rate=200.0, on_period=None):
        self.clock, self.stamps, self.jumps, self.failures = RosClock(), [], [], []
        self.thread = ControlThread(
            self.clock,
            rate,
            on_period or self.stamps.append,
            self.jumps.append,
            self.failures.append,
        )

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *error):
        self.thread.stop()

    def live(self, count):
        """Return when the thread has run `count` more periods."""
        seen = len(self.stamps)
        wait_for(lambda: len(self.stamps) >= seen + count, "periods")


def test_stamps_are_whole_periods_apart_and_near_the_ros_clock():
    with Control() as control:
        control.live(100)
        control.clock.offset += 40_000_000  # slewed: below the threshold of a clock that was set
        control.live(100)
        ahead = control.clock.now().nanoseconds - control.stamps[-1]
    gaps = np.diff(control.stamps)
    np.testing.assert_allclose(gaps, 5_000_000, atol=10_000)  # the slew
    assert not control.jumps
    assert -1_000_000_000 < ahead < 1_000_000_000
    assert control.thread.statistics().ticks > 0


def test_setting_the_ros_clock_moves_the_stamps_and_no_period_more_is_run():
    begin = time.monotonic()  # of all periods, since stalls are caught up
    with Control() as control:
        control.live(20)
        control.clock.offset += 1000 * 10**9
        wait_for(lambda: control.jumps, "the word of it")
        control.live(20)
        periods, passed = len(control.stamps), time.monotonic() - begin
        control.clock.offset -= 2000 * 10**9
        wait_for(lambda: len(control.jumps) == 2, "the word of it")
        control.live(20)
    assert "set by 1000.0" in control.jumps[0]
    assert "set by -2000.0" in control.jumps[1]
    assert periods <= passed * 200 + 2
    assert (np.abs(np.diff(control.stamps)) > 10**9).sum() == 2


def test_a_stall_is_made_up_for_without_holes_and_a_long_one_is_not():
    stalls = []

    def period(stamp):
        control.stamps.append(stamp)
        if stalls:
            time.sleep(stalls.pop())  # the stall itself

    control = Control(on_period=period)  # before its thread begins, which uses it
    with control:
        for pause in (0.2, 1.5):
            stalls.append(pause)
            wait_for(lambda: not stalls, "the stall")
            control.live(50)
    assert not control.failures
    holes = np.diff(control.stamps) > 1.1 * 5_000_000
    assert len(control.jumps) >= 1  # for the second stall; this machine may stall by itself
    assert holes.sum() == len(control.jumps)
    assert "are missing" in control.jumps[0]


def test_a_failure_is_handed_over_and_ends_the_thread():
    def period(stamp):
        raise ZeroDivisionError(stamp)

    with Control(on_period=period) as control:
        wait_for(lambda: control.failures, "the failure")
    assert isinstance(control.failures[0], ZeroDivisionError)
    assert not math.isnan(control.thread.statistics().rate)
