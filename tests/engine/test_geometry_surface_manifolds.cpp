// Contact manifolds on triangle surfaces: a feature that several triangles share touches once, and
// no contact is left out.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "geometry/bodies/compound_manifolds.h"
#include "random_contacts.h"

using namespace robosim;
using namespace robosim::testing;

namespace {

std::vector<PieceManifold> on_surface(const TriangleMesh& surface, const Shape& shape,
                                      const SE3d& X_WS, double margin = 1e-3) {
  std::vector<PieceManifold> found;
  PieceManifolds().find(margin, shape, X_WS, Compound(std::make_shared<TriangleMesh>(surface)),
                        SE3d(), found);
  return found;
}

int points(const std::vector<PieceManifold>& found) {
  int n = 0;
  for (const PieceManifold& x : found) n += x.manifold.n_points;
  return n;
}

SE3d at(double x, double y, double z, const Vec3d& turn = {}) {
  return {RandomContact::turn(turn), {x, y, z}};
}

// Two faces that descend from the y axis with these angles [rad].
TriangleMesh ridge(double left, double right) {
  return TriangleMesh({{0, -1, 0}, {0, 1, 0}, {-1, 0, -std::tan(left)}, {1, 0, -std::tan(right)}},
                      {{{0, 1, 2}}, {{1, 0, 3}}}, false);
}

}  // namespace

TEST_CASE("a side or corner of several triangles is touched once") {
  CHECK(points(on_surface(ridge(0.3, 0.4), Shape::sphere(0.1), at(0, 0.1, 0.1))) == 1);
  // A box across the ridge: the two ends of the part of the ridge below the box.
  CHECK(points(on_surface(ridge(0.3, 0.4), Shape::box({0.1, 0.2, 0.1}),
                          at(0, 0.1, 0.1, {0, 0, 0.2}))) == 2);
  // The top of a pyramid of six faces.
  std::vector<Vec3d> vertices{{0, 0, 0}};
  std::vector<std::array<int, 3>> faces;
  for (int i = 0; i < 6; ++i) {
    vertices.push_back({std::cos(i * 1.0471975511965976), std::sin(i * 1.0471975511965976), -0.5});
    faces.push_back({0, 1 + i, 1 + (i + 1) % 6});
  }
  const TriangleMesh pyramid(vertices, faces, false);
  CHECK(on_surface(pyramid, Shape::box({0.1, 0.1, 0.1}), at(0.01, 0.02, 0.1, {0, 0, 0.3})).size() ==
        1);
  CHECK(points(on_surface(pyramid, Shape::sphere(0.1), at(0, 0, 0.1))) == 1);
}

TEST_CASE(
    "what lies flat on a triangle and beyond its side touches it alone, as long as nothing else of "
    "the next one is near") {
  const Shape box = Shape::box({0.1, 0.2, 0.1});
  const auto flat = [&](double angle, double lean) {
    return on_surface(ridge(angle, 0), box, at(0.05, 0.1, 0.1, {0, lean, 0.2}));
  };
  for (const double lean : {0.0, 3e-8, -3e-8, 9e-7, -9e-7}) {
    CAPTURE(lean);
    const auto found = flat(0.3, lean);
    REQUIRE(found.size() == 1);
    CHECK(found[0].piece_B == 1);
    CHECK(found[0].manifold.n_points == 4);  // two corners, and where its sides cross the ridge
    CHECK(found[0].manifold.reference == 1);
    // An almost level face supports the box with the corners over it.
    CHECK(flat(1e-4, lean).size() == 2);
    CHECK(flat(1e-7, lean).size() == 2);
  }
  CHECK(flat(0.3, 1e-4).size() > 0);
}

namespace {

// A rough square of 5 by 5 cells around (0.1, 0.1).
TriangleMesh rough_ground(RandomShapes& random, double rough) {
  constexpr int n = 6;
  std::vector<Vec3d> vertices;
  std::vector<std::array<int, 3>> faces;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j)
      vertices.push_back({0.2 * (i - 2), 0.2 * (j - 2), random.uniform(-rough, rough)});
  for (int i = 0; i + 1 < n; ++i)
    for (int j = 0; j + 1 < n; ++j) {
      const int v = n * i + j;
      faces.push_back({v, v + n, v + n + 1});
      faces.push_back({v, v + n + 1, v + 1});
    }
  return {vertices, faces, false};
}

// Lower the shape along z until its penetration exceeds `depth`.
void put_down(const Shape& shape, const Compound& ground, double depth, SE3d& X) {
  std::vector<PieceWitness> all;
  for (int k = 0; k < 60; ++k) {
    all.clear();
    contacts(2, shape, X, ground, SE3d(), all);
    double least = 1;
    for (const PieceWitness& x : all) least = std::min(least, x.witness.distance);
    if (!(least > 1e-9)) break;
    X.p.z -= 0.9 * least;
  }
  X.p.z -= depth;
}

}  // namespace

