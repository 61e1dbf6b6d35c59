"""The harness itself: domains do not meet, processes end, and a failure tells what they said."""

from __future__ import annotations

import os
import signal
import sys
import time

import pytest

from .harness.client import spinning_node
from .harness.domains import own_domain
from .harness.stalls import MachineStalled, Stalls

SLEEPER = [sys.executable, "-c", "import time; print('asleep', flush=True); time.sleep(600)"]


def test_domains_are_not_shared():
    with own_domain() as first, own_domain() as second, own_domain() as third:
        assert len({first, second, third}) == 3


def test_all_domains_taken_is_an_error():
    # A domain that no other test asks for, so that this one takes none away.
    only = range(102, 103)
    with own_domain(only), pytest.raises(RuntimeError, match="are in use"), own_domain(only):
        pass


def test_a_process_is_seen_and_ended(launch_process):
    process = launch_process("sleeper", SLEEPER)
    process.wait_output("asleep")
    assert process.alive
    assert process.stop(signal.SIGTERM) == -signal.SIGTERM


def test_a_process_that_ends_early_fails_at_once(launch_process):
    process = launch_process("short", [sys.executable, "-c", "print('what went wrong')"])
    with pytest.raises(AssertionError, match="what went wrong"):
        process.wait_output("never said", timeout=600)


def test_killing_reaches_children(launch_process, wait_for):
    parent = (
        f"import subprocess; p = subprocess.Popen({SLEEPER}); print('child', p.pid, flush=True); p.wait()"
    )
    process = launch_process("parent", [sys.executable, "-c", parent])
    child = int(process.wait_output("asleep").split("child")[1].split()[0])
    process.kill()

    def gone():
        try:
            os.kill(child, 0)
        except ProcessLookupError:
            return True
        with open(f"/proc/{child}/stat") as stat:  # nobody may have collected it yet
            return stat.read().rsplit(")", 1)[1].split()[0] == "Z"

    wait_for(gone, "the child to be gone")


def test_what_does_not_happen_is_named(wait_for):
    with pytest.raises(AssertionError, match=r"waited 0\.1 s for rain"):
        wait_for(lambda: False, "rain", timeout=0.1)


def test_domains_do_not_hear_each_other(domain, request, wait_for):
    pytest.importorskip("rclpy", reason="rclpy is not installed: the ROS 2 tests run in CI's ros lane")
    from std_msgs.msg import String

    ros_node = request.getfixturevalue("ros_node")

    heard = []
    ros_node.create_subscription(String, "talk", lambda message: heard.append(message.data), 10)
    with (
        own_domain() as elsewhere,
        spinning_node("stranger", elsewhere) as stranger,
        spinning_node("friend", domain) as friend,
    ):
        shouts = stranger.create_publisher(String, "talk", 10)
        says = friend.create_publisher(String, "talk", 10)
        wait_for(lambda: says.get_subscription_count() == 1, "the two nodes of one domain to meet")
        shouts.publish(String(data="from elsewhere"))
        says.publish(String(data="from here"))
        wait_for(lambda: heard, "what was said")
        assert shouts.get_subscription_count() == 0
        assert heard == ["from here"]


@pytest.fixture
def stalls(tmp_path, wait_for):
    witness = Stalls(tmp_path / "stalls.txt")
    # It watches from its first period on; until then a stop of it is no stall.
    wait_for(
        lambda: len(os.listdir(f"/proc/{witness.pid}/task")) > len(os.sched_getaffinity(0)), "the witness"
    )
    time.sleep(0.1)
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
    assert len(noted) >= len(os.sched_getaffinity(0))
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
