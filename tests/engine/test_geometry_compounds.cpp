// Bodies of many pieces: trees against brute force, invariants, and surfaces against the convex
// shapes that they enclose.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "geometry/bodies/compound_query.h"
#include "random_bodies.h"

using namespace robosim;
using namespace robosim::testing;

namespace {

bool is_finite(const Witness& w) {
  const Vec3d sum = w.p_WA + w.p_WB + w.normal;
  return std::isfinite(w.distance + sum.x + sum.y + sum.z);
}

double largest_difference(const Witness& x, const Witness& y) {
  return std::max({std::fabs(x.distance - y.distance), norm(x.p_WA - y.p_WA), norm(x.p_WB - y.p_WB),
                   norm(x.normal - y.normal)});
}

bool clears(const Body& A, int n_A, const SE3d& X_WA, const Body& B, int n_B, const SE3d& X_WB) {
  for (int a = 0; a < n_A; ++a)
    for (int b = 0; b < n_B; ++b)
      if (piece_distance(A, X_WA, a, B, X_WB, b).distance <= 0) return false;
  return true;
}

// Least distance over all pairs of pieces, by separate queries. If bodies with surfaces overlap,
// the shortest separating translation of a pair that separates all pairs, if any.
PieceWitness brute_force(const Body& A, int n_A, const SE3d& X_WA, const Body& B, int n_B,
                         const SE3d& X_WB, bool has_surface, bool& is_stuck) {
  is_stuck = false;
  std::vector<PieceWitness> meeting;
  PieceWitness best;
  for (int a = 0; a < n_A; ++a)
    for (int b = 0; b < n_B; ++b) {
      const PieceWitness x{piece_distance(A, X_WA, a, B, X_WB, b), a, b};
      if (best.piece_A < 0 || x.witness.distance < best.witness.distance) best = x;
      if (x.witness.distance <= 0) meeting.push_back(x);
    }
  if (!has_surface) return best;
  std::stable_sort(meeting.begin(), meeting.end(),
                   [](const PieceWitness& x, const PieceWitness& y) {
                     return x.witness.distance > y.witness.distance;
                   });
  for (const PieceWitness& x : meeting)
    if (clears(A, n_A, {X_WA.R, X_WA.p + (x.witness.distance - 2e-10) * x.witness.normal}, B, n_B,
               X_WB))
      return x;
  is_stuck = !meeting.empty();
  return best;
}

}  // namespace

// If several pairs of triangles have the least distance up to rounding, as around an edge or a
// corner, the query returns the pair with the lowest numbers. Distances of 1 m and their queries
// are rounded at less than 1e-14.
TEST_CASE(
    "the closest pieces are those of brute force, to the last bit but for ties, with and without a "
    "memory") {
  RandomBodies random;
  int overlapping = 0, stuck = 0;
  for (int kind_A = 0; kind_A < RandomBodies::n_kinds; ++kind_A)
    for (int kind_B = -1; kind_B < RandomBodies::n_kinds; ++kind_B) {
      CAPTURE(kind_A);
      CAPTURE(kind_B);
      const Compound A = random.compound(kind_A);
      PieceCache cache;
      for (int i = 0; i < 4; ++i) {
        // Against a shape, sometimes a half-space, or against a compound.
        const Shape shape = i % 4 == 0 ? Shape::half_space() : random.small_shape();
        const Compound compound = random.compound(std::max(kind_B, 0));
        const Body B = kind_B < 0 ? Body(shape) : Body(compound);
        const int n_B = kind_B < 0 ? 1 : compound.n_pieces();
        const SE3d X_WA = random.pose(0.5), X_WB = random.pose(i % 2 ? 1.5 : 0.5);
        bool is_stuck = false;
        const PieceWitness w = closest_pieces(A, X_WA, B, X_WB, &cache),
                           expected = brute_force(
                               A, A.n_pieces(), X_WA, B, n_B, X_WB,
                               A.has_surface() || (kind_B >= 0 && compound.has_surface()),
                               is_stuck);
        CAPTURE(w.witness.distance);
        CHECK(is_finite(w.witness));
        overlapping += w.witness.distance < 0;
        stuck += is_stuck;
        // Deeper behind a coplanar triangle.
        if (is_stuck && w.witness.distance < expected.witness.distance) {
          CHECK(norm(w.witness.normal - expected.witness.normal) == 0);
          continue;
        }
        // In the solid behind a surface.
        if (w.witness.distance < 0 && expected.witness.distance > 0) {
          CHECK(closer_than(0, A, X_WA, B, X_WB));
          continue;
        }
        if (w.witness.distance > expected.witness.distance &&
            w.witness.distance < expected.witness.distance + 1e-14) {
          CHECK(largest_difference(w.witness,
                                   piece_distance(A, X_WA, w.piece_A, B, X_WB, w.piece_B)) == 0);
        } else {
          CHECK(w.piece_A == expected.piece_A);
          CHECK(w.piece_B == expected.piece_B);
          CHECK(largest_difference(w.witness, expected.witness) == 0);
        }
        // Again, with the cache, and in the other order.
        const PieceWitness again = closest_pieces(A, X_WA, B, X_WB, &cache),
                           other = closest_pieces(B, X_WB, A, X_WA);
        CHECK(largest_difference(w.witness, again.witness) == 0);
        CHECK(std::fabs(w.witness.distance - other.witness.distance) < 1e-11);
        for (const double margin : {0.0, 0.05, 0.5})
          if (std::fabs(w.witness.distance - margin) > 1e-9) {
            CHECK(closer_than(margin, A, X_WA, B, X_WB) == (w.witness.distance < margin));
            CHECK(closer_than(margin, B, X_WB, A, X_WA, &cache) == (w.witness.distance < margin));
          }
      }
    }
  CHECK(stuck >= 5);
  CHECK(overlapping >= 40);
}

