// Closest pieces of separated bodies, against all pairs of triangles, on every instruction set and
// with any prior knowledge.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "base/cpu.h"
#include "geometry/bodies/closest_descent.h"
#include "geometry/bodies/collision_geometry.h"
#include "random_bodies.h"
#include "scale.h"
#include "triangle_oracle.h"

using namespace robosim;
using namespace robosim::testing;

namespace {

using Truths = std::vector<std::vector<Truth>>;
const Truth& of_pair(const Truths& truth, int a, int b) { return truth[a][b]; }

PackedBody packed(const Compound& compound) {
  return {compound.packed().nodes.data(), compound.packed().triangles.data()};
}

// Closest of the pairs that a descent visits, with a separate query for each pair; none if a pair
// overlaps.
template <Isa isa>
std::optional<PieceWitness> nearest(const Compound& A, const Compound& B, const SE3d& X_AB,
                                    double slack, NearestSoFar known, int& n_told) {
  PieceWitness best;
  n_told = 0;
  const auto ask = [&](int a, int b) {
    const PieceWitness x{piece_distance(A, SE3d(), a, B, X_AB, b), a, b};
    ++n_told;
    if (!(x.witness.distance > 0)) return true;
    if (best.piece_A < 0 || x.witness.distance < best.witness.distance) best = x;
    known.limit = std::min(known.limit, x.witness.distance);
    return false;
  };
  const bool stops =
      detail::compiled_descend_closest<isa>()(packed(A), packed(B), X_AB, slack, known, ask);
  return stops ? std::nullopt : std::optional(best);
}
template <class F>
void on_each_isa(const Compound& A, const Compound& B, const SE3d& X_AB, double slack,
                 const NearestSoFar& known, F&& f) {
  int n_told = 0;
#define ROBOSIM_ON(isa)                                                     \
  if (is_supported(Isa::isa)) {                                             \
    const auto found = nearest<Isa::isa>(A, B, X_AB, slack, known, n_told); \
    f(found, n_told);                                                       \
  }
  ROBOSIM_FOR_EACH_ISA(ROBOSIM_ON)
#undef ROBOSIM_ON
}

Vec3d unit(RandomMeshes& random) {
  Vec3d v = random.point();
  while (norm(v) < 1e-3) v = random.point();
  return v * (1 / norm(v));
}

}  // namespace

