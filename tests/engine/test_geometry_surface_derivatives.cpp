// Derivatives of contact manifolds on triangle surfaces against Ridders differences of
// contact_manifolds itself: on faces, at edges and vertices, where the normal is that of the
// touching feature, and where it is the nearest admissible normal of the surface.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "geometry/bodies/compound_derivatives.h"
#include "geometry/bodies/compound_manifolds.h"
#include "geometry/bodies/one_sided.h"
#include "random_bodies.h"
#include "ridders.h"
#include "scale.h"
#include "spatial/lie.h"

using namespace robosim;
using namespace robosim::testing;

namespace {

constexpr double margin = 0.01;

// Source of a contact's normal: a feature that may touch along it, or the nearest normal of a face,
// the triangle's own or its neighbor's.
enum Normal { of_face, of_edge, of_vertex, nearest_own, nearest_of_neighbor, n_normals };

SE3d moved(const SE3d& X, int k, double t) {
  Motion<double> V;
  (k < 3 ? V.linear[k] : V.angular[k - 3]) = t;
  return X * exp_motion(V);
}

void append(Numbers& x, double gap, const Vec3d& n, const Vec3d& a, const Vec3d& b,
            const Vec3d& p) {
  x.push_back(gap);
  for (const Vec3d& v : {n, a, b, p})
    for (int i = 0; i < 3; ++i) x.push_back(v[i]);
}

// One shape on a surface, which is the whole body, in either order.
struct Placed {
  Shape shape;
  SE3d X_WS;
  std::shared_ptr<const TriangleSurface> surface;
  SE3d X_WT;
  bool surface_first = false;
};

// Signature of a contact: with equal signatures the contact is given by one formula.
using Signature = std::vector<int>;

struct Found {
  PieceManifold pair;
  Normal normal = of_face;
  Signature signature;
};

void add(Signature& s, const LocalSurface& at) {
  s.insert(s.end(), {static_cast<int>(at.kind), at.index});
}

// Overlapping contacts.
std::vector<Found> contacts_of(const Placed& x) {
  const Compound compound(Compound::Geometry{x.surface});
  std::vector<PieceManifold> pairs;
  if (x.surface_first)
    PieceManifolds().find(margin, compound, x.X_WT, x.shape, x.X_WS, pairs);
  else
    PieceManifolds().find(margin, x.shape, x.X_WS, compound, x.X_WT, pairs);
  std::vector<Found> all;
  for (const PieceManifold& pair : pairs) {
    const Manifold& m = pair.manifold;
    if (m.n_points == 0 || m.witness.distance > 0) continue;
    Found f{pair, of_face, {}};
    const Vec3d n = x.surface_first ? m.normal() : -m.normal();  // out of the surface
    const int t = x.surface_first ? pair.piece_A : pair.piece_B;
    compound.with_piece(t, [&](const Compound::Piece& T) {
      const Witness plain = signed_distance(x.shape, x.X_WS, T.shape, x.X_WT);
      Vec3d p_T = x.surface_first ? m.witness.p_WA : m.witness.p_WB,
            p_S = x.surface_first ? m.witness.p_WB : m.witness.p_WA, along = n;
      if (plain.distance <= 0 && norm(plain.normal + n) < 1e-11) {
        const FeatureKind kind = local_surface(T.shape, x.X_WT, p_T, n).kind;
        f.normal =
            kind == FeatureKind::face ? of_face : (kind == FeatureKind::edge ? of_edge : of_vertex);
      } else {
        const bool is_own = norm(x.X_WT.R * T.surface->corners(T.triangle).normal() - n) < 1e-10;
        f.normal = is_own ? nearest_own : nearest_of_neighbor;
        const WayOut out = way_out(x.shape, x.X_WS, T.shape, x.X_WT, n);
        p_T = out.touch.p_WB;
        p_S = out.touch.p_WA + out.witness.distance * n;
        along = -out.touch.normal;
      }
      // A shape that lies flat on a face touches somewhere, in the plane of the face.
      const bool has_witness = std::any_of(m.points, m.points + m.n_points, [](const auto& p) {
        return p.anchor == ManifoldPoint::Anchor::witness;
      });
      if (m.reference >= 0 && !has_witness) return;
      add(f.signature, local_surface(T.shape, x.X_WT, p_T, along));
      add(f.signature, local_surface(x.shape, x.X_WS, p_S, -along));
      f.signature.insert(f.signature.end(), {f.normal, m.deepest});
    });
    f.signature.insert(f.signature.end(), {pair.piece_A, pair.piece_B, m.reference, m.n_points});
    for (int i = 0; i < m.n_points; ++i) {
      const ManifoldPoint& p = m.points[i];
      f.signature.push_back(static_cast<int>(p.anchor));
      for (const FeatureId& id : p.feature)
        f.signature.insert(f.signature.end(), {static_cast<int>(id.kind), id.index, id.part});
    }
    all.push_back(f);
  }
  return all;
}

struct Tally {
  int compared[n_normals] = {}, jumped = 0, one_sided = 0;
  // Contacts compared with all points at the outline of the face that has the normal.
  int at_outline = 0;
};

// Return true if the normal is that of a face of the surface, and only sides of this face are
// crossed.
bool is_at_outline(const Manifold& m, bool surface_first) {
  if (m.reference != (surface_first ? 0 : 1)) return false;
  return std::all_of(m.points, m.points + m.n_points,
                     [](const auto& p) { return p.anchor == ManifoldPoint::Anchor::crossing; });
}

// Compare the derivative with respect to one parameter. Returns false if it could not be compared.
template <class Change, class Rate>
bool check(const Found& at, const ManifoldDerivatives& d, Change&& change, Rate&& rate) {
  Numbers got;
  double largest = 1;
  for (int i = 0; i < d.n_points; ++i) {
    const ManifoldRate r = rate(d.points[i]);
    append(got, r.distance, r.normal, r.p_WA, r.p_WB, r.p_W);
    for (const ManifoldRate& twist : d.points[i].twist)
      largest = std::max({largest, norm(twist.p_WA), norm(twist.p_WB)});
  }
  double least = INFINITY, allowed = 0;
  for (const double step : {1e-3, 1e-4, 1e-5}) {
    bool jumped = false;
    const Numbers expected = ridders(
        [&](double t) {
          Numbers all(got.size(), 0.0);
          for (const Found& f : contacts_of(change(t))) {
            if (f.signature != at.signature) continue;
            all.clear();
            for (int i = 0; i < f.pair.manifold.n_points; ++i) {
              const ManifoldPoint& p = f.pair.manifold.points[i];
              append(all, p.gap, f.pair.manifold.normal(), p.p_WA, p.p_WB, p.p_W);
            }
            return all;
          }
          jumped = true;
          return all;
        },
        step);
    if (jumped) continue;
    double error = 0;
    for (std::size_t k = 0; k < got.size(); ++k)
      error = std::max(error, std::fabs(got[k] - expected[k]));
    if (error >= least) continue;
    // Rounding of coordinates, and of polished queries.
    least = error;
    allowed = 1e-7 * largest + 3e-14 / step;
    if (least < allowed) break;
  }
  if (std::isinf(least)) return false;
  CHECK(least < allowed);
  return true;
}

// Compare all contacts of a scene: poses and, for a mesh, its scale and the vertices of the
// triangle.
void compare(const Placed& x, Tally& tally) {
  static ManifoldDerivatives d;
  const Compound compound(Compound::Geometry{x.surface});
  const auto* mesh = dynamic_cast<const TriangleMesh*>(x.surface.get());
  const int side = x.surface_first ? 0 : 1;  // of the surface
  for (const Found& f : contacts_of(x)) {
    const PieceManifold& pair = f.pair;
    if (x.surface_first)
      manifold_derivatives(pair.manifold, compound, x.X_WT, pair.piece_A, x.shape, x.X_WS,
                           pair.piece_B, d);
    else
      manifold_derivatives(pair.manifold, x.shape, x.X_WS, pair.piece_A, compound, x.X_WT,
                           pair.piece_B, d);
    REQUIRE(d.n_points == pair.manifold.n_points);
    if (std::any_of(d.points.begin(), d.points.begin() + d.n_points,
                    [](const auto& p) { return p.one_sided; })) {
      ++tally.one_sided;
      continue;
    }
    CAPTURE(std::string(name_of(x.shape.type)));
    CAPTURE(static_cast<int>(f.normal));
    CAPTURE(pair.manifold.reference);
    int compared = 0, jumped = 0;
    const auto count = [&](bool was_compared) { ++(was_compared ? compared : jumped); };
    for (int k = 0; k < 12; ++k) {
      CAPTURE(k);
      const bool of_surface = (k < 6) == x.surface_first;
      count(check(
          f, d,
          [&](double t) {
            Placed y = x;
            SE3d& X = of_surface ? y.X_WT : y.X_WS;
            X = moved(X, k % 6, t);
            return y;
          },
          [&](const auto& p) { return p.twist[k]; }));
    }
    if (mesh) {
      const auto with_vertices = [&](auto&& change) {
        Placed y = x;
        std::vector<Vec3d> vertices = mesh->vertices();
        change(vertices);
        y.surface = std::make_shared<TriangleMesh>(vertices, mesh->faces());
        return y;
      };
      count(check(
          f, d,
          [&](double t) {
            return with_vertices([&](auto& vertices) {
              for (Vec3d& v : vertices) v *= 1 + t;
            });
          },
          [&](const auto& p) { return p.scale[side]; }));
      for (int i = 0; i < 3; ++i)
        for (int k = 0; k < 3; ++k) {
          CAPTURE(i);
          CAPTURE(k);
          const std::size_t v =
              static_cast<std::size_t>(mesh->vertex(side ? pair.piece_B : pair.piece_A, i));
          count(check(
              f, d,
              [&](double t) { return with_vertices([&](auto& vertices) { vertices[v][k] += t; }); },
              [&](const auto& p) {
                for (int c = 0; c < p.n_corners[side]; ++c)
                  if (p.vertex[side][c] == i) return p.corner[side][c][k];
                return ManifoldRate{};
              }));
        }
    }
    tally.jumped += jumped > 0;
    tally.compared[f.normal] += compared > jumped;
    tally.at_outline += compared > jumped && is_at_outline(pair.manifold, x.surface_first);
  }
}

Shape touching(RandomBodies& random, int i) {
  switch (i % 6) {
    case 0:
      return Shape::sphere(random.uniform(0.05, 0.2));
    case 1:
      return Shape::capsule(random.uniform(0.03, 0.1), random.uniform(0.2, 0.5));
    case 2:
      return Shape::cylinder(random.uniform(0.03, 0.15), random.uniform(0.1, 0.5));
    case 3:
      return Shape::box(
          {random.uniform(0.1, 0.4), random.uniform(0.1, 0.4), random.uniform(0.1, 0.4)});
    case 4:
      return Shape::ellipsoid(
          {random.uniform(0.05, 0.2), random.uniform(0.05, 0.2), random.uniform(0.05, 0.2)});
    default:
      return Shape::cone(random.uniform(0.05, 0.2), random.uniform(0.1, 0.4));
  }
}

// Irregular fan of faces with slope `slope`, with its top at height zero.
std::shared_ptr<const TriangleMesh> pyramid(double slope) {
  const double x[5] = {0.9, 0.2, -0.8, -0.6, 0.5}, y[5] = {0.1, 0.8, 0.6, -0.7, -0.9};
  Triangles mesh;
  mesh.vertices.push_back({});
  for (int i = 0; i < 5; ++i)
    mesh.vertices.push_back({x[i], y[i], -slope * std::hypot(x[i], y[i])});
  for (int i = 0; i < 5; ++i) mesh.faces.push_back({0, 1 + i, 1 + (i + 1) % 5});
  return mesh_of(mesh);
}

// Lower `shape` onto the surface at about (x, y) of its frame, with penetration `depth`.
Placed let_down(RandomBodies& random, const Shape& shape,
                std::shared_ptr<const TriangleSurface> surface, double x, double y, double depth,
                bool surface_first) {
  const SE3d X_WT = random.pose(0.5);
  const Mat3d R = random.pose(1).R;
  const Compound compound(Compound::Geometry{surface});
  double height = 3;
  for (int i = 0; i < 60; ++i) {
    const double gap =
        closest_pieces(shape, {R, {x, y, height}}, compound, SE3d()).witness.distance;
    if (gap < 1e-6) break;
    height -= gap;
  }
  return {shape, X_WT * SE3d(R, {x, y, height - depth}), surface, X_WT, surface_first};
}

}  // namespace

