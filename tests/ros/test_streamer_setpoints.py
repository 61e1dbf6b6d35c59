"""The streamer in a real process, sending set points to arms in other processes.

One arm takes set points at 125 Hz, the other at 500 Hz with a prefix.
"""

from __future__ import annotations

import os
import signal

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="rclpy is not installed: the ROS 2 tests run in CI's ros lane")

from robosim.ros.names import FORWARD_POSITION_CONTROLLER, SCALED_CONTROLLER, UR_JOINTS, prefixed

from .harness.arm import ACTIVATE, DEACTIVATE, largest_step, running_arms
from .harness.processes import Process, node_command
from .harness.streamer import SPEED, StreamerClient, rest_to_rest
from .harness.waiting import wait_for

START = np.array([0.3, -1.2, 1.0, -1.0, -1.2, 0.2])
AWAY = START + 0.4
KINDS = {
    "cb3": {
        "params": {"robot": "ur5", "initial_positions": START.tolist()},
        "name": SCALED_CONTROLLER,
    },
    "e": {
        "params": {"robot": "ur5e", "initial_positions": START.tolist(), "tf_prefix": "left_"},
        "name": SCALED_CONTROLLER,
        "namespace": "/e",
    },
}
RATES = {"cb3": 125, "e": 500}
# The 1e-12 are for rounding of the difference of two positions.
ONE_SAMPLE = {kind: SPEED[0] / rate + 1e-12 for kind, rate in RATES.items()}
# An arm on a busy processor may publish no state for a second without a fault.
STREAMERS = {
    "cb3": {"params": {"interface": "forward_position", "profile": "ur", "watchdog": 1.0}},
    "e": {
        "params": {
            "interface": "forward_position",
            "profile": "ur",
            "series": "e-series",
            "tf_prefix": "left_",
            "watchdog": 1.0,
        },
        "namespace": "/e",
    },
}


@pytest.fixture(scope="module", params=["cb3", "e"])
def kind(request):
    """Kind of the only arm that runs.

    Both arms at once, each with its streamer, may need more than two processors.
    """
    return request.param


@pytest.fixture(scope="module")
def running(kind, tmp_path_factory):
    """Client of an arm, and client of a streamer that keeps running."""
    folder = tmp_path_factory.mktemp(f"streamer-{kind}")
    with running_arms(folder, {kind: KINDS[kind]}) as arms:
        client = arms[kind].client
        command = node_command("streamer", folder=folder, **STREAMERS[kind])
        process = Process(kind, command, folder / "streamer.log", folder, os.environ)
        try:
            yield client, StreamerClient(client.node, f"{client.namespace}/streamer", process)
            assert process.alive, process.output()
            assert "Traceback" not in process.output(), process.output()
            assert process.stop() == 0, process.output()
        finally:
            process.kill()


@pytest.fixture
def joints(kind):
    return prefixed(UR_JOINTS, "left_" if kind == "e" else "")


@pytest.fixture
def arm(running, joints):
    """The arm at rest and ready to move, whatever the previous test has left behind.

    Transitions to a present state, such as activation of an active controller, are refused and
    ignored.
    """
    client, streamer = running
    streamer.process.resume()
    client.trigger("streamer/stop")
    client.set_parameters({"speed_slider": 1.0})
    client.trigger("dashboard_client/unlock_protective_stop")
    client.trigger("dashboard_client/play")
    client.change_state(ACTIVATE)
    client.wait_still(joints)
    return client


@pytest.fixture
def server(running):
    return running[1]


@pytest.fixture
def plan(arm, joints):
    """Motion from the arm's position to another one; the names have no prefix."""
    at = arm.at(joints)
    return rest_to_rest(at, AWAY if np.abs(at - AWAY).max() > 0.2 else START, 1.0)


def test_to_the_end(arm, server, plan, joints, kind):
    """Every joint moves monotonically, on the straight line of the plan."""
    seen = len(arm.samples)
    assert server.send(plan) == "finished: at rest within 0.02 of the goal"
    assert np.allclose(arm.wait_still(joints), plan.position(1.0), rtol=0, atol=1e-4)
    index = [arm.samples[-1].names.index(name) for name in joints]
    positions = np.array([sample.position[index] for sample in arm.samples[seen:]])
    way = np.sign(plan.position(1.0) - plan.position(0.0))
    assert (np.diff(positions, axis=0) * way >= 0).all()
    # All joints move by the same amount. The 1e-6 are for interpolation between the message's
    # points.
    assert np.ptp(positions - plan.position(0.0), axis=1).max() < 1e-6
    assert largest_step(arm.samples[seen:]) <= ONE_SAMPLE[kind]
    server.process.wait_output(f"samples at {RATES[kind]} Hz")
    assert "jitter p50" in server.process.output()


