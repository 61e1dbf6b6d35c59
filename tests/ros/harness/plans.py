"""Planning as in the planner node, without ROS."""

from __future__ import annotations

from typing import Any

from robosim.ros.planner.joint_states import JointStates
from robosim.ros.planner.planning import Answer, plan_motion
from robosim.ros.planner.request import MotionRequest, Settings

Q = [0.3, -1.6, 1.2, -1.2, -1.5, 0.4]  # collision-free, away from limits and singularities of a UR5


def heard(names: Any, positions: Any, velocities: Any = (), time: float = 100.0) -> JointStates:
    """Joint states from one message, received at `time` [s]."""
    states = JointStates()
    assert states.update(names, positions, velocities, received=time) == ""
    return states


def answer_to(model: Any, states: JointStates, scene: Any = None, **fields: Any) -> Answer:
    """Answer to a request made at 100 s."""
    return plan_motion(
        MotionRequest(**fields), model, lambda: scene, states, Settings(), clock=lambda: 100.0
    )
