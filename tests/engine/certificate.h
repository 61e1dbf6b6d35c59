// Laws that every signed-distance query must satisfy, whatever the shapes and poses. The result is
// the first violated law, with a number.
#pragma once

#include <cmath>

#include "extended_shapes.h"
#include "geometry/contact_derivatives.h"
#include "hostile_scenes.h"

namespace robosim::testing {

struct Verdict {
  const char* broken = nullptr;  // null if all laws are satisfied
  double by = 0;                 // lengths relative to the scene's size
};

inline bool is_finite(const WitnessRate& r) {
  return std::isfinite(r.distance + norm(r.normal) + norm(r.p_WA) + norm(r.p_WB));
}

inline bool is_finite(const WitnessDerivatives& d) {
  for (const WitnessRate& r : d.twist)
    if (!is_finite(r)) return false;
  for (int side = 0; side < 2; ++side) {
    for (const WitnessRate& r : d.size[side])
      if (!is_finite(r)) return false;
    for (const auto& corner : d.corner[side])
      for (const WitnessRate& r : corner)
        if (!is_finite(r)) return false;
    if (!is_finite(d.scale[side])) return false;
  }
  return true;
}

// Certify a query of two half-spaces: the distance is -infinity, or that of planes that face each
// other.
inline Verdict certify_half_spaces(const Scene& s, const Witness& w) {
  const bool facing = norm(s.X_WA.R.col(2) + s.X_WB.R.col(2)) < 1e-12;
  if (std::isnan(w.distance) || (!facing && std::isfinite(w.distance)))
    return {"distance", w.distance};
  return is_finite(witness_derivatives(w, s.A, s.X_WA, s.B, s.X_WB))
             ? Verdict{}
             : Verdict{"derivatives not finite"};
}

// Tolerance of the distance, relative to the size, for a body inside one that is more than ten
// thousand times larger. Separating translations in all directions then differ by less than 1e-4 of
// the size, and the query returns one of them.
inline constexpr double surrounded_tolerance = 1e-5;
inline bool surrounded(const Scene& s) {
  const double a = bounding_ball(s.A).radius, b = bounding_ball(s.B).radius;
  return HostileScenes::bounded(s.A) && HostileScenes::bounded(s.B) &&
         std::fmin(a, b) < 1e-4 * std::fmax(a, b);
}

// Certify a query. The tolerance of lengths is relative to the scene's size. directions: number of
// other directions that are tried for a shorter separating translation.
inline Verdict certify(const Scene& s, RandomShapes& random, double tolerance = 1e-9,
                       int directions = 20) {
  using extended::Posed;
  const Witness w = signed_distance(s.A, s.X_WA, s.B, s.X_WB);
  const bool bounded_A = HostileScenes::bounded(s.A), bounded_B = HostileScenes::bounded(s.B);
  if (!bounded_A && !bounded_B) return certify_half_spaces(s, w);
  if (w.distance < 0 && surrounded(s)) tolerance = std::fmax(tolerance, surrounded_tolerance);
  const auto beyond = [&](double length) { return !(std::fabs(length) <= tolerance * s.size); };
  const auto verdict = [&](const char* broken, double length) {
    return Verdict{broken, length / s.size};
  };
  if (!std::isfinite(w.distance + norm(w.p_WA) + norm(w.p_WB)))
    return verdict("not finite", w.distance);
  if (!(std::fabs(norm(w.normal) - 1) < 1e-12)) return {"normal not unit", norm(w.normal)};
  if (const double d = norm(w.p_WB - w.p_WA - w.distance * w.normal); beyond(d))
    return verdict("points do not fit the normal", d);
  // Both points lie on the supporting planes: no part of the shapes is beyond these planes, so that
  // the planes are separated by the distance.
  const auto end = [](const Shape& shape, const SE3d& X, const Vec3d& n) {
    return X * support(shape, transpose_times(X.R, n));
  };
  if (bounded_A)
    if (const double d = dot(w.normal, w.p_WA - end(s.A, s.X_WA, w.normal)); beyond(d))
      return verdict("A does not end at its point", d);
  if (bounded_B)
    if (const double d = dot(w.normal, w.p_WB - end(s.B, s.X_WB, -w.normal)); beyond(d))
      return verdict("B does not end at its point", d);
  // The points lie on the surfaces. For large meshes only the supporting planes are checked.
  const auto off = [&](const Shape& shape, const SE3d& X, const Vec3d& p) {
    if (shape.mesh && shape.mesh->faces.size() > 1000) return 0.0;
    return static_cast<double>(Posed(shape, X).outside(extended::vec(p)));
  };
  if (const double d = off(s.A, s.X_WA, w.p_WA); beyond(d))
    return verdict("A's point is off its surface", d);
  if (const double d = off(s.B, s.X_WB, w.p_WB); beyond(d))
    return verdict("B's point is off its surface", d);
  if (beyond(w.distance) && closer_than(0, s.A, s.X_WA, s.B, s.X_WB) != (w.distance < 0))
    return verdict("sign", w.distance);
  const Witness v = signed_distance(s.B, s.X_WB, s.A, s.X_WA);
  if (beyond(v.distance - w.distance))
    return verdict("another distance when swapped", v.distance - w.distance);
  // No other direction has a shorter separating translation.
  if (w.distance < 0 && bounded_A && bounded_B)
    for (int i = 0; i < directions; ++i) {
      Vec3d n(random.sign_free(), random.sign_free(), random.sign_free());
      if (i % 2) n = w.normal + 0.1 * n;
      n *= 1 / norm(n);
      const double depth = dot(n, end(s.A, s.X_WA, n) - end(s.B, s.X_WB, -n));
      if (depth < -w.distance && beyond(depth + w.distance))
        return verdict("another way out is shorter", -w.distance - depth);
    }
  return is_finite(witness_derivatives(w, s.A, s.X_WA, s.B, s.X_WB))
             ? Verdict{}
             : Verdict{"derivatives not finite", 0};
}

}  // namespace robosim::testing
