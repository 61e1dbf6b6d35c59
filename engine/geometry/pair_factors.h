// Factors of the derivatives of witness points (contact_factors.h) for pairs of shapes whose types
// are known at compile time.
#pragma once

#include <algorithm>
#include <cmath>

#include "geometry/contact_factors.h"
#include "geometry/directions.h"

namespace robosim::pair_factors {

using namespace tangent_plane;

// One side of the contact: its radii over the tangents, its size [m], and whether another feature
// takes over at the witness point.
template <class S>
struct Side {
  S radii;
  double size = 0;
  bool at_switch = false;
};

// Radii of a posed shape about its point p_W with outward normal n_W. The size is not needed
// against a half-space.
template <ShapeType T, bool with_size>
ROBOSIM_INLINE Side<Radii> look_at_core(const Shape& shape, const SE3d& X_WS, const Vec3d& p_W,
                                        const Vec3d& n_W, const Vec3d& t0, const Vec3d& t1) {
  if constexpr (T == ShapeType::sphere)
    return {Radii::round(shape.radius), shape.radius};
  else if constexpr (T == ShapeType::half_space)
    return {Radii::flat()};
  else {
    const auto core = robosim::core<T>(shape);
    const auto in_S = [&](const Vec3d& x) __attribute__((always_inline)) {
      return transpose_times(X_WS.R, x);
    };
    // Curved cores have no rounding.
    const Vec3d p_C = core.curved ? p_W : p_W - core.rounding() * n_W;
    const TangentRadii s = core.radii_over(in_S(p_C - X_WS.p), in_S(n_W), in_S(t0), in_S(t1));
    const bool at_switch =
        s.tips || (s.slide < LocalSurface::straight && s.slide < feature_tolerance * size_of(core));
    return {s.radii, with_size ? size_of(core) : 0, at_switch};
  }
}
// Radii of a posed shape, in the simpler forms for spheres and half-spaces.
template <ShapeType T, ShapeType other>
ROBOSIM_INLINE auto look_at(const Shape& shape, const SE3d& X_WS, const Vec3d& p_W,
                            const Vec3d& n_W, const Vec3d& t0, const Vec3d& t1) {
  if constexpr (T == ShapeType::sphere)
    return Side<Round>{{shape.radius}, shape.radius};
  else if constexpr (T == ShapeType::half_space)
    return Side<Flat>{};
  else
    return look_at_core<T, other != ShapeType::half_space>(shape, X_WS, p_W, n_W, t0, t1);
}

// If both shapes are straight in a common direction, hold the point on the shape with fewer
// straight directions, or on B if both have the same number. Returns true if there is a common
// direction.
inline bool hold(Radii& A, Radii& B) {
  if (!share_a_straight_direction(A, B)) return false;
  (A.n_straight < B.n_straight ? A : B).hold();
  return true;
}
inline bool hold(Flat&, Radii& B) {
  const bool common = B.n_straight > 0;
  B.hold();
  return common;
}
inline bool hold(Radii& A, Flat&) {
  if (A.n_straight == 2) return true;  // the half-space's point is held
  const bool common = A.n_straight == 1;
  A.hold();
  return common;
}
inline bool hold(Flat&, Flat&) { return true; }
inline bool hold(Round&, auto&) { return false; }
inline bool hold(auto&, Round&) { return false; }
inline bool hold(Round&, Round&) { return false; }

// Response of the normal and the points. one_sided is set if the response is valid on one side
// only.
template <class S_A, class S_B>
ROBOSIM_INLINE Response answer(double phi, Side<S_A> A, Side<S_B> B, bool& one_sided) {
  const bool common = hold(A.radii, B.radii);
  const Response r = response(phi, A.radii, B.radii, std::max(A.size, B.size));
  one_sided = common || !r.regular || A.at_switch || B.at_switch;
  return r;
}

// Built in one expression, so that the numbers stay in registers.
template <class S_A, class S_B>
ROBOSIM_INLINE WitnessFactors factors(const Witness& witness, const Vec3d& t0, const Vec3d& t1,
                                      const Side<S_A>& A, const Side<S_B>& B) {
  if (!std::isfinite(witness.distance)) return {witness, {t0, t1}, {}, {}, {}, {}, false, true};
  bool one_sided;
  const Response r = answer(witness.distance, A, B, one_sided);
  return {witness, {t0, t1}, r.P, r.Q_A, r.Q_B, r.H, true, one_sided};
}

// Types with simpler equations.
constexpr bool is_simple(ShapeType t) {
  return t == ShapeType::sphere || t == ShapeType::half_space;
}
// True if the pair is compiled for both types at once. For these pairs the witness is as cheap as
// the calls; for other pairs each shape is dispatched by itself.
constexpr bool as_a_whole(ShapeType a, ShapeType b) {
  return is_simple(a) || is_simple(b) || (a == ShapeType::capsule && b == a);
}

// Factors over the tangents t0, t1 = n x t0 of the witness's normal.
template <ShapeType a, ShapeType b>
ROBOSIM_INLINE WitnessFactors over(const Witness& witness, const Vec3d& t0, const Vec3d& t1,
                                   const Shape& A, const SE3d& X_WA, const Shape& B,
                                   const SE3d& X_WB) {
  const Vec3d& n = witness.normal;
  return factors(witness, t0, t1, look_at<a, b>(A, X_WA, witness.p_WA, n, t0, t1),
                 look_at<b, a>(B, X_WB, witness.p_WB, -n, t0, t1));
}

}  // namespace robosim::pair_factors