TEST_CASE(
    "manifolds on edges and vertices that stick out and those that do not: poses, scale, "
    "vertices") {
  RandomBodies random;
  Tally tally;
  constexpr double slopes[] = {-0.2, 0, 0.15, 0.7};
  for (int i = 0; i < repeats(48, 96); ++i) {  // all shapes, slopes and spreads
    CAPTURE(i);
    const double spread = (i / 24) % 2 ? 0.2 : 0.02;
    const Shape shape = touching(random, i);
    // Separate statements: the evaluation order of arguments is unspecified.
    const double x = random.uniform(-spread, spread), y = random.uniform(-spread, spread);
    const double depth = random.uniform(0.002, 0.05);
    compare(let_down(random, shape, pyramid(slopes[i / 6 % 4]), x, y, depth, i % 2), tally);
  }
  MESSAGE("faces ", tally.compared[of_face], ", edges ", tally.compared[of_edge], ", vertices ",
          tally.compared[of_vertex], ", nearest ", tally.compared[nearest_own], " and ",
          tally.compared[nearest_of_neighbor], " of neighbors; ", tally.one_sided, " one-sided, ",
          tally.jumped, " jumped");
  for (const int n : tally.compared) CHECK(n >= repeats(2, 5));
  CHECK(tally.at_outline >= repeats(3, 6));
}

