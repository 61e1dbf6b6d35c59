// Derivatives of contact manifolds against Ridders differences of contact_manifold itself, point by
// point.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <tuple>

#include "geometry/manifolds/manifold_derivatives.h"
#include "random_contacts.h"
#include "ridders.h"
#include "scale.h"
#include "varied_shapes.h"

using namespace robosim;
using namespace robosim::testing;

namespace {

constexpr double margin = 0.02;

SE3d moved(const SE3d& X, int k, double t) {
  ::robosim::Motion<double> V;
  (k < 3 ? V.linear[k] : V.angular[k - 3]) = t;
  return X * exp_motion(V);
}

void append(Numbers& x, double gap, const Vec3d& n, const Vec3d& a, const Vec3d& b,
            const Vec3d& p) {
  x.push_back(gap);
  for (const Vec3d& v : {n, a, b, p})
    for (int i = 0; i < 3; ++i) x.push_back(v[i]);
}

bool same_id(const ManifoldPoint& a, const ManifoldPoint& b) {
  return a.anchor == b.anchor && a.feature[0] == b.feature[0] && a.feature[1] == b.feature[1];
}

// Comparison of all derivatives of one contact.
struct Comparison {
  const RandomContact& c;
  const Manifold m;
  double step;
  int jumps = 0, compared = 0;  // numbers of parameters

  // longest: longest step. Second derivatives jump between the cap and the side of a capsule.
  Comparison(const RandomContact& contact, double within, double longest)
      : c(contact), m(contact_manifold(c.A, c.X_WA, c.B, c.X_WB, within)), step(longest) {
    double room = 1;
    for (int i = 0; i < m.n_points; ++i)
      room = std::min({room, m.points[i].slide, within - m.points[i].gap});
    bool has_witness = m.reference < 0;
    for (int i = 0; i < m.n_points; ++i)
      has_witness |= m.points[i].anchor == ManifoldPoint::Anchor::witness;
    if (has_witness) {  // features of the witness
      const WitnessDerivatives d = witness_derivatives(m.witness, c.A, c.X_WA, c.B, c.X_WB);
      if (m.reference < 0) room = std::min({room, d.A.slide, d.A.tilt(), d.B.slide, d.B.tilt()});
      // The lowest point of a rim with a tilt of about 1e-2, and the normal at an edge, have errors
      // of about 1e-9. Differences of the query are then inconclusive.
      for (const LocalSurface* s : {&d.A, &d.B})
        for (const double r : s->radius)
          if (r > 20 && r < LocalSurface::straight) room = 0;
    }
    step = std::min(step, 0.05 * room);
  }

  // query(t) returns the manifold at t, rate(d) the derivative of a point. is_one_sided: there are
  // no manifolds for t < 0.
  template <class Query, class Rate>
  void check(const ManifoldDerivatives& d, Query&& query, Rate&& rate, double part = 1,
             bool is_one_sided = false) {
    Numbers got;
    for (int i = 0; i < m.n_points; ++i) {
      if (d.points[i].one_sided) continue;
      const ManifoldRate& r = rate(d.points[i]);
      append(got, r.distance, r.normal, r.p_WA, r.p_WB, r.p_W);
    }
    bool jumped = false;
    const auto numbers_at = [&](double t) {
      const Manifold x = query(t);
      jumped |= x.reference != m.reference || norm(x.normal() - m.normal()) > 0.1;
      Numbers all;
      for (int i = 0; i < m.n_points; ++i) {
        if (d.points[i].one_sided) continue;
        int k = 0;
        while (k < x.n_points && !same_id(x.points[k], m.points[i])) ++k;
        jumped |= k == x.n_points;
        const ManifoldPoint& p = k < x.n_points ? x.points[k] : m.points[i];
        append(all, p.gap, x.normal(), p.p_WA, p.p_WB, p.p_W);
      }
      return all;
    };
    const Numbers expected = ridders(numbers_at, part * step, is_one_sided);
    // Rounding of the manifold's coordinates, over steps as short as 3e-8.
    constexpr double rounding = 3e-14;
    if (jumped) {
      ++jumps;
      return;
    }
    ++compared;
    double largest = 1;  // over all poses: the lowest point of a rim may move quickly
    for (int i = 0; i < m.n_points; ++i)
      for (const ManifoldRate& r : d.points[i].twist)
        largest = std::max({largest, norm(r.p_WA), norm(r.p_WB)});
    for (const double x : expected) largest = std::max(largest, std::fabs(x));
    for (std::size_t k = 0; k < got.size(); ++k) {
      CAPTURE(k);
      // One-sided differences have errors of every order, and three digits more of rounding.
      CHECK(std::fabs(got[k] - expected[k]) <
            (is_one_sided ? 1e-4 : 1e-7) * largest + rounding / (part * step));
    }
  }
};

void check_all(Comparison& x, double within) {
  static ManifoldDerivatives d;
  const RandomContact& c = x.c;
  manifold_derivatives(x.m, c.A, c.X_WA, c.B, c.X_WB, d);
  REQUIRE(d.n_points == x.m.n_points);
  for (int k = 0; k < 6; ++k) {
    CAPTURE(k);
    x.check(
        d,
        [&](double t) { return contact_manifold(c.A, moved(c.X_WA, k, t), c.B, c.X_WB, within); },
        [&](const auto& p) -> auto& { return p.twist[k]; });
    x.check(
        d,
        [&](double t) { return contact_manifold(c.A, c.X_WA, c.B, moved(c.X_WB, k, t), within); },
        [&](const auto& p) -> auto& { return p.twist[6 + k]; });
  }
  for (int side = 0; side < 2; ++side) {
    CAPTURE(side);
    const auto with = [&](auto&& change) {
      return [&, side, change](double t) {
        const Shape changed = change(side ? c.B : c.A, t);
        return side ? contact_manifold(c.A, c.X_WA, changed, c.X_WB, within)
                    : contact_manifold(changed, c.X_WA, c.B, c.X_WB, within);
      };
    };
    for (int k = 0; k < d.n_sizes[side]; ++k) {
      CAPTURE(k);
      // A rounding of zero cannot decrease.
      const bool is_least = with_size(side ? c.B : c.A, k, -1e-3).rounding < 0;
      x.check(
          d, with([k](const Shape& s, double t) { return with_size(s, k, t); }),
          [&](const auto& p) -> auto& { return p.size[side][k]; }, 1, is_least);
    }
    x.check(
        d, with([](const Shape& s, double t) { return with_scale(s, 1 + t); }),
        [&](const auto& p) -> auto& { return p.scale[side]; });
    const Shape& shape = side ? c.B : c.A;
    if (!shape.has_vertices()) continue;
    // All vertices that some point names; points that do not name a vertex do not move with it.
    std::vector<int> vertices;
    for (int i = 0; i < d.n_points; ++i)
      for (int j = 0; j < d.points[i].n_corners[side]; ++j)
        vertices.push_back(d.points[i].vertex[side][j]);
    std::sort(vertices.begin(), vertices.end());
    vertices.erase(std::unique(vertices.begin(), vertices.end()), vertices.end());
    CHECK(!vertices.empty());
    for (const int v : vertices)
      for (int k = 0; k < 3; ++k) {
        const ManifoldRate still{};
        x.check(
            d, with([v, k](const Shape& s, double t) { return with_vertex(s, v, k, t); }),
            [&](const auto& p) -> auto& {
              for (int j = 0; j < p.n_corners[side]; ++j)
                if (p.vertex[side][j] == v) return p.corner[side][j][k];
              return still;
            },
            // The edge between two nearly parallel faces soon flips to the other diagonal.
            0.03);
      }
  }
}

}  // namespace

