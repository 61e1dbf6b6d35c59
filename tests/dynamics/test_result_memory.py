"""Large results reuse the memory of freed results, and no other memory."""

from __future__ import annotations

import numpy as np

import robosim


def test_memory_is_used_again_when_nobody_holds_it():
    robot = robosim.load_robot("ur5")
    qs = robot.random_configuration(np.random.default_rng(1), 512)
    others = robot.random_configuration(np.random.default_rng(2), 512)
    first = robot.mass_matrix(qs)
    expected, part = first[100:].copy(), first[100:]
    second = robot.mass_matrix(others)
    assert not np.shares_memory(first, second)
    del first  # a part of the array is still referenced
    third = robot.mass_matrix(others)
    assert not np.shares_memory(part, third)
    assert np.array_equal(part, expected)
    assert np.array_equal(second, third)
    address = third.ctypes.data
    del third
    again = robot.mass_matrix(qs)
    assert again.ctypes.data == address
    assert np.array_equal(again[100:], expected)
