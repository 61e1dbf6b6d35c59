"""The same shapes in coal, an independent implementation with an accuracy of about 1e-6 m."""

from __future__ import annotations

import zlib

import numpy as np
import pytest

from robosim.geometry import Shape, collide, signed_distance

coal = pytest.importorskip("coal", reason="needs coal from the bench extra")


def hull_to_coal(shape: Shape):
    points, faces = coal.StdVec_Vec3s(), coal.StdVec_Triangle()
    for p in shape.vertices:
        points.append(p)
    for f in shape.faces:
        faces.append(coal.Triangle(*(int(i) for i in f)))
    return coal.Convex(points, faces)


# Shapes without an entry are left out of the comparison.
TO_COAL = {
    "sphere": lambda s: coal.Sphere(s.radius),
    "box": lambda s: coal.Box(*s.size),
    "capsule": lambda s: coal.Capsule(s.radius, s.length),
    "cylinder": lambda s: coal.Cylinder(s.radius, s.length),
    "half_space": lambda s: coal.Halfspace(np.array((0.0, 0.0, 1.0)), 0.0),
    "convex": hull_to_coal,
    "ellipsoid": lambda s: coal.Ellipsoid(*s.radii),
    "cone": lambda s: coal.Cone(s.radius, s.length),
}


def to_coal(shape: Shape):
    return TO_COAL[shape.type](shape)


@pytest.mark.parametrize("type_A", TO_COAL)
@pytest.mark.parametrize("type_B", TO_COAL)
def test_distances_agree(oracle, type_A, type_B):
    if type_A == type_B == "half_space":
        return  # coal reports the largest double, robosim minus infinity
    rng = np.random.default_rng(zlib.crc32(f"coal {type_A} {type_B}".encode()))
    for _ in range(25):
        A, B = oracle.make(type_A, rng), oracle.make(type_B, rng)
        X_WA, X_WB = oracle.random_pose(rng, 0.7), oracle.random_pose(rng, 0.7)
        result = coal.DistanceResult()
        T_A, T_B = (coal.Transform3s(X[:3, :3], X[:3, 3]) for X in (X_WA, X_WB))
        theirs = coal.distance(to_coal(A), T_A, to_coal(B), T_B, coal.DistanceRequest(), result)
        theirs -= getattr(A, "rounding", 0) + getattr(B, "rounding", 0)
        ours = signed_distance(A, X_WA, B, X_WB).distance
        if {type_A, type_B} == {"sphere", "cylinder"} and ours < 0:
            # From inside, coal does not find the nearer of mantle and cap. robosim's distance is
            # certified in test_pairs.py.
            assert ours > theirs - 5e-6
            continue
        assert abs(ours - theirs) < 5e-6
        if abs(ours) > 5e-6:
            assert collide(A, X_WA, B, X_WB) == (theirs < 0)
