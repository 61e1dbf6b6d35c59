"""RosArm against a robot that the test controls.

Odd joint states, late answers, and a server that goes away.
"""

from __future__ import annotations

import math
import threading

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="rclpy is not installed: the ROS 2 tests run in CI's ros lane")

from robosim.errors import ExecutionError
from robosim.execution.checks import Requirements
from robosim.execution.goals import ErrorCode, GoalStatus, Rejection
from robosim.execution.messages import (
    Goal,
    JointTolerance,
    JointTrajectory,
    JointTrajectoryPoint,
    SafetyMode,
    Setpoint,
)

from .harness.client import spinning_node
from .harness.waiting import wait_for

JOINTS = ("a", "b")
GOAL = Goal(
    JointTrajectory(JOINTS, (JointTrajectoryPoint(1.0, [1.0, 2.0], [0.0, 0.0], [0.0, 0.0]),)),
    path_tolerance=(JointTolerance("a", 0.5),),
)


class Robot:
    """Driver controlled by the test.

    Joint states are published by hand, and the answers of its action wait for `release`.
    """

    def __init__(self, node, controller="scaled_joint_trajectory_controller"):
        from control_msgs.action import FollowJointTrajectory
        from rclpy.action import ActionServer, CancelResponse, GoalResponse
        from rclpy.callback_groups import ReentrantCallbackGroup
        from sensor_msgs.msg import JointState
        from std_msgs.msg import Bool, Float64, Float64MultiArray
        from ur_dashboard_msgs.msg import SafetyMode as SafetyModeMessage

        from robosim.ros import names
        from robosim.ros.qos import LATCHED

        self.node, self.Result = node, FollowJointTrajectory.Result
        # Joint states, and the status topics of a UR driver.
        self.states = node.create_publisher(JointState, "joint_states", 100)
        self.scaling = node.create_publisher(Float64, names.SPEED_SCALING, 10)
        self.program = node.create_publisher(Bool, names.PROGRAM_RUNNING, LATCHED)
        self.safety = node.create_publisher(SafetyModeMessage, names.SAFETY_MODE, LATCHED)
        self.setpoints = []
        node.create_subscription(
            Float64MultiArray,
            names.FORWARD_COMMANDS,
            lambda m: self.setpoints.append(list(m.data)),
            10,
        )
        self.goals, self.handles = [], []
        self.accept, self.answer = True, ("succeed", 0, "there")
        self.release = threading.Event()
        self.stamp = 0

        # Action whose execution waits for `release`.
        async def execute(handle):
            self.handles.append(handle)
            while not self.release.is_set() and not handle.is_cancel_requested:
                await pause()
            how, code, text = self.answer
            if handle.is_cancel_requested:
                handle.canceled()
                return self.Result()
            getattr(handle, how)()
            return self.Result(error_code=code, error_string=text)

        def pause():
            """Future that is done a little later, so that nothing blocks."""
            from rclpy.task import Future

            future = Future()
            timer = node.create_timer(0.01, lambda: (future.set_result(None), timer.cancel()))
            return future

        def on_goal(request):
            self.goals.append(request)
            return GoalResponse.ACCEPT if self.accept else GoalResponse.REJECT

        self.server = ActionServer(
            node,
            FollowJointTrajectory,
            f"{controller}/follow_joint_trajectory",
            execute_callback=execute,
            goal_callback=on_goal,
            cancel_callback=lambda _: CancelResponse.ACCEPT,
            callback_group=ReentrantCallbackGroup(),
        )

    def publish(self, joints, velocity=(), stamp=None, **fields):
        """Publish a joint state with joints by name.

        The default stamp is the last one plus one.
        """
        from sensor_msgs.msg import JointState

        self.stamp += 1
        message = JointState(
            name=list(joints), position=list(joints.values()), velocity=list(velocity)
        )
        message.header.stamp.nanosec = self.stamp if stamp is None else stamp
        for name, value in fields.items():
            setattr(message, name, value)
        self.states.publish(message)


@pytest.fixture
def robot(domain):
    with spinning_node("robot", domain) as node:
        yield Robot(node)


