// Support functions of cores (geometry/shape.h) in SIMD lanes: the farthest points of one shape
// along as many directions as a register has lanes.
//
// Hulls use a table of directions (shapes/support_table.h): each lane visits the points on its
// cell's list, in parallel. The other cores have closed forms. The points are those of the cores'
// own support functions, except for ties. Cost for 8 lanes: closed forms 2 to 20 ns, a hull of 200
// points about 40 ns.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>

#include "base/lane_order.h"
#include "geometry/shape.h"

namespace robosim {

struct LaneCore {
  ShapeType type = ShapeType::sphere;
  bool is_known = false;   // false for half-spaces and triangles, left to the code for one pair
  bool is_curved = false;  // GJK only approaches the distance of curved cores
  Vec3d half;              // half the extents; of a capsule along z only
  double rounding = 0;
  Vec3d center;
  SupportTable::View points{};
};

// Builds the support table of the shape's mesh on first use. The mesh must outlive the result.
LaneCore lane_core(const Shape& shape);

namespace detail {

template <class L, int... l>
ROBOSIM_INLINE Vec3<L> picked(const Vec3d* p, const std::int32_t (&index)[L::width],
                              std::integer_sequence<int, l...>) {
  using Vector = typename L::Vector;
  return {L::from(Vector{p[index[l]].x...}), L::from(Vector{p[index[l]].y...}),
          L::from(Vector{p[index[l]].z...})};
}

// Points with several numbers, one per lane.
template <class L>
ROBOSIM_INLINE Vec3<L> picked(const SupportTable::View& t, const std::int32_t (&index)[L::width]) {
  return picked<L>(t.points, index, std::make_integer_sequence<int, L::width>());
}

template <class M, class L>
ROBOSIM_INLINE Vec3<L> select(const M& mask, const Vec3<L>& if_true, const Vec3<L>& if_false) {
  return {robosim::select(mask, if_true.x, if_false.x),
          robosim::select(mask, if_true.y, if_false.y),
          robosim::select(mask, if_true.z, if_false.z)};
}

// x with the sign of d; positive for a zero d.
template <class L>
ROBOSIM_INLINE L signed_as(double x, const L& d) {
  return robosim::select(d < L(0), L(-x), L(x));
}

template <class L>
Vec3<L> farthest(const SupportTable::View& t, const Vec3<L>& d) {
  // The largest coordinate w, the two after it, and the cell. The first cell if d is zero or not a
  // number.
  const L x = absolute(d.x), y = absolute(d.y), m = larger(x, larger(y, absolute(d.z)));
  const auto x_less = x < m, y_less = y < m;
  const L w = robosim::select(x_less, robosim::select(y_less, d.z, d.y), d.x);
  const L u = robosim::select(x_less, robosim::select(y_less, d.x, d.z), d.y);
  const L v = robosim::select(x_less, robosim::select(y_less, d.y, d.x), d.z);
  const L face = robosim::select(x_less, robosim::select(y_less, L(4), L(2)), L(0)) +
                 robosim::select(w > L(0), L(1), L(0));
  const double r = t.r;
  const L scale = L(0.5 * r) / m;
  const auto place = [&](const L& along) __attribute__((always_inline)) {
    return smaller(larger(nearest(mul_add(along, scale, L(0.5 * r - 0.5))), L(0)), L(r - 1));
  };
  const L cell = mul_add(mul_add(face, L(r), place(u)), L(r), place(v));

  // All lanes visit as many points as the longest list has.
  alignas(64) double cells[L::width];
  std::memcpy(cells, &cell, sizeof(cell));
  std::int32_t index[L::width], at[L::width], last[L::width], most = 0;
  for (int l = 0; l < L::width; ++l) {
    const int c = static_cast<int>(cells[l]);
    at[l] = t.begin[c];
    last[l] = t.begin[c + 1] - 1;
    most = last[l] - at[l] > most ? last[l] - at[l] : most;
    index[l] = t.list[at[l]];
  }
  Vec3<L> best = picked<L>(t, index);
  L reach = dot(best, d);
  for (; most > 0; --most) {
    for (int l = 0; l < L::width; ++l) {
      at[l] += at[l] < last[l];
      index[l] = t.list[at[l]];
    }
    const Vec3<L> p = picked<L>(t, index);
    const L along = dot(p, d);
    const auto is_farther = along > reach;
    best = select(is_farther, p, best);
    reach = robosim::select(is_farther, along, reach);
  }
  return best;
}

}  // namespace detail

template <class L>
Vec3<L> support(const LaneCore& core, const Vec3<L>& d) {
  using std::sqrt;
  const Vec3d& h = core.half;
  const L zero(0), tiny(1e-300);
  switch (core.type) {
    case ShapeType::convex:
      return detail::farthest(core.points, d);
    case ShapeType::box:
      return {detail::signed_as(h.x, d.x), detail::signed_as(h.y, d.y),
              detail::signed_as(h.z, d.z)};
    case ShapeType::capsule:
      return {zero, zero, detail::signed_as(h.z, d.z)};
    case ShapeType::cylinder: {
      const L s = L(h.x) / larger(sqrt(mul_add(d.x, d.x, d.y * d.y)), tiny);
      return {s * d.x, s * d.y, detail::signed_as(h.z, d.z)};
    }
    case ShapeType::cone: {
      const L across = sqrt(mul_add(d.x, d.x, d.y * d.y)), s = L(h.x) / larger(across, tiny);
      const auto below = L(2 * h.z) * d.z < L(h.x) * across;
      return detail::select(below, Vec3<L>{s * d.x, s * d.y, L(-h.z)}, Vec3<L>{zero, zero, L(h.z)});
    }
    case ShapeType::ellipsoid: {
      const Vec3<L> scaled{L(h.x) * d.x, L(h.y) * d.y, L(h.z) * d.z};
      const L s = L(1) / larger(norm(scaled), tiny);
      return {s * L(h.x) * scaled.x, s * L(h.y) * scaled.y, s * L(h.z) * scaled.z};
    }
    default:  // the core of a sphere is its center
      return {zero, zero, zero};
  }
}

}  // namespace robosim
