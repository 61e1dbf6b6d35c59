// GJK: the distance between two convex cores by support functions only.
//
// The distance of A and B is that of the origin from D = B - A. Each round takes the support point
// w of D against the current nearest point v; then |v| bounds the distance from above and v.w / |v|
// from below (the plane through w with normal v separates), and the nearest point of conv(simplex,
// w) is the next v. It ends by this duality gap, so that every answer is certified, or when
// rounding stops progress. Everything is given in A's frame.
//
// Source: Gilbert, Johnson, Keerthi 1988; the lower bound and termination: van den Bergen, "A fast
// and robust GJK implementation", 1999, sec. 3.
#pragma once

#include <cmath>
#include <limits>

#include "geometry/bounds.h"
#include "geometry/distance/simplex.h"
#include "geometry/shapes/corner.h"
#include "spatial/se3.h"

namespace robosim {

struct SupportPoint {
  Vec3d w, a;                   // w of D = B - A, and the point of A that it comes from
  CornerPair corners = {0, 0};  // of two polytopes
};

// A core in another frame, where it has so few corners that they are sooner moved than every
// direction is turned.
template <class Core>
struct Placed {
  static constexpr bool has_few_corners = false;
  Placed(const Core&, const SE3d&) {}
};
template <class Core>
requires requires(const Core& core, const SE3d& X) { core.placed(X); }
struct Placed<Core> {
  static constexpr bool has_few_corners = true;
  Core core;
  Placed(const Core& own, const SE3d& X) : core(own.placed(X)) {}
};

// D = B - A of two cores, in A's frame. Directions are turned into B's frame, vertices never in
// bulk.
template <class CoreA, class CoreB>
struct CoreDifference {
  CoreA A;
  CoreB B;
  const SE3d& X_AB;
  [[no_unique_address]] Placed<CoreB> placed_B{B, X_AB};
  static constexpr bool has_corners = HasCorners<CoreA> && HasCorners<CoreB>;

  SupportPoint support(const Vec3d& d) const {
    if constexpr (has_corners) return at(A.corner_towards(-d), corner_of_B_towards(d));
    const Vec3d a = A.support(-d);
    if constexpr (Placed<CoreB>::has_few_corners)
      return {placed_B.core.support(d) - a, a};
    else
      return {X_AB * B.support(transpose_times(X_AB.R, d)) - a, a};
  }
  // The same again, by number.
  SupportPoint at(const CornerPair& corners) const {
    if constexpr (Placed<CoreB>::has_few_corners)
      return at({A.corner(corners.A), corners.A}, {placed_B.core.corner(corners.B), corners.B});
    else
      return at({A.corner(corners.A), corners.A}, {X_AB * B.corner(corners.B), corners.B});
  }
  double rounding() const { return A.rounding() + B.rounding(); }
  Vec3d center() const { return X_AB * B.center() - A.center(); }
  // A bound on the coordinates of D's points, within a small factor.
  double size() const { return norm(X_AB.p) + reach(A) + reach(B); }
  // x > part * size(), without roots where that is plain.
  bool exceeds(double x, double part) const {
    if constexpr (!has_reach<CoreA> && !has_reach<CoreB>) {
      const Ball a = A.bounding_ball(), b = B.bounding_ball();
      const double least = a.radius + b.radius;
      if (!(x > part * least)) return false;
      if (x >
          part * (least + sum_of_sides(X_AB.p) + sum_of_sides(a.center) + sum_of_sides(b.center)))
        return true;
    }
    return x > part * size();
  }