TEST_CASE("manifolds on height fields: poses") {
  RandomBodies random;
  Tally tally;
  for (int i = 0; i < repeats(48, 240); ++i) {
    CAPTURE(i);
    const std::shared_ptr<const TriangleSurface> surface = random.terrain(8, 8, 0.06);
    const Shape shape = touching(random, i);
    const double x = random.uniform(0.3, 0.6), y = random.uniform(0.3, 0.6),
                 depth = random.uniform(0.002, 0.03);
    compare(let_down(random, shape, surface, x, y, depth, i % 2), tally);
  }
  MESSAGE("faces ", tally.compared[of_face], ", edges ", tally.compared[of_edge], ", vertices ",
          tally.compared[of_vertex], ", nearest ", tally.compared[nearest_own], " and ",
          tally.compared[nearest_of_neighbor], " of neighbors; ", tally.one_sided, " one-sided, ",
          tally.jumped, " jumped");
  for (const Normal kind : {of_face, of_edge, of_vertex, nearest_of_neighbor})
    CHECK(tally.compared[kind] >= repeats(1, 5));
}

namespace {

bool any_one_sided(const Placed& x) {
  static ManifoldDerivatives d;
  const Compound compound(Compound::Geometry{x.surface});
  bool any = false;
  const std::vector<Found> all = contacts_of(x);
  CHECK(!all.empty());
  for (const Found& f : all) {
    manifold_derivatives(f.pair.manifold, x.shape, x.X_WS, f.pair.piece_A, compound, x.X_WT,
                         f.pair.piece_B, d);
    for (int i = 0; i < d.n_points; ++i) any |= d.points[i].one_sided;
  }
  return any;
}

}  // namespace

