// Contact manifolds: invariants of every pair of shapes, and classic cases.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>

#include "count_allocations.h"
#include "geometry/manifolds/manifold_derivatives.h"
#include "random_contacts.h"

using namespace robosim;
using namespace robosim::testing;

namespace {

// Distance of p from the surface, measured with a tiny ball around p.
double off_surface(const Shape& shape, const SE3d& X, const Vec3d& p) {
  const Shape ball = Shape::sphere(1e-6);
  return std::fabs(signed_distance(shape, X, ball, SE3d(Mat3d::identity(), p)).distance + 1e-6);
}

auto id(const ManifoldPoint& p, bool swapped = false) {
  const FeatureId &a = p.feature[swapped], &b = p.feature[!swapped];
  return std::make_tuple(a.kind, a.index, a.part, b.kind, b.index, b.part);
}
const ManifoldPoint* find(const Manifold& m, const ManifoldPoint& p, bool swapped = false) {
  for (int i = 0; i < m.n_points; ++i)
    if (id(m.points[i], swapped) == id(p)) return &m.points[i];
  return nullptr;
}

constexpr double margin = 0.02;
constexpr double gaps[] = {0.01, 1e-3, -1e-3, -0.02};
constexpr double tilts[] = {0, 1e-4, 1e-2, 0.1};

template <class F>
void for_contacts(int n, F&& f) {
  RandomShapes random;
  for_all_pairs([&](ShapeType a, ShapeType b) {
    if (a == ShapeType::half_space && b == a) return;
    for (int i = 0; i < n; ++i) {
      CAPTURE(i);
      const RandomContact c(random, a, b, i % 4 > 0, tilts[i % 16 / 4], gaps[i % 4]);
      f(c, contact_manifold(c.A, c.X_WA, c.B, c.X_WB, margin));
    }
  });
}

SE3d at(double x, double y, double z, const Vec3d& turn = {}) {
  return {RandomContact::turn(turn), {x, y, z}};
}
constexpr double quarter = 1.57079632679489661923;

// Check the number of points, and that all have this gap.
void check_points(const Manifold& m, int n, double gap, double tolerance = 1e-12) {
  CHECK(m.n_points == n);
  for (int i = 0; i < m.n_points; ++i) CHECK(std::fabs(m.points[i].gap - gap) < tolerance);
}

}  // namespace

// To 1e-9 for shapes of 1 m: the tolerance of features, and of the distance itself in the worst
// pairs.
TEST_CASE("points lie on both surfaces along the normal, the deepest is the witness") {
  long points = 0, several = 0;
  for_contacts(64, [&](const RandomContact& c, const Manifold& m) {
    const Witness w = signed_distance(c.A, c.X_WA, c.B, c.X_WB);
    CHECK(m.witness.distance == w.distance);
    if (w.distance > margin) {
      CHECK(m.n_points == 0);
      return;
    }
    REQUIRE(m.n_points > 0);
    REQUIRE(m.n_points <= Manifold::max_points);
    CHECK(std::fabs(norm(m.normal()) - 1) < 1e-14);
    std::set<decltype(id(m.points[0]))> ids;
    for (int i = 0; i < m.n_points; ++i) {
      CAPTURE(i);
      const ManifoldPoint& p = m.points[i];
      CHECK(p.gap <= margin);
      CHECK(p.gap > w.distance - 1e-12);
      CHECK(p.slide >= 0);
      CHECK(norm(p.p_WB - p.p_WA - p.gap * m.normal()) < 1e-13);
      CHECK(off_surface(c.A, c.X_WA, p.p_WA) < 1e-9);
      CHECK(off_surface(c.B, c.X_WB, p.p_WB) < 1e-9);
      CHECK(std::fabs(dot(p.p_W - m.plane_point(), m.normal())) < 1e-14);
      CHECK(norm(cross(p.p_W - p.p_WA, m.normal())) < 1e-14);
      ids.insert(id(p));
    }
    CHECK(static_cast<int>(ids.size()) == m.n_points);
    CHECK(std::fabs(m.points[m.deepest].gap - w.distance) < 1e-9);
    points += m.n_points;
    several += m.n_points > 1;
  });
  CHECK(several > 1200);
  CHECK(points > 2 * several);
}

