"""Waiting for answers to be sent before a process ends, with a clock made by the test."""

from __future__ import annotations

import pytest

from robosim.ros import answers
from robosim.ros.answers import ARRIVING, SENDING, Answers


class Clock:
    """Replacement of the module `time`.

    Time passes only in `sleep`. `at` maps times to functions that `sleep` calls when they are
    reached.
    """

    def __init__(self) -> None:
        self.now = 100.0
        self.at: dict[float, object] = {}

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds
        for moment in [moment for moment in self.at if moment <= self.now]:
            self.at.pop(moment)()


@pytest.fixture
def clock(monkeypatch):
    made = Clock()
    monkeypatch.setattr(answers, "time", made)
    return made


def seen_off(clock, given: Answers) -> float:
    """Time that `see_off` takes [s]."""
    begin = clock.now
    given.see_off()
    return clock.now - begin


def test_nobody_was_answered(clock):
    assert seen_off(clock, Answers()) == 0.0


def test_an_answer_that_was_just_given_has_time_to_arrive(clock):
    """The answer may not have been delivered, although nobody waits for it any more."""
    given = Answers()
    with given.due():
        clock.now += 10.0
    assert seen_off(clock, given) == pytest.approx(ARRIVING)
    assert seen_off(clock, given) == 0.0  # the answer has had its time


def test_an_answer_that_is_due_is_waited_for(clock):
    given = Answers()
    block = given.due()
    block.__enter__()
    clock.at[clock.now + 0.5 * SENDING] = lambda: block.__exit__(None, None, None)
    assert seen_off(clock, given) == pytest.approx(0.5 * SENDING + ARRIVING, abs=0.011)


def test_an_answer_that_never_comes_does_not_keep_the_process(clock):
    given = Answers()
    given.due().__enter__()
    assert seen_off(clock, given) == pytest.approx(SENDING, abs=0.011)


def test_an_answer_that_fails_was_given_all_the_same(clock):
    """The caller receives the failure."""
    given = Answers()
    with pytest.raises(ValueError, match="no"), given.due():
        raise ValueError("no")
    assert seen_off(clock, given) == pytest.approx(ARRIVING)
