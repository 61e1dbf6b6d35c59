"""Search behind the filter of self-collisions.

Compared with brute force, on long chains, and with a bound on its work.
"""

from __future__ import annotations

import itertools
import time
from collections import Counter

import numpy as np
import pytest

from robosim import _engine
from robosim.geometry import Shape, TriangleMesh
from robosim.model import Model, ModelBuilder
from robosim.urdf import filter_self_collision, load_robot, self_collision

from ..interrupts import control_c  # noqa: TID252 (tests have no absolute name)
from ..scale import repeats  # noqa: TID252

MARGIN = 0.02  # of the filter [m]
LENGTH, RADIUS = 0.1, 0.02  # of a chain's links [m]
INERTIA = 'mass value="1"/><inertia ixx="1" iyy="1" izz="1"'


@pytest.fixture(autouse=True)
def _no_cache(monkeypatch, tmp_path):
    monkeypatch.setenv("ROBOSIM_CACHE_DIR", str(tmp_path))


def chain(
    n: int, bound: float, axes: tuple[str, ...] = ("1 0 0", "0 1 0"), shape: str = "capsule"
) -> str:
    """URDF of n equal links in a row; each turns relative to the previous one by up to `bound`."""
    geometry = {
        "capsule": f'<capsule radius="{RADIUS}" length="{LENGTH - 2 * RADIUS}"/>',
        "box": f'<box size="{2 * RADIUS} {2 * RADIUS} {0.8 * LENGTH}"/>',
        "cylinder": f'<cylinder radius="{RADIUS}" length="{0.8 * LENGTH}"/>',
    }[shape]
    links = [
        f'<link name="l{i:03}"><inertial><{INERTIA}/></inertial><collision><origin xyz="0 0'
        f' {LENGTH / 2}"/><geometry>{geometry}</geometry></collision></link>'
        for i in range(n)
    ]
    joints = [
        f'<joint name="j{i}" type="revolute"><parent link="l{i - 1:03}"/><child link="l{i:03}"/>'
        f'<origin xyz="0 0 {LENGTH}"/><axis xyz="{axes[i % len(axes)]}"/>'
        f'<limit lower="{-bound}" upper="{bound}" effort="1" velocity="1"/></joint>'
        for i in range(1, n)
    ]
    return f'<robot name="chain">{"".join(links)}{"".join(joints)}</robot>'


def left_out(model: Model) -> dict[frozenset[str], str]:
    return {frozenset((d.link_a, d.link_b)): d.reason for d in model.disabled_collisions}


def scene_of(model: Model, pairs: np.ndarray | None = None) -> _engine.CollisionScene:
    pairs = model.collision_pairs if pairs is None else pairs
    return _engine.CollisionScene(model._engine, [], [], np.zeros((0, 4, 4)), [], pairs)


def random_shape(rng: np.random.Generator, as_mesh: bool) -> Shape | TriangleMesh:
    size = rng.uniform(0.04, 0.3, 3)
    corners = np.array(list(itertools.product(*([-x / 2, x / 2] for x in size))))
    faces = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    triangles = [t for a, b, c, d in faces for t in ((a, b, c), (a, c, d))]
    kind = rng.integers(4)
    if as_mesh:
        return TriangleMesh(corners, np.array(triangles))
    if kind == 0:
        return Shape.capsule(size[0] / 2, size[1] + size[0])
    if kind == 1:
        return Shape.sphere(size[0] / 2)
    return Shape.convex(corners) if kind == 2 else Shape.box(size)


def random_pose(rng: np.random.Generator, reach: float) -> np.ndarray:
    X = np.eye(4)
    q, _ = np.linalg.qr(rng.standard_normal((3, 3)))
    X[:3, :3] = q * np.sign(np.linalg.det(q))
    X[:3, 3] = rng.uniform(-reach, reach, 3)
    return X