// Away from switches of features, where rounding may lead to another set of points.
TEST_CASE(
    "the same after a rigid motion, with the shapes swapped, and by id after a small motion") {
  int compared = 0, all = 0;
  RandomShapes more;
  for_contacts(32, [&](const RandomContact& c, const Manifold& m) {
    const SE3d X = more.pose(1);
    const Manifold moved = contact_manifold(c.A, X * c.X_WA, c.B, X * c.X_WB, margin);
    const Manifold swapped = contact_manifold(c.B, c.X_WB, c.A, c.X_WA, margin);
    const Manifold shifted = contact_manifold(
        c.A, c.X_WA, c.B, SE3d(c.X_WB.R, c.X_WB.p + Vec3d(3e-10, -2e-10, 1e-10)), margin);
    ++all;
    double room = std::fabs(margin - m.witness.distance);
    for (const Manifold* x : {&m, &moved, &swapped, &shifted})
      for (int i = 0; i < x->n_points; ++i)
        room = std::min({room, x->points[i].slide, margin - x->points[i].gap});
    // The normal may be one of two, or ill-conditioned.
    if (room < 1e-6 || norm(X.R * m.normal() - moved.normal()) +
                               norm(m.normal() + swapped.normal()) +
                               norm(m.normal() - shifted.normal()) >
                           1e-7)
      return;
    // Parallel lines: the witness is one of many.
    bool one_sided = m.n_points > 1 && m.reference < 0;
    ++compared;
    CHECK(moved.n_points == m.n_points);
    CHECK(swapped.n_points == m.n_points);
    CHECK(shifted.n_points == m.n_points);
    CHECK((swapped.reference < 0 ? swapped.reference : 1 - swapped.reference) == m.reference);
    for (int i = 0; i < m.n_points; ++i) {
      const ManifoldPoint& p = m.points[i];
      const ManifoldPoint *a = find(moved, p), *b = find(swapped, p, true), *d = find(shifted, p);
      REQUIRE(a);
      REQUIRE(b);
      REQUIRE(d);
      // The lowest point of a barely tilted rim is ill-conditioned, unlike its height.
      const double tolerance = p.anchor == ManifoldPoint::Anchor::witness && m.n_points > 1
                                   ? 1e-5
                                   : (one_sided ? 1e-6 : 1e-7);
      CHECK(std::fabs(a->gap - p.gap) + norm(a->p_WA - X * p.p_WA) + norm(a->p_WB - X * p.p_WB) <
            tolerance);
      CHECK(std::fabs(b->gap - p.gap) + norm(b->p_WA - p.p_WB) + norm(b->p_WB - p.p_WA) +
                norm(b->p_W - p.p_W) <
            tolerance);
      CHECK(std::fabs(d->gap - p.gap) + norm(d->p_WA - p.p_WA) < tolerance);
    }
  });
  MESSAGE(compared, " of ", all);
  CHECK(compared > all / 2);
}

