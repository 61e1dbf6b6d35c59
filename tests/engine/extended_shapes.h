// Second implementation of the shapes, from their definitions (geometry/shape.h) and in extended
// precision: the reference of the tests.
//
// A shape is all points within `rounding` of a core. Functions of the core are:
// - support: the farthest point in a direction;
// - outside: the distance of a point from the surface;
// - patch: the smooth piece of surface around a point, p(u) with its first and second derivatives.
//
// Everything is in the shape's own frame. `long double` has 64 bits on x86: rounding of 1e-19. The
// engine's cores are not used here. An additional ShapeType does not compile until it has a case in
// each function.
#pragma once

#include <Eigen/Dense>
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <span>
#include <stdexcept>
#include <utility>

#include "geometry/query.h"

namespace robosim::testing::extended {

using Real = long double;
using Vec = Eigen::Matrix<Real, 3, 1>;
using Mat = Eigen::Matrix<Real, 3, 3>;

inline Vec vec(const Vec3d& a) { return {a.x, a.y, a.z}; }

inline Real rounding(const Shape& s) {
  return s.type == ShapeType::sphere || s.type == ShapeType::capsule
             ? static_cast<Real>(s.radius)
             : static_cast<Real>(s.rounding);
}

// Vertices and triangular faces of a shape with vertices. A triangle has two faces, back to back.
struct Facets {
  std::span<const Vec3d> vertices;
  std::span<const std::array<int, 3>> faces;

  explicit Facets(const Shape& s) : vertices(s.vertex), faces(both_sides) {
    if (s.mesh) {
      vertices = s.mesh->vertices;
      faces = s.mesh->faces;
    }
  }
  Vec at(int v) const { return vec(vertices[v]); }

