// Derivatives of the closest points of two shapes, whatever the shapes are: in their poses and in
// their own sizes, with the features that touch. The rule is that of contact_factors.h; a size
// moves the surface and may turn what is straight of it, as a motion does.
#pragma once

#include "geometry/contact_factors.h"

namespace robosim {

struct WitnessDerivatives {
  static constexpr int max_sizes = 4;

  // Per entry of A's twist, then of B's, each [linear; angular] in the moving frame.
  WitnessRate twist[12];
  // Per size of A's and B's constructors, in their order; of box size x, y, z; of vertices see
  // `corner`.
  WitnessRate size[2][max_sizes];
  int n_sizes[2] = {0, 0};
  // When A or B grows as a whole about the origin of its frame: per unit of a factor at 1.
  WitnessRate scale[2];
  // Of a convex mesh: per coordinate, in the shape's frame, of the feature's corners
  // (LocalSurface::corner); all other vertices have none.
  WitnessRate corner[2][3][3];

  LocalSurface A, B;       // the features that touch, at the points; axes in W
  bool one_sided = false;  // see WitnessFactors
};

// What is asked for; all else is zero.
struct DerivativesWanted {
  bool pose[2] = {true, true};  // twists of A and B
  bool shapes = true;           // sizes, scales and corners
};

// Of a witness that signed_distance gave for these shapes and poses. Where the distance is infinite
// (two half-spaces) all are zero.
WitnessDerivatives witness_derivatives(const Witness& witness, const Shape& A, const SE3d& X_WA,
                                       const Shape& B, const SE3d& X_WB,
                                       const DerivativesWanted& wanted = {});

// The surface of a posed shape about a point p_W on it with outward normal n_W; axes in W.
LocalSurface local_surface(const Shape& shape, const SE3d& X_WS, const Vec3d& p_W,
                           const Vec3d& n_W);

}  // namespace robosim
