"""The robot ur5_gripper equals its two parts."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
import pytest

from robosim import load_robot

HERE = Path(__file__).parent


def composition():
    spec = importlib.util.spec_from_file_location("compose", HERE / "compose.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_files_are_up_to_date():
    compose = composition()
    for name, content in compose.compose().items():
        assert (compose.ROBOTS / "ur5_gripper" / name).read_text() == content, (
            f"run {HERE / 'compose.py'}"
        )


def test_arm_and_gripper_move_as_they_do_alone():
    whole, arm, gripper = (load_robot(name) for name in ("ur5_gripper", "ur5", "gripper_2f"))
    rng = np.random.default_rng(0)
    q_arm = rng.uniform(arm.limits.lower, arm.limits.upper)
    for closed in (0.0, 0.02, 0.0425):
        q = np.append(q_arm, closed)
        np.testing.assert_allclose(
            whole.frame_pose(q, "tool0"), arm.frame_pose(q_arm, "tool0"), rtol=0, atol=1e-15
        )
        for link in gripper.link_names:
            expected = arm.frame_pose(q_arm, "tool0") @ gripper.frame_pose([closed], link)
            np.testing.assert_allclose(whole.frame_pose(q, link), expected, rtol=0, atol=1e-14)


def test_fingers_meet_midway_and_open_to_85_mm():
    gripper = load_robot("gripper_2f")
    for closed in (0.0, 0.01, 0.0425):
        left = gripper.frame_pose([closed], "gripper_left_finger_link")[:3, 3]
        right = gripper.frame_pose([closed], "gripper_right_finger_link")[:3, 3]
        assert left[0] - right[0] == pytest.approx(0.085 - 2 * closed, abs=1e-15)
        np.testing.assert_allclose((left + right)[:2], 0, rtol=0, atol=1e-15)
