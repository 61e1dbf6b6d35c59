// Derivatives of the witness points of two shapes in factored form: the factors suffice to multiply
// the derivatives by a motion or by a covector.
//
// A and B touch the planes with normal n through their witness points, p_B - p_A = phi n. A motion
// moves the points on the surfaces with the tangential velocities u_A and u_B. It turns the normals
// of the surfaces by w_A = omega_A x n and w_B = omega_B x n. The witness points move along the
// surfaces by S_A (dn - w_A) and -S_B (dn - w_B), where S holds the principal radii
// (local_surface.h). The normal stays common to both surfaces if
//
//   (phi + S_A + S_B) dn = u_B - u_A + S_A w_A + S_B w_B,   dphi = n . (u_B - u_A),
//
// a 2 x 2 system. With P its inverse, Q_A = P S_A, Q_B = P S_B and H = S_A P S_B,
//
//   dn  = P (u_B - u_A) + Q_A w_A + Q_B w_B,
//   dp_A = u_A + Q_A^T (u_B - u_A) - (phi Q_A^T + H) w_A + H w_B   (tangential),
//   dp_B = dp_A + dphi n + phi dn.
//
// P, Q and H stay finite where radii are infinite (edges, faces, lateral surfaces), unless both
// shapes are straight in a common direction. Along a straight direction, n turns with the shape
// that is straight. The same equations apply to every pair of shapes, separated or overlapping.
//
// Cost: four 2 x 2 blocks and the tangents, less than the witness itself for most pairs.
// Multiplying by the factors, to continue to other coordinates (joints, sizes), takes some 60
// multiplications per motion. For the dense form with 120 numbers see witness_jacobian.h.
#pragma once

#include "geometry/query.h"
#include "geometry/tangent_plane.h"

namespace robosim {

// Derivative of a witness with respect to one parameter, or a covector on such derivatives.
struct WitnessRate {
  double distance = 0;
  Vec3d normal, p_WA, p_WB;

  WitnessRate& operator+=(const WitnessRate& o) {
    distance += o.distance;
    normal += o.normal;
    p_WA += o.p_WA;
    p_WB += o.p_WB;
    return *this;
  }
};

// Motion of a shape's surface at its witness point, in W: velocity u of the surface, and turn w of
// its normal (w = omega x n for a body with angular velocity omega). Or a covector on such motions.
struct SurfaceMotion {
  Vec3d u, w;
};

struct WitnessFactors {
  Witness witness;   // witness that the factors belong to
  Vec3d tangent[2];  // t0, t1 = n x t0: axes of the blocks
  tangent_plane::Mat2 P, Q_A, Q_B, H;
  // False if the distance is infinite (two half-spaces); every derivative is then zero.
  bool finite = true;
  // True if the derivatives are valid on one side only, for one of these reasons:
  //   - Another feature takes over at this very state.
  //   - The witness points are not unique (parallel faces or edges). The points then keep their
  //     place on the shape that is not straight, or on B if both shapes are straight.
  //   - The surfaces' common center of curvature is at the witness, as when a sphere's center lies
  //     on a capsule's axis. The normal then turns with A.
  bool one_sided = false;

  // Rate of the witness when the surface of A (side 0) or B (side 1) moves and the other rests.
  WitnessRate rate(int side, const SurfaceMotion& motion) const;
  // Transpose of `rate`: for all motions dot(rate(side, motion), covector) = dot(motion,
  // pulled_back(side, covector)).
  SurfaceMotion pulled_back(int side, const WitnessRate& covector) const;

  // Blocks that map u and w of one side to the tangential components of dn and dp_A.
  struct Blocks {
    tangent_plane::Mat2 normal_u, normal_w, point_u, point_w;
  };
  Blocks blocks(int side) const;
};

// Factors of a witness that signed_distance returned for these shapes and poses.
WitnessFactors witness_factors(const Witness& witness, const Shape& A, const SE3d& X_WA,
                               const Shape& B, const SE3d& X_WB);

// Jacobian-vector product. twists: twist of A, then of B, each [linear; angular] in the moving
// frame.
WitnessRate jvp(const WitnessFactors& factors, const SE3d& X_WA, const SE3d& X_WB,
                const double (&twists)[12]);
// Vector-Jacobian product of a covector, such as the gradient of a cost of distance, normal and
// points. Sets `twists`, ordered as in jvp.
void vjp(const WitnessFactors& factors, const SE3d& X_WA, const SE3d& X_WB,
         const WitnessRate& covector, double (&twists)[12]);
// Compute the Jacobian for the six entries of one side's twist; X is the pose of that side.
// Requires finite factors. For one matrix with both sides see witness_jacobian.h.
void expand(const WitnessFactors& factors, int side, const SE3d& X, WitnessRate* twist);

// Properties of one side that the factors are computed from: its radii over the tangents, its size
// [m], and whether another feature takes over at the witness point.
struct SideRadii {
  tangent_plane::Radii S;
  double size;
  bool at_switch;

  SideRadii(const tangent_plane::Radii& radii, double size_, const LocalSurface& s)
      : S(radii),
        size(size_),
        at_switch(s.slide < feature_tolerance * size_ || s.tilt_sine < feature_tolerance) {}
};

// Factors over the tangents t0, t1 that tangents(witness.normal, t0, t1) of directions.h returns.
WitnessFactors witness_factors(const Witness& witness, const Vec3d& t0, const Vec3d& t1,
                               const SideRadii& A, const SideRadii& B);

}  // namespace robosim
