"""Parameters by name: what the table says there is has gradients, directions and values that agree with the step.

Kinds and owners come from the table alone. A kind that is added to it is judged here as soon as a world has one.
"""

from __future__ import annotations

import copy
import pickle
import sys
from functools import cache
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import robosim
from robosim.errors import SimulationError
from robosim.simulation import Simulation
from robosim.simulation.link_inertias import LINK_KINDS, link_inertias

from .everything import DT, everything
from .everything import model as own_model

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))
from harness.ridders import one_sided, ridders

SOLVERS = ["lcp", "cone", "pgs"]
KINDS = tuple(everything()[0].parameters.kinds)
TWISTS = ("pose", "frames", "placement")
LENGTHS = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6)  # of differences, as parts of a unit
# Of derivatives; of those by what has lengths differences are of shorter steps, over which the same features touch.
BAR, BAR_OF_LENGTHS = 1e-8, 1e-7
HAVE_LENGTHS = ("object", "vertex", "closure", "joint", "link")
ROUNDING = 1e-11  # of the loss, 1e-14, over a part of 1e-3 of a unit
SMALL = 1e-6  # of the largest derivative by a kind: what has less is moved together


class Step:
    """One step, and a loss of all that comes out of it that weighs positions and velocities alike."""

    def __init__(self, solver):
        self.simulation, self.state, self.control = everything(solver=solver)
        n = self.simulation.model.n_v
        self.q_bar, self.v_bar = np.random.default_rng(4).normal(size=(2, n)) / [[DT], [1]]
        self.end = self.simulation.step(self.state, self.control)
        self.signature = self.simulation.signature(self.state, self.control)
        gradient = self.simulation.vjp(self.state, self.q_bar, self.v_bar, self.control)
        assert not gradient.one_sided
        self.values, self.by = self.simulation.parameters, gradient.parameters

    def change(self, simulation):
        """(1,) of the loss; None where the step is by another formula."""
        if simulation.signature(self.state, self.control) != self.signature:
            return None
        end = simulation.step(self.state, self.control)
        moved = self.simulation.model.difference(self.end.q, end.q)
        return np.array([self.q_bar @ moved + self.v_bar @ (end.v - self.end.v)])

    def along(self, key, direction):
        """t -> change of the loss with the parameter moved by t times a direction; None where it cannot be there."""

        def moved(t):
            try:
                return self.change(self.simulation.with_parameters({key: self.values[key] + t * direction}))
            except SimulationError:
                return None

        return moved

    def tangent(self, key, direction):
        along = self.simulation.jvp(self.state, self.control, parameters={key: direction})
        return self.q_bar @ along.q + self.v_bar @ along.v

    def units(self, kind):
        """What each number of a kind is changed by; zero where it is no number that can be greater and less."""
        values, least = self.values[kind], self.values.kinds[kind].least
        # A link without moments cannot have a little of one of them.
        usual = np.where(values == 0, float(kind != "inertia"), np.abs(values))
        return np.where(np.isfinite(values) & (values > least), 1.0 if kind in TWISTS else usual, 0.0)


def differentiated(change, enough):
    """By differences of all lengths at which the step is by one formula, until some are seen to be exact enough."""
    best = None
    for length in LENGTHS:
        found = ridders(change, length)
        if found is not None and (best is None or found.error[0] < best.error[0]):
            best = found
        if best is not None and best.error[0] < enough:
            break
    return best


@cache
def step(solver):
    return Step(solver)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("solver", SOLVERS)