 private:
  static constexpr std::array<int, 3> both_sides[2] = {{0, 1, 2}, {0, 2, 1}};
};

// Point of the core farthest in direction d.
inline Vec core_support(const Shape& s, const Vec& d) {
  const Real r = s.radius, h = s.half_length, across = std::hypot(d.x(), d.y());
  const auto rim = [&](Real z) {
    return across > 0 ? Vec(r * d.x() / across, r * d.y() / across, z) : Vec(r, 0, z);
  };
  switch (s.type) {
    case ShapeType::sphere:
      return Vec::Zero();
    case ShapeType::box: {
      Vec x = vec(s.half_extents);
      for (int i = 0; i < 3; ++i) x[i] = std::copysign(x[i], d[i]);
      return x;
    }
    case ShapeType::capsule:
      return {0, 0, std::copysign(h, d.z())};
    case ShapeType::cylinder:
      return rim(std::copysign(h, d.z()));
    case ShapeType::cone: {
      const Vec apex(0, 0, h), low = rim(-h);
      return d.dot(apex) > d.dot(low) ? apex : low;
    }
    case ShapeType::ellipsoid: {
      const Vec a = vec(s.half_extents), q = a.cwiseProduct(d);
      return q.isZero(0) ? Vec(a.x(), 0, 0) : Vec(a.cwiseProduct(q) / q.norm());
    }
    case ShapeType::triangle:
    case ShapeType::convex: {
      const Facets facets(s);
      Vec best = facets.at(0);
      for (const Vec3d& v : facets.vertices)
        if (const Vec x = vec(v); d.dot(x) > d.dot(best)) best = x;
      return best;
    }
    case ShapeType::half_space:
    case ShapeType::count:
      break;
  }
  throw std::logic_error("unbounded: no support point");
}

// Outward normal of a face and the distance of its plane from the origin.
inline std::pair<Vec, Real> plane(const Facets& facets, const std::array<int, 3>& face) {
  const Vec a = facets.at(face[0]),
            n = (facets.at(face[1]) - a).cross(facets.at(face[2]) - a).normalized();
  return {n, n.dot(a)};
}

inline Vec nearest_on_segment(const Vec& x, const Vec& a, const Vec& b) {
  const Vec e = b - a;
  const Real ee = e.squaredNorm();
  return ee > 0 ? Vec(a + std::clamp<Real>((x - a).dot(e) / ee, 0, 1) * e) : a;
}

// Distance of x from the faces.
inline Real distance(const Facets& facets, const Vec& x) {
  Real least = std::numeric_limits<Real>::infinity();
  for (const auto& face : facets.faces) {
    const auto [n, d] = plane(facets, face);
    const Vec u = facets.at(face[1]) - facets.at(face[0]),
              v = facets.at(face[2]) - facets.at(face[0]);
    // A degenerate face counts only through its edges.
    bool over = u.cross(v).norm() > 1e-12L * std::max(u.squaredNorm(), v.squaredNorm());
    for (std::size_t i = 0; i < 3; ++i) {
      const Vec a = facets.at(face[i]), b = facets.at(face[(i + 1) % 3]);
      over = over && n.cross(b - a).dot(x - a) >= 0;
      least = std::min(least, (x - nearest_on_segment(x, a, b)).norm());
    }
    if (over) least = std::min(least, std::fabs(n.dot(x) - d));
  }
  return least;
}

// Signed distance of x from the shape's surface, negative inside. It is exact near the surface,
// except for ellipsoids, where it may be larger by up to their ratio of radii. Outside a convex
// mesh without rounding it is the distance from the planes of the faces. For a triangle without
// rounding it is zero or positive.
inline Real outside(const Shape& s, const Vec& x) {
  const Real r = s.radius, h = s.half_length, rho = std::hypot(x.x(), x.y());
  const auto of_product = [](Real a, Real b) {  // of a product set a x b
    return a > 0 && b > 0 ? std::hypot(a, b) : std::max(a, b);
  };
  switch (s.type) {
    case ShapeType::sphere:
      return x.norm() - r;
    case ShapeType::box: {
      const Vec d = x.cwiseAbs() - vec(s.half_extents);
      return of_product(of_product(d.x(), d.y()), d.z()) - rounding(s);
    }
    case ShapeType::capsule:
      return std::hypot(rho, std::max<Real>(0, std::fabs(x.z()) - h)) - r;
    case ShapeType::cylinder:
      return of_product(rho - r, std::fabs(x.z()) - h);
    case ShapeType::cone: {
      if (x.z() > h) return std::hypot(rho, x.z() - h);
      const Real below = -h - x.z(),
                 mantle = (2 * h * rho - (h - x.z()) * r) / std::hypot(r, 2 * h);
      return below > 0 && rho > r ? std::hypot(below, rho - r) : std::max(below, mantle);
    }
    case ShapeType::ellipsoid: {
      const Real q = x.cwiseQuotient(vec(s.half_extents)).norm();
      return q > 0 ? x.norm() * (1 - 1 / q) : -x.norm();
    }
    case ShapeType::triangle:
      return distance(Facets(s), x) - rounding(s);
    case ShapeType::convex: {
      const Facets facets(s);
      Real most = -std::numeric_limits<Real>::infinity();
      for (const auto& face : facets.faces) {
        const auto [n, d] = plane(facets, face);
        most = std::max(most, n.dot(x) - d);
      }
      return (most > 0 && s.rounding > 0 ? distance(facets, x) : most) - rounding(s);
    }
    case ShapeType::half_space:
      return x.z();
    case ShapeType::count:
      break;
  }
  throw std::logic_error("no such shape");
}

// A smooth piece of a surface, with k coordinates u that are zero or angles at the given point.
struct Patch {
  enum class Kind { flat, revolution, ellipsoid };
  Kind kind = Kind::flat;
  int k = 0;
  // Flat: origin + u0 along[0] + u1 along[1].
  Vec origin = Vec::Zero(), along[2] = {Vec::Zero(), Vec::Zero()};
  // Revolution: (rho cos u0, rho sin u0, origin.z + u1), rho = radius + slope u1; circle if k = 1.
  Real radius = 0, slope = 0;
  // Ellipsoid: radii times (cos u1 cos u0, cos u1 sin u0, sin u1), with the last component along
  // `pole`.
  Vec radii = Vec::Zero();
  int pole = 2;
  Real u[2] = {0, 0};

