"""Limits of a robot by joint name, and the stricter of two limits."""

from __future__ import annotations

import numpy as np
import pytest

from robosim.errors import ExecutionError
from robosim.execution.limits import model_limits, strictest
from robosim.trajectory import TrajectoryLimits
from robosim.urdf import load_robot


def test_a_robots_limits_in_the_order_that_is_asked_for():
    model = load_robot("ur5", visuals=False)
    names = tuple(reversed(model.joint_names))
    limits = model_limits(model, names)
    for field in ("lower", "upper", "velocity", "acceleration"):
        assert np.array_equal(getattr(limits, field), getattr(model.limits, field)[::-1])
    assert limits.acceleration_source == model.limits.acceleration_source
    assert model_limits(model, names[:1]).velocity.shape == (1,)
    with pytest.raises(ExecutionError, match="gripper"):
        model_limits(model, ("gripper",))


def test_the_strictest_of_two():
    first = TrajectoryLimits(
        lower=[-1, -2], upper=[1, 2], velocity=[3, 1], jerk=[9, 9], acceleration_source="a"
    )
    second = TrajectoryLimits(lower=[-2, -1], upper=[2, 1], velocity=[1, 3], acceleration=[5, 5])
    both = strictest(first, second)
    expected = {
        "lower": [-1, -1], "upper": [1, 1], "velocity": [1, 1], "acceleration": [5, 5],
        "jerk": [9, 9],
    }  # fmt: skip
    for field, values in expected.items():
        assert getattr(both, field).tolist() == values
    assert both.effort is None
    assert both.acceleration_source == "a"
    assert strictest(None, second) is second
    assert strictest(first, None) is first
    assert strictest(None, None) is None
