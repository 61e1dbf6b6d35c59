// Derivatives of the witness points of any two shapes with respect to their poses, their sizes and
// the vertices of the features that touch.
//
// The equations are those of contact_factors.h. A change of size moves the surface and may turn its
// straight directions, like a motion of the shape.
#pragma once

#include "geometry/contact_factors.h"

namespace robosim {

struct WitnessDerivatives {
  static constexpr int max_sizes = 4;

  // Per entry of A's twist, then of B's, each [linear; angular] in the moving frame.
  WitnessRate twist[12];
  // Per size of A's and B's constructors, in the order of the constructor: box sizes as x, y, z.
  // For vertices see `corner`.
  WitnessRate size[2][max_sizes];
  int n_sizes[2] = {0, 0};
  // Per unit of a factor, at 1, that scales A or B about the origin of its frame.
  WitnessRate scale[2];
  // Convex meshes and triangles: per coordinate, in the shape's frame, of the corners of the
  // feature (LocalSurface::corner). The derivatives with respect to all other vertices are zero.
  WitnessRate corner[2][3][3];

  LocalSurface A, B;       // features that touch, about the witness points; axes in W
  bool one_sided = false;  // see WitnessFactors
};

// Selection of the derivatives to compute; the others are zero.
struct DerivativesWanted {
  bool pose[2] = {true, true};  // twists of A and B
  bool shapes = true;           // sizes, scales and corners
};

// Derivatives of a witness that signed_distance returned for these shapes and poses. All
// derivatives are zero if the distance is infinite (two half-spaces).
WitnessDerivatives witness_derivatives(const Witness& witness, const Shape& A, const SE3d& X_WA,
                                       const Shape& B, const SE3d& X_WB,
                                       const DerivativesWanted& wanted = {});

// Surface of a posed shape about a point p_W on it, with outward normal n_W; axes in W.
LocalSurface local_surface(const Shape& shape, const SE3d& X_WS, const Vec3d& p_W,
                           const Vec3d& n_W);

}  // namespace robosim