TEST_CASE(
    "contacts are all pairs of pieces within the margin; of surfaces those that look outwards, and "
    "the closest") {
  RandomBodies random;
  for (int kind_A = 0; kind_A < RandomBodies::n_kinds; ++kind_A)
    for (int kind_B = 0; kind_B < RandomBodies::n_kinds; ++kind_B)
      for (int i = 0; i < 2; ++i) {
        CAPTURE(kind_A);
        CAPTURE(kind_B);
        const Compound A = random.compound(kind_A), B = random.compound(kind_B);
        const SE3d X_WA = random.pose(0.5), X_WB = random.pose(0.7);
        const double margin = 0.04;
        std::vector<PieceWitness> found, every;
        contacts(margin, A, X_WA, B, X_WB, found);
        for (int a = 0; a < A.n_pieces(); ++a)
          for (int b = 0; b < B.n_pieces(); ++b) {
            const Witness w = piece_distance(A, X_WA, a, B, X_WB, b);
            if (w.distance < margin) every.push_back({w, a, b});
          }
        const PieceWitness closest = closest_pieces(A, X_WA, B, X_WB);
        CHECK((closest.witness.distance < margin) == !found.empty());
        if (!A.has_surface() && !B.has_surface()) CHECK(found.size() == every.size());
        CHECK(std::is_sorted(
            found.begin(), found.end(), [](const PieceWitness& x, const PieceWitness& y) {
              return x.piece_A != y.piece_A ? x.piece_A < y.piece_A : x.piece_B < y.piece_B;
            }));
        bool has_closest = false;
        for (const PieceWitness& x : found)
          has_closest |= x.piece_A == closest.piece_A && x.piece_B == closest.piece_B;
        CHECK(has_closest == !found.empty());
        for (const PieceWitness& x : every) {
          const auto at = std::find_if(found.begin(), found.end(), [&](const PieceWitness& y) {
            return y.piece_A == x.piece_A && y.piece_B == x.piece_B;
          });
          if (at != found.end() && closest.witness.distance > 0)
            CHECK(largest_difference(at->witness, x.witness) == 0);
        }
      }
}

// 1e-11: the pieces' own queries end at about 1e-12, and poses of 3 m are rounded.
TEST_CASE("bodies moved together keep distance and points, whichever is first") {
  RandomBodies random;
  for (int kind_A = 0; kind_A < RandomBodies::n_kinds; ++kind_A)
    for (int kind_B = 0; kind_B < RandomBodies::n_kinds; ++kind_B)
      for (int i = 0; i < 4; ++i) {
        CAPTURE(kind_A);
        CAPTURE(kind_B);
        const Compound A = random.compound(kind_A), B = random.compound(kind_B);
        const SE3d X_WA = random.pose(0.5), X_WB = random.pose(i % 2 ? 1.5 : 0.5),
                   X = random.pose(3);
        const PieceWitness w = closest_pieces(A, X_WA, B, X_WB),
                           moved = closest_pieces(A, X * X_WA, B, X * X_WB);
        CHECK(std::fabs(moved.witness.distance - w.witness.distance) < 1e-11);
        if (moved.piece_A == w.piece_A && moved.piece_B == w.piece_B && w.witness.distance > 1e-3)
          CHECK(norm(moved.witness.p_WA - X * w.witness.p_WA) +
                    norm(moved.witness.p_WB - X * w.witness.p_WB) <
                1e-6);
        CHECK(norm(w.witness.p_WB - w.witness.p_WA - w.witness.distance * w.witness.normal) <
              1e-11);
        CHECK(std::fabs(norm(w.witness.normal) - 1) < 1e-12);
      }
}