// 1e-10 of the size: queries of two needles, with widths down to 1e-11 of their length, end within
// this tolerance.
TEST_CASE(
    "the least distance is that of all pairs of triangles, with any direction to begin with") {
  RandomMeshes random;
  int apart = 0, overlapping = 0, told = 0;
  for (int round = 0; round < repeats(3, 80); ++round)
    for (int kind_A = 0; kind_A < RandomMeshes::n_kinds; ++kind_A)
      for (int kind_B = 0; kind_B < RandomMeshes::n_kinds; ++kind_B) {
        const double scale = scales[random.engine() % std::size(scales)];
        CAPTURE(kind_A);
        CAPTURE(kind_B);
        CAPTURE(scale);
        const double reach = round % 3 == 0 ? 0.4 : 1.5;
        const Placed A = random.placed_mesh(kind_A, scale, 0.5),
                     B = random.placed_mesh(kind_B, scale, reach);
        const Truths truth = compare_all(A, B);
        const Compound a(A.mesh), b(B.mesh);
        bool meets = false;
        double distance = INFINITY;
        for (int i = 0; i < a.n_pieces(); ++i)
          for (int j = 0; j < b.n_pieces(); ++j) {
            if (!a.is_piece(i) || !b.is_piece(j)) continue;
            meets |= of_pair(truth, i, j).crosses;
            distance = std::min(distance, of_pair(truth, i, j).distance());
          }
        const SE3d X_AB = A.X_W.inverse() * B.X_W;
        // No prior knowledge; the direction of the closest points; a random direction; a pair's
        // distance as limit.
        NearestSoFar known[4];
        const PieceWitness whole = closest_pieces(a, SE3d(), b, X_AB);
        known[1].n = whole.witness.normal;
        known[2].n = unit(random);
        known[3].limit = distance * 1.0001 + 1e-9 * scale;
        known[3].n = known[1].n;
        for (const NearestSoFar& start : known)
          on_each_isa(a, b, X_AB, 1e-11 * scale, start,
                      [&](const std::optional<PieceWitness>& found, int n_told) {
                        if (meets) {
                          if (distance == 0 && found)
                            CHECK(found->witness.distance < certain * scale);
                          return;
                        }
                        if (distance <= certain * scale) return;
                        REQUIRE(found);
                        REQUIRE(found->piece_A >= 0);
                        CHECK(std::fabs(found->witness.distance - distance) < 1e-10 * scale);
                        CHECK(of_pair(truth, found->piece_A, found->piece_B).distance() <
                              distance + 1e-10 * scale);
                        ++apart;
                        told += n_told;
                      });
        overlapping += meets;
        if (meets || distance <= certain * scale) continue;
        // Among pairs with the same distance the one with the lowest numbers is returned, for any
        // cache or prior knowledge and in either order.
        CHECK(std::fabs(closest_pieces(a, A.X_W, b, B.X_W).witness.distance - distance) <
              1e-10 * scale);
        const PieceWitness cold = closest_pieces(a, A.X_W, b, B.X_W),
                           other = closest_pieces(b, B.X_W, a, A.X_W);
        CHECK(std::fabs(cold.witness.distance - other.witness.distance) < 1e-11 * scale);
        for (int i = 0; i < 4; ++i) {
          PieceCache cache;
          cache.piece_A = static_cast<int>(random.uniform(0, a.n_pieces()));
          cache.piece_B = static_cast<int>(random.uniform(0, b.n_pieces()));
          if (i == 0) cache = {cold.piece_A, cold.piece_B};
          const Vec3d n = i % 2 ? unit(random) : Vec3d();
          const PieceWitness warm = closest_pieces(a, A.X_W, b, B.X_W, &cache, n);
          CHECK(warm.piece_A == cold.piece_A);
          CHECK(warm.piece_B == cold.piece_B);
          CHECK(warm.witness.distance == cold.witness.distance);
          CHECK(cache.piece_A == cold.piece_A);
        }
      }
  CHECK(apart > 300);
  CHECK(overlapping > 20);
  CHECK(told < 3 * apart);  // mostly one pair
}

TEST_CASE("bodies of all kinds, far from the origin of their frames, against all pairs of pieces") {
  RandomBodies random;
  int apart = 0;
  for (int round = 0; round < repeats(2, 30); ++round)
    for (int kind_A = 0; kind_A < 4; ++kind_A)
      for (int kind_B = -1; kind_B < 4; ++kind_B) {
        CAPTURE(kind_A);
        CAPTURE(kind_B);
        // 3: shapes, a cloud and a mesh together.
        const auto compound = [&](int kind, const SE3d& X) {
          std::vector<Compound::Part> parts;
          if (kind == 0 || kind == 3)
            for (int i = 0; i < 6; ++i)
              parts.push_back({random.small_shape(), X * random.pose(0.4), 0});
          if (kind == 1 || kind == 3) parts.push_back({random.cloud(25), X * random.pose(0.3), 0});
          if (kind == 2 || kind == 3)
            parts.push_back({random.bumpy_ball(2), X * random.pose(0.3), 0});
          return Compound(parts);
        };
        const SE3d off_A = random.pose(5), off_B = random.pose(5);
        const Compound A = compound(kind_A, off_A), many = compound(std::max(kind_B, 0), off_B);
        const Shape alone = random.small_shape();
        const Body B = kind_B < 0 ? Body(alone) : Body(many);
        const SE3d X_WA = random.pose(1) * off_A.inverse();
        const SE3d X_WB = random.pose(1.5) * (kind_B < 0 ? SE3d() : off_B.inverse());
        double least = INFINITY;
        for (int i = 0; i < A.n_pieces(); ++i)
          for (int j = 0; j < (kind_B < 0 ? 1 : many.n_pieces()); ++j)
            least = std::min(least, piece_distance(A, X_WA, i, B, X_WB, j).distance);
        if (!(least > 0)) continue;
        const PieceWitness w = closest_pieces(A, X_WA, B, X_WB),
                           other = closest_pieces(B, X_WB, A, X_WA);
        if (w.witness.distance < 0) continue;  // in the solid of the ball
        ++apart;
        CHECK(std::fabs(w.witness.distance - least) < 1e-11);
        CHECK(std::fabs(other.witness.distance - least) < 1e-11);
        CHECK(piece_distance(A, X_WA, w.piece_A, B, X_WB, w.piece_B).distance ==
              w.witness.distance);
      }
  CHECK(apart > 15);
}

