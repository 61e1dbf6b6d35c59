// Witness of two shapes in extended precision: Newton's method on the witness conditions, with a
// verified result.
//
// The unknowns u_A, u_B, phi and n are on the pieces of surface (extended_shapes.h) that contain
// the points of a given witness. They solve
//
//   p_B(u_B) - p_A(u_A) = phi n,   n . dp_A/du_A = 0,   n . dp_B/du_B = 0,   (n.n - 1) / 2 = 0,
//
// which are as many equations as unknowns, for critical points of the distance between the two
// pieces. The start is the given witness, displaced by 1e-6, so that the result is an attractor of
// the conditions and not a copy.
//
// The result is the exact witness if both points are on their shapes, and the supporting planes
// with normal n have distance phi. This is verified to 4e-15 m, as poses are orthonormal to 1e-16.
// For separated shapes the proof is complete, as the distance of convex sets has one critical
// point. For overlapping shapes phi is the length of a separating translation, which least_depth.h
// compares with all others. No supporting planes have a larger distance than the shapes. Therefore
// a phi below the distance of the supporting planes with the given normal is a longer translation,
// found with a neighboring piece.
//
// If the least singular value of the conditions is near zero, the points or the normal are not
// unique: parallel faces or edges, a common center of curvature, corners that touch.
#pragma once

#include "extended_shapes.h"

namespace robosim::testing::extended {

struct ExactWitness {
  bool verified = false;
  // Lower bound of the least singular value of the conditions' Jacobian, lengths in meters.
  Real regularity = 0;
  Real distance = 0;
  Vec normal = Vec::Zero(), p_A = Vec::Zero(), p_B = Vec::Zero();
};

namespace newton {

using Matrix = Eigen::Matrix<Real, Eigen::Dynamic, Eigen::Dynamic, 0, 8, 8>;
using Vector = Eigen::Matrix<Real, Eigen::Dynamic, 1, 0, 8, 1>;

// A piece of a shape's core, with the rows of its coordinates among the unknowns.
struct Side {
  const Posed& posed;
  Patch patch;
  int first;  // index of the first unknown

  Patch::Jet at(const Vector& x) const {
    Patch::Jet jet =
        patch.at(patch.k > 0 ? x[first] : patch.u[0], patch.k > 1 ? x[first + 1] : patch.u[1]);
    jet.p = posed.R * jet.p + posed.p;
    for (int i = 0; i < 2; ++i) {
      jet.d[i] = posed.R * jet.d[i];
      for (int j = 0; j < 2; ++j) jet.dd[i][j] = posed.R * jet.dd[i][j];
    }
    return jet;
  }
};

// Residuals of the conditions and their Jacobian with respect to (u_A, u_B, phi, n).
inline void conditions(const Side& A, const Side& B, const Vector& x, Vector& r, Matrix& J) {
  const int k = A.patch.k + B.patch.k, size = k + 4;
  const Vec n = x.segment<3>(k + 1);
  r.setZero(size);
  J.setZero(size, size);
  const Patch::Jet a = A.at(x), b = B.at(x);
  r.head<3>() = b.p - a.p - x[k] * n;
  J.block<3, 1>(0, k) = -n;
  J.block<3, 3>(0, k + 1) = -x[k] * Mat::Identity();
  for (const auto& [side, jet, sign] : {std::tuple(&A, &a, -1), std::tuple(&B, &b, 1)})
    for (int i = 0; i < side->patch.k; ++i) {
      const int row = 3 + side->first + i;
      J.block<3, 1>(0, side->first + i) = sign * jet->d[i];
      r[row] = n.dot(jet->d[i]);
      J.block<1, 3>(row, k + 1) = jet->d[i].transpose();
      for (int j = 0; j < side->patch.k; ++j) J(row, side->first + j) = n.dot(jet->dd[i][j]);
    }
  r[size - 1] = (n.dot(n) - 1) / 2;
  J.block<1, 3>(size - 1, k + 1) = n.transpose();
}

}  // namespace newton

// Solve on the pieces within `tolerance` of the points.
inline ExactWitness exact_witness(const Posed& A, const Posed& B, const Witness& near,
                                  Real tolerance) {
  using namespace newton;
  constexpr int max_rounds = 12;
  constexpr Real start_off = 1e-6L, precision = 4e-15L;
  // Pieces of the surfaces at the given witness.
  const Real rA = rounding(A.shape), rB = rounding(B.shape);
  const Vec n0 = vec(near.normal), a0 = vec(near.p_WA) - rA * n0, b0 = vec(near.p_WB) + rB * n0;
  const Patch on_A = patch(A.shape, A.in_shape(a0), A.R.transpose() * n0, tolerance);
  const Patch on_B = patch(B.shape, B.in_shape(b0), -(B.R.transpose() * n0), tolerance);
  const Side a{A, on_A, 0}, b{B, on_B, on_A.k};
  const int k = on_A.k + on_B.k;
  // Start: the given witness, slightly displaced.
  Vector x = Vector::Zero(k + 4), r;
  for (int i = 0; i < on_A.k; ++i) x[i] = on_A.u[i];
  for (int i = 0; i < on_B.k; ++i) x[on_A.k + i] = on_B.u[i];
  x[k] = static_cast<Real>(near.distance) + rA + rB;
  x.segment<3>(k + 1) = n0;
  for (int i = 0; i < k + 4; ++i) x[i] += start_off * std::cos(static_cast<Real>(3 * i + 1));
  Matrix J;
  ExactWitness w;
  // Newton's method.
  for (int round = 0; round < max_rounds; ++round) {
    conditions(a, b, x, r, J);
    const Eigen::FullPivLU<Matrix> lu(J);
    if (!lu.isInvertible()) return w;
    const Matrix inverse = lu.inverse();
    w.regularity = 1 / inverse.norm();
    const Vector step = inverse * r;
    x -= step;
    if (!x.allFinite()) return w;
    if (step.norm() < 1e-17L * (1 + x.norm())) break;
  }
  // Verification by supporting planes and membership.
  w.normal = x.segment<3>(k + 1);
  w.distance = x[k] - rA - rB;
  w.p_A = a.at(x).p + rA * w.normal;
  w.p_B = b.at(x).p - rB * w.normal;
  w.verified = std::fabs(plane_gap(A, B, w.normal) - w.distance) < precision &&
               std::fabs(A.outside(w.p_A)) < precision && std::fabs(B.outside(w.p_B)) < precision &&
               w.distance > plane_gap(A, B, n0 / n0.norm()) - precision;
  return w;
}

// Solve on the first pieces that lead to a verified result.
inline ExactWitness exact_witness(const Posed& A, const Posed& B, const Witness& near) {
  ExactWitness w;
  for (const Real tolerance : {1e-9L, 1e-12L, 1e-6L}) {
    w = exact_witness(A, B, near, tolerance);
    if (w.verified) break;
  }
  return w;
}

}  // namespace robosim::testing::extended
