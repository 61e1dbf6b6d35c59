// Invariants of every pair: witnesses move with the shapes, and depend neither on the order of the
// shapes nor on the algorithm.
#include <doctest/doctest.h>

#include <cmath>

#include "geometry/pairs/pair_table.h"
#include "random_shapes.h"

using namespace robosim;
using namespace robosim::testing;

namespace {

// Witness in W by given functions of the pair, for either order of the shapes in these functions.
Witness ask(const PairFunctions& f, const Shape& A, const SE3d& X_WA, const Shape& B,
            const SE3d& X_WB) {
  const SE3d &X_W1 = f.swapped ? X_WB : X_WA, &X_W2 = f.swapped ? X_WA : X_WB;
  PairCache cache;
  const Witness w =
      f.signed_distance(f.swapped ? B : A, f.swapped ? A : B, X_W1.inverse() * X_W2, cache);
  const Witness in_W{w.distance, X_W1 * w.p_WA, X_W1 * w.p_WB, X_W1.R * w.normal};
  return f.swapped ? Witness{in_W.distance, in_W.p_WB, in_W.p_WA, -in_W.normal} : in_W;
}

// Both are exact to about 1e-14. In a few out of thousands of random poses a change of 1e-16
// rotates the normal by more than 1e-11.
void check_same(const Witness& a, const Witness& b, double tolerance = 1e-11) {
  CHECK(std::fabs(a.distance - b.distance) < tolerance);
  CHECK(norm(a.normal - b.normal) < tolerance);
  CHECK(norm(a.p_WA - b.p_WA) < tolerance);
  CHECK(norm(a.p_WB - b.p_WB) < tolerance);
}

bool both_half_spaces(ShapeType a, ShapeType b) { return a == b && a == ShapeType::half_space; }

}  // namespace

TEST_CASE("GJK and EPA agree with every analytic pair, apart and inside") {
  RandomShapes random;
  int n_pairs = 0;
  for_all_pairs([&](ShapeType a, ShapeType b) {
    const PairFunctions analytic = pair_functions(a, b), generic = generic_pair_functions(a, b);
    if (!analytic.analytic || generic.signed_distance == nullptr) return;
    ++n_pairs;
    int inside = 0;
    for (int i = 0; i < 200; ++i) {
      const Shape A = random.shape(a), B = random.shape(b);
      const SE3d X_WA = random.pose(0.3), X_WB = random.pose(i % 2 ? 0.2 : 0.8);
      const Witness w = ask(analytic, A, X_WA, B, X_WB);
      CAPTURE(w.distance);
      check_same(w, ask(generic, A, X_WA, B, X_WB));
      inside += w.distance < 0;
    }
    CHECK(inside >= 40);
    CHECK(inside <= 160);
  });
  // Spheres with six bounded types, in both orders except with themselves; capsules with all
  // except half-spaces.
  CHECK(n_pairs >= 12);
}

// Most queries are solved by the facets of the difference (triangle_triangle.h). With integer
// corners many triangles touch, are coplanar or have parallel edges; normals and points are then
// not unique.
TEST_CASE(
    "GJK and EPA agree with triangles by facets, also where these are parallel, in one plane or "
    "have corners in common") {
  RandomShapes random;
  const PairFunctions own = pair_functions(ShapeType::triangle, ShapeType::triangle),
                      generic = generic_pair_functions(ShapeType::triangle, ShapeType::triangle);
  const bool by_facets = own.signed_distance != generic.signed_distance;
  CHECK(by_facets);
  const auto whole_number = [&] { return std::round(random.uniform(-1.5, 1.5)); };
  const auto whole = [&] { return Vec3d(whole_number(), whole_number(), whole_number()); };
  const auto flat = [](const Vec3d& a, const Vec3d& b, const Vec3d& c) {
    return norm(cross(b - a, c - a)) < 0.5;
  };
  int inside = 0, touching = 0;
  for (int i = 0; i < 6000; ++i) {
    Shape A = random.shape(ShapeType::triangle), B = random.shape(ShapeType::triangle);
    SE3d X_WB = random.pose(i % 3 ? 0.1 : 0.8);
    const bool is_whole = i % 2;
    if (is_whole) {
      const Vec3d v[6] = {whole(), whole(), whole(), whole(), whole(), whole()};
      if (flat(v[0], v[1], v[2]) || flat(v[3], v[4], v[5])) continue;
      A = Shape::triangle(v[0], v[1], v[2]);
      B = Shape::triangle(v[3], v[4], v[5]);
      X_WB = SE3d();
    }
    const Witness w = ask(own, A, SE3d(), B, X_WB), g = ask(generic, A, SE3d(), B, X_WB);
    CAPTURE(i);
    if (is_whole) {
      CHECK(std::fabs(w.distance - g.distance) < 1e-13);
      CHECK(norm(w.p_WB - w.p_WA - w.distance * w.normal) < 1e-13);
      CHECK(std::fabs(norm(w.normal) - 1) < 1e-14);
    } else {
      check_same(w, g);
    }
    inside += w.distance < -1e-3;
    touching += std::fabs(w.distance) < 1e-14;
  }
  CHECK(inside > 300);
  CHECK(touching > 300);
}

// GJK has no half-space, but a box whose other sides are far away: coordinates of 10 m, so 1e-13
// each.
TEST_CASE("GJK and EPA agree with half-spaces, as large boxes") {
  RandomShapes random;
  const Shape half_space = Shape::half_space(), box = Shape::box({10, 10, 10});
  for (int b = 0; b < n_shape_types; ++b) {
    const ShapeType type = static_cast<ShapeType>(b);
    if (type == ShapeType::half_space) continue;
    CAPTURE(std::string(name_of(type)));
    const PairFunctions generic = generic_pair_functions(ShapeType::box, type);
    for (int i = 0; i < 100; ++i) {
      const Shape B = random.shape(type);
      const SE3d X_WA = random.pose(0.5), X_WB = X_WA * random.pose(i % 2 ? 0.3 : 1);
      check_same(signed_distance(half_space, X_WA, B, X_WB),
                 ask(generic, box, X_WA * SE3d(Mat3d::identity(), {0, 0, -10}), B, X_WB), 1e-10);
    }
  }
}

TEST_CASE("a witness moves with the shapes, and changes sides with them") {
  RandomShapes random;
  for_all_pairs([&](ShapeType a, ShapeType b) {
    if (both_half_spaces(a, b)) return;
    for (int i = 0; i < 60; ++i) {
      const Shape A = random.shape(a), B = random.shape(b);
      const SE3d X_WA = random.pose(0.3), X_WB = random.pose(i % 2 ? 0.2 : 0.8), X = random.pose(1);
      const Witness w = signed_distance(A, X_WA, B, X_WB);
      CAPTURE(w.distance);
      check_same(signed_distance(A, X * X_WA, B, X * X_WB),
                 {w.distance, X * w.p_WA, X * w.p_WB, X.R * w.normal});
      check_same(signed_distance(B, X_WB, A, X_WA), {w.distance, w.p_WB, w.p_WA, -w.normal});
    }
  });
}