TEST_CASE(
    "where hundreds of pairs share the least distance, the one with the lowest numbers is told") {
  // Two parallel plates of 288 triangles each: all triangles that face each other have the same
  // distance.
  const Triangles plate = box_triangles({0.5, 0.5, 0.01}, 12);
  const Placed A{mesh_of(plate), SE3d()};
  Placed B{mesh_of(plate), SE3d{Mat3d::identity(), {0.013, 0.021, 0.12}}};
  const Truths truth = compare_all(A, B);
  const Compound a(A.mesh), b(B.mesh);
  int shared = 0;
  std::pair<int, int> first{-1, -1};
  for (int i = 0; i < a.n_pieces(); ++i)
    for (int j = 0; j < b.n_pieces(); ++j)
      if (of_pair(truth, i, j).distance() < 0.1 + 1e-14) {
        if (shared++ == 0) first = {i, j};
      }
  CHECK(shared > 500);
  const PieceWitness w = closest_pieces(a, A.X_W, b, B.X_W),
                     other = closest_pieces(b, B.X_W, a, A.X_W);
  CHECK(std::fabs(w.witness.distance - 0.1) < 1e-15);
  CHECK(std::pair(w.piece_A, w.piece_B) == first);
  CHECK(std::fabs(other.witness.distance - 0.1) < 1e-15);
  PieceCache cache{A.mesh->n_triangles() - 1, 0};
  const PieceWitness warm = closest_pieces(a, A.X_W, b, B.X_W, &cache, {0, 0, 1});
  CHECK(std::pair(warm.piece_A, warm.piece_B) == first);
  for (const Vec3d& n : {Vec3d(), Vec3d(0, 0, 1), Vec3d(0.6, 0, 0.8)}) {
    NearestSoFar known;
    known.n = n;
    on_each_isa(a, b, B.X_W, 1e-11, known,
                [&](const std::optional<PieceWitness>& found, int n_told) {
                  REQUIRE(found);
                  CHECK(std::pair(found->piece_A, found->piece_B) == first);
                  CHECK(n_told == 1);
                });
  }
}

TEST_CASE("hulls that are apart only tell where to look") {
  RandomBodies random;
  int by_hulls = 0;
  for (int round = 0; round < repeats(60, 2000); ++round) {
    const auto body = [&] {
      Triangles t = ball_triangles(0.4, 3);
      for (Vec3d& p : t.vertices) p *= random.uniform(0.3, 1.1);
      const Shape hull = Shape::convex(std::make_shared<ConvexMesh>(convex_hull_mesh(t.vertices)));
      return CollisionGeometry(hull,
                               std::make_shared<ExactBody>(std::make_shared<Compound>(mesh_of(t))));
    };
    const CollisionGeometry A = body(), B = body();
    const SE3d X_WA = random.pose(0.5), X_WB = random.pose(1);
    PairCache cache;
    for (int again = 0; again < 2; ++again) {
      const PieceWitness w = closest_pieces(A, X_WA, B, X_WB, &cache);
      const PieceWitness alone = closest_pieces(A.exact_body(), X_WA, B.exact_body(), X_WB);
      CHECK((w.witness.distance > 0) == (alone.witness.distance > 0));
      if (w.witness.distance <= 0) continue;
      by_hulls += !shapes_closer_than(0, A, X_WA, B, X_WB);
      CHECK(w.witness.distance == alone.witness.distance);
      CHECK(w.piece_A == alone.piece_A);
      CHECK(w.piece_B == alone.piece_B);
    }
  }
  CHECK(by_hulls > 30);
}