def test_gradients_and_directions_are_differences(solver, kind):
    """By each owner that counts along a random direction of its numbers, and by all others at once."""
    own, rng = step(solver), np.random.default_rng(5)
    units = own.units(kind)
    direction = units * rng.uniform(0.5, 1, units.shape) * rng.choice([-1, 1], units.shape)
    terms = np.where(direction != 0, own.by[kind] * direction, 0.0)
    largest = np.abs(terms).max()
    assert largest > 0, "the world has none that counts"
    rest, cases = direction.copy(), []
    for owner in dict.fromkeys(own.values.owners(kind)):
        rows = np.array([x == owner for x in own.values.owners(kind)])
        if np.abs(terms[rows]).max() > SMALL * largest:
            shape = own.values[kind, owner].shape
            one = direction[rows][0] if own.values.kinds[kind].owner == "pair" else direction[rows]
            cases.append(((kind, owner), one.reshape(shape)))
            rest[rows] = 0.0
    bar = BAR_OF_LENGTHS if own.values.kinds[kind].owner in HAVE_LENGTHS else BAR
    for key, way in [*cases, (kind, rest)]:
        terms = np.where(way != 0, own.by[key] * way, 0.0)
        size = np.abs(terms).sum()
        best = differentiated(own.along(key, way), 0.1 * bar * size)
        assert best is not None, key
        assert best.value[0] == pytest.approx(terms.sum(), rel=0, abs=bar * size + ROUNDING), key
        assert own.tangent(key, way) == pytest.approx(terms.sum(), rel=0, abs=1e-12 * size + 1e-16), key


def test_at_the_end_of_its_range_a_derivative_is_of_the_side_that_there_is():
    """Such as damping that is zero, and links without mass."""
    own, judged = step("lcp"), []
    for kind, by in own.by.items():
        at_end = (own.values[kind] == own.values.kinds[kind].least) & (by != 0)
        way = np.where(at_end, np.random.default_rng(6).uniform(0.5, 1, at_end.shape), 0.0)
        if not way.any():
            continue
        judged.append(kind)
        lengths = (1e-3, 3e-4, 1e-4, 3e-5, 1e-5, 3e-6)
        sides = [x[0] for y in lengths if (x := one_sided(own.along(kind, way), y)) is not None]
        found = min(pairwise(sides), key=lambda x: abs(x[0] - x[1]))[
            1
        ]  # neither too long nor lost in rounding
        terms = np.where(at_end, by * way, 0.0)
        # Of fourth order; and 1e-14, to which the loss is rounded, over 1e-5.
        assert found == pytest.approx(terms.sum(), rel=0, abs=1e-8 * np.abs(terms).sum() + 1e-9), kind
    assert {"mass", "sizes", "armature", "damping"} <= set(judged)


def test_directions_of_everything_at_once_are_the_transpose_of_gradients():
    for solver in SOLVERS:
        own, rng = step(solver), np.random.default_rng(7)
        whole = {kind: rng.normal(size=x.shape) * np.isfinite(x) for kind, x in own.by.items()}
        tangent = own.simulation.jvp(own.state, own.control, parameters=whole)
        terms = np.concatenate([np.nan_to_num(own.by[kind] * x).ravel() for kind, x in whole.items()])
        found = own.q_bar @ tangent.q + own.v_bar @ tangent.v
        assert found == pytest.approx(terms.sum(), rel=0, abs=1e-12 * np.abs(terms).sum())


# Links and bodies


@pytest.mark.parametrize("robot", ["everything", "quadruped", "ur5_gripper", "humanoid"])
def test_what_bodies_change_by_is_the_transpose_of_gradients_by_links(robot):
    model = own_model() if robot == "everything" else robosim.load_robot(robot, base="described")
    links, rng = link_inertias(model), np.random.default_rng(8)
    shapes = {"mass": (), "com": (3,), "inertia": (6,)}
    for _ in range(10):
        of_bodies = {kind: rng.normal(size=(links.n_bodies, *shape)) for kind, shape in shapes.items()}
        of_links = {kind: rng.normal(size=(len(links.mass), *shape)) for kind, shape in shapes.items()}
        by_links, to_bodies = links.by_links(of_bodies), links.to_bodies(of_links)
        there = np.concatenate([(by_links[kind] * of_links[kind]).ravel() for kind in LINK_KINDS])
        back = np.concatenate([(of_bodies[kind] * to_bodies[kind]).ravel() for kind in LINK_KINDS])
        assert there.sum() == pytest.approx(back.sum(), rel=0, abs=1e-14 * np.abs(there).sum())
    assert not any(by_links[kind][links.body < 0].any() for kind in LINK_KINDS)