// A closed convex surface has the distances of the convex shape, outside and for shallow
// penetration over the middle of a face.
TEST_CASE("the surface of a convex body is that body") {
  RandomBodies random;
  Triangles ball = ball_triangles(0.4, 6);
  ball.faces = convex_hull_mesh(ball.vertices).faces;
  const Triangles box = box_triangles({0.5, 0.3, 0.2}, 3);
  int apart = 0, shallow = 0, within = 0;
  for (const Triangles& t : {ball, box}) {
    const Shape hull = Shape::convex(std::make_shared<ConvexMesh>(convex_hull_mesh(t.vertices)));
    const Compound surface(mesh_of(t));
    CHECK(mesh_of(t)->is_closed());
    for (int i = 0; i < 300; ++i) {
      const Shape other = random.small_shape();
      const SE3d X_WS = random.pose(0.5), X_WO = random.pose(0.7);
      const Witness expected = signed_distance(hull, X_WS, other, X_WO);
      const PieceWitness w = closest_pieces(surface, X_WS, other, X_WO);
      CAPTURE(i);
      CAPTURE(expected.distance);
      if (std::fabs(expected.distance) > 1e-10)
        CHECK((w.witness.distance < 0) == (expected.distance < 0));
      if (expected.distance > 0) {
        ++apart;
        CHECK(std::fabs(w.witness.distance - expected.distance) < 1e-10);
        CHECK(norm(w.witness.normal - expected.normal) < 1e-6);
      }
      within += !closer_than(0, surface, X_WS, other, X_WO) && expected.distance < -1e-10;
    }
  }
  CHECK(within == 0);
  const Compound surface(mesh_of(box));
  const Shape solid = Shape::box({0.5, 0.3, 0.2});
  for (int i = 0; i < 300; ++i) {
    const Shape other = random.small_shape();
    SE3d X_WO = random.pose(0.05);
    X_WO.p.z = 0.2 - random.uniform(0, 0.02) -
               (X_WO * support(other, transpose_times(X_WO.R, Vec3d(0, 0, -1)))).z + X_WO.p.z;
    const Witness expected = signed_distance(solid, SE3d(), other, X_WO),
                  w = closest_pieces(surface, SE3d(), other, X_WO).witness;
    if (norm(expected.normal - Vec3d(0, 0, 1)) > 1e-9) continue;
    ++shallow;
    CHECK(std::fabs(w.distance - expected.distance) < 1e-11);
    CHECK(norm(w.normal - expected.normal) < 1e-11);
  }
  CHECK(apart > 150);
  CHECK(shallow > 200);
}

TEST_CASE("wholly inside: closed surfaces and terrain see it, an open surface does not") {
  const Triangles box = box_triangles({0.5, 0.5, 0.5}, 4);
  Triangles open = box;
  open.faces.pop_back();
  const Shape ball = Shape::sphere(0.05);
  const auto at = [](double x, double y, double z) { return SE3d{Mat3d::identity(), {x, y, z}}; };
  const PieceWitness deep =
      closest_pieces(ball, at(0.3, 0.11, 0.02), Compound(mesh_of(box)), SE3d());
  CHECK(deep.witness.distance == doctest::Approx(-0.25).epsilon(1e-14));
  CHECK(norm(deep.witness.normal - Vec3d(-1, 0, 0)) < 1e-12);
  CHECK(closer_than(0, ball, at(0.3, 0.11, 0.02), Compound(mesh_of(box)), SE3d()));
  CHECK_FALSE(mesh_of(open)->is_closed());
  CHECK(
      closest_pieces(ball, at(0.3, 0.11, 0.02), Compound(mesh_of(open)), SE3d()).witness.distance ==
      doctest::Approx(0.15));
  const Compound flat(std::make_shared<HeightField>(std::vector<double>(12, 0.0), 3, 4, 1.0, 1.0));
  CHECK(closest_pieces(flat, SE3d(), ball, at(0.9, 1.2, -0.7)).witness.distance ==
        doctest::Approx(-0.75).epsilon(1e-14));
  CHECK(closest_pieces(flat, SE3d(), ball, at(0.9, -1, -0.7)).witness.distance > 0);  // beside it
  std::vector<PieceWitness> all;
  contacts(0.01, flat, SE3d(), ball, at(0.9, 1.2, -0.7), all);
  REQUIRE(all.size() == 1);
  CHECK(all[0].witness.distance == doctest::Approx(-0.75).epsilon(1e-14));
}

