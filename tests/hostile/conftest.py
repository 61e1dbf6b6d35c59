"""Checks of hostile input, for every case."""

from __future__ import annotations

import os
import re

import pytest

from robosim.errors import RobosimError

LIMIT = 2.0  # limit for any bad file [s]


def _processor_seconds() -> float:
    """Processor time of this process and its children [s].

    Unlike wall-clock time, it does not grow with other work on the machine.
    """
    return sum(os.times()[:4])


@pytest.fixture
def refuses():
    """Assert that a call raises `error` in time.

    The message must begin with file:line and match `pattern`.
    """

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