TEST_CASE("classic cases: how many points, where, with which features") {
  const Shape ground = Shape::half_space(), cube = Shape::box({0.5, 0.5, 0.5}),
              table = Shape::box({2, 2, 0.5});
  const Shape capsule = Shape::capsule(0.2, 0.5), cylinder = Shape::cylinder(0.3, 0.5),
              cone = Shape::cone(0.3, 0.5);
  const SE3d origin;
  SUBCASE("a box rests on a plane, on a table, level and tilted while it settles") {
    for (const double tilt : {0.0, 1e-7, 1e-4, 1e-3}) {
      const SE3d X = at(0.1, 0.2, 0.4995, {tilt, -0.7 * tilt, 0.3});
      for (const auto& m : {contact_manifold(ground, origin, cube, X, 0.01),
                            contact_manifold(table, at(0, 0, -0.5), cube, X, 0.01)}) {
        check_points(m, 4, -0.0005, 2 * tilt + 1e-12);
        CHECK(m.reference == 0);
        for (int i = 0; i < m.n_points; ++i)
          CHECK(m.points[i].feature[1].kind == FeatureKind::vertex);
      }
    }
  }
  SUBCASE("it hangs over the table's edge: two corners, two crossings") {
    const Manifold m =
        contact_manifold(table, at(0, 0, -0.5), cube, at(2.2, 0, 0.5, {0, 0, 0.1}), 0.01);
    check_points(m, 4, 0);
    int crossings = 0;
    for (int i = 0; i < m.n_points; ++i) {
      crossings += m.points[i].anchor == ManifoldPoint::Anchor::crossing;
      CHECK(m.points[i].p_W.x < 2 + 1e-12);
    }
    CHECK(crossings == 2);
  }
  SUBCASE(
      "equal boxes stacked: four corners, all at a switch; turned by an eighth: eight crossings") {
    const Manifold even = contact_manifold(cube, origin, cube, at(0, 0, 1.001), 0.01);
    check_points(even, 4, 0.001);
    for (int i = 0; i < even.n_points; ++i) CHECK(even.points[i].slide == 0);
    check_points(contact_manifold(cube, origin, cube, at(0, 0, 1.001, {0, 0, quarter / 2}), 0.01),
                 8, 0.001);
  }
  SUBCASE("edges: on a face two ends, across an edge one, along an edge two") {
    const SE3d on_edge = at(0, 0, std::sqrt(0.5), {quarter / 2, 0, 0});
    check_points(contact_manifold(ground, origin, cube, on_edge, 0.01), 2, 0);
    check_points(contact_manifold(table, at(0, 0, -0.5), cube, on_edge, 0.01), 2, 0);
    const SE3d below = at(0, 0, -std::sqrt(0.5), {quarter / 2, 0, 0});
    check_points(contact_manifold(cube, below, cube,
                                  at(0.1, 0, std::sqrt(0.5) + 1e-3, {0, quarter / 2, 0}), 0.01),
                 1, 1e-3);
    check_points(contact_manifold(cube, below, cube,
                                  at(0.1, 0, std::sqrt(0.5) + 1e-3, {quarter / 2, 0, 0}), 0.01),
                 2, 1e-3);
  }
  SUBCASE("capsules: lying two, standing one, side by side two, crosswise one") {
    const SE3d lying = at(0, 0, 0.2, {0, quarter, 0});
    check_points(contact_manifold(ground, origin, capsule, lying, 0.01), 2, 0);
    check_points(contact_manifold(table, at(0, 0, -0.5), capsule, lying, 0.01), 2, 0);
    check_points(contact_manifold(ground, origin, capsule, at(0, 0, 0.7), 0.01), 1, 0);
    check_points(contact_manifold(capsule, origin, capsule, at(0.401, 0, 0.3), 0.01), 2, 0.001);
    check_points(
        contact_manifold(capsule, origin, capsule, at(0.401, 0, 0.3, {quarter, 0, 0}), 0.01), 1,
        0.001);
  }
  SUBCASE("cylinders: on an end six points of the rim, on the mantle two, mantle to mantle two") {
    check_points(contact_manifold(ground, origin, cylinder, at(0, 0, 0.5), 0.01), 6, 0);
    check_points(
        contact_manifold(ground, origin, cylinder, at(0, 0, 0.5, {2 * quarter, 0, 0}), 0.01), 6, 0);
    check_points(contact_manifold(ground, origin, cylinder, at(0, 0, 0.3, {0, quarter, 0}), 0.01),
                 2, 0);
    check_points(contact_manifold(cylinder, origin, cylinder, at(0.601, 0, 0.3), 0.01), 2, 0.001);
    // An edge cuts the disc.
    const Manifold over =
        contact_manifold(table, at(0, 0, -0.5), cylinder, at(1.9, 0.1, 0.5), 0.01);
    check_points(over, over.n_points, 0);
    CHECK(over.n_points >= 5);
    // Tilted: the lowest point of the rim is added.
    const Manifold tilted =
        contact_manifold(ground, origin, cylinder, at(0, 0, 0.5, {0.004, 0.003, 0}), 0.1);
    CHECK(tilted.n_points == 7);
    CHECK(tilted.points[tilted.deepest].feature[1] == FeatureId{FeatureKind::edge, 0, 0});
  }
  SUBCASE("cones: on the base six, on the mantle two, on the apex one") {
    check_points(contact_manifold(ground, origin, cone, at(0, 0, 0.5), 0.01), 6, 0);
    const double half_angle = std::atan2(0.3, 1.0);
    const Manifold lying =
        contact_manifold(ground, origin, cone,
                         at(0, 0, 0.5 * std::sin(half_angle), {0, quarter + half_angle, 0}), 0.01);
    check_points(lying, 2, 0);
    check_points(contact_manifold(ground, origin, cone, at(0, 0, 0.5, {2 * quarter, 0, 0}), 0.01),
                 1, 0);
  }
  SUBCASE("round shapes: one") {
    for (const Shape& round : {Shape::sphere(0.2), Shape::ellipsoid({0.3, 0.4, 0.2})})
      for (const Shape& other : {ground, table, capsule, cylinder, cone, round}) {
        const Witness w = signed_distance(other, origin, round, at(0.1, 0, 1.5));
        const Manifold m = contact_manifold(other, origin, round, at(0.1, 0, 1.5), 5);
        check_points(m, 1, w.distance);
      }
  }
  SUBCASE("a convex mesh's flat faces count as one, to the digits of a float file") {
    for (const double noise : {0.0, 1e-8}) {
      std::vector<Vec3d> points;
      for (int i = 0; i < 8; ++i)
        points.push_back(
            {i & 1 ? 0.5 : -0.5, i & 2 ? 0.5 : -0.5, (i & 4 ? 0.5 : -0.5) + noise * ((i * 5) % 8)});
      for (int i = 0; i < 6; ++i)
        points.push_back({0.2 * std::cos(i), 0.2 * std::sin(i), -0.5 - noise});
      const Shape mesh = Shape::convex(std::make_shared<ConvexMesh>(convex_hull_mesh(points)));
      check_points(contact_manifold(ground, origin, mesh, at(0.3, 0.1, 0.5), 0.01),
                   noise > 0 ? 5 : 4, 0, 1e-6);
      check_points(contact_manifold(mesh, at(0.3, 0.1, 0.5), table, at(0, 0, -0.5), 0.01),
                   noise > 0 ? 5 : 4, 0, 1e-6);
    }
  }
  SUBCASE("a triangle: flat three, upright on an edge two, on a vertex one; thick as well") {
    for (const double rounding : {0.0, 0.05}) {
      const Shape triangle = Shape::triangle({-0.3, 0, 0}, {0.4, 0, 0}, {0.1, 0.5, 0}, rounding);
      for (const auto& [other, X] : {std::pair{ground, origin}, {table, at(0, 0, -0.5)}}) {
        check_points(contact_manifold(other, X, triangle, at(0, 0, rounding, {0, 0, 0.4}), 0.01), 3,
                     0);
        check_points(
            contact_manifold(other, X, triangle, at(0, 0, rounding, {2 * quarter, 0, 0}), 0.01), 3,
            0);
        check_points(
            contact_manifold(other, X, triangle, at(0, 0, rounding, {quarter, 0, 0}), 0.01), 2, 0);
        check_points(
            contact_manifold(triangle, at(0, 0, rounding, {quarter, 0, 0}), other, X, 0.01), 2, 0);
        check_points(
            contact_manifold(other, X, triangle, at(0, 0, 0.5 + rounding, {-quarter, 0, 0}), 0.01),
            1, 0);
      }
    }
  }
  SUBCASE("nothing beyond the margin, nor of half-spaces without end in each other") {
    CHECK(contact_manifold(cube, origin, cube, at(0, 0, 1.02), 0.01).n_points == 0);
    CHECK(contact_manifold(ground, origin, ground, at(0, 0, 0, {0.3, 0, 0}), 0.01).n_points == 0);
    check_points(contact_manifold(ground, origin, ground, at(0, 0, 0.01, {2 * quarter, 0, 0}), 0.1),
                 1, 0.01, 1e-11);
  }
}

