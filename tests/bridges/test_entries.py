"""Gradients with respect to the entries of q, compared with differences of motions on q."""

from __future__ import annotations

import numpy as np
import pytest

from robosim import load_robot
from robosim.bridges.entries import from_entries, to_entries

from .worlds import model_of_all_kinds

STEP = 1e-6


def central(function, size):
    """Derivatives (..., size) of `function` of a vector, at zero."""
    return np.stack(
        [(function(e) - function(-e)) / (2 * STEP) for e in STEP * np.eye(size)], axis=-1
    )


def any_configuration(model, rng):
    """Random configuration whose quaternions have any length except zero."""
    q = model.random_configuration(rng)
    for i, name in enumerate(model.position_names):
        if name.endswith("/qx"):
            q[i : i + 4] *= rng.uniform(0.5, 2)
    return q


def units(model, q):
    """Configuration whose quaternions have unit length."""
    return model.integrate(q, np.zeros(model.n_v))


@pytest.mark.parametrize(
    "model",
    [model_of_all_kinds(), load_robot("quadruped", base="floating"), load_robot("ur5")],
    ids=["all kinds", "free", "fixed"],
)
def test_entries_are_those_of_the_model(model):
    rng = np.random.default_rng(0)
    for _ in range(5):
        q = any_configuration(model, rng)
        T = central(lambda dq: model.difference(q, q + dq), model.n_q)  # noqa: B023 (called here)
        t_bar = rng.normal(size=model.n_v)
        # 1e-8 covers rounding of 1e-16 over steps of 1e-6, times entries up to 4.
        np.testing.assert_allclose(to_entries(model, q, t_bar), t_bar @ T, rtol=0, atol=1e-8)
        q = units(model, q)
        N = central(lambda v: model.integrate(q, v), model.n_v)  # noqa: B023
        q_bar = rng.normal(size=model.n_q)
        np.testing.assert_allclose(from_entries(model, q, q_bar), q_bar @ N, rtol=0, atol=1e-8)


def test_there_and_back_is_nothing():
    """T N = 1. A batch has the same bits as its single entries."""
    model = model_of_all_kinds()
    rng = np.random.default_rng(1)
    q = np.stack([units(model, any_configuration(model, rng)) for _ in range(6)]).reshape(2, 3, -1)
    t_bar = rng.normal(size=(2, 3, model.n_v))
    entries = to_entries(model, q, t_bar)
    back = from_entries(model, q, entries)
    # A few roundings of numbers about 1.
    np.testing.assert_allclose(back, t_bar, rtol=0, atol=1e-14)
    for i in np.ndindex(2, 3):
        np.testing.assert_array_equal(entries[i], to_entries(model, q[i], t_bar[i]))
        np.testing.assert_array_equal(back[i], from_entries(model, q[i], entries[i]))


def test_the_length_of_a_quaternion_has_no_gradient():
    model = model_of_all_kinds()
    rng = np.random.default_rng(2)
    q = any_configuration(model, rng)
    entries = to_entries(model, q, rng.normal(size=model.n_v))
    # A few roundings.
    assert abs(entries[3:7] @ q[3:7]) < 1e-14 * np.abs(entries[3:7]).max() * np.abs(q[3:7]).max()
