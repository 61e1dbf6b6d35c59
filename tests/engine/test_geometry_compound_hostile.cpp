// Hostile bodies of many pieces: needles, duplicates, degenerate faces, sizes from 1e-4 to 1e3 m,
// poses far away.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "count_allocations.h"
#include "geometry/bodies/compound_derivatives.h"
#include "geometry/bodies/compound_rays.h"
#include "random_bodies.h"

using namespace robosim;
using namespace robosim::testing;

namespace {

bool is_finite(const Vec3d& v) { return std::isfinite(v.x + v.y + v.z); }
bool is_finite(const Witness& w) {
  return std::isfinite(w.distance) && is_finite(w.p_WA) && is_finite(w.p_WB) && is_finite(w.normal);
}
bool is_finite(const WitnessRate& r) {
  return is_finite(Witness{r.distance, r.p_WA, r.p_WB, r.normal});
}

// Check that all queries and derivatives of a pair of bodies are finite and consistent.
PieceWitness survey(const Body& A, const SE3d& X_WA, const Body& B, const SE3d& X_WB,
                    double scale) {
  const PieceWitness w = closest_pieces(A, X_WA, B, X_WB);
  CHECK(is_finite(w.witness));
  CHECK(std::fabs(norm(w.witness.normal) - 1) < 1e-9);
  CHECK(norm(w.witness.p_WB - w.witness.p_WA - w.witness.distance * w.witness.normal) <
        1e-9 * scale);
  if (std::fabs(w.witness.distance) > 1e-9 * scale)
    CHECK(closer_than(0, A, X_WA, B, X_WB) == (w.witness.distance < 0));
  const WitnessDerivatives d = piece_derivatives(w, A, X_WA, B, X_WB);
  for (const WitnessRate& rate : d.twist) CHECK(is_finite(rate));
  CHECK(is_finite(d.scale[0]));
  CHECK(is_finite(d.scale[1]));
  std::vector<PieceWitness> all;
  contacts(0.01 * scale, A, X_WA, B, X_WB, all);
  for (const PieceWitness& x : all) CHECK(is_finite(x.witness));
  if (std::fabs(w.witness.distance - 0.01 * scale) > 1e-9 * scale)
    CHECK(all.empty() == (w.witness.distance > 0.01 * scale));
  return w;
}

// Surface of a box with repeated vertices and shuffled faces, among them degenerate ones.
Triangles spoilt(Triangles t, RandomBodies& random) {
  const int n = static_cast<int>(t.vertices.size());
  for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i) t.vertices.push_back(t.vertices[i]);
  for (auto& f : t.faces)
    for (int& i : f) i += random.engine() % 2 ? n : 0;
  for (int i = 0; i < 10; ++i) {
    const int a = static_cast<int>(random.uniform(0, n)),
              b = static_cast<int>(random.uniform(0, n));
    t.faces.push_back({a, b, a + n});
    t.faces.push_back({a, a, a});
  }
  std::shuffle(t.faces.begin(), t.faces.end(), random.engine);
  return t;
}

}  // namespace

TEST_CASE("a spoilt box of any size has the sign of the box against shapes of any size") {
  RandomBodies random;
  int inside = 0, outside = 0;
  for (int i = 0; i < 250; ++i) {
    const double size = std::pow(10, random.uniform(-4, 3));
    const Vec3d half =
        size * Vec3d(random.uniform(0.01, 1), random.uniform(0.1, 1), random.uniform(0.1, 1));
    const auto mesh = mesh_of(spoilt(box_triangles(half, 1 + i % 4), random));
    CHECK(mesh->is_closed());
    CHECK(mesh->n_degenerate() == 20);
    const Compound body(mesh);
    Shape other = random.small_shape();
    const double factor = i % 2 ? size : std::pow(10, random.uniform(-4, 3));
    other.radius *= factor;
    other.half_length *= factor;
    other.half_extents *= factor;
    other.rounding *= factor;
    if (other.type == ShapeType::convex || other.type == ShapeType::triangle) continue;
    const double scale = std::max(size, factor), far = i % 5 ? 0 : 1e3;
    SE3d X_WA = random.pose(far), X_WB = random.pose(1);
    X_WB.p = X_WA.p + random.uniform(0, 2) * 0.5 * scale * X_WB.R.col(0);
    CAPTURE(i);
    CAPTURE(size);
    CAPTURE(factor);
    const Witness expected = signed_distance(Shape::box(half), X_WA, other, X_WB);
    const PieceWitness w = survey(body, X_WA, other, X_WB, scale + far);
    if (std::fabs(expected.distance) > 1e-9 * (scale + far)) {
      CHECK((w.witness.distance < 0) == (expected.distance < 0));
      expected.distance < 0 ? ++inside : ++outside;
    }
    if (expected.distance > 0)
      CHECK(std::fabs(w.witness.distance - expected.distance) < 1e-10 * (scale + far));
  }
  CHECK(inside > 30);
  CHECK(outside > 30);
}

