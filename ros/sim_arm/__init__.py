"""sim_arm: a simulated arm as a ROS 2 lifecycle node, which stands in for a Universal Robots
driver.

It is the arm, its trajectory controller with ros2_control's semantics, robot_state_publisher and
what the driver reports of the robot, in one process. Renamed to the controller's name (`-r
__node:=scaled_joint_trajectory_controller`) it has the driver's names.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

from robosim.ros.parameters import Parameter

__all__ = ["PARAMETERS", "main"]

PARAMETERS: tuple[Parameter, ...] = (
    # The robot
    Parameter(
        "robot", "ur5", "A bundled robot, or the path of a URDF or xacro file.", read_only=True
    ),
    Parameter(
        "xacro_arguments",
        (),
        "Values of a xacro file's arguments, as `name:=value`.",
        kind="string array",
        read_only=True,
    ),
    Parameter(
        "package_dirs",
        (),
        "Folders where `package://` is looked for first.",
        kind="string array",
        read_only=True,
    ),
    Parameter(
        "tf_prefix", "", "Put before the names of all links and joints, as `left_`.", read_only=True
    ),
    Parameter(
        "joints",
        (),
        "The joints that the controller commands, in its order; by default a UR arm's six, else all"
        " of the robot.",
        kind="string array",
        read_only=True,
    ),
    Parameter(
        "series",
        "auto",
        "Of a UR arm, for the rate: CB3 has 125 Hz, e-Series 500 Hz. By default what the robot's"
        " name says.",
        choices=("auto", "cb3", "e-series"),
        read_only=True,
    ),
    Parameter(
        "rate",
        0.0,
        "Of the control loop and of joint_states [Hz]; 0: the series', 500 for other robots.",
        minimum=0,
        maximum=1000,
        read_only=True,
    ),
    Parameter(
        "initial_state",
        "",
        "Named state in which it starts; by default `home` if there is one, else zeros as far as"
        " the limits allow.",
        read_only=True,
    ),
    Parameter(
        "initial_positions",
        (),
        "Where it starts, one for each of `joints` [rad, m]; over the named state.",
        kind="double array",
        read_only=True,
    ),
    Parameter(
        "tracking",
        "ideal",
        "`ideal`: the arm is where it is commanded; `dynamics`: torques under PD control move its"
        " masses.",
        choices=("ideal", "dynamics"),
        read_only=True,
    ),
    # The trajectory controller
    Parameter(
        "distribution",
        "jazzy",
        "The ROS distribution whose trajectory controller it is.",
        choices=("humble", "jazzy", "rolling"),
        read_only=True,
    ),
    Parameter(
        "constraints.trajectory",
        0.2,
        "Position error allowed on the way [rad, m]; 0: any.",
        0,
        read_only=True,
    ),
    Parameter(
        "constraints.goal",
        0.1,
        "Position error allowed at the end [rad, m]; 0: any.",
        0,
        read_only=True,
    ),
    Parameter(
        "constraints.stopped_velocity_tolerance",
        0.2,
        "Velocity allowed at the end [per s]; 0: any.",
        0,
        read_only=True,
    ),
    Parameter(
        "constraints.goal_time",
        0.0,
        "Time to get within the goal's tolerances after the last point [s]; 0: as long as it"
        " takes.",
        0,
        read_only=True,
    ),
    Parameter(
        "constraints.decelerate_on_cancel",
        False,
        "Slow down with the acceleration limits when a goal is cancelled, instead of holding at"
        " once.",
        read_only=True,
    ),
    Parameter(
        "allow_partial_joints_goal",
        False,
        "Trajectories may leave joints out; those hold.",
        read_only=True,
    ),
    Parameter(
        "allow_nonzero_velocity_at_trajectory_end",
        "distribution",
        "Trajectories may end moving; `distribution`: its default.",
        choices=("distribution", "true", "false"),
        read_only=True,
    ),
    Parameter(
        "interpolate_from_desired_state",
        False,
        "A new trajectory begins at the last command, not at the measured state.",
        read_only=True,
    ),
    Parameter(
        "cmd_timeout",
        0.0,
        "Time after a trajectory's end to give it up [s]; 0: never.",
        0,
        read_only=True,
    ),
    Parameter(
        "action_monitor_rate", 20.0, "Of the action's feedback [Hz].", 0.1, 200.0, read_only=True
    ),
    Parameter(
        "state_publish_rate",
        50.0,
        "Of controller_state, speed_scaling and tf [Hz].",
        0.1,
        200.0,
        read_only=True,
    ),
    Parameter(
        "publish_tf",
        True,
        "Publish /tf and /tf_static, as robot_state_publisher does.",
        read_only=True,
    ),
    # The surroundings
    Parameter(
        "watchdog",
        0.1,
        "The arm holds when a stream of set points (forward_position_controller/commands) stops for"
        " longer [s].",
        0.002,
        read_only=True,
    ),
    Parameter(
        "speed_slider", 1.0, "Speed scaling, as the slider on the teach pendant: 0 pauses.", 0, 1
    ),
    Parameter(
        "autostart",
        True,
        "Configure and activate itself; else the lifecycle's services do.",
        read_only=True,
    ),
)


def _make(stop: Callable[[int], None]) -> Any:
    from robosim.ros.sim_arm.node import SimArm

    # Shorten the control thread's wait for the interpreter, which is 5 ms by default.
    sys.setswitchinterval(0.0005)
    return SimArm(stop)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the node and return the exit code."""
    from robosim.ros import run

    return run.main(
        _make,
        parameters=PARAMETERS,
        summary=__doc__ or "",
        requires=("control_msgs", "trajectory_msgs", "sensor_msgs", "std_srvs", "diagnostic_msgs"),
        arguments=arguments,
    )
