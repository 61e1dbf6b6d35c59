"""Differences between the joint trajectory controllers of the ROS 2 distributions, one per field.

Taken from the sources of ros2_controllers: humble 2.54, jazzy 4.42, rolling (master) 6.9. See the
table in docs/execution.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from robosim.execution.goals import GoalStatus

__all__ = ["HUMBLE", "JAZZY", "PROFILES", "ROLLING", "Profile"]


@dataclass(frozen=True)
class Profile:
    """The semantics of one distribution.

    Attributes:
        name: name of the distribution.
        preempted_status: status of a goal that a new one replaces.
        preempted_text: error string of the result of such a goal.
        allow_nonzero_velocity_at_trajectory_end: default of the parameter.
        command_lookahead: True if commands are sampled one period after the desired state that
            errors are measured against.
        replacement_splice: True if a new trajectory is joined to the active one, which is followed
            until the new one starts; else it replaces the active one on arrival.
    """

    name: str
    preempted_status: GoalStatus = GoalStatus.ABORTED
    preempted_text: str = "Current goal preempted by new incoming action."
    allow_nonzero_velocity_at_trajectory_end: bool = False
    command_lookahead: bool = True
    replacement_splice: bool = False


HUMBLE = Profile(
    "humble",
    preempted_status=GoalStatus.CANCELED,
    preempted_text="Current goal cancelled due to new incoming action.",
    allow_nonzero_velocity_at_trajectory_end=True,
    command_lookahead=False,
)
JAZZY = Profile("jazzy")
ROLLING = Profile("rolling", replacement_splice=True)

PROFILES: Mapping[str, Profile] = MappingProxyType({p.name: p for p in (HUMBLE, JAZZY, ROLLING)})
