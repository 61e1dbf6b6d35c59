// Derivatives of the closest pieces of compound bodies against Ridders differences of the query
// itself.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "geometry/bodies/compound_derivatives.h"
#include "random_bodies.h"
#include "ridders.h"
#include "spatial/lie.h"

using namespace robosim;
using namespace robosim::testing;

namespace {

SE3d moved(const SE3d& X, int k, double t) {
  Motion<double> V;
  (k < 3 ? V.linear[k] : V.angular[k - 3]) = t;
  return X * exp_motion(V);
}

// Flatten a witness: distance, normal, p_WA, p_WB.
Numbers flat(const Witness& w) {
  Numbers x{w.distance};
  for (const Vec3d& v : {w.normal, w.p_WA, w.p_WB})
    for (int i = 0; i < 3; ++i) x.push_back(v[i]);
  return x;
}

struct Comparison {
  int compared = 0, jumped = 0;
  bool jumps = false;

  // 1e-7 of the largest entry: accuracy of Ridders differences of queries polished to 1e-12, with
  // steps of 1e-4 and more.
  template <class Query>
  void check(const WitnessRate& rate, const PieceWitness& at, double step, Query&& query) {
    const Numbers got = flat(Witness{rate.distance, rate.p_WA, rate.p_WB, rate.normal}),
                  expected = ridders(
                      [&](double t) {
                        const PieceWitness x = query(t);
                        // The pair may change between pieces that share the touching feature.
                        jumps |= norm(x.witness.normal - at.witness.normal) +
                                     norm(x.witness.p_WA - at.witness.p_WA) >
                                 0.1;
                        return flat(x.witness);
                      },
                      step);
    double largest = 1;
    for (const double x : expected) largest = std::max(largest, std::fabs(x));
    for (std::size_t k = 0; k < got.size(); ++k)
      if (!jumps) CHECK(std::fabs(got[k] - expected[k]) < 1e-7 * largest);
  }
  void end() {
    jumps ? ++jumped : ++compared;
    jumps = false;
  }
};

double room_of(const WitnessDerivatives& d) {
  return std::min({d.A.slide, d.A.tilt(), d.B.slide, d.B.tilt()});
}

// Copy a surface with vertex v displaced along axis k.
std::shared_ptr<const TriangleMesh> with_moved_vertex(const TriangleMesh& mesh, int v, int k,
                                                      double t) {
  std::vector<Vec3d> vertices = mesh.vertices();
  vertices[v][k] += t;
  return std::make_shared<TriangleMesh>(vertices, mesh.faces());
}

}  // namespace

TEST_CASE("twists of compound bodies of every kind, apart and overlapping") {
  RandomBodies random;
  Comparison all;
  int overlapping = 0;
  for (int kind_A = 0; kind_A < RandomBodies::n_kinds; ++kind_A)
    for (int i = 0; i < 8; ++i) {
      const int kind_B = i % (RandomBodies::n_kinds + 1) - 1;
      CAPTURE(kind_A);
      CAPTURE(kind_B);
      CAPTURE(i);
      const Compound A = random.compound(kind_A), compound = random.compound(std::max(0, kind_B));
      const Shape shape = random.small_shape();
      const Body B = kind_B < 0 ? Body(shape) : Body(compound);
      const SE3d X_WA = random.pose(0.5), X_WB = random.pose(i % 3 ? 0.8 : 1.5);
      const PieceWitness w = closest_pieces(A, X_WA, B, X_WB);
      const WitnessDerivatives d = piece_derivatives(w, A, X_WA, B, X_WB);
      if (d.one_sided || room_of(d) < 0.01) continue;
      const double step = std::min(1e-3, 0.02 * room_of(d));
      for (int c = 0; c < 12; ++c)
        all.check(d.twist[c], w, step, [&](double t) {
          return closest_pieces(A, c < 6 ? moved(X_WA, c, t) : X_WA, B,
                                c < 6 ? X_WB : moved(X_WB, c - 6, t));
        });
      all.end();
      overlapping += w.witness.distance < 0;
    }
  CHECK(all.compared > 12);
  CHECK(overlapping > 3);
  CHECK(all.jumped < all.compared / 2);
}

