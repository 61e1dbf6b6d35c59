// Packed trees: no pair of near pieces is left out, on any instruction set. Overlap of meshes is
// compared with all pairs of their triangles.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <set>
#include <utility>
#include <vector>

#include "base/cpu.h"
#include "geometry/bodies/collision_geometry.h"
#include "geometry/bodies/near_descent.h"
#include "geometry/bodies/winding.h"
#include "random_bodies.h"
#include "scale.h"
#include "triangle_oracle.h"

using namespace robosim;
using namespace robosim::testing;

namespace {

struct Side {
  PackedTree::Node alone;
  PackedBody body;
  explicit Side(const Body& b)
      : alone(PackedTree::Node::of_piece(b.shape() ? bounding_box(*b.shape(), SE3d()) : Aabb())) {
    body = b.shape() ? PackedBody{&alone, nullptr}
                     : PackedBody{b.compound()->packed().nodes.data(),
                                  b.compound()->packed().triangles.data()};
  }
  Side(const Side&) = delete;
  Side& operator=(const Side&) = delete;
};
using Pairs = std::set<std::pair<int, int>>;
template <Isa isa>
Pairs visited(const Body& A, const Body& B, const SE3d& X_AB, double slack, double limit) {
  const Side a(A), b(B);
  Pairs out;
  int n = 0;
  detail::compiled_descend_near<isa>()(a.body, b.body, X_AB, slack, limit, [&](int i, int j) {
    out.emplace(i, j);
    n += 1;
    return false;
  });
  CHECK(out.size() == static_cast<std::size_t>(n));  // each once
  return out;
}
// Call f(visited pairs) for each instruction set of this build.
template <class F>
void on_each_isa(const Body& A, const Body& B, const SE3d& X_AB, double slack, double limit,
                 F&& f) {
#define ROBOSIM_ON(isa) \
  if (is_supported(Isa::isa)) f(visited<Isa::isa>(A, B, X_AB, slack, limit));
  ROBOSIM_FOR_EACH_ISA(ROBOSIM_ON)
#undef ROBOSIM_ON
}

}  // namespace

TEST_CASE(
    "of triangles none that are nearer than the limit are left out, and those apart by an axis "
    "are") {
  RandomMeshes random;
  const auto is_fat = [](int kind) {
    return kind == RandomMeshes::soup || kind == RandomMeshes::single;
  };
  int near_pairs = 0, far_pairs = 0;
  for (int round = 0; round < repeats(2, 120); ++round)
    for (int kind_A = 0; kind_A < RandomMeshes::n_kinds; ++kind_A)
      for (int kind_B = 0; kind_B < RandomMeshes::n_kinds; ++kind_B) {
        const double scale = scales[random.engine() % std::size(scales)];
        CAPTURE(kind_A);
        CAPTURE(kind_B);
        CAPTURE(scale);
        const Placed A = random.placed_mesh(kind_A, scale, 0.4),
                     B = random.placed_mesh(kind_B, scale, 0.4);
        const auto truth = compare_all(A, B);
        const Compound a(A.mesh), b(B.mesh);
        const SE3d X_AB = A.X_W.inverse() * B.X_W;
        for (const double limit : {0.0, 0.02 * scale, 0.3 * scale})
          on_each_isa(a, b, X_AB, 1e-11 * scale, limit, [&](const Pairs& found) {
            int left_out = 0, not_apart = 0;
            for (int i = 0; i < a.n_pieces(); ++i)
              for (int j = 0; j < b.n_pieces(); ++j) {
                const Truth& t = truth[i][j];
                const bool is_found = found.contains({i, j});
                if (!a.is_piece(i) || !b.is_piece(j)) {
                  not_apart += is_found;
                  continue;
                }
                const bool is_near =
                    (t.crosses && t.features > certain * scale) || t.features <= limit;
                near_pairs += is_near;
                left_out += is_near && !is_found;
                // Random triangles that are no needles always have a separating axis if they are
                // separated.
                const bool is_far =
                    limit == 0 && is_fat(kind_A) && is_fat(kind_B) && t.distance() > 1e-6 * scale;
                far_pairs += is_far;
                not_apart += is_far && is_found;
              }
            CHECK(left_out == 0);
            CHECK(not_apart == 0);
          });
      }
  CHECK(near_pairs > 5000);
  CHECK(far_pairs > 300);
}

