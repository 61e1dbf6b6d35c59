"""Which pairs of links self-collision need not check, found by sampling where no SRDF says it.

Three kinds of pairs are left out:
  adjacent   a link and the nearest one above it that has colliders: found by the builder, without sampling
  always     overlapping in every one of n uniform samples of the configuration space: by design, not by
  motion never      farther apart than a margin in every sample, and still apart after a descent that tries to
  bring them together

Sampling alone could miss a rare collision, which would then never be looked for. Hence the margin of 2 cm,
and the descent: from the closest sample of each pair left, coordinates are perturbed with shrinking steps,
keeping what brings the pair closer; a pair that comes within the margin stays checked. Same model, same seed,
same result. The result is cached on disk by content.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from robosim import _engine
from robosim.geometry import TriangleMesh
from robosim.meshes.cache import cache_key, load_arrays, store_arrays
from robosim.model import DisabledCollision, Model

__all__ = ["SelfCollisionReport", "filter_self_collision"]

_MARGIN = 0.02  # [m]
_DISTANCE_SAMPLES = 200  # on which distances are computed, to start descents from
_DESCENT_STEPS = 150
_FIRST_BATCH = 100  # samples
_VERSION = 2


@dataclass(frozen=True)
class SelfCollisionReport:
    """What was left out, and on what grounds.

    Attributes:
        n_samples: configurations drawn.
        seed: that drew them.
        margin: distance that a pair must always keep to be left out as never touching [m].
        disabled: pairs of links with reason "Always" or "Never".
    """

    n_samples: int
    seed: int
    margin: float
    disabled: tuple[DisabledCollision, ...]


def filter_self_collision(
    model: Model, *, n_samples: int = 10_000, seed: int = 0
) -> tuple[Model, SelfCollisionReport]:
    """The model without the pairs of links that always or never touch.

    Args:
        model: whose `collision_pairs` are to be thinned out.
        n_samples: configurations to draw within the position limits.
        seed: for them.
    """
    pairs = np.asarray(model.collision_pairs, dtype=np.int64).reshape(-1, 2)
    colliders = model.colliders
    links = [tuple(sorted((colliders[a].link, colliders[b].link))) for a, b in pairs]
    names = sorted(set(links))
    if not names:
        return model, SelfCollisionReport(0, seed, _MARGIN, ())
    group = np.array([names.index(pair) for pair in links])
    key = cache_key("self-collision", _fingerprint(model), n_samples=n_samples, seed=seed, version=_VERSION)
    entry = load_arrays(key, ("verdict",))
    if entry is not None and entry["verdict"].shape == (len(names),):
        verdict = entry["verdict"].astype(np.int64)
    else:
        verdict = _verdicts(model, pairs, group, len(names), n_samples, seed)
        store_arrays(key, {"verdict": verdict})
    reasons = {_ALWAYS: "Always", _NEVER: "Never"}
    disabled = tuple(
        DisabledCollision(a, b, reasons[int(v)])
        for (a, b), v in zip(names, verdict, strict=True)
        if v in reasons
    )
    return model.with_disabled_collisions(disabled), SelfCollisionReport(n_samples, seed, _MARGIN, disabled)


_CHECK, _ALWAYS, _NEVER = 0, 1, 2


def _verdicts(
    model: Model, pairs: NDArray[np.int64], group: NDArray[np.int64], n_groups: int, n_samples: int, seed: int
) -> NDArray[np.int64]:
    """Per pair of links: check it, or leave it out as always or never touching."""
    rng = np.random.default_rng(seed)
    index = {name: i for i, name in enumerate(c.name for c in model.colliders)}
    group_of = {(int(a), int(b)): int(g) for (a, b), g in zip(pairs, group, strict=True)}
    touched, near = np.zeros(n_groups, dtype=np.int64), np.zeros(n_groups, dtype=bool)

    # A pair that came near, but did not touch each time, is decided: leave it out of the samples that remain.
    drawn = 0
    while drawn < n_samples:
        undecided = ~near | (touched == drawn)
        batch = min(n_samples - drawn, max(_FIRST_BATCH, drawn))
        scene = _scene(model, pairs[undecided[group]])
        for _ in range(batch):
            seen = set()
            for a, b, distance in scene.collisions(model.random_configuration(rng), _MARGIN):
                i, j = index[a], index[b]
                g = group_of[(i, j) if (i, j) in group_of else (j, i)]
                near[g] = True
                if distance < 0:
                    seen.add(g)
            touched[list(seen)] += 1
        drawn += batch
    verdict = np.full(n_groups, _CHECK)
    verdict[touched == n_samples] = _ALWAYS

    far = np.flatnonzero(~near)
    if len(far) == 0:
        return verdict
    # Where each pair that stayed apart came closest, on fewer samples: there the descents begin.
    rows = np.flatnonzero(~near[group])
    scene = _scene(model, pairs[rows])
    closest, where = np.full(n_groups, np.inf), [model.neutral()] * n_groups
    for _ in range(_DISTANCE_SAMPLES):
        q = model.random_configuration(rng)
        distance = np.full(n_groups, np.inf)
        np.minimum.at(distance, group[rows], scene.distances(q))
        for k in map(int, np.flatnonzero(distance < closest)):
            closest[k], where[k] = distance[k], q
    for k in map(int, far):
        own = _scene(model, pairs[group == k])
        if _descend(model, own, float(closest[k]), where[k], rng) > _MARGIN:
            verdict[k] = _NEVER
    return verdict


def _descend(
    model: Model,
    scene: _engine.CollisionScene,
    distance: float,
    q: NDArray[np.float64],
    rng: np.random.Generator,
) -> float:
    """Least distance reached from q by random perturbations with shrinking steps."""
    step = 1.0
    for _ in range(_DESCENT_STEPS):
        candidate = _clipped(model, model.integrate(q, step * rng.standard_normal(model.n_v)))
        d = float(scene.distances(candidate).min())
        if d < distance:
            distance, q, step = d, candidate, min(1.0, 1.5 * step)
            if distance <= _MARGIN:
                break
        else:
            step = max(0.01, 0.9 * step)
    return distance


def _scene(model: Model, pairs: NDArray[np.int64]) -> _engine.CollisionScene:
    return _engine.CollisionScene(model._engine, [], [], np.zeros((0, 4, 4)), [], pairs.astype(np.intc))


def _clipped(model: Model, q: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.clip(q, model.limits.lower, model.limits.upper)


def _fingerprint(model: Model) -> bytes:
    """Everything that the verdicts depend on, as bytes: tree, limits, colliders and pairs."""
    parts: list[object] = [model.link_names, model.position_names]
    for joint in model.joints:
        parts += [
            joint.name,
            joint.kind,
            joint.parent,
            joint.child,
            joint.X_PJ.tobytes(),
            joint.axis.tobytes(),
            joint.mimic,
        ]
    parts += [model.limits.lower.tobytes(), model.limits.upper.tobytes(), model.collision_pairs.tobytes()]
    for c in model.colliders:
        s = c.shape
        parts += [c.link, c.X_LC.tobytes()]
        if isinstance(s, TriangleMesh):
            parts += ["mesh", s.vertices.tobytes(), s.faces.tobytes(), s.is_solid]
        else:
            parts += [s.type, np.asarray(s.vertices).tobytes() if s.type == "convex" else repr(s)]
    return repr(parts).encode()
