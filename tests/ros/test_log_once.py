"""A repeated message that differs in measured values only counts as a repetition."""

from __future__ import annotations

from robosim.ros.log_once import Repetition


def test_the_same_reason_is_new_once_until_it_changes():
    refusals = Repetition()
    given = {
        "the last joint state is 0.213 s old; it may be 0.2 s old at most": True,
        "the last joint state is 12 s old; it may be 0.2 s old at most": False,
        "the last joint state is 1e-3 s old; it may be 0.2 s old at most": False,
        "elbow_joint is at 0.123456 and starts at 0.2": True,
        "elbow_joint is at 0.123311 and starts at 0.2": False,  # noise
        "elbow_joint is at 0.123311 and starts at 0.5": True,  # another plan
        "wrist_1_joint is at 0.123311 and starts at 0.5": True,
        "point 3 is at 0.4 s, before point 2": True,
        "point 3 is at 0.5 s, before point 2": True,
    }
    assert {text: refusals.is_new(text) for text in given} == given
    last = list(given)[-1]
    assert not refusals.is_new(last)
    refusals.forget()
    assert refusals.is_new(last)
    assert not refusals.is_new(last)
