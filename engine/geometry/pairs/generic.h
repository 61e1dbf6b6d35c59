// Distance of any two bounded shapes: GJK if their cores are separated, EPA if they overlap.
#pragma once

#include <algorithm>
#include <limits>

#include "geometry/directions.h"
#include "geometry/distance/epa.h"
#include "geometry/distance/gjk.h"
#include "geometry/distance/polish.h"
#include "geometry/distance/simplex_surface.h"
#include "geometry/distance/way_out.h"
#include "geometry/query.h"

namespace robosim {

template <ShapeType Ta, ShapeType Tb>
struct GenericPair {
  static constexpr ShapeType a = Ta, b = Tb;
  using CoreA = decltype(core<Ta>(std::declval<const Shape&>()));
  using CoreB = decltype(core<Tb>(std::declval<const Shape&>()));
  using Difference = CoreDifference<CoreA, CoreB>;
  static constexpr bool curved = CoreA::curved || CoreB::curved;

  static Witness signed_distance(const Shape& A, const Shape& B, const SE3d& X_AB,
                                 PairCache& cache) {
    const Difference D{core<Ta>(A), core<Tb>(B), X_AB};
    Contact c;
    bool known = false;
    GjkResult r;
    r.v = start(D, cache);
    if constexpr (Difference::has_corners)
      if (cache.corners.n > 0 && !set_out(D, cache.corners, r)) r.scale = 0;
    if constexpr (curved) {
      const double size = D.size();
      // Warm start: Newton's method from the points of the last query.
      if (cache.has_points && squared_norm(cache.axis) > 0.5) {
        const Contact last{cache.axis, 0, cache.p_A, X_AB * cache.p_B - cache.p_A};
        if (const auto sharp = proved(D, SurfacesOf<Difference>{D}, last, size, warm_precision)) {
          c = *sharp;
          known = true;
        }
      }
      // GJK to increasing accuracy, each time followed by Newton's method.
      for (int i = 0; i < n_rough && !known; ++i) {
        const Rough& rough = rough_answers[i];
        advance(D, {.gap = rough.gap * size, .relative_gap = rough.relative_gap}, r);
        const auto sharp =
            r.overlap ? proved(D, SurfacesOf<Difference>{D}, contact(r), size, rough.precision)
                      : proved(D, SurfacesOfSimplex<Difference>{{D}, r.simplex, size}, contact(r),
                               size, rough.precision);
        if (sharp) {
          c = *sharp;
          known = true;
        } else if (r.overlap)
          break;
      }
    }
    if (!known) c = from_rough(D, r);
    // Store the warm start of the next query.
    if constexpr (curved) {
      cache.p_A = c.a;
      cache.p_B = transpose_times(X_AB.R, c.a + c.w - X_AB.p);
      cache.has_points = true;
    }
    if constexpr (Difference::has_corners) {
      const int n = r.overlap ? 0 : r.simplex.n;
      cache.corners.n = n;
      for (int i = 0; i < n; ++i) cache.corners.pair[i] = r.simplex.corners[i];
    }
    cache.axis = c.distance > 0 ? c.normal : Vec3d();
    // From the cores to the shapes.
    const double rA = D.A.rounding(), rB = D.B.rounding();
    return {c.distance - rA - rB, c.a + rA * c.normal, c.a + (c.distance - rB) * c.normal,
            c.normal};
  }

  static bool closer_than(double margin, const Shape& A, const Shape& B, const SE3d& X_AB,
                          PairCache& cache) {
    const Difference D{core<Ta>(A), core<Tb>(B), X_AB};
    const double reach = margin + D.rounding();
    const GjkResult r = gjk(D, start(D, cache), {.separated = reach, .near = reach});
    keep_axis(r, cache);
    return r.overlap || r.lower < reach;  // pairs that no plane separates count as closer
  }

  static double distance_lower_bound(double enough, const Shape& A, const Shape& B,
                                     const SE3d& X_AB, PairCache& cache) {
    const Difference D{core<Ta>(A), core<Tb>(B), X_AB};
    const double rounding = D.rounding();
    const GjkResult r =
        gjk(D, start(D, cache), {.separated = enough + rounding, .near = rounding, .gap = 1e-6});
    keep_axis(r, cache);
    return r.overlap ? 0 : std::max(0.0, r.lower - rounding);
  }

 private:
  // Accuracy of approximate answers: gap of GJK's bounds relative to the size and to the distance,
  // and precision of the features' points.
  struct Rough {
    double gap, relative_gap, precision;
  };
  static constexpr int n_rough = 3;
  static constexpr Rough rough_answers[n_rough] = {
      {3e-3, 3e-2, 5e-2}, {0, 1e-3, 2e-2}, {0, 1e-8, 1e-3}};
  // Expected motion of the answer since the last query, relative to the size.
  static constexpr double warm_precision = 2e-2;