@pytest.fixture
def connect(domain, ros_node):
    """`connect(**options)`: a RosArm for joints a and b, closed at the end."""
    from robosim.ros.arm import RosArm, RosArmOptions
    from robosim.ros.drivers import UR

    arms = []

    def make(joints=JOINTS, **options):
        # Nothing is required, since a RosArm would wait for status that this robot does not report.
        given = {"driver": UR, "requirements": Requirements(), **options}
        arms.append(RosArm(ros_node, joints, RosArmOptions(**given)))
        return arms[-1]

    yield make
    for arm in arms:
        arm.close()


@pytest.fixture
def arm(robot, connect):
    arm = connect()
    wait_for(lambda: robot.states.get_subscription_count() > 0, "the arm to listen")
    robot.publish({"a": 0.1, "b": 0.2})
    arm.wait_until_ready(60.0)
    return arm


def test_states_are_matched_by_name(robot, arm):
    def seen(*wanted):
        return lambda: np.array_equal(arm.state().position, wanted)

    robot.publish({"gripper": 9.0, "b": 2.0, "a": 1.0}, velocity=(0.9, 0.2, 0.1))
    wait_for(seen(1.0, 2.0), "the state")
    assert arm.state().joint_names == JOINTS
    assert arm.state().velocity.tolist() == [0.1, 0.2]
    assert 0 <= arm.clock() - arm.state().stamp < 10
    # Joints of another robot on the same topic, a missing joint, and arrays of wrong sizes: the
    # state stays as it was.
    robot.publish({"gripper": 9.0})
    robot.publish({"a": 5.0})
    robot.publish({"a": 5.0, "b": 5.0}, position=[5.0])
    robot.publish({"a": 5.0, "b": 5.0}, velocity=(1.0,))
    robot.publish({"a": 5.0, "b": 5.0}, name=["a", "a"])
    wait_for(lambda: arm.malformed == 3, "the malformed states to be counted")
    assert arm.state().position.tolist() == [1.0, 2.0]
    # A stamp that does not advance is a repetition by the driver, not a new state.
    old = arm.state()
    robot.publish({"a": 5.0, "b": 5.0}, stamp=robot.stamp - 5)
    robot.publish({"a": 6.0, "b": 6.0}, stamp=1)
    robot.publish({"a": 7.0, "b": math.nan})
    wait_for(lambda: arm.state().position[0] == 7.0, "the last state")
    assert math.isnan(arm.state().position[1])
    assert np.isnan(arm.state().velocity).all()
    assert old is not arm.state()
    before = arm.state()
    robot.publish({"a": 8.0, "b": 8.0}, stamp=robot.stamp)
    wait_for(lambda: arm.repeated == 1, "the repeated state to be counted")
    assert arm.state() is before


def test_an_arm_that_is_closed_is_not_connected(robot, arm):
    """Other users in the executor's thread, as diagnostics, may call `status` during shutdown."""
    assert arm.status().connected
    arm.close()
    wait_for(lambda: not arm.status().connected, "it to look again")


def test_status(robot, arm):
    from std_msgs.msg import Bool, Float64
    from ur_dashboard_msgs.msg import SafetyMode as SafetyModeMessage

    status = arm.status()
    assert (status.controller_active, status.program_running, status.safety_mode) == (
        None,
        None,
        None,
    )
    assert status.speed_scaling == 1.0
    for percent, expected in (
        (30.0, 0.3),
        (150.0, 1.0),
        (-5.0, 0.0),
        (100.0, 1.0),
        (math.nan, 0.0),
    ):
        robot.scaling.publish(Float64(data=percent))
        wait_for(lambda e=expected: arm.status().speed_scaling == e, f"speed scaling {percent}")
    robot.program.publish(Bool(data=True))
    wait_for(lambda: arm.status().program_running is True, "the program")
    for number, mode in (
        (1, SafetyMode.NORMAL),
        (12, SafetyMode.SAFEGUARD_STOP),
        (11, None),
        (9, SafetyMode.FAULT),
    ):
        robot.safety.publish(SafetyModeMessage(mode=number))
        wait_for(lambda m=mode: arm.status().safety_mode is m, f"safety mode {number}")
    wait_for(lambda: not arm.status().connected, "the connection to be lost without states")
    robot.publish({"a": 0.0, "b": 0.0})
    wait_for(lambda: arm.status().connected, "the connection")