def random_robot(seed: int, as_meshes: bool = False) -> Model:
    """Tree of seven links with three coordinates, a mimic joint, and one or two shapes per link."""
    rng = np.random.default_rng(seed)
    builder = ModelBuilder(f"random {seed}")
    builder.add_link("l0", mass=1, inertia=np.eye(3))
    kinds = ["own", *rng.permutation(["own", "own", "mimic", "fixed", "fixed"])]
    for i, kind in enumerate(kinds, start=1):
        builder.add_link(f"l{i}", mass=1, inertia=np.eye(3))
        parent, pose = f"l{rng.integers(i)}", random_pose(rng, 0.25)
        if kind == "fixed":
            builder.add_joint(f"j{i}", "fixed", parent, f"l{i}", X_PJ=pose)
            continue
        axis = rng.standard_normal(3)
        slides = rng.random() < 0.3
        middle, half = rng.uniform(-1, 1), rng.uniform(0.1, 3) * (0.2 if slides else 1)
        bounds = {"lower": middle - half, "upper": middle + half}
        mimic = None
        if kind == "mimic":
            mimic, bounds = (
                ("j1", rng.uniform(-1, 1), rng.uniform(-1, 1)),
                {"lower": -9, "upper": 9},
            )
        builder.add_joint(
            f"j{i}", "prismatic" if slides else "revolute", parent, f"l{i}", X_PJ=pose,
            axis=axis / np.linalg.norm(axis), velocity=1, effort=1, mimic=mimic, **bounds,
        )  # fmt: skip
    for i in range(len(kinds) + 1):
        for _ in range(rng.integers(1, 3)):
            builder.add_collider(f"l{i}", random_shape(rng, as_meshes), X_LC=random_pose(rng, 0.15))
    return builder.build()


class BruteForce:
    """Distances of all pairs of links over a grid of all coordinates, limits included."""

    def __init__(self, model: Model, steps: int) -> None:
        self.model, self.scene = model, scene_of(model)
        bounds = list(zip(model.limits.lower, model.limits.upper, strict=True))
        axes = np.meshgrid(*(np.linspace(a, b, steps) for a, b in bounds), indexing="ij")
        self.bounds, self.q = bounds, np.stack([x.ravel() for x in axes], axis=1)
        distances = self.scene.distances_many(self.q)
        self.columns: dict[frozenset[str], list[int]] = {}
        for i, pair in enumerate(model.collision_pairs):
            self.columns.setdefault(frozenset(model.colliders[k].link for k in pair), []).append(i)
        self.distances = {
            links: distances[:, columns].min(axis=1) for links, columns in self.columns.items()
        }

    def least(self, links: frozenset[str]) -> float:
        """Least distance of two links.

        The search starts at the best point of the grid and takes normal samples of decreasing
        spread.
        """
        rng = np.random.default_rng(0)
        lower, upper = np.transpose(self.bounds)
        scene = scene_of(self.model, self.model.collision_pairs[self.columns[links]])
        k = self.distances[links].argmin()
        best, q = self.distances[links][k], self.q[k]
        for spread in np.geomspace(0.5, 1e-4, 40):
            near = np.clip(q + spread * rng.standard_normal((400, len(q))), lower, upper)
            distances = scene.distances_many(near).min(axis=1)
            k = distances.argmin()
            if distances[k] < best:
                best, q = distances[k], near[k]
        return float(best)


@pytest.mark.parametrize("as_meshes", [False, True])
def test_verdicts_are_those_of_brute_force(as_meshes):
    counts = Counter()
    for seed in range(repeats(3, 6) if as_meshes else repeats(25, 200)):
        model = random_robot(seed, as_meshes)
        filtered, report = filter_self_collision(model, n_samples=1000, seed=seed)
        verdicts = {frozenset((d.link_a, d.link_b)): d.reason for d in report.disabled}
        reference = BruteForce(model, 8 if as_meshes else repeats(12, 30))
        assert report.undecided == 0
        for links, distances in reference.distances.items():
            verdict = verdicts.get(links, "checked")
            counts[verdict] += 1
            apart = np.mean(distances > 0)
            if verdict == "Always":
                assert apart < 0.01, (seed, links)
            elif verdict == "Never":
                assert reference.least(links) > MARGIN, (seed, links)
            else:
                assert distances.min() <= MARGIN or reference.least(links) <= MARGIN + 1e-4, (
                    seed,
                    links,
                )
                assert apart > 0, (seed, links)
        kept = {
            frozenset(filtered.colliders[k].link for k in pair) for pair in filtered.collision_pairs
        }
        assert kept == set(reference.distances) - set(verdicts)
    assert min(counts[verdict] for verdict in ("checked", "Never", "Always")) > 0, counts


