"""Collision shapes, poses, and distance, contact and ray queries on posed shapes.

A pose `X_WB` is a (4, 4) homogeneous matrix that maps coordinates in frame B to W. `Shape`
describes a convex body in its own frame by full sizes in meters, `Shape.box(size)` for example.
`shape_sizes` lists the types of shapes. `TriangleMesh`, `HeightField`, `PointCloud` and `Compound`
are bodies made of convex pieces, which queries accept as well.
"""

from robosim._engine import Compound, HeightField, PointCloud, Shape, TriangleMesh
from robosim.geometry.compounds import (
    PieceManifold,
    PieceWitness,
    closest_pieces,
    contact_manifolds,
    contacts,
)
from robosim.geometry.derivatives import (
    Feature,
    WitnessDerivatives,
    WitnessRates,
    signed_distance_derivatives,
)
from robosim.geometry.impacts import (
    Impact,
    ImpactDerivatives,
    time_of_impact,
    time_of_impact_derivatives,
)
from robosim.geometry.manifolds import (
    Manifold,
    ManifoldDerivatives,
    ManifoldFeature,
    ManifoldRates,
    contact_manifold,
    contact_manifold_derivatives,
)
from robosim.geometry.pickling import register
from robosim.geometry.poses import pose, pose_to_xyz_quaternion
from robosim.geometry.queries import (
    Witness,
    bounding_ball,
    bounding_box,
    collide,
    shape_sizes,
    signed_distance,
)
from robosim.geometry.rays import (
    RayDerivatives,
    RayHits,
    RayRates,
    ray_cast,
    ray_cast_derivatives,
)
from robosim.geometry.smoothing import SmoothedWitness, smoothed_distance

__all__ = [
    "Compound",
    "Feature",
    "HeightField",
    "Impact",
    "ImpactDerivatives",
    "Manifold",
    "ManifoldDerivatives",
    "ManifoldFeature",
    "ManifoldRates",
    "PieceManifold",
    "PieceWitness",
    "PointCloud",
    "RayDerivatives",
    "RayHits",
    "RayRates",
    "Shape",
    "SmoothedWitness",
    "TriangleMesh",
    "Witness",
    "WitnessDerivatives",
    "WitnessRates",
    "bounding_ball",
    "bounding_box",
    "closest_pieces",
    "collide",
    "contact_manifold",
    "contact_manifold_derivatives",
    "contact_manifolds",
    "contacts",
    "pose",
    "pose_to_xyz_quaternion",
    "ray_cast",
    "ray_cast_derivatives",
    "shape_sizes",
    "signed_distance",
    "signed_distance_derivatives",
    "smoothed_distance",
    "time_of_impact",
    "time_of_impact_derivatives",
]

register()
del register
