"""Time parameterization: closed forms, limits, optimality, degenerate paths, end velocities."""

from itertools import pairwise

import numpy as np
import pytest

from robosim import _engine
from robosim.trajectory import Trajectory, TrajectoryLimits

INF = np.inf


def to_trajectory(result, velocity=None, acceleration=None, jerk=None):
    assert result.status == "solved", result.reason
    n = result.coefficients.shape[2]
    limits = TrajectoryLimits(velocity=velocity, acceleration=acceleration, jerk=jerk)
    return Trajectory(
        result.breaks, result.coefficients, [f"joint_{j}" for j in range(n)], limits=limits
    )


def straight(start, end):
    start, end = np.asarray(start, float), np.asarray(end, float)
    length = np.linalg.norm(end - start)
    return [0, length], np.array([[start, (end - start) / length, 0 * start]])


def on_path(breaks, c, s):
    i = np.clip(np.searchsorted(breaks, s, side="right") - 1, 0, len(c) - 1)
    r = (s - breaks[i])[:, None]
    return c[i, 0] + r * (c[i, 1] + r * c[i, 2])


def distance_to_path(breaks, c, q):
    """Distance of each row of q from the path, which is approximated by 200 chords per piece."""
    s = np.unique(np.concatenate([np.linspace(a, b, 201) for a, b in pairwise(breaks)]))
    points = on_path(breaks, c, s)
    start, chord = points[:-1], np.diff(points, axis=0)
    start, chord = start[np.any(chord != 0, axis=1)], chord[np.any(chord != 0, axis=1)]
    from_start = q[:, None] - start
    u = np.clip(np.einsum("qij,ij->qi", from_start, chord) / (chord**2).sum(axis=1), 0, 1)
    return np.linalg.norm(from_start - u[..., None] * chord, axis=2).min(axis=1)


@pytest.mark.parametrize("seed", range(20))
def test_a_straight_segment_takes_exactly_the_time_of_the_trapezoid(seed):
    rng = np.random.default_rng(seed)
    n = rng.integers(1, 8)
    start, end = rng.uniform(-2, 2, (2, n))
    velocity, acceleration = 10 ** rng.uniform(-1, 1, (2, n))
    result = _engine.time_path(*straight(start, end), velocity, acceleration)
    # Along the segment, the joint that is proportionally slowest determines each limit.
    way = np.abs(end - start)
    v, a = (velocity / way).min(), (acceleration / way).min()
    expected = 1 / v + v / a if v * v / a < 1 else 2 / np.sqrt(a)
    assert result.duration == pytest.approx(expected, rel=1e-13)
    assert len(result.breaks) == (4 if v * v / a < 1 else 3)
    T = to_trajectory(result, velocity, acceleration)
    assert T.validate(tolerance=1e-12) == []
    np.testing.assert_allclose(T.position([0, T.duration]), [start, end], atol=1e-12)
    np.testing.assert_allclose(T.velocity([0, T.duration]), 0, atol=1e-12)


@pytest.mark.parametrize("seed", range(10))
def test_a_straight_segment_between_given_velocities(seed):
    rng = np.random.default_rng(seed)
    direction = rng.normal(size=4)
    speed, end_speed, acceleration = rng.uniform(0, 1), rng.uniform(0, 1), np.full(4, 5.0)
    breaks, c = straight(np.zeros(4), 3 * direction)
    tangent = c[0, 1]
    velocity = np.full(4, 1.2) * np.abs(tangent).max()
    result = _engine.time_path(
        breaks,
        c,
        velocity,
        acceleration,
        start_velocity=speed * tangent,
        end_velocity=end_speed * tangent,
    )
    T = to_trajectory(result, velocity, acceleration)
    assert T.validate(tolerance=1e-9) == []
    np.testing.assert_allclose(T.velocity(0), speed * tangent, atol=1e-12)
    np.testing.assert_allclose(T.velocity(T.duration), end_speed * tangent, atol=1e-12)
    # Acceleration to the top speed, constant speed, deceleration: closed form.
    a, top, length = 5.0 / np.abs(tangent).max(), 1.2, breaks[-1]
    coast = length - (top**2 - speed**2 + top**2 - end_speed**2) / (2 * a)
    assert coast > 0
    assert T.duration == pytest.approx((2 * top - speed - end_speed) / a + coast / top, rel=1e-12)