TEST_CASE(
    "faces that lie flat on each other keep normal and points, whichever way they lean a little") {
  const Shape wide = Shape::box({0.5, 0.4, 0.1}), small = Shape::box({0.2, 0.2, 0.1}),
              can = Shape::cylinder(0.2, 0.1);
  const Shape triangle = Shape::triangle({-0.3, -0.3, 0}, {0.6, -0.2, 0}, {0, 0.5, 0});
  struct Case {
    const char* name;
    Shape A, B;
    SE3d X_WB;
    int reference, points;
  };
  const Case cases[] = {
      {"over its side, on a larger one", wide, small, at(0.4, 0, 0.2, {0, 0, 0.3}), 0, 4},
      {"a larger one over its side", small, wide, at(0.4, 0, 0.2, {0, 0, 0.3}), 1, 4},
      {"two of a size", wide, wide, at(0.2, 0.1, 0.2), -2, 4},
      {"a box on a triangle", triangle, small, at(-0.1, 0.1, 0.1, {0, 0, 0.2}), 0, 4},
      {"two with nearly parallel sides", wide, small, at(0.4, 0.1, 0.2, {0, 0, 0.003}), 0, 4},
      {"a can on a box", wide, can, at(0.1, 0.1, 0.2), 0, 6},
      {"a can over the side of a box", wide, can, at(0.45, 0, 0.2, {0, 0, 0.1}), 0, 5}};
  const SE3d origin;
  RandomShapes random;
  for (const Case& c : cases) {
    CAPTURE(std::string(c.name));
    const Manifold flat = contact_manifold(c.A, origin, c.B, c.X_WB, 0.01);
    if (c.reference >= 0) CHECK(flat.reference == c.reference);
    CHECK(flat.n_points == c.points);
    for (int i = 0; i < 40; ++i) {
      CAPTURE(i);
      const double lean = random.uniform(0, 0.9e-6), way = random.uniform(-3.2, 3.2);
      const SE3d X_WB{
          RandomContact::turn({lean * std::cos(way), lean * std::sin(way), 0}) * c.X_WB.R,
          c.X_WB.p};
      const Manifold m = contact_manifold(c.A, origin, c.B, X_WB, 0.01),
                     swapped = contact_manifold(c.B, X_WB, c.A, origin, 0.01);
      CHECK(m.reference == flat.reference);
      REQUIRE(m.n_points == flat.n_points);
      for (int k = 0; k < m.n_points; ++k) CHECK(id(m.points[k]) == id(flat.points[k]));
      CHECK(norm(m.normal() - (m.reference == 0
                                   ? Vec3d{0, 0, 1}
                                   : X_WB.R * transpose_times(c.X_WB.R, Vec3d{0, 0, 1}))) < 1e-14);
      // The lowest point of a rim is not one of the points.
      CHECK(std::fabs(m.points[m.deepest].gap - m.witness.distance) <
            (c.B.type == ShapeType::cylinder ? 1e-7 : 1e-12));
      CHECK(swapped.n_points == m.n_points);
      if (c.reference >= 0) CHECK(swapped.reference == 1 - m.reference);
    }
    // With more tilt they touch by the deepest point's features again.
    const Manifold m = contact_manifold(
        c.A, origin, c.B, SE3d{RandomContact::turn({3e-6, 2e-6, 0}) * c.X_WB.R, c.X_WB.p}, 0.01);
    CHECK(norm(m.normal() - m.witness.normal) == 0);
  }
}