  // Contact from GJK's result. If the cores overlap, the last simplex before the overlap, with the
  // direction of the least overlap found.
  static Contact contact(const GjkResult& r) {
    Contact c{r.v * (1 / r.upper), r.upper, {}, {}};
    if (r.overlap) {
      c.normal = r.axis * (1 / norm(r.axis));
      c.distance = r.lower;
    }
    const int n = r.overlap ? std::min(r.simplex.n, 3) : r.simplex.n;
    for (int i = 0; i < n; ++i) {
      c.a += r.simplex.lambda[i] * r.simplex.a[i];
      c.w += r.simplex.lambda[i] * r.simplex.w[i];
    }
    return c;
  }
  // Refine an approximate answer by Newton's method. Returns nothing unless the result is proved:
  // for separated cores by a supporting plane, for overlapping cores by way_out.h.
  template <class Surfaces>
  static std::optional<Contact> proved(const Difference& D, const Surfaces& surfaces,
                                       const Contact& rough, double size, double precision) {
    const auto sharp = quickly_polished(D, surfaces, rough, size, precision);
    return sharp && (sharp->distance > 0 || is_shortest_way_out(D, *sharp)) ? sharp : std::nullopt;
  }
  // Callbacks of EPA (EpaGuess): EPA's nearest facet as an approximate answer, and the least deep
  // of all faces of the hulls, as a direction outward from D.
  struct Guess {
    const Difference& D;
    std::optional<Contact> sharp;

    static bool proved(void* guess, const Penetration& p) {
      Guess& own = *static_cast<Guess*>(guess);
      const Contact rough{-p.direction, -p.depth, p.a, p.w};
      own.sharp = GenericPair::proved(own.D, SurfacesOf<Difference>{own.D}, rough, own.D.size(),
                                      rough_answers[0].precision);
      return own.sharp.has_value();
    }
    static Vec3d least_deep(void* guess) {
      const Difference& D = static_cast<Guess*>(guess)->D;
      Vec3d best(1, 0, 0);
      double least = std::numeric_limits<double>::infinity();
      const auto look = [&](const Vec3d& direction, double depth) {
        if (depth < least) {
          least = depth;
          best = direction;
        }
      };
      // Reach of the face itself along its normal, and of the other shape in the opposite
      // direction.
      const auto& X = D.X_AB;
      if constexpr (has_faces<CoreA>)
        D.A.for_each_face([&](const Vec3d& n, const Vec3d& on) {
          look(-n, dot(n, on - X * D.B.support(transpose_times(X.R, -n))));
        });
      if constexpr (has_faces<CoreB>)
        D.B.for_each_face([&](const Vec3d& n_B, const Vec3d& on) {
          const Vec3d n = X.R * n_B;
          look(n, dot(n, X * on - D.A.support(-n)));
        });
      return best;
    }
    EpaGuess for_epa() {
      return {this, curved ? proved : nullptr,
              has_faces<CoreA> || has_faces<CoreB> ? least_deep : nullptr};
    }
  };
  template <class Core>
  static constexpr bool has_faces = requires(const Core& core) {
    core.for_each_face([](const Vec3d&, const Vec3d&) {});
  };
  // GJK to its end, EPA if GJK finds an overlap, and the polish of curved shapes.
  static Contact from_rough(const Difference& D, GjkResult& r) {
    if (!r.overlap) advance(D, {}, r);
    Contact c;
    double gap = r.upper - r.lower;  // between the bounds on the distance
    if (r.overlap) {
      Guess guess{D, {}};
      const Penetration e = epa(SupportFunction::of(D), r.simplex, guess.for_epa());
      if (e.proved) return *guess.sharp;
      c = {-e.direction, -e.depth, e.a, e.w};
      gap = max_number(e.gap, norm(e.w - e.depth * e.direction));
    } else {
      c = contact(r);
      // For a needle, v may be more accurate than its barycentric combination.
      gap = max_number(gap, norm(c.w - r.v));
      // A v at the level of rounding has no direction, but the plane that separated best has one.
      constexpr double touch = 1e-10;  // of the size
      if (!D.exceeds(r.upper, touch) && !D.exceeds(-r.lower, touch))
        c.normal = r.axis * (1 / norm(r.axis));
    }
    // Polytopes are polished only if rounding spoiled the result: needles, and touching shapes.
    if (curved || D.exceeds(gap, 1e-11)) {
      const Contact rough = c;
      c = polished(SupportFunction::of(D), Surfaces::of(D), c, D.size());
      // A polished value is the distance of a supporting plane, so never above the true distance,
      // like GJK's lower bound. For needles that nearly touch, GJK's plane may be the only accurate
      // one.
      if (!r.overlap && c.distance < r.lower) {
        if (c.distance < r.lower - 1e-12 * D.size()) {
          c = rough;
          c.normal = r.axis * (1 / norm(r.axis));
        }
        c.distance = r.lower;
      }
      if (!r.overlap && !D.exceeds(r.upper, 1e-10) && D.exceeds(-c.distance, 1e-9))
        out_of_touch(D, r, c);
    }
    return c;
  }
  // Contact of touching needles, for which none of GJK's planes may be accurate: found by EPA as
  // for overlapping cores.
  [[gnu::noinline]] static void out_of_touch(const Difference& D, const GjkResult& r, Contact& c) {
    Guess guess{D, {}};
    const Penetration e = epa(SupportFunction::of(D), r.simplex, guess.for_epa());
    if (e.proved)
      c = *guess.sharp;
    else if (-e.depth > c.distance)
      c = {-e.direction, -e.depth, e.a, e.w};
  }
  static void keep_axis(const GjkResult& r, PairCache& cache) {
    cache.axis = r.overlap || !(r.lower > 0) ? Vec3d() : r.axis * (1 / norm(r.axis));
  }
  // Direction to start GJK with: the last separating direction, or else from center to center.
  static Vec3d start(const Difference& D, const PairCache& cache) {
    if (squared_norm(cache.axis) > 0.5) return cache.axis;
    const Vec3d c = D.center();
    return squared_norm(c) > 1e-200 ? c : Vec3d(1, 0, 0);
  }
};

}  // namespace robosim
