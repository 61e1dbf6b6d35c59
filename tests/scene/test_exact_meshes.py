"""Convex colliders that represent meshes: collisions and distances are those of the meshes."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import trimesh

from robosim import _engine, geometry
from robosim.geometry import Shape, TriangleMesh
from robosim.model import ModelBuilder
from robosim.scene import Scene, contact_derivatives
from robosim.urdf import load_robot

from ..concave import channel  # noqa: TID252 (tests have no absolute name)

INERTIA = np.eye(3)


def flying(*bodies, exact=True):
    """A free-flying link for each (shape, mesh or None), with all pairs checked."""
    builder = ModelBuilder("m")
    builder.add_link("world")
    for k, (shape, mesh) in enumerate(bodies):
        builder.add_link(f"b{k}", mass=1, inertia=INERTIA)
        builder.add_joint(f"j{k}", "floating", "world", f"b{k}")
        builder.add_collider(f"b{k}", shape, exact=mesh if exact else None)
    return builder.build(filter_adjacent=False)


def hulled(mesh):
    return Shape.convex(mesh.vertices), mesh


def random_q(model, rng, spread):
    q = model.neutral()
    for k in range(0, model.n_q, 7):
        q[k : k + 3] = rng.uniform(-spread, spread, 3)
        turn = rng.standard_normal(4)
        q[k + 3 : k + 7] = turn / np.linalg.norm(turn)
    return q


CHANNEL = channel()
BALL = trimesh.creation.icosphere(subdivisions=2, radius=0.1)
OPEN_BALL = TriangleMesh(
    np.asarray(BALL.vertices),
    np.asarray(BALL.faces[np.arange(len(BALL.faces)) % 40 != 0], dtype=np.int32),
)
PARTNERS = {
    "channel": hulled(CHANNEL),
    "ball with holes": hulled(OPEN_BALL),
    "box": (Shape.box((0.1, 0.2, 0.05)), None),
    "cylinder": (Shape.cylinder(0.05, 0.3), None),
}


@pytest.mark.parametrize("partner", PARTNERS)
def test_answers_are_those_of_the_meshes(partner):
    """Compared with queries of the bare meshes at random placements.

    Many more placements overlap with the hulls.
    """
    bodies = (hulled(CHANNEL), PARTNERS[partner])
    model, hulls = flying(*bodies), flying(*bodies, exact=False)
    scene, coarse = Scene().compile(model), Scene().compile(hulls)
    bare = [mesh if mesh is not None else shape for shape, mesh in bodies]
    rng = np.random.default_rng(1)
    qs = np.array([random_q(model, rng, 0.2) for _ in range(600)])
    overlaps, only_hulls = 0, 0
    for q in qs:
        X = [model.frame_pose(q, f"b{k}") for k in (0, 1)]
        is_met = geometry.collide(bare[0], X[0], bare[1], X[1])
        if partner == "ball with holes" and not is_met:  # a wall inside it has no vertex outside
            is_met = any(
                np.linalg.norm(np.linalg.inv(X[1])[:3, :3] @ (p - X[1][:3, 3])) < 0.09
                for p in CHANNEL.vertices @ X[0][:3, :3].T + X[0][:3, 3]
            )
        assert scene.collides(q) == is_met
        assert len(scene.collisions(q)) == is_met
        assert coarse.collides(q) >= is_met
        overlaps += is_met
        only_hulls += coarse.collides(q) and not is_met
        [distance] = scene.distances(q)
        if is_met:
            assert distance < 0
            assert distance == pytest.approx(
                coarse.distances(q)[0], abs=1e-12
            )  # different pairs were visited before: rounding
        else:
            expected = geometry.signed_distance(bare[0], X[0], bare[1], X[1]).distance
            assert distance == pytest.approx(expected, abs=1e-9)
            assert coarse.distances(q)[0] <= distance + 1e-9
    assert overlaps > 10
    assert only_hulls > 10
    np.testing.assert_array_equal(scene.collides_many(qs), [scene.collides(q) for q in qs])
    np.testing.assert_allclose(
        scene.distances_many(qs)[:, 0], [scene.distances(q)[0] for q in qs], atol=1e-9
    )


def test_a_motion_inside_the_channel_is_proven_free():
    """A box slides and turns in the channel, always inside the channel's hull.

    A motion out through a wall collides.
    """
    bodies = (hulled(CHANNEL), (Shape.box((0.1, 0.1, 0.1)), None))
    model = flying(*bodies)
    scene, coarse = Scene().compile(model), Scene().compile(flying(*bodies, exact=False))
    start, end, outside = model.neutral(), model.neutral(), model.neutral()
    start[7], end[7] = -0.1, 0.1
    end[10:14] = [np.sin(0.25), 0, 0, np.cos(0.25)]  # about the direction of motion
    outside[8] = 0.5
    assert scene.edge_free(start, end, 0.005).free
    assert not coarse.edge_free(start, end, 0.005).free
    assert not scene.edge_free(start, outside, 0.005).free
    for t in np.linspace(0, 1, 200):
        assert not scene.collides(model.integrate(start, t * model.difference(start, end)))


def test_derivatives_of_distances_are_those_of_the_meshes():
    bodies = (hulled(CHANNEL), (Shape.sphere(0.04), None))
    model = flying(*bodies)
    scene = Scene().compile(model)
    rng = np.random.default_rng(3)
    compared = 0
    for _ in range(200):
        q = random_q(model, rng, 0.25)
        found = contact_derivatives(scene, q, margin=0.2)
        if not found or found[0].witness.distance < 1e-3 or found[0].one_sided:
            continue
        rate = found[0].rates.distance
        h = 1e-6
        numeric = [
            (
                scene.distances(model.integrate(q, h * e))[0]
                - scene.distances(model.integrate(q, -h * e))[0]
            )
            / (2 * h)
            for e in np.eye(model.n_v)
        ]
        # Central differences of a smooth function. Across an edge they are off by the jump times h.
        if np.abs(rate - numeric).max() > 1e-6:
            continue
        compared += 1
    assert compared > 60


def test_inside_a_mesh_with_holes():
    """A ball that lacks every 40th triangle contains the same points as the whole ball."""
    body = _engine.ExactBody(OPEN_BALL)
    assert body.is_open
    assert not _engine.ExactBody(CHANNEL).is_open
    rng = np.random.default_rng(0)
    for _ in range(500):
        p = rng.uniform(-0.15, 0.15, 3)
        r = np.linalg.norm(p)
        if not 0.08 < r < 0.12:
            assert body.holds(p) == (r < 0.1)
    closed = _engine.ExactBody(CHANNEL)
    assert closed.holds([0, 0.14, 0])
    assert not closed.holds([0, 0, 0])


def test_what_lies_wholly_inside_collides():
    """Also if no triangle is touched, in a closed mesh and in one with holes."""
    for ball in (
        TriangleMesh(np.asarray(BALL.vertices), np.asarray(BALL.faces, dtype=np.int32)),
        OPEN_BALL,
    ):
        for inner in (
            (Shape.sphere(0.02), None),
            hulled(TriangleMesh(CHANNEL.vertices * 0.1, CHANNEL.faces)),
        ):
            model = flying(hulled(ball), inner)
            scene = Scene().compile(model)
            q = model.neutral()
            assert scene.collides(q)
            assert scene.distances(q)[0] < 0
            q[7] = 0.3
            assert not scene.collides(q)


def test_exact_meshes_of_files(tmp_path):
    """Exact meshes are loaded by default, for concave meshes only; they are cached and pickled."""
    trimesh.Trimesh(CHANNEL.vertices, CHANNEL.faces).export(tmp_path / "u.stl")
    trimesh.creation.box((0.1, 0.1, 0.1)).export(tmp_path / "box.stl")
    links = "".join(
        f"""<link name="{n}">
        <inertial><mass value="1"/><inertia ixx="0.01" iyy="0.01" izz="0.01"/></inertial>
        <collision><geometry><mesh filename="{n}.stl"/></geometry></collision></link>"""
        for n in ("u", "box")
    )
    path = tmp_path / "r.urdf"
    path.write_text(f"""<robot name="r"><link name="base"/>{links}
        <joint name="a" type="fixed"><parent link="base"/><child link="u"/></joint>
        <joint name="m" type="prismatic"><parent link="base"/><child link="box"/><axis xyz="0 1 0"/>
        <limit lower="-0.3" upper="0.3" velocity="1" effort="1"/></joint></robot>""")
    for _ in range(2):  # the second time from the cache
        model = load_robot(path, filter_self_collisions=False)
        assert [c.exact is None for c in model.colliders] == [False, True]
        scene = Scene().compile(pickle.loads(pickle.dumps(model)))
        assert not scene.collides([0.0])
        assert scene.distances([0.0])[0] == pytest.approx(0.13 - 0.05, abs=1e-6)
        assert scene.collides([0.1])
    hulls = load_robot(path, filter_self_collisions=False, exact_meshes=False)
    assert Scene().compile(hulls).collides([0.0])


def test_only_convex_shapes_stand_for_meshes():
    from robosim.errors import ModelError

    builder = ModelBuilder("m")
    builder.add_link("a")
    with pytest.raises(ModelError, match="only a convex shape stands for an exact body"):
        builder.add_collider("a", CHANNEL, exact=CHANNEL)
    with pytest.raises(ModelError, match="exact must be a TriangleMesh, got Shape"):
        builder.add_collider("a", Shape.sphere(1), exact=Shape.sphere(1))
