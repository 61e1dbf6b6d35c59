// Random shapes and poses.
#pragma once

#include <memory>
#include <random>
#include <vector>

#include "geometry/query.h"

namespace robosim::testing {

struct RandomShapes {
  std::mt19937_64 engine{1};
  double uniform(double a, double b) {
    return a + (b - a) * (static_cast<double>(engine() >> 11) * 0x1p-53);
  }
  double sign_free() { return uniform(-1, 1) + uniform(-1, 1) + uniform(-1, 1); }

  SE3d pose(double reach) {
    Vec3d a(sign_free(), sign_free(), sign_free()), b(sign_free(), sign_free(), sign_free());
    a *= 1 / norm(a);
    for (int i = 0; i < 2; ++i) {
      b -= dot(a, b) * a;
      b *= 1 / norm(b);
    }  // twice: to the last digit
    return {{a, b, cross(a, b)},
            {uniform(-reach, reach), uniform(-reach, reach), uniform(-reach, reach)}};
  }
  // Random shape of any type. All sizes are filled; half of the shapes that can be rounded are.
  Shape shape(ShapeType type) {
    Shape s{type};
    s.radius = uniform(0.05, 0.4);
    s.half_length = uniform(0.05, 0.5);
    s.half_extents = {uniform(0.05, 0.5), uniform(0.05, 0.5), uniform(0.05, 0.5)};
    std::vector<Vec3d> points(static_cast<std::size_t>(uniform(8, 120)));
    for (Vec3d& p : points) p = Vec3d(0.4 * sign_free(), 0.3 * sign_free(), 0.2 * sign_free());
    if (type == ShapeType::convex) s.mesh = std::make_shared<ConvexMesh>(convex_hull_mesh(points));
    for (std::size_t i = 0; i < 3; ++i) s.vertex[i] = points[i];
    const bool may_be_rounded = type == ShapeType::box || s.has_vertices();
    if (may_be_rounded && s.half_length > 0.275) s.rounding = 0.5 * s.radius;
    return s;
  }
};

}  // namespace robosim::testing