TEST_CASE("needles, folded and crossing sheets, fans with ends: nothing but finite answers") {
  RandomBodies random;
  for (int i = 0; i < 60; ++i) {
    // A soup: triangles of any three out of few vertices, long and thin, some of them flat or
    // folded onto others, with edges shared by many.
    const double thin = std::pow(10, random.uniform(-10, 0));
    std::vector<Vec3d> vertices;
    for (int k = 0; k < 12; ++k)
      vertices.push_back({random.uniform(-1, 1), thin * random.uniform(-1, 1),
                          (k % 3 ? 0.3 : 0) * random.uniform(-1, 1)});
    vertices.push_back(vertices[3]);
    std::vector<std::array<int, 3>> faces;
    for (int k = 0; k < 30; ++k)
      faces.push_back({static_cast<int>(random.uniform(0, 13)),
                       static_cast<int>(random.uniform(0, 13)),
                       static_cast<int>(random.uniform(0, 13))});
    faces.push_back({0, 1, 2});
    faces.push_back({0, 2, 1});
    CAPTURE(i);
    CAPTURE(thin);
    const Compound soup(std::make_shared<TriangleMesh>(vertices, faces)),
        other = random.compound(i % RandomBodies::n_kinds);
    const Shape shape = i % 7 ? random.small_shape() : Shape::half_space();
    survey(soup, random.pose(0.3), shape, random.pose(0.3), 1);
    survey(other, random.pose(0.3), soup, random.pose(0.3), 3);
    survey(soup, SE3d(), soup, i % 2 ? SE3d() : SE3d(random.pose(1).R, {}), 3);  // against itself
  }
}

TEST_CASE("many points at one place, terrain of cliffs, half-spaces in a compound") {
  RandomBodies random;
  std::vector<Vec3d> same(2000, Vec3d(0.1, 0.2, 0.3));
  const Compound heap(std::make_shared<PointCloud>(same, 0.05));
  const PieceWitness w =
      survey(heap, SE3d(), Shape::box({0.05, 0.05, 0.05}), {Mat3d::identity(), {0.1, 0.2, 1}}, 1);
  CHECK(w.piece_A == 0);
  CHECK(w.witness.distance == doctest::Approx(0.6).epsilon(1e-14));
  std::vector<double> cliffs(100);
  for (double& h : cliffs) h = random.engine() % 2 ? 100 : -100;
  const Compound field(std::make_shared<HeightField>(cliffs, 10, 10, 0.01, 0.01));
  for (int i = 0; i < 30; ++i)
    survey(field, random.pose(0.1), random.small_shape(),
           {Mat3d::identity(), {0.05, 0.05, random.uniform(-120, 120)}}, 100);
  const Compound floors(std::vector<Compound::Part>{{Shape::half_space(), random.pose(1), 0},
                                                    {Shape::sphere(0.1), random.pose(1), 0}});
  for (int i = 0; i < 20; ++i) {
    const SE3d X_WA = random.pose(1), X_WB = random.pose(2);
    const Shape shape = random.small_shape();
    const PieceWitness x = survey(floors, X_WA, shape, X_WB, 3);
    CHECK(x.witness.distance == std::min(piece_distance(floors, X_WA, 0, shape, X_WB, 0).distance,
                                         piece_distance(floors, X_WA, 1, shape, X_WB, 0).distance));
  }
}

// 1e5 triangles and 1e5 points: trees miss nothing.
TEST_CASE("large bodies: the ball's surface is the ball") {
  const int n = 92;  // 12 n^2 triangles
  const Triangles t = ball_triangles(0.5, n);
  CHECK(t.faces.size() > 100000);
  const Compound ball(mesh_of(t)), cloud(std::make_shared<PointCloud>(t.vertices, 0.01));
  RandomBodies random;
  for (int i = 0; i < 100; ++i) {
    SE3d X;
    X.p = random.uniform(0.6, 2) * random.pose(1).R.col(0);
    const Shape small = Shape::sphere(0.05);
    // The sagitta of a chord of 0.5 / n * 2 is less than its square.
    CHECK(closest_pieces(ball, SE3d(), small, X).witness.distance ==
          doctest::Approx(norm(X.p) - 0.55).epsilon(1e-3));
    CHECK(closest_pieces(cloud, SE3d(), small, X).witness.distance ==
          doctest::Approx(norm(X.p) - 0.56).epsilon(1e-3));
    X.p *= 0.4 / norm(X.p);
    CHECK(closest_pieces(ball, SE3d(), small, X).witness.distance ==
          doctest::Approx(-0.15).epsilon(1e-2));
  }
}

TEST_CASE("queries of bodies allocate nothing") {
  RandomBodies random;
  const Shape shape = Shape::box({0.1, 0.1, 0.1});
  std::vector<PieceWitness> found;
  found.reserve(100000);
  for (int kind = 0; kind < RandomBodies::n_kinds; ++kind) {
    const Compound A = random.compound(kind), B = random.compound(4);
    for (const Body& other : {Body(shape), Body(B)})
      for (int i = 0; i < 4; ++i) {
        const SE3d X_WA = random.pose(0.3), X_WB = random.pose(i % 2 ? 1.5 : 0.3);
        PieceCache cache;
        CHECK(allocations_when_repeated([&] {
                const PieceWitness w = closest_pieces(A, X_WA, other, X_WB, &cache);
                piece_derivatives(w, A, X_WA, other, X_WB);
                closer_than(0.1, A, X_WA, other, X_WB, &cache);
                ray_cast(A, X_WA, {X_WB.p, X_WA.p - X_WB.p});
                found.clear();
                contacts(0.05, A, X_WA, other, X_WB, found);
              }) == 0);
      }
  }
}
