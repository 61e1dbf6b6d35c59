"""Ways to reach an arm. Each is a Transport named by an entry point of the group
`robosim.transports`."""

from __future__ import annotations

import argparse
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Protocol

from robosim.errors import ExecutionError, MissingDependencyError, suggestion

if TYPE_CHECKING:
    from robosim.execution.arm import Arm
    from robosim.model import Model

__all__ = ["Transport", "find_transport", "transport_names"]

GROUP = "robosim.transports"


class Transport(Protocol):
    """A way to reach an arm; `robosim stream --to NAME` offers it."""

    @property
    def summary(self) -> str:
        """One line for --help."""

    def add_arguments(self, parser: argparse._ActionsContainer) -> None:
        """Add this transport's own options, each beginning with the transport's name where it would
        clash."""

    def connect(
        self, model: Model, joint_names: tuple[str, ...], options: argparse.Namespace
    ) -> Arm:
        """Reach the arm.

        Args:
            model: the robot that is to move.
            joint_names: the joints that the plan moves.
            options: what `add_arguments` declared; where the caller has a plan, its first positions
            also, by joint
                name, as `plan_start`.

        Raises:
            MissingDependencyError: a package is not installed; the message says how to get it.
            ExecutionError: the arm cannot be reached.
        """


def transport_names() -> list[str]:
    """The names that can follow --to."""
    return sorted({point.name for point in entry_points(group=GROUP)})


def find_transport(name: str) -> Transport:
    """The transport of that name. Raises ExecutionError naming the known ones, and
    MissingDependencyError when its module needs what is not installed."""
    for point in entry_points(group=GROUP):
        if point.name == name:
            try:
                transport: Transport = point.load()
            except ImportError as error:
                raise MissingDependencyError(
                    f"the transport {name!r} cannot be loaded: {error}"
                ) from error
            return transport
    raise ExecutionError(
        f"there is no transport {name!r}{suggestion(name, transport_names())} (others come with"
        f" packages that register one as an entry point of the group {GROUP!r})"
    )