// Prisms of many sides on each other, with more corners than a manifold can contain.
TEST_CASE("of many points the deepest and a spread of the others stay") {
  std::vector<Vec3d> points;
  for (int i = 0; i < 80; ++i)
    for (const double z : {-0.5, 0.5})
      points.push_back({0.5 * std::cos(0.02 + 6.2831853 * i / 80),
                        0.5 * std::sin(0.02 + 6.2831853 * i / 80), z});
  const Shape prism = Shape::convex(std::make_shared<ConvexMesh>(convex_hull_mesh(points)));
  const SE3d X = at(0, 0, 0.5, {1e-3, 2e-3, 0});
  const Manifold m = contact_manifold(Shape::half_space(), SE3d(), prism, X, 0.01);
  CHECK(m.n_points == Manifold::max_points);
  CHECK(std::fabs(m.points[m.deepest].gap - m.witness.distance) < 1e-14);
  for (int i = 0; i < m.n_points; ++i)
    for (int j = 0; j < i; ++j) CHECK(norm(m.points[i].p_W - m.points[j].p_W) > 0.2);
}

TEST_CASE("flat faces of meshes: every triangle in one, a box has six of four corners") {
  RandomShapes random;
  for (int i = 0; i < 40; ++i) {
    const ConvexMesh mesh = *random.shape(ShapeType::convex).mesh;
    const HullPolygons& p = mesh.polygons;
    std::set<int> triangles(p.triangles.begin(), p.triangles.end());
    CHECK(triangles.size() == mesh.faces.size());
    CHECK(p.triangles.size() == mesh.faces.size());
    CHECK(p.begin.size() == mesh.faces.size() + 1);  // of random points no two faces are coplanar
    CHECK(p.corners.size() == 3 * mesh.faces.size());
  }
  for (const double noise : {0.0, 1e-8}) {
    std::vector<Vec3d> points;
    for (int i = 0; i < 8; ++i)
      points.push_back({i & 1 ? 0.5 : -0.5 + noise * i, i & 2 ? 0.5 : -0.5,
                        (i & 4 ? 0.5 : -0.5) + noise * ((i * 5) % 8)});
    const ConvexMesh mesh = convex_hull_mesh(points);
    const HullPolygons& p = mesh.polygons;
    REQUIRE(p.begin.size() == 7);
    for (std::size_t i = 0; i < 6; ++i) {
      CHECK(p.begin[i + 1].corner - p.begin[i].corner == 4);
      CHECK(p.begin[i + 1].triangle - p.begin[i].triangle == 2);
    }
    // Each edge has two faces, and its lower vertex is one of its two vertices.
    for (std::size_t i = 0; i < p.sides.size(); ++i) {
      CHECK(std::count(p.sides.begin(), p.sides.end(), p.sides[i]) == 2);
      const int v = p.corners[i];
      const auto k = static_cast<std::size_t>(p.sides[i]);
      CHECK((mesh.neighbors[k] == v ||
             (static_cast<int>(k) >= mesh.neighbor_begin[v] &&
              static_cast<int>(k) < mesh.neighbor_begin[static_cast<std::size_t>(v) + 1])));
    }
  }
}

