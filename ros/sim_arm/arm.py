"""Creation of the robot and the simulated arm from the node's parameters; without ROS."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robosim.errors import ExecutionError
from robosim.execution.clock import ManualClock
from robosim.execution.executor import Event
from robosim.execution.plant import commandable, joint_columns
from robosim.execution.profiles import PROFILES
from robosim.execution.simulated import SimulatedArm
from robosim.execution.tolerances import ControllerTolerances
from robosim.model import Model
from robosim.ros.description import Description, describe
from robosim.ros.names import UR_JOINTS, UR_SERIES, prefixed, series_of

__all__ = ["control_rate", "initial_configuration", "make_arm", "read_robot"]

Array = NDArray[np.float64]

_OTHER_RATE = 500.0  # [Hz] of robots that are not UR arms
# Time before simulated time has begun; not 0, because a stamp of 0 means "on arrival".
_BEGINNING = 1000.0


def read_robot(values: Any) -> Description:
    """Read the robot of the parameters. Raises RobosimError."""
    arguments = {}
    for text in values.xacro_arguments:
        name, assign, value = text.partition(":=")
        if not (name and assign):
            raise ExecutionError(
                f"parameter 'xacro_arguments' has {text!r}; it must be name:=value"
            )
        arguments[name] = value
    return describe(
        values.robot,
        tf_prefix=values.tf_prefix,
        package_dirs=values.package_dirs,
        xacro_args=arguments or None,
    )


def control_rate(values: Any, model: Model) -> float:
    """Control rate [Hz] of the parameters, otherwise the robot's own."""
    if values.rate:
        return float(values.rate)
    series = series_of(model.name) if values.series == "auto" else UR_SERIES[values.series]
    return _OTHER_RATE if series is None else series.rate


def controlled_joints(values: Any, model: Model) -> tuple[str, ...]:
    """Joints of the controller, in its order."""
    if values.joints:
        return tuple(values.joints)
    arm = prefixed(UR_JOINTS, values.tf_prefix)
    available = commandable(model)
    return arm if set(arm) <= set(available) else available


def initial_configuration(values: Any, model: Model, joints: Sequence[str]) -> Array:
    """Initial configuration (n_q,) of the robot. Raises ExecutionError, ModelError."""
    named = values.initial_state
    if not named and any(state.name == "home" for state in model.named_states):
        named = "home"
    within = np.clip(model.neutral(), model.limits.lower, model.limits.upper)
    q = model.configuration(named) if named else within
    positions = values.initial_positions
    if positions:
        if len(positions) != len(joints):
            raise ExecutionError(
                f"parameter 'initial_positions' has {len(positions)} numbers; there are"
                f" {len(joints)} joints: {', '.join(joints)}"
            )
        q = model.configuration(dict(zip(joints, positions, strict=True)), rest=q)
    return q


def make_arm(
    values: Any, model: Model, now: float, on_event: Callable[[Event], None]
) -> tuple[SimulatedArm, Array]:
    """Create the arm, with its controllers inactive, and the robot's configuration (n_q,).

    Args:
        values: values of the parameters.
        model: the robot.
        now: ROS time [s]. The arm's clock begins there, for readable logs, and continues by itself.
        on_event: called with events of the arm.

    Raises:
        ExecutionError, ModelError: the parameters do not fit the robot.
    """
    joints = controlled_joints(values, model)
    joint_columns(model, joints)  # reports names that are not joints, before any use
    q = initial_configuration(values, model, joints)
    moving_end = values.allow_nonzero_velocity_at_trajectory_end
    options: dict[str, Any] = {}
    if values.constraints_decelerate_on_cancel:
        speeds = [model.velocity_names.index(name) for name in joints]
        options = {
            "decelerate_on_cancel": True,
            "max_deceleration": model.limits.acceleration[speeds],
        }
    arm = SimulatedArm(
        model,
        joint_names=joints,
        rate=control_rate(values, model),
        tracking=values.tracking,
        profile=PROFILES[values.distribution],
        tolerances=ControllerTolerances(
            path=values.constraints_trajectory,
            goal=values.constraints_goal,
            stopped_velocity=values.constraints_stopped_velocity_tolerance,
            goal_time=values.constraints_goal_time,
        ),
        clock=ManualClock(now or _BEGINNING),
        initial=q,
        watchdog=values.watchdog,
        allow_partial_joints_goal=values.allow_partial_joints_goal,
        allow_nonzero_velocity_at_trajectory_end=(
            None if moving_end == "distribution" else moving_end == "true"
        ),
        interpolate_from_desired_state=values.interpolate_from_desired_state,
        cmd_timeout=values.cmd_timeout,
        **options,
    )
    arm.controller_active = False
    arm.on_event = on_event
    return arm, q
