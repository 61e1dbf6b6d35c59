"""Tests of the harness: domains are separate, processes end, failures show their output."""

from __future__ import annotations

import os
import signal
import sys

import pytest

from .harness import service
from .harness.client import spinning_node
from .harness.domains import own_domain

SLEEPER = [sys.executable, "-c", "import signal; print('asleep', flush=True); signal.pause()"]


def test_domains_are_not_shared():
    with own_domain() as first, own_domain() as second, own_domain() as third:
        assert len({first, second, third}) == 3


def test_all_domains_taken_is_an_error():
    # A domain that no other test requests, so that this test takes none away.
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
        f"import subprocess; p = subprocess.Popen({SLEEPER}); print('child', p.pid, flush=True);"
        " p.wait()"
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
    pytest.importorskip(
        "rclpy", reason="rclpy is not installed: the ROS 2 tests run in CI's ros lane"
    )
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


class Forgetful:
    """A node and its client, whose server answers every second request only, not the first."""

    def __init__(self) -> None:
        self.questions = 0

    def create_client(self, kind, name):
        return self

    def service_is_ready(self):
        return True

    def call_async(self, question):
        self.questions += 1
        return Answer(None if self.questions % 2 else self.questions)


class Answer:
    def __init__(self, value):
        self.value = value

    def done(self):
        return self.value is not None

    def result(self):
        return self.value


def test_a_server_that_does_not_know_its_client_yet_is_asked_again_and_one_that_does_is_not(
    monkeypatch,
):
    monkeypatch.setattr(service, "LOST", 0.05)
    node = Forgetful()
    asked = service.Service(node, dict, "forgetful")
    assert asked.ask({}) == 2
    with pytest.raises(AssertionError, match=r"waited 0\.2 s for an answer of forgetful"):
        asked.ask({}, timeout=0.2)
    assert node.questions == 3
    assert asked.ask({}) == 4
