"""Tables of free angles between two colliders: free entries are free.

Results are the same with and without tables.
"""

from __future__ import annotations

import numpy as np
import pytest

import robosim
from robosim import _engine
from robosim.geometry import Shape, pose
from robosim.model import ModelBuilder

LEAST = 1e-3  # [m]
TURN = 2 * np.pi
LINK = Shape.box((0.3, 0.05, 0.04))


def alone(model, pairs, tables=None):
    none = np.zeros((0, 4, 4))
    return _engine.CollisionScene(model._engine, [], [], none, [], pairs, tables)


def chain(*axes, link=LINK, mimic=False):
    """A base, and links of 0.3 m that rotate about the given axes.

    The base stands beside the path of the second link.
    """
    builder = ModelBuilder("chain")
    builder.add_link("base")
    builder.add_collider("base", Shape.cylinder(0.06, 0.2))
    before = "base"
    for i, axis in enumerate(axes):
        builder.add_link(f"l{i}")
        builder.add_joint(
            f"j{i}",
            "continuous",
            before,
            f"l{i}",
            X_PJ=pose((0.3 if i else 0.0, 0.1 if i == 0 else 0.0, 0.05)),
            axis=axis,
            **({"mimic": ("j0", 1.0, 0.0)} if mimic and i == 1 else {}),
        )
        builder.add_collider(f"l{i}", link, X_LC=pose((0.15, 0, 0)))
        before = f"l{i}"
    return builder.build(allow_massless=True, filter_adjacent=False)


def fork():
    """Two fingers on one palm: a joint on either side of the pair."""
    builder = ModelBuilder("fork")
    builder.add_link("palm")
    for i, x in enumerate((-0.08, 0.08)):
        builder.add_link(f"f{i}")
        builder.add_joint(
            f"j{i}", "continuous", "palm", f"f{i}", X_PJ=pose((x, 0, 0)), axis=(0, 1, 0)
        )
        builder.add_collider(f"f{i}", Shape.capsule(0.02, 0.06), X_LC=pose((0, 0, 0.04)))
    return builder.build(allow_massless=True, filter_adjacent=False)


MODELS = {
    "one joint": (lambda: chain((0, 0, 1)), (0, 1)),
    "two joints": (lambda: chain((0, 0, 1), (0, 1, 0)), (0, 2)),
    "parallel axes": (lambda: chain((0, 1, 0), (0, 1, 0), link=Shape.capsule(0.03, 0.2)), (0, 2)),
    "a joint on either side": (fork, (0, 1)),
    "the upper arm and the base of a UR5": (lambda: robosim.load_robot("ur5"), None),
}


def case(name):
    make, pair = MODELS[name]
    model = make()
    if pair is None:
        links = [c.link for c in model.colliders]
        pair = (links.index("base_link_inertia"), links.index("upper_arm_link"))
    return model, pair


@pytest.mark.parametrize("name", MODELS)
def test_what_is_free_is_apart(name):
    """At random angles, in whole and in cut cells, for pairs with some free angles."""
    model, pair = case(name)
    (table,) = _engine.turn_tables(model._engine, [pair], least=LEAST)
    scene = alone(model, [pair])
    rng = np.random.default_rng(0)
    q = np.tile(model.neutral(), (4000, 1))
    q[:, table.q_index] = rng.uniform(-2 * TURN, 2 * TURN, (len(q), len(table.q_index)))
    distance = scene.distances_many(q)[:, 0]
    free = np.array([table.is_free(at, at) for at in q[:, table.q_index]])
    assert free.any()
    assert distance[free].min() > LEAST
    # Almost all angles with a clear distance are known to be free.
    assert free[distance > 0.5 * distance.max()].mean() > 0.9


@pytest.mark.parametrize("name", MODELS)
def test_ranges_are_free_where_all_their_cells_are(name):
    model, pair = case(name)
    (table,) = _engine.turn_tables(model._engine, [pair])
    rng = np.random.default_rng(1)
    n, cells = len(table.q_index), table.free.shape[-1]
    assert table.free.shape == ((cells, cells) if n == 2 else (1, cells))
    for _ in range(500):
        lower = rng.uniform(-2 * TURN, 2 * TURN, n)
        upper = lower + rng.choice((0.0, 0.02, 0.3, 4.0, 7.0), n)
        first, last = (np.floor(x / TURN * cells).astype(int) for x in (lower, upper))
        which = [np.arange(a, b + 1) % cells for a, b in zip(first, last, strict=True)]
        wanted = table.free[np.ix_(*which)] if n == 2 else table.free[0, which[0]]
        assert table.is_free(lower, upper) == wanted.all()


