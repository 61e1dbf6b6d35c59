"""RosArm: an arm behind ROS 2 controllers, through rclpy.

Whole trajectories go to a FollowJointTrajectory action (a joint trajectory controller, or UR's
passthrough controller), set points to a forward position controller. States come from joint_states
and are matched by name. The port's methods are called from one thread. The node's single-threaded
executor spins in another thread.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from robosim.errors import ExecutionError
from robosim.execution.checks import Requirements
from robosim.execution.clock import monotonic
from robosim.execution.goals import Rejection, RejectReason
from robosim.execution.messages import ArmState, ArmStatus, Goal, Setpoint
from robosim.ros import names
from robosim.ros.action_goal import ActionGoal
from robosim.ros.arm_clock import ArmClock
from robosim.ros.clock_watch import no_clock
from robosim.ros.controllers import ACTION, controllers_on_graph, joints_of
from robosim.ros.drivers import GENERIC, Driver
from robosim.ros.executor_thread import in_executor
from robosim.ros.messages import goal_message, nanoseconds_of
from robosim.ros.robot_status import RobotStatus

__all__ = ["Interface", "RosArm", "RosArmOptions"]

Array = NDArray[np.float64]
Interface = Literal["action", "passthrough", "forward_position"]

_CONNECTED = 1.0  # [s] without a state after which the connection counts as lost
_LOOK = 0.05  # [s] between checks for servers and subscribers
_SETTLE = 0.5  # [s] for a preferred controller, or an optional answer, to appear
_SPEAK = 2.5  # [s] for the robot to report the required status
_ASIDE = 1.0  # [s] between checks for another driver
_PARTING = 2.0  # [s] for a canceled goal to be answered
# [s] after which the only other controller is used. Some controllers are discovered late.
_FOUND = 3.0


@dataclasses.dataclass(frozen=True)
class RosArmOptions:
    """Options of the connection to an arm.

    Relative names are below the node's namespace, and remapped like all names.

    Attributes:
        interface: "action", "passthrough" or "forward_position".
        driver: driver of the arm, with its controllers' names and status topics.
        controller: name of the controller; "" for a controller of the driver that exists (the
            active one, otherwise the first).
        joint_states, speed_scaling: topics; "" for the driver's.
        tf_prefix: prefix of the arm's joint names that the plan's names lack.
        state_rate: rate of the joint states [Hz], for a queue of two seconds.
        requirements: conditions that must be known to hold before a motion; None for those of the
            driver.
        setting: describes, by name of a streamer's parameter, how a user sets it.
    """

    interface: Interface = "action"
    driver: Driver = GENERIC
    controller: str = ""
    joint_states: str = ""
    speed_scaling: str = ""
    tf_prefix: str = ""
    state_rate: float = 500.0
    requirements: Requirements | None = None
    setting: Callable[[str], str] = "parameter {!r}".format


class RosArm:
    """Implements the port Arm.

    Args:
        node: rclpy node, spun by a SingleThreadedExecutor in another thread.
        joint_names: joints that the plan moves, without prefix. A forward controller gets its set
            points in the order of its own parameter `joints`. If it does not report this parameter,
            the order is that of the driver for a UR arm, otherwise this one. () if the joints are
            unknown yet: then those of the controller, otherwise those of `assume_joints`.
        options: options of the connection.
        on_close: called after closing.

    Raises:
        ExecutionError: an option is invalid.

    Attributes:
        controller: the commanded controller; once ready, the one that was found.
        states, repeated, malformed: numbers of joint states that were used, had an old stamp, or
            were inconsistent.
    """

    def __init__(
        self,
        node: Any,
        joint_names: Sequence[str],
        options: RosArmOptions | None = None,
        on_close: Callable[[], None] | None = None,
    ) -> None:
        from rclpy.clock import Clock, ClockType
        from sensor_msgs.msg import JointState

        from robosim.ros.qos import samples

        self.options = RosArmOptions() if options is None else options
        if self.options.interface not in get_args(Interface):
            known = ", ".join(get_args(Interface))
            raise ExecutionError(f"interface is {self.options.interface!r}; expected {known}")
        self._node = node
        self._clock = ArmClock(node)
        self._joint_names = names.driver_order(joint_names)
        self._joints_known = bool(self._joint_names)
        self._state: ArmState | None = None
        self._stamp = 0  # of the latest message [ns]
        self.states = self.repeated = self.malformed = 0
        self._goal: ActionGoal | None = None
        self._on_close, self._closed = on_close, False
        self._let_go = False
        self._candidates = self._looked_for()
        self.controller = self._candidates[0]
        self._there, self._looked = False, -np.inf
        # Controllers on the graph, and since when exactly these.
        self._only: tuple[list[str], float] = ([], 0.0)
        self._told_of_driver = self._told_of_other = False
        self._emptied: Any = None  # subscription to the topic of the commanded controller
        driver = self.options.driver
        self._robot = RobotStatus(node, driver, self.options.speed_scaling)
        self._subscription = node.create_subscription(
            JointState,
            self.options.joint_states or driver.joint_states,
            self._on_state,
            samples(self.options.state_rate),
        )
        self._clients: dict[str, Any] = {}
        self._publisher: Any = None
        self._connect()
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        self._look_around = node.create_timer(_ASIDE, self._point_to_other_driver, clock=steady)

    def _looked_for(self) -> tuple[str, ...]:
        """Names of suitable controllers, best first."""
        options = self.options
        if options.controller:
            return (options.controller,)
        if found := options.driver.controllers(options.interface):
            return found
        raise ExecutionError(
            f"interface is {options.interface!r}, for which the profile {options.driver.name!r} has"
            f" no controller; choose one with {options.setting('controller')}, or another"
            f" {options.setting('profile')}"
        )

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
            self._clients[name] = ActionClient(self._node, FollowJointTrajectory, name + ACTION)

    def _allocate(self) -> None:
        """Allocate the message of all set points."""
        from std_msgs.msg import Float64MultiArray

        self._message = Float64MultiArray(data=[0.0] * len(self._joint_names))
        self._message_data = np.frombuffer(self._message.data, dtype=np.float64)

    # -- The Arm port ------------------------------------------------------------------------------

    @property
    def requirements(self) -> Requirements:
        """Conditions that must be known to hold before this arm moves, unless overridden."""
        if self.options.requirements is not None:
            return dataclasses.replace(self.options.requirements, setting=self.setting)
        needed: dict[str, Any] = dict.fromkeys(self.options.driver.require, True)
        return Requirements(**needed, setting=self.setting)

    def setting(self, rule: str) -> str:
        """Describe how to change a rule (see Requirements), and list missing message packages."""
        text = self.options.setting(rule)
        missing = sorted(set(self._robot.missing.values())) if rule == "require" else []
        lacking = [f"the ROS 2 package {package} is not installed" for package in missing]
        return "; ".join(part for part in (text, *lacking) if part)

    @property
    def joint_names(self) -> tuple[str, ...]:
        """Joints without prefix; once ready, those of the controller if it reports them."""
        return self._joint_names

    def clock(self) -> float:
        """Current time [s], monotonic, or simulated if the node uses simulated time."""
        return self._clock()

    def sleep_until(self, time: float) -> None:
        """Wait until the clock shows `time`; see ArmClock."""
        self._clock.sleep_until(time)

    def state(self) -> ArmState | None:
        """Latest state, stamped with its arrival.

        A message whose own stamp has not changed is ignored.
        """
        return self._state

    def status(self) -> ArmStatus:
        """Latest status of the robot."""
        now = monotonic()
        if now - self._looked > _LOOK:
            self._looked, self._there = now, self._is_there(self.controller)
        state = self._state
        return ArmStatus(
            connected=self._there
            and state is not None
            and self.clock() - state.stamp <= _CONNECTED,
            controller_active=self._robot.active(self.controller.rsplit("/", 1)[-1]),
            program_running=self._robot.program_running,
            safety_mode=self._robot.safety_mode,
            speed_scaling=self._robot.speed_scaling,
        )

    def send(self, goal: Goal) -> ActionGoal | Rejection:
        """Send a trajectory to the action.

        A refusal by the controller arrives later, as the handle's result.
        """
        client = self._clients.get(self.controller)
        if client is None:
            text = (
                f"{self.controller} takes set points; use the interface action or passthrough for a"
                " trajectory"
            )
            return Rejection(RejectReason.CHECK, text)
        if not client.server_is_ready():
            text = f"there is no action {self.controller}{ACTION}"
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
        """Publish one set point. Raises ExecutionError if the interface is an action."""
        if self._publisher is None:
            raise ExecutionError(
                f"interface is {self.options.interface!r}; set points need the interface"
                " forward_position"
            )
        self._message_data[:] = setpoint.position
        self._setpoint_sent = True
        self._publisher.publish(self._message)

    def stop(self) -> None:
        """Cancel the goal; the controller holds the arm.

        A stream of set points ends with its last one, which is the arm's target anyway. Any other
        set point would cause a jump.
        """
        if self._publisher is not None:
            if self._setpoint_sent:
                self._publisher.publish(self._message)
        elif self._goal is not None and self._goal.result is None:
            self._goal.cancel()

    def interrupt(self) -> None:
        """Stop another thread from waiting for the arm, or for simulated time that stands still."""
        self._clock.interrupt()

    def close(self) -> None:
        """Stop, wait briefly for the answer, and disconnect."""
        if self._closed:
            return
        self._closed = True
        self.stop()
        goal, end = self._goal, monotonic() + _PARTING
        while (
            goal is not None
            and goal.result is None
            and monotonic() < end
            and self._is_there(self.controller)
        ):
            time.sleep(0.01)
        in_executor(self._node, self._destroy)
        if self._on_close is not None:
            self._on_close()

    def _destroy(self) -> None:
        self._let_go = True  # in the executor's thread, where status may still be requested
        if self._goal is not None:
            self._goal.abandon()
        self._robot.destroy()
        self._node.destroy_timer(self._look_around)
        self._node.destroy_subscription(self._subscription)
        if self._emptied is not None:
            self._node.destroy_subscription(self._emptied)
        if self._publisher is not None:
            self._node.destroy_publisher(self._publisher)
        for client in self._clients.values():
            client.destroy()

    def __enter__(self) -> RosArm:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def from_ros(self, nanoseconds: int) -> float:
        """Convert a stamp of the ROS clock [ns] to the arm's clock [s]."""
        return self._clock.from_ros(nanoseconds)

    # -- Finding the arm ---------------------------------------------------------------------------

    def wait_until_ready(self, timeout: float) -> None:
        """Wait for joint states and a controller, and query the controller.

        Raises:
            ExecutionError: something is missing after `timeout` [s]; the message names it.
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
        self._listen_for_emptying()
        self._tell_of_driver()

    def assume_joints(self, joint_names: Sequence[str]) -> None:
        """Use these joints as the controller's if nothing else has reported its joints."""
        if not self._joints_known:
            self._joint_names = names.driver_order(joint_names)

    def _tell_of_driver(self) -> None:
        """Log once what is known and unknown about the robot."""
        if self._told_of_driver:
            return
        self._told_of_driver = True
        driver, log = self.options.driver, self._node.get_logger()
        text = f"profile {driver.name!r} ({driver.summary})"
        if unknown := self._robot.unknown():
            log.warning(
                f"{text}: joint states and the answers of {self.controller} are checked; not"
                f" checked, as nobody reports: {'; '.join(unknown)}."
                f" {self.options.setting('profile')} chooses another,"
                f" {self.options.setting('require')} what must be reported"
            )
        else:
            log.info(
                f"{text}: the controller's state, the robot's program and the safety mode are"
                " checked"
            )

    def _point_to_other_driver(self) -> None:
        """Log once that topics of another driver exist. Runs in the executor's thread."""
        if not self._told_of_other and (other := self._robot.other_driver()):
            self._told_of_other = True
            self._look_around.cancel()
            profile, topic = other
            self._node.get_logger().warning(
                f"{topic} is published, as by the driver of profile {profile!r}; what it tells is"
                f" not listened to with profile {self.options.driver.name!r}: set"
                f" {self.options.setting('profile')} to {profile!r}"
            )

    def _unsettled(self) -> bool:
        """Return true if another controller may still be selected."""
        return self._robot.expects_controllers or not self._is_there(self._candidates[0])

    def _silent(self) -> bool:
        """Return true if required status is still missing. Topics are discovered one by one."""
        needed, robot = self.requirements, self._robot
        return (
            (needed.controller_active and robot.controllers is None)
            or (needed.program_running and robot.program_running is None)
            or (needed.safety_mode and robot.safety_mode is None)
        )

    def _missing(self) -> str:
        topic = self._subscription.topic_name
        if missing := no_clock(self._node):
            return missing
        if not any(self._is_there(name) for name in self._candidates):
            chooses = f"{self.options.setting('controller')} names the controller"
            if self._publisher is not None:
                return f"nobody listens on {self._publisher.topic_name}; {chooses}"
            others = self._discover()
            if self._is_there(self._candidates[0]):
                return ""
            actions = " or ".join(name + ACTION for name in self._candidates)
            there = f"; there is {', '.join(name + ACTION for name in others)}" if others else ""
            return (
                f"there is no action {actions} (namespace {self._node.get_namespace()}){there};"
                f" {chooses}"
            )
        if self._state is None:
            return (
                f"no joint states on {topic}; remap {self.options.driver.joint_states} to where"
                " they are"
            )
        has = self._state.joint_names
        lacking = [name for name in self._joint_names if name not in has]
        if lacking:
            text = (
                f"the joint states on {topic} lack {', '.join(lacking)}; of ours they have"
                f" {', '.join(has)}"
            )
            return text + self.requirements.hint("joints", "tf_prefix")
        return ""

    def _discover(self) -> list[str]:
        """Return the trajectory controllers in the node's namespace on the graph, under any name.

        If there has been a single one for some time, and the user has named no other, it is
        selected.
        """
        from control_msgs.action import FollowJointTrajectory
        from rclpy.action import ActionClient

        if not self.options.driver.discover:
            return []
        there = controllers_on_graph(self._node)
        before, since = self._only
        if there != before:
            self._only = (there, monotonic())
        elif len(there) == 1 and not self.options.controller and monotonic() - since > _FOUND:
            name = there[0]
            self._clients[name] = ActionClient(self._node, FollowJointTrajectory, name + ACTION)
            self._candidates = (name, *self._candidates)
            while not self._clients[name].server_is_ready() and monotonic() - since < _FOUND + 1.0:
                time.sleep(0.02)
        return there

    def _listen_for_emptying(self) -> None:
        """Detect empty trajectories on the controller's topic.

        An empty trajectory stops a goal's motion, but leaves the goal open. The client would wait
        in vain, so the goal is ended here.
        """
        topic = self._node.resolve_topic_name(f"{self.controller}/joint_trajectory")
        old = self._emptied
        if self._publisher is not None or (old is not None and old.topic_name == topic):
            return
        if old is not None:
            in_executor(self._node, lambda: self._node.destroy_subscription(old))
        from trajectory_msgs.msg import JointTrajectory as Message

        from robosim.ros.qos import ANYONES

        def on_trajectory(message: Any) -> None:
            goal = self._goal
            if not message.points and goal is not None and goal.result is None:
                goal.give_up(f"an empty trajectory on {topic} has stopped the arm")

        self._emptied = self._node.create_subscription(Message, topic, on_trajectory, ANYONES)

    def _is_there(self, controller: str) -> bool:
        if self._let_go:
            return False
        if self._publisher is not None:
            return bool(self._publisher.get_subscription_count() > 0)
        return bool(self._clients[controller].server_is_ready())

    def _ask_joints(self) -> None:
        """Query the controller's parameter `joints`. Many controllers do not answer."""
        joints = joints_of(self._node, self.controller, _SETTLE)
        if joints:
            self._joint_names = tuple(name.removeprefix(self.options.tf_prefix) for name in joints)
            self._joints_known = True
            if self._publisher is not None:
                self._allocate()
        elif self._publisher is not None and not self._joints_known:
            raise ExecutionError(
                f"{self.controller} does not tell its joints, so the order of its set points is not"
                f" known; {self.options.setting('joints')} has to name them"
            )

    # -- Messages ----------------------------------------------------------------------------------

    def _on_the_wire(self, goal: Goal) -> Goal:
        """Return the goal with the arm's joint names, and a stamp on the ROS clock."""
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

    def _of_any(self, given: Sequence[str]) -> list[str]:
        """Joints of a message while the arm's joints are unknown.

        Return all joints, or none if an earlier message had more, or if an assumed joint is
        missing.
        """
        prefix, before = self.options.tf_prefix, self._state
        found = [name.removeprefix(prefix) for name in given if name.startswith(prefix)]
        if self._joint_names:
            return found if set(self._joint_names) <= set(found) else []
        return found if before is None or len(found) >= len(before.joint_names) else []

    def _on_state(self, message: Any) -> None:
        """Handle a joint state. Messages with other joints on the same topic are ignored.

        Runs in the executor's thread.
        """
        prefix = self.options.tf_prefix
        given = {name: i for i, name in enumerate(message.name)}
        found = [name for name in self._joint_names if prefix + name in given]
        if not self._joints_known:
            found = self._of_any(message.name)
        n = len(message.name)
        if len(given) != n or len(message.position) != n or len(message.velocity) not in (0, n):
            self.malformed += 1
            return
        complete = not self._joints_known or len(found) == len(self._joint_names)
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
        velocity = (
            np.array(message.velocity)[index]
            if len(message.velocity)
            else np.full(len(index), np.nan)
        )
        measured = stamp / 1e9 if stamp else None
        self._state = ArmState(tuple(found), position, velocity, self.clock(), measured=measured)
        self.states += 1
