"""Edge check against dense sampling: free edges never touch, refused edges come near."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from robosim import _engine
from robosim.geometry import Shape, pose

RESOLUTION = 0.005


def along(q0, q1, n):
    return q0 + np.linspace(0, 1, n)[:, None] * (q1 - q0)


def least_distance(scene, path):
    return min(scene.min_distance(q)[0] for q in path)


@pytest.mark.parametrize("name", ["arm", "mobile", "planar_arm"])
@pytest.mark.parametrize("n_obstacles", [8, 70])
def test_free_edges_are_free_and_touching_edges_come_near(problems, name, n_obstacles):
    model = problems.models[name]()
    rng = np.random.default_rng(5)
    verdicts = []
    for seed in range(4):
        scene = problems.cluttered(model, seed, n_obstacles, size=1.3, attach=seed % 2 == 1)
        for _ in range(12):
            q0 = problems.random_q(model, rng)
            q1 = q0 + rng.uniform(-1, 1, model.n_q) * rng.choice((0.05, 0.3, 1.0, 3.0))
            if rng.uniform() < 0.3:
                q1[rng.integers(model.n_q)] = q0[0]  # an entry moves far, or does not move
            result = scene.edge_free(q0, q1, RESOLUTION)
            verdicts.append(result.free)
            # About 1 mm of motion between samples, so that a deeper penetration is found.
            if result.free:
                assert not any(scene.collides(q) for q in along(q0, q1, 1000))
            else:
                q = q0 + result.t * (q1 - q0)
                distance, *_ = scene.min_distance(q)
                # Within the floor at the reported time; half the resolution bounds the floor.
                assert distance <= RESOLUTION / 2
                assert result.pair is not None
                names = [tuple(sorted((scene.names[a], scene.names[b]))) for a, b in scene.pairs]
                assert scene.distances(q)[names.index(tuple(sorted(result.pair)))] <= RESOLUTION / 2
    if name == "arm":
        assert 0 < sum(verdicts) < len(verdicts)


def test_passing_a_large_ball_closely_is_free(problems):
    """A tool slides 1 mm above a ball of 0.5 m.

    Bounds must be accurate to the gap, not to the size of the ball.
    """
    from robosim.model import ModelBuilder

    builder = ModelBuilder("slide")
    for link in ("rail", "tool"):
        builder.add_link(link)
    builder.add_joint("s", "prismatic", "rail", "tool", axis=(1, 0, 0), lower=-1, upper=1)
    builder.add_collider("tool", Shape.box((0.1, 0.1, 0.1)))
    model = builder.build(allow_massless=True)
    breaks, line = [0.0, 1.0], np.array([[[-0.8], [1.6]]])
    for gap in (1e-3, -1e-4):
        scene = problems.scene_of(model, [Shape.sphere(0.5)], [pose((0, 0, -0.55 - gap))])
        assert scene.edge_free([-0.8], [0.8], 0.001).free == (gap > 0)
        assert scene.trajectory_free(breaks, line, [0], np.zeros(1), 0.001).free == (gap > 0)


def test_what_is_beside_a_hull_but_on_its_axis_is_free():
    """A long wedge, whose box has its axis outside of the wedge.

    Balls around this axis do not show whether the wedge is touched.
    """
    from robosim.model import ModelBuilder

    builder = ModelBuilder("wedge")
    for link in ("rail", "tool"):
        builder.add_link(link)
    builder.add_joint("s", "prismatic", "rail", "tool", axis=(0, 1, 0), lower=-1, upper=1)
    builder.add_collider("tool", Shape.convex([(0, 0, 0), (1, 0, 0), (0, 0.1, 0), (0, 0, 0.1)]))
    model = builder.build(allow_massless=True)
    for x, free in ((0.5, True), (0.1, False)):
        at = pose((x, 0.05, 0.05))[None]
        scene = _engine.CollisionScene(
            model._engine, ["ball"], [Shape.sphere(0.01)], at, [0], [(0, 1)]
        )
        assert scene.collides([0.0]) != free
        assert scene.edge_free([-0.005], [0.005], 0.001).free == free


def test_a_thin_wall_between_two_free_ends_is_found_at_any_length(problems):
    """Joint-space steps miss a plate of 0.1 mm that a link crosses at speed."""
    model = problems.planar_arm()
    rng = np.random.default_rng(0)
    for _ in range(50):
        angle = rng.uniform(-1, 1)
        at = 0.9 * np.array([np.cos(angle), np.sin(angle), 0])
        plate = Shape.box((0.2, 1e-4, 0.2))
        scene = problems.scene_of(model, [plate], [pose(at, rpy=(0, 0, angle))])
        q0, q1 = (
            np.array([angle - rng.uniform(0.1, 1.5), 0]),
            np.array([angle + rng.uniform(0.1, 1.5), 0]),
        )
        assert not scene.collides(q0)
        assert not scene.collides(q1)
        assert not scene.edge_free(q0, q1, 0.05).free


@pytest.mark.parametrize("clearance", [1e-3, 1e-4, 6e-5])
def test_a_motion_may_leave_a_state_that_all_but_touches(problems, clearance):
    """The growth decreases towards the ends.

    A motion may start 0.06 mm off a wall with a resolution of 5 mm.
    """
    model = problems.planar_arm()
    # The straight arm along x, of half-width 0.02, above a block; rotating up moves it away.
    block = Shape.box((2, 1, 1))
    scene = problems.scene_of(model, [block], [pose((1.2, -0.52 - clearance, 0))])
    start, up, down = np.zeros(2), np.array([0.8, 0.3]), np.array([-0.1, 0])
    assert scene.edge_free(start, up, 0.005).free
    assert scene.edge_free(up, start, 0.005).free
    assert not scene.edge_free(start, down, 0.005).free


def test_resolution_is_the_room_that_a_passage_needs(problems):
    """A gap is passable if it is wider than the link by more than the growth.

    It is never passable if it is narrower than the link.
    """
    model = problems.planar_arm()

    def through(gap):
        # The straight arm swings its tip between two blocks. The sweep of the outer link fits a
        # slot along an arc.
        top = [pose((0.98 + gap / 2 + 0.5, 0, 0))]
        scene = problems.scene_of(model, [Shape.box((1.0, 0.2, 0.2))], top)
        return scene.edge_free(np.array([-0.5, 0]), np.array([0.5, 0]), 0.005).free

    corner = np.hypot(0.99, 0.02)  # the arm's far corner passes at this radius
    assert not through(2 * (corner - 0.98 - 0.001))
    assert through(2 * (corner - 0.98 + 0.003))


def test_the_answer_does_not_depend_on_what_was_asked_before_nor_on_the_thread(problems):
    model = problems.arm()
    rng = np.random.default_rng(8)
    edges = [(problems.random_q(model, rng), problems.random_q(model, rng)) for _ in range(40)]
    edges = [(a, a + 0.3 * (b - a)) for a, b in edges]

    def ask(order):
        scene = problems.cluttered(model, 3)
        return {i: scene.edge_free(*edges[i]).free for i in order}

    one = ask(range(40))
    assert ask(reversed(range(40))) == one
    shared = problems.cluttered(model, 3)
    with ThreadPoolExecutor(4) as pool:
        many = list(pool.map(lambda e: shared.edge_free(*e).free, edges * 3))
    assert many == [one[i] for i in range(40)] * 3


def random_trajectory(model, rng, q, pieces, order):
    """Continuous pieces from q on, each deviating by about `size`."""
    breaks = np.concatenate([[0], np.cumsum(rng.uniform(0.05, 0.4, pieces))]) + rng.uniform(-1, 1)
    c = np.zeros((pieces, order, model.n_q))
    for i in range(pieces):
        T = breaks[i + 1] - breaks[i]
        c[i, 0] = q
        c[i, 1:] = (
            rng.uniform(-0.5, 0.5, (order - 1, model.n_q)) / T ** np.arange(1, order)[:, None]
        )
        q = (c[i] * T ** np.arange(order)[:, None]).sum(axis=0)
    return breaks, c


def position(breaks, c, t):
    i = np.clip(np.searchsorted(breaks, t, side="right") - 1, 0, len(c) - 1)
    return (c[i] * (t - breaks[i]) ** np.arange(c.shape[1])[:, None]).sum(axis=0)


@pytest.mark.parametrize("name", ["arm", "mobile"])
@pytest.mark.parametrize(("pieces", "order"), [(1, 3), (1, 6), (5, 4), (30, 2)])
def test_trajectories_called_free_are_free(problems, name, pieces, order):
    model = problems.models[name]()
    rng = np.random.default_rng(pieces * 10 + order)
    columns = list(range(model.n_q))
    verdicts = []
    for seed in range(3):
        scene = problems.cluttered(model, seed, 30, size=0.9)
        for _ in range(10):
            q = problems.random_q(model, rng)
            if scene.collides(q):
                continue
            breaks, c = random_trajectory(model, rng, q, pieces, order)
            if rng.uniform() < 0.5:
                c[:, 1:] *= 0.1
                for i in range(1, pieces):
                    c[i, 0] = position(breaks[: i + 1], c[:i], breaks[i])
            result = scene.trajectory_free(breaks, c, columns, q, RESOLUTION)
            verdicts.append(result.free)
            if result.free:
                assert not any(
                    scene.collides(position(breaks, c, t))
                    for t in np.linspace(breaks[0], breaks[-1], 1000)
                )
            else:
                assert breaks[0] <= result.t <= breaks[-1]
                assert scene.min_distance(position(breaks, c, result.t))[0] <= RESOLUTION / 2
    if name == "arm" and pieces == 1:
        assert 0 < sum(verdicts) < len(verdicts)


def test_a_line_as_a_trajectory_gets_the_same_answer(problems):
    model = problems.arm()
    scene = problems.cluttered(model, 1)
    rng = np.random.default_rng(4)
    for _ in range(60):
        q0 = problems.random_q(model, rng)
        q1 = q0 + rng.uniform(-0.4, 0.4, model.n_q)
        columns = [4, 0, 2, 1, 5, 3]
        c = np.stack([q0, (q1 - q0) / 2.0])[None][:, :, columns]
        line = scene.edge_free(q0, q1)
        timed = scene.trajectory_free([0.0, 2.0], c, columns, q0)
        assert timed.free == line.free
        assert timed.t == pytest.approx(2 * line.t)
        # Columns at rest keep the other values of q.
        rest = q0.copy()
        rest[2:] = q1[2:]
        partial = scene.trajectory_free(
            [0, 1], np.stack([q0, q1 - q0])[None][:, :, :2], [0, 1], rest
        )
        end = rest.copy()
        end[:2] = q1[:2]
        begin = np.concatenate([q0[:2], rest[2:]])
        edge = scene.edge_free(begin, end)
        # Between 0 and half the resolution both results are correct: an edge needs a larger gap
        # than a trajectory.
        if partial.free != edge.free:
            assert partial.free
            assert 0 < least_distance(scene, along(begin, end, 1000)) < RESOLUTION / 2


def test_a_floating_body_turns_the_shorter_way(problems):
    from robosim.model import ModelBuilder

    builder = ModelBuilder("plate", floating_base=True)
    builder.add_link("plate")
    builder.add_collider("plate", Shape.box((1.0, 0.02, 0.02)))
    model = builder.build(allow_massless=True)
    ball = Shape.sphere(0.05)
    scene = _engine.CollisionScene(
        model._engine, ["ball"], [ball], pose((0, 0.45, 0))[None], [0], [(0, 1)]
    )
    quarter = np.array([0, 0, 0, 0, 0, np.sin(np.pi / 6), np.cos(np.pi / 6)])
    still = np.array([0, 0, 0, 0, 0, 0, 1.0])
    assert scene.edge_free(still, quarter).free  # 60 degrees: the ball is at 90
    assert scene.edge_free(
        still, -quarter + 2 * quarter * [1, 1, 1, 0, 0, 0, 0]
    ).free  # -quaternion: the same rotation
    beyond = np.array([0, 0, 0, 0, 0, np.sin(np.pi / 3), np.cos(np.pi / 3)])
    result = scene.edge_free(still, beyond)
    assert not result.free
    assert result.pair == ("plate/0", "ball")


def test_wrong_trajectories_are_refused(problems):
    scene = problems.scene_of(problems.planar_arm(), [Shape.sphere(0.1)], [pose((2, 0, 0))])
    good = {
        "times": [0, 1],
        "coefficients": np.zeros((1, 2, 2)),
        "columns": [0, 1],
        "q_rest": np.zeros(2),
    }
    assert scene.trajectory_free(**good)
    for change, said in (
        ({"times": [0.0]}, "two breaks"),
        ({"times": [1, 1]}, "increase"),
        ({"coefficients": np.zeros((2, 2, 2))}, "coefficients has shape"),
        ({"coefficients": np.zeros((1, 9, 2))}, "powers"),
        ({"coefficients": np.full((1, 2, 2), np.inf)}, "finite"),
        ({"columns": [0, 0]}, "twice"),
        ({"columns": [0, 2]}, "column 2"),
        ({"q_rest": np.zeros(1)}, "q_rest"),
        ({"resolution": -1}, "resolution"),
    ):
        with pytest.raises(ValueError, match=said):
            scene.trajectory_free(**(good | change))
