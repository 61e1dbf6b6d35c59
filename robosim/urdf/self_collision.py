"""Filter of link pairs that self-collision need not check, if no SRDF lists them.

Three kinds of pairs are excluded:

adjacent  a link and its nearest ancestor with colliders: found by the builder, without sampling
always    overlapping in each of n uniform samples of the configuration space, so by design
never     farther apart than a margin: either by proof, if the limits of the joints between both
          links leave too little reach, or in each of the samples and after a search for a
          configuration where they are closer

Samples alone could miss a rare collision, which would then never be checked. Hence the margin of 2
cm, and the search. The search starts from up to 30 of 200 random configurations, those that bring
both links closest. It follows the gradient of their distance, then perturbs coordinates with
shrinking steps, and follows the gradient again. A pair that comes within the margin stays checked.

For pairs that stay checked, the filter counts at how many of a hundred samples they overlap. Pairs
that overlap at half of the samples or more leave a robot little free space, and are often modeled
so on purpose.

The total work of all searches is bounded. Pairs with the fewest joints between them go first, and
pairs that are not reached stay checked. Only robots with thousands of pairs, such as chains of
hundreds of links, reach the bound. The result is deterministic for a model and a seed. It is cached
on disk by content.
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
_START_CONFIGURATIONS = 200  # candidates for starts of searches
_MOST_WORK = 60_000_000  # of all searches [placements of one joint, about 40 ns each]
_WORK_PER_CALL = 200_000  # Python handles signals between calls
_SAMPLES_BEFORE_SEARCH = 1000
_SAMPLES_PER_CALL = 250
_SAMPLES_TO_COUNT = 100
_VERSION = 5


@dataclass(frozen=True)
class SelfCollisionReport:
    """Result of the self-collision filter.

    Attributes:
        n_samples: number of configurations drawn.
        seed: seed of the samples.
        margin: smallest distance of a pair that counts as never touching [m].
        disabled: pairs of links with reason "Always" or "Never".
        undecided: number of pairs of links that stay checked because the work of searches is
            bounded.
        frequent: checked pairs of links that overlap at half of a hundred samples or more, with
            their number of overlaps.
    """

    n_samples: int
    seed: int
    margin: float
    disabled: tuple[DisabledCollision, ...]
    undecided: int = 0
    frequent: tuple[tuple[str, str, int], ...] = ()


def filter_self_collision(
    model: Model, *, n_samples: int = 10_000, seed: int = 0
) -> tuple[Model, SelfCollisionReport]:
    """Return the model without the pairs of links that always or never touch.

    Args:
        model: model whose `collision_pairs` are filtered.
        n_samples: number of configurations to draw within the position limits.
        seed: seed of the samples.
    """
    pairs = np.asarray(model.collision_pairs, dtype=np.intc).reshape(-1, 2)
    if len(pairs) == 0:
        return model, SelfCollisionReport(0, seed, _MARGIN, ())
    collider_links = [c.link for c in model.colliders]
    links = [_sorted_pair(collider_links[a], collider_links[b]) for a, b in pairs.tolist()]
    names = sorted(set(links))
    number = {name: i for i, name in enumerate(names)}
    group = np.array([number[pair] for pair in links])
    key = cache_key(
        "self-collision", _fingerprint(model), n_samples=n_samples, seed=seed, version=_VERSION
    )
    entry = load_arrays(key, ("verdict", "overlaps"))
    if entry is None or any(array.shape != (len(names),) for array in entry.values()):
        found = _verdicts(model, pairs, group, n_samples, seed)
        entry = {
            "verdict": found,
            "overlaps": _overlaps(model, pairs, group, found == _CHECK, seed),
        }
        store_arrays(key, entry)
    verdict, overlaps = (entry[name].astype(np.int64) for name in ("verdict", "overlaps"))
    reasons = {_ALWAYS: "Always", _NEVER: "Never"}
    disabled = tuple(
        DisabledCollision(a, b, reasons[v])
        for (a, b), v in zip(names, verdict.tolist(), strict=True)
        if v in reasons
    )
    undecided = int(np.count_nonzero(verdict == _UNDECIDED))
    frequent = tuple(
        (a, b, n)
        for (a, b), n in zip(names, overlaps.tolist(), strict=True)
        if 2 * n >= _SAMPLES_TO_COUNT
    )
    report = SelfCollisionReport(n_samples, seed, _MARGIN, disabled, undecided, frequent)
    return model.with_disabled_collisions(disabled), report


def _sorted_pair(a: str, b: str) -> tuple[str, str]:
    return (a, b) if a <= b else (b, a)


_CHECK, _ALWAYS, _NEVER, _UNDECIDED = 0, 1, 2, 3
# Verdicts by final state of `_engine.SelfCollisionSearch`.
_VERDICTS = np.array([_NEVER, _ALWAYS, _NEVER, _CHECK, _UNDECIDED])


def _verdicts(
    model: Model, pairs: NDArray[np.intc], group: NDArray[np.int64], n_samples: int, seed: int
) -> NDArray[np.int64]:
    """Verdict per pair of links.

    A pair is checked, excluded as always or never touching, or checked as undecided.
    """
    order = np.argsort(group, kind="stable")
    begin = np.searchsorted(group[order], np.arange(group.max() + 2)).astype(np.intc)
    search = _engine.SelfCollisionSearch(model._engine, pairs[order], begin, _MARGIN, seed % 2**64)
    rng = np.random.default_rng(seed)

    def sample(n: int) -> None:
        for first in range(0, n, _SAMPLES_PER_CALL):
            search.sample(_configurations(model, min(_SAMPLES_PER_CALL, n - first), rng))

    first = min(n_samples, _SAMPLES_BEFORE_SEARCH)
    sample(first)
    search.prove()
    starts = _configurations(model, _START_CONFIGURATIONS, np.random.default_rng((seed, 1)))
    search.begin_searches(starts, _MOST_WORK)
    while search.search(_WORK_PER_CALL):
        pass
    sample(n_samples - first)
    return _VERDICTS[search.states]


def _overlaps(
    model: Model,
    pairs: NDArray[np.intc],
    group: NDArray[np.int64],
    counted: NDArray[np.bool_],
    seed: int,
) -> NDArray[np.int64]:
    """Number of samples at which each pair of links overlaps; 0 for a pair that is not counted.

    Colliders of a pair are counted separately, and the result is the largest count.
    """
    out = np.zeros(len(counted), dtype=np.int64)
    mine = counted[group]
    if mine.any():
        _, counts = _engine.sample_self_collisions(
            model._engine, seed % 2**64, _SAMPLES_TO_COUNT, pairs[mine]
        )
        np.maximum.at(out, group[mine], counts)
    return out


def _configurations(model: Model, n: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Draw (n, n_q) configurations, uniform within the limits."""
    return np.array([model.random_configuration(rng) for _ in range(n)])


def _fingerprint(model: Model) -> bytes:
    """Serialize all inputs of the verdicts to bytes: tree, limits, colliders and pairs."""
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
    parts += [
        model.limits.lower.tobytes(),
        model.limits.upper.tobytes(),
        model.collision_pairs.tobytes(),
    ]
    for c in model.colliders:
        s = c.shape
        parts += [c.link, c.X_LC.tobytes()]
        if isinstance(s, TriangleMesh):
            parts += ["mesh", s.vertices.tobytes(), s.faces.tobytes(), s.is_solid]
        else:
            parts += [s.type, np.asarray(s.vertices).tobytes() if s.type == "convex" else repr(s)]
        if c.exact is not None:
            parts += ["exact", c.exact.vertices.tobytes(), c.exact.faces.tobytes()]
    return repr(parts).encode()
