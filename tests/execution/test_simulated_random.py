"""No sequence of commands makes a simulated arm leave its limits or jump."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from robosim.execution.goals import Rejection
from robosim.execution.messages import Goal, Setpoint
from robosim.execution.profiles import PROFILES

from .simulated_ur5 import READY, UR5, N, arm_at, texts, trajectory

number = st.one_of(
    st.floats(-7, 7),
    st.floats(allow_nan=True, allow_infinity=True),
    st.sampled_from([0.0, 1e308, -1e308]),
)
vector = st.lists(number, min_size=N, max_size=N)
time_step = st.one_of(
    st.floats(1e-3, 1.0), st.floats(-1, 5), st.floats(1e-300, 1e-6), st.just(float("nan"))
)


@st.composite
def message(draw):
    """A random trajectory that is often acceptable."""
    points, time = [], 0.0
    for _ in range(draw(st.integers(0, 4))):
        time += draw(time_step)
        fields = [draw(vector)] + [draw(vector) for _ in range(draw(st.integers(0, 2)))]
        points.append((time, *fields))
    if points and len(points[-1]) > 2 and draw(st.booleans()):
        points[-1] = (points[-1][0], points[-1][1], [0.0] * N, *points[-1][3:])
    return trajectory(*points, stamp=draw(st.sampled_from([0.0, 0.0, 0.05, -1.0])))


@st.composite
def gentle(draw):
    """Positions within the limits, with velocities that make the interpolation overshoot."""
    inside = st.lists(st.floats(-3.1, 3.1), min_size=N, max_size=N)
    speed = st.lists(st.floats(-3.1, 3.1), min_size=N, max_size=N)
    times = np.cumsum(draw(st.lists(st.floats(1e-4, 0.3), min_size=1, max_size=4)))
    points = [(float(t), draw(inside), draw(speed)) for t in times]
    return trajectory(*points[:-1], (float(times[-1]), draw(inside), [0.0] * N))


operation = st.one_of(
    st.tuples(st.just("stream"), vector),
    st.tuples(
        st.just("stream"),
        st.lists(st.floats(-0.02, 0.02), min_size=N, max_size=N).map(lambda d: READY + d),
    ),
    st.tuples(st.just("send"), message()),
    st.tuples(st.just("send"), gentle()),
    st.tuples(st.just("publish"), gentle()),
    st.tuples(st.just("scaling"), st.sampled_from([1.0, 0.3, 0.0, 1.0])),
    st.tuples(st.just("stop"), st.none()),
    st.tuples(st.just("protective stop"), st.booleans()),
    st.tuples(st.just("active"), st.booleans()),
    st.tuples(st.just("program"), st.booleans()),
)


def apply(arm, what, value):
    """Apply one operation, and return its refusal if there is one."""
    if what == "stream":
        arm.stream(Setpoint(np.array(value), np.array(value)))
    elif what == "send":
        return arm.send(Goal(value))
    elif what == "publish":
        return arm.publish(value)
    elif what == "scaling":
        arm.speed_scaling = value
    elif what == "stop":
        arm.stop()
    elif what == "active":
        arm.controller_active = value
    elif what == "program":
        arm.program_running = value
    elif value:
        arm.protective_stop()
    else:
        arm.unlock_protective_stop()
        arm.program_running = True
    return None


@pytest.mark.parametrize("tracking", ["ideal", "dynamics"])
@settings(deadline=None, max_examples=60)
@given(
    operations=st.lists(st.tuples(operation, st.integers(1, 12)), min_size=1, max_size=12),
    rate=st.sampled_from([125.0, 500.0]),
    profile=st.sampled_from(list(PROFILES.values())),
)
def test_nothing_makes_it_leave_its_limits_or_jump(tracking, operations, rate, profile):
    limits = UR5.limits
    arm = arm_at(
        rate=rate, tracking=tracking, profile=profile, allow_nonzero_velocity_at_trajectory_end=True
    )
    reach = limits.velocity / rate * (1 + 1e-9)  # rounding of the sum of a period's steps
    for (what, value), periods in operations:
        answer = apply(arm, what, value)
        if isinstance(answer, Rejection):
            assert answer.text
            assert answer.text in texts(arm)
        for _ in range(periods):
            before = arm.state()
            paused = arm.speed_scaling == 0
            after = arm.step()
            assert np.isfinite(after.position).all()
            assert np.isfinite(after.velocity).all()
            assert (after.position >= limits.lower).all()
            assert (after.position <= limits.upper).all()
            assert (np.abs(after.position - before.position) <= reach).all()
            assert (np.abs(after.velocity) <= limits.velocity).all()
            assert after.stamp == pytest.approx(before.stamp + 1 / rate)
            if after.effort is not None:
                assert (np.abs(after.effort) <= limits.effort).all()
            if paused and tracking == "ideal":
                assert np.array_equal(after.position, before.position)
