#include "geometry/smoothed_distance.h"

#include <algorithm>
#include <cmath>

#include "geometry/directions.h"

namespace robosim {
namespace {

using namespace tangent_plane;

// A direction in the shape's frame, its tangents, and the smoothing length.
struct Frame {
  Vec3d n, t0, t1;
  double e;

  Vec2 over(const Vec3d& x) const { return {robosim::dot(x, t0), robosim::dot(x, t1)}; }
};

// Point of a body with normal n, and its radii of curvature.
struct SmoothPoint {
  Vec3d p;
  Mat2 S;

  SmoothPoint operator+(const SmoothPoint& o) const { return {p + o.p, S + o.S}; }
};

SmoothPoint ball(double radius, const Frame& f) { return {radius * f.n, diagonal(radius)}; }

SmoothPoint ellipsoid(const Vec3d& radii, const Frame& f) {
  const EllipsoidCore core{radii};
  const Vec3d p = core.support(f.n);
  const auto [tt, tu, uu] = core.bend(p, f.n, f.t0, f.t1);
  return {p, {{tt, tu}, {tu, uu}}};
}

// Softmax of the vertices -half and half: weights (1 +- tanh x) / 2, x = half . n / e.
SmoothPoint segment(const Vec3d& half, const Frame& f) {
  const double x = robosim::dot(half, f.n) / f.e, q = std::exp(-2 * std::fabs(x)),
               part = 1 / (1 + q);
  const double entropy = std::log1p(q) + 2 * q * part * std::fabs(x);
  const Vec2 a = f.over(half);
  return SmoothPoint{std::copysign((1 - q) * part, x) * half,
                     (4 * q * part * part / f.e) * outer(a, a)} +
         ball(f.e * entropy, f);
}

// Softmax of n pieces. Computed relative to the farthest piece, as the weights of the others may
// underflow.
template <class Piece>
SmoothPoint hull(int n, Piece&& piece, const Frame& f) {
  int farthest = 0;
  double reach = -INFINITY;
  for (int i = 0; i < n; ++i)
    if (const double h = robosim::dot(piece(i).p, f.n); h > reach) {
      reach = h;
      farthest = i;
    }
  const SmoothPoint first = piece(farthest);
  double weights = 0, exponents = 0;
  SmoothPoint mean{};
  Mat2 squares{};
  for (int i = 0; i < n; ++i) {
    const SmoothPoint x = piece(i);
    const Vec3d d = x.p - first.p;
    const double exponent = std::min(0.0, (robosim::dot(x.p, f.n) - reach) / f.e);
    if (exponent < -700) continue;
    const double w = std::exp(exponent);
    const Vec2 a = f.over(d);
    weights += w;
    exponents += w * exponent;
    mean = mean + SmoothPoint{w * d, w * x.S};
    squares = squares + w * outer(a, a);
  }
  const double part = 1 / weights, entropy = std::log(weights) - part * exponents;
  const Vec2 a = f.over(part * mean.p);
  const Mat2 covariance = part * squares - outer(a, a);
  return SmoothPoint{first.p + part * mean.p, part * mean.S + (1 / f.e) * covariance} +
         ball(f.e * entropy, f);
}
SmoothPoint hull(const Vec3d* vertices, std::size_t n, const Frame& f) {
  return hull(
      static_cast<int>(n),
      [&](int i) {
        return SmoothPoint{vertices[i], {}};
      },
      f);
}

SmoothPoint disc(double radius, const Frame& f) { return ellipsoid({radius, radius, f.e}, f); }

// Smoothed core of each type, without its rounding.
SmoothPoint smooth(const SphereCore&, const Frame&) { return {}; }
SmoothPoint smooth(const EllipsoidCore& core, const Frame& f) { return ellipsoid(core.radii, f); }
SmoothPoint smooth(const CapsuleCore& core, const Frame& f) {
  return segment({0, 0, core.half_length}, f);
}
SmoothPoint smooth(const BoxCore& core, const Frame& f) {
  const Vec3d& h = core.half_extents;
  return segment({h.x, 0, 0}, f) + segment({0, h.y, 0}, f) + segment({0, 0, h.z}, f);
}
SmoothPoint smooth(const CylinderCore& core, const Frame& f) {
  return disc(core.radius, f) + segment({0, 0, core.half_length}, f);
}
SmoothPoint smooth(const ConeCore& core, const Frame& f) {
  const Vec3d up(0, 0, core.half_length);
  SmoothPoint base = disc(core.radius, f);
  base.p -= up;
  return hull(
      2,
      [&](int i) {
        return i == 0 ? base : SmoothPoint{up, {}};
      },
      f);
}
SmoothPoint smooth(const ConvexCore& core, const Frame& f) {
  return hull(core.mesh->vertices.data(), core.mesh->vertices.size(), f);
}
SmoothPoint smooth(const TriangleCore& core, const Frame& f) { return hull(core.vertex, 3, f); }

// Point of a posed shape with outward normal n_W, relative to the frame's origin, axes in W. Zero
// for a half-space, which has no such point.
SmoothPoint smooth(const Shape& shape, const Mat3d& R_WS, const Vec3d& n_W, const Vec3d& t0,
                   const Vec3d& t1, double e) {
  const Frame f{transpose_times(R_WS, n_W), transpose_times(R_WS, t0), transpose_times(R_WS, t1),
                e};
  return visit(shape, [&](const auto& core) -> SmoothPoint {
    if constexpr (requires { smooth(core, f); }) {
      SmoothPoint x = smooth(core, f) + ball(core.rounding(), f);
      x.p = R_WS * x.p;
      return x;
    } else {
      return {};
    }
  });
}

// Points of both bodies with the normal n, relative to A's origin, axes in W.
struct State {
  Vec3d n, t0, t1;
  SmoothPoint a, b;
  double phi = 0;

