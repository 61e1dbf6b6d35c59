"""Large results take the memory of those that are gone, and of no other."""

from __future__ import annotations

import numpy as np

import robosim
from robosim import batch


def test_memory_is_used_again_when_nobody_holds_it():
    robot = robosim.load_robot("ur5")
    qs = batch.random_configuration(robot, np.random.default_rng(1), 512)
    others = batch.random_configuration(robot, np.random.default_rng(2), 512)
    first = batch.mass_matrix(robot, qs)
    expected, part = first[100:].copy(), first[100:]
    second = batch.mass_matrix(robot, others)
    assert not np.shares_memory(first, second)
    del first  # a part of it is still held
    third = batch.mass_matrix(robot, others)
    assert not np.shares_memory(part, third)
    assert np.array_equal(part, expected)
    assert np.array_equal(second, third)
    address = third.ctypes.data
    del third
    again = batch.mass_matrix(robot, qs)
    assert again.ctypes.data == address
    assert np.array_equal(again[100:], expected)