def test_speed_scaling(arm, server, plan, joints, kind):
    """Scaling 1, 0.3, 0, 1: never more than one sample's motion."""
    seen, begin = len(arm.samples), arm.at(joints)
    before = server.begin(plan.scale(3.0))
    wait_for(lambda: np.abs(arm.at(joints) - begin).max() > 0.02, "the arm to move")
    arm.set_parameters({"speed_slider": 0.3})
    wait_for(lambda: np.abs(arm.at(joints) - begin).max() > 0.15, "the arm to go on")
    arm.set_parameters({"speed_slider": 0.0})
    still = arm.wait_still(joints)
    assert np.abs(still - plan.position(1.0)).max() > 0.05
    arm.fresh(100)
    assert (arm.at(joints) == still).all()
    arm.set_parameters({"speed_slider": 1.0})
    assert server.end(before) == "finished: at rest within 0.02 of the goal"
    assert largest_step(arm.samples[seen:]) <= ONE_SAMPLE[kind]


@pytest.mark.parametrize("cause", ["stop service", "protective stop", "deactivation"])
def test_a_motion_that_is_ended(arm, server, plan, joints, kind, cause):
    seen, begin = len(arm.samples), arm.at(joints)
    before = server.begin(plan.scale(8.0))
    wait_for(lambda: np.abs(arm.at(joints) - begin).max() > 0.02, "the arm to move")
    if cause == "stop service":
        assert arm.trigger("streamer/stop").success
    elif cause == "protective stop":
        assert arm.trigger(f"{SCALED_CONTROLLER}/protective_stop").success
    else:
        assert arm.change_state(DEACTIVATE)
    answer = server.end(before)
    texts = {
        "stop service": "stopped: asked to stop",
        # The safety mode, the program or the speed scaling may be the first to report the stop.
        "protective stop": "held: ",
        "deactivation": "held: the controller is not active; it has to be",
    }
    assert answer.startswith(texts[cause])
    still = arm.wait_still(joints)
    assert 0.01 < np.abs(still - begin).max() < 0.35
    assert largest_step(arm.samples[seen:]) <= ONE_SAMPLE[kind]
    if cause == "protective stop":
        assert arm.trigger("dashboard_client/unlock_protective_stop").success
        assert arm.trigger("dashboard_client/play").success
    elif cause == "deactivation":
        assert arm.change_state(ACTIVATE)
    on = rest_to_rest(still, plan.position(1.0), 1.0)
    wait_for(lambda: server.send(on).startswith("finished"), "the arm to go on")


@pytest.mark.parametrize("kind", ["e"], indirect=True)
def test_a_streamer_that_hangs(arm, server, plan, joints, kind):
    """The arm holds when set points stop.

    Then the stream continues from the arm's position, gently and without bursts.
    """
    seen, begin = len(arm.samples), arm.at(joints)
    before = server.begin(plan.scale(3.0))
    wait_for(lambda: np.abs(arm.at(joints) - begin).max() > 0.05, "the arm to move")
    server.process.freeze()
    still = arm.wait_still(joints)
    server.process.resume()
    # The streamer first notices its old state and holds, or first receives a state and continues.
    answer = server.end(before)
    assert answer.startswith(
        ("finished: ", "held: the last joint state is", "held: the arm is not connected")
    ), answer
    assert largest_step(arm.samples[seen:]) <= ONE_SAMPLE[kind]
    assert (np.abs(arm.wait_still(joints) - begin) >= np.abs(still - begin) - 1e-9).all()


@pytest.mark.parametrize("kind", ["e"], indirect=True)
def test_a_signal_holds(arm, plan, joints, kind, tmp_path):
    """Set points slow down along the plan, and the arm holds.

    The exit code reports an unfinished plan.
    """
    path = tmp_path / "plan.json"
    plan.scale(8.0).save(path)
    given = STREAMERS[kind]
    params = {**given["params"], "plan_file": str(path)}
    command = node_command("streamer", **{**given, "params": params}, name="other", folder=tmp_path)
    process = Process("other", command, tmp_path / "log", tmp_path, os.environ)
    try:
        seen, begin = len(arm.samples), arm.at(joints)
        wait_for(lambda: np.abs(arm.at(joints) - begin).max() > 0.02, "the arm to move")
        assert process.stop(signal.SIGTERM) == 3, process.output()
    finally:
        process.kill()
    assert "stopped: asked to stop" in process.output()
    assert f"connected to {FORWARD_POSITION_CONTROLLER}" in process.output()
    assert 0.01 < np.abs(arm.wait_still(joints) - begin).max() < 0.35
    assert largest_step(arm.samples[seen:]) <= ONE_SAMPLE[kind]
