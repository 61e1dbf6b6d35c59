"""Poses from and to positions, roll-pitch-yaw and quaternions."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from robosim.errors import GeometryError
from robosim.geometry import pose, pose_to_xyz_quaternion


def test_rpy_turns_about_fixed_axes():
    rng = np.random.default_rng(0)
    for rpy in rng.uniform(-7, 7, (50, 3)):
        X = pose((1, 2, 3), rpy=rpy)
        np.testing.assert_allclose(
            X[:3, :3], Rotation.from_euler("xyz", rpy).as_matrix(), atol=1e-15
        )
        np.testing.assert_array_equal(X[:, 3], (1, 2, 3, 1))


def test_quaternion_there_and_back():
    rng = np.random.default_rng(1)
    half_turns = [*np.eye(4), (1, 1, 0, 0), (0, 1, -1, 0), (1e-9, 0, 0, 1), (1, 0, 0, 1e-9)]
    for q in [*rng.normal(size=(100, 4)), *np.array(half_turns)]:
        X = pose(q[:3], quaternion=7 * q)
        np.testing.assert_allclose(X[:3, :3], Rotation.from_quat(q).as_matrix(), atol=1e-15)
        xyz, back = pose_to_xyz_quaternion(X)
        np.testing.assert_array_equal(xyz, q[:3])
        assert back[3] >= 0
        assert abs(np.linalg.norm(back) - 1) < 1e-15
        np.testing.assert_allclose(pose(xyz, quaternion=back), X, atol=4e-16)


def test_quaternions_of_any_length_are_taken():
    expected = pose(quaternion=(1, 2, 3, 4))
    for scale in (1e-300, 1e-150, 1e150, 1e300):
        np.testing.assert_allclose(
            pose(quaternion=np.array((1, 2, 3, 4)) * scale), expected, atol=1e-15
        )


@pytest.mark.parametrize(
    "arguments",
    [
        {"xyz": (1, 2)},
        {"xyz": (1, 2, np.nan)},
        {"xyz": "abc"},
        {"rpy": (0, 0, np.inf)},
        {"rpy": 1.0},
        {"quaternion": (0, 0, 0, 0)},
        {"quaternion": (0, 0, 1)},
        {"quaternion": (0, 0, 0, np.nan)},
        {"rpy": (0, 0, 0), "quaternion": (0, 0, 0, 1)},
    ],
)
def test_bad_poses_are_refused(arguments):
    with pytest.raises(GeometryError, match=next(reversed(arguments))):
        pose(**arguments)


@pytest.mark.parametrize(
    "X", [np.eye(3), np.zeros((4, 4)), np.full((4, 4), np.nan), np.diag([1.0, 1, -1, 1]), "X", None]
)
def test_what_is_no_pose_has_no_quaternion(X):
    with pytest.raises(GeometryError):
        pose_to_xyz_quaternion(X)
