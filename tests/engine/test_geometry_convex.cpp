// Convex meshes: the exact predicate, the hull, adjacency and hill climbing, the smallest ball.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <random>
#include <stdexcept>
#include <utility>

#include "geometry/shape.h"
#include "geometry/shapes/convex_hull.h"
#include "geometry/shapes/convex_mesh.h"
#include "geometry/shapes/orientation.h"
#include "geometry/shapes/smallest_ball.h"

using namespace robosim;

namespace {

std::mt19937_64 engine(7);
double uniform(double a, double b) { return std::uniform_real_distribution<double>(a, b)(engine); }
Vec3d random_vector(double reach = 1) {
  return {uniform(-reach, reach), uniform(-reach, reach), uniform(-reach, reach)};
}
Vec3d random_unit() {
  while (true) {
    const Vec3d v = random_vector();
    const double n = norm(v);
    if (n > 0.1 && n < 1) return v * (1 / n);
  }
}

// Check that a hull is closed, outward and convex to the last bit: no vertex is strictly above a
// face, and every point is inside.
void check_hull(const ConvexMesh& mesh, const std::vector<Vec3d>& points) {
  std::map<std::pair<int, int>, int> edges;
  for (const auto& f : mesh.faces) {
    for (int k = 0; k < 3; ++k) ++edges[{f[k], f[(k + 1) % 3]}];
    for (const Vec3d& p : points)
      REQUIRE(orientation(mesh.vertices[f[0]], mesh.vertices[f[1]], mesh.vertices[f[2]], p) <= 0);
  }
  for (const auto& [edge, count] : edges) {
    REQUIRE(count == 1);
    REQUIRE(edges.count({edge.second, edge.first}) == 1);
  }
  CHECK(mesh.vertices.size() + mesh.faces.size() == edges.size() / 2 + 2);  // Euler
  CHECK(mesh.neighbors.size() == edges.size());
  CHECK(mesh.volume > 0);
  for (const Vec3d& p : points)
    REQUIRE(norm(p - mesh.ball.center) <= mesh.ball.radius * (1 + 1e-12));
}

}  // namespace

TEST_CASE("orientation is exact") {
  // Integers, shifted so that differences are rounded. The sign must be that of integer arithmetic.
  int zeros = 0;
  for (int i = 0; i < 20000; ++i) {
    long long p[4][3];
    for (auto& v : p)
      for (long long& x : v) x = static_cast<long long>(uniform(-4, 5));
    long long u[3], v[3], w[3];
    for (int k = 0; k < 3; ++k) {
      u[k] = p[1][k] - p[0][k];
      v[k] = p[2][k] - p[0][k];
      w[k] = p[3][k] - p[0][k];
    }
    const long long det = (u[1] * v[2] - u[2] * v[1]) * w[0] + (u[2] * v[0] - u[0] * v[2]) * w[1] +
                          (u[0] * v[1] - u[1] * v[0]) * w[2];
    // Exact: multiples of 2^-40 near 1.5.
    const double scale = i % 2 ? 0x1p-40 : 3, offset = i % 2 ? 1.5 : 0;
    Vec3d q[4];
    for (int k = 0; k < 4; ++k)
      for (int j = 0; j < 3; ++j) q[k][j] = offset + scale * static_cast<double>(p[k][j]);
    CHECK(orientation(q[0], q[1], q[2], q[3]) == (det > 0) - (det < 0));
    zeros += det == 0;
  }
  CHECK(zeros > 500);  // the degenerate case has occurred
  // One bit above a plane through points whose differences are not exact.
  const Vec3d a(0.1, 0.1, 0.1), b(12.3, 0.1, 0.1), c(0.1, 1e-7, 0.1);
  CHECK(orientation(a, b, c, {5, 0.05, std::nextafter(0.1, 1)}) == -1);
  CHECK(orientation(a, b, c, {5, 0.05, 0.1}) == 0);
  CHECK(orientation(a, b, c, {5, 0.05, std::nextafter(0.1, 0)}) == 1);
}

