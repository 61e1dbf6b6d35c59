// GJK: distance between two convex cores from support functions only.
//
// The distance of A and B is the distance of the origin from D = B - A. Each round takes the
// support point w of D in direction -v, where v is the current nearest point. Then |v| is an upper
// bound of the distance, and v.w / |v| a lower bound (the plane through w with normal v separates).
// The next v is the nearest point of conv(simplex, w). The iteration ends when the gap between the
// bounds is small enough, so every answer is certified, or when rounding stops progress. All
// quantities are in A's frame.
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
  Vec3d w, a;                   // w of D = B - A, and the point of A for w
  CornerPair corners = {0, 0};  // of two polytopes
};

// A core in another frame, if the core has so few corners that moving them is cheaper than rotating
// every direction.
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

// Minkowski difference D = B - A of two cores, in A's frame. Directions are rotated into B's frame;
// vertices are not transformed in bulk.
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
  // Support point with known corner numbers.
  SupportPoint at(const CornerPair& corners) const {
    if constexpr (Placed<CoreB>::has_few_corners)
      return at({A.corner(corners.A), corners.A}, {placed_B.core.corner(corners.B), corners.B});
    else
      return at({A.corner(corners.A), corners.A}, {X_AB * B.corner(corners.B), corners.B});
  }
  double rounding() const { return A.rounding() + B.rounding(); }
  Vec3d center() const { return X_AB * B.center() - A.center(); }
  // Bound on the coordinates of D's points, within a small factor.
  double size() const { return norm(X_AB.p) + reach(A) + reach(B); }
  // Return true if x > part * size(). Avoids square roots if the answer is clear without them.
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
  // Farthest distance of a core's points from the origin of its frame.
  template <class Core>
  static double reach(const Core& core) {
    if constexpr (has_reach<Core>) return core.reach();
    const Ball ball = core.bounding_ball();
    return norm(ball.center) + ball.radius;
  }
};

// Conditions under which to stop before the distance is known.
struct GjkGoal {
  // Stop as soon as the lower bound reaches this distance.
  double separated = std::numeric_limits<double>::infinity();
  // Stop as soon as the upper bound is below this distance.
  double near = 0;
  // Stop as soon as the gap between the bounds is at most this [m].
  double gap = 0;
  // Stop as soon as the gap between the bounds is at most this part of the distance.
  double relative_gap = 1e-12;
};

struct GjkResult {
  bool overlap = false;  // the cores touch or overlap
  double lower = -std::numeric_limits<double>::infinity(),
         upper = std::numeric_limits<double>::infinity();
  Vec3d axis;       // direction of the bound `lower`, from A to B; not normalized
  Vec3d v;          // nearest point of D, of length `upper`
  Simplex simplex;  // simplex of v; at an overlap, a simplex that contains the origin
  int iterations = 0;
  double scale = 0;  // of the squared coordinates
};

namespace gjk_limits {
inline constexpr int max_iterations = 128;  // polytopes need 3 to 20, curved shapes up to 70
inline constexpr int max_stalled = 16;      // iterations without progress above rounding
// Relative to the coordinates: a nearer origin counts as touching.
inline constexpr double rounding_error = 1e-14;
}  // namespace gjk_limits

// Continue from the bounds in r to a goal: after a weaker goal, or from a start (set_out or gjk
// below).
template <class Difference>
void advance(const Difference& D, const GjkGoal& goal, GjkResult& r) {
  Simplex& s = r.simplex;
  double length = s.n > 0 ? r.upper : norm(r.v);
  // When |v| no longer decreases by more than rounding, its direction still improves. So the
  // iteration continues for a while, and the smallest gap counts.
  GjkResult best;  // valid if best_gap is finite
  double best_gap = std::numeric_limits<double>::infinity();
  int stalled = 0;
  for (; r.iterations < gjk_limits::max_iterations; ++r.iterations) {
    // Lower bound from the plane through the support point.
    const SupportPoint p = D.support(-r.v);
    const double lower = dot(r.v, p.w) / length;
    if (lower > r.lower) {
      r.lower = lower;
      r.axis = r.v;
      if (lower >= goal.separated) return;
    }
    // Stop if the bounds are close enough, or if the support point is in the simplex already.
    if (s.n > 0) {
      const double gap = length - lower;
      if (gap <= max_number(goal.gap, goal.relative_gap * length)) return;
      bool repeated = false;
      for (int i = 0; i < s.n; ++i)
        repeated |= s.w[i].x == p.w.x && s.w[i].y == p.w.y && s.w[i].z == p.w.z;
      if (stalled > 0 || repeated) {
        if (gap < best_gap) {
          best = r;
          best_gap = gap;
        }
        if (repeated || stalled > gjk_limits::max_stalled) break;
      }
    }

    // Nearest point of the simplex with the support point added.
    s.w[s.n] = p.w;
    s.a[s.n] = p.a;
    s.corners[s.n] = p.corners;
    const int n = s.n + 1;
    const SimplexFace face = nearest_face(s.w, n);
    r.scale = max_number(r.scale, squared_norm(p.w) + squared_norm(p.a));
    if (face.n == 0 ||
        face.vv <= gjk_limits::rounding_error * gjk_limits::rounding_error * r.scale) {
      // If a plane separates the cores, trust the plane: a needle-shaped tetrahedron contained the
      // origin by rounding only.
      if (s.n > 0 && r.lower > gjk_limits::rounding_error * std::sqrt(r.scale)) break;
      if (face.n > 0)
        reduce(s, face);
      else
        s.n = n == 4 ? 4 : 0;
      r.overlap = true;
      r.v = {};
      r.upper = 0;
      return;
    }
    const double upper = std::sqrt(face.vv);
    if (!(upper < r.upper) && stalled++ == 0) {
      best = r;
      best_gap = length - lower;
    }
    reduce(s, face);
    r.v = face.v;
    r.upper = length = upper;
    if (upper < goal.near) return;
  }
  // Return the iterate with the smallest gap.
  if (best_gap < length - r.lower) {
    best.lower = r.lower;
    best.axis = r.axis;
    best.iterations = r.iterations;
    best.scale = r.scale;
    r = best;
  }
}

// Warm start from the face that an earlier query of these polytopes ended with. Returns false if
// the origin is on the face, or if the corners do not exist in these polytopes.
template <class Difference>
bool set_out(const Difference& D, const SimplexCorners& last, GjkResult& r) {
  Simplex& s = r.simplex;
  for (int i = 0; i < last.n; ++i) {
    const CornerPair& pair = last.pair[i];
    if (pair.A >= D.A.n_corners() || pair.B >= D.B.n_corners()) return false;
    const SupportPoint p = D.at(pair);
    s.w[i] = p.w;
    s.a[i] = p.a;
    s.corners[i] = p.corners;
    r.scale = max_number(r.scale, squared_norm(p.w) + squared_norm(p.a));
  }
  const SimplexFace face = nearest_face(s.w, last.n);
  if (face.n == 0 || !(face.vv > gjk_limits::rounding_error * gjk_limits::rounding_error * r.scale))
    return false;
  reduce(s, face);
  r.v = face.v;
  r.upper = std::sqrt(face.vv);
  return true;
}

// start: guess of the direction of v, not zero; its length does not matter.
template <class Difference>
GjkResult gjk(const Difference& D, const Vec3d& start, const GjkGoal& goal) {
  GjkResult r;
  r.v = start;
  advance(D, goal, r);
  return r;
}

}  // namespace robosim