  struct Jet {
    Vec p, d[2], dd[2][2];
  };
  Jet at(Real u0, Real u1) const {
    const Vec zero = Vec::Zero();
    const Real c = std::cos(u0), s = std::sin(u0);
    if (kind == Kind::flat)
      return {origin + u0 * along[0] + u1 * along[1],
              {along[0], along[1]},
              {{zero, zero}, {zero, zero}}};
    if (kind == Kind::revolution) {
      const Real rho = radius + slope * u1;
      const Vec mixed(-slope * s, slope * c, 0);
      return {{rho * c, rho * s, origin.z() + u1},
              {{-rho * s, rho * c, 0}, {slope * c, slope * s, 1}},
              {{{-rho * c, -rho * s, 0}, mixed}, {mixed, zero}}};
    }
    const Real C = std::cos(u1), S = std::sin(u1);
    const auto of = [&](Real x, Real y, Real z) {
      Vec q;
      q[(pole + 1) % 3] = x;
      q[(pole + 2) % 3] = y;
      q[pole] = z;
      return Vec(radii.cwiseProduct(q));
    };
    const Vec mixed = of(S * s, -S * c, 0);
    return {of(C * c, C * s, S),
            {of(-C * s, C * c, 0), of(-S * c, -S * s, C)},
            {{of(-C * c, -C * s, 0), mixed}, {mixed, of(-C * c, -C * s, -S)}}};
  }

