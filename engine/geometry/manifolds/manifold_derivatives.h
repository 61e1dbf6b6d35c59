// Derivatives of every point of a contact manifold, with the features that generate it held.
//
// The normal n turns by dn as that of the witness does (contact_derivatives.h), or with the face
// that it belongs to (Manifold::reference). Every point lies on a line along n through an anchor y:
// a corner of one shape (it moves by u(y)), or where two sides cross,
//
//   y_A + s d_A + k n = y_B + t d_B:   s' d_A . (n x d_B) = (u_B(y_B) - u_A(y_A) - k dn) . (n x
//                                      d_B),   dy = u_A(y_A) + s' d_A.
//
// The line leaves a surface with outward normal m at p = y + h n, and the surface moves there by
// u(p):
//
//   dh = m . (u(p) - dy - h dn) / (m . n),   dp = dy + dh n + h dn,   dgap = dh_B - dh_A.
//
// A straight line of a mantle moves round it as n turns. To first order nothing else of a surface's
// curvature counts: dn has it. Cost: some 30 multiplications per point and parameter.
#pragma once

#include <vector>

#include "base/function_ref.h"
#include "geometry/contact_derivatives.h"
#include "geometry/manifolds/manifold.h"

namespace robosim {

struct ManifoldRate : WitnessRate {  // distance is the gap
  Vec3d p_W;                         // in the manifold's plane
};

struct ManifoldPointDerivatives {
  // Of the normal's feature, the core's and the surface's there: three each.
  static constexpr int max_corners = 9;

  ManifoldRate twist[12];  // as in WitnessDerivatives
  ManifoldRate size[2][WitnessDerivatives::max_sizes];
  ManifoldRate scale[2];
  int n_corners[2] = {0, 0};
  // Of a convex mesh: these vertices move the point or its normal...
  int vertex[2][max_corners] = {};
  ManifoldRate corner[2][max_corners][3];  // ... by so much per coordinate in the shape's frame
  // Another feature takes over right here; or that of the normal does.
  bool one_sided = false;
};

// The first n_points belong to the manifold's points; what lies beyond the counts is left as it
// was. There is room for as many points as one manifold of those that it was of had, as most have
// few and a point takes 8 kB; beyond that nothing is allocated.
struct ManifoldDerivatives {
  int n_points = 0, n_sizes[2] = {0, 0};
  std::vector<ManifoldPointDerivatives> points;
};

// Of a manifold that contact_manifold gave for these shapes and poses.
void manifold_derivatives(const Manifold& manifold, const Shape& A, const SE3d& X_WA,
                          const Shape& B, const SE3d& X_WB, ManifoldDerivatives& out);

// The same of a manifold about a witness that was given, with its derivatives: asked for where they
// count. What is not wanted has twists of zero, or no sizes and corners and the scale as it was.
void manifold_derivatives(const Manifold& manifold, const Shape& A, const SE3d& X_WA,
                          const Shape& B, const SE3d& X_WB,
                          FunctionRef<WitnessDerivatives()> of_witness, ManifoldDerivatives& out,
                          const DerivativesWanted& wanted = {});

}  // namespace robosim
