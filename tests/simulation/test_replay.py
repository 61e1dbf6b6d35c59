"""Replays: states of the run to the bit, at a steady rate, with the forces of the next steps."""

from dataclasses import replace
from itertools import chain

import numpy as np
import pytest

from robosim.errors import SimulationError
from robosim.simulation import Control, Replay, Simulation
from robosim.simulation.replay import MAX_STATES, spread
from robosim.world import Material, World

from .worlds import floor, free_boxes


@pytest.fixture(scope="module")
def box():
    """A box of 2 kg over a floor, with steps of a millisecond."""
    return Simulation(
        World(free_boxes(1), floor(), materials={("box0", "floor"): Material(friction=0.5)})
    )


@pytest.fixture(scope="module")
def falling(box):
    """The box falls askew, tumbles and slides."""
    return box.rollout(box.state([0, 0, 0.25, 0.2, 0.1, 0, 0.97468], [1.0, 0.3, 0, 0, 2.0, 0]), 700)


def same_contacts(first, second):
    assert [len(at) for at in first] == [len(at) for at in second]
    for a, b in zip(chain(*first), chain(*second), strict=True):
        for x, y in zip(a, b, strict=True):
            np.testing.assert_array_equal(x, y)


@pytest.mark.parametrize("rate", [25.0, 60.0, 1e9])
def test_states_are_those_of_the_run_with_what_acts_there(box, falling, rate):
    replay = falling.replay(rate=rate)
    at = np.searchsorted(falling.times, replay.times)
    assert (at[0], at[-1]) == (0, 700)
    np.testing.assert_array_equal(replay.times, falling.times[at])
    np.testing.assert_array_equal(replay.q, falling.q[at])
    same_contacts(
        replay.contacts, [box.linearize(box.state(falling.q[i], falling.v[i])).contacts for i in at]
    )
    # There are as many states as requested, or as many as the run has. Gaps are as even as whole
    # steps allow.
    gaps = np.diff(at)
    assert gaps.max() - gaps.min() <= 1
    assert len(at) == min(round(np.ceil(0.7 * rate)), 700) + 1


def test_a_resumed_run_looks_the_same(box, falling, tmp_path):
    path = tmp_path / "half.json"
    half = box.rollout(box.state(falling.q[0], falling.v[0]), 350)
    half.end.save(path)
    rest = box.rollout(type(half.end).load(path), 350).replay(rate=20)
    whole = falling.replay(rate=20)
    np.testing.assert_array_equal(np.concatenate([half.replay(rate=20).q, rest.q[1:]]), whole.q)
    np.testing.assert_array_equal(rest.times, whole.times[7:])
    same_contacts(rest.contacts, whole.contacts[7:])


def test_each_step_has_its_own_control(box):
    tau = np.zeros((40, 6))
    tau[:, 2] = np.linspace(-5, 5, 40)
    motion = box.rollout(box.state([0, 0, 0.05, 0, 0, 0, 1]), 40, Control(tau=tau))
    replay = motion.replay(rate=1e9)
    for i, contacts in enumerate(replay.contacts):
        driven = Control(tau=tau[min(i, 39)])
        same_contacts(
            [contacts], [box.linearize(box.state(motion.q[i], motion.v[i]), driven).contacts]
        )


def test_long_runs_are_thinned():
    times = np.arange(1_000_001) * 1e-3
    at = spread(times, 60.0)
    assert (len(at), at[0], at[-1]) == (MAX_STATES, 0, 1_000_000)
    # A second at 60 Hz has 60 gaps, despite the rounding of times that were added up.
    assert len(spread(np.add.accumulate(np.full(1001, 1e-3)), 60.0)) == 61
    assert spread(np.zeros(1), 60.0).tolist() == [0]


def test_the_nearest_state():
    replay = Replay(np.array([1.0, 2.0, 4.0]), np.zeros((3, 1)), [[], [], []])
    asked = (-5.0, 1.0, 1.49, 1.51, 2.9, 3.1, 9.0)
    assert [replay.nearest(t) for t in asked] == [0, 0, 0, 1, 1, 2, 2]
    assert Replay(np.zeros(1), np.zeros((1, 1)), [[]]).nearest(3.0) == 0


def test_what_cannot_be_replayed_is_refused(box, falling):
    for rate in (0.0, -1.0, np.nan, np.inf):
        with pytest.raises(SimulationError, match="states per second; it must be positive"):
            falling.replay(rate=rate)
    stranger = replace(falling, q=np.zeros((701, 2)))
    with pytest.raises(SimulationError, match=r"q has shape \(2,\); expected \(7,\)"):
        stranger.replay()
