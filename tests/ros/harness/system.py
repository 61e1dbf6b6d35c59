"""Nodes of a whole system as processes, with clients that plan, send and observe."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy.optimize import minimize_scalar

import robosim
from robosim.execution.joint_trajectory import to_trajectory
from robosim.execution.messages import JointTrajectory
from robosim.ros.names import UR_JOINTS

from .monitor import Monitor
from .planner import PATIENT
from .processes import Process
from .service import meet
from .streamer import StreamerClient
from .waiting import wait_for

CONTROLLER = "scaled_joint_trajectory_controller"


class Topic:
    """Recorder of a topic's messages and of the numbers that the publisher assigns them."""

    def __init__(self, node: Any, kind: Any, name: str, qos: Any) -> None:
        self.messages: list[Any] = []
        self.numbers: list[int] = []
        node.create_subscription(kind, name, self._on_message, qos)

    def _on_message(self, message: Any, info: dict[str, Any]) -> None:
        self.numbers.append(info["publication_sequence_number"])
        self.messages.append(message)


class Planner:
    """Process of the planner, and its service."""

    def __init__(self, start: Callable[..., Process], node: Any, **params: Any) -> None:
        from robosim_msgs.srv import PlanMotion

        self._kind, self._node = PlanMotion, node
        self.process = start(
            "planner", params={"srdf": "ur5", "joint_limits": "ur5", **PATIENT, **params}
        )
        self._client = node.create_client(PlanMotion, "/planner/plan")
        wait_for(self._client.service_is_ready, "the planner's service")
        meet(node, "/planner")
        self.process.wait_output("robot: ")  # the planner has received a robot

    def plan(
        self, goal: Sequence[float] | np.ndarray, joints: Sequence[str] = UR_JOINTS, **request: Any
    ) -> Any:
        """Request a plan to these positions; return the answer, whatever it is."""
        question = self._kind.Request()
        question.request.goal_joint_names = list(joints)
        question.request.goal_positions = [float(value) for value in goal]
        for name, value in request.items():
            setattr(question.request, name, value)
        future = self._client.call_async(question)
        wait_for(future.done, "the planner's answer")
        return future.result().response


def start_system(
    start: Callable[..., Process], node: Any, *, streamer: dict[str, Any] | None = None, **arm: Any
) -> tuple[Process, Monitor, StreamerClient]:
    """Start an arm with its monitor and a streamer; both processes begin at once."""
    process = start(
        "streamer", params={"profile": "ur", "robot": arm.get("robot", "ur5"), **(streamer or {})}
    )
    return *start_arm(start, node, **arm), StreamerClient(node, "/streamer", process)


def start_streamer(start: Callable[..., Process], node: Any, **params: Any) -> StreamerClient:
    """Start a streamer, and wait until it has found the arm; its process is `.process`."""
    params = {"profile": "ur", "robot": "ur5", **params}
    return StreamerClient(node, "/streamer", start("streamer", params=params))


def start_arm(
    start: Callable[..., Process], node: Any, robot: str = "ur5", rate: float = 125.0, **params: Any
) -> tuple[Process, Monitor]:
    """Start a simulated arm under the UR driver's names, and a monitor that receives its states."""
    process = start("sim_arm", params={"robot": robot, "rate": rate, **params}, name=CONTROLLER)
    monitor = Monitor(node, robosim.load_robot(robot), rate, UR_JOINTS)
    wait_for(lambda: monitor.count > 1, "joint states")
    return process, monitor


def distance_from_plan(plan: JointTrajectory, monitor: Monitor) -> float:
    """Largest deviation of a joint from the plan [rad], at the best offset in time.

    The plan leaves only this offset open. A motion that is early in one part and late in another
    deviates from the plan for every offset.
    """
    wanted = to_trajectory(plan)
    order = [plan.joint_names.index(name) for name in monitor.joints]
    life = monitor.so_far()[-1]
    stamps, positions = np.array(life.stamp) * 1e-9, np.array(life.position)
    origin = stamps[0]

    def worst(offset: float) -> float:
        return float(np.abs(wanted.position(stamps - origin - offset)[:, order] - positions).max())

    moving = np.flatnonzero(np.abs(positions - positions[0]).max(axis=1) > 1e-6)
    begin = float(stamps[moving[0]] - origin)
    found = minimize_scalar(
        worst, bounds=(begin - 0.1, begin + 0.1), method="bounded", options={"xatol": 1e-7}
    )
    return float(found.fun)
