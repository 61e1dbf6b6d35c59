// Rays and contact manifolds of bodies of many pieces.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "geometry/bodies/compound_manifolds.h"
#include "geometry/bodies/compound_rays.h"
#include "random_bodies.h"

using namespace robosim;
using namespace robosim::testing;

TEST_CASE("the first piece on a ray is that of brute force, to the last bit") {
  RandomBodies random;
  int hits = 0;
  for (int kind = 0; kind < RandomBodies::n_kinds; ++kind)
    for (int i = 0; i < 60; ++i) {
      CAPTURE(kind);
      const Compound body = random.compound(kind);
      const SE3d X = random.pose(1);
      Ray ray{random.pose(2).p, {}};
      ray.direction =
          X * (0.3 * Vec3d(random.sign_free(), random.sign_free(), random.sign_free())) -
          ray.origin;
      if (i % 5 == 0) ray.direction = X.R.col(i % 3);  // along an axis of the boxes
      const double max_t = i % 3 ? std::numeric_limits<double>::infinity() : 1;
      PieceRayHit expected;
      for (int piece = 0; piece < body.n_pieces(); ++piece) {
        const RayHit hit = body.with_piece(piece, [&](const Compound::Piece& P) {
          return ray_cast(P.shape, X * P.X_BP, ray, max_t);
        });
        if (hit.hit && (expected.piece < 0 || hit.t < expected.hit.t)) expected = {hit, piece};
      }
      const PieceRayHit got = ray_cast(body, X, ray, max_t);
      CHECK(got.piece == expected.piece);
      CHECK(got.hit.hit == expected.hit.hit);
      if (expected.hit.hit) CHECK(got.hit.t == expected.hit.t);
      CHECK(norm(got.hit.point - expected.hit.point) + norm(got.hit.normal - expected.hit.normal) ==
            0);
      hits += got.hit.hit;
    }
  CHECK(hits > 100);
}

TEST_CASE("no ray passes a closed surface, also not along the edges of its triangles") {
  RandomBodies random;
  const Vec3d half(0.5, 0.4, 0.3);
  const Compound surface(mesh_of(box_triangles(half, 4)));
  const Shape solid = Shape::box(half);
  for (int i = 0; i < 300; ++i) {
    const SE3d X = i % 2 ? random.pose(3) : SE3d();
    // Rays through vertices and edges of the grid.
    const Vec3d at(0.25 * std::floor(random.uniform(-1, 2)),
                   0.2 * std::floor(random.uniform(-1, 2)), i % 3 ? 0.0 : 0.1);
    Ray ray;
    ray.origin = X * (2.0 * random.pose(1).R.col(0));
    ray.direction = X * at - ray.origin;
    const PieceRayHit hit = ray_cast(surface, X, ray);
    const RayHit expected = ray_cast(solid, X, ray);
    REQUIRE(hit.hit.hit);
    CHECK(std::fabs(hit.hit.t - expected.t) < 1e-13);
    CHECK(norm(hit.hit.point - expected.point) < 1e-12);
  }
}

// 1e-12: heights and corners of 1 m; the grid's triangles are rounded at 1e-16.
TEST_CASE("a box that rests on many triangles: all normals up, its four corners among the points") {
  RandomBodies random;
  const int n = 12;
  const Compound ground(std::make_shared<HeightField>(
      std::vector<double>(static_cast<std::size_t>(n * n), 0.0), n, n, 0.1, 0.1));
  const Shape box = Shape::box({0.23, 0.17, 0.1});
  for (int i = 0; i < 20; ++i) {
    const double turn = random.uniform(-3, 3), depth = random.uniform(-0.005, 0.01),
                 c = std::cos(turn), s = std::sin(turn);
    const SE3d X_WG = random.pose(1),
               X_GB({{c, -s, 0}, {s, c, 0}, {0, 0, 1}},
                    {random.uniform(0.4, 0.7), random.uniform(0.4, 0.7), 0.1 - depth});
    std::vector<PieceManifold> all;
    PieceManifolds().find(0.01, ground, X_WG, box, X_WG * X_GB, all);
    CHECK(all.size() > 4);
    bool corner[4] = {false, false, false, false};
    for (const PieceManifold& m : all) {
      CHECK(norm(m.manifold.normal() - X_WG.R.col(2)) < 1e-12);
      CHECK(m.manifold.n_points > 0);
      for (int k = 0; k < m.manifold.n_points; ++k) {
        const ManifoldPoint& p = m.manifold.points[k];
        CHECK(std::fabs(p.gap + depth) < 1e-12);
        const Vec3d p_B = (X_WG * X_GB).inverse_times(p.p_WB);
        CHECK(std::max({std::fabs(p_B.x) - 0.23, std::fabs(p_B.y) - 0.17, std::fabs(p_B.z + 0.1)}) <
              1e-12);
        for (int j = 0; j < 4; ++j)
          corner[j] |= norm(p_B - Vec3d(j % 2 ? 0.23 : -0.23, j / 2 ? 0.17 : -0.17, -0.1)) < 1e-9;
      }
    }
    CHECK((corner[0] && corner[1] && corner[2] && corner[3]));
  }
}
