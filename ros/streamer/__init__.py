"""streamer: a ROS 2 node that sends planned trajectories to an arm, and watches them to their end.

With `plan_file` it sends that plan and ends: exit code 0 when the arm is there, 3 when not.
Without, it stays and takes trajectories on ~/joint_trajectory, one at a time. Before a motion it
checks the start, the limits, the end and the arm's status; on Ctrl-C and on ~/stop the arm holds.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Sequence
from typing import Any

from robosim.ros.drivers import DRIVERS, GENERIC
from robosim.ros.parameters import Parameter

__all__ = ["PARAMETERS", "main"]

PARAMETERS: tuple[Parameter, ...] = (
    # Plan
    Parameter(
        "plan_file",
        "",
        "A plan to send (.json, .csv or .npz, as `robosim plan -o` writes), after which the node"
        " ends; without one it takes trajectories from ~/joint_trajectory.",
        read_only=True,
    ),
    Parameter(
        "joints",
        (),
        "The joints of the arm, without prefix, where there is no plan file; by default those of"
        " the controller, else a UR arm's six with the profile `ur`, else those of each"
        " trajectory.",
        kind="string array",
        read_only=True,
    ),
    Parameter(
        "robot",
        "",
        "Whose limits hold, beside the plan's own: a bundled robot, or the path of a URDF or xacro"
        " file; by default what robot_description says, if anything. A trajectory from the topic"
        " needs one of them.",
        read_only=True,
    ),
    # Arm
    Parameter(
        "profile",
        GENERIC.name,
        "The arm's driver: what its controllers are called, and what the robot tells of itself. "
        + "; ".join(f"`{driver.name}`: {driver.summary}" for driver in DRIVERS.values())
        + ". Other parameters override it.",
        choices=tuple(DRIVERS),
        read_only=True,
    ),
    Parameter(
        "interface",
        "action",
        "`action`: a joint trajectory controller follows the whole trajectory; `passthrough`: a UR"
        " robot itself does; `forward_position`: set points, one per period, from here.",
        choices=("action", "passthrough", "forward_position"),
        read_only=True,
    ),
    Parameter(
        "controller",
        "",
        "The controller's name; by default the profile's for the interface: of several that are"
        " there the active one, and with all profiles but `ur` else the only trajectory controller"
        " that there is.",
        read_only=True,
    ),
    Parameter(
        "tf_prefix",
        "",
        "What the arm's joint names begin with and the plan's do not.",
        read_only=True,
    ),
    Parameter(
        "connect_timeout",
        20.0,
        "How long to look for joint states and a controller [s]; without a plan file it is tried"
        " again.",
        0.1,
        3600.0,
        read_only=True,
    ),
    # Motion
    Parameter(
        "series",
        "auto",
        "Of a UR arm, for the rate: CB3 has 125 Hz, e-Series 500 Hz. By default what the plan's or"
        " parameter's robot name says, else CB3.",
        choices=("auto", "cb3", "e-series"),
        read_only=True,
    ),
    Parameter(
        "rate",
        0.0,
        "Of set points, and of looking at the arm that follows a whole trajectory [Hz]; 0: the"
        " series' for set points, else 50.",
        minimum=0,
        maximum=1000,
    ),
    Parameter(
        "scaling_ramp",
        0.0,
        "How long set points take from standing to full speed when the speed scaling rises, and"
        " back when stopped [s]; 0: as the acceleration limits allow.",
        minimum=0,
        maximum=10,
    ),
    # Checks
    Parameter(
        "start_tolerance",
        0.01,
        "How far each joint may be from the start [rad, m].",
        minimum=0,
        maximum=1,
    ),
    Parameter(
        "require",
        (),
        "What the arm has to say before and while it moves, of controller_active, program_running"
        " and safety_mode; by default what the profile says. What it says is wrong is refused in"
        " any case; leave out what your robot does not publish. An empty entry requires nothing.",
        kind="string array",
    ),
    Parameter("allow_reduced_mode", False, "Move in the safety mode REDUCED too."),
    # While it moves
    Parameter(
        "watchdog",
        0.2,
        "The arm is told to hold when its last state is older [s].",
        minimum=0.005,
        maximum=10,
    ),
    Parameter(
        "tracking_error",
        0.2,
        "The arm is told to hold when a joint is farther from where it is meant to be [rad, m]; 0:"
        " any.",
        minimum=0,
    ),
    Parameter(
        "path_tolerance",
        0.0,
        "Sent with a whole trajectory: position error at which the controller gives up [rad, m]; 0:"
        " its own.",
        minimum=0,
    ),
    Parameter(
        "goal_tolerance",
        0.02,
        "How near each joint has to come to the end of a stream of set points [rad, m].",
        minimum=1e-6,
    ),
    Parameter(
        "goal_time",
        10.0,
        "How long the arm may take after the trajectory's end to be there, or to answer [s]; pauses"
        " do not count.",
        minimum=0.01,
    ),
)


def _make(stop: Callable[[int], None]) -> Any:
    from robosim.ros.streamer.node import Streamer

    # Shorten the deadline thread's wait for the interpreter, which is 5 ms by default.
    sys.setswitchinterval(0.0005)
    node = Streamer(stop)
    gc.collect()
    gc.freeze()
    return node


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