def test_links_that_are_alone_have_the_gradient_of_their_body_to_the_bit():
    own = step("lcp")
    links, names = own.simulation._links, own.simulation.model.link_names
    bodies = {kind: own.simulation._names.view(own.by._numbers, kind) for kind in LINK_KINDS}
    alone = [names.index(name) for name in ("ball", "gem", "cushion", "thumb", "slider")]
    for kind in LINK_KINDS:
        np.testing.assert_array_equal(own.by[kind][alone], bodies[kind][links.body[alone]])


@pytest.mark.parametrize("robot", ["everything", "quadruped", "ur5_gripper", "panda"])
def test_bodies_are_the_sums_of_links_as_the_builder_adds_them(robot):
    """Each link a little heavier, longer and rounder: also as those of a model that is built anew."""
    model = own_model() if robot == "everything" else robosim.load_robot(robot, base="described")
    rng = np.random.default_rng(9)
    simulation = Simulation(model)
    mass, com, inertia = (simulation.parameters[kind] for kind in LINK_KINDS)
    changes = {"mass": mass * rng.uniform(1, 2, mass.shape), "com": com + 0.01, "inertia": 1.5 * inertia}
    changed = simulation.with_parameters(changes)
    again = pickle.loads(pickle.dumps(changed.model))
    for a, b in zip(again._engine.inertias[1:], changed.model._engine.inertias[1:], strict=True):
        # Sums of some ten numbers of one size.
        assert a.mass == pytest.approx(b.mass, rel=1e-14)
        np.testing.assert_allclose(a.com, b.com, rtol=0, atol=1e-14)
        np.testing.assert_allclose(a.I_com, b.I_com, rtol=0, atol=1e-14 * np.abs(a.I_com).max())


def test_errors_of_second_order_products_are_none_that_cancel():
    own = step("lcp")
    found = own.simulation.hvp(own.state, own.q_bar, own.v_bar, own.control, v=np.ones(len(own.v_bar)))
    assert all((np.nan_to_num(x) >= 0).all() for x in found.error.parameters.values())
    assert found.error.parameters["com", "lid"].all()


# Names


def test_every_owner_of_the_table_is_a_name_of_its_rows():
    own = step("lcp")
    for values in own.values, own.by:
        assert list(values) == list(KINDS)
        for kind, numbers in values.items():
            owners = values.owners(kind)
            assert len(owners) == (0 if values.kinds[kind].owner == "world" else len(numbers))
            for owner in dict.fromkeys(owners):
                rows = numbers[[x == owner for x in owners]]
                expected = rows[0] if values.kinds[kind].owner == "pair" else np.squeeze(rows)
                np.testing.assert_array_equal(np.squeeze(values[kind, owner]), expected)
                assert (kind, owner) in values
    assert "masses" not in own.values
    assert ("mass", "bal") not in own.values


def test_links_stand_for_their_shapes():
    own = step("lcp")
    values, by = own.values, own.by
    assert by["friction", ("sled", "floor")] == pytest.approx(
        by["friction", ("sled/0", "floor")] + by["friction", ("floor", "sled/1")], rel=1e-15
    )
    np.testing.assert_array_equal(by["pose", ("sled", 1)], by["pose", "sled/1"])
    np.testing.assert_array_equal(
        by["friction", (("steps", 1), "cushion")], by["friction", ("cushion", "steps")]
    )
    np.testing.assert_array_equal(values["size", ("steps", 1)], [0.2, 0.4, 0.1])
    np.testing.assert_array_equal(values["damping", "ball_free"], np.zeros(6))
    assert values["radius", "ball"] == 0.1
    assert values["length", "sled/0"] == 0.3
    together = own.simulation.with_parameters({("friction", ("sled", "floor")): 0.7})
    rows = [set(pair) for pair in together.pairs]
    for shape in "sled/0", "sled/1":
        assert together.parameters["friction"][rows.index({shape, "floor"})] == 0.7
    apart = own.simulation.with_parameters({("friction", ("sled/0", "floor")): 0.7})
    with pytest.raises(
        SimulationError, match=r"'friction' of \('sled', 'floor'\) is not one number: it is 0\.5, 0\.7"
    ):
        apart.parameters["friction", ("sled", "floor")]


