// Derivatives of every point of a contact manifold, for fixed features.
//
// The normal n turns by dn, either as the normal of the witness does (contact_derivatives.h) or
// with the reference face (Manifold::reference). Every point lies on a line along n through an
// anchor y. The anchor is a corner of one shape, which moves by u(y), or the crossing of two sides:
//
//   y_A + s d_A + k n = y_B + t d_B,
//   s' d_A . (n x d_B) = (u_B(y_B) - u_A(y_A) - k dn) . (n x d_B),   dy = u_A(y_A) + s' d_A.
//
// The line leaves a surface at p = y + h n with outward normal m. With the surface moving by u(p)
// there,
//
//   dh = m . (u(p) - dy - h dn) / (m . n),   dp = dy + dh n + h dn,   dgap = dh_B - dh_A.
//
// A straight line of a mantle moves around the mantle as n turns. No other effect of curvature
// enters to first order, since dn includes it. Cost: about 30 multiplications per point and
// parameter.
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
  // Three each for the features of the normal, of the core and of the surface.
  static constexpr int max_corners = 9;

  ManifoldRate twist[12];  // as in WitnessDerivatives
  ManifoldRate size[2][WitnessDerivatives::max_sizes];
  ManifoldRate scale[2];
  int n_corners[2] = {0, 0};
  // Vertices of a convex mesh that move the point or its normal...
  int vertex[2][max_corners] = {};
  ManifoldRate corner[2][max_corners][3];  // ... and the rates per coordinate in the shape's frame
  // True if another feature takes over at this state, for the point or for the normal.
  bool one_sided = false;
};

// Derivatives of the points of a manifold. The first n_points entries belong to the manifold's
// points; entries beyond the counts are left unchanged. The capacity is that of the largest
// manifold computed so far, as most manifolds have few points and a point takes 8 kB. Beyond that,
// nothing is allocated.
struct ManifoldDerivatives {
  int n_points = 0, n_sizes[2] = {0, 0};
  std::vector<ManifoldPointDerivatives> points;
};

// Compute the derivatives of a manifold that contact_manifold returned for these shapes and poses.
void manifold_derivatives(const Manifold& manifold, const Shape& A, const SE3d& X_WA,
                          const Shape& B, const SE3d& X_WB, ManifoldDerivatives& out);

// Compute the derivatives of a manifold of a given witness. of_witness returns the derivatives of
// the witness and is called only if they matter. Unwanted poses get zero twists. Unwanted shapes
// get no sizes and corners, and their scale is left unchanged.
void manifold_derivatives(const Manifold& manifold, const Shape& A, const SE3d& X_WA,
                          const Shape& B, const SE3d& X_WB,
                          FunctionRef<WitnessDerivatives()> of_witness, ManifoldDerivatives& out,
                          const DerivativesWanted& wanted = {});

}  // namespace robosim
