#include "geometry/shapes/smallest_ball.h"

#include <cmath>
#include <cstdint>
#include <utility>

namespace robosim {
namespace {

// Smallest ball with the k given points (1 to 4) on its surface; infinite if they are degenerate.
Ball circumscribed(const Vec3d* p, int k) {
  if (k == 1) return {p[0], 0};
  const Vec3d u = p[1] - p[0];
  if (k == 2) return {p[0] + 0.5 * u, 0.5 * norm(u)};
  const Vec3d v = p[2] - p[0], n = cross(u, v);
  const double uu = squared_norm(u), vv = squared_norm(v), nn = squared_norm(n);
  Vec3d offset;
  if (k == 3) {
    offset = (uu * cross(v, n) + vv * cross(n, u)) * (1 / (2 * nn));
  } else {
    const Vec3d w = p[3] - p[0];
    offset = (uu * cross(v, w) + vv * cross(w, u) + squared_norm(w) * n) * (1 / (2 * dot(w, n)));
  }
  const double r = norm(offset);
  if (!std::isfinite(r)) return {p[0], INFINITY};
  return {p[0] + offset, r};
}

bool holds(const Ball& b, const Vec3d& p) {
  return squared_norm(p - b.center) <= b.radius * b.radius * (1 + 1e-10);
}

// Smallest ball around the first n points with surface[0..k) on its surface.
Ball ball_with(std::vector<Vec3d>& points, std::size_t n, Vec3d* surface, int k) {
  Ball ball = k > 0 ? circumscribed(surface, k) : Ball{points[0], 0};
  if (k == 4) return ball;
  for (std::size_t i = 0; i < n; ++i) {
    if (holds(ball, points[i])) continue;
    surface[k] = points[i];
    ball = ball_with(points, i, surface, k + 1);
    // Move to the front, so that points that were on the surface are tested early.
    const Vec3d p = points[i];
    for (std::size_t j = i; j > 0 && i < 64; --j) points[j] = points[j - 1];
    if (i < 64)
      points[0] = p;
    else
      std::swap(points[i], points[i / 2]);
  }
  return ball;
}

double radius_about(const Vec3d& center, const std::vector<Vec3d>& points) {
  double r = 0;
  for (const Vec3d& p : points) r = max_number(r, squared_norm(p - center));
  return std::sqrt(r);
}

}  // namespace

Ball smallest_ball(std::vector<Vec3d> points) {
  if (points.empty()) return {};
  // A random order (of a fixed generator) makes the expected time linear.
  std::uint64_t state = 0x9E3779B97F4A7C15u;
  for (std::size_t i = points.size() - 1; i > 0; --i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    std::swap(points[i], points[(state >> 33) % (i + 1)]);
  }
  Vec3d surface[4];
  const Ball ball = ball_with(points, points.size(), surface, 0);
  // Regardless of rounding, every point is inside, and the ball is no larger than the one about the
  // box's center.
  Aabb box{points[0], points[0]};
  for (const Vec3d& p : points) box = hull(box, {p, p});
  const Vec3d middle = 0.5 * (box.lower + box.upper);
  const Ball simple{middle, radius_about(middle, points)};
  if (!std::isfinite(squared_norm(ball.center))) return simple;
  const Ball exact{ball.center, radius_about(ball.center, points)};
  return exact.radius <= simple.radius ? exact : simple;
}

}  // namespace robosim