  State(double e, const Shape& A, const SE3d& X_WA, const Shape& B, const SE3d& X_WB,
        const Vec3d& normal)
      : n(normal) {
    tangents(n, t0, t1);
    const Vec3d between = X_WB.p - X_WA.p;
    a = smooth(A, X_WA.R, n, t0, t1, e);
    b = smooth(B, X_WB.R, -n, t0, t1, e);
    b.p += between;
    // The point of a half-space is the projection of the other shape's point.
    if (A.type == ShapeType::half_space) a.p = b.p - robosim::dot(n, b.p) * n;
    if (B.type == ShapeType::half_space) b.p = a.p + robosim::dot(n, between - a.p) * n;
    phi = robosim::dot(n, b.p - a.p);
  }
  Vec2 offset() const { return {robosim::dot(b.p - a.p, t0), robosim::dot(b.p - a.p, t1)}; }

  // Newton's step, always an ascent direction: M is shifted to be positive definite if it is not,
  // or nearly not.
  Vec2 step() const {
    Mat2 M = a.S + b.S + diagonal(phi);
    const double mean = 0.5 * (M.row[0].x + M.row[1].y),
                 difference = 0.5 * (M.row[0].x - M.row[1].y);
    const double spread = std::hypot(difference, M.row[0].y),
                 least = 1e-6 * (std::fabs(mean) + spread);
    if (mean - spread < least) M = M + diagonal(2 * least + spread - mean);
    const double det = M.row[0].x * M.row[1].y - M.row[0].y * M.row[1].x;
    const Vec2 o = offset();
    if (!(det > 0)) return {};
    const Vec2 d =
        (1 / det) * Vec2{M.row[1].y * o.x - M.row[0].y * o.y, M.row[0].x * o.y - M.row[1].x * o.x};
    constexpr double longest = 0.5;  // [rad]
    const double length = std::hypot(d.x, d.y);
    return length > longest ? (longest / length) * d : d;
  }
  Vec3d normal_after(const Vec2& d) const {
    const Vec3d x = n + d.x * t0 + d.y * t1;
    return x * (1 / norm(x));
  }
};

}  // namespace

double checked_smoothing(double smoothing) {
  if (!(smoothing >= Shape::min_size && smoothing <= Shape::max_size))
    throw InputError(message("smoothing is ", smoothing, " m; it must be within [", Shape::min_size,
                             ", ", Shape::max_size, "]"));
  return smoothing;
}

double smoothing_reach(const Shape& shape) {
  const double two = std::log(2.0);
  switch (shape.type) {
    case ShapeType::box:
      return 3 * two;
    case ShapeType::capsule:
      return two;
    case ShapeType::cylinder:
    case ShapeType::cone:
      return 1 + two;
    case ShapeType::triangle:
      return std::log(3.0);
    case ShapeType::convex:
      return std::log(static_cast<double>(shape.mesh->vertices.size()));
    default:
      return 0;
  }
}

WitnessFactors smoothed_distance(double smoothing, const Shape& A, const SE3d& X_WA, const Shape& B,
                                 const SE3d& X_WB) {
  checked_smoothing(smoothing);
  // Start at the exact witness.
  const Witness exact = signed_distance(A, X_WA, B, X_WB);
  const bool flat_A = A.type == ShapeType::half_space, flat_B = B.type == ShapeType::half_space;
  if (flat_A && flat_B) return witness_factors(exact, A, X_WA, B, X_WB);
  const auto at = [&](const Vec3d& n) { return State(smoothing, A, X_WA, B, X_WB, n); };
  State now = at(exact.normal);
  // Newton's method: phi increases in each step. A step that does not increase it enough is halved.
  constexpr int max_steps = 100, max_halvings = 40;
  constexpr double enough = 1e-15, rounding = 1e-15;  // [rad], and relative to the lengths
  for (int k = 0; k < max_steps && !flat_A && !flat_B; ++k) {
    Vec2 d = now.step();
    const double slope = dot(d, now.offset()), noise = rounding * (norm(now.a.p) + norm(now.b.p));
    State next = at(now.normal_after(d));
    for (int i = 0;
         i < max_halvings && !(next.phi >= now.phi + 1e-4 * std::ldexp(slope, -i) - noise); ++i) {
      d = 0.5 * d;
      next = at(now.normal_after(d));
    }
    if (next.phi < now.phi - noise) break;
    now = next;
    if (std::hypot(d.x, d.y) < enough) break;
  }
  // Witness of the smoothed bodies, and its derivatives.
  const Witness w{now.phi, X_WA.p + now.a.p, X_WA.p + now.b.p, now.n};
  const auto side = [&](const Shape& shape, const Mat2& S, bool flat) {
    if (flat) return SideRadii(Radii::flat(), 0, {});
    return SideRadii(Radii(S), bounding_ball(shape).radius + smoothing * smoothing_reach(shape),
                     {});
  };
  return witness_factors(w, now.t0, now.t1, side(A, now.a.S, flat_A), side(B, now.b.S, flat_B));
}

}  // namespace robosim
