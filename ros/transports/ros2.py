"""Transport ros2 of `robosim stream`: an arm behind ROS 2 controllers, through rclpy."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from robosim.errors import ExecutionError

if TYPE_CHECKING:
    from robosim.model import Model
    from robosim.ros.arm import RosArm

__all__ = ["TRANSPORT", "Ros2Transport"]

REQUIREMENTS = ("controller_active", "program_running", "safety_mode")
_OPTIONS = {  # options of this transport and of the command, by the streamer's parameter
    "profile": "--ros2-profile",
    "controller": "--ros2-controller",
    "require": "--ros2-require",
    "tf_prefix": "--ros2-tf-prefix",
    "start_tolerance": "--start-tolerance",
    "tracking_error": "--max-error",
}


class Ros2Transport:
    """Connects to an arm's controllers through a node of its own."""

    summary = "an arm behind ROS 2 controllers; needs rclpy"

    def add_arguments(self, parser: argparse._ActionsContainer) -> None:
        """Add the options --ros2-..."""
        from robosim.ros import names  # `drivers` would import NumPy

        parser.add_argument(
            "--ros2-profile", choices=names.PROFILES, default=names.PROFILES[0],
            help="the arm's driver: what its controllers are called, and what the robot tells of "
            "itself (default: %(default)s)",
        )  # fmt: skip
        parser.add_argument(
            "--ros2-interface", choices=("auto", "action", "passthrough", "forward_position"),
            default="auto",
            help="the kind of controller; auto: action for a whole trajectory, forward_position "
            "for set points",
        )  # fmt: skip
        parser.add_argument(
            "--ros2-controller", metavar="NAME", default="",
            help="the controller's name; by default the one of the profile's that is there",
        )  # fmt: skip
        parser.add_argument(
            "--ros2-joint-states", metavar="NAME", default=names.JOINT_STATES,
            help="listen to joint states on this topic (default: %(default)s)",
        )  # fmt: skip
        parser.add_argument(
            "--ros2-namespace", metavar="NAME", default="",
            help="namespace of all names that do not begin with /",
        )  # fmt: skip
        parser.add_argument(
            "--ros2-tf-prefix", metavar="PREFIX", default="",
            help="what the arm's joint names begin with and the plan's do not",
        )  # fmt: skip
        parser.add_argument(
            "--ros2-require", metavar="LIST", default="profile",
            help="what the arm has to say before it moves, separated by commas, of "
            f"{', '.join(REQUIREMENTS)}; leave out what your robot has not (default: what the "
            "profile says)",
        )  # fmt: skip
        parser.add_argument(
            "--ros2-timeout", metavar="SECONDS", type=float, default=20.0,
            help="how long to look for joint states and a controller (default: %(default)g)",
        )  # fmt: skip

    def connect(
        self, model: Model, joint_names: tuple[str, ...], options: argparse.Namespace
    ) -> RosArm:
        """Create a node and find the arm.

        Raises MissingDependencyError without rclpy or a message package; ExecutionError if an
        option is invalid, or if nobody was found within --ros2-timeout, naming who is missing.
        """
        from robosim.ros.drivers import find_driver
        from robosim.ros.run import require

        if not 0 < options.ros2_timeout < float("inf"):
            raise ExecutionError(
                f"--ros2-timeout is {options.ros2_timeout}; it must be a positive number of seconds"
            )
        # Interface by mode, unless given.
        setpoints = getattr(options, "mode", "trajectory") == "setpoints"
        interface = options.ros2_interface
        if interface == "auto":
            interface = "forward_position" if setpoints else "action"
        if setpoints != (interface == "forward_position"):
            takes = "set points" if interface == "forward_position" else "whole trajectories"
            raise ExecutionError(
                f"--ros2-interface {interface} takes {takes}; it does not go with --mode"
                f" {options.mode}"
            )
        # Conditions that the arm must report.
        driver = find_driver(options.ros2_profile, "--ros2-profile")
        given = (
            driver.require if options.ros2_require == "profile" else options.ros2_require.split(",")
        )
        required = requirements_of(given, "--ros2-require")
        require("rclpy", "sensor_msgs", "std_msgs", "control_msgs")
        from robosim.ros.arm import RosArmOptions

        return _connect(
            options.ros2_namespace,
            joint_names,
            RosArmOptions(
                interface=interface,
                driver=driver,
                controller=options.ros2_controller,
                joint_states=options.ros2_joint_states,
                tf_prefix=options.ros2_tf_prefix,
                requirements=required,
                setting=lambda rule: _OPTIONS.get(rule, ""),
            ),
            options.ros2_timeout,
        )


def requirements_of(given: Any, option: str, **others: Any) -> Any:
    """Create Requirements of the conditions in `given`.

    Raises:
        ExecutionError: a condition is unknown; the message names `option`.
    """
    from robosim.execution.checks import Requirements

    names = [name.strip() for name in given if name.strip()]
    if unknown := [name for name in names if name not in REQUIREMENTS]:
        raise ExecutionError(f"{option} has {unknown[0]!r}; known: {', '.join(REQUIREMENTS)}")
    fields: dict[str, Any] = dict.fromkeys(names, True)
    return Requirements(**fields, **others)


def _connect(namespace: str, joint_names: tuple[str, ...], options: Any, timeout: float) -> RosArm:
    """Create a RosArm with its own context, node and executor, which are destroyed on closing."""
    import rclpy
    from rclpy.signals import SignalHandlerOptions

    from robosim.ros.arm import RosArm
    from robosim.ros.executor_thread import ExecutorThread

    context = rclpy.Context()
    # Ctrl-C is handled by the caller, because the arm must be held while ROS still runs.
    rclpy.init(args=[], context=context, signal_handler_options=SignalHandlerOptions.NO)
    node = rclpy.create_node("robosim_stream", namespace=namespace or None, context=context)
    executor = ExecutorThread(node)

    def end() -> None:
        executor.stop()
        node.destroy_node()
        rclpy.try_shutdown(context=context)

    try:
        arm = RosArm(node, joint_names, options, end)
    except BaseException:
        end()
        raise
    try:
        arm.wait_until_ready(timeout)
    except BaseException:
        arm.close()
        raise
    return arm


TRANSPORT = Ros2Transport()