TEST_CASE("of pieces of all kinds none that are nearer than the limit are left out") {
  RandomBodies random;
  int near_pairs = 0;
  for (int round = 0; round < repeats(1, 20); ++round)
    for (int kind_A = 0; kind_A < 4; ++kind_A)
      for (int kind_B = -1; kind_B < 4; ++kind_B) {
        CAPTURE(kind_A);
        CAPTURE(kind_B);
        // 3: shapes, a cloud and a mesh together, so that leaves contain pieces of several kinds.
        const auto compound = [&](int kind) {
          if (kind < 3) return random.compound(kind);
          std::vector<Compound::Part> parts;
          for (int i = 0; i < 5; ++i) parts.push_back({random.small_shape(), random.pose(0.3), 0});
          parts.push_back({random.cloud(20), random.pose(0.3), 0});
          parts.push_back({random.bumpy_ball(2), random.pose(0.3), 0});
          return Compound(parts);
        };
        const Compound A = compound(kind_A), many = compound(std::max(kind_B, 0));
        const Shape alone = random.small_shape();
        const Body a(A), b = kind_B < 0 ? Body(alone) : Body(many);
        const int n_B = kind_B < 0 ? 1 : many.n_pieces();
        const SE3d X_AB = random.pose(0.5);
        CHECK(A.is_packed());
        for (const double limit : {0.0, 0.05})
          on_each_isa(a, b, X_AB, 1e-11, limit, [&](const Pairs& found) {
            int left_out = 0;
            for (int i = 0; i < A.n_pieces(); ++i)
              for (int j = 0; j < n_B; ++j) {
                const double distance = piece_distance(a, SE3d(), i, b, X_AB, j).distance;
                if (distance > limit - 1e-9) continue;
                near_pairs += 1;
                left_out += !found.contains({i, j});
              }
            CHECK(left_out == 0);
          });
      }
  CHECK(near_pairs > 1000);
}

TEST_CASE("of triangles and a box those that are apart are left out, and no others") {
  RandomMeshes random;
  int met = 0, apart = 0;
  for (int round = 0; round < repeats(40, 1000); ++round) {
    const Placed A = random.placed_mesh(RandomMeshes::soup, 1, 0.3);
    const Shape box = Shape::box(
        {random.uniform(0.01, 0.3), random.uniform(0.01, 0.3), random.uniform(0.01, 0.3)});
    const Compound a(A.mesh);
    const SE3d X_AB = A.X_W.inverse();
    on_each_isa(a, box, X_AB, 1e-11, 0, [&](const Pairs& found) {
      int wrong = 0;
      for (int i = 0; i < a.n_pieces(); ++i) {
        if (!a.is_piece(i)) continue;
        const double distance = piece_distance(a, SE3d(), i, box, X_AB, 0).distance;
        met += distance < 0;
        apart += distance > 1e-9;
        wrong += distance < 0 && !found.contains({i, 0});
        wrong += distance > 1e-9 && found.contains({i, 0});
      }
      CHECK(wrong == 0);
    });
    CHECK(closer_than(0, a, A.X_W, box, SE3d()) == closer_than(0, box, SE3d(), a, A.X_W));
  }
  CHECK(met > 50);
  CHECK(apart > 300);
}