// Solid angle of a triangle from the origin: Van Oosterom, Strackee, "The solid angle of a plane
// triangle", 1983, eq. (8).
TEST_CASE(
    "a concave surface holds a small ball exactly where its triangles fill the whole sphere as "
    "seen from there") {
  RandomBodies random;
  int inside = 0;
  for (int i = 0; i < 400; ++i) {
    const auto mesh = random.bumpy_ball(1 + i % 4);
    const Vec3d p = random.uniform(0, 0.5) * random.pose(1).R.col(0);
    double angle = 0;
    for (int t = 0; t < mesh->n_triangles(); ++t) {
      const TriangleSurface::Corners c = mesh->corners(t);
      const Vec3d a = c[0] - p, b = c[1] - p, d = c[2] - p;
      const double x = norm(a), y = norm(b), z = norm(d);
      angle += 2 * std::atan2(dot(a, cross(b, d)),
                              x * y * z + dot(a, b) * z + dot(b, d) * x + dot(d, a) * y);
    }
    const bool is_inside = angle > 6;  // 4 pi or 0
    const Compound surface(mesh);
    const Shape ball = Shape::sphere(1e-9);
    const SE3d X{Mat3d::identity(), p};
    CHECK((closest_pieces(surface, SE3d(), ball, X).witness.distance < 0) == is_inside);
    CHECK(closer_than(0, ball, X, surface, SE3d()) == is_inside);
    inside += is_inside;
  }
  CHECK(inside > 100);
  CHECK(inside < 380);
}

// 1e-12: the distance of a plane from shapes below 1 m in a pose of 2 m is rounded at about 1e-15;
// curved pairs are polished to 1e-12.
TEST_CASE(
    "edges between coplanar triangles give no normals of their own: shapes slide over a flat "
    "grid") {
  RandomBodies random;
  const int n = 12;
  const Compound terrain(std::make_shared<HeightField>(
      std::vector<double>(static_cast<std::size_t>(n * n), 0.0), n, n, 0.2, 0.2));
  const auto field =
      HeightField(std::vector<double>(static_cast<std::size_t>(n * n), 0.0), n, n, 0.2, 0.2);
  const Compound mesh(mesh_of(triangles_of(field, n * n)));
  std::vector<PieceWitness> all;
  for (int i = 0; i < 200; ++i) {
    const Shape shape = i % 4 == 0 ? Shape::box({0.2, 0.15, 0.1})
                                   : (i % 4 == 1 ? Shape::sphere(0.12) : random.small_shape());
    const SE3d X_WG = random.pose(1);
    SE3d X_GS = random.pose(0.4);
    X_GS.p += Vec3d(1.1, 1.1, 0);
    if (i % 4 == 0) X_GS.R = Mat3d::identity();  // lies flat
    // Right above an edge.
    if (i % 8 == 1) X_GS.p = {0.2 * std::floor(X_GS.p.x / 0.2), X_GS.p.y, 0};
    const double lowest = (X_GS * support(shape, transpose_times(X_GS.R, Vec3d(0, 0, -1)))).z;
    const double height = i % 3 == 0 ? random.uniform(0, 0.1) : -random.uniform(0, 0.08);
    X_GS.p.z += height - lowest;
    const double highest = (X_GS * support(shape, transpose_times(X_GS.R, Vec3d(0, 0, 1)))).z;
    for (const Compound* ground : {&terrain, &mesh}) {
      if (ground == &mesh && highest < 0) continue;  // entirely behind an open surface
      CAPTURE(i);
      CAPTURE(height);
      CAPTURE(highest);
      CAPTURE(std::string(name_of(shape.type)));
      const Vec3d up = X_WG.R.col(2);
      const PieceWitness w = closest_pieces(*ground, X_WG, shape, X_WG * X_GS);
      CAPTURE(w.witness.distance);
      CHECK(std::fabs(w.witness.distance - height) < 1e-12);
      CHECK(norm(w.witness.normal - up) < (height > 0 ? 1e-9 : 1e-12));
      all.clear();
      contacts(0.05, *ground, X_WG, shape, X_WG * X_GS, all);
      CHECK(all.empty() == (height >= 0.05));
      for (const PieceWitness& x : all) {
        CHECK(norm(x.witness.normal - up) < 1e-8);
        CHECK(x.witness.distance > height - 1e-12);
      }
    }
  }
}

