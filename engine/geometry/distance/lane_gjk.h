// GJK (gjk.h) in SIMD lanes: one pair of shapes at several relative poses, one per lane.
//
// Bounds and termination by the gap are those of gjk.h, so an answer has the same certificate. Each
// round takes the support point p in direction -v, where v is the nearest point, and then the
// nearest point of conv(w_0, w_1, w_2, p). As v was the nearest point of conv(w_0, w_1, w_2), the
// face that contains the next nearest point has the corner p, unless p makes no progress. There are
// seven such faces, and all are evaluated without branches. For each face (p, some w_k), with
// e_k = w_k - p,
//
//   edge      t = -p.e / e.e                             inside if 0 < t < 1
//   triangle  n = e_j x e_k,  (b, c) = areas along n,    inside if b > 0, c > 0, b + c < n.n
//             v = n (n.p) / n.n
//
// The shortest v inside its face is the nearest point. It is a point of D in any case, and the next
// support point proves whether it was the right one. Lanes that are done keep their results until
// all lanes are done. Other cases are left to the code for one pair: shapes whose cores overlap or
// touch, and simplices too flat for the formulas.
//
// Cost of a round for 8 lanes: 60 ns and two support queries; 4 to 9 rounds.
#pragma once

#include <limits>

#include "geometry/distance/lane_core.h"
#include "spatial/se3.h"

namespace robosim {

template <class L>
struct LaneGoal {
  L separated;          // stop as soon as the lower bound reaches this distance,
  double gap = 0;       // or the gap between the bounds is at most this [m],
  double relative_gap;  // or at most this part of the distance
  double rounding = 0;  // of both shapes: their distance is that of the cores less this
};

template <class L>
struct LaneGjk {
  // Bits of the lanes that reached the goal; for the other lanes only `lower` is valid.
  std::uint32_t known = 0;
  L lower, upper;  // bounds of the distance between the cores
  Vec3<L> axis;    // direction of the bound `lower`, from A to B in A's frame; not normalized
  int rounds = 0;
};

namespace detail {

// Nearest point found so far, and the corners of its face: the sum of 1, 2 and 4 for w_0, w_1 and
// w_2.
template <class L>
struct LaneNearest {
  Vec3<L> v;
  L vv, corners;