def test_a_status_that_stops_counts_no_more(robot, connect):
    """A status that is published periodically is not used once it has stopped."""
    from std_msgs.msg import Bool

    from robosim.ros.drivers import Driver, StatusTopic

    row = StatusTopic(
        "alive",
        "std_msgs/Bool",
        lambda m: {"program_running": m.data},
        ("program_running",),
        valid=0.5,
    )
    arm = connect(driver=Driver("own", "an arm of the test's own", status=(row,)))
    alive = robot.node.create_publisher(Bool, "alive", 10)
    wait_for(
        lambda: alive.publish(Bool(data=True)) or arm.status().program_running is True,
        "the program",
    )
    wait_for(lambda: arm.status().program_running is None, "the silence to be noticed")


def test_a_goal(robot, arm):
    handle = arm.send(GOAL)
    wait_for(lambda: handle.status is GoalStatus.EXECUTING, "the goal to be accepted")
    assert list(robot.goals[0].trajectory.joint_names) == ["a", "b"]
    from control_msgs.action import FollowJointTrajectory

    wait_for(lambda: robot.handles, "the goal to begin")
    feedback = FollowJointTrajectory.Feedback(joint_names=["b", "a"])
    for field, values in (
        ("desired", [2.0, 1.0]),
        ("actual", [2.5, 1.25]),
        ("error", [-0.5, -0.25]),
    ):
        getattr(feedback, field).positions = values
    robot.handles[0].publish_feedback(feedback)
    wait_for(lambda: handle.feedback is not None, "feedback")
    assert handle.feedback.joint_names == ("b", "a")
    assert handle.feedback.error.position.tolist() == [-0.5, -0.25]
    assert handle.result is None
    robot.release.set()
    wait_for(lambda: handle.result is not None, "the result")
    assert handle.result.ok
    assert handle.result.error_string == "there"


def test_a_goal_that_is_aborted_rejected_or_cancelled(robot, arm):
    robot.answer = ("abort", -4, "too far")
    robot.release.set()
    handle = arm.send(GOAL)
    wait_for(lambda: handle.result is not None, "the result")
    assert (handle.result.status, handle.result.error_code) == (
        GoalStatus.ABORTED,
        ErrorCode.PATH_TOLERANCE_VIOLATED,
    )
    assert handle.result.error_string == "too far"
    robot.accept = False
    handle = arm.send(GOAL)
    wait_for(lambda: handle.result is not None, "the rejection")
    assert handle.result.rejected
    assert "scaled_joint_trajectory_controller rejected the goal" in handle.result.error_string
    robot.accept = True
    robot.release.clear()
    for stop in (lambda handle: handle.cancel(), lambda handle: arm.stop()):
        handle = arm.send(GOAL)
        stop(handle)  # before the goal is accepted, or just after
        wait_for(lambda h=handle: h.result is not None, "the goal to be cancelled")
        assert handle.result.status is GoalStatus.CANCELED


def hold_goals(waitable):
    """Withhold new goals' messages from an action client or server; return the list of them."""
    take, held = waitable.take_data, []

    def take_others():
        data = take()
        if "goal" in data:
            held.append({"goal": data.pop("goal")})
        return data

    waitable.take_data = take_others
    return held


@pytest.fixture
def impatient(monkeypatch):
    """Silence counts after a tenth of the usual time."""
    from robosim.ros import action_goal

    monkeypatch.setattr(action_goal, "_ASK", 0.1)


def test_an_acceptance_that_is_lost(robot, arm, impatient):
    """A server that has not discovered the client yet drops its answer, and begins the goal."""
    held = hold_goals(arm._clients[arm.controller])
    for n, (answer, ended) in enumerate(
        (("succeed", GoalStatus.SUCCEEDED), ("abort", GoalStatus.ABORTED)), 1
    ):
        robot.answer = (answer, 0, "there")
        robot.release.clear()
        handle = arm.send(GOAL)
        wait_for(lambda n=n: len(robot.handles) == n, "the goal to begin")
        robot.release.set()
        wait_for(lambda h=handle: h.result is not None, "the result")
        assert (handle.result.status, handle.result.error_string) == (ended, "there")
    robot.release.clear()
    handle = arm.send(GOAL)
    wait_for(lambda: len(robot.handles) == 3, "the goal to begin")
    arm.stop()
    wait_for(lambda: robot.handles[2].status == GoalStatus.CANCELED, "the goal to be cancelled")
    wait_for(lambda: handle.result is not None, "the result")
    assert handle.result.status is GoalStatus.CANCELED
    assert len(held) == 3