TEST_CASE(
    "whether meshes overlap, or are nearer than a margin, and how far they are apart at least") {
  RandomMeshes random;
  int overlapping = 0, apart = 0;
  for (int round = 0; round < repeats(4, 80); ++round)
    for (int kind_A = 0; kind_A < RandomMeshes::n_kinds; ++kind_A)
      for (int kind_B = 0; kind_B < RandomMeshes::n_kinds; ++kind_B) {
        const double scale = scales[random.engine() % std::size(scales)];
        CAPTURE(kind_A);
        CAPTURE(kind_B);
        CAPTURE(scale);
        Placed A = random.placed_mesh(kind_A, scale, 0.3),
               B = random.placed_mesh(kind_B, scale, 0.5);
        const auto truth = compare_all(A, B);
        const Compound a(A.mesh), b(B.mesh);
        bool meets = false;
        double distance = INFINITY, doubtful = INFINITY;
        for (int i = 0; i < a.n_pieces(); ++i)
          for (int j = 0; j < b.n_pieces(); ++j) {
            if (!a.is_piece(i) || !b.is_piece(j)) continue;
            const Truth& t = truth[i][j];
            meets |= t.crosses && t.features > certain * scale;
            distance = std::min(distance, t.distance());
            doubtful = std::min(doubtful, t.features);
          }
        if (!meets && doubtful <= certain * scale) continue;
        (meets ? overlapping : apart) += 1;
        PieceCache cache;
        CHECK(closer_than(0, a, A.X_W, b, B.X_W, &cache) == meets);
        CHECK(closer_than(0, b, B.X_W, a, A.X_W) == meets);
        if (meets) {
          REQUIRE(cache.piece_A >= 0);
          const Truth& t = truth[cache.piece_A][cache.piece_B];
          CHECK(t.features * !t.crosses <= certain * scale);  // the cached pair does overlap
          CHECK(closer_than(0, a, A.X_W, b, B.X_W, &cache));
          CHECK(distance_lower_bound(scale, a, A.X_W, b, B.X_W) == 0);
          continue;
        }
        for (const double margin : {0.01 * scale, 0.2 * scale})
          if (std::fabs(margin - distance) > 1e-9 * scale)
            CHECK(closer_than(margin, a, A.X_W, b, B.X_W) == (distance < margin));
        for (const double enough : {0.01 * scale, 0.2 * scale, 10 * scale}) {
          const double bound = distance_lower_bound(enough, a, A.X_W, b, B.X_W),
                       least = std::min(enough, distance);
          CHECK(bound <= distance + 1e-11 * scale);
          CHECK(bound >= least - 1e-6 - 1e-9 * scale);
        }
      }
  CHECK(overlapping > 40);
  CHECK(apart > 40);
}

TEST_CASE("a corner that goes through a face is seen, and one that ends as far before it is not") {
  RandomMeshes random;
  for (const double scale : scales)
    for (int i = 0; i < repeats(200, 5000); ++i) {
      CAPTURE(scale);
      CAPTURE(i);
      // A face in z = 0 around the origin. A corner at depth d below it, with the rest of that
      // triangle above.
      const double d = scale * std::pow(10, random.uniform(-11, -2));
      CAPTURE(d);
      const std::vector<Vec3d> face{
          {-scale, -scale, 0}, {scale, -scale, 0}, {random.uniform(-0.3, 0.3) * scale, scale, 0}};
      const Vec3d tip(0.1 * scale * random.uniform(-1, 1), 0.1 * scale * random.uniform(-1, 1), 0);
      const auto above = [&] {
        return scale * Vec3d(random.uniform(-1, 1), random.uniform(-1, 1), random.uniform(0.3, 1));
      };
      // Sometimes a needle.
      const Vec3d u = above(), v = i % 3 == 0 ? u + (1e-9 * scale) * random.point() : above();
      const auto at = [&](double z) {
        return Compound(
            std::make_shared<TriangleMesh>(std::vector<Vec3d>{tip + Vec3d(0, 0, z), u, v},
                                           std::vector<std::array<int, 3>>{{0, 1, 2}}));
      };
      const Compound below(
          std::make_shared<TriangleMesh>(face, std::vector<std::array<int, 3>>{{0, 1, 2}})),
          in = at(-d), off = at(d);
      // Rounding of the poses changes the coordinates, too: first both are in one rotated frame.
      SE3d X = random.pose(0);
      CHECK(closer_than(0, below, X, in, X));
      CHECK(closer_than(0, in, X, below, X));
      CHECK(!closer_than(0, below, X, off, X));
      CHECK(!closer_than(0, off, X, below, X));
      if (d < 1e-9 * scale) continue;
      X.p = 10 * scale * random.point();
      CHECK(closer_than(0, below, X, in, X));
      CHECK(!closer_than(0, off, X, below, X));
    }
}

