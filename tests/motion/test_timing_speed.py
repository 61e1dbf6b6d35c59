"""Speed limits of links on random robots with all joints.

Speeds are compared with velocities of the public kinematics at many times.
"""

import numpy as np
import pytest

from robosim import _engine

from ..scale import repeats  # noqa: TID252

KINDS = [
    ("revolute",) * 6,
    ("revolute", "prismatic", "continuous", "revolute", "mimic"),
    ("planar", "revolute", "revolute", "prismatic"),
    ("prismatic", "prismatic", "revolute", "mimic", "revolute"),
]


def link_speeds(model, motion, columns, q_rest, link, count):
    """(m,) speeds of the link's origin at `count` times in each piece.

    The v of planar joints is not the rate of q.
    """
    h = np.diff(motion.breaks)
    t = np.linspace(0, 1, count)[None, :] * h[:, None]
    c = motion.coefficients[:, None]
    powers = t[:, :, None] ** np.arange(6)
    position = (powers[..., None] * c).sum(axis=2).reshape(-1, len(columns))
    rates = np.zeros_like(powers)
    rates[:, :, 1:] = powers[:, :, :-1] * np.arange(1, 6)
    rate = (rates[..., None] * c).sum(axis=2).reshape(-1, len(columns))
    q = np.tile(q_rest, (len(position), 1))
    q[:, columns] = position
    # Velocities from a step of the configuration, so that nothing about v is assumed.
    step = 1e-6
    ahead = q.copy()
    ahead[:, columns] += step * rate
    v = model.difference(q, ahead) / step
    return np.linalg.norm(model.frame_velocity(q, v, link)[:, :3], axis=1)


@pytest.mark.parametrize("kinds", KINDS)
@pytest.mark.parametrize("jerk", [None, 300.0])
def test_random_robots_keep_the_cap_and_use_it(kinds, jerk, make_arm, blend):
    used = []
    for seed in range(repeats(6, 100)):
        rng = np.random.default_rng(seed)
        model = make_arm(seed, kinds)
        columns = list(range(model.n_q))
        if seed % 3 == 2:
            columns = columns[1:] if kinds[0] != "planar" else columns[3:]
        q_rest = model.random_configuration(rng)
        lower, upper = (
            np.maximum(model.limits.lower, -1.5)[columns],
            np.minimum(model.limits.upper, 1.5)[columns],
        )
        path = blend(rng.uniform(lower, upper, (int(rng.integers(2, 6)), len(columns))))
        caps = {"tip": rng.uniform(0.05, 1.0), "link_2": rng.uniform(0.05, 1.0)}
        n = len(columns)
        motion = _engine.time_path(
            *path,
            np.full(n, 3.0),
            np.full(n, 20.0),
            jerk=None if jerk is None else np.full(n, jerk),
            model=model._engine,
            columns=columns,
            q_rest=q_rest,
            effort=np.full(model.n_v, np.inf),
            tool_speed=caps,
        )
        assert motion.status == "solved"
        shares = []
        for link, cap in caps.items():
            speed = link_speeds(model, motion, columns, q_rest, link, 9)
            # A step of 1e-6 has an error from curvature.
            assert speed.max() <= cap * (1 + 1e-5), (seed, link)
            shares.append(speed.max() / cap)
        used.append(max(shares))
    assert np.median(used) > 0.97 - (jerk is not None) * 0.2