def test_pairs_that_have_none():
    """Three joints between the colliders, a slide, a mimic joint, or contact at every angle."""
    spatial = chain((0, 0, 1), (0, 1, 0), (0, 0, 1))
    assert _engine.turn_tables(spatial._engine, [(0, 3)]) == [None]
    builder = ModelBuilder("slide")
    for link in ("base", "slider"):
        builder.add_link(link)
        builder.add_collider(link, Shape.box((0.1, 0.1, 0.1)))
    builder.add_joint("s", "prismatic", "base", "slider", X_PJ=pose((0.5, 0, 0)), lower=0, upper=1)
    slide = builder.build(allow_massless=True, filter_adjacent=False)
    assert _engine.turn_tables(slide._engine, [(0, 1)]) == [None]
    coupled = chain((0, 0, 1), (0, 0, 1), mimic=True)
    assert _engine.turn_tables(coupled._engine, [(0, 2)]) == [None]
    hinge = chain((0, 0, 1), link=Shape.box((0.6, 0.3, 0.04)))  # reaches the base at any angle
    assert _engine.turn_tables(hinge._engine, [(0, 1)]) == [None]


def test_answers_are_the_same_with_tables(problems):
    """Configurations, edges and collisions of a UR5 in clutter."""
    model = robosim.load_robot("ur5")
    pairs = np.asarray(model.collision_pairs)
    tables = _engine.turn_tables(model._engine, pairs)
    assert sum(table is not None for table in tables) > 10
    assert any(table is not None and table.free.all() for table in tables)
    plain, known = alone(model, pairs), alone(model, pairs, tables)
    rng = np.random.default_rng(2)
    q = rng.uniform(-np.pi, np.pi, (3000, 6))
    hits = plain.collides_many(q)
    assert 0.05 < hits.mean() < 0.95
    np.testing.assert_array_equal(known.collides_many(q), hits)
    np.testing.assert_array_equal([known.collides(x) for x in q], hits)
    np.testing.assert_array_equal(known.distances_many(q[:100]), plain.distances_many(q[:100]))
    for x in q[:200]:
        assert sorted(known.collisions(x, 0.02)) == sorted(plain.collisions(x, 0.02))
    verdicts = []
    for a, b in zip(q[~hits][:300:2], q[~hits][1:300:2], strict=True):
        b = a + rng.uniform(0.05, 1) * (b - a)
        edge = plain.edge_free(a, b, 0.005)
        again = known.edge_free(a, b, 0.005)
        verdicts.append(edge.free)
        if edge.free:  # proven edges stay free; edges refused within the floor may be proven
            assert again.free
        elif again.free:
            assert all(plain.min_distance(a + t * (b - a))[0] > 0 for t in np.linspace(0, 1, 2000))
    assert 0.1 < np.mean(verdicts) < 0.9


def test_the_number_of_tables_is_checked():
    model = chain((0, 0, 1))
    with pytest.raises(ValueError, match="tables has 2 entries; there are 1 pairs"):
        alone(model, [(0, 1)], [None, None])
    with pytest.raises(ValueError, match="least is -1"):
        _engine.turn_tables(model._engine, [(0, 1)], least=-1)


def test_threads_find_the_same_tables():
    """The tables are equal bit for bit, whatever thread computes a pair."""
    model = robosim.load_robot("ur5")
    before = _engine.thread_limit()
    found = []
    try:
        for threads in (1, 4):
            _engine.set_thread_limit(threads)
            found.append(_engine.turn_tables(model._engine, model.collision_pairs))
    finally:
        _engine.set_thread_limit(before)
    assert sum(table is not None for table in found[0]) > 10
    for one, other in zip(*found, strict=True):
        assert (one is None) == (other is None)
        if one is not None:
            assert one.q_index == other.q_index
            np.testing.assert_array_equal(one.free, other.free)