class Unheard:
    """Server handle that has not discovered the client yet, so that no acceptance can be sent."""

    def __init__(self, handle):
        self._handle = handle

    def __getattr__(self, name):
        return getattr(self._handle, name)

    def __enter__(self):
        return self._handle.__enter__()

    def __exit__(self, *error):
        return self._handle.__exit__(*error)

    def send_goal_response(self, *_):
        from rclpy._rclpy_pybind11 import RCLError

        raise RCLError("client will not receive response")


def test_a_goal_that_is_executed_without_an_answer_is_not_given_up(robot, arm, impatient):
    """A goal may take any time, without feedback: the server's status shows that it runs."""
    hold_goals(arm._clients[arm.controller])
    handle = arm.send(GOAL)
    wait_for(lambda: handle.status is GoalStatus.EXECUTING, "the status")
    silences = handle._silences
    wait_for(lambda: handle._silences > silences + 10, "a long time")
    assert handle.result is None
    robot.release.set()
    wait_for(lambda: handle.result is not None, "the result")
    assert handle.result.status is GoalStatus.SUCCEEDED


def test_a_goal_whose_acceptance_could_not_be_sent_is_given_up(robot, arm, monkeypatch, impatient):
    """From then on rclpy's server knows the goal, but does not execute it."""
    monkeypatch.setattr(robot.server, "_handle", Unheard(robot.server._handle))
    handle = arm.send(GOAL)
    wait_for(lambda: handle.result is not None, "the goal to be given up")
    text = (
        "scaled_joint_trajectory_controller did not answer for 0.6 s, and does not execute the goal"
    )
    assert (handle.result.status, handle.result.error_string) == (GoalStatus.ABORTED, text)
    (known,) = robot.server._goal_handles.values()
    wait_for(lambda: known.status == GoalStatus.CANCELING, "the goal to be cancelled")
    assert robot.handles == []


def test_a_goal_whose_acceptance_could_not_be_sent_is_executed_by_our_servers(
    robot, arm, monkeypatch, impatient
):
    from robosim.ros.action_server import ExecutingActionServer

    robot.server.__class__ = ExecutingActionServer
    monkeypatch.setattr(robot.server, "_handle", Unheard(robot.server._handle))
    handle = arm.send(GOAL)
    wait_for(lambda: robot.handles, "the goal to begin")
    robot.release.set()
    wait_for(lambda: handle.result is not None, "the result")
    assert (handle.result.status, handle.result.error_string) == (GoalStatus.SUCCEEDED, "there")
    # A refused goal is not executed.
    robot.accept = False
    refused = arm.send(GOAL)
    wait_for(lambda: len(robot.goals) == 2, "the second goal")
    wait_for(lambda: refused.result is not None, "the refused goal to be given up")
    assert refused.result.status is GoalStatus.ABORTED
    assert len(robot.handles) == 1


def test_a_goal_that_comes_late(robot, arm, impatient):
    """The server does not know the goal when the client inquires, and accepts it afterwards."""
    held = hold_goals(robot.server)
    handle = arm.send(GOAL)
    wait_for(lambda: handle._silences >= 2, "the goal to be asked for")
    assert handle.status is GoalStatus.ACCEPTED
    robot.node.executor.create_task(robot.server.execute(held[0]))
    wait_for(lambda: handle.status is GoalStatus.EXECUTING, "the goal to be accepted")
    robot.release.set()
    wait_for(lambda: handle.result is not None, "the result")
    assert handle.result.ok
    assert handle.result.error_string == "there"


def test_a_goal_that_does_not_come(robot, arm, impatient):
    """The goal is given up; if it arrives after all, it must not move the arm."""
    held = hold_goals(robot.server)
    handle = arm.send(GOAL)
    wait_for(lambda: handle.result is not None, "the goal to be given up")
    assert (handle.result.status, handle.result.rejected) == (GoalStatus.ABORTED, False)
    text = "scaled_joint_trajectory_controller did not answer for 0.5 s, and does not know the goal"
    assert handle.result.error_string == text
    robot.node.executor.create_task(robot.server.execute(held[0]))
    wait_for(
        lambda: robot.handles and robot.handles[0].status == GoalStatus.CANCELED,
        "the goal to be cancelled",
    )


