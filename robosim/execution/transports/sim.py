"""The transport sim of `robosim stream`: a simulated arm in this process."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from robosim.errors import ExecutionError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from robosim.execution.simulated import SimulatedArm
    from robosim.model import Model

__all__ = ["TRANSPORT", "SimTransport"]


class SimTransport:
    """A `SimulatedArm` that starts where the plan begins, in simulated time by default."""

    summary = "a simulated arm in this process; needs nothing installed"

    def add_arguments(self, parser: argparse._ActionsContainer) -> None:
        """Add the simulated arm's options."""
        parser.add_argument(
            "--tracking", choices=("ideal", "dynamics"), default="dynamics",
            help="it is where it is commanded, or has the engine's dynamics under PD control "
            "(default: %(default)s)",
        )  # fmt: skip
        parser.add_argument(
            "--feedforward", choices=("none", "gravity", "inverse_dynamics"), default="gravity",
            help="what its drives know beforehand, unless ideal (default: %(default)s)",
        )  # fmt: skip
        parser.add_argument(
            "--sim-rate", metavar="HZ", type=float, default=500.0,
            help="of its control loop: 125 as a UR5, 500 as a UR5e (default: %(default)g)",
        )  # fmt: skip
        parser.add_argument(
            "--distribution", choices=("humble", "jazzy", "rolling"), default="jazzy",
            help="whose trajectory controller it has (default: %(default)s)",
        )  # fmt: skip
        parser.add_argument(
            "--speed-scaling", metavar="S", type=float, default=1.0,
            help="its speed slider, above 0 to 1 (default: %(default)g)",
        )  # fmt: skip
        parser.add_argument(
            "--initial", metavar="JOINT=Q,...",
            help="where it stands at first, as `robosim plan --start` takes it; by default where "
            "the plan begins",
        )  # fmt: skip
        parser.add_argument(
            "--real-time",
            action="store_true",
            help="at the pace of the clock, not as fast as the machine can",
        )

    def connect(
        self, model: Model, joint_names: tuple[str, ...], options: argparse.Namespace
    ) -> SimulatedArm:
        """Return the arm. Joints of the model that the plan does not move stay in place."""
        from robosim.execution.clock import monotonic
        from robosim.execution.profiles import PROFILES
        from robosim.execution.simulated import SimulatedArm

        if not 0 < options.speed_scaling <= 1:
            raise ExecutionError(
                f"--speed-scaling is {options.speed_scaling:g}; it must be above 0, where nothing"
                " moves, to 1"
            )
        arm = SimulatedArm(
            model,
            joint_names=joint_names,
            rate=options.sim_rate,
            tracking=options.tracking,
            feedforward=options.feedforward,
            profile=PROFILES[options.distribution],
            clock=monotonic if options.real_time else None,
            initial=_initial(model, getattr(options, "plan_start", {}), options.initial),
        )
        arm.speed_scaling = options.speed_scaling
        return arm


def _initial(model: Model, start: Mapping[str, float], text: str | None) -> Mapping[str, float]:
    """Return positions by name: those of the plan, overridden by those of the option."""
    known = {name: q for name, q in start.items() if name in model.position_names}
    if text is None:
        return known
    positions: dict[str, float] = {}
    for item in filter(None, (item.strip() for item in text.split(","))):
        name, _, value = item.partition("=")
        try:
            positions[name.strip()] = float(value)
        except ValueError:
            raise ExecutionError(f"--initial: {item!r} is not joint=number") from None
    return {**known, **positions}


TRANSPORT = SimTransport()
