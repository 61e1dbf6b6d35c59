"""UR arms without ROS: RTDE through the optional package `ur-rtde`.

Controllers are CB3 (125 Hz) and e-Series (500 Hz).

Set points are sent by servoj at the controller's rate, and not by the library's moveJ with a path.
moveJ takes waypoints, each with a speed and a blend radius, and times them itself. It would keep
neither the plan's timing nor its path between the waypoints, both of which were checked. Servoing
lags by about the look-ahead time, and depends on the punctuality of this machine; hence it has a
process of its own, and watchdogs on both sides.

No real controller was available: the transport is tested with a server that speaks the published
protocol.
"""

from __future__ import annotations

import argparse
import importlib.util
from typing import TYPE_CHECKING

from robosim.errors import ExecutionError, MissingDependencyError, suggestion
from robosim.execution.transports.rtde.joints import ur_order

if TYPE_CHECKING:
    from robosim.execution.transports.rtde.arm import RtdeArm
    from robosim.model import Model

__all__ = ["TRANSPORT", "RtdeTransport"]

MODULES = ("rtde_control", "rtde_receive", "dashboard_client")

# Option, default, smallest value, largest value, description.
_NUMBERS = (
    ("gain", 2000.0, 100.0, 2000.0, "servoj gain: higher follows closer"),
    ("lookahead", 0.03, 0.03, 0.2, "servoj look-ahead time [s]: longer is smoother and lags more"),
    ("deceleration", 5.0, 0.5, 20.0, "deceleration of a stop [rad/s^2]"),
    (
        "watchdog",
        10.0,
        1.0,
        50.0,
        "the controller stops the arm when set points come more rarely [Hz]",
    ),
    ("timeout", 10.0, 1.0, 60.0, "time to connect within [s]"),
)


class RtdeTransport:
    """The transport of `robosim stream --to rtde`."""

    summary = "a UR arm without ROS, through ur-rtde (not yet tried on a real controller)"

    def add_arguments(self, parser: argparse._ActionsContainer) -> None:
        """Add the options, all starting with --rtde."""
        parser.add_argument(
            "--rtde-host", metavar="HOST", help="name or address of the UR controller"
        )
        for name, default, least, most, text in _NUMBERS:
            parser.add_argument(
                f"--rtde-{name}",
                type=float,
                default=default,
                metavar="X",
                help=f"{text}; {least:g} to {most:g} (default {default:g})",
            )

    def connect(
        self, model: Model, joint_names: tuple[str, ...], options: argparse.Namespace
    ) -> RtdeArm:
        """Connect to the arm and start the control program on it; nothing moves yet.

        Raises:
            MissingDependencyError: ur-rtde is not installed.
            ExecutionError: no host was given, an option is out of range, the joints are not those
                of one UR arm, or the arm cannot be reached, is not ready, or is of another type.
        """
        host = options.rtde_host
        if not host:
            raise ExecutionError(
                "--to rtde needs --rtde-host: the name or address of the UR controller"
            )
        values = {}
        for name, _, least, most, _ in _NUMBERS:
            values[name] = float(getattr(options, f"rtde_{name}"))
            if not least <= values[name] <= most:
                raise ExecutionError(
                    f"--rtde-{name} is {values[name]:g}; valid are {least:g} to {most:g}"
                )
        names = ur_order(joint_names)
        unknown = [name for name in names if name not in model.position_names]
        if unknown:
            near = suggestion(unknown[0], model.position_names)
            raise ExecutionError(
                f"{model.name!r} has no joint {unknown[0]!r} to be moved by RTDE{near}"
            )
        if any(importlib.util.find_spec(module) is None for module in MODULES):
            raise MissingDependencyError(
                "RTDE needs the package ur-rtde: pip install robosim[rtde]"
            )
        from robosim.execution.transports.rtde.arm import RtdeArm

        in_q = [model.position_names.index(name) for name in names]
        in_v = [model.velocity_names.index(name) for name in names]
        limits = model.limits
        return RtdeArm(
            host,
            names,
            lower=limits.lower[in_q],
            upper=limits.upper[in_q],
            speed=limits.velocity[in_v],
            robot=model.name,
            **values,
        )


TRANSPORT = RtdeTransport()
