"""Client of an arm: its action, its topics and its services."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from robosim.execution.messages import Goal, JointTrajectory, JointTrajectoryPoint
from robosim.ros import messages
from robosim.ros.executor_thread import in_executor
from robosim.ros.names import UR_JOINTS

from .client import spinning_node
from .domains import own_domain
from .processes import Process, environment, node_command
from .service import Service, meet
from .waiting import LIMIT, wait_for

SUCCEEDED, CANCELED, ABORTED = 4, 5, 6
CONFIGURE, CLEANUP, ACTIVATE, DEACTIVATE, SHUTDOWN = (
    1,
    2,
    3,
    4,
    7,
)  # from active, of lifecycle_msgs/Transition


class Sample(NamedTuple):
    """One joint state as received: stamp [ns], joint names, positions and velocities."""

    stamp: int
    names: tuple[str, ...]
    position: np.ndarray
    velocity: np.ndarray


class Outcome(NamedTuple):
    """Result of a goal: the action's status, and the result's code and text."""

    status: int
    code: int
    text: str


def point_to_point(
    target: Sequence[float], duration: float, joints: Sequence[str] = UR_JOINTS, **changes: Any
) -> Goal:
    """Goal that moves the arm from any position to `target` and stops there.

    `target` is in the order of `joints`.
    """
    zeros = [0.0] * len(target)
    point = JointTrajectoryPoint(duration, positions=target, velocities=zeros, accelerations=zeros)
    return Goal(JointTrajectory(tuple(joints), (point,)), **changes)


class ArmClient:
    """Client that commands an arm and records its joint states.

    Args:
        node: a spinning rclpy node.
        controller: name of the arm's node, with its namespace.
        joint_states: the topic.
        while_waiting: called repeatedly until states arrive, for example to advance simulated time.
    """

    def __init__(
        self,
        node: Any,
        controller: str,
        joint_states: str = "/joint_states",
        while_waiting: Callable[[], Any] = lambda: None,
    ) -> None:
        from control_msgs.action import FollowJointTrajectory
        from rclpy.action import ActionClient
        from rclpy.qos import QoSProfile
        from sensor_msgs.msg import JointState

        self.node, self.controller = node, controller
        self.namespace = controller.rsplit("/", 1)[0]
        self.samples: list[Sample] = []
        self.feedback: list[Any] = []
        self._services: dict[str, Service] = {}
        node.create_subscription(JointState, joint_states, self._on_state, QoSProfile(depth=5000))
        self.action = ActionClient(
            node, FollowJointTrajectory, f"{controller}/follow_joint_trajectory"
        )
        wait_for(self.action.server_is_ready, f"the action of {controller}")
        wait_for(lambda: while_waiting() or self.samples, f"states on {joint_states}")
        meet(node, controller)

    def _on_state(self, message: Any) -> None:
        stamp = messages.nanoseconds_of(message.header.stamp)
        position, velocity = np.array(message.position), np.array(message.velocity)
        self.samples.append(Sample(stamp, tuple(message.name), position, velocity))

    # -- States ------------------------------------------------------------------------------------

    @property
    def position(self) -> dict[str, float]:
        """Positions of the last state, by joint."""
        last = self.samples[-1]
        return dict(zip(last.names, last.position.tolist(), strict=True))

    def at(self, joints: Sequence[str] = UR_JOINTS) -> np.ndarray:
        """Positions of these joints in the last state."""
        position = self.position
        return np.array([position[name] for name in joints])

    def fresh(self, count: int = 2) -> Sample:
        """Wait for `count` more states that are stamped later than this call; return the last one.

        Not for simulated time, since stamps are compared with the system's clock.
        """
        now = time.time_ns()

        def later() -> bool:
            return len(self.samples) >= count and self.samples[-count].stamp >= now

        wait_for(later, "new joint states")
        return self.samples[-1]

    def wait_at(self, target: Sequence[float], joints: Sequence[str] = UR_JOINTS) -> None:
        """Return once the arm is at `target`, up to rounding."""
        wait_for(
            lambda: np.abs(self.at(joints) - target).max() < 1e-9, f"the arm to be at {target}"
        )

    def wait_still(self, joints: Sequence[str] = UR_JOINTS) -> np.ndarray:
        """Wait until twenty states in a row are equal; return the positions of these joints."""

        def still() -> bool:
            last = self.samples[-20:]
            return len(last) == 20 and all((s.position == last[0].position).all() for s in last)

        self.fresh(20)
        wait_for(still, "the arm to stand still")
        return self.at(joints)

    # -- Commands ----------------------------------------------------------------------------------

    def offer(self, goal: Goal | Any) -> Any:
        """Send a Goal or a FollowJointTrajectory.Goal; return the goal handle, accepted or not."""
        message = messages.goal_message(goal) if isinstance(goal, Goal) else goal
        future = asked(
            self.node,
            lambda: self.action.send_goal_async(message, feedback_callback=self._on_feedback),
        )
        wait_for(future.done, "an answer to the goal")
        return future.result()

    def send(self, goal: Goal | Any) -> Any:
        """Send a goal that must be accepted; return its goal handle."""
        handle = self.offer(goal)
        assert handle.accepted, "the goal was rejected"
        return handle

    def _on_feedback(self, message: Any) -> None:
        self.feedback.append(message.feedback)

    def outcome(self, handle: Any, timeout: float = LIMIT) -> Outcome:
        """Wait for the end of a goal; return its outcome."""
        future = asked(self.node, handle.get_result_async)
        wait_for(future.done, "the result of the goal", timeout)
        answer = future.result()
        return Outcome(answer.status, answer.result.error_code, answer.result.error_string)

    def cancel(self, handle: Any) -> bool:
        """Return true if the server accepts the cancellation."""
        future = asked(self.node, handle.cancel_goal_async)
        wait_for(future.done, "an answer to the cancellation")
        return bool(future.result().goals_canceling)

    def call(self, kind: Any, name: str, request: Any = None) -> Any:
        """Call a service and return its answer.

        A relative name is in the arm's namespace.
        """
        if name not in self._services:
            full = name if name.startswith("/") else f"{self.namespace}/{name}"
            self._services[name] = Service(self.node, kind, full)
        return self._services[name].ask(request)

    def trigger(self, name: str) -> Any:
        """Call a std_srvs/Trigger service and return its answer."""
        from std_srvs.srv import Trigger

        return self.call(Trigger, name)

    def change_state(self, transition: int) -> bool:
        """Return true if the lifecycle transition succeeded."""
        from lifecycle_msgs.srv import ChangeState

        request = ChangeState.Request()
        request.transition.id = transition
        return bool(self.call(ChangeState, f"{self.controller}/change_state", request).success)

    def set_parameters(self, values: Mapping[str, Any]) -> list[Any]:
        """Set parameters of the running node and return the results."""
        from rcl_interfaces.srv import SetParameters
        from rclpy.parameter import Parameter

        request = SetParameters.Request()
        request.parameters = [
            Parameter(name, value=v).to_parameter_msg() for name, v in values.items()
        ]
        return list(self.call(SetParameters, f"{self.controller}/set_parameters", request).results)


def asked(node: Any, ask: Callable[[], Any]) -> Any:
    """Call `ask` of an action client in the executor's thread; return its future.

    In any other thread, rclpy (up to Jazzy at least) can miss an answer that arrives before the
    request is registered.
    """
    futures: list[Any] = []
    in_executor(node, lambda: futures.append(ask()), timeout=LIMIT)
    return futures[0]


def largest_step(samples: Sequence[Sample]) -> float:
    """Largest motion of any joint between two consecutive samples."""
    positions = np.array([s.position for s in samples])
    return float(np.abs(np.diff(positions, axis=0)).max())


@dataclass
class RunningArm:
    """A sim_arm in a process of its own, and a client of the arm."""

    process: Process
    client: ArmClient


@contextmanager
def running_arms(
    folder: Path, kinds: Mapping[str, Mapping[str, Any]]
) -> Iterator[Mapping[str, RunningArm]]:
    """Start several sim_arm nodes in a private domain, for the tests of a module to share.

    Args:
        folder: for logs and parameters.
        kinds: options of `node_command`, by a name for each arm.
    """
    with ExitStack() as stack:
        domain = stack.enter_context(own_domain())
        variables = environment(domain, folder)
        processes = {}
        for kind, given in kinds.items():
            command = node_command("sim_arm", folder=folder, **given)
            processes[kind] = Process(kind, command, folder / f"{kind}.log", folder, variables)
            stack.callback(processes[kind].kill)
        patch = stack.enter_context(pytest.MonkeyPatch.context())
        for name, value in variables.items():
            patch.setenv(name, value)
        node = stack.enter_context(spinning_node("client", domain))
        arms = {}
        for kind, given in kinds.items():
            namespace = given.get("namespace", "")
            states = (given.get("remap") or {}).get("joint_states", "joint_states")
            try:
                client = ArmClient(
                    node, f"{namespace}/{given.get('name', 'sim_arm')}", f"{namespace}/{states}"
                )
            except AssertionError as error:
                raise AssertionError(f"{error}\n{processes[kind].output()}") from None
            arms[kind] = RunningArm(processes[kind], client)
        yield arms
        for kind, arm in arms.items():
            assert arm.process.alive, f"{kind} has ended: {arm.process.output()}"
            assert "Traceback" not in arm.process.output(), f"{kind}: {arm.process.output()}"


def log_since_now(process: Process) -> Callable[[], str]:
    """Return a function that returns the process's output since this call."""
    before = len(process.output())
    return lambda: process.output()[before:]