 private:
  static double sum_of_sides(const Vec3d& v) {
    return std::fabs(v.x) + std::fabs(v.y) + std::fabs(v.z);
  }
  template <class Core>
  static constexpr bool has_reach = requires(const Core& core) {
    core.reach();
  };
  static SupportPoint at(const Corner& a, const Corner& b) {
    return {b.p - a.p, a.p, {a.number, b.number}};
  }
  Corner corner_of_B_towards(const Vec3d& d) const {
    if constexpr (Placed<CoreB>::has_few_corners) return placed_B.core.corner_towards(d);
    Corner b = B.corner_towards(transpose_times(X_AB.R, d));
    b.p = X_AB * b.p;
    return b;
  }
  // Of a core from its frame's origin.
  template <class Core>
  static double reach(const Core& core) {
    if constexpr (has_reach<Core>) return core.reach();
    const Ball ball = core.bounding_ball();
    return norm(ball.center) + ball.radius;
  }
};

// When to stop before the distance is known.
struct GjkGoal {
  // As soon as the lower bound reaches it.
  double separated = std::numeric_limits<double>::infinity();
  // As soon as the upper bound is below it.
  double near = 0;
  // As soon as the bounds are so close [m].
  double gap = 0;
  // Or so close in terms of the distance.
  double relative_gap = 1e-12;
};

struct GjkResult {
  bool overlap = false;  // the cores touch or overlap
  double lower = -std::numeric_limits<double>::infinity(),
         upper = std::numeric_limits<double>::infinity();
  Vec3d axis;       // direction that gave `lower`, from A to B; not normalized
  Vec3d v;          // nearest point of D, of length `upper`
  Simplex simplex;  // what v is made of; at an overlap, what holds the origin
  int iterations = 0;
  double scale = 0;  // of the squared coordinates
};

namespace gjk_limits {
inline constexpr int max_iterations = 128;  // polytopes need 3 to 20, curved shapes up to 70
inline constexpr int max_stalled = 16;      // of them without progress that rounding lets see
// Of the coordinates: a nearer origin counts as touching.
inline constexpr double rounding_error = 1e-14;
}  // namespace gjk_limits

// Goes on from what is known to a goal: after a goal that was less, or from a start (see below).
template <class Difference>
void advance(const Difference& D, const GjkGoal& goal, GjkResult& r) {
  Simplex& s = r.simplex;
  double length = s.n > 0 ? r.upper : norm(r.v);
  // Once |v| no longer decreases by more than rounding, its direction still gains: go on a while,
  // by the gap.
  GjkResult best;  // where best_gap is finite
  double best_gap = std::numeric_limits<double>::infinity();
  int stalled = 0;
  for (; r.iterations < gjk_limits::max_iterations; ++r.iterations) {
    const SupportPoint p = D.support(-r.v);
    const double lower = dot(r.v, p.w) / length;
    if (lower > r.lower) {
      r.lower = lower, r.axis = r.v;
      if (lower >= goal.separated) return;
    }
    // Done when the bounds meet, or when the support point is already there.
    if (s.n > 0) {
      const double gap = length - lower;
      if (gap <= max_number(goal.gap, goal.relative_gap * length)) return;
      bool repeated = false;
      for (int i = 0; i < s.n; ++i)
        repeated |= s.w[i].x == p.w.x && s.w[i].y == p.w.y && s.w[i].z == p.w.z;
      if (stalled > 0 || repeated) {
        if (gap < best_gap) best = r, best_gap = gap;
        if (repeated || stalled > gjk_limits::max_stalled) break;
      }
    }

    s.w[s.n] = p.w, s.a[s.n] = p.a, s.corners[s.n] = p.corners;
    const int n = s.n + 1;
    const SimplexFace face = nearest_face(s.w, n);
    r.scale = max_number(r.scale, squared_norm(p.w) + squared_norm(p.a));
    if (face.n == 0 ||
        face.vv <= gjk_limits::rounding_error * gjk_limits::rounding_error * r.scale) {
      // Where a plane separates, it knows better: a needle of a tetrahedron took the origin in.
      if (s.n > 0 && r.lower > gjk_limits::rounding_error * std::sqrt(r.scale)) break;
      if (face.n > 0)
        reduce(s, face);
      else
        s.n = n == 4 ? 4 : 0;
      r.overlap = true, r.v = {}, r.upper = 0;
      return;
    }
    const double upper = std::sqrt(face.vv);
    if (!(upper < r.upper) && stalled++ == 0) best = r, best_gap = length - lower;
    reduce(s, face);
    r.v = face.v, r.upper = length = upper;
    if (upper < goal.near) return;
  }
  if (best_gap < length - r.lower) {
    best.lower = r.lower, best.axis = r.axis, best.iterations = r.iterations, best.scale = r.scale;
    r = best;
  }
}

// Sets out from the face that an earlier query of these polytopes ended with; not where that has
// the origin on it, or is none of theirs.
template <class Difference>
bool set_out(const Difference& D, const SimplexCorners& last, GjkResult& r) {
  Simplex& s = r.simplex;
  for (int i = 0; i < last.n; ++i) {
    const CornerPair& pair = last.pair[i];
    if (pair.A >= D.A.n_corners() || pair.B >= D.B.n_corners()) return false;
    const SupportPoint p = D.at(pair);
    s.w[i] = p.w, s.a[i] = p.a, s.corners[i] = p.corners;
    r.scale = max_number(r.scale, squared_norm(p.w) + squared_norm(p.a));
  }
  const SimplexFace face = nearest_face(s.w, last.n);
  if (face.n == 0 || !(face.vv > gjk_limits::rounding_error * gjk_limits::rounding_error * r.scale))
    return false;
  reduce(s, face);
  r.v = face.v, r.upper = std::sqrt(face.vv);
  return true;
}

// start: where to look first (a guess of v; only its direction counts), not zero.
template <class Difference>
GjkResult gjk(const Difference& D, const Vec3d& start, const GjkGoal& goal) {
  GjkResult r;
  r.v = start;
  advance(D, goal, r);
  return r;
}

}  // namespace robosim