TEST_CASE(
    "one-sided where the shortest way out is the last normal of an edge, on either side of it "
    "smooth") {
  // A ridge along y whose faces have a slope of 45 degrees.
  const auto ridge = std::make_shared<TriangleMesh>(
      std::vector<Vec3d>{{0, -1, 0}, {0, 1, 0}, {-1, 0, -1}, {1, 0, -1}},
      std::vector<std::array<int, 3>>{{0, 1, 2}, {1, 0, 3}});
  const Shape ball = Shape::sphere(0.3);
  for (const double turn : {0.0, -0.1, 0.1}) {
    CAPTURE(turn);
    const double angle = 0.78539816339744830962 + turn;  // from the vertical
    const Placed x{ball,
                   SE3d(Mat3d::identity(), {0.28 * std::sin(angle), 0.1, 0.28 * std::cos(angle)}),
                   ridge, SE3d()};
    CHECK(any_one_sided(x) == (turn == 0));
    Tally tally;
    if (turn != 0) compare(x, tally);
  }
}

TEST_CASE(
    "a box flat on one triangle turns the normal; on a square of two only towards some sides") {
  Placed x{Shape::box({2, 2, 1}), SE3d(Mat3d::identity(), {0, 0, 0.99}),
           mesh_of({{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}}, {{0, 1, 2}}}), SE3d()};
  CHECK_FALSE(any_one_sided(x));
  Tally tally;
  compare(x, tally);
  CHECK(tally.jumped == 0);
  x.surface = mesh_of({{{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}}, {{0, 1, 2}, {0, 2, 3}}});
  CHECK(any_one_sided(x));
}
