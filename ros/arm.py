"""RosArm: an arm behind ROS 2 controllers, through rclpy.

Whole trajectories go to a FollowJointTrajectory action (a joint trajectory controller, or UR's passthrough
controller), set points to a forward position controller. States come from joint_states and are matched by name. The
port's methods are called from one thread; the node's executor, single-threaded, spins in another.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from robosim.errors import ExecutionError
from robosim.execution.checks import REAL_ARM, Requirements
from robosim.execution.clock import monotonic
from robosim.execution.goals import Rejection, RejectReason
from robosim.execution.messages import ArmState, ArmStatus, Goal, Setpoint
from robosim.ros import names
from robosim.ros.action_goal import ActionGoal
from robosim.ros.arm_clock import ArmClock
from robosim.ros.executor_thread import in_executor
from robosim.ros.messages import goal_message, nanoseconds_of
from robosim.ros.robot_status import RobotStatus

__all__ = ["Interface", "RosArm", "RosArmOptions"]

Array = NDArray[np.float64]
Interface = Literal["action", "passthrough", "forward_position"]

INTERFACES: dict[str, tuple[str, ...]] = {  # the controllers that are looked for, best first
    "action": (names.SCALED_CONTROLLER, names.JOINT_TRAJECTORY_CONTROLLER),
    "passthrough": (names.PASSTHROUGH_CONTROLLER,),
    "forward_position": (names.FORWARD_POSITION_CONTROLLER,),
}
_CONNECTED = 1.0  # [s] without a state after which the connection counts as lost
_LOOK = 0.05  # [s] between looks at who is there
_SETTLE = 0.5  # [s] for a better controller, or an optional answer, to be found
_SPEAK = 2.5  # [s] for the robot to say what has to be known of it
_PARTING = 2.0  # [s] for a cancelled goal to be answered


@dataclasses.dataclass(frozen=True)
class RosArmOptions:
    """How an arm is reached. Relative names are below the node's namespace, and remapped like all names.

    Attributes:
        interface: "action", "passthrough" or "forward_position".
        controller: its name; "" for the one that is there (of the scaled and the plain one: the active one, else the
            scaled one), or the driver's.
        joint_states, speed_scaling: topics.
        tf_prefix: what the arm's joint names begin with and the plan's do not.
        state_rate: of the joint states [Hz], for a queue of two seconds.
        requirements: what has to be known to be good before it moves. By default all that a UR driver tells; leave out
            what another robot does not have.
    """

    interface: Interface = "action"
    controller: str = ""
    joint_states: str = names.JOINT_STATES
    speed_scaling: str = names.SPEED_SCALING
    tf_prefix: str = ""
    state_rate: float = 500.0
    requirements: Requirements = REAL_ARM


class RosArm:
    """Meets the port Arm.

    Args:
        node: rclpy node, spun by a SingleThreadedExecutor in another thread.
        joint_names: that the plan moves, without prefix. A forward controller gets its set points in the order of its
            own parameter `joints`; where it does not tell, in that of the driver for a UR arm, else in this one.
        options: how it is reached.
        on_close: called when it has been closed.

    Raises:
        ExecutionError: an option is not valid.

    Attributes:
        controller: that is commanded; once ready, the one that was found.
        states, repeated, malformed: how many joint states were taken, had an old stamp, or did not fit together.
    """

    def __init__(
        self,
        node: Any,
        joint_names: Sequence[str],
        options: RosArmOptions | None = None,
        on_close: Callable[[], None] | None = None,
    ) -> None:
        from sensor_msgs.msg import JointState

        from robosim.ros.qos import samples

        self.options = RosArmOptions() if options is None else options
        if self.options.interface not in INTERFACES:
            raise ExecutionError(f"interface is {self.options.interface!r}; expected {', '.join(INTERFACES)}")
        self._node = node
        self._clock = ArmClock(node)
        self._joint_names = names.driver_order(joint_names)
        self._state: ArmState | None = None
        self._stamp = 0  # of the last message [ns]
        self.states = self.repeated = self.malformed = 0
        self._goal: ActionGoal | None = None
        self._on_close, self._closed = on_close, False
        self._let_go = False
        given = self.options.controller
        self._candidates = (given,) if given else INTERFACES[self.options.interface]
        self.controller = self._candidates[0]
        self._there, self._looked = False, -np.inf
        self._robot = RobotStatus(node, self.options.speed_scaling)
        self._subscription = node.create_subscription(
            JointState, self.options.joint_states, self._on_state, samples(self.options.state_rate)
        )
        self._clients: dict[str, Any] = {}
        self._publisher: Any = None
        self._connect()

    def _connect(self) -> None:
        if self.options.interface == "forward_position":
            from std_msgs.msg import Float64MultiArray

            from robosim.ros.qos import SETPOINTS

            self._publisher = self._node.create_publisher(
                Float64MultiArray, f"{self.controller}/commands", SETPOINTS
            )
            self._setpoint_sent = False
            self._allocate()
            return
        from control_msgs.action import FollowJointTrajectory
        from rclpy.action import ActionClient

        for name in self._candidates:
            action = f"{name}/follow_joint_trajectory"
            self._clients[name] = ActionClient(self._node, FollowJointTrajectory, action)

    def _allocate(self) -> None:
        """The message that every set point goes out in."""
        from std_msgs.msg import Float64MultiArray

        self._message = Float64MultiArray(data=[0.0] * len(self._joint_names))
        self._message_data = np.frombuffer(self._message.data, dtype=np.float64)

    # -- The Arm port ----------------------------------------------------------------------------------------

    @property
    def requirements(self) -> Requirements:
        """What has to be known to be good before this arm moves, unless someone says otherwise."""
        return self.options.requirements

    @property
    def joint_names(self) -> tuple[str, ...]:
        """The joints without prefix; once ready, those of the controller where it tells them."""
        return self._joint_names

    def clock(self) -> float:
        """Now [s]: the machine's monotonic clock, or simulated time where the node uses it."""
        return self._clock()

    def sleep_until(self, time: float) -> None:
        """Wait until the clock shows `time`; see ArmClock."""
        self._clock.sleep_until(time)

    def state(self) -> ArmState | None:
        """The last state; its stamp is when it arrived here. A message whose own stamp stands still is none."""
        return self._state

    def status(self) -> ArmStatus:
        """What was last heard from the robot."""
        now = monotonic()
        if now - self._looked > _LOOK:
            self._looked, self._there = now, self._is_there(self.controller)
        state = self._state
        return ArmStatus(
            connected=self._there and state is not None and self.clock() - state.stamp <= _CONNECTED,
            controller_active=self._robot.active(self.controller.rsplit("/", 1)[-1]),
            program_running=self._robot.program_running,
            safety_mode=self._robot.safety_mode,
            speed_scaling=self._robot.speed_scaling,
        )

    def send(self, goal: Goal) -> ActionGoal | Rejection:
        """Send a trajectory to the action. The controller's own refusal comes later, as the handle's result."""
        client = self._clients.get(self.controller)
        if client is None:
            text = f"{self.controller} takes set points; use the interface action or passthrough for a trajectory"
            return Rejection(RejectReason.CHECK, text)
        if not client.server_is_ready():
            text = f"there is no action {self.controller}/follow_joint_trajectory"
            return Rejection(RejectReason.CHECK, text)
        try:
            message = goal_message(self._on_the_wire(goal))
        except ExecutionError as error:
            return Rejection(RejectReason.TIMES, str(error))
        self._goal = ActionGoal(
            self._node, client, message, self.controller, self.clock,
            lambda name: name.removeprefix(self.options.tf_prefix),
        )  # fmt: skip
        return self._goal

    def stream(self, setpoint: Setpoint) -> None:
        """Publish one set point. Raises ExecutionError where the interface is an action."""
        if self._publisher is None:
            raise ExecutionError(
                f"interface is {self.options.interface!r}; set points need the interface forward_position"
            )
        self._message_data[:] = setpoint.position
        self._setpoint_sent = True
        self._publisher.publish(self._message)

    def stop(self) -> None:
        """Cancel the goal; the controller holds. A stream of set points ends with its last one, which is where the
        arm is going anyway: any other would be a jump.
        """
        if self._publisher is not None:
            if self._setpoint_sent:
                self._publisher.publish(self._message)
        elif self._goal is not None and self._goal.result is None:
            self._goal.cancel()

    def interrupt(self) -> None:
        """Have another thread give up waiting for the arm, or for simulated time that stands still."""
        self._clock.interrupt()

    def close(self) -> None:
        """Stop, wait shortly for the answer, and let go."""
        if self._closed:
            return
        self._closed = True
        self.stop()
        goal, end = self._goal, monotonic() + _PARTING
        while (
            goal is not None and goal.result is None and monotonic() < end and self._is_there(self.controller)
        ):
            time.sleep(0.01)
        in_executor(self._node, self._destroy)
        if self._on_close is not None:
            self._on_close()

    def _destroy(self) -> None:
        self._let_go = True  # in the executor's thread, where others may still ask for the status
        if self._goal is not None:
            self._goal.abandon()
        self._robot.destroy()
        self._node.destroy_subscription(self._subscription)
        if self._publisher is not None:
            self._node.destroy_publisher(self._publisher)
        for client in self._clients.values():
            client.destroy()

    def __enter__(self) -> RosArm:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def from_ros(self, nanoseconds: int) -> float:
        """A stamp on ROS's clock [ns] on the arm's [s]."""
        return self._clock.from_ros(nanoseconds)

    # -- Finding the arm -------------------------------------------------------------------------------------

    def wait_until_ready(self, timeout: float) -> None:
        """Wait for joint states and for a controller, and learn what it tells of itself.

        Raises:
            ExecutionError: after `timeout` [s] something is still missing; the message names it.
        """
        end = monotonic() + timeout
        while missing := self._missing():
            if monotonic() > end:
                raise ExecutionError(f"after {timeout:g} s: {missing}")
            if self._clock.interrupted.is_set():
                raise ExecutionError("interrupted")
            time.sleep(0.02)
        found = monotonic()
        while (waited := monotonic() - found) < _SPEAK and (
            self._silent() or (waited < _SETTLE and self._unsettled())
        ):
            time.sleep(0.02)
        there = [name for name in self._candidates if self._is_there(name)] or [self.controller]
        self.controller = self._robot.pick(there) or there[0]
        self._looked = -np.inf
        self._ask_joints()

    def _unsettled(self) -> bool:
        """Whether it may be another controller that is to be commanded."""
        return self._robot.expects_controllers or not self._is_there(self._candidates[0])

    def _silent(self) -> bool:
        """Whether the robot has not said yet what has to be known of it: topics are found one after the other."""
        needed, robot = self.options.requirements, self._robot
        return (
            (needed.controller_active and robot.controllers is None)
            or (needed.program_running and robot.program_running is None)
            or (needed.safety_mode and robot.safety_mode is None)
        )

    def _missing(self) -> str:
        topic = self._subscription.topic_name
        if not any(self._is_there(name) for name in self._candidates):
            if self._publisher is not None:
                return f"nobody listens on {self._publisher.topic_name}"
            actions = " or ".join(f"{name}/follow_joint_trajectory" for name in self._candidates)
            return f"there is no action {actions} (namespace {self._node.get_namespace()})"
        if self._state is None:
            return f"no joint states on {topic}"
        has = self._state.joint_names
        lacking = [name for name in self._joint_names if name not in has]
        if lacking:
            return (
                f"the joint states on {topic} lack {', '.join(lacking)}; of ours they have {', '.join(has)}"
            )
        return ""

    def _is_there(self, controller: str) -> bool:
        if self._let_go:
            return False
        if self._publisher is not None:
            return bool(self._publisher.get_subscription_count() > 0)
        return bool(self._clients[controller].server_is_ready())

    def _ask_joints(self) -> None:
        """Ask the controller for its parameter `joints`; many do not answer, then what we know stands."""
        from rcl_interfaces.srv import GetParameters

        client = self._node.create_client(GetParameters, f"{self.controller}/get_parameters")
        try:
            end = monotonic() + _SETTLE
            while not client.service_is_ready() and monotonic() < end:
                time.sleep(0.02)
            if not client.service_is_ready():
                return
            answers: list[Any] = []

            def ask() -> None:
                future = client.call_async(GetParameters.Request(names=["joints"]))
                future.add_done_callback(lambda done: answers.append(done.result()))

            self._node.executor.create_task(ask)
            while not answers and monotonic() < end + _SETTLE:
                time.sleep(0.01)
            joints = list(answers[0].values[0].string_array_value) if answers and answers[0].values else []
        finally:
            in_executor(self._node, lambda: self._node.destroy_client(client))
        if joints:
            self._joint_names = tuple(name.removeprefix(self.options.tf_prefix) for name in joints)
            if self._publisher is not None:
                self._allocate()

    # -- Messages --------------------------------------------------------------------------------------------

    def _on_the_wire(self, goal: Goal) -> Goal:
        """The goal with the arm's joint names, and a stamp on ROS's clock."""
        prefix, trajectory = self.options.tf_prefix, goal.trajectory
        stamp = self._clock.to_ros(trajectory.stamp) / 1e9 if trajectory.stamp else 0.0

        def tolerances(given: Any) -> Any:
            return tuple(dataclasses.replace(t, name=prefix + t.name) for t in given)

        return dataclasses.replace(
            goal,
            trajectory=dataclasses.replace(
                trajectory, joint_names=names.prefixed(trajectory.joint_names, prefix), stamp=stamp
            ),
            path_tolerance=tolerances(goal.path_tolerance),
            goal_tolerance=tolerances(goal.goal_tolerance),
        )

    def _on_state(self, message: Any) -> None:
        """In the executor's thread. Others may publish other joints on the same topic: those messages are not ours."""
        prefix = self.options.tf_prefix
        given = {name: i for i, name in enumerate(message.name)}
        found = [name for name in self._joint_names if prefix + name in given]
        n = len(message.name)
        if len(given) != n or len(message.position) != n or len(message.velocity) not in (0, n):
            self.malformed += 1
            return
        complete = len(found) == len(self._joint_names)
        if not found:
            return
        if not complete and self._state is not None and len(self._state.joint_names) > len(found):
            lacking = ", ".join(prefix + name for name in self._joint_names if name not in found)
            self._node.get_logger().warning(
                f"joint states without {lacking} are not counted", throttle_duration_sec=1.0
            )
            return
        stamp = nanoseconds_of(message.header.stamp)
        if stamp and stamp == self._stamp:
            self.repeated += 1
            return
        self._stamp = stamp
        index = [given[prefix + name] for name in found]
        position = np.array(message.position)[index]
        velocity = np.array(message.velocity)[index] if len(message.velocity) else np.full(len(index), np.nan)
        measured = stamp / 1e9 if stamp else None
        self._state = ArmState(tuple(found), position, velocity, self.clock(), measured=measured)
        self.states += 1
