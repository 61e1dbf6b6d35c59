// Proof that no direction separates two overlapping shapes by a shorter translation: branch and
// bound over all directions.
//
// For D = B - A, a translation by h(m) = max over D of m.x along -m makes the shapes just touch.
// The depth is the minimum of h. Directions are split into spherical triangles, initially 1280 of
// equal kind. With the corners m_i and points w_k of D, for all x of the flat triangle
//
//   h(x) >= max_k w_k.x >= max over mixtures mu of min_i sum_k mu_k w_k.m_i     (the value of a
//                                                                               matrix game),
//
// and h(x / |x|) = h(x) / |x|. The bound is below h by the square of the triangle's size, on smooth
// parts, ridges and tips of h alike. The triangle with the least bound is split in four until no
// bound is below the value to be proven.
//
// If the origin is near a curved edge of D, h is almost minimal along a whole arc of m. The w_k of
// a triangle on the arc are then as far from the nearest point of the edge as the triangle is
// large. Therefore that point is added to the w_k of a triangle whose own w_k do not suffice, with
// a tolerance for its distance from D.
#pragma once

#include <map>
#include <queue>
#include <utility>
#include <vector>

#include "extended_shapes.h"

namespace robosim::testing::extended {

struct Corner {
  Vec m, w;  // a direction, and the core difference's farthest point in it
};

struct Triangle {
  Corner corner[3];
  Real bound = 0;  // lower bound of the core difference's h
  bool operator<(const Triangle& other) const { return bound > other.bound; }
};

// Value of the best mixture of at most three rows of the game, among those that make two or three
// columns equal.
inline Real game_value(const Mat& M) {
  Real value = -std::numeric_limits<Real>::infinity();
  for (int k = 0; k < 3; ++k) value = std::max(value, M.row(k).minCoeff());
  for (int k = 0; k < 3; ++k) {
    const Eigen::Matrix<Real, 1, 3> a = M.row(k), b = M.row((k + 1) % 3);
    for (int i = 0; i < 3; ++i) {
      const int j = (i + 1) % 3;
      const Real slope = (a[i] - b[i]) - (a[j] - b[j]), t = (b[j] - b[i]) / slope;
      if (slope != 0 && t > 0 && t < 1) value = std::max(value, (t * a + (1 - t) * b).minCoeff());
    }
  }
  // mu with constant mu^T M: a cross product of two differences of columns.
  Vec mu = (M.col(1) - M.col(0)).cross(M.col(2) - M.col(0));
  if (mu.sum() < 0) mu = -mu;
  if (mu.minCoeff() > 0) value = std::max(value, (mu.transpose() * M).minCoeff() / mu.sum());
  return value;
}

// Set the bound of a triangle, with h(x) >= also.x - beyond |x| as an additional point. The search
// ends at a bound of `proven`.
inline void set_bound(Triangle& t, const Vec& also, Real beyond, Real proven) {
  Mat M;
  for (int k = 0; k < 3; ++k)
    for (int i = 0; i < 3; ++i) M(k, i) = t.corner[k].w.dot(t.corner[i].m);
  t.bound = game_value(M);
  for (int k = 0; k < 3 && t.bound < proven; ++k) {  // with the other two
    Mat with = M;
    for (int i = 0; i < 3; ++i) with(k, i) = also.dot(t.corner[i].m) - beyond;
    t.bound = std::max(t.bound, game_value(with));
  }
  // Division by |x| <= 1 only increases a positive bound. For a negative bound use
  // |x|^2 = 1 - sum over pairs of lambda_i lambda_j |m_i - m_j|^2.
  if (t.bound >= 0) return;
  const Vec &a = t.corner[0].m, &b = t.corner[1].m, &c = t.corner[2].m;
  t.bound /= std::sqrt(
      1 - std::max({(b - a).squaredNorm(), (c - b).squaredNorm(), (a - c).squaredNorm()}) / 3);
}

// The sphere as 20 * 4^levels triangles, from an icosahedron.
struct Sphere {
  std::vector<Vec> corners;
  std::vector<std::array<std::size_t, 3>> triangles;

