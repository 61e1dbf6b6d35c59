#include "geometry/query.h"

#include <cmath>
#include <limits>
#include <utility>

#include "geometry/pairs/pair_table.h"

namespace robosim {
namespace {

// Run f(A, B, X_AB, cache) in the frame of the pair's first shape, with the cache expressed in that
// frame. For pairs that are not analytic.
template <class F>
auto in_frame_of_first(const PairFunctions& pair, const Shape& A, const SE3d& X_WA, const Shape& B,
                       const SE3d& X_WB, PairCache* cache, F&& f) {
  const bool swapped = pair.swapped;
  const SE3d &X_W1 = swapped ? X_WB : X_WA, &X_W2 = swapped ? X_WA : X_WB;
  const Shape &first = swapped ? B : A, &second = swapped ? A : B;
  if (!cache) {
    PairCache none;
    return f(first, second, relative(X_W1, X_W2), none);
  }
  if (swapped) cache->swap_sides();
  cache->axis = transpose_times(X_W1.R, swapped ? -cache->axis : cache->axis);
  auto result = f(first, second, relative(X_W1, X_W2), *cache);
  if (swapped) cache->swap_sides();
  cache->axis = X_W1.R * (swapped ? -cache->axis : cache->axis);
  return result;
}

}  // namespace

Witness signed_distance(const Shape& A, const SE3d& X_WA, const Shape& B, const SE3d& X_WB,
                        PairCache* cache) {
  const PairFunctions& pair = pair_functions(A.type, B.type);
  if (pair.in_W) return pair.in_W(A, X_WA, B, X_WB);
  Witness w =
      in_frame_of_first(pair, A, X_WA, B, X_WB, cache,
                        [&](const Shape& first, const Shape& second, const SE3d& X, PairCache& c) {
                          return pair.signed_distance(first, second, X, c);
                        });
  const SE3d& X_W1 = pair.swapped ? X_WB : X_WA;
  w.p_WA = X_W1 * w.p_WA;
  w.p_WB = X_W1 * w.p_WB;
  w.normal = X_W1.R * w.normal;
  if (pair.swapped) {
    std::swap(w.p_WA, w.p_WB);
    w.normal = -w.normal;
  }
  return w;
}

bool closer_than(double margin, const Shape& A, const SE3d& X_WA, const Shape& B, const SE3d& X_WB,
                 PairCache* cache) {
  const PairFunctions& pair = pair_functions(A.type, B.type);
  if (pair.distance_in_W) return pair.distance_in_W(A, X_WA, B, X_WB) < margin;
  return in_frame_of_first(
      pair, A, X_WA, B, X_WB, cache,
      [&](const Shape& first, const Shape& second, const SE3d& X, PairCache& c) {
        return pair.closer_than(margin, first, second, X, c);
      });
}

double distance_lower_bound(double enough, const Shape& A, const SE3d& X_WA, const Shape& B,
                            const SE3d& X_WB, PairCache* cache) {
  const PairFunctions& pair = pair_functions(A.type, B.type);
  if (pair.distance_in_W) return max_number(0.0, pair.distance_in_W(A, X_WA, B, X_WB));
  return in_frame_of_first(
      pair, A, X_WA, B, X_WB, cache,
      [&](const Shape& first, const Shape& second, const SE3d& X, PairCache& c) {
        return pair.distance_lower_bound(enough, first, second, X, c);
      });
}

Ball bounding_ball(const Shape& shape) {
  return visit(shape, [](const auto& core) { return core.bounding_ball(); });
}

double farthest_from(const Shape& shape, const Vec3d& p_S) {
  return visit(shape, [&](const auto& core) { return core.farthest_from(p_S); });
}

Vec3d support(const Shape& shape, const Vec3d& d) {
  return visit(shape, [&](const auto& core) -> Vec3d {
    if constexpr (requires { core.support(d); }) {
      const double largest = max_number(std::fabs(d.x), max_number(std::fabs(d.y), std::fabs(d.z)));
      if (!(largest > 0)) return core.support(d);
      // Scaled by the largest component, so that squares neither overflow nor underflow.
      const Vec3d e(d.x / largest, d.y / largest, d.z / largest);
      return core.support(e) + (core.rounding() / norm(e)) * e;
    } else {
      throw InputError(message(name_of(shape.type), ": it is unbounded and has no farthest point"));
    }
  });
}

Aabb bounding_box(const Shape& shape, const SE3d& X_WS) {
  Aabb box;
  if (shape.type == ShapeType::half_space) {
    constexpr double inf = std::numeric_limits<double>::infinity();
    box = {{-inf, -inf, -inf}, {inf, inf, inf}};
    const Vec3d n = X_WS.R.col(2);
    for (int i = 0; i < 3; ++i) {
      if (n[i] == 1) box.upper[i] = X_WS.p[i];
      if (n[i] == -1) box.lower[i] = X_WS.p[i];
    }
    return box;
  }
  return visit(shape, [&](const auto& core) {
    if constexpr (requires { core.support(Vec3d()); }) {
      for (int i = 0; i < 3; ++i) {
        const Vec3d d = X_WS.R.row[i];  // world axis in the shape's frame
        box.upper[i] = X_WS.p[i] + dot(d, core.support(d)) + core.rounding();
        box.lower[i] = X_WS.p[i] + dot(d, core.support(-d)) - core.rounding();
      }
    }
    return box;
  });
}

}  // namespace robosim
