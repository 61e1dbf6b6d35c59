// Error of a witness, bounded in extended precision, for one pair of posed shapes of which at most
// one is a half-space.
#pragma once

#include "exact_witness.h"
#include "least_depth.h"

namespace robosim::testing {

struct WitnessErrors {
  // Below this bound the points or the normal are not unique in double precision: 1e-16 / 1e-6 =
  // 1e-10.
  static constexpr double least_regularity = 1e-6;

  double distance = 0;  // bounds in both directions [m]
  double points = 0;    // the larger of both [m]; at least the distance from the surface
  double normal = 0;    // [rad]
  bool verified = false, unique = false;  // without either, points and normal are not compared

  WitnessErrors(const Witness& w, const Shape& shape_A, const SE3d& X_WA, const Shape& shape_B,
                const SE3d& X_WB) {
    using namespace extended;
    const Posed A(shape_A, X_WA), B(shape_B, X_WB);
    const Vec n = vec(w.normal), p_A = vec(w.p_WA), p_B = vec(w.p_WB);
    const Real claimed = w.distance;
    const auto distance_error = [&](Real other) {
      distance = std::max(distance, static_cast<double>(std::fabs(claimed - other)));
    };
    points = static_cast<double>(std::max(std::fabs(A.outside(p_A)), std::fabs(B.outside(p_B))));
    // Lower bound: the distance of the supporting planes with this normal.
    distance_error(plane_gap(A, B, n / n.norm()));
    // Upper bound: for separated shapes by the points, as far as these are in the shapes; for
    // overlapping shapes by all other directions.
    distance_error((p_B - p_A).dot(n / n.norm()));
    if (claimed > 0) {
      distance_error((p_B - p_A).norm() + std::max<Real>(0, A.outside(p_A)) +
                     std::max<Real>(0, B.outside(p_B)));
    } else if (A.bounded() && B.bounded()) {
      const DepthBounds bounds = least_depth(A, B, -claimed, 1e-15L, p_A, p_B);
      if (-bounds.lower > claimed) distance_error(-bounds.lower);
      if (-bounds.upper > claimed) distance_error(-bounds.upper);
    }
    const ExactWitness exact = exact_witness(A, B, w);
    verified = exact.verified;
    unique = verified && exact.regularity > least_regularity;
    if (!verified) return;
    distance_error(exact.distance);
    if (!unique) return;
    points = std::max(
        points, static_cast<double>(std::max((p_A - exact.p_A).norm(), (p_B - exact.p_B).norm())));
    normal =
        static_cast<double>(n.cross(exact.normal).norm() + std::max<Real>(0, -n.dot(exact.normal)));
  }
};

}  // namespace robosim::testing
