// Derivatives of closest points against Ridders differences of the query itself, and exact
// identities.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "derivative_errors.h"
#include "random_shapes.h"
#include "scale.h"

using namespace robosim;
using namespace robosim::testing;

// 1e-7 relative; the steps keep the touching features. Deep inside, other features may have equal
// depth and the query may switch to them. Such poses, detected by a jump of the normal, are left
// out; they are few.
TEST_CASE("derivatives are those of the query: poses, sizes, scale, vertices") {
  RandomShapes random;
  const int n = repeats(20, 60);
  int pairs = 0, all_overlapping = 0;
  for_all_pairs([&](ShapeType a, ShapeType b) {
    if (a == ShapeType::half_space && b == a) return;
    int compared = 0, overlapping = 0, jumped = 0;
    for (int i = 0; i < n; ++i) {
      const Shape A = random.shape(a), B = random.shape(b);
      const SE3d X_WA = random.pose(0.6), X_WB = random.pose(i % 2 ? 0.6 : 0.3);
      const DerivativeErrors errors(A, X_WA, B, X_WB);
      CAPTURE(i);
      if (errors.near_a_switch) continue;
      errors.jumped ? ++jumped : ++compared;
      overlapping += errors.witness.distance < 0;
      if (errors.jumped) continue;
      for (const double error : errors.worst) CHECK(error < 1e-7);
      for (int side = 0; side < 2; ++side) {
        CHECK((errors.rates.n_sizes[side] > 0) == ((side ? b : a) != ShapeType::half_space));
        CHECK(((side ? errors.rates.B : errors.rates.A).n_corners > 0) ==
              (side ? B : A).has_vertices());
      }
    }
    CHECK(compared >= n / 2);
    CHECK(overlapping >= repeats(0, 5));
    CHECK(jumped <= 3);
    ++pairs;
    all_overlapping += overlapping;
  });
  CHECK(all_overlapping >= pairs * n / 12);
}

// Includes one-sided derivatives.
TEST_CASE("what holds of every contact: rigid motions, the order of the shapes, the gap's slope") {
  RandomShapes random;
  for_all_pairs([&](ShapeType a, ShapeType b) {
    for (int i = 0; i < 60; ++i) {
      const Shape A = random.shape(a), B = random.shape(b);
      const SE3d X_WA = i % 3 == 0 ? SE3d() : random.pose(0.6);
      const SE3d X_WB = i % 3 < 2 ? SE3d(Mat3d::identity(), {0.25 * i, 0, 0}) : random.pose(0.6);
      const Witness w = signed_distance(A, X_WA, B, X_WB);
      if (!std::isfinite(w.distance)) continue;
      const WitnessDerivatives d = witness_derivatives(w, A, X_WA, B, X_WB);
      // If both shapes move together, the witness moves with them. A twist of W is R^T v, R^T omega
      // of a frame at the origin of W.
      const Vec3d v(0.3, -0.2, 0.5), omega(0.7, 0.4, -0.6);
      Numbers together(10), expected{0};
      for (int side = 0; side < 2; ++side) {
        const SE3d& X = side ? X_WB : X_WA;
        const Vec3d linear = transpose_times(X.R, v + cross(omega, X.p)),
                    angular = transpose_times(X.R, omega);
        for (int k = 0; k < 6; ++k) {
          const Numbers x = flat(d.twist[6 * side + k]);
          for (std::size_t j = 0; j < x.size(); ++j) {
            CHECK(std::isfinite(x[j]));
            together[j] += x[j] * (k < 3 ? linear[k] : angular[k - 3]);
          }
        }
      }
      for (const Vec3d& x :
           {cross(omega, w.normal), v + cross(omega, w.p_WA), v + cross(omega, w.p_WB)})
        for (int k = 0; k < 3; ++k) expected.push_back(x[k]);
      // Columns may be large if surfaces nearly have a common center of curvature.
      double largest = 1;
      for (int c = 0; c < 12; ++c)
        for (const double x : flat(d.twist[c])) largest = std::max(largest, std::fabs(x));
      for (std::size_t j = 0; j < 10; ++j)
        CHECK(std::fabs(together[j] - expected[j]) < 1e-12 * largest);
      // dphi/dp = n, and the normal stays a unit vector.
      for (int c = 0; c < 12; ++c)
        CHECK(std::fabs(dot(d.twist[c].normal, w.normal)) < 1e-12 * largest);
      for (int k = 0; k < 3; ++k) {
        CHECK(std::fabs(d.twist[6 + k].distance - dot(w.normal, X_WB.R.col(k))) < 1e-14);
        CHECK(std::fabs(d.twist[k].distance + dot(w.normal, X_WA.R.col(k))) < 1e-14);
      }
      if (d.one_sided) continue;
      const Witness back{w.distance, w.p_WB, w.p_WA, -w.normal};
      const WitnessDerivatives e = witness_derivatives(back, B, X_WB, A, X_WA);
      for (int c = 0; c < 12; ++c) {
        const int o = (c + 6) % 12;
        CHECK(std::fabs(e.twist[o].distance - d.twist[c].distance) < 1e-12 * largest);
        CHECK(norm(e.twist[o].normal + d.twist[c].normal) < 1e-12 * largest);
        CHECK(norm(e.twist[o].p_WA - d.twist[c].p_WB) + norm(e.twist[o].p_WB - d.twist[c].p_WA) <
              1e-11 * largest);
      }
    }
  });
}

