"""Fidelity of convex colliders: stand-off of each, and pairs that collide only because of it.

Pairs are tested at configurations: the neutral one, each named state, and uniform samples. If the
convex colliders of a pair of links overlap, the original triangles (primitives as inscribed
polyhedra) are tested as well. A pair is reported if its convex colliders overlap at some
configuration and its originals overlap at none of the configurations tested. Its collisions may be
artifacts.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from robosim import _engine
from robosim.errors import MeshError
from robosim.meshes import TriangleMesh, hull_standoff, is_convex, left_out, load_mesh
from robosim.meshes.cache import cache_key, load_arrays, store_arrays
from robosim.meshes.intersect import meshes_overlap
from robosim.meshes.load import read_mesh_file
from robosim.meshes.tessellate import tessellated
from robosim.model import Model
from robosim.urdf.colliders import ColliderOptions, mesh_stand_ins
from robosim.urdf.description import GeometrySpec, LinkSpec, RobotSpec

__all__ = ["HullPair", "MeshFidelity", "ModelColliders", "hull_only_pairs", "mesh_fidelity"]


@dataclass(frozen=True)
class MeshFidelity:
    """Comparison of a collision mesh with its convex colliders.

    Attributes:
        faces: triangles of the mesh.
        pieces: number of convex colliders.
        vertices: total number of their vertices.
        convex: True if the mesh is its own hull.
        standoff: largest distance of the colliders' surface from the mesh [m], by sampling.
        resolution: largest difference of the exact stand-off from `standoff` [m].
        left_out: largest distance of mesh points outside the colliders [m]; 0 for a hull.
    """

    faces: int
    pieces: int
    vertices: int
    convex: bool
    standoff: float
    resolution: float
    left_out: float


@dataclass(frozen=True)
class HullPair:
    """Two links whose convex colliders overlap, but not their original geometries.

    Attributes:
        links: their names.
        overlaps: number of configurations where the convex colliders overlap.
        tested: number of those where the originals were tested. The originals overlap at none.
        example: one such configuration: "neutral", a named state, or "sample N".
        checked: True if self-collision checks the pair, False if it excludes the pair as always
            touching.
    """

    links: tuple[str, str]
    overlaps: int
    tested: int
    example: str
    checked: bool


def mesh_fidelity(
    robot: RobotSpec, link: LinkSpec, geometry: GeometrySpec, options: ColliderOptions
) -> MeshFidelity:
    """Measure the convex colliders of one collision mesh (cached on disk)."""
    assert geometry.mesh is not None
    pieces = mesh_stand_ins(robot, link, geometry, options)
    if options.mode(link.name) == "mesh":  # the mesh itself
        kept = pieces[0]
        return MeshFidelity(len(kept.faces), 1, len(kept.vertices), is_convex(kept), 0.0, 0.0, 0.0)
    path, scale = geometry.mesh.path, geometry.mesh.scale
    content = read_mesh_file(path) + b"".join(p.vertices.tobytes() for p in pieces)
    key = cache_key("fidelity", content, suffix=path.suffix.lower(), scale=scale)
    entry = load_arrays(key, ("numbers",))
    if entry is None or entry["numbers"].shape != (5,):
        mesh = load_mesh(path, scale=scale)
        standoff = hull_standoff(pieces, mesh)
        numbers = [
            len(mesh.faces),
            is_convex(mesh),
            standoff.distance,
            standoff.resolution,
            left_out(pieces, mesh),
        ]
        entry = {"numbers": np.array(numbers, dtype=np.float64)}
        store_arrays(key, entry)
    faces, is_hull, distance, resolution, outside = map(float, entry["numbers"])
    n_vertices = sum(len(p.vertices) for p in pieces)
    return MeshFidelity(
        int(faces), len(pieces), n_vertices, bool(is_hull), distance, resolution, outside
    )


class ModelColliders:
    """Map from geometries of the description to the colliders of a model.

    Attributes:
        of_link: per link, its geometries, each with the indices of its colliders in the model.
    """

    def __init__(self, model: Model, robot: RobotSpec, options: ColliderOptions) -> None:
        own: dict[str, list[int]] = defaultdict(list)
        for i, collider in enumerate(model.colliders):
            own[collider.link].append(i)
        self.of_link: dict[str, list[tuple[GeometrySpec, list[int]]]] = {}
        for link in robot.links.values():
            # A link's colliders are in order of addition. An omitted mesh has none.
            indices = iter(own[link.name])
            of_geometry = [
                (g, [next(indices) for _ in range(_count(robot, link, g, options))])
                for g in link.collisions
            ]
            self.of_link[link.name] = [(g, found) for g, found in of_geometry if found]


def _count(
    robot: RobotSpec, link: LinkSpec, geometry: GeometrySpec, options: ColliderOptions
) -> int:
    """Number of colliders of a geometry."""
    if geometry.mesh is None:
        return 1
    try:
        return len(mesh_stand_ins(robot, link, geometry, options))
    except MeshError:
        if options.skip_missing:
            return 0
        raise


def hull_only_pairs(
    model: Model,
    robot: RobotSpec,
    colliders: ModelColliders,
    *,
    n_samples: int = 300,
    n_tests: int = 8,
    seed: int = 0,
) -> list[HullPair]:
    """Find pairs of links that collide only because of convex colliders, at tested configurations.

    Args:
        model: model with convex colliders.
        robot: description of the model.
        colliders: map to the model's colliders.
        n_samples: number of uniform configurations in addition to neutral and named ones.
        n_tests: largest number of tests of the originals per pair.
        seed: seed of the samples.
    """
    replaced = {
        i
        for geometries in colliders.of_link.values()
        for g, indices in geometries
        for i in indices
        if g.mesh
    }
    # All pairs of links with at least one converted mesh: pairs that are checked, and pairs
    # excluded as always touching.
    checked = {frozenset((int(a), int(b))) for a, b in model.collision_pairs}
    always = {
        frozenset((d.link_a, d.link_b)) for d in model.disabled_collisions if d.reason == "Always"
    }
    n = len(model.colliders)
    links = [c.link for c in model.colliders]
    pairs = np.array(
        [
            (i, j)
            for i in range(n)
            for j in range(i + 1, n)
            if (i in replaced or j in replaced)
            and (frozenset((i, j)) in checked or frozenset((links[i], links[j])) in always)
        ],
        dtype=np.intc,
    ).reshape(-1, 2)
    if len(pairs) == 0:
        return []
    index = {c.name: i for i, c in enumerate(model.colliders)}
    scene = _engine.CollisionScene(model._engine, [], [], np.zeros((0, 4, 4)), [], pairs)
    found: dict[tuple[str, str], list[tuple[str, NDArray[np.float64]]]] = defaultdict(list)
    for label, q in _configurations(model, n_samples, seed):
        touching = {
            tuple(sorted((links[index[a]], links[index[b]]))) for a, b, _ in scene.collisions(q)
        }
        for pair in touching:
            found[pair[0], pair[1]].append((label, q))
    originals = _Originals(robot, model, colliders)
    out = []
    for pair, configurations in sorted(found.items()):
        tests = configurations[:n_tests]
        if not any(originals.overlap(*pair, q) for _, q in tests):
            is_checked = frozenset(pair) not in always
            out.append(HullPair(pair, len(configurations), len(tests), tests[0][0], is_checked))
    return out


def _configurations(
    model: Model, n_samples: int, seed: int
) -> list[tuple[str, NDArray[np.float64]]]:
    out = [("neutral", model.neutral())]
    columns = {name: i for i, name in enumerate(model.position_names)}
    for state in model.named_states:
        q = model.neutral()
        for joint, value in state.positions.items():
            if joint in columns:
                q[columns[joint]] = value
        out.append((f"state {state.group}/{state.name}", q))
    rng = np.random.default_rng(seed)
    return out + [(f"sample {i}", model.random_configuration(rng)) for i in range(n_samples)]


class _Originals:
    """Original triangles of links, read when first needed."""

    def __init__(self, robot: RobotSpec, model: Model, colliders: ModelColliders) -> None:
        self.robot, self.model, self.colliders = robot, model, colliders
        self.meshes: dict[str, list[TriangleMesh]] = {}

    def overlap(self, link_a: str, link_b: str, q: NDArray[np.float64]) -> bool:
        X_WA, X_WB = self.model.frame_pose(q, link_a), self.model.frame_pose(q, link_b)
        X_AB = np.linalg.inv(X_WA) @ X_WB
        placed = [_moved(m, X_AB) for m in self._of(link_b)]
        return any(meshes_overlap(a, b) for a in self._of(link_a) for b in placed)

    def _of(self, link: str) -> list[TriangleMesh]:
        if link not in self.meshes:
            self.meshes[link] = [
                _moved(
                    load_mesh(g.mesh.path, scale=g.mesh.scale)
                    if g.mesh is not None
                    else tessellated(self.model.colliders[indices[0]].shape),
                    g.X_LG,
                )
                for g, indices in self.colliders.of_link[link]
            ]
        return self.meshes[link]


def _moved(mesh: TriangleMesh, X: NDArray[np.float64]) -> TriangleMesh:
    return TriangleMesh(mesh.vertices @ X[:3, :3].T + X[:3, 3], mesh.faces)