// 1e-7 of the largest entry; the steps keep the features that generate the points.
TEST_CASE("derivatives are those of the manifold: poses, sizes, scale, vertices") {
  constexpr double gaps[] = {0.01, 1e-3, -1e-3, -0.02}, tilts[] = {0, 1e-4, 1e-2, 0.1};
  RandomShapes random;
  int contacts = 0, several = 0, left_out = 0, parallel = 0;
  for_all_pairs([&](ShapeType a, ShapeType b) {
    if (a == ShapeType::half_space && b == a) return;
    int here = 0;
    for (int i = 0; i < repeats(16, 32); ++i) {  // all gaps and tilts
      CAPTURE(i);
      const RandomContact c(random, a, b, i % 4 > 0, tilts[i % 16 / 4], gaps[i % 4]);
      const double tilt = tilts[i % 16 / 4];
      Comparison x(c, margin, i % 4 == 0 ? 1e-3 : (tilt > 0 ? std::min(1e-3, 0.05 * tilt) : 1e-5));
      if (x.m.n_points == 0 || x.step < 1e-6) {
        ++left_out;
        continue;
      }
      CAPTURE(x.m.n_points);
      CAPTURE(x.m.witness.distance);
      CAPTURE(x.m.reference);
      check_all(x, margin);
      x.jumps > x.compared ? ++left_out : ++contacts, ++here;
      several += x.m.n_points > 1;
      parallel += x.m.n_points > 1 && i % 16 < 4 && i % 4 > 0;
    }
    CHECK(here >= repeats(2, 5));
  });
  MESSAGE(contacts, " contacts, ", several, " of several points, ", parallel,
          " of parallel faces or lines; ", left_out, " left out");
  CHECK(contacts > 3 * left_out);
}

TEST_CASE("derivatives of a triangle that stands upright on its edge") {
  RandomShapes random;
  for (const double rounding : {0.0, 0.05})
    for (const ShapeType other : {ShapeType::half_space, ShapeType::box}) {
      CAPTURE(rounding);
      CAPTURE(name_of(other));
      RandomContact c(random, other, ShapeType::triangle, false, 0, 0.001);
      if (other == ShapeType::box) c.A = Shape::box({1, 1, 0.5});
      c.B = Shape::triangle({-0.3, 0, 0}, {0.4, 0, 0}, {0.1, 0.5, 0}, rounding);
      const double height = (other == ShapeType::box ? 0.5 : 0) + rounding;
      c.X_WB = c.X_WA * SE3d(RandomContact::turn({1.57079632679489661923, 0, 0}) *
                                 RandomContact::turn({0, 0, 1e-3}),
                             {0.1, 0.2, height});
      Comparison x(c, margin, 1e-5);
      REQUIRE(x.m.n_points == 2);
      CHECK(x.m.reference == 0);
      check_all(x, margin);
      CHECK(x.jumps == 0);
    }
}