def test_a_mesh_is_judged_like_the_box_that_it_is():
    for seed in range(repeats(4, 30)):
        rng = np.random.default_rng(seed)
        models = []
        sizes, poses = rng.uniform(0.05, 0.3, (5, 3)), [random_pose(rng, 0.3) for _ in range(5)]
        for as_mesh in (False, True):
            builder = ModelBuilder("boxes")
            for i, (size, pose) in enumerate(zip(sizes, poses, strict=True)):
                builder.add_link(f"l{i}", mass=1, inertia=np.eye(3))
                if i > 0:
                    builder.add_joint(
                        f"j{i}",
                        "revolute",
                        f"l{i - 1}",
                        f"l{i}",
                        X_PJ=pose,
                        lower=-1,
                        upper=1,
                        velocity=1,
                        effort=1,
                    )
                corners = np.array(list(itertools.product(*([-x / 2, x / 2] for x in size))))
                hull = Shape.convex(corners)
                mesh = TriangleMesh(hull.vertices, hull.faces) if as_mesh else hull
                builder.add_collider(f"l{i}", mesh)
            models.append(filter_self_collision(builder.build(), n_samples=500)[0])
        assert left_out(models[0]) == left_out(models[1])


CHAINS = [
    ("capsule", 3.0),
    ("capsule", 0.5),
    ("capsule", 0.1),
    ("capsule", 0.02),
    ("box", 0.1),
    ("cylinder", 0.5),
]


@pytest.mark.parametrize(("shape", "bound"), CHAINS)
def test_a_chain_of_300_links_loads_in_seconds(shape, bound):
    begin = time.process_time()
    model = load_robot(chain(300, bound, shape=shape))
    assert time.process_time() - begin < 15  # takes 0.5 to 3.5 s on an idle machine
    assert len(model.collision_pairs) + len(model.disabled_collisions) == 300 * 299 // 2


def test_links_that_meet_when_a_chain_curls_are_checked():
    """Each joint turns by 6 degrees at most.

    No random configuration curls the chain, but all joints together do.
    """
    n, bound = 150, 0.1
    names = [f"l{i:03}" for i in range(n)]
    model = load_robot(chain(n, bound, axes=("0 1 0",)), filter_self_collisions=False)
    out = left_out(filter_self_collision(model)[0])
    # A regular polygon closes at 2 pi: k links with joints at 2 pi / k, which is within the bound
    # from 63 links on.
    for k in (63, 80, 120):
        q = np.zeros(n - 1)
        q[:k] = 2 * np.pi / k
        index = np.flatnonzero((model.collision_pairs == (0, k)).all(axis=1))[0]
        assert scene_of(model).distances(q)[index] < 0
        assert frozenset((names[0], names[k])) not in out
    # Half a turn brings no links together, and that is proven.
    assert all(
        frozenset((names[i], names[j])) in out
        for i in range(n)
        for j in range(i + 2, min(n, i + 31))
    )


def proven(model: Model) -> np.ndarray:
    """True for pairs of colliders that are proven apart by their reach alone."""
    begin = np.arange(len(model.collision_pairs) + 1)
    search = _engine.SelfCollisionSearch(model._engine, model.collision_pairs, begin, MARGIN)
    search.prove()
    return search.states == 2


