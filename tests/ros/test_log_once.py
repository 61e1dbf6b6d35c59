"""What is said again in other numbers is no news."""

from __future__ import annotations

from robosim.ros.log_once import Repetition


def test_the_same_reason_is_new_once_until_it_changes():
    refusals = Repetition()
    given = [
        "the last joint state is 0.213 s old",
        "the last joint state is 12 s old",
        "the last joint state is 1e-3 s old",
        "the safety mode is FAULT",
        "the last joint state is 0.2 s old",
    ]
    assert [refusals.is_new(text) for text in given] == [True, False, False, True, True]
    refusals.forget()
    assert refusals.is_new(given[-1])
    assert not refusals.is_new(given[-1])
