"""Hostile input: what every case must show."""

from __future__ import annotations

import os
import re

import pytest

from robosim.errors import RobosimError

LIMIT = 2.0  # [s] by the issue: no bad file may cost more


def _processor_seconds() -> float:
    """Spent so far by us and by our children: unlike the clock on the wall it does not grow with
    what else runs here."""
    return sum(os.times()[:4])


@pytest.fixture
def refuses():
    """Call something that must raise `error`, whose message begins with file:line and matches
    `pattern`, in time."""

    def check(call, error, *, place, pattern):
        begin = _processor_seconds()
        with pytest.raises(error) as caught:
            call()
        assert _processor_seconds() - begin < LIMIT
        message = str(caught.value)
        assert isinstance(caught.value, RobosimError)
        assert message.startswith(place), f"expected {place!r} at the beginning of {message!r}"
        assert re.search(pattern, message), f"expected {pattern!r} in {message!r}"

    return check