def test_proofs_hold_everywhere():
    """Pairs proven apart are apart at random configurations and at all corners of the limits."""
    found = 0
    for seed in range(repeats(40, 1000)):
        model = random_robot(seed)
        apart = proven(model)
        found += int(apart.sum())
        if not apart.any():
            continue
        rng = np.random.default_rng(seed)
        lower, upper = model.limits.lower, model.limits.upper
        corners = np.array(list(itertools.product(*zip(lower, upper, strict=True))))
        q = np.concatenate([corners, rng.uniform(lower, upper, (3000, model.n_q))])
        assert scene_of(model).distances_many(q)[:, apart].min() > MARGIN, seed
    assert found > 40


def test_the_proof_is_sharp_for_a_planar_chain():
    """Equal links with equal ranges.

    The ends touch only if all joints turn the same way to their limits.
    """
    n = 21
    for turn, is_apart in (
        (2 * np.pi * 0.75, True),
        (2 * np.pi * 0.9, True),
        (2 * np.pi * 1.05, False),
    ):
        bound = turn / (n - 1)
        model = load_robot(chain(n, bound, axes=("0 1 0",)), filter_self_collisions=False)
        ends = np.flatnonzero((model.collision_pairs == (0, n - 1)).all(axis=1))[0]
        assert proven(model)[ends] == is_apart
        distance = scene_of(model).distances(np.full(n - 1, bound))[ends]
        assert (distance > MARGIN) == is_apart


def test_what_the_work_does_not_suffice_for_stays_checked(monkeypatch):
    model = load_robot(chain(60, 0.5), filter_self_collisions=False)
    all_decided, report = filter_self_collision(model, n_samples=1000)
    assert report.undecided == 0
    names = [c.link for c in model.colliders]
    last = 0
    for work in (0, 100_000, 1_000_000):
        monkeypatch.setattr(self_collision, "_MOST_WORK", work)
        # A different entry of the cache.
        monkeypatch.setattr(self_collision, "_VERSION", f"work {work}")
        few, report = filter_self_collision(model, n_samples=1000)
        again, from_cache = filter_self_collision(model, n_samples=1000)
        assert report == from_cache
        assert left_out(few) == left_out(again)
        # Pairs are left out only if they are left out with unlimited work. Proven pairs are left
        # out in any case.
        assert left_out(few).items() <= left_out(all_decided).items()
        pairs = [frozenset(names[i] for i in pair) for pair in model.collision_pairs[proven(model)]]
        assert set(pairs) <= set(left_out(few))
        assert report.undecided > 0
        assert len(report.disabled) >= last
        last = len(report.disabled)
    assert last > len(pairs)


def test_control_c_ends_the_search(monkeypatch, tmp_path):
    # Use a cache without the answer of another test.
    monkeypatch.setenv("ROBOSIM_CACHE_DIR", str(tmp_path))
    model = load_robot(chain(300, 0.1), filter_self_collisions=False)
    with control_c():
        filter_self_collision(model)


def test_wrong_arguments_are_refused():
    model = random_robot(0)
    pairs, n = model.collision_pairs, len(model.collision_pairs)
    same_body = np.array([[0, 0]])
    for arguments, text in (
        ((pairs[:, 0], [0, n], MARGIN), r"pairs has shape \(\d+,\); it must be \(m, 2\)"),
        (
            (same_body, [0, 1], MARGIN),
            r"pairs\[0\] is \(0, 0\); it must name two of the \d+ colliders",
        ),
        (
            (pairs, [0, n - 1], MARGIN),
            f"group_begin must increase from 0 to the number of pairs, {n}",
        ),
        ((pairs, [0, 2, 2, n], MARGIN), "group_begin must increase"),
        ((pairs, [0, n], -1.0), "margin is -1 m; it must not be negative"),
    ):
        with pytest.raises(ValueError, match=text):
            _engine.SelfCollisionSearch(model._engine, *arguments)
    search = _engine.SelfCollisionSearch(model._engine, pairs, [0, n], MARGIN)
    with pytest.raises(ValueError, match="q has shape"):
        search.sample(np.zeros((2, model.n_q + 1)))
    with pytest.raises(ValueError, match="finite"):
        search.sample(np.full((1, model.n_q), np.nan))
    with pytest.raises(ValueError, match="searches must begin at one"):
        search.begin_searches(np.zeros((0, model.n_q)), 1)
