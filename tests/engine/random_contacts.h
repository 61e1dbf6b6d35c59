// Two shapes that nearly touch, often with a face or a straight line of one against one of the
// other.
#pragma once

#include <cmath>

#include "geometry/directions.h"
#include "geometry/shapes/patch.h"
#include "random_shapes.h"
#include "spatial/lie.h"

namespace robosim::testing {

struct RandomContact {
  Shape A, B;
  SE3d X_WA, X_WB;
  double distance = 0;  // as signed_distance returns it

  RandomContact(RandomShapes& random, ShapeType a, ShapeType b, bool aligned, double tilt,
                double gap)
      : A(random.shape(a)), B(random.shape(b)), X_WA(random.pose(0.6)), X_WB(random.pose(0.3)) {
    const SE3d at = X_WB;
    if (aligned) {
      // Align normals of patches against each other, then rotate slightly about a random axis.
      Vec3d q_A, q_B;
      const Vec3d m_A = X_WA.R * patch_normal(random, A, q_A),
                  m_B = at.R * patch_normal(random, B, q_B);
      const Vec3d axis = unit_or(cross(m_B, -m_A), perpendicular(m_B)),
                  slight = unit_or(random.pose(1).p, {1, 0, 0});
      const double angle = std::acos(std::fmax(-1.0, std::fmin(1.0, -dot(m_A, m_B))));
      X_WB.R = turn(tilt * slight) * turn(angle * axis) * at.R;
      const Vec3d t = perpendicular(m_A), u = cross(m_A, t);
      const double along_t = random.uniform(-0.2, 0.2), along_u = random.uniform(-0.2, 0.2);
      X_WB.p = X_WA * q_A - X_WB.R * q_B + 0.5 * m_A + along_t * t + along_u * u;
    } else {
      X_WB.p = X_WA.p + 3.0 * unit_or(random.pose(1).p, {1, 0, 0});
    }
    // Translate along the normal to the given gap, but not so far that the shapes would separate on
    // the other side.
    for (int round = 0; round < 4; ++round) {
      const Witness w = signed_distance(A, X_WA, B, X_WB);
      distance = w.distance;
      if (std::isfinite(distance) && round < 3) X_WB.p += (gap - distance) * w.normal;
    }
  }

  static Mat3d turn(const Vec3d& angle) {
    ::robosim::Motion<double> V;
    V.angular = angle;
    return exp_motion(V).R;
  }

 private:
  // Normal of a random patch, and the patch's center, in the shape's frame.
  static Vec3d patch_normal(RandomShapes& random, const Shape& shape, Vec3d& middle) {
    Vec3d n = unit_or(random.pose(1).p, {1, 0, 0});
    return visit(shape, [&](const auto& core) {
      Patch patch;
      if constexpr (requires { core.patch(n, patch); }) core.patch(n, patch);
      middle = {};
      for (int i = 0; i < patch.n_corners; ++i) middle += (1.0 / patch.n_corners) * patch.corner[i];
      return patch.kind == Patch::Kind::none ? n : patch.normal;
    });
  }
};

}  // namespace robosim::testing