TEST_CASE("hulls of clouds, spheres, grids and needles are exactly convex") {
  for (int n : {4, 5, 10, 200}) {
    std::vector<Vec3d> cloud, ball;
    for (int i = 0; i < n; ++i) {
      cloud.push_back(random_vector());
      ball.push_back(random_unit());
    }
    check_hull(convex_hull_mesh(cloud), cloud);
    const ConvexMesh round = convex_hull_mesh(ball);
    check_hull(round, ball);
    CHECK(round.vertices.size() == ball.size());
    for (Vec3d& p : cloud) {
      p.x *= 1e-3;
      p.z *= 1e3;
    }
    check_hull(convex_hull_mesh(cloud), cloud);
  }
  // A grid: most points lie on faces and edges. The hull has few vertices beyond the corners.
  std::vector<Vec3d> grid;
  for (int i = 0; i < 7; ++i)
    for (int j = 0; j < 7; ++j)
      for (int k = 0; k < 7; ++k) grid.push_back({0.1 * i, 0.1 * j, 0.1 * k});
  for (int i = 0; i < 100; ++i) grid.push_back(grid[i]);  // repeated
  std::shuffle(grid.begin(), grid.end(), engine);
  const ConvexMesh cube = convex_hull_mesh(grid);
  check_hull(cube, grid);
  CHECK(cube.vertices.size() < 16);
  CHECK(cube.volume == doctest::Approx(0.216).epsilon(1e-12));
  CHECK(norm(cube.centroid - Vec3d(0.3, 0.3, 0.3)) < 1e-12);
  CHECK(cube.ball.radius == doctest::Approx(0.3 * std::sqrt(3)).epsilon(1e-9));
  // The same grid rotated: its faces are flat except for rounding.
  const double c = std::cos(0.3), s = std::sin(0.3);
  for (Vec3d& p : grid) p = Vec3d(c * p.x - s * p.y, s * p.x + c * p.y, p.z + 1);
  check_hull(convex_hull_mesh(grid), grid);
}

TEST_CASE("tables of directions find what brute force finds") {
  // 1e-9: a needle of that thickness, whose points differ by far less than the width of a cell's
  // border.
  for (const double thin : {1.0, 0.1, 1e-6, 1e-9})
    for (const int n : {13, 30, 300, 3000}) {
      std::vector<Vec3d> points;
      for (int i = 0; i < n; ++i) {
        const Vec3d u = random_unit();
        points.push_back({u.x, 0.5 * u.y, thin * u.z});
      }
      // A crowded flat top.
      for (int i = 0; i < n; ++i) points.push_back({uniform(-0.3, 0.3), uniform(-0.3, 0.3), thin});
      const SupportTable table(points);
      for (int i = 0; i < 1000; ++i) {
        Vec3d d = random_unit();
        // Along borders of cells.
        if (i % 4 == 1)
          d = {std::round(8 * d.x) / 8, std::round(8 * d.y) / 8, i % 8 == 1 ? 1.0 : -1.0};
        if (i % 4 == 2) d = {1e-9 * d.x, 1e-12 * d.y, d.z};
        double reach = -INFINITY;
        for (const Vec3d& v : points) reach = std::max(reach, dot(d, v));
        // The result does not depend on the length of d.
        const Vec3d found = points[table.farthest(points, d)];
        CHECK(std::fabs(dot(d, found) - reach) < 4e-16);
        for (const double length : {0x1p-1040, 0x1p-900, 0x1p900}) {
          const Vec3d other = points[table.farthest(points, length * d)];
          if (length > 0x1p-1000) CHECK(dot(d, other) == dot(d, found));
          CHECK(std::fabs(dot(d, other) - reach) < 1e-3);  // the shortest has few bits left
        }
      }
    }
  // A support table refers to the points for which it was built: a copy of a mesh has its own
  // table.
  std::vector<Vec3d> ball;
  for (int i = 0; i < 100; ++i) ball.push_back(random_unit());
  const ConvexMesh mesh = convex_hull_mesh(ball);
  CHECK(ConvexCore{&mesh}.support({1, 0, 0}).x > 0.9);
  ConvexMesh turned = mesh;
  for (Vec3d& v : turned.vertices) v = {v.y, v.z, v.x};
  const Vec3d d = random_unit();
  const Vec3d before = ConvexCore{&mesh}.support(d),
              after = ConvexCore{&turned}.support({d.y, d.z, d.x});
  CHECK(norm(after - Vec3d(before.y, before.z, before.x)) == 0);
}

