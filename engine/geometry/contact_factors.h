// Derivatives of the closest points of two shapes in factored form: all that it takes to multiply
// them by a motion or a covector.
//
// A and B touch the planes with the normal n through their points, p_B - p_A = phi n. A motion
// gives the points on the surfaces velocities u_A and u_B (tangential parts), turns n over the
// surfaces by w_A = omega_A x n and w_B, and moves the points along the surfaces by S_A (dn - w_A)
// and -S_B (dn - w_B), where S holds the principal radii (local_surface.h). So that n stays common,
//
//   (phi + S_A + S_B) dn = u_B - u_A + S_A w_A + S_B w_B,   dphi = n . (u_B - u_A),
//
// a 2 x 2 system. With P its inverse, Q_A = P S_A, Q_B = P S_B and H = S_A P S_B,
//
//   dn  = P (u_B - u_A) + Q_A w_A + Q_B w_B,
//   dp_A = u_A + Q_A^T (u_B - u_A) - (phi Q_A^T + H) w_A + H w_B   (tangential),
//   dp_B = dp_A + dphi n + phi dn.
//
// P, Q and H stay finite where radii are infinite (edges, faces, mantles), as long as the two
// shapes are not straight in a common direction: there n follows the straight one. One rule for
// every pair of shapes, separated and overlapping.
//
// Four 2 x 2 blocks and the tangents: less than the witness itself takes to find for most pairs. A
// user that goes on to other coordinates (joints, sizes) multiplies by them, some 60
// multiplications per motion; for the 120 numbers of the dense form see witness_jacobian.h.
#pragma once

#include "geometry/query.h"
#include "geometry/tangent_plane.h"

namespace robosim {

// What one parameter moves, per unit of it; or a covector on these.
struct WitnessRate {
  double distance = 0;
  Vec3d normal, p_WA, p_WB;

  WitnessRate& operator+=(const WitnessRate& o) {
    distance += o.distance, normal += o.normal, p_WA += o.p_WA, p_WB += o.p_WB;
    return *this;
  }
};

// How a shape's surface moves at its point, in W: with velocity u, its normal turned by w (of a
// body with angular velocity omega, w = omega x n); or a covector on these.
struct SurfaceMotion {
  Vec3d u, w;
};

struct WitnessFactors {
  Witness witness;   // whose derivatives these are
  Vec3d tangent[2];  // t0, t1 = n x t0: the blocks' axes
  tangent_plane::Mat2 P, Q_A, Q_B, H;
  // Unless the distance is infinite (two half-spaces): then every derivative is zero.
  bool finite = true;
  // Of derivatives that hold on one side only, because another feature takes over right here,
  // because the points are not unique (parallel faces or edges: then the points keep their place on
  // the shape that is not straight, on B where both are), or because the surfaces' common center of
  // curvature is there (as when a sphere's center lies on a capsule's axis: then n turns with A).
  bool one_sided = false;

  // Where the surface of A (side 0) or B (side 1) moves so; the other rests.
  WitnessRate rate(int side, const SurfaceMotion& motion) const;
  // The transpose: for all motions dot(rate(side, motion), covector) = dot(motion,
  // pulled_back(side, covector)).
  SurfaceMotion pulled_back(int side, const WitnessRate& covector) const;

  // Which blocks turn n and move p_A along the tangents, by a side's u and w.
  struct Blocks {
    tangent_plane::Mat2 normal_u, normal_w, point_u, point_w;
  };
  Blocks blocks(int side) const;
};

// Of a witness that signed_distance gave for these shapes and poses.
WitnessFactors witness_factors(const Witness& witness, const Shape& A, const SE3d& X_WA,
                               const Shape& B, const SE3d& X_WB);

// Twelve numbers: the twist of A, then of B, each [linear; angular] in the moving frame. Product
// with them...
WitnessRate jvp(const WitnessFactors& factors, const SE3d& X_WA, const SE3d& X_WB,
                const double (&twists)[12]);
// ... of a covector with the derivative, such as the gradient of a cost of distance, normal and
// points...
void vjp(const WitnessFactors& factors, const SE3d& X_WA, const SE3d& X_WB,
         const WitnessRate& covector, double (&twists)[12]);
// ... and the derivative itself, by the six entries of one side's twist, whose pose is X: of finite
// factors. As one matrix of both sides see witness_jacobian.h.
void expand(const WitnessFactors& factors, int side, const SE3d& X, WitnessRate* twist);

// What the factors are made of: a side's radii over the tangents, its size [m], and whether another
// feature takes over right here.
struct SideRadii {
  tangent_plane::Radii S;
  double size;
  bool at_switch;

  SideRadii(const tangent_plane::Radii& radii, double size_, const LocalSurface& s)
      : S(radii),
        size(size_),
        at_switch(s.slide < feature_tolerance * size_ || s.tilt_sine < feature_tolerance) {}
};

// With tangents(witness.normal, t0, t1) of directions.h.
WitnessFactors witness_factors(const Witness& witness, const Vec3d& t0, const Vec3d& t1,
                               const SideRadii& A, const SideRadii& B);

}  // namespace robosim
