"""Watching a moving arm: late states are no jump, and jumps are found despite clock errors."""

from __future__ import annotations

import numpy as np
import pytest

from robosim.execution.checks import Requirements
from robosim.execution.messages import ArmState, ArmStatus
from robosim.execution.watch import Watch

SPEED = 0.5  # [rad/s]
PERIOD = 0.008  # [s]


class Told:
    """An arm that returns a given state."""

    state_: ArmState

    def state(self):
        return self.state_

    def status(self):
        return ArmStatus(connected=True, controller_active=True, program_running=True)


def watched(states):
    """First complaint about states (position, stamp, measured), "" if none, and the watch."""
    arm = Told()
    watch = Watch(arm, ("a",), np.array([SPEED]), requirements=Requirements(state_age=0.2))
    for position, stamp, measured in states:
        arm.state_ = ArmState(("a",), [position], [SPEED], stamp, measured=measured)
        if complaint := watch.look(stamp):
            return complaint, watch
    return "", watch


def late(lost, clock):
    """Two states that arrive 1 ms apart, measured `lost` periods apart at the greatest speed."""
    apart = lost * PERIOD
    return [(0.0, 10.0, clock), (SPEED * apart, 10.001, None if clock is None else clock + apart)]


@pytest.mark.parametrize("clock", [0.0, 1.7e9])
@pytest.mark.parametrize("lost", [1, 12, 25])
def test_states_that_were_late_together_are_no_jump(lost, clock):
    complaint, watch = watched(late(lost, clock))
    assert complaint == ""
    # 1e-4: a date in seconds has 2.4e-7 s of rounding, in one period of 8 ms.
    assert watch.speed == pytest.approx(SPEED, rel=1e-4)


def test_without_a_clock_of_the_source_arrival_counts():
    # The motion is 0.15 rad in 1 ms, where 0.051 s and a noise of 0.01 rad would explain 0.0355.
    complaint, _ = watched(late(lost=37, clock=None))
    assert (
        complaint
        == "the measured position of a jumped from 0 to 0.148 in 0.0010 s; at its greatest speed,"
        " 0.5 per s, it cannot"
    )


@pytest.mark.parametrize("set_by", [-3600.0, 3600.0])
def test_a_clock_that_is_set_hides_no_jump(set_by):
    ordinary = [(k * PERIOD * SPEED, 10 + k * PERIOD, k * PERIOD) for k in range(5)]
    position, stamp, measured = ordinary[-1]
    at = stamp + PERIOD, measured + PERIOD + set_by
    assert watched([*ordinary, (position + PERIOD * SPEED, *at)])[0] == ""
    # In 0.2 s, the greatest age of a state, and 0.05 s of jitter it may move by 0.135 rad.
    assert "jumped from 0.016 to 0.166" in watched([*ordinary, (position + 0.15, *at)])[0]