  static Patch point(const Vec& x) {
    Patch p;
    p.origin = x;
    return p;
  }
  static Patch line(const Vec& x, const Vec& d) {
    Patch p = point(x);
    p.k = 1;
    p.along[0] = d.normalized();
    return p;
  }
  static Patch flat(const Vec& x, const Vec& n) {
    Patch p = point(x);
    p.k = 2;
    p.along[0] = n.unitOrthogonal();
    p.along[1] = n.cross(p.along[0]);
    return p;
  }
  static Patch round(const Vec& x, Real z, Real radius, int k, Real slope = 0) {
    Patch p = point({0, 0, z});
    p.kind = Kind::revolution;
    p.k = k;
    p.radius = radius;
    p.slope = slope;
    p.u[0] = std::atan2(x.y(), x.x());
    return p;
  }
};

inline Patch facet_patch(const Facets& facets, const Vec& x, const Vec& n, Real tolerance) {
  for (const Vec3d& v : facets.vertices)
    if ((x - vec(v)).norm() <= tolerance) return Patch::point(vec(v));
  Real nearest = tolerance;
  Patch best;
  for (const auto& face : facets.faces)
    for (std::size_t i = 0; i < 3; ++i) {
      const Vec a = facets.at(face[i]), b = facets.at(face[(i + 1) % 3]),
                y = nearest_on_segment(x, a, b);
      if (const Real d = (x - y).norm(); d <= nearest) {
        nearest = d;
        best = Patch::line(y, b - a);
      }
    }
  if (best.k == 1) return best;
  Real alike = -2;
  for (const auto& face : facets.faces) {
    const auto [m, d] = plane(facets, face);
    if (std::fabs(m.dot(x) - d) <= tolerance && m.dot(n) > alike) {
      alike = m.dot(n);
      best = Patch::flat(x - (m.dot(x) - d) * m, m);
    }
  }
  return best;  // a point if nothing is that near: no verified result will follow
}

// Piece of the core that contains x with outward normal n: the one of least dimension within the
// tolerance.
inline Patch patch(const Shape& s, const Vec& x, const Vec& n, Real tolerance) {
  const Real r = s.radius, h = s.half_length, rho = std::hypot(x.x(), x.y());
  const bool at_end = std::fabs(x.z()) >= h - tolerance;
  const Real end = std::copysign(h, x.z());
  switch (s.type) {
    case ShapeType::sphere:
      return Patch::point(Vec::Zero());
    case ShapeType::box: {
      Patch p = Patch::point(x);
      for (int i = 0; i < 3; ++i) {
        const Real half = s.half_extents[i];
        if (std::fabs(x[i]) >= half - tolerance)
          p.origin[i] = std::copysign(half, x[i]);
        else if (p.k < 2)
          p.along[p.k++] = Vec::Unit(i);
      }
      return p;
    }
    case ShapeType::capsule:
      return at_end ? Patch::point({0, 0, end}) : Patch::line({0, 0, x.z()}, Vec::UnitZ());
    case ShapeType::cylinder:
      if (!at_end) return Patch::round(x, x.z(), r, 2);
      return rho >= r - tolerance ? Patch::round(x, end, r, 1)
                                  : Patch::flat({x.x(), x.y(), end}, Vec::UnitZ());
    case ShapeType::cone: {
      if ((x - Vec(0, 0, h)).norm() <= tolerance) return Patch::point({0, 0, h});
      const bool low = x.z() <= -h + tolerance;
      if (low)
        return rho >= r - tolerance ? Patch::round(x, -h, r, 1)
                                    : Patch::flat({x.x(), x.y(), -h}, Vec::UnitZ());
      return Patch::round(x, x.z(), (h - x.z()) * r / (2 * h), 2, -r / (2 * h));
    }
    case ShapeType::ellipsoid: {
      Patch p;
      p.kind = Patch::Kind::ellipsoid;
      p.k = 2;
      p.radii = vec(s.half_extents);
      const Vec q = x.cwiseQuotient(p.radii).normalized();
      q.cwiseAbs().minCoeff(&p.pole);
      p.u[0] = std::atan2(q[(p.pole + 2) % 3], q[(p.pole + 1) % 3]);
      p.u[1] = std::asin(q[p.pole]);
      return p;
    }
    case ShapeType::triangle:
    case ShapeType::convex:
      return facet_patch(Facets(s), x, n, tolerance);
    case ShapeType::half_space:
      return Patch::flat({x.x(), x.y(), 0}, Vec::UnitZ());
    case ShapeType::count:
      break;
  }
  throw std::logic_error("no such shape");
}

// A shape with its pose in W.
struct Posed {
  const Shape& shape;
  Mat R;
  Vec p;

  Posed(const Shape& s, const SE3d& X) : shape(s), p(vec(X.p)) {
    for (int i = 0; i < 3; ++i) R.row(i) = vec(X.R.row[i]).transpose();
  }
  bool bounded() const { return shape.type != ShapeType::half_space; }
  Vec in_shape(const Vec& x_W) const { return R.transpose() * (x_W - p); }
  Vec core_support(const Vec& d_W) const {
    return R * extended::core_support(shape, R.transpose() * d_W) + p;
  }
  // Maximum of n.x over the shape, for a unit n. For a half-space n is ignored; its own normal is
  // used.
  Real reach(const Vec& n_W) const {
    return bounded() ? n_W.dot(core_support(n_W)) + rounding(shape) : R.col(2).dot(p);
  }
  Real outside(const Vec& x_W) const { return extended::outside(shape, in_shape(x_W)); }
};

// Distance of the supporting planes with normal n (unit, from A to B): a lower bound of the signed
// distance for every n, whose maximum is the signed distance. With a half-space the half-space's
// normal is used, whatever n.
inline Real plane_gap(const Posed& A, const Posed& B, const Vec& n) {
  const Vec m = !A.bounded() ? Vec(A.R.col(2)) : !B.bounded() ? Vec(-B.R.col(2)) : n;
  return -A.reach(m) - B.reach(-m);
}

}  // namespace robosim::testing::extended
