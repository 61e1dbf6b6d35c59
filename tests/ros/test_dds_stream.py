"""`robosim stream --to dds`, from the command line to an arm that shares no code with robosim."""

from __future__ import annotations

import json

import numpy as np
import pytest

pytest.importorskip("cyclonedds", reason="the dds transport needs the extra `dds`")

from robosim.cli import main
from robosim.ros.names import UR_JOINTS
from robosim.trajectory import Trajectory

from .wire_process import Peer

# A busy machine may be later than a real arm should be allowed to be.
PATIENT = ("--dds-state-age", "5")
HOME = (0.0, -1.57, 0.3, -1.57, 0.0, 0.0)


@pytest.fixture
def plan(tmp_path):
    """Plan of 1.5 s for a UR5, at rest at both ends.

    Its joints are in another order than the arm's.
    """
    way = np.array([0, 0.15, 0.5, 0.85, 1])[:, None] * np.array([0.4, -0.3, 0.3, 0.2, 0.5, -0.6])
    trajectory = Trajectory.from_waypoints(
        np.linspace(0, 1.5, 5), HOME + way, position_names=UR_JOINTS, robot="ur5"
    )
    path = tmp_path / "plan.json"
    trajectory.reorder((*UR_JOINTS[3:], *UR_JOINTS[:3])).save(path)
    return path, trajectory


def stream(capsys, path, *options):
    """Exit status and report of `robosim stream`."""
    code = main(
        ["stream", str(path), "--to", "dds", "--dds-require", "", "--json", *PATIENT, *options]
    )
    out, _ = capsys.readouterr()
    return code, json.loads(out)


@pytest.mark.parametrize("mode", ["trajectory", "setpoints"])
def test_a_plan_is_followed(domain, plan, capsys, mode):
    path, trajectory = plan
    with Peer("arm", domain, joints=UR_JOINTS, start=HOME) as arm:
        arm.next("ready")
        code, report = stream(capsys, path, "--mode", mode)
    assert code == 0, report
    assert report["outcome"] == "finished"
    assert report["plan_time"] == pytest.approx(trajectory.duration)
    # The peer follows exactly. The error comes from the time at which its state is read: some 10
    # ms, rarely 100 ms late.
    fastest = np.abs(trajectory.velocity(np.linspace(0, 1.5, 300))).max()
    assert all(joint["rms_error"] < 0.1 * fastest for joint in report["joints"])
    assert all(abs(joint["final_error"]) < 0.021 for joint in report["joints"])
    if mode == "trajectory":
        assert "judged from joint states" in report["told"][0]


def test_a_paused_arm_is_waited_for(domain, plan, capsys):
    path, trajectory = plan
    with Peer("arm", domain, joints=UR_JOINTS, start=HOME, scaling=0.3) as arm:
        arm.next("ready")
        code, report = stream(capsys, path)
    assert (code, report["outcome"]) == (0, "finished"), report
    assert (
        report["samples"] > trajectory.duration / 0.3 * 50
    )  # the state was read 125 times a second for 5 s


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (
            {"start": (0.02, *HOME[1:])},
            "shoulder_pan_joint is at 0.02 and the trajectory starts at 0",
        ),
        ({"start": HOME, "deaf": True}, "the arm has not moved"),
    ],
)
def test_what_is_wrong_is_said(domain, plan, capsys, options, text):
    with Peer("arm", domain, joints=UR_JOINTS, **options) as arm:
        arm.next("ready")
        code, report = stream(capsys, plan[0], "--max-error", "9")
    assert code == 3
    assert text in report["reason"]


def test_an_arm_that_does_not_say_that_it_is_well_is_not_moved(domain, plan, capsys):
    """By default a running program and a safety mode are required, as for any real arm."""
    with Peer("arm", domain, joints=UR_JOINTS, start=HOME) as arm:
        arm.next("ready")
        assert main(["stream", str(plan[0]), "--to", "dds", "--json"]) == 3
    reason = json.loads(capsys.readouterr().out)["reason"]
    assert "the arm does not say whether the robot's program runs" in reason
    assert "the arm does not say its safety mode" in reason


def test_nobody_there(domain, plan, capsys):
    assert main(["stream", str(plan[0]), "--to", "dds", "--dds-timeout", "0.5"]) == 2
    assert "nobody publishes joint states on rt/joint_states" in capsys.readouterr().err
