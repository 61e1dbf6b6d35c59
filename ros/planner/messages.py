"""Conversion between ROS messages and planning types. Only creating messages needs ROS."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from robosim.geometry import pose_to_xyz_quaternion
from robosim.ros.messages import joint_trajectory_message
from robosim.ros.planner.request import FramePose, MotionRequest

if TYPE_CHECKING:
    from robosim.model import Model
    from robosim.planners import PlanResult
    from robosim.ros.planner.display import Mark
    from robosim.ros.planner.planning import Answer

__all__ = ["display_trajectory", "marker_array", "motion_request", "response"]


def motion_request(message: Any) -> MotionRequest:
    """Read robosim_msgs/MotionPlanRequest."""
    tolerances = (message.position_tolerance, message.rotation_tolerance)
    position, rotation = ((t.x, t.y, t.z) for t in tolerances)
    return MotionRequest(
        group=message.group,
        start_joint_names=tuple(message.start_joint_names),
        start_positions=tuple(message.start_positions),
        start_velocities=tuple(message.start_velocities),
        goal_joint_names=tuple(message.goal_joint_names),
        goal_positions=tuple(message.goal_positions),
        goal_name=message.goal_name,
        full_turns=message.full_turns,
        goal_poses=tuple(_frame_pose(goal) for goal in message.goal_poses),
        goal_link=message.goal_link,
        position_tolerance=position,
        rotation_tolerance=rotation,
        scene_name=message.scene_name,
        scene_text=message.scene_text,
        planner=message.planner,
        seed=message.seed,
        allowed_planning_time=message.allowed_planning_time,
        max_velocity_scaling_factor=message.max_velocity_scaling_factor,
        max_acceleration_scaling_factor=message.max_acceleration_scaling_factor,
        jerk_limit=message.jerk_limit,
        execute=message.execute,
    )


def _frame_pose(message: Any) -> FramePose:
    p, r = message.pose.position, message.pose.orientation
    return FramePose(message.header.frame_id, (p.x, p.y, p.z), (r.x, r.y, r.z, r.w))


def response(answer: Answer) -> Any:
    """Create a robosim_msgs/MotionPlanResponse."""
    from robosim_msgs.msg import MotionPlanResponse

    message = MotionPlanResponse(
        error_code=int(answer.code),
        message=answer.message,
        planning_status="" if answer.status is None else answer.status.value,
        goal_index=answer.goal_index,
        planner=answer.planner,
        seed=answer.seed,
        planning_time=answer.seconds,
        stages=list(answer.timings),
        stage_times=list(answer.timings.values()),
    )
    if answer.trajectory is not None:
        message.trajectory = joint_trajectory_message(answer.trajectory)
    return message


def display_trajectory(answer: Answer, model: Model) -> Any:
    """Create a moveit_msgs/DisplayTrajectory of an answer with a plan: start state and motion."""
    from moveit_msgs.msg import DisplayTrajectory, RobotTrajectory

    assert answer.result is not None
    assert answer.trajectory is not None
    message = DisplayTrajectory(model_id=model.name)
    message.trajectory.append(
        RobotTrajectory(joint_trajectory=joint_trajectory_message(answer.trajectory))
    )
    start = message.trajectory_start.joint_state
    start.header.frame_id = model.root_link
    start.name, start.position = _single_joints(model, answer.result)
    return message


def _single_joints(model: Model, result: PlanResult) -> tuple[list[str], list[float]]:
    """Joints with one coordinate, and their positions at the start."""
    at = zip(model.position_names, result.q_rest, strict=True)
    names, positions = zip(
        *((name, float(q)) for name, q in at if name in model.joint_names), strict=True
    )
    return list(names), list(positions)


def marker_array(marks: Iterable[Mark], frame_id: str) -> Any:
    """Create a visualization_msgs/MarkerArray that replaces all previous markers.

    Args:
        marks: marks to show.
        frame_id: name of W in tf.
    """
    from visualization_msgs.msg import Marker, MarkerArray

    array = MarkerArray()
    clear = Marker(action=Marker.DELETEALL)
    clear.header.frame_id = frame_id
    array.markers.append(clear)
    numbers: dict[str, int] = {}
    for mark in marks:
        number = numbers[mark.namespace] = numbers.get(mark.namespace, -1) + 1
        marker = Marker(
            ns=mark.namespace, id=number, type=getattr(Marker, mark.kind.upper()), action=Marker.ADD
        )
        marker.header.frame_id = frame_id
        _set_pose(marker.pose, mark.X)
        marker.scale.x, marker.scale.y, marker.scale.z = mark.scale
        marker.color.r, marker.color.g, marker.color.b, marker.color.a = mark.rgba
        marker.points = _points(mark.points)
        array.markers.append(marker)
    return array


def _set_pose(message: Any, X: NDArray[np.float64]) -> None:
    xyz, quaternion = pose_to_xyz_quaternion(X)
    p, r = message.position, message.orientation
    p.x, p.y, p.z = (float(c) for c in xyz)
    r.x, r.y, r.z, r.w = (float(c) for c in quaternion)


def _points(points: NDArray[np.float64]) -> list[Any]:
    from geometry_msgs.msg import Point

    return [Point(x=x, y=y, z=z) for x, y, z in points.tolist()]
