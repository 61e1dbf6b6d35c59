"""Robots that the scene tests share."""

from __future__ import annotations

import pytest

from robosim import load_robot


@pytest.fixture(scope="session")
def ur5():
    return load_robot("ur5")


@pytest.fixture(scope="session")
def ur5_gripper():
    return load_robot("ur5_gripper")
