// Factored form of contact derivatives: its products are products with the dense derivatives, which
// are compared with differences elsewhere.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "geometry/contact_derivatives.h"
#include "random_shapes.h"

using namespace robosim;
using namespace robosim::testing;

namespace {

double dot(const WitnessRate& a, const WitnessRate& b) {
  return a.distance * b.distance + dot(a.normal, b.normal) + dot(a.p_WA, b.p_WA) +
         dot(a.p_WB, b.p_WB);
}
double largest(const WitnessRate& a) {
  double x = std::fabs(a.distance);
  for (const Vec3d& v : {a.normal, a.p_WA, a.p_WB})
    x = std::max({x, std::fabs(v.x), std::fabs(v.y), std::fabs(v.z)});
  return x;
}
WitnessRate scaled(double s, const WitnessRate& a) {
  return {s * a.distance, s * a.normal, s * a.p_WA, s * a.p_WB};
}

// Every third pose is special: frames are aligned, so that faces, edges and axes are parallel.
template <class F>
void for_all_poses(F&& f) {
  RandomShapes random;
  for_all_pairs([&](ShapeType a, ShapeType b) {
    for (int i = 0; i < 30; ++i) {
      const Shape A = random.shape(a), B = random.shape(b);
      const SE3d X_WA = i % 3 == 0 ? SE3d() : random.pose(0.6);
      const SE3d X_WB = i % 3 == 0 ? SE3d(Mat3d::identity(), {0.1 * i, 0, 0}) : random.pose(0.6);
      CAPTURE(i);
      f(A, X_WA, B, X_WB, witness_factors(signed_distance(A, X_WA, B, X_WB), A, X_WA, B, X_WB));
    }
  });
}

}  // namespace

// Both are sums of a few dozen products of numbers up to `size`.
TEST_CASE("a product with the factors is the product with the dense derivatives") {
  std::mt19937_64 bits(1);
  std::normal_distribution<double> normal;
  for_all_poses([&](const Shape& A, const SE3d& X_WA, const Shape& B, const SE3d& X_WB,
                    const WitnessFactors& f) {
    const WitnessDerivatives d = witness_derivatives(f.witness, A, X_WA, B, X_WB);
    CHECK(f.one_sided == d.one_sided);
    double v[12], size = 1;
    WitnessRate sum;
    for (int k = 0; k < 12; ++k) {
      v[k] = normal(bits);
      size = std::max(size, largest(d.twist[k]));
    }
    for (int k = 0; k < 12; ++k) sum += scaled(v[k], d.twist[k]);
    WitnessRate difference = jvp(f, X_WA, X_WB, v);
    CHECK((f.finite || largest(difference) == 0));
    difference += scaled(-1, sum);
    CHECK(largest(difference) < 1e-12 * size);
  });
}

TEST_CASE("vjp is the transpose of jvp, side by side and in both twists") {
  std::mt19937_64 bits(2);
  std::normal_distribution<double> normal;
  const auto vector = [&] { return Vec3d(normal(bits), normal(bits), normal(bits)); };
  for_all_poses(
      [&](const Shape&, const SE3d& X_WA, const Shape&, const SE3d& X_WB, const WitnessFactors& f) {
        const WitnessRate g{normal(bits), vector(), vector(), vector()};
        double v[12], w[12], along = 0, size = 1;
        for (double& x : v) x = normal(bits);
        const WitnessRate rate = jvp(f, X_WA, X_WB, v);
        vjp(f, X_WA, X_WB, g, w);
        for (int k = 0; k < 12; ++k) {
          along += v[k] * w[k];
          size = std::max(size, std::fabs(w[k]));
        }
        CHECK(std::fabs(dot(g, rate) - along) < 1e-12 * size);
        for (int side = 0; side < 2; ++side) {
          const SurfaceMotion motion{vector(), vector()}, back = f.pulled_back(side, g);
          CHECK(std::fabs(dot(g, f.rate(side, motion)) - dot(motion.u, back.u) -
                          dot(motion.w, back.w)) < 1e-12 * size);
        }
      });
}