TEST_CASE("triangles that share an edge or a corner, and coplanar ones beside each other") {
  RandomMeshes random;
  for (const double scale : scales)
    for (int i = 0; i < repeats(100, 3000); ++i) {
      CAPTURE(scale);
      CAPTURE(i);
      const SE3d X = random.pose(i % 2 * scale);
      const auto one = [&](const Vec3d& a, const Vec3d& b, const Vec3d& c) {
        const std::vector<Vec3d> corners{scale * a, scale * b, scale * c};
        return Compound(
            std::make_shared<TriangleMesh>(corners, std::vector<std::array<int, 3>>{{0, 1, 2}}));
      };
      // Triangles whose common edge is moved over or off the other triangle by g.
      const double g = std::pow(10, random.uniform(-9, -2));
      CAPTURE(g);
      const Vec3d a(0, 0, 0), b(1, 0, 0), c(random.uniform(0, 1), 1, 0),
          d(random.uniform(0, 1), -0.5, random.uniform(-1, 1));
      const Vec3d off(0, -g, 0), over(0, g, -g * d.z);
      const Compound first = one(a, b, c), beside = one(a + off, b + off, d + off);
      CHECK(!closer_than(0, first, X, beside, X));
      CHECK(!closer_than(0, beside, X, first, X));
      CHECK(closer_than(0, first, X, one(a + over - 0.1 * d, b + over - 0.1 * d, d + over), X));
      // Coplanar triangles, rotated: separated by g, or with a large overlap, which only touches
      // and must have the same result in both orders.
      const Vec3d e(random.uniform(0, 1), -1, 0);
      CHECK(!closer_than(0, first, X, one(a + off, b + off, e + off), X));
      const Compound same_plane = one(a + Vec3d(0, 0.3, 0), b + Vec3d(0, 0.3, 0), e);
      CHECK(closer_than(0, first, X, same_plane, X) == closer_than(0, same_plane, X, first, X));
      const Compound corner = one(c, c + random.point(), c + random.point());
      CHECK(closer_than(0, first, X, corner, X) == closer_than(0, corner, X, first, X));
      // Touching pairs are left to the query of the pieces, for any rounding of the frames.
      const SE3d X_WB = random.pose(scale), X_AB = X.inverse() * X_WB, X_BA = X_WB.inverse() * X;
      const Compound moved =
          one((1 / scale) * (X_BA * (scale * c)), random.point(), random.point());
      on_each_isa(first, moved, X_AB, 1e-14 * scale, 0,
                  [&](const Pairs& found) { CHECK(found.size() == 1); });
    }
}

TEST_CASE("one closed mesh within another is apart by its triangles and overlaps by its solid") {
  RandomMeshes random;
  for (const double scale : scales) {
    Triangles inner = ball_triangles(0.2 * scale, 4), outer = ball_triangles(scale, 6);
    const SE3d X = random.pose(0.3 * scale);
    const auto body = [](const Triangles& t, bool solid) {
      return Compound(std::make_shared<TriangleMesh>(t.vertices, t.faces, solid));
    };
    CHECK(!closer_than(0, body(inner, false), X, body(outer, false), SE3d()));
    CHECK(closer_than(0, body(inner, false), X, body(outer, true), SE3d()));
    CHECK(closer_than(0, body(outer, true), SE3d(), body(inner, true), X));
    CHECK(!closer_than(0, body(outer, false), SE3d(), body(inner, true), X));
  }
}

