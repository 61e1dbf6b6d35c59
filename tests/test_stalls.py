"""The witness of stalls: what it notes, and how a failure during one is told from others."""

from __future__ import annotations

import os
import signal
import time

import pytest

from .stalls import MachineStalled, Stalls

PROCESSORS = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1  # that are watched


@pytest.fixture
def stalls(tmp_path):
    witness = Stalls(tmp_path / "stalls.txt")
    # It watches from its first period on; until then a stop of it is no stall.
    begin = time.monotonic()
    while len(witness.since(begin)) < PROCESSORS:
        stall(witness)
    yield witness
    witness.close()


def stall(witness):
    """Stopped, the witness is not run, as on a machine whose processors are taken away."""
    os.kill(witness.pid, signal.SIGSTOP)
    time.sleep(0.4)
    os.kill(witness.pid, signal.SIGCONT)


def test_stalls_of_the_machine_are_noted(stalls):
    begin = time.monotonic()
    stall(stalls)
    noted = stalls.since(begin)
    assert len(noted) >= PROCESSORS
    assert max(noted) > 0.3


def test_a_failure_while_the_machine_stalled_says_so(stalls):
    def fail_in_a_stall():
        with stalls.named():
            stall(stalls)
            raise AssertionError("waited 20 s")

    with pytest.raises(MachineStalled, match=r"s the machine ran nothing .* this failed: waited 20 s"):
        fail_in_a_stall()
    with stalls.named():
        stall(stalls)  # which alone is no failure
    # What fails at once fails as it is: the last stall was over before (and none of 50 ms comes in a microsecond,
    # but one may in the 0.1 s in which the witness is asked, so it is asked more than once).
    for _ in range(20):
        try:
            with stalls.named():
                raise ValueError("a fault")
        except MachineStalled:
            continue
        except ValueError:
            return
    raise AssertionError("the machine does nothing but stall")