TEST_CASE("every corner over a face has a point, and every vertex below one") {
  RandomShapes random;
  // Gaps along other normals are larger by less than one percent.
  constexpr double margin = 2e-3, inside = 1e-6;
  int corners = 0, vertices = 0;
  for (int seed = 0; seed < 2000; ++seed) {
    CAPTURE(seed);
    const TriangleMesh surface = rough_ground(random, std::pow(10.0, random.uniform(-4, -1.5)));
    const Compound ground(std::make_shared<TriangleMesh>(surface));
    const Vec3d half = {0.15, 0.2, 0.1};
    const Shape box = Shape::box(half);
    const double tilt = std::pow(10.0, random.uniform(-4, -1));
    SE3d X = at(random.uniform(0, 0.2), random.uniform(0, 0.2), 1);
    X.R = RandomContact::turn({random.uniform(-tilt, tilt), random.uniform(-tilt, tilt), 0}) *
          RandomContact::turn({0, 0, random.uniform(-3, 3)});
    const double depth = seed % 2 ? 1e-5 : -random.uniform(0, margin);
    put_down(box, ground, depth, X);
    std::vector<PieceManifold> found;
    PieceManifolds().find(margin, box, X, ground, SE3d(), found);
    const auto has = [&](const Vec3d& p, bool of_box) {
      for (const PieceManifold& y : found)
        for (int k = 0; k < y.manifold.n_points; ++k)
          if (norm((of_box ? y.manifold.points[k].p_WA : y.manifold.points[k].p_WB) - p) < 1e-6)
            return true;
      return false;
    };
    for (int i = 0; i < 4; ++i) {
      const Vec3d p = X * Vec3d{i % 2 ? half.x : -half.x, i / 2 ? half.y : -half.y, -half.z};
      for (int t = 0; t < surface.n_triangles(); ++t) {
        const auto c = surface.corners(t);
        const Vec3d n = c.normal();
        const double gap = dot(n, p - c[0]);
        bool over = gap > -0.9e-5 && gap < 0.99 * margin;
        for (int k = 0; k < 3; ++k) over &= dot(cross(n, c[(k + 1) % 3] - c[k]), p - c[k]) > inside;
        if (!over) continue;
        CAPTURE(t);
        CAPTURE(i);
        CAPTURE(gap);
        CHECK(has(p, true));
        ++corners;
      }
    }
    for (int t = 0; t < surface.n_triangles(); ++t)
      for (int k = 0; k < 3; ++k) {
        const Vec3d v = surface.corners(t)[k], p = X.inverse() * v;
        const double gap = -half.z - p.z;
        if (std::fabs(p.x) > half.x - inside || std::fabs(p.y) > half.y - inside ||
            !(gap > -0.9e-5 && gap < 0.99 * margin))
          continue;
        CAPTURE(t);
        CAPTURE(k);
        CAPTURE(gap);
        CHECK(has(v, false));
        ++vertices;
      }
  }
  MESSAGE(corners, " corners, ", vertices, " vertices");
  CHECK(corners > 500);
  CHECK(vertices > 500);
}

TEST_CASE("each point is there once") {
  RandomShapes random;
  int points = 0, kept = 0;
  for (int seed = 0; seed < 300; ++seed) {
    CAPTURE(seed);
    const double rough = std::pow(10.0, random.uniform(-9, -1));
    const TriangleMesh surface = rough_ground(random, rough);
    const Compound ground(std::make_shared<TriangleMesh>(surface));
    const Shape shapes[] = {Shape::box({0.15, 0.2, 0.1}), Shape::cylinder(0.15, 0.1),
                            Shape::capsule(0.1, 0.2), Shape::box({0.1, 0.1, 0.05}, 0.02)};
    const Shape& shape = shapes[seed % 4];
    // With a face down or in a random orientation, lowered until it touches; every third time flat
    // on one of the triangles.
    SE3d X =
        at(random.uniform(-0.1, 0.3), random.uniform(-0.1, 0.3), 1,
           seed % 2 ? Vec3d{0, 0, random.uniform(-3, 3)}
                    : Vec3d{random.uniform(-3, 3), random.uniform(-3, 3), random.uniform(-3, 3)});
    if (seed % 3 == 0) {
      const Vec3d m = surface.corners(25).normal(), axis = cross(Vec3d{0, 0, 1}, m);
      X.R = RandomContact::turn(
                axis * (norm(axis) > 0 ? std::asin(std::min(norm(axis), 1.0)) / norm(axis) : 0)) *
            RandomContact::turn({0, 0, 0.4});
    }
    put_down(shape, ground, 1e-5, X);
    std::vector<PieceWitness> all;
    LeftOut left_out;
    contacts(1e-4, shape, X, ground, SE3d(), all, &left_out);
    std::vector<PieceManifold> found;
    PieceManifolds().find(1e-4, shape, X, ground, SE3d(), found);
    REQUIRE(found.size() <= all.size() + left_out.pairs.size());
    for (const PieceWitness& x : all) {
      const auto corners = surface.corners(x.piece_B);
      const Manifold whole = contact_manifold(
          x.witness, shape, X, Shape::triangle(corners[0], corners[1], corners[2]), SE3d(), 1e-4);
      for (int i = 0; i < whole.n_points; ++i) {
        int times = 0;
        for (const PieceManifold& y : found)
          for (int k = 0; k < y.manifold.n_points; ++k)
            times += norm(y.manifold.normal() - whole.normal()) <= 1.1e-6 &&
                     norm(y.manifold.points[k].p_WB - whole.points[i].p_WB) < 0.9e-7 &&
                     norm(y.manifold.points[k].p_WA - whole.points[i].p_WA) < 0.9e-7;
        CHECK(times >= 1);
        // With normals that differ by a millionth a point is not always unique.
        if (rough < 1e-8 || rough > 1e-4) CHECK(times == 1);
        ++points;
      }
    }
    for (const PieceManifold& y : found)
      if (std::any_of(all.begin(), all.end(),
                      [&](const PieceWitness& x) { return x.piece_B == y.piece_B; }))
        kept += y.manifold.n_points;
  }
  MESSAGE(points, " points of triangles, ", kept, " of surfaces");
  CHECK(points > 1.5 * kept);
}
