// The dense derivatives of closest points equal those of the factors, which are compared with
// differences elsewhere. Checked for every pair of shapes, for special cases with kernels of their
// own, and on every instruction set.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "base/cpu.h"
#include "geometry/contact_derivatives.h"
#include "geometry/witness_jacobian.h"
#include "random_shapes.h"

using namespace robosim;
using namespace robosim::testing;

namespace {

double largest(const WitnessRate& a) {
  double x = std::fabs(a.distance);
  for (const Vec3d& v : {a.normal, a.p_WA, a.p_WB})
    x = std::max({x, std::fabs(v.x), std::fabs(v.y), std::fabs(v.z)});
  return x;
}
double distance(const WitnessRate& a, const WitnessRate& b) {
  return largest({a.distance - b.distance, a.normal - b.normal, a.p_WA - b.p_WA, a.p_WB - b.p_WB});
}
double largest(const WitnessDerivatives& d) {
  double size = 1;
  for (const WitnessRate& rate : d.twist) size = std::max(size, largest(rate));
  return size;
}
bool is_zero(const tangent_plane::Mat2& M) {
  return M.row[0].x == 0 && M.row[0].y == 0 && M.row[1].x == 0 && M.row[1].y == 0;
}

}  // namespace

// In every third pose the axes of both frames are aligned, so that faces, edges and sides lie flat.
// The first of these poses coincide, where spheres have no unique normal. Errors are those of sums
// of a few dozen products of numbers up to `size`.
TEST_CASE("each column is the derivative by its entry of the twists") {
  RandomShapes random;
  int turning = 0;
  for_all_pairs([&](ShapeType a, ShapeType b) {
    for (int i = 0; i < 60; ++i) {
      const Shape A = random.shape(a), B = random.shape(b);
      const SE3d X_WA = i % 3 == 0 ? SE3d() : random.pose(0.6);
      const Mat3d turned = i % 2 == 0 ? Mat3d::identity() : Mat3d{{0, 0, 1}, {1, 0, 0}, {0, 1, 0}};
      const SE3d X_WB = i % 3 == 0 ? SE3d(turned, {0.1 * (i % 30), 0, 0}) : random.pose(0.6);
      CAPTURE(i);
      const Witness w = signed_distance(A, X_WA, B, X_WB);
      const WitnessDerivatives d = witness_derivatives(w, A, X_WA, B, X_WB);
      const WitnessFactors f = witness_factors(w, A, X_WA, B, X_WB);
      turning += f.finite && is_zero(f.P);
      WitnessJacobian J, of_factors;
      witness_jacobian(w, A, X_WA, B, X_WB, J);
      witness_jacobian(f, X_WA, X_WB, of_factors);
      CHECK(J.one_sided == d.one_sided);
      CHECK(of_factors.one_sided == d.one_sided);
      const double size = largest(d);
      for (int k = 0; k < 12; ++k) {
        CAPTURE(k);
        CHECK(distance(J.rate(k), d.twist[k]) < 1e-12 * size);
        CHECK(distance(of_factors.rate(k), d.twist[k]) < 1e-12 * size);
        if (!f.finite) CHECK(largest(J.rate(k)) == 0);
      }
    }
  });
  CHECK(turning > 500);
}

TEST_CASE("where the next feature takes over it is told") {
  const Shape ball = Shape::sphere(0.1), box = Shape::box({0.3, 0.2, 0.1}),
              cylinder = Shape::cylinder(0.2, 0.1), ground = Shape::half_space();
  const double r = std::sqrt(0.5);
  struct Case {
    const Shape &A, &B;
    SE3d X_AB;
    bool one_sided;
  };
  const Mat3d one = Mat3d::identity(), tipped{{r, 0, r}, {0, 1, 0}, {-r, 0, r}};
  for (const Case& c :
       {Case{box, ball, {one, {0.3, 0.05, 0.3}}, true},
        Case{box, ball, {one, {0.29, 0.05, 0.3}}, false},
        Case{cylinder, ball, {one, {0.2, 0, 0.3}}, true},
        Case{cylinder, ball, {one, {0.21, 0, 0.3}}, false},
        Case{ground, box, {one, {0, 0, 0.2}}, true}, Case{ground, box, {tipped, {0, 0, 0.5}}, true},
        Case{ground, cylinder, {tipped, {0, 0, 0.5}}, false},
        Case{ground, ball, {one, {0, 0, 0.5}}, false}})
    for (const bool swapped : {false, true}) {
      const Shape &A = swapped ? c.B : c.A, &B = swapped ? c.A : c.B;
      const SE3d X_WA, X_WB = swapped ? c.X_AB.inverse() : c.X_AB;
      WitnessJacobian J;
      witness_jacobian(signed_distance(A, X_WA, B, X_WB), A, X_WA, B, X_WB, J);
      CAPTURE(shape_type_names[static_cast<int>(A.type)]);
      CAPTURE(shape_type_names[static_cast<int>(B.type)]);
      CHECK(J.one_sided == c.one_sided);
    }
}

