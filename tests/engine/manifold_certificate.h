// Laws that every contact manifold must satisfy. The result is the first violated law, with a
// number.
#pragma once

#include "certificate.h"
#include "geometry/manifolds/manifold_derivatives.h"

namespace robosim::testing {

// Certify the manifold of points with gaps of at most `margin`. margin and tolerance are relative
// to the scene's size.
inline Verdict certify_manifold(const Scene& s, double margin = 1e-2, double tolerance = 1e-9) {
  const Manifold m = contact_manifold(s.A, s.X_WA, s.B, s.X_WB, margin * s.size);
  const Witness& w = m.witness;
  if (!std::isfinite(w.distance))
    return m.n_points == 0 ? Verdict{} : Verdict{"points without a distance"};
  if (w.distance < 0 && surrounded(s)) tolerance = std::fmax(tolerance, surrounded_tolerance);
  const auto beyond = [&](double length) { return !(std::fabs(length) <= tolerance * s.size); };
  const auto verdict = [&](const char* broken, double length) {
    return Verdict{broken, length / s.size};
  };
  if (m.n_points < 0 || m.n_points > Manifold::max_points)
    return {"number of points", static_cast<double>(m.n_points)};
  if ((m.n_points > 0) != (w.distance <= margin * s.size))
    return verdict("points beyond the margin, or none within", w.distance);
  // If a shape lies flat on a face, the normal is that of the face. Gaps may then be below the
  // distance by the effect of the small tilt.
  const auto radius = [](const Shape& shape) {
    return HostileScenes::bounded(shape) ? bounding_ball(shape).radius : INFINITY;
  };
  const bool lies_flat = norm(m.normal() - w.normal) > 1e-14;
  const double less = lies_flat ? Manifold::flat_faces * std::fmin(radius(s.A), radius(s.B)) : 0;
  for (int i = 0; i < m.n_points; ++i) {
    const ManifoldPoint& p = m.points[i];
    if (!(p.gap <= margin * s.size)) return verdict("a gap above the margin", p.gap);
    if (p.gap < w.distance - less && beyond(p.gap - w.distance))
      return verdict("a gap below the distance", p.gap - w.distance);
    if (const double d = norm(p.p_WB - p.p_WA - p.gap * m.normal()); beyond(d))
      return verdict("points across the normal", d);
    for (const auto& [shape, X, x] :
         {std::tuple(&s.A, &s.X_WA, &p.p_WA), std::tuple(&s.B, &s.X_WB, &p.p_WB)}) {
      if (shape->mesh && shape->mesh->faces.size() > 1000) continue;
      const double off =
          static_cast<double>(extended::Posed(*shape, *X).outside(extended::vec(*x)));
      if (beyond(off)) return verdict("a point off the surface", off);
    }
  }
  if (m.n_points == 0) return {};
  ManifoldDerivatives rates;
  manifold_derivatives(m, s.A, s.X_WA, s.B, s.X_WB, rates);
  const auto is_fine = [](const ManifoldRate& r) {
    return is_finite(r) && std::isfinite(norm(r.p_W));
  };
  for (int i = 0; i < rates.n_points; ++i) {
    const ManifoldPointDerivatives& p = rates.points[i];
    bool fine = true;
    for (const ManifoldRate& r : p.twist) fine &= is_fine(r);
    for (int side = 0; side < 2; ++side) {
      fine &= is_fine(p.scale[side]);
      for (int k = 0; k < rates.n_sizes[side]; ++k) fine &= is_fine(p.size[side][k]);
      for (int k = 0; k < p.n_corners[side]; ++k)
        for (const ManifoldRate& r : p.corner[side][k]) fine &= is_fine(r);
    }
    if (!fine) return {"derivatives not finite"};
  }
  return {};
}

// Certify the witness, its derivatives, and the manifold with its derivatives.
inline Verdict certify_all(const Scene& s, RandomShapes& random, double tolerance = 1e-9) {
  const Verdict verdict = certify(s, random, tolerance);
  return verdict.broken ? verdict : certify_manifold(s, 1e-2, tolerance);
}

}  // namespace robosim::testing