  explicit Sphere(int levels) {
    const Real g = (1 + std::sqrt(Real(5))) / 2;
    for (const Real s : {-1, 1})
      for (const Real t : {-g, g})
        corners.insert(corners.end(), {Vec(0, s, t), Vec(s, t, 0), Vec(t, 0, s)});
    // Edges have length 2.
    const auto edge = [&](std::size_t i, std::size_t j) {
      return (corners[i] - corners[j]).norm() < 2.1L;
    };
    for (std::size_t i = 0; i < 12; ++i)
      for (std::size_t j = i + 1; j < 12; ++j)
        for (std::size_t k = j + 1; k < 12; ++k)
          if (edge(i, j) && edge(j, k) && edge(k, i)) triangles.push_back({i, j, k});
    for (Vec& v : corners) v.normalize();
    for (; levels > 0; --levels) split();
  }

 private:
  void split() {
    std::map<std::pair<std::size_t, std::size_t>, std::size_t> known;
    const auto middle = [&](std::size_t i, std::size_t j) {
      const auto [at, is_new] = known.insert({std::minmax(i, j), corners.size()});
      if (is_new) corners.push_back((corners[i] + corners[j]).normalized());
      return at->second;
    };
    std::vector<std::array<std::size_t, 3>> finer;
    for (const auto& [a, b, c] : triangles) {
      const std::size_t d = middle(a, b), e = middle(b, c), f = middle(c, a);
      finer.insert(finer.end(), {{a, d, f}, {d, b, e}, {f, e, c}, {d, e, f}});
    }
    triangles = finer;
  }
};

struct DepthBounds {
  Real lower, upper;  // no direction has a depth below `lower`, and one has `upper`
};

// Bound the depth of two bounded shapes, which may also be separated: then of minus the distance.
// Splits until lower >= target - tolerance, at most `budget` times. p_A, p_B: points near the
// closest points of the surfaces, as far as known.
inline DepthBounds least_depth(const Posed& A, const Posed& B, Real target, Real tolerance,
                               const Vec& p_A, const Vec& p_B, int budget = 20000) {
  static const Sphere sphere(3);
  const Real round = rounding(A.shape) + rounding(B.shape);
  DepthBounds found{0, std::numeric_limits<Real>::infinity()};
  const auto corner = [&](const Vec& m) {
    const Corner c{m, B.core_support(m) - A.core_support(-m)};
    found.upper = std::min(found.upper, m.dot(c.w) + round);
    return c;
  };
  const Real proven = target - tolerance - round;
  const Vec also = p_B - p_A;
  const Real beyond = std::max<Real>(0, A.outside(p_A)) + std::max<Real>(0, B.outside(p_B)) + round;
  std::priority_queue<Triangle> open;
  const auto add = [&](const Corner& a, const Corner& b, const Corner& c) {
    Triangle t{{a, b, c}};
    set_bound(t, also, beyond, proven);
    if (t.bound < proven) open.push(t);
  };
  // Initial triangles.
  std::vector<Corner> corners;
  for (const Vec& m : sphere.corners) corners.push_back(corner(m));
  for (const auto& [a, b, c] : sphere.triangles) add(corners[a], corners[b], corners[c]);
  // Split the triangle with the least bound until all bounds are proven.
  for (; !open.empty() && budget > 0; --budget) {
    const Triangle t = open.top();
    open.pop();
    const auto& [a, b, c] = t.corner;
    const Corner d = corner((a.m + b.m).normalized()), e = corner((b.m + c.m).normalized()),
                 f = corner((c.m + a.m).normalized());
    add(a, d, f);
    add(d, b, e);
    add(f, e, c);
    add(d, e, f);
  }
  found.lower = (open.empty() ? proven : open.top().bound) + round;
  return found;
}

}  // namespace robosim::testing::extended
