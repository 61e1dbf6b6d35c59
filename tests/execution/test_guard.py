"""The guard: positions stay finite, within limits and one sample's motion, with complaints."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from robosim.execution.guard import Guard

NAMES = ("a", "b", "c")
LOWER = np.array([-1.0, -np.inf, 0.0])
UPPER = np.array([1.0, np.inf, 0.5])
SPEED = np.array([2.0, 3.0, np.inf])
anything = st.floats(allow_nan=True, allow_infinity=True)


def guard():
    return Guard(NAMES, LOWER, UPPER, SPEED, np.zeros(3))


@settings(deadline=None, max_examples=300)
@given(
    st.lists(
        st.tuples(
            st.lists(st.one_of(anything, st.floats(-2, 2)), min_size=3, max_size=3), st.floats(0, 1)
        ),
        max_size=20,
    )
)
def test_whatever_comes_in(steps):
    g, period = guard(), 0.008
    for wanted, scaling in steps:
        before = g.position
        position, complaint = g.pass_on(np.array(wanted), period, scaling)
        assert position is g.position
        assert np.isfinite(position).all()
        assert ((position >= LOWER) & (position <= UPPER)).all()
        time = period * scaling  # may underflow to 0
        reach = SPEED * time if time > 0 else np.zeros(3)
        assert (np.abs(position - before) <= reach * (1 + 1e-12) + 1e-15).all()
        # Changes beyond rounding are reported, and nothing else.
        if not complaint:
            assert (np.abs(position - wanted) <= 2e-5 + 0.02 * reach).all()
        if np.array_equal(position, wanted):
            assert complaint == ""


@pytest.mark.parametrize(
    ("wanted", "scaling", "position", "complaint"),
    [
        ([0.01, 0.02, 0.5], 1.0, [0.01, 0.02, 0.5], ""),
        ([0.01, np.nan, 0.0], 1.0, [0, 0, 0], "position nan of b is refused; holding"),
        ([0.0, 0.0, -np.inf], 1.0, [0, 0, 0], "position -inf of c is refused; holding"),
        ([0.0, 0.0, 0.6], 1.0, [0, 0, 0.5],
            "position 0.6 of c is outside its limits 0 to 0.5; clipped"),
        ([0.0, -0.1, 0.0], 1.0, [0, -0.024, 0],
         "position -0.1 of b, 0.1 away, is more than one sample's motion, 0.024; clipped"),
        ([0.01, 0.0, 0.0], 0.5, [0.008, 0, 0],
         "position 0.01 of a, 0.01 away, is more than one sample's motion, 0.008; clipped"),
        ([0.01, 0.0, 0.4], 0.0, [0, 0, 0],
            "position 0.4 of c is not gone to while the speed scaling is 0"),
    ],
)  # fmt: skip
def test_what_it_makes_of_it_and_says(wanted, scaling, position, complaint):
    got, said = guard().pass_on(np.array(wanted), 0.008, scaling)
    assert np.allclose(got, position, atol=1e-15)
    assert said == complaint


def test_it_counts_how_long_it_is_behind():
    g = guard()
    behind = []
    for _ in range(5):
        g.pass_on(np.array([0.05, 0.0, 0.0]), 0.008)
        behind.append(g.behind)
    assert behind == [1, 2, 3, 0, 0]
    assert g.position[0] == 0.05