  // Take a point where `inside` > 0 and the point is nearer.
  ROBOSIM_INLINE void consider(const L& inside, const Vec3<L>& point, const L& squared,
                               double with) {
    const L own = robosim::select(inside > L(0), squared, L(__builtin_inf()));
    const auto is_nearer = own < vv;
    v = select(is_nearer, point, v);
    vv = robosim::select(is_nearer, own, vv);
    corners = robosim::select(is_nearer, L(with), corners);
  }
};

}  // namespace detail

// Vector from center to center; the x axis if the centers coincide.
template <class L>
Vec3<L> from_centers(const LaneCore& A, const LaneCore& B, const SE3<L>& X_AB) {
  const Vec3<L> c = X_AB * Vec3<L>(B.center) - Vec3<L>(A.center);
  return detail::select(squared_norm(c) > L(1e-200), c, Vec3<L>{L(1), L(0), L(0)});
}

// start: guess of the direction from A to B in A's frame, not zero. lanes: bits of the lanes to
// compute.
template <class L>
LaneGjk<L> lane_gjk(const LaneCore& A, const LaneCore& B, const SE3<L>& X_AB, const Vec3<L>& start,
                    const LaneGoal<L>& goal, std::uint32_t lanes) {
  using std::sqrt;
  constexpr int max_rounds = 40;
  const L zero(0), one(1), infinite(__builtin_inf());
  LaneGjk<L> r;
  r.lower = -infinite;
  r.upper = infinite;
  r.axis = start;
  Vec3<L> v = start, w[3] = {start, start, start};
  L length = norm(start), taken[3] = {-one, -one, -one};  // 1 if w_k is a corner
  std::uint32_t ended = ~lanes;
  L is_open = one;  // 0 in lanes that ended
  const auto close = [&](std::uint32_t bits) __attribute__((always_inline)) {
    if ((bits &= ~ended) == 0) return;
    ended |= bits;
    for (int l = 0; l < L::width; ++l)
      if (bits >> l & 1) is_open.set(l, 0);
  };

  for (; r.rounds < max_rounds; ++r.rounds) {
    // Lower bound from the support point. Lanes that reached the goal end.
    const Vec3<L> a = support(A, v), p = X_AB * support(B, -transpose_times(X_AB.R, v)) - a;
    const L reach = dot(v, p) / length;
    const auto is_better = reach > r.lower;
    r.lower = robosim::select(is_better, reach, r.lower);
    r.axis = detail::select(is_better, v, r.axis);
    std::uint32_t reached = ~bits_of(r.lower < goal.separated);
    if (r.rounds > 0)
      reached |= ~bits_of(r.upper - r.lower >
                          larger(L(goal.gap), L(goal.relative_gap) * (r.upper - L(goal.rounding))));
    r.known |= reached & ~ended;
    close(reached);
    if ((ended & lanes) == lanes) break;

    // Nearest points of all faces with the corner p.
    const L pp = squared_norm(p);
    detail::LaneNearest<L> best{p, pp, zero};
    Vec3<L> e[3], moment[3];
    L ee[3];
    for (int k = 0; k < 3; ++k) {
      e[k] = w[k] - p;
      ee[k] = squared_norm(e[k]);
      moment[k] = cross(p, e[k]);
      const L t = -dot(p, e[k]), inverse = one / ee[k];
      Vec3<L> point = mul_add(t * inverse, e[k], p);
      // Perpendicular to the edge even if the origin is very near.
      point = nmul_add(dot(point, e[k]) * inverse, e[k], point);
      best.consider(smaller(smaller(t, ee[k] - t), taken[k]), point, squared_norm(point), 1 << k);
    }
    // Positive if no triangle has the origin on its outer side.
    L enclosed = smaller(taken[1], taken[2]);
    for (int k = 0; k < 3; ++k) {
      const int i = k == 2 ? 1 : 0, j = k == 0 ? 1 : 2, other = 2 - k;  // (0, 1), (0, 2), (1, 2)
      const Vec3<L> n = cross(e[i], e[j]);
      const L nn = squared_norm(n), b = -dot(moment[j], n), c = dot(moment[i], n),
              height = dot(n, p);
      const L inside = smaller(smaller(b, c), nn - (b + c));
      // The normals of needles are imprecise.
      const L sharp = smaller(nmul_add(L(1e-16) * ee[i], ee[j], nn), smaller(taken[i], taken[j]));
      const L part = height / nn;
      best.consider(smaller(inside, sharp), part * n, part * height, (1 << i) + (1 << j));
      enclosed = smaller(-(height * dot(n, e[other])), enclosed);
    }
    // End the lanes that overlap or touch, and those without progress.
    const L upper = sqrt(best.vv);
    close(bits_of(enclosed > zero) | ~bits_of(upper < r.upper) | ~bits_of(best.vv > L(1e-28) * pp));
    if ((ended & lanes) == lanes) break;

    // Take the nearest point in the lanes that go on.
    const auto moves = is_open > zero;
    r.upper = robosim::select(moves, upper, r.upper);
    length = robosim::select(moves, upper, length);
    v = detail::select(moves, best.v, v);
    // p takes the first free place.
    const auto has_2 = best.corners > L(3.5);
    L left = best.corners - robosim::select(has_2, L(4), zero);
    const auto has_1 = left > L(1.5);
    left -= robosim::select(has_1, L(2), zero);
    const auto has_0 = left > L(0.5);
    const L kept[3] = {robosim::select(has_0, one, -one), robosim::select(has_1, one, -one),
                       robosim::select(has_2, one, -one)};
    L before = one;  // positive: all places before are kept
    for (int k = 0; k < 3; ++k) {
      const auto here = smaller(before, -kept[k]) > zero;
      w[k] = detail::select(here, p, w[k]);
      taken[k] = robosim::select(here, one, kept[k]);
      before = smaller(before, kept[k]);
    }
  }
  return r;
}

}  // namespace robosim
