// Membership in the solid of a closed surface, and certified lower bounds of distances of bodies.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "geometry/bodies/collision_geometry.h"
#include "geometry/bodies/solid.h"
#include "random_bodies.h"

using namespace robosim;
using namespace robosim::testing;

namespace {

// Winding number of a closed surface around p: its solid angle over 4 pi (Van Oosterom, Strackee,
// "The solid angle of a plane triangle", 1983).
double winding_number(const TriangleMesh& mesh, const Vec3d& p) {
  double angle = 0;
  for (int t = 0; t < mesh.n_triangles(); ++t) {
    const TriangleSurface::Corners c = mesh.corners(t);
    const Vec3d a = c[0] - p, b = c[1] - p, d = c[2] - p;
    const double la = norm(a), lb = norm(b), ld = norm(d);
    angle += 2 * std::atan2(dot(a, cross(b, d)),
                            la * lb * ld + dot(a, b) * ld + dot(b, d) * la + dot(d, a) * lb);
  }
  return angle / (4 * std::numbers::pi);
}

void append(Triangles& to, const Triangles& more, const Vec3d& shift, bool inside_out) {
  const int first = static_cast<int>(to.vertices.size());
  for (const Vec3d& p : more.vertices) to.vertices.push_back(p + shift);
  for (std::array<int, 3> f : more.faces) {
    for (int& i : f) i += first;
    if (inside_out) std::swap(f[0], f[1]);
    to.faces.push_back(f);
  }
}

// One shell, two overlapping shells, or a shell with a cavity that contains a core.
Triangles shells(int kind) {
  Triangles mesh = ball_triangles(0.4, 4);
  if (kind == 1) append(mesh, box_triangles({0.3, 0.1, 0.2}, 3), {0.35, 0.05, 0}, false);
  if (kind == 2) {
    append(mesh, box_triangles({0.2, 0.2, 0.2}, 2), {}, true);
    append(mesh, ball_triangles(0.1, 3), {}, false);
  }
  return mesh;
}

}  // namespace

TEST_CASE("a point is in a solid where the winding number of its surface is positive") {
  RandomBodies random;
  int inside = 0, outside = 0;
  for (int kind = 0; kind < 3; ++kind)
    for (int i = 0; i < 4; ++i) {
      CAPTURE(kind);
      Triangles triangles = shells(kind);
      for (Vec3d& p : triangles.vertices) p *= random.uniform(0.95, 1.05);
      const auto mesh = mesh_of(triangles);
      REQUIRE(mesh->is_closed());
      const SE3d X = random.pose(1);
      const Compound body(std::vector<Compound::Part>{{mesh, X, 0}});
      CHECK(body.connected_parts().size() == static_cast<std::size_t>(kind + 1));
      for (int k = 0; k < 300; ++k) {
        Vec3d p = 0.4 * Vec3d(random.sign_free(), random.sign_free(), random.sign_free());
        // Includes rays through vertices and along edges.
        if (k % 3 == 0)
          p = 0.5 * triangles.vertices[static_cast<std::size_t>(k) % triangles.vertices.size()];
        if (k % 7 == 0) p = {};
        const double winding = winding_number(*mesh, p);
        if (std::fabs(winding - std::round(winding)) > 1e-9) continue;  // on the surface
        CHECK(in_solid(body, X * p) == (winding > 0.5));
        (winding > 0.5 ? inside : outside)++;
      }
    }
  CHECK(inside > 300);
  CHECK(outside > 300);
}

TEST_CASE(
    "a mesh that is no solid, or open, has nothing inside; nor has one that is turned inside out") {
  const Triangles ball = ball_triangles(0.4, 4);
  const Compound hollow(std::make_shared<TriangleMesh>(ball.vertices, ball.faces, false));
  Triangles open = ball, inverse;
  open.faces.pop_back();
  append(inverse, ball, {}, true);
  for (const Compound& body : {hollow, Compound(mesh_of(open)), Compound(mesh_of(inverse))}) {
    const Shape within = Shape::sphere(0.1);
    CHECK(!in_solid(body, {}));
    CHECK(!closer_than(0, body, SE3d(), within, SE3d()));
    CHECK(closest_pieces(body, SE3d(), within, SE3d()).witness.distance > 0.2);
  }
  CHECK(closer_than(0, Compound(mesh_of(ball)), SE3d(), Shape::sphere(0.1), SE3d()));
}

// A lower bound may be 1e-6 m below the distance, as for two shapes.
TEST_CASE("lower bounds on distances hold, and are as good as what they were asked for") {
  RandomBodies random;
  int apart = 0, together = 0;
  for (int kind_A = 0; kind_A < RandomBodies::n_kinds; ++kind_A)
    for (int kind_B = -1; kind_B < RandomBodies::n_kinds; ++kind_B) {
      CAPTURE(kind_A);
      CAPTURE(kind_B);
      const CollisionGeometry A(std::make_shared<const Compound>(random.compound(kind_A)));
      const CollisionGeometry B =
          kind_B < 0 ? CollisionGeometry(random.small_shape())
                     : CollisionGeometry(std::make_shared<const Compound>(random.compound(kind_B)));
      PairCache cache;
      for (int i = 0; i < 6; ++i) {
        const SE3d X_WA = random.pose(0.5), X_WB = random.pose(i % 3 == 0 ? 0.3 : 2);
        const double d = closest_pieces(A, X_WA, B, X_WB).witness.distance;
        CAPTURE(d);
        for (const double enough : {1e-3, 0.1, 10.0})
          for (PairCache* memory : {static_cast<PairCache*>(nullptr), &cache}) {
            const double bound = distance_lower_bound(enough, A, X_WA, B, X_WB, memory);
            if (d > 0) CHECK(bound <= d + 1e-14);  // rounding
            CHECK(bound >= std::min(d, enough) - 1e-6);
            if (std::fabs(d) > 1e-9) CHECK((bound > 0) == (d > 0));
          }
        (d > 0 ? apart : together)++;
      }
    }
  CHECK(apart > 50);
  CHECK(together > 20);
}

TEST_CASE("boxes and balls about a collision geometry hold it") {
  RandomBodies random;
  for (int kind = 0; kind < RandomBodies::n_kinds; ++kind) {
    const auto body = std::make_shared<const Compound>(random.compound(kind));
    const CollisionGeometry geometry(body);
    const Ball ball = bounding_ball(geometry);
    const SE3d X = random.pose(1);
    const Aabb box = bounding_box(geometry, X), smallest = bounding_box(*body, X);
    for (int k = 0; k < 3; ++k) {
      CHECK(box.lower[k] <= smallest.lower[k] + 1e-15);
      CHECK(box.upper[k] >= smallest.upper[k] - 1e-15);
    }
    for (int i = 0; i < body->n_pieces(); ++i)
      if (body->is_piece(i)) {
        const Aabb own = body->piece_box(i);
        CHECK(std::max(norm(own.lower - ball.center), norm(own.upper - ball.center)) <=
              ball.radius);
      }
  }
}
