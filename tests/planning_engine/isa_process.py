"""Verdicts for many configurations and edges of three scenes.

Run in a process of its own with ROBOSIM_ISA set.
"""

from __future__ import annotations

import conftest
import numpy as np

model = conftest.arm()
rng = np.random.default_rng(2)
answers: list[bool] = []
for seed, n in enumerate((12, 70, 30)):
    scene = conftest.cluttered(model, seed, n, size=1.2, attach=True)
    q = np.array([conftest.random_q(model, rng) for _ in range(200)])
    many = scene.collides_many(q)
    assert np.array_equal(many, [scene.collides(x) for x in q])
    answers += list(many)
    for a, far in zip(q[:100], q[100:], strict=True):
        b = a + 0.3 * (far - a)
        free = scene.edge_free(a, b).free
        assert not (
            free and scene.collides_many(a + np.linspace(0, 1, 100)[:, None] * (b - a)).any()
        )
        answers.append(free)
print("".join(str(int(x)) for x in answers))