TEST_CASE("the smallest ball is the smallest") {
  for (int n : {1, 2, 3, 4, 20, 500}) {
    std::vector<Vec3d> points;
    for (int i = 0; i < n; ++i) points.push_back(n == 500 ? random_unit() : random_vector());
    const Ball ball = smallest_ball(points);
    double farthest = 0;
    for (const Vec3d& p : points) farthest = std::max(farthest, norm(p - ball.center));
    CHECK(farthest <= ball.radius * (1 + 1e-14));
    // Optimal: moving the center in any direction increases the farthest distance.
    for (int i = 0; i < 50 && n > 1; ++i) {
      const Vec3d moved = ball.center + 1e-3 * random_unit();
      double worse = 0;
      for (const Vec3d& p : points) worse = std::max(worse, norm(p - moved));
      CHECK(worse > ball.radius);
    }
  }
}

TEST_CASE("what is no body is refused") {
  using Points = std::vector<Vec3d>;
  CHECK_THROWS_AS(convex_hull_mesh(Points{}), std::invalid_argument);
  CHECK_THROWS_AS(convex_hull_mesh(Points{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}}), std::invalid_argument);
  CHECK_THROWS_AS(convex_hull_mesh(Points{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1, 1, 0}}),
                  std::invalid_argument);
  CHECK_THROWS_AS(convex_hull_mesh(Points{{0, 0, 0}, {1, 1, 1}, {2, 2, 2}, {3, 3, 3}}),
                  std::invalid_argument);
  CHECK_THROWS_AS(convex_hull_mesh(Points(10, Vec3d(1, 2, 3))), std::invalid_argument);
  CHECK_THROWS_AS(convex_hull_mesh(Points{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, NAN}}),
                  std::invalid_argument);
  CHECK_THROWS_AS(convex_hull_mesh(Points{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, INFINITY}}),
                  std::invalid_argument);
  CHECK_THROWS_AS(convex_hull_mesh(Points{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1e9}}),
                  std::invalid_argument);
  const Points tetrahedron{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  CHECK(convex_mesh(tetrahedron, {{0, 2, 1}, {0, 1, 3}, {1, 2, 3}, {2, 0, 3}}).volume ==
        doctest::Approx(1.0 / 6));
  // Inward faces.
  CHECK_THROWS_AS(convex_mesh(tetrahedron, {{0, 1, 2}, {0, 3, 1}, {1, 3, 2}, {2, 3, 0}}),
                  std::invalid_argument);
  // Open surface.
  CHECK_THROWS_AS(convex_mesh(tetrahedron, {{0, 2, 1}, {0, 1, 3}, {1, 2, 3}}),
                  std::invalid_argument);
  // Vertex 4 does not exist.
  CHECK_THROWS_AS(convex_mesh(tetrahedron, {{0, 2, 1}, {0, 1, 4}, {1, 2, 3}, {2, 0, 3}}),
                  std::invalid_argument);
  CHECK_THROWS_AS(Shape::sphere(-1), std::invalid_argument);
  CHECK_THROWS_AS(Shape::box({1, 0, 1}), std::invalid_argument);
  CHECK_THROWS_AS(Shape::capsule(1, NAN), std::invalid_argument);
  CHECK_THROWS_AS(Shape::cylinder(INFINITY, 1), std::invalid_argument);
  CHECK_THROWS_AS(Shape::convex(nullptr), std::invalid_argument);
}