# Worlds with other values


def state_after(simulation, own):
    end = simulation.step(own.state, own.control)
    return end.q.tobytes() + end.v.tobytes()


def other_values(own, rng):
    """Of all kinds, near to those that there are."""
    found = {}
    for kind, x in own.values.items():
        spread = 1e-3 * rng.uniform(-1, 1, x.shape)
        found[kind] = spread if kind in TWISTS else np.where(np.isfinite(x), x * (1 + spread), x)
    of_links = 1 + 1e-3 * rng.uniform(size=(len(found["inertia"]), 1))  # as of bodies that there can be
    return found | {"inertia": own.values["inertia"] * of_links}


def test_with_its_own_values_a_world_is_itself_to_the_bit():
    own = step("lcp")
    same = own.simulation.with_parameters(own.values)
    assert state_after(same, own) == state_after(own.simulation, own)
    assert same.model is own.simulation.model
    for kind, x in own.values.items():
        np.testing.assert_array_equal(same.parameters[kind], x)
        one = own.simulation.with_parameters({kind: x})
        assert state_after(one, own) == state_after(own.simulation, own)


@pytest.mark.parametrize("solver", SOLVERS)
def test_other_values_are_those_that_were_told_and_the_original_is_untouched(solver):
    own, rng = step(solver), np.random.default_rng(10)
    before = state_after(own.simulation, own)
    kept = {kind: x.copy() for kind, x in own.values.items()}
    told = other_values(own, rng)
    changed = own.simulation.with_parameters(told)
    assert state_after(changed, own) != before
    assert state_after(own.simulation, own) == before
    for kind, x in own.simulation.parameters.items():
        np.testing.assert_array_equal(x, kept[kind])
    moved = {*TWISTS, "scale", "sizes", "vertices"}  # scales are of the sizes; vertices are told after them
    for kind, x in changed.parameters.items():
        if kind not in moved:
            np.testing.assert_array_equal(x, told[kind])
    np.testing.assert_array_equal(changed.parameters["sizes"], told["sizes"] * told["scale"][:, None])
    np.testing.assert_array_equal(changed.parameters["vertices"], told["vertices"])
    assert not any(changed.parameters[kind].any() for kind in TWISTS)
    # One by one, and back again.
    one_by_one = own.simulation
    for kind, x in told.items():
        one_by_one = one_by_one.with_parameters({kind: x})
    back = changed.with_parameters({kind: x for kind, x in kept.items() if kind not in TWISTS})
    still = own.simulation.with_parameters({kind: told[kind] for kind in TWISTS})
    assert state_after(one_by_one, own) == state_after(changed, own)
    assert state_after(back, own) == state_after(still, own)


@pytest.mark.parametrize("solver", SOLVERS)
def test_changed_worlds_are_copied_and_pickled_to_the_bit(solver):
    own, rng = step(solver), np.random.default_rng(11)
    once = own.simulation.with_parameters(other_values(own, rng))
    twice = once.with_parameters({**{kind: 1e-3 * rng.normal(size=own.values[kind].shape) for kind in TWISTS},
                                  ("mass", "lid"): 0.7, ("scale", "gem"): 1.01})  # fmt: skip
    for changed in once, twice:
        for copied in pickle.loads(pickle.dumps(changed)), copy.deepcopy(changed):
            assert state_after(copied, own) == state_after(changed, own)
            for kind, x in changed.parameters.items():
                np.testing.assert_array_equal(copied.parameters[kind], x)
            gradients = [
                x.vjp(own.state, own.q_bar, own.v_bar, own.control).parameters for x in (copied, changed)
            ]
            for kind, x in gradients[0].items():
                np.testing.assert_array_equal(x, gradients[1][kind])


def test_gradients_are_pickled_with_their_names():
    own = step("lcp")
    again = pickle.loads(pickle.dumps(own.by))
    assert again.owners("vertices") == own.by.owners("vertices")
    for key in ("mass", ("mass", "lid"), ("friction", ("ball", "floor")), "vertices", ("radius", "ball")):
        np.testing.assert_array_equal(again[key], own.by[key])