TEST_CASE(
    "every piece that is in the tree is in the packed tree, once, and in the boxes above it") {
  RandomBodies random;
  for (const int kind : {0, 1, 2}) {
    const Compound body = random.compound(kind);
    const PackedTree& tree = body.packed();
    std::multiset<int> found;
    const auto walk = [&](const auto& self, int number, const Aabb& within) -> void {
      const PackedTree::Node& node = tree.nodes[number];
      REQUIRE(node.n >= 1);
      for (int k = 0; k < node.n; ++k) {
        Vec3d middle, half;
        for (int i = 0; i < 3; ++i) {
          middle[i] = node.center[i][k];
          half[i] = node.half[i][k];
        }
        const Aabb box{middle - half, middle + half};
        for (int i = 0; i < 3; ++i)
          CHECK(
              (box.lower[i] >= within.lower[i] - 1e-15 && box.upper[i] <= within.upper[i] + 1e-15));
        const auto add = [&](int piece) {
          found.insert(piece);
          const Aabb own = body.piece_box(piece);
          for (int i = 0; i < 3; ++i)
            CHECK((own.lower[i] >= box.lower[i] - 1e-15 && own.upper[i] <= box.upper[i] + 1e-15));
        };
        if (node.kind[k] == PackedTree::Kind::node) self(self, node.child[k], box);
        if (node.kind[k] == PackedTree::Kind::piece) add(node.child[k]);
        if (node.kind[k] == PackedTree::Kind::triangles) {
          const PackedTree::Triangles& leaf = tree.triangles[node.child[k]];
          for (int l = 0; l < leaf.n; ++l) add(leaf.piece[l]);
        }
      }
    };
    walk(walk, 0, body.tree().node(0).box);
    CHECK(found.size() == static_cast<std::size_t>(body.n_pieces()));
    CHECK(std::set<int>(found.begin(), found.end()).size() == found.size());
  }
}

TEST_CASE("half-spaces and terrain have no packed tree and are asked all the same") {
  RandomBodies random;
  const Compound ball(random.bumpy_ball(3)), terrain(random.terrain(5, 6)),
      floor{Compound::Geometry(Shape::half_space())};
  CHECK(ball.is_packed());
  CHECK(!terrain.is_packed());
  CHECK(!floor.is_packed());
  const SE3d low{SE3d().R, {0.5, 0.5, 0.1}}, high{SE3d().R, {0.5, 0.5, 0.8}};
  for (const Compound* below : {&terrain, &floor}) {
    CHECK(closer_than(0, ball, low, *below, SE3d()));
    CHECK(!closer_than(0, ball, high, *below, SE3d()));
    CHECK(!closer_than(0, *below, SE3d(), ball, high));
  }
}

TEST_CASE("winding numbers are the sums of the solid angles of all triangles") {
  RandomBodies random;
  // Inside a tetrahedron, all of whose triangles are near.
  const auto tetrahedron = std::make_shared<TriangleMesh>(
      std::vector<Vec3d>{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
      std::vector<std::array<int, 3>>{{0, 2, 1}, {0, 1, 3}, {0, 3, 2}, {1, 2, 3}});
  const Compound simple(tetrahedron);
  for (int k = 0; k < 100; ++k) {
    const Vec3d p(random.uniform(0.01, 0.3), random.uniform(0.01, 0.3), random.uniform(0.01, 0.3));
    CHECK(std::fabs(WindingNumber(simple).at(simple, p) - 1) < 1e-14);
  }
  double largest = 0;
  for (int i = 0; i < 20; ++i) {
    const std::shared_ptr<const TriangleMesh> mesh = random.bumpy_ball(2 + i % 4);
    const Compound body(mesh);
    const WindingNumber winding(body);
    for (int k = 0; k < 50; ++k) {
      const Vec3d p = 0.3 * Vec3d(random.sign_free(), random.sign_free(), random.sign_free());
      double angle = 0;
      for (int t = 0; t < mesh->n_triangles(); ++t) {
        const TriangleSurface::Corners c = mesh->corners(t);
        const Vec3d a = c[0] - p, b = c[1] - p, d = c[2] - p;
        const double la = norm(a), lb = norm(b), ld = norm(d);
        angle += 2 * std::atan2(dot(a, cross(b, d)),
                                la * lb * ld + dot(a, b) * ld + dot(b, d) * la + dot(d, a) * lb);
      }
      largest = std::max(largest, std::fabs(winding.at(body, p) - angle / (4 * std::numbers::pi)));
    }
  }
  CAPTURE(largest);
  CHECK(largest < 0.03);  // distant triangles are approximated as dipoles, to about 1e-2
}