def test_names_and_stamps_on_the_wire(robot, connect):
    """Trajectories and tolerances get the prefix, states lose it; stamps are of ROS's clock."""
    arm = connect(tf_prefix="left_")
    wait_for(lambda: robot.states.get_subscription_count() > 0, "the arm to listen")
    robot.publish({"left_b": 0.2, "left_a": 0.1})
    arm.wait_until_ready(60.0)
    assert arm.state().joint_names == JOINTS
    stamped = JointTrajectory(JOINTS, GOAL.trajectory.points, arm.clock() + 5.0)
    now = robot.node.get_clock().now().nanoseconds
    arm.send(Goal(stamped, GOAL.path_tolerance))
    wait_for(lambda: robot.goals, "the goal")
    message = robot.goals[0]
    assert list(message.trajectory.joint_names) == ["left_a", "left_b"]
    assert message.path_tolerance[0].name == "left_a"
    sent = message.trajectory.header.stamp.sec * 10**9 + message.trajectory.header.stamp.nanosec
    assert 4.9e9 < sent - now < 10e9


def test_nobody_there_is_said(robot, connect):
    arm = connect(joints=("a", "c"))
    with pytest.raises(
        ExecutionError, match=r"no joint states on /joint_states|there is no action"
    ):
        arm.wait_until_ready(0.2)

    def lacking():
        robot.publish({"a": 0.1, "b": 0.2})
        try:
            arm.wait_until_ready(0.2)
        except ExecutionError as error:
            return "the joint states on /joint_states lack c; of ours they have a" in str(error)
        return False

    wait_for(lacking, "the missing joint to be named")
    other = connect(controller="elsewhere")
    robot.publish({"a": 0.1, "b": 0.2})
    with pytest.raises(
        ExecutionError, match="there is no action elsewhere/follow_joint_trajectory"
    ):
        other.wait_until_ready(0.2)
    answer = other.send(GOAL)
    assert isinstance(answer, Rejection)
    assert answer.text == "there is no action elsewhere/follow_joint_trajectory"


def test_a_server_that_goes_away(robot, arm):
    robot.publish({"a": 0.1, "b": 0.2})
    wait_for(lambda: arm.status().connected, "the connection")
    robot.server.destroy()

    def lost():
        robot.publish({"a": 0.1, "b": 0.2})
        return not arm.status().connected

    wait_for(lost, "the lost server to be noticed")
    assert isinstance(arm.send(GOAL), Rejection)


def test_set_points(robot, connect):
    arm = connect(interface="forward_position")
    wait_for(lambda: robot.states.get_subscription_count() > 0, "the arm to listen")
    robot.publish({"a": 0.1, "b": 0.2})
    arm.wait_until_ready(60.0)
    arm.stop()  # nothing was sent: there is nothing to hold
    for i in range(5):
        arm.stream(Setpoint(np.array([1.0 + i, 2.0])))
        wait_for(lambda i=i: len(robot.setpoints) > i, "the set point")
    arm.stop()
    wait_for(lambda: len(robot.setpoints) == 6, "the last set point once more")
    assert robot.setpoints == [[1, 2], [2, 2], [3, 2], [4, 2], [5, 2], [5, 2]]
    assert isinstance(arm.send(GOAL), Rejection)
    action = connect()
    with pytest.raises(ExecutionError, match="set points need the interface forward_position"):
        action.stream(Setpoint(np.zeros(2)))
    with pytest.raises(ExecutionError, match="interface is 'telepathy'"):
        connect(interface="telepathy")


@pytest.mark.parametrize(
    ("interface", "controller"),
    [
        ("action", "joint_trajectory_controller"),
        ("passthrough", "passthrough_trajectory_controller"),
    ],
)
def test_controllers_are_found_by_their_action(domain, connect, interface, controller):
    """The plain controller is found if there is no scaled one.

    The passthrough controller takes goals like the others.
    """
    with spinning_node("robot", domain) as node:
        robot = Robot(node, controller)
        arm = connect(interface=interface)
        wait_for(lambda: robot.states.get_subscription_count() > 0, "the arm to listen")
        robot.publish({"a": 0.1, "b": 0.2})
        arm.wait_until_ready(60.0)
        assert arm.controller == controller
        robot.release.set()
        handle = arm.send(GOAL)
        wait_for(lambda: handle.result is not None, "the result")
        assert handle.result.ok
