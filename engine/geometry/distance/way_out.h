// Proof that a locally shortest translation out of an overlap is the globally shortest one.
//
// D = B - A contains the origin. Let p = d m be the point of D's surface with outward normal m = -n
// that Newton's method has found (newton.h). Let f(x) = max over y in D of x.(y - p) >= 0, the
// support function about p. The depth in a unit direction x at an angle t from m is f(x) + d cos t.
// So d is the penetration depth if f(x) >= d (1 - cos t) for all x. A lower bound of f is the sum
// of one bound from A and one from B, each of them either
//
//   1. a ball of radius R inside the shape that touches its surface at the point:
//      f >= R (1 - cos t), so the ball reduces d by R; or
//   2. growth (local_surface.h): f >= 1/2 x^T G x over the tangent plane.
//
// Let g be the least eigenvalue of the sum of G, and r the rest of d after the balls are
// subtracted. g >= 2 r suffices for all t up to a right angle. Beyond a right angle, f is convex
// and f(m) = 0, so with u = x - (x.m) m, f(x) >= f(u) >= 1/2 g sin t. This is at least 2 r, which
// suffices, for t up to pi - s if 1/4 g sin s >= r. For the rest, f(-m) is D's width W along m, and
// no point of D is farther from p than L, so f(x) >= W - L s. This suffices for s = (W - 2 d) / L.
//
// Balls whose radii sum to d up to rounding prove d up to rounding: round bodies about a common
// center have equally short translations in all directions.
#pragma once

#include <algorithm>
#include <cmath>
#include <numbers>

#include "geometry/distance/newton.h"

namespace robosim {

// Radius of a ball inside the core that touches its surface at p, or a lower bound of that radius.
template <class Core>
double inner_radius(const Core& core, const Vec3d& p, const Vec3d& n) {
  if constexpr (requires { core.inner_radius(p, n); })
    return core.inner_radius(p, n);
  else
    return 0;
}

// Quadratic form over the tangent plane.
struct Form {
  double xx = 0, xy = 0, yy = 0;
};

template <class Core>
Form growth_form(const Core& core, const Vec3d& p, const Vec3d& n, const Vec3d& t0,
                 const Vec3d& t1) {
  const LocalSurface s = core.local_surface(p, n);
  Growth g = growth(s);
  if constexpr (requires { core.growth(s, n); }) g = core.growth(s, n);
  Form form;
  for (int i = 0; i < 2; ++i) {
    const double x = dot(s.axis[i], t0), y = dot(s.axis[i], t1);
    form.xx += g.along[i] * x * x;
    form.xy += g.along[i] * x * y;
    form.yy += g.along[i] * y * y;
  }
  return form;
}

// Return true if the contact of overlapping cores is proved to be the shortest translation that
// separates them. Newton's method must have proved that the contact is locally the shortest.
template <class Difference>
bool is_shortest_way_out(const Difference& D, const Contact& c) {
  const Vec3d &n = c.normal, b = c.a + c.w;
  const auto in_B = [&](const Vec3d& x) { return transpose_times(D.X_AB.R, x); };
  const Vec3d p_B = in_B(b - D.X_AB.p), n_B = in_B(-n);
  const double depth = -c.distance, R_A = inner_radius(D.A, c.a, n),
               R_B = inner_radius(D.B, p_B, n_B);
  const double reach = 2 * (D.A.bounding_ball().radius + D.B.bounding_ball().radius),
               rounding = 1e-13 * reach;
  // Balls alone.
  if (R_A + R_B >= depth - rounding) return true;
  Vec3d t0, t1;
  tangents(n, t0, t1);
  // Growth of both shapes, or growth of one shape and the ball of the other.
  const Form G_A = growth_form(D.A, c.a, n, t0, t1),
             G_B = growth_form(D.B, p_B, n_B, in_B(t0), in_B(t1));
  const double width = dot(n, D.support(n).w) + depth;
  const double turn = std::min((width - 2 * depth) / reach, 0.5 * std::numbers::pi);
  const auto enough = [&](const Form& G, double rest) {
    const double least =
        0.5 * (G.xx + G.yy) - std::sqrt(0.25 * (G.xx - G.yy) * (G.xx - G.yy) + G.xy * G.xy);
    return least >= 2 * rest && turn > 0 && 0.25 * least * std::sin(turn) >= rest;
  };
  return enough({G_A.xx + G_B.xx, G_A.xy + G_B.xy, G_A.yy + G_B.yy}, depth) ||
         enough(G_B, depth - R_A) || enough(G_A, depth - R_B);
}

}  // namespace robosim
