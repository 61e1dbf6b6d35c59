// GJK (gjk.h) in lanes: one pair of shapes at several relative poses, one per lane.
//
// The bounds and the end by their gap are those of gjk.h, so that an answer has the same
// certificate. Each round takes the support point p against the nearest point v, and the nearest
// point of conv(w_0, w_1, w_2, p). As v was the nearest of conv(w_0, w_1, w_2), the face that holds
// the next one has the corner p, or else p brings nothing. These are seven, and no branch chooses:
// of each face (p, some w)
//
//   edge      t = -p.e / e.e                             in it where 0 < t < 1
//   triangle  n = e_j x e_k,  (b, c) = areas along n     in it where b > 0, c > 0, b + c < n.n;  v
//             = n (n.p) / n.n
//
// with e_k = w_k - p is worked out, and the shortest v that lies within its face is the nearest
// point. It is a point of D in any case, and the next support point tells whether it was the right
// one. Lanes that are done keep what they have until all are. What goes another way is left to the
// code for one pair: shapes whose cores overlap or touch, and simplices too flat for the formulas.
// Cost of a round for 8 lanes: 60 ns and two support queries; 4 to 9 rounds.
#pragma once

#include <limits>

#include "geometry/distance/lane_core.h"
#include "spatial/se3.h"

namespace robosim {

template <class L>
struct LaneGoal {
  L separated;          // as soon as the lower bound reaches it
  double gap = 0;       // or the bounds are so close [m]
  double relative_gap;  // or so close in terms of the distance
  double rounding = 0;  // of both shapes: their distance is that of the cores less this
};

template <class L>
struct LaneGjk {
  // Bits of the lanes that reached the goal; of the others only `lower` holds.
  std::uint32_t known = 0;
  L lower, upper;  // of the distance between the cores
  Vec3<L> axis;    // direction that gave `lower`, from A to B in A's frame; not normalized
  int rounds = 0;
};

namespace detail {

// The nearest point of what is looked at so far, and which w its face has: 1, 2 and 4 for w_0, w_1
// and w_2, summed up.
template <class L>
struct LaneNearest {
  Vec3<L> v;
  L vv, corners;

  // Takes a point where `inside` > 0 and it is nearer.
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

// From center to center, where these differ.
template <class L>
Vec3<L> from_centers(const LaneCore& A, const LaneCore& B, const SE3<L>& X_AB) {
  const Vec3<L> c = X_AB * Vec3<L>(B.center) - Vec3<L>(A.center);
  return detail::select(squared_norm(c) > L(1e-200), c, Vec3<L>{L(1), L(0), L(0)});
}

// start: a guess of the direction from A to B in A's frame, not zero. lanes: the bits of those that
// are asked for.
template <class L>
LaneGjk<L> lane_gjk(const LaneCore& A, const LaneCore& B, const SE3<L>& X_AB, const Vec3<L>& start,
                    const LaneGoal<L>& goal, std::uint32_t lanes) {
  using std::sqrt;
  constexpr int max_rounds = 40;
  const L zero(0), one(1), infinite(__builtin_inf());
  LaneGjk<L> r;
  r.lower = -infinite, r.upper = infinite, r.axis = start;
  Vec3<L> v = start, w[3] = {start, start, start};
  L length = norm(start), taken[3] = {-one, -one, -one};  // 1 where w_k is a corner
  std::uint32_t ended = ~lanes;
  L is_open = one;  // 0 in lanes that ended
  const auto close = [&](std::uint32_t bits) __attribute__((always_inline)) {
    if ((bits &= ~ended) == 0) return;
    ended |= bits;
    for (int l = 0; l < L::width; ++l)
      if (bits >> l & 1) is_open.set(l, 0);
  };

  for (; r.rounds < max_rounds; ++r.rounds) {
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

    // All faces with the corner p.
    const L pp = squared_norm(p);
    detail::LaneNearest<L> best{p, pp, zero};
    Vec3<L> e[3], moment[3];
    L ee[3];
    for (int k = 0; k < 3; ++k) {
      e[k] = w[k] - p, ee[k] = squared_norm(e[k]);
      moment[k] = cross(p, e[k]);
      const L t = -dot(p, e[k]), inverse = one / ee[k];
      Vec3<L> point = mul_add(t * inverse, e[k], p);
      // Perpendicular to the edge however near the origin is.
      point = nmul_add(dot(point, e[k]) * inverse, e[k], point);
      best.consider(smaller(smaller(t, ee[k] - t), taken[k]), point, squared_norm(point), 1 << k);
    }
    // Above zero: no triangle has the origin on its outer side.
    L enclosed = smaller(taken[1], taken[2]);
    for (int k = 0; k < 3; ++k) {
      const int i = k == 2 ? 1 : 0, j = k == 0 ? 1 : 2, other = 2 - k;  // (0, 1), (0, 2), (1, 2)
      const Vec3<L> n = cross(e[i], e[j]);
      const L nn = squared_norm(n), b = -dot(moment[j], n), c = dot(moment[i], n),
              height = dot(n, p);
      const L inside = smaller(smaller(b, c), nn - (b + c));
      // Needles have no precise normal.
      const L sharp = smaller(nmul_add(L(1e-16) * ee[i], ee[j], nn), smaller(taken[i], taken[j]));
      const L part = height / nn;
      best.consider(smaller(inside, sharp), part * n, part * height, (1 << i) + (1 << j));
      enclosed = smaller(-(height * dot(n, e[other])), enclosed);
    }
    // Overlaps and touches end here, and what no longer comes nearer.
    const L upper = sqrt(best.vv);
    close(bits_of(enclosed > zero) | ~bits_of(upper < r.upper) | ~bits_of(best.vv > L(1e-28) * pp));
    if ((ended & lanes) == lanes) break;

    const auto moves = is_open > zero;
    r.upper = robosim::select(moves, upper, r.upper);
    length = robosim::select(moves, upper, length);
    v = detail::select(moves, best.v, v);
    // p takes the first place that is free.
    const auto has_2 = best.corners > L(3.5);
    L left = best.corners - robosim::select(has_2, L(4), zero);
    const auto has_1 = left > L(1.5);
    left -= robosim::select(has_1, L(2), zero);
    const auto has_0 = left > L(0.5);
    const L kept[3] = {robosim::select(has_0, one, -one), robosim::select(has_1, one, -one),
                       robosim::select(has_2, one, -one)};
    L before = one;  // above zero: all places before are kept
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