// Includes separating translations along a face's normal that end at an edge: the normal of the
// touching surfaces is then different from the direction.
TEST_CASE("ways out of a surface: twists, vertices, scale and sizes") {
  RandomBodies random;
  Comparison all;
  int oblique = 0;
  for (int i = 0; i < 300 && (all.compared < 12 || oblique < 6); ++i) {
    const auto mesh = random.bumpy_ball(2);
    Shape shape = random.small_shape();
    const SE3d X_PB = random.pose(0.3);  // the mesh is a part of its body
    const auto body = [&](std::shared_ptr<const TriangleMesh> m) {
      return Compound(std::vector<Compound::Part>{{m, X_PB, 0}});
    };
    const Compound B = body(mesh);
    const SE3d X_WB = random.pose(0.5),
               X_WA = X_WB * (X_PB * SE3d(random.pose(1).R, 0.35 * random.pose(1).R.col(0)));
    const PieceWitness w = closest_pieces(shape, X_WA, B, X_WB);
    if (w.witness.distance > -1e-3) continue;
    const WitnessDerivatives d = piece_derivatives(w, shape, X_WA, B, X_WB);
    if (d.one_sided || room_of(d) < 0.01) continue;
    const bool is_oblique = d.B.kind != FeatureKind::face;
    if (!is_oblique && i % 4) continue;
    CAPTURE(i);
    CAPTURE(std::string(name_of(shape.type)));
    const double step = std::min(3e-4, 0.01 * room_of(d));
    for (int c = 0; c < 12; ++c)
      all.check(d.twist[c], w, step, [&](double t) {
        return closest_pieces(shape, c < 6 ? moved(X_WA, c, t) : X_WA, B,
                              c < 6 ? X_WB : moved(X_WB, c - 6, t));
      });
    for (int j = 0; j < d.B.n_corners; ++j)
      for (int k = 0; k < 3; ++k)
        all.check(d.corner[1][j][k], w, step, [&](double t) {
          return closest_pieces(
              shape, X_WA,
              body(with_moved_vertex(*mesh, mesh->vertex(w.piece_B, d.B.corner[j].vertex), k, t)),
              X_WB);
        });
    all.check(d.scale[1], w, step, [&](double t) {
      // Scale about the body's origin, in the part's frame.
      std::vector<Vec3d> vertices = mesh->vertices();
      for (Vec3d& v : vertices) v = X_PB.inverse() * ((1 + t) * (X_PB * v));
      return closest_pieces(shape, X_WA,
                            body(std::make_shared<TriangleMesh>(vertices, mesh->faces())), X_WB);
    });
    if (shape.type == ShapeType::sphere || shape.type == ShapeType::cylinder)
      all.check(d.size[0][0], w, step, [&](double t) {
        Shape s = shape;
        s.radius += t;
        return closest_pieces(s, X_WA, B, X_WB);
      });
    oblique += !all.jumps && is_oblique;
    all.end();
  }
  CHECK(all.compared >= 12);
  CHECK(oblique >= 6);
  CHECK(all.jumped < all.compared / 2);
}

TEST_CASE("where two pieces are as close, derivatives are one-sided") {
  const Shape ball = Shape::sphere(0.1);
  const auto at = [](double x) { return SE3d{Mat3d::identity(), {x, 0, 0}}; };
  const Compound two(std::vector<Compound::Part>{{ball, at(-0.5), 0}, {ball, at(0.5), 0}});
  for (const double x : {0.0, 0.1}) {
    const PieceWitness w = closest_pieces(two, SE3d(), ball, {Mat3d::identity(), {x, 0.3, 0.1}});
    CHECK(piece_derivatives(w, two, SE3d(), ball, {Mat3d::identity(), {x, 0.3, 0.1}}).one_sided ==
          (x == 0));
    CHECK(w.piece_A == (x == 0 ? 0 : 1));
  }
  // The same piece twice is not degenerate.
  const Compound twice(std::vector<Compound::Part>{{ball, at(0.5), 0}, {ball, at(0.5), 0}});
  const PieceWitness w = closest_pieces(twice, SE3d(), ball, SE3d());
  CHECK_FALSE(piece_derivatives(w, twice, SE3d(), ball, SE3d()).one_sided);
}
