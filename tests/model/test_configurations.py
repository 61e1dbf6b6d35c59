"""Configurations from names: every kind of joint, and every error message."""

import numpy as np
import pytest

from robosim.errors import ModelError
from robosim.model import Model, ModelBuilder


@pytest.fixture(scope="module")
def model() -> Model:
    builder = ModelBuilder("mixed", floating_base=True)
    inertia = np.eye(3)
    for name in ("base", "cart", "slider", "finger", "other_finger"):
        builder.add_link(name, mass=1.0, inertia=inertia)
    builder.add_joint("plane", "planar", "base", "cart")
    builder.add_joint(
        "slide", "prismatic", "cart", "slider", lower=-1, upper=1, velocity=1, effort=1
    )
    builder.add_joint(
        "grip", "revolute", "slider", "finger", lower=0, upper=1, velocity=1, effort=1
    )
    builder.add_joint(
        *("follow", "revolute", "slider", "other_finger"),
        **{"lower": -2, "upper": 2, "velocity": 1, "effort": 1, "mimic": ("grip", -2.0, 0.1)},
    )
    builder.add_group("hand", ["slide", "grip"])
    builder.add_group("arm", ["slide"])
    builder.add_named_state("hand", "open", {"slide": 0.5, "grip": 0.2})
    builder.add_named_state("hand", "home", {"slide": 0.0, "grip": 0.0})
    builder.add_named_state("arm", "home", {"slide": 0.1})
    return builder.build()


def test_names_and_states_fill_the_right_entries(model: Model) -> None:
    names = list(model.position_names)
    q = model.configuration({"plane/theta": 0.3, "slide": -0.2})
    expected = model.neutral()
    expected[names.index("plane/theta")], expected[names.index("slide")] = 0.3, -0.2
    np.testing.assert_array_equal(q, expected)
    opened = model.configuration("open", rest=q)
    expected[names.index("slide")], expected[names.index("grip")] = 0.5, 0.2
    np.testing.assert_array_equal(opened, expected)
    assert model.configuration("arm/home")[names.index("slide")] == 0.1


def test_a_mimic_joint_may_be_listed_where_it_follows(model: Model) -> None:
    q = model.configuration({"follow": -0.9, "grip": 0.5})
    assert q[list(model.position_names).index("grip")] == 0.5


@pytest.mark.parametrize(
    ("positions", "message"),
    [
        ({"slid": 0.0}, "has no joint 'slid' that moves; did you mean 'slide'"),
        ({"slide": "far"}, "position of 'slide' is 'far'; expected a number"),
        ({"slide": np.nan}, "'slide' is nan; it must be finite"),
        ({"plane": 1.0}, "'plane' has several coordinates; give plane/x, plane/y, plane/theta"),
        ({"follow": 0.5, "grip": 0.5}, "'follow' is 0.5, but it follows 'grip' and is -0.9 there"),
        ("home", "'home' may be any of hand/home, arm/home; say which"),
        ("closed", "has no state 'closed'"),
    ],
)
def test_complaints_name_the_thing(
    model: Model, positions: dict[str, float] | str, message: str
) -> None:
    with pytest.raises(ModelError) as caught:
        model.configuration(positions)
    assert message in str(caught.value)


def test_quaternions_must_have_unit_length(model: Model) -> None:
    with pytest.raises(ModelError, match="must be of length 1"):
        model.configuration({next(n for n in model.position_names if n.endswith("qw")): 0.5})
    with pytest.raises(ModelError, match=r"rest has shape \(2,\)"):
        model.configuration("open", rest=[0.0, 0.0])
