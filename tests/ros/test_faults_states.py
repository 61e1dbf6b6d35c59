"""Faults of an arm's states during a motion: the streamer holds, reports why, and recovers.

The arm is a small one that shares no code with robosim (harness/fake_arm.py). Like drivers do, it
publishes its joints in alphabetical order, with a joint that the plan does not have.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="rclpy is not installed: the ROS 2 tests run in CI's ros lane")

from robosim.ros.names import UR_JOINTS
from robosim.trajectory import Trajectory

from .harness import waiting
from .harness.streamer import rest_to_rest
from .harness.system import Topic, start_streamer

AWAY = np.array([0.5, -1.1, 0.4, -1.2, 0.3, -0.4])


class FaultyArm:
    """Process of the small arm, its states, and its faults."""

    def __init__(self, world):
        from sensor_msgs.msg import JointState
        from std_msgs.msg import String

        joints = [*sorted(UR_JOINTS), "gripper_joint"]
        script = Path(__file__).parent / "harness" / "fake_arm.py"
        self.process = world.launch_process("fake_arm", [sys.executable, str(script), *joints])
        self._faults = world.node.create_publisher(String, "/fault", 10)
        self._states = Topic(world.node, JointState, "/joint_states", 1000)
        waiting.wait_for(lambda: self._faults.get_subscription_count() == 1, "the small arm")
        waiting.wait_for(lambda: self._states.messages, "its states")

    @property
    def states(self) -> list:
        return self._states.messages

    @property
    def position(self) -> np.ndarray:
        """Positions that the arm reports, in the order of the plans."""
        message = next(
            message for message in reversed(self.states) if "elbow_joint" in message.name
        )
        return np.array([message.position[message.name.index(name)] for name in UR_JOINTS])

    def fault(self, text: str) -> None:
        from std_msgs.msg import String

        before = self.process.output().count(f"fault {text}")
        self._faults.publish(String(data=text))
        waiting.wait_for(
            lambda: self.process.output().count(f"fault {text}") > before, f"the fault {text}"
        )

    def said(self, word: str) -> int:
        return self.process.output().split().count(word)


@pytest.fixture(scope="module")
def arm(world):
    return FaultyArm(world)


@pytest.fixture(scope="module", params=["action", "forward_position"])
def streamer(request, world, arm):
    started = start_streamer(
        world.start, world.node, interface=request.param, watchdog=0.4, tracking_error=0.0
    )
    yield request.param, started
    assert started.process.stop() == 0
    assert "Traceback" not in started.process.output()


def away(arm, duration: float) -> Trajectory:
    """Motion to the one of two positions where the arm is not."""
    at = arm.position
    return rest_to_rest(
        at, AWAY if np.abs(at - AWAY).max() > 0.3 else -AWAY + [0, -2.5, 0, -2.5, 0, 0], duration
    )


FAULTS = {
    "states stop": ("silent on", "silent off", "s old; it may be 0.4 s old at most"),
    "states stand still": ("frozen on", "frozen off", "s old; it may be 0.4 s old at most"),
    "states jump": ("offset 1.0", "offset 0.0", "elbow_joint jumped from"),
    "states are no numbers": ("broken on", "broken off", "elbow_joint is nan"),
    "a joint is missing": ("short on", "short off", "s old; it may be 0.4 s old at most"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_motion_is_held_when(arm, streamer, name):
    begin, end, reason = FAULTS[name]
    interface, client = streamer
    before = waiting.wait_for(lambda: moving(arm, client), "a motion to begin")
    cancelled = arm.said("cancelled")
    arm.fault(begin)
    try:
        said = client.end(before)
        assert said.startswith("held: "), said
        assert reason in said
        if name == "a joint is missing":
            client.process.wait_output("are not counted")
        if interface == "action":
            waiting.wait_for(lambda: arm.said("cancelled") > cancelled, "the goal to be cancelled")
    finally:
        arm.fault(end)
    # The arm stands: its interpolator was stopped, or gets no more set points.
    since = len(arm.states)
    waiting.wait_for(lambda: still(arm, since), "the arm to stand")
    # The arm moves again, from its position.
    waiting.wait_for(lambda: client.send(away(arm, 1.2)).startswith("finished"), "the arm to go on")


def moving(arm, client) -> int | None:
    """Begin a long motion; return the argument for `client.end` once the arm moves.

    Returns None if the streamer took a stall of a busy machine for a fault before the arm moved.
    """
    start, before = arm.position, client.begin(away(arm, 4.0))
    waiting.wait_for(
        lambda: (
            np.abs(arm.position - start).max() > 0.1
            or client.said[before:][-1:] not in ([], ["moving"])
        ),
        "the arm to move",
    )
    return before if client.said[before:][-1:] == ["moving"] else None


def still(arm, since: int) -> bool:
    """Return true if the last 25 states since index `since` are equal and valid."""
    seen = arm.states[since:][-25:]
    return (
        len(seen) == 25
        and all(len(m.position) == 7 and np.isfinite(m.position).all() for m in seen)
        and all(m.position == seen[0].position for m in seen)
    )
