// Derivatives of the closest points of two shapes, whatever the shapes are.
//
// A and B touch the planes with the normal n through their points, p_B - p_A = phi n. A motion gives the points on the surfaces
// velocities u_A and u_B (tangential parts), turns n over the surfaces by w_A = omega_A x n and w_B, and moves the points along the
// surfaces by S_A (dn - w_A) and -S_B (dn - w_B), where S holds the principal radii (local_surface.h). So that n stays common,
//
//   (phi + S_A + S_B) dn = u_B - u_A + S_A w_A + S_B w_B,   dphi = n . (u_B - u_A),
//
// a 2 x 2 system. With P its inverse, Q_A = P S_A, Q_B = P S_B and H = S_A P S_B,
//
//   dn  = P (u_B - u_A) + Q_A w_A + Q_B w_B,
//   dp_A = u_A + Q_A^T (u_B - u_A) - (phi Q_A^T + H) w_A + H w_B   (tangential),
//   dp_B = dp_A + dphi n + phi dn.
//
// P, Q and H stay finite where radii are infinite (edges, faces, mantles), as long as the two shapes are not straight in a common
// direction: there n follows the straight one. One rule for every pair of shapes, separated and overlapping.
#pragma once

#include "geometry/query.h"

namespace robosim {

// What one parameter moves, per unit of it.
struct WitnessRate {
  double distance = 0;
  Vec3d normal, p_WA, p_WB;
};

struct WitnessDerivatives {
  static constexpr int max_sizes = 4;

  // Per entry of A's twist, then of B's, each [linear; angular] in the moving frame.
  WitnessRate twist[12];
  // Per size of A's and B's constructors, in their order; of box size x, y, z; of vertices see `corner`.
  WitnessRate size[2][max_sizes];
  int n_sizes[2] = {0, 0};
  // When A or B grows as a whole about the origin of its frame: per unit of a factor at 1.
  WitnessRate scale[2];
  // Of a convex mesh: per coordinate, in the shape's frame, of the feature's corners (LocalSurface::corner); all other vertices have none.
  WitnessRate corner[2][3][3];

  LocalSurface A, B;  // the features that touch, at the points; axes in W
  // Of derivatives that hold on one side only, because another feature takes over right here, because the points are not unique
  // (parallel faces or edges: then the points keep their place on the shape that is not straight, on B where both are), or because
  // the surfaces' common centre of curvature is there (as when a sphere's centre lies on a capsule's axis: then n turns with A).
  bool one_sided = false;
};

// Which of them are wanted beside those of the poses: each costs time.
struct DerivativeParts {
  bool sizes = true, scale = true, corners = true;
};

// Of a witness that signed_distance gave for these shapes and poses. Where the distance is infinite (two half-spaces) all are zero.
WitnessDerivatives witness_derivatives(const Witness& witness, const Shape& A, const SE3d& X_WA, const Shape& B, const SE3d& X_WB);

// The same into `d`, whose other parts keep what they had.
void witness_derivatives(const Witness& witness, const Shape& A, const SE3d& X_WA, const Shape& B, const SE3d& X_WB,
                         const DerivativeParts& parts, WitnessDerivatives& d);

// The surface of a posed shape about a point p_W on it with outward normal n_W; axes in W.
LocalSurface local_surface(const Shape& shape, const SE3d& X_WS, const Vec3d& p_W, const Vec3d& n_W);

}  // namespace robosim