// The distance is continuous while a ball moves around a mesh of a box, edges and corners included.
// It increases by at most the ball's displacement, times a factor where the separating direction
// changes.
TEST_CASE("around edges and corners of a box the normals stay between those of its sides") {
  RandomBodies random;
  const Vec3d half(0.5, 0.4, 0.3);
  const Shape solid = Shape::box(half), ball = Shape::sphere(0.1);
  const Compound surface(mesh_of(box_triangles(half, 5)));
  for (int i = 0; i < 800; ++i) {
    // A ball that penetrates the box by less than its radius, with its center outside.
    const Vec3d direction = random.pose(1).R.col(0);
    const Vec3d p(std::clamp(2 * direction.x, -half.x, half.x),
                  std::clamp(2 * direction.y, -half.y, half.y),
                  std::clamp(2 * direction.z, -half.z, half.z));
    SE3d X;
    X.p = p + random.uniform(0.05, 0.11) * random.pose(1).R.col(0);
    const Witness expected = signed_distance(solid, SE3d(), ball, X);
    const bool center_outside =
        expected.distance > -0.1 && std::max({std::fabs(X.p.x) - half.x, std::fabs(X.p.y) - half.y,
                                              std::fabs(X.p.z) - half.z}) > 1e-3;
    if (!center_outside) continue;
    const Witness w = closest_pieces(surface, SE3d(), ball, X).witness;
    CAPTURE(i);
    CHECK(std::fabs(w.distance - expected.distance) < 1e-11);
    CHECK(norm(w.normal - expected.normal) < 1e-9);
  }
}

TEST_CASE("terrain is the mesh of its triangles") {
  RandomBodies random;
  for (int i = 0; i < 40; ++i) {
    const auto field = random.terrain(2 + i % 5, 2 + i % 7, 0.2);
    const auto mesh = mesh_of(triangles_of(*field, field->n_x() * field->n_y()));
    for (int t = 0; t < field->n_triangles(); ++t)
      for (int k = 0; k < 3; ++k) CHECK(field->across(t, k) == mesh->across(t, k));
    const Shape shape = random.small_shape();
    const SE3d X_WF = random.pose(0.3),
               X_WS = X_WF * SE3d(random.pose(1).R, {random.uniform(0, 1), random.uniform(0, 1),
                                                     random.uniform(0, 0.5)});
    const PieceWitness of_field = closest_pieces(Compound(field), X_WF, shape, X_WS),
                       of_mesh = closest_pieces(Compound(mesh), X_WF, shape, X_WS);
    // Entirely below; the mesh is open.
    if (of_mesh.witness.distance > 0 && of_field.witness.distance < 0) continue;
    CHECK(of_field.piece_A == of_mesh.piece_A);
    CHECK(largest_difference(of_field.witness, of_mesh.witness) == 0);
  }
}

TEST_CASE("bad bodies are refused by name") {
  const std::vector<Vec3d> square{{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}};
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto refuses = [](auto&& make, const char* what) {
    try {
      make();
      return false;
    } catch (const InputError& e) {
      INFO(e.what());
      const bool named = std::string(e.what()).find(what) != std::string::npos;
      CHECK(named);
      return named;
    }
  };
  CHECK(refuses([&] { TriangleMesh(square, {{0, 1, 2}, {0, 2, 4}}); }, "face 1 names vertex 4"));
  CHECK(refuses([&] { TriangleMesh(square, {{0, -1, 2}}); }, "face 0 names vertex -1"));
  CHECK(refuses(
      [&] {
        TriangleMesh({{0, 0, 0}, {1, nan, 0}, {0, 1, 0}}, {{0, 1, 2}});
      },
      "vertex 1"));
  CHECK(refuses([&] { TriangleMesh(square, {{0, 1, 1}}); }, "none of its 1 faces has an area"));
  CHECK(refuses([&] { TriangleMesh(square, {}); }, "none of its 0 faces"));
  CHECK(refuses([&] { HeightField({0, 0, 0, 0}, 4, 1, 1, 1); }, "4 by 1"));
  CHECK(refuses([&] { HeightField({0, 0, 0, INFINITY}, 2, 2, 1, 1); }, "height (1, 1) is inf"));
  CHECK(refuses([&] { HeightField({0, 0, 0, 0}, 2, 2, 1, 0); }, "spacing is 0"));
  CHECK(refuses([&] { PointCloud({{0, 0, 0}, {0, 0, nan}}, 0.1); }, "point 1"));
  CHECK(refuses([&] { PointCloud({}, 0.1); }, "no points"));
  CHECK(refuses([&] { PointCloud({{0, 0, 0}}, -0.1); }, "radius"));
  CHECK(refuses([&] { Compound(std::vector<Compound::Part>()); }, "no parts"));
}
