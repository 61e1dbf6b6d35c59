"""Transport dds of `robosim stream`: an arm on ROS 2's topics, from a machine without ROS."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from robosim.errors import ExecutionError

if TYPE_CHECKING:
    from robosim.model import Model
    from robosim.ros.dds_arm import DdsArm

__all__ = ["TRANSPORT", "DdsTransport"]


_OPTIONS = {  # options of this transport and of the command, by the streamer's parameter
    "require": "--dds-require",
    "watchdog": "--dds-state-age",
    "start_tolerance": "--start-tolerance",
    "tracking_error": "--max-error",
}


class DdsTransport:
    """Publishes to ROS 2's topics through cyclonedds, and subscribes to joint states."""

    summary = (
        "ROS 2's topics without ROS, through cyclonedds; topics only: nothing acknowledges a"
        " trajectory, success is judged from joint states"
    )

    def add_arguments(self, parser: argparse._ActionsContainer) -> None:
        """Add the options --dds-..."""
        from robosim.ros import names

        def add(option: str, default: str, text: str) -> None:
            parser.add_argument(
                option, metavar="NAME", default=default, help=f"{text} (default: %(default)s)"
            )

        add(
            "--dds-controller",
            names.SCALED_CONTROLLER,
            "publish trajectories on NAME/joint_trajectory",
        )
        add(
            "--dds-forward-controller",
            names.FORWARD_POSITION_CONTROLLER,
            "publish set points on NAME/commands",
        )
        add("--dds-joint-states", names.JOINT_STATES, "listen to joint states on this topic")
        add("--dds-speed-scaling", names.SPEED_SCALING, "listen to the speed scaling on this topic")
        add("--dds-namespace", "", "namespace of the names that do not begin with /")
        add("--dds-tf-prefix", "", "what the arm's joint names begin with and the plan's do not")
        parser.add_argument(
            "--dds-require", metavar="LIST", default="program_running,safety_mode",
            help="what the arm has to say before it moves, separated by commas; leave out what "
            "your robot has not (default: %(default)s)",
        )  # fmt: skip
        parser.add_argument(
            "--dds-state-age", metavar="SECONDS", type=float, default=0.2,
            help="hold the arm when its last joint state is older (default: %(default)g)",
        )  # fmt: skip
        parser.add_argument(
            "--dds-timeout", metavar="SECONDS", type=float, default=20.0,
            help="how long to wait for joint states and a listener before the first motion "
            "(default: %(default)g)",
        )  # fmt: skip

    def connect(
        self, model: Model, joint_names: tuple[str, ...], options: argparse.Namespace
    ) -> DdsArm:
        """Join the domain of ROS_DOMAIN_ID, and wait for joint states and a listener.

        Raises MissingDependencyError without cyclonedds; ExecutionError if a name or an environment
        variable is invalid, or if nobody was found within --dds-timeout, naming who is missing.
        """
        from robosim.ros.dds_arm import DdsArm, DdsNames
        from robosim.ros.transports.ros2 import requirements_of

        for name in ("timeout", "state_age"):
            value = getattr(options, f"dds_{name}")
            if not 0 < value < float("inf"):
                option = f"--dds-{name.replace('_', '-')}"
                raise ExecutionError(
                    f"{option} is {value}; it must be a positive number of seconds"
                )
        arm = DdsArm(
            joint_names,
            setpoints=getattr(options, "mode", "trajectory") == "setpoints",
            requirements=requirements_of(
                options.dds_require.split(","),
                "--dds-require",
                state_age=options.dds_state_age,
                setting=lambda rule: _OPTIONS.get(rule, ""),
            ),
            dds_names=DdsNames(
                namespace=options.dds_namespace,
                controller=options.dds_controller,
                forward_controller=options.dds_forward_controller,
                joint_states=options.dds_joint_states,
                speed_scaling=options.dds_speed_scaling,
                tf_prefix=options.dds_tf_prefix,
            ),
        )
        try:
            arm.wait_until_ready(options.dds_timeout)
        except BaseException:
            arm.close()
            raise
        return arm


TRANSPORT = DdsTransport()
