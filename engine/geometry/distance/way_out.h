// Whether a way out of an overlap, than which none nearby is shorter, is the shortest of all.
//
// D = B - A holds the origin. Let p = d m be the point of D's surface with outward normal m = -n
// that Newton's method has found (newton.h), and f(x) = max over D of x.(y - p) >= 0, the support
// function from there. The depth in a direction x (unit, at an angle t from m) is f(x) + d cos t,
// so that d is the depth when f(x) >= d (1 - cos t) for all x. f is at least the sum of what A and
// B give:
//
//   1. a ball of radius R inside the shape that touches its surface there:  f >= R (1 - cos t), so
//      it takes R off d;
//   2. growth (local_surface.h): f >= 1/2 x^T G x over the tangent plane;
//
// of each shape one or the other. With g the least eigenvalue of the sum of G and r what balls
// leave of d, g >= 2 r is enough for all t up to a right angle. f is convex and f(m) = 0, so beyond
// that, with u = x - (x.m) m, f(x) >= f(u) >= 1/2 g sin t, which is at least 2 r, and enough, for t
// up to pi - s when 1/4 g sin s >= r; and as f(-m) is D's width W along m, and no point of D is
// farther from p than L, f(x) >= W - L s for the rest, which is enough for s = (W - 2 d) / L.
//
// Balls that are all of d to rounding prove it to rounding: round bodies about one center have ways
// out all around that are equally short.
#pragma once

#include <algorithm>
#include <cmath>
#include <numbers>

#include "geometry/distance/newton.h"

namespace robosim {

// The radius of a ball inside the core that touches its surface at p, or less.
template <class Core>
double inner_radius(const Core& core, const Vec3d& p, const Vec3d& n) {
  if constexpr (requires { core.inner_radius(p, n); })
    return core.inner_radius(p, n);
  else
    return 0;
}

// A quadratic form over the tangent plane.
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
    form.xx += g.along[i] * x * x, form.xy += g.along[i] * x * y, form.yy += g.along[i] * y * y;
  }
  return form;
}

// Of a contact of overlapping cores that Newton's method has proved to be the shortest way out
// nearby.
template <class Difference>
bool is_shortest_way_out(const Difference& D, const Contact& c) {
  const Vec3d &n = c.normal, b = c.a + c.w;
  const auto in_B = [&](const Vec3d& x) { return transpose_times(D.X_AB.R, x); };
  const Vec3d p_B = in_B(b - D.X_AB.p), n_B = in_B(-n);
  const double depth = -c.distance, R_A = inner_radius(D.A, c.a, n),
               R_B = inner_radius(D.B, p_B, n_B);
  const double reach = 2 * (D.A.bounding_ball().radius + D.B.bounding_ball().radius),
               rounding = 1e-13 * reach;
  if (R_A + R_B >= depth - rounding) return true;
  Vec3d t0, t1;
  tangents(n, t0, t1);
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