def random_path(rng, blend, n, corners):
    scale = 10 ** rng.uniform(-0.5, 0.3)
    return blend(rng.uniform(-scale, scale, (corners + 2, n)), rng.uniform(0.05, 0.5))


@pytest.mark.parametrize("seed", range(40))
def test_every_limit_is_kept_at_every_time_and_the_path_is_followed(seed, blend):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 8))
    breaks, c = random_path(rng, blend, n, int(rng.integers(0, 12)))
    velocity, acceleration = 10 ** rng.uniform(-0.7, 1, (2, n))
    if seed % 4 == 1:
        velocity[rng.integers(n)] = INF
    if seed % 4 == 2:
        acceleration[rng.integers(n)] = INF
    result = _engine.time_path(breaks, c, velocity, acceleration)
    T = to_trajectory(result, velocity, acceleration)
    assert T.validate(tolerance=1e-9) == []  # exact extrema
    t = np.linspace(0, T.duration, int(min(T.duration * 10_000, 200_000)))
    assert (np.abs(T.velocity(t)) <= velocity * (1 + 1e-6)).all()
    assert (np.abs(T.acceleration(t)) <= acceleration * (1 + 1e-6)).all()
    np.testing.assert_allclose(
        T.position([0, T.duration]), on_path(breaks, c, breaks[[0, -1]]), atol=1e-12
    )
    np.testing.assert_allclose(T.velocity([0, T.duration]), 0, atol=1e-9)
    # A parabola deviates this much from 200 chords per piece.
    sagitta = np.max(np.linalg.norm(c[:, 2], axis=1) * (np.diff(breaks) / 200) ** 2)
    assert distance_to_path(breaks, c, T.position(t[:: len(t) // 100 + 1])).max() <= sagitta + 1e-9


@pytest.mark.parametrize("seed", range(10))
def test_at_nearly_every_time_some_limit_is_reached(seed, blend):
    rng = np.random.default_rng(seed)
    breaks, c = blend(rng.uniform(-2, 2, (8, 6)))
    velocity, acceleration = rng.uniform(1, 4, 6), rng.uniform(3, 30, 6)
    T = to_trajectory(_engine.time_path(breaks, c, velocity, acceleration))
    t = np.linspace(0, T.duration, 5000)
    share = np.maximum(
        np.abs(T.velocity(t)) / velocity, np.abs(T.acceleration(t)) / acceleration
    ).max(axis=1)
    # Bang-bang: exact on straight segments. In the blends the grid costs up to a few per cent.
    assert np.mean(share > 0.99) > 0.9
    assert np.mean(share > 0.95) > 0.98
    # A thirty times finer grid gains little.
    fine = split(breaks, c, 30)
    assert T.duration <= 1.005 * _engine.time_path(*fine, velocity, acceleration).duration


def split(breaks, c, parts):
    """Split the path into more pieces."""
    new_breaks, pieces = [breaks[0]], []
    for i in range(len(c)):
        h = (breaks[i + 1] - breaks[i]) / parts
        for k in range(parts):
            r = h * k
            pieces.append(
                [c[i, 0] + r * (c[i, 1] + r * c[i, 2]), c[i, 1] + 2 * r * c[i, 2], c[i, 2]]
            )
            new_breaks.append(breaks[i] + h * (k + 1))
    return np.array(new_breaks), np.array(pieces)


def test_it_is_as_fast_as_toppra(blend):
    ta = pytest.importorskip(
        "toppra", reason="the peer for time-optimal path parameterization is not installed"
    )
    from toppra import algorithm, constraint

    class Path(ta.interpolator.AbstractGeometricPath):
        def __init__(self, breaks, c):
            self.breaks, self.c = breaks, c

        dof = property(lambda self: self.c.shape[2])
        path_interval = property(lambda self: np.array([0, self.breaks[-1]]))
        waypoints = property(lambda self: None)

        def __call__(self, s, order=0):
            s = np.asarray(s)
            i = np.clip(np.searchsorted(self.breaks, s, side="right") - 1, 0, len(self.c) - 1)
            c, r = self.c[i], (s - self.breaks[i])[..., None]
            if order == 0:
                return c[..., 0, :] + r * (c[..., 1, :] + r * c[..., 2, :])
            return c[..., 1, :] + 2 * r * c[..., 2, :] if order == 1 else 2 * c[..., 2, :] + 0 * r

    ratios = []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        breaks, c = blend(rng.uniform(-2, 2, (6, 6)))
        velocity, acceleration = rng.uniform(1, 4, 6), rng.uniform(3, 30, 6)
        limits = [
            constraint.JointVelocityConstraint(np.column_stack([-velocity, velocity])),
            constraint.JointAccelerationConstraint(
                np.column_stack([-acceleration, acceleration]),
                discretization_scheme=constraint.DiscretizationType.Interpolation,
            ),
        ]
        grid = np.unique(np.concatenate([np.linspace(a, b, 40) for a, b in pairwise(breaks)]))
        peer = algorithm.TOPPRA(
            limits, Path(breaks, c), gridpoints=grid, parametrizer="ParametrizeConstAccel"
        )
        ours = _engine.time_path(breaks, c, velocity, acceleration)
        ratios.append(ours.duration / peer.compute_trajectory().duration)
    assert max(ratios) < 1.003
    assert min(ratios) > 0.97  # much faster than the optimum would mean a violated limit


def test_it_stops_at_corners():
    points = np.array([[0.0, 0], [1, 0], [1, 1]])
    c = np.array([[points[0], [1, 0], [0, 0]], [points[1], [0, 1], [0, 0]]])
    T = to_trajectory(_engine.time_path([0, 1, 2], c, [1, 1], [2, 2]))
    assert T.duration == pytest.approx(2 * (1 + 0.5), rel=1e-12)
    np.testing.assert_allclose(T.velocity(1.5), 0, atol=1e-9)
    np.testing.assert_allclose(T.position(1.5), points[1], atol=1e-12)


def test_it_turns_back_on_itself(blend):
    breaks, c = blend([[0.0, 0], [1, 0.5], [0, 0]])
    velocity, acceleration = np.array([1.0, 1]), np.array([2.0, 3])
    T = to_trajectory(_engine.time_path(breaks, c, velocity, acceleration), velocity, acceleration)
    assert T.validate(tolerance=1e-9) == []
    # The blend turns around before the corner, by half of its cut: two trapezoids, forward and
    # back.
    way = 1 - 0.4 / 2
    assert T.duration == pytest.approx(2 * (way / 1 + 1 / 2), rel=0.02)


@pytest.mark.parametrize("tiny", [1e-14, 1e-12, 1e-9, 1e-6, 1e-4])
def test_tiny_segments_and_repeated_points(tiny, blend):
    rng = np.random.default_rng(0)
    points = rng.uniform(-1, 1, (4, 3))
    near = points[1] + tiny * rng.normal(size=3)
    velocity, acceleration = np.full(3, 2.0), np.full(3, 5.0)
    for waypoints in (
        [*points[:2], near, *points[2:]],
        [points[0], points[0] + tiny * rng.normal(size=3), *points[1:]],
    ):
        breaks, c = blend(waypoints)
        T = to_trajectory(
            _engine.time_path(breaks, c, velocity, acceleration), velocity, acceleration
        )
        assert T.validate(tolerance=1e-6) == []
        np.testing.assert_allclose(T.position(T.duration), points[-1], atol=1e-10)
        assert T.duration < 20
    # Pieces of constant position are skipped.
    breaks, c = straight(points[0], points[1])
    still = np.array([points[0], 0 * points[0], 0 * points[0]])
    moved = _engine.time_path([0, 1, 1 + breaks[1]], [still, c[0]], velocity, acceleration)
    assert moved.duration == pytest.approx(
        _engine.time_path(breaks, c, velocity, acceleration).duration, rel=1e-12
    )


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_the_units_of_s_do_not_matter(scale, blend):
    breaks, c = blend(np.random.default_rng(1).uniform(-2, 2, (6, 4)))
    velocity, acceleration = np.full(4, 2.0), np.full(4, 7.0)
    plain = _engine.time_path(breaks, c, velocity, acceleration)
    scaled = _engine.time_path(
        breaks * scale, c / np.array([1, scale, scale**2])[:, None], velocity, acceleration
    )
    assert scaled.duration == pytest.approx(plain.duration, rel=1e-9)


def test_no_motion_is_a_rest_of_a_millisecond():
    q = np.array([0.3, -0.2])
    T = to_trajectory(_engine.time_path([0, 1], [[q, 0 * q, 0 * q]], [1, 1], [1, 1]))
    assert T.duration == 1e-3
    np.testing.assert_array_equal(T.position([0, 1e-3]), [q, q])


def test_limits_of_zero_and_none():
    breaks, c = straight([0, 0, 0], [1, 0.5, 0])
    for velocity, acceleration, what in (
        ([1, 0, 1], [1, 1, 1], "velocity"),
        ([1, 1, 1], [1, 0, 1], "acceleration"),
    ):
        result = _engine.time_path(breaks, c, velocity, acceleration, names=["a", "b", "c"])
        assert result.status == "zero_limit"
        assert result.column == 1
        assert result.reason == f"b has to move, but its {what} limit is zero"
        assert len(result.breaks) == 0
    free = _engine.time_path(breaks, c, [1, 1, 0], [2, 2, 0])  # a joint that rests needs no limits
    assert free.duration == pytest.approx(1.5)
    assert _engine.time_path(breaks, c, [INF, INF, INF], [2, 2, 2]).duration == pytest.approx(
        2 * np.sqrt(0.5)
    )
    assert _engine.time_path(breaks, c, [1, 1, 1], [INF] * 3).duration == pytest.approx(1, abs=1e-4)
    assert _engine.time_path(breaks, c, [INF] * 3, [INF] * 3).duration > 0


def test_end_velocities_that_cannot_be_are_refused_with_the_reason():
    breaks, c = straight([0, 0], [1, 1])
    limits = ([1, 1], [2, 2])
    too_fast = _engine.time_path(*straight([0, 0], [0.01, 0.01]), *limits, start_velocity=[1, 1])
    assert too_fast.status == "start_velocity"
    assert f"by a factor of {1 / np.sqrt(2 * 2 * 0.01):.4g}" in too_fast.reason
    off = _engine.time_path(breaks, c, *limits, start_velocity=[0.5, 0.4], names=["a", "b"])
    assert off.status == "start_velocity"
    assert "not along the path" in off.reason
    assert (
        _engine.time_path(breaks, c, *limits, start_velocity=[-0.5, -0.5]).status
        == "start_velocity"
    )
    assert (
        _engine.time_path(breaks, c, *limits, start_velocity=[1.1, 1.1]).status == "start_velocity"
    )
    assert _engine.time_path(breaks, c, *limits, end_velocity=[1.1, 1.1]).status == "end_velocity"
    assert (
        _engine.time_path([0, 1], 0 * c, *limits, start_velocity=[1, 0]).status == "start_velocity"
    )


def test_a_start_velocity_into_a_blended_path(blend):
    rng = np.random.default_rng(3)
    for _ in range(10):
        breaks, c = blend(rng.uniform(-2, 2, (5, 4)))
        velocity, acceleration = rng.uniform(1, 3, 4), rng.uniform(3, 10, 4)
        v0 = c[0, 1] * 0.5
        result = _engine.time_path(breaks, c, velocity, acceleration, start_velocity=v0)
        T = to_trajectory(result, velocity, acceleration)
        assert T.validate(tolerance=1e-9) == []
        np.testing.assert_allclose(T.velocity(0), v0, rtol=1e-9)
        assert T.duration < _engine.time_path(breaks, c, velocity, acceleration).duration


@pytest.mark.parametrize("jerk", [None, 20.0, 1e6])
def test_a_brake_comes_to_rest_within_limits_and_straight_on(jerk):
    rng = np.random.default_rng(0)
    for _ in range(20):
        n = int(rng.integers(1, 7))
        q, v = rng.normal(size=(2, n))
        a = rng.uniform(1, 10, n)
        j = None if jerk is None else np.full(n, jerk)
        breaks, c = _engine.brake(q, v, a, j, fraction=0.8)
        T = Trajectory(breaks, c, [f"joint_{i}" for i in range(n)])
        assert T.validate(TrajectoryLimits(acceleration=0.8 * a, jerk=j), tolerance=1e-9) == []
        np.testing.assert_array_equal(T.position(0), q)
        np.testing.assert_array_equal(T.velocity(0), v)
        np.testing.assert_allclose(T.velocity(T.duration), 0, atol=1e-12)
        way = T.position(np.linspace(0, T.duration, 30)) - q
        np.testing.assert_allclose(way - np.outer(way @ v / (v @ v), v), 0, atol=1e-12)
        quickest = np.max(np.abs(v) / (0.8 * a))
        if jerk is None:
            assert T.duration == pytest.approx(quickest, rel=1e-12)
        else:
            np.testing.assert_allclose(T.acceleration([0, T.duration]), 0, atol=1e-9)
            assert T.duration >= quickest
    rest, c = _engine.brake([1.0], [0.0], [1.0])
    assert rest[-1] == 1e-3
    np.testing.assert_array_equal(c[0, :, 0], [1, 0, 0, 0, 0, 0])


def test_a_brake_before_a_path_honours_a_start_velocity(blend):
    # As in the planner, for a velocity that is not along the path: brake, and round the corner
    # meanwhile.
    q0, v0 = np.array([0.0, 0.0]), np.array([0.8, -0.3])
    velocity, acceleration = np.array([1.0, 1.0]), np.array([4.0, 4.0])
    breaks, c = _engine.brake(q0, v0, acceleration, fraction=0.5)
    stop = Trajectory(breaks, c, ["a", "b"]).position(breaks[-1])
    path = blend([q0, stop, [0.2, 1.0]], 0.25)
    result = _engine.time_path(*path, velocity, acceleration, start_velocity=v0)
    T = to_trajectory(result, velocity, acceleration)
    assert T.validate(tolerance=1e-9) == []
    np.testing.assert_allclose(T.velocity(0), v0, atol=1e-12)


def test_bad_arguments_are_named():
    breaks, c = straight([0, 0], [1, 1])
    cases = [
        (([0, 1, 2], c, [1, 1], [1, 1]), {}, "breaks has shape"),
        (([1, 0], c, [1, 1], [1, 1]), {}, "breaks must increase"),
        (([0, np.nan], c, [1, 1], [1, 1]), {}, "breaks"),
        ((breaks, c[0], [1, 1], [1, 1]), {}, "coefficients must have shape"),
        ((breaks, c + np.inf, [1, 1], [1, 1]), {}, "coefficients"),
        ((breaks, c, [1], [1, 1]), {}, "velocity has shape"),
        ((breaks, c, [1, -1], [1, 1]), {}, "velocity holds -1"),
        ((breaks, c, [1, 1], [1, np.nan]), {}, "acceleration holds"),
        ((breaks, c, [1, 1], [1, 1]), {"jerk": [1]}, "jerk has shape"),
        ((breaks, c, [1, 1], [1, 1]), {"start_velocity": [0, INF]}, "start_velocity"),
        ((breaks, c, [1, 1], [1, 1]), {"names": ["a"]}, "names"),
        ((breaks, c, [1, 1], [1, 1]), {"effort": [1, 1]}, "effort limits need a model"),
    ]
    for arguments, options, match in cases:
        with pytest.raises(ValueError, match=match):
            _engine.time_path(*arguments, **options)
    with pytest.raises(ValueError, match="fraction"):
        _engine.brake([0.0], [1.0], [1.0], fraction=0)
    with pytest.raises(ValueError, match="entry 0 moves"):
        _engine.brake([0.0], [1.0], [0.0])