// Sizes from 1e-4 to 1e3 m: needles and plates, inside each other, with common centers or axes.
TEST_CASE("hostile contacts: finite, on the normal, never deeper than the distance") {
  RandomShapes random;
  const auto size = [&] { return std::pow(10.0, random.uniform(-4, 3)); };
  for_all_pairs([&](ShapeType a, ShapeType b) {
    for (int i = 0; i < 60; ++i) {
      CAPTURE(i);
      const auto make = [&](ShapeType type) {
        Shape s = random.shape(type);
        s.radius = size();
        s.half_length = size();
        s.half_extents = {size(), size(), size()};
        if (!s.mesh) return s;
        std::vector<Vec3d> points = s.mesh->vertices;
        const Vec3d by(size(), size(), size());
        for (Vec3d& p : points) p = {p.x * by.x, p.y * by.y, p.z * by.z};
        s.mesh = std::make_shared<ConvexMesh>(convex_hull_mesh(points));
        return s;
      };
      const Shape A = make(a), B = make(b);
      const SE3d X_WA = i % 2 ? random.pose(1) : SE3d(),
                 X_WB = i % 3 ? random.pose(i % 5 ? 1 : 0) : SE3d();
      const double within = size();
      const Manifold m = contact_manifold(A, X_WA, B, X_WB, within);
      CHECK(m.n_points >= (m.witness.distance <= within && std::isfinite(m.witness.distance)));
      // Such depths are accurate to 1e-9 of sizes of 1e3 m.
      for (int k = 0; k < m.n_points; ++k) {
        const ManifoldPoint& p = m.points[k];
        CHECK(std::isfinite(p.gap + p.p_WA.x + p.p_WA.y + p.p_WA.z + p.p_W.x + p.p_W.y + p.p_W.z));
        CHECK(norm(p.p_WB - p.p_WA - p.gap * m.normal()) < 1e-9);
        CHECK(p.gap - m.witness.distance > -1e-6);
        CHECK(p.gap <= within);
      }
    }
  });
}

TEST_CASE("manifolds and their derivatives allocate nothing") {
  static ManifoldDerivatives d;
  for_contacts(8, [&](const RandomContact& c, const Manifold& m) {
    PairCache cache;
    CHECK(allocations_when_repeated([&] {
            contact_manifold(c.A, c.X_WA, c.B, c.X_WB, margin, &cache);
            manifold_derivatives(m, c.A, c.X_WA, c.B, c.X_WB, d);
          }) == 0);
  });
}