// signed_distance returns an end of a line that lies flat. In between, the point keeps its position
// along the axis, and moves around the lateral surface.
TEST_CASE("on a line that lies flat the point is held") {
  const Shape ground = Shape::half_space();
  const SE3d flat(Mat3d{{0, 0, 1}, {1, 0, 0}, {0, 1, 0}}, {0.1, -0.2, 0.3});
  for (const Shape& shape : {Shape::cylinder(0.2, 0.4), Shape::capsule(0.2, 0.4)})
    for (const bool is_B : {false, true}) {
      const Shape &A = is_B ? shape : ground, &B = is_B ? ground : shape;
      const SE3d X_WA = is_B ? flat : SE3d(), X_WB = is_B ? SE3d() : flat;
      Witness w = signed_distance(A, X_WA, B, X_WB);
      w.p_WA.x = w.p_WB.x = 0.25;
      const WitnessDerivatives d = witness_derivatives(w, A, X_WA, B, X_WB);
      WitnessJacobian J;
      witness_jacobian(w, A, X_WA, B, X_WB, J);
      CHECK(J.one_sided);
      CHECK(std::fabs(J.rate(is_B ? 9 : 3).p_WA.y) == doctest::Approx(is_B ? 0.2 : 0.3));
      for (int k = 0; k < 12; ++k) CHECK(distance(J.rate(k), d.twist[k]) < 1e-14);
    }
}

TEST_CASE("turns of a sphere about its center change nothing, exactly") {
  RandomShapes random;
  for (int t = 0; t < n_shape_types; ++t)
    for (const bool is_B : {false, true}) {
      CAPTURE(shape_type_names[t]);
      const Shape ball = random.shape(ShapeType::sphere),
                  other = random.shape(static_cast<ShapeType>(t));
      const SE3d X_WA = random.pose(0.6), X_WB = random.pose(0.6);
      const Shape &A = is_B ? other : ball, &B = is_B ? ball : other;
      WitnessJacobian J;
      witness_jacobian(signed_distance(A, X_WA, B, X_WB), A, X_WA, B, X_WB, J);
      for (int k = 3; k < 6; ++k) CHECK(largest(J.rate(k + 6 * is_B)) == 0);
    }
}

namespace {

struct Arguments {
  WitnessFactors factors;
  SE3d X_WA, X_WB;
  bool is_B, is_centered;
  double radius;
};

template <Isa isa>
void all_kernels(const Arguments& x, WitnessJacobian (&out)[4]) {
  const detail::JacobianKernels& kernels = detail::jacobian_kernels<isa>();
  const WitnessFactors& f = x.factors;
  kernels.any(f, x.X_WA, x.X_WB, out[0].row[0]);
  kernels.on_half_space(f.witness, f.H, x.is_B, x.is_centered, x.X_WA, x.X_WB, out[1].row[0]);
  kernels.about_sphere(f.witness, f.tangent[0], f.tangent[1], f.P.row[0].x, f.P.row[0].y,
                       f.P.row[1].y, x.radius, x.is_B, x.X_WA, x.X_WB, out[2].row[0]);
  kernels.spheres(f.witness, f.P.row[0].x, f.Q_A.row[0].x, f.Q_A.row[1].y, x.X_WA, x.X_WB,
                  out[3].row[0]);
}

}  // namespace

// Equal up to fused products: a dozen of them are added up, of three numbers below 10 each.
TEST_CASE("kernels of all instruction sets agree") {
  std::mt19937_64 bits(3);
  std::uniform_real_distribution<double> uniform(-2, 2);
  RandomShapes random;
  const auto matrix = [&] {
    return tangent_plane::Mat2{{uniform(bits), uniform(bits)}, {uniform(bits), uniform(bits)}};
  };
  const auto vector = [&] { return Vec3d(uniform(bits), uniform(bits), uniform(bits)); };
  for (int i = 0; i < 100; ++i) {
    Arguments x{{{uniform(bits), vector(), vector(), vector()},
                 {vector(), vector()},
                 matrix(),
                 matrix(),
                 matrix(),
                 matrix(),
                 true,
                 false},
                random.pose(2),
                random.pose(2),
                i % 2 == 1,
                i % 4 > 1,
                uniform(bits)};
    if (i % 5 == 0) x.factors.H = {};
    WitnessJacobian expected[4], found[4];
    all_kernels<Isa::baseline>(x, expected);
    const auto compare = [&] {
      for (int kernel = 0; kernel < 4; ++kernel)
        for (int k = 0; k < 12; ++k)
          CHECK(distance(found[kernel].rate(k), expected[kernel].rate(k)) < 1e-12);
    };
#define ROBOSIM_COMPARE(isa) \
  if (is_supported(Isa::isa)) all_kernels<Isa::isa>(x, found), compare();
    ROBOSIM_FOR_EACH_ISA(ROBOSIM_COMPARE)
#undef ROBOSIM_COMPARE
  }
}
