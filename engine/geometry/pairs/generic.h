// Any two bounded shapes: GJK while their cores are apart, EPA when they overlap.
#pragma once

#include <algorithm>

#include "geometry/directions.h"
#include "geometry/epa.h"
#include "geometry/gjk.h"
#include "geometry/polish.h"
#include "geometry/query.h"

namespace robosim {

template <ShapeType Ta, ShapeType Tb>
struct GenericPair {
  static constexpr ShapeType a = Ta, b = Tb;
  using CoreA = decltype(core<Ta>(std::declval<const Shape&>()));
  using CoreB = decltype(core<Tb>(std::declval<const Shape&>()));
  using Difference = CoreDifference<CoreA, CoreB>;
  static constexpr bool curved = CoreA::curved || CoreB::curved;

  static Witness signed_distance(const Shape& A, const Shape& B, const SE3d& X_AB, PairCache& cache) {
    const Difference D = difference(A, B, X_AB, cache);
    Contact c;
    bool known = false;
    GjkResult r;
    r.v = start(D, cache);
    if constexpr (curved) {
      // Newton's method from a rough answer, which is proved by its plane of support or forgotten.
      const double size = D.size();
      for (const auto& [gap, precision] : rough_answers) {
        advance(D, {.relative_gap = gap}, r);
        if (r.overlap) break;
        if (const auto sharp = quickly_polished(SupportFunction::of(D), Surfaces::of(D), contact(r), size, precision)) {
          c = *sharp, known = true;
          break;
        }
      }
    }
    if (!known) c = from_rough(D, r);
    cache.axis = c.distance > 0 ? c.normal : Vec3d();
    remember(D, cache);
    // From the cores to the shapes.
    const double rA = D.A.rounding(), rB = D.B.rounding();
    return {c.distance - rA - rB, c.a + rA * c.normal, c.a + (c.distance - rB) * c.normal, c.normal};
  }

  static bool closer_than(double margin, const Shape& A, const Shape& B, const SE3d& X_AB, PairCache& cache) {
    const Difference D = difference(A, B, X_AB, cache);
    const double reach = margin + D.rounding();
    const GjkResult r = gjk(D, start(D, cache), {.separated = reach, .near = reach});
    keep_axis(r, cache);
    remember(D, cache);
    return r.overlap || r.lower < reach;  // what no plane separates counts as closer
  }

  static double distance_lower_bound(double enough, const Shape& A, const Shape& B, const SE3d& X_AB, PairCache& cache) {
    const Difference D = difference(A, B, X_AB, cache);
    const double rounding = D.rounding();
    const GjkResult r = gjk(D, start(D, cache), {.separated = enough + rounding, .near = rounding, .gap = 1e-6});
    keep_axis(r, cache);
    remember(D, cache);
    return r.overlap ? 0 : std::max(0.0, r.lower - rounding);
  }

 private:
  // Of GJK's bounds, and of the features' points, both as a part of the size.
  struct Rough {
    double gap, precision;
  };
  static constexpr Rough rough_answers[] = {{1e-3, 2e-2}, {1e-8, 1e-3}};

  static Contact contact(const GjkResult& r) {
    Contact c{r.v * (1 / r.upper), r.upper, {}, {}};
    for (int i = 0; i < r.simplex.n; ++i) c.a += r.simplex.lambda[i] * r.simplex.a[i], c.w += r.simplex.lambda[i] * r.simplex.w[i];
    return c;
  }
  // GJK to the end, EPA where it finds an overlap, and the polish of what is curved.
  static Contact from_rough(const Difference& D, GjkResult& r) {
    if (!r.overlap) advance(D, {}, r);
    Contact c;
    double gap = r.upper - r.lower;  // between the bounds on the distance
    if (r.overlap) {
      const Penetration e = epa(SupportFunction::of(D), r.simplex);
      c = {-e.direction, -e.depth, e.a, e.w};
      gap = std::fmax(e.gap, norm(e.w - e.depth * e.direction));
    } else {
      c = contact(r);
      gap = std::fmax(gap, norm(c.w - r.v));  // of a needle v may be better known than what it is made of
    }
    // Of polytopes only what rounding has spoilt: needles, and touches.
    if (curved || gap > 1e-11 * D.size()) {
      // A v as short as rounding has no direction; the plane that separated best has.
      const double touch = 1e-10 * D.size();
      if (!r.overlap && r.lower > -touch && r.upper < touch) c.normal = r.axis * (1 / norm(r.axis));
      const Contact rough = c;
      c = polished(SupportFunction::of(D), Surfaces::of(D), c, D.size());
      // A polished value is a support plane's, so never above the distance, as GJK's own lower bound is. Of needles that all but touch
      // GJK's plane may be the only one that is any good.
      if (!r.overlap && c.distance < r.lower) {
        if (c.distance < r.lower - 1e-12 * D.size()) c = rough, c.normal = r.axis * (1 / norm(r.axis));
        c.distance = r.lower;
      }
    }
    return c;
  }
  static Difference difference(const Shape& A, const Shape& B, const SE3d& X_AB, const PairCache& cache) {
    Difference D{core<Ta>(A), core<Tb>(B), X_AB};
    if constexpr (requires { D.A.hint; }) D.A.hint = cache.vertex_A;
    if constexpr (requires { D.B.hint; }) D.B.hint = cache.vertex_B;
    return D;
  }
  static void remember(const Difference& D, PairCache& cache) {
    if constexpr (requires { D.A.hint; }) cache.vertex_A = D.A.hint;
    if constexpr (requires { D.B.hint; }) cache.vertex_B = D.B.hint;
  }
  static void keep_axis(const GjkResult& r, PairCache& cache) {
    cache.axis = r.overlap || !(r.lower > 0) ? Vec3d() : r.axis * (1 / norm(r.axis));
  }
  // The last separating direction, else from centre to centre.
  static Vec3d start(const Difference& D, const PairCache& cache) {
    if (squared_norm(cache.axis) > 0.5) return cache.axis;
    const Vec3d c = D.centre();
    return squared_norm(c) > 1e-200 ? c : Vec3d(1, 0, 0);
  }
};

}  // namespace robosim
