"""Transports to an arm.

Each is a Transport, registered as an entry point of `robosim.transports`.
"""

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
    """Transport to an arm, available as `robosim stream --to NAME`."""

    @property
    def summary(self) -> str:
        """One line for --help."""

    def add_arguments(self, parser: argparse._ActionsContainer) -> None:
        """Add the transport's own options.

        Options that could clash start with the transport's name.
        """

    def connect(
        self, model: Model, joint_names: tuple[str, ...], options: argparse.Namespace
    ) -> Arm:
        """Connect to the arm.

        Args:
            model: the robot that is to move.
            joint_names: joints that the plan moves.
            options: values of the options of `add_arguments`; if the caller has a plan, also its
                first positions by joint name, as `plan_start`.

        Raises:
            MissingDependencyError: a package is not installed; the message says how to get it.
            ExecutionError: the arm cannot be reached.
        """


def transport_names() -> list[str]:
    """Return the valid names for --to."""
    return sorted({point.name for point in entry_points(group=GROUP)})


def find_transport(name: str) -> Transport:
    """Return the transport of that name.

    Raises:
        ExecutionError: there is no such transport; the message lists the known ones.
        MissingDependencyError: the transport's module needs a package that is not installed.
    """
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