TEST_CASE("points of curved shapes fit their normal to the last digits") {
  RandomShapes random;
  for (const ShapeType b :
       {ShapeType::box, ShapeType::capsule, ShapeType::cylinder, ShapeType::convex}) {
    CAPTURE(name_of(b));
    for (int i = 0; i < 500; ++i) {
      const Shape A = random.shape(ShapeType::cylinder), B = random.shape(b);
      const SE3d X_WA = random.pose(0.6), X_WB = random.pose(0.6);
      const Witness w = signed_distance(A, X_WA, B, X_WB);
      CHECK(norm(w.p_WB - w.p_WA - w.distance * w.normal) < 1e-13);
      const Vec3d p = transpose_times(X_WA.R, w.p_WA - X_WA.p),
                  n = transpose_times(X_WA.R, w.normal);
      const double rho = std::hypot(p.x, p.y);
      const LocalSurface s = local_surface(A, X_WA, w.p_WA, w.normal);
      if (s.kind != FeatureKind::curved) CHECK(std::fabs(std::fabs(p.z) - A.half_length) < 1e-14);
      if (s.kind == FeatureKind::face || s.slide < 1e-6 || s.tilt() < 1e-3) continue;
      CHECK(std::fabs(rho - A.radius) < 1e-13);
      // The normal intersects the axis.
      CHECK(std::fabs(p.x * n.y - p.y * n.x) < 1e-12 * std::hypot(n.x, n.y));
      if (s.kind == FeatureKind::curved) CHECK(std::fabs(n.z) < 1e-12);
    }
  }
}

// A ridge with so little curvature that all of it is near the supporting plane, but none of the
// adjacent faces.
TEST_CASE("the edge of a convex mesh is that which holds the point, among many that are near") {
  std::vector<Vec3d> points;
  for (int i = -4; i <= 4; ++i) points.push_back({0.1 * i, 0, -1e-5 * (0.1 * i) * (0.1 * i)});
  for (const double x : {-0.4, 0.4})
    for (const double y : {-0.3, 0.3}) points.push_back({x, y, -0.5});
  const Shape ridge = Shape::convex(std::make_shared<ConvexMesh>(convex_hull_mesh(points)));
  for (int i = -4; i < 4; ++i)
    for (const double part : {0.2, 0.5, 0.9}) {
      const Vec3d a(0.1 * i, 0, -1e-5 * (0.1 * i) * (0.1 * i)),
          b(0.1 * (i + 1), 0, -1e-5 * (0.1 * (i + 1)) * (0.1 * (i + 1)));
      const Vec3d e = (b - a) * (1 / norm(b - a)), n(-e.z, 0, e.x);
      const LocalSurface s = local_surface(ridge, SE3d(), a + part * (b - a), n);
      REQUIRE(s.kind == FeatureKind::edge);
      double x[2];
      for (int k = 0; k < 2; ++k) x[k] = ridge.mesh->vertices[s.corner[k].vertex].x;
      CHECK(std::min(x[0], x[1]) == a.x);
      CHECK(std::max(x[0], x[1]) == b.x);
      CHECK(std::fabs(s.slide - std::min(part, 1 - part) * norm(b - a)) < 1e-12);
    }
}
