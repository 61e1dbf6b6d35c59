// Entry of a line into each type of shape, by the methods listed in ray_cast.h.
//
// enter(core, q, u) computes the first point q + s u of the whole line that belongs to the shape,
// in the shape's frame, and the outward normal there. u is unit, and q is within the shape's size
// of the shape. `found` is false if the line misses. s is -infinity if the line begins inside of a
// half-space.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "geometry/directions.h"
#include "geometry/distance/gjk.h"
#include "geometry/shape.h"

namespace robosim::ray_line {

struct Entry {
  bool found = false;
  double s = 0;
  Vec3d n;
};

// Interval s in [in, out] of a line that is inside of all sets clipped so far.
struct Span {
  double in = -std::numeric_limits<double>::infinity(),
         out = std::numeric_limits<double>::infinity();
  Vec3d n;  // normal at `in`

  bool empty() const { return !(in <= out); }
  void clear() {
    in = std::numeric_limits<double>::infinity();
    out = -in;
  }
  void cut(double from, double to, const Vec3d& normal) {
    if (from > in) {
      in = from;
      n = normal;
    }
    out = min_number(out, to);
  }
  // Clip by the half-space normal . x <= offset; the normal has any length.
  void clip(double offset, const Vec3d& normal, const Vec3d& q, const Vec3d& u) {
    const double height = offset - dot(normal, q), slope = dot(normal, u);
    if (slope < 0)
      cut(height / slope, out, normal);
    else if (slope > 0)
      cut(in, height / slope, normal);
    else if (height < 0)
      clear();
  }
  Entry entry() const { return {!empty(), in, unit_or(n, Vec3d(0, 0, 1))}; }
};

inline Entry enter_ball(const Vec3d& center, double radius, const Vec3d& q, const Vec3d& u) {
  const Vec3d d = q - center;
  const double middle = -dot(d, u), off = norm(cross(d, u));
  if (!(off <= radius)) return {};
  const double s = middle - std::sqrt((radius - off) * (radius + off));
  return {true, s, unit_or(d + s * u, -u)};
}

inline Entry enter(const SphereCore& c, const Vec3d& q, const Vec3d& u) {
  return enter_ball({}, c.radius, q, u);
}

inline Entry enter(const HalfSpaceCore&, const Vec3d& q, const Vec3d& u) {
  Span span;
  span.clip(0, {0, 0, 1}, q, u);
  return span.entry();
}

// Interval of the line in x^2 + y^2 <= radius^2: all, a part or nothing of the line.
inline Span round_span(double radius, const Vec3d& q, const Vec3d& u) {
  Span span;
  const double a = std::hypot(u.x, u.y), moment = q.x * u.y - q.y * u.x;
  if (!(a > 0)) {
    if (!(std::hypot(q.x, q.y) <= radius)) span.clear();
    return span;
  }
  const double off = std::fabs(moment) / a;
  if (!(off <= radius)) {
    span.clear();
    return span;
  }
  const double middle = -(q.x * (u.x / a) + q.y * (u.y / a)) / a,
               half = std::sqrt((radius - off) * (radius + off)) / a;
  const double in = middle - half;
  span.cut(in, middle + half, unit_or({q.x + in * u.x, q.y + in * u.y, 0}, {-u.x, -u.y, 0}));
  return span;
}

inline Entry enter(const CylinderCore& c, const Vec3d& q, const Vec3d& u) {
  Span span = round_span(c.radius, q, u);
  span.clip(c.half_length, {0, 0, 1}, q, u);
  span.clip(c.half_length, {0, 0, -1}, q, u);
  return span.entry();
}

// On the lateral surface, or on the ball at the end beyond which the line enters the infinite
// cylinder.
inline Entry enter(const CapsuleCore& c, const Vec3d& q, const Vec3d& u) {
  const Span span = round_span(c.radius, q, u);
  if (span.empty()) return {};
  const double z =
      std::isfinite(span.in) ? q.z + span.in * u.z : std::copysign(2 * c.half_length, -u.z);
  if (std::fabs(z) <= c.half_length) return span.entry();
  return enter_ball({0, 0, std::copysign(c.half_length, z)}, c.radius, q, u);
}

// With p = q - apex, D = diag(c^2, c^2, -s^2), and c and s the cosine and sine of the half angle,
// the nappe below the apex is p^T D p <= 0, z <= 0. The line's quadratic A x^2 + 2 B x + C has the
// discriminant c^2 (s^2 (m_x^2 + m_y^2) - c^2 m_z^2), m = p x u.
inline Entry enter(const ConeCore& k, const Vec3d& q, const Vec3d& u) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const double line = std::hypot(k.radius, 2 * k.half_length), c = 2 * k.half_length / line,
               s = k.radius / line;
  const Vec3d p(q.x, q.y, q.z - k.half_length), m = cross(p, u);
  // Coefficients of the quadratic, as products without cancellation.
  const double across = s * std::hypot(m.x, m.y), turn = c * std::fabs(m.z),
               a = c * std::hypot(u.x, u.y);
  const double A = (a - s * std::fabs(u.z)) * (a + s * std::fabs(u.z));
  const double rho = c * std::hypot(p.x, p.y),
               C = (rho - s * std::fabs(p.z)) * (rho + s * std::fabs(p.z));
  const double B = c * c * (p.x * u.x + p.y * u.y) - s * s * p.z * u.z;
  // Roots, and the interval between them on the nappe below the apex.
  Span span;
  if (A > 0 && !(turn <= across)) return {};
  const double root = c * std::sqrt(max_number(0.0, (across - turn) * (across + turn))),
               far = -(B + std::copysign(root, B));
  const double x1 = A != 0 ? far / A : infinity, x2 = far != 0 ? C / far : 0;
  double in = min_number(x1, x2), out = max_number(x1, x2);
  if (A > 0) {
    if (p.z + 0.5 * (in + out) * u.z > 0) return {};  // on the nappe above
  } else if (A < 0) {
    if (u.z < 0) {
      in = out;
      out = infinity;
    } else {
      out = in;
      in = -infinity;
    }
  } else {  // parallel to a line of the lateral surface: one root, and one side of it
    if (far != 0 && (B < 0) != (u.z < 0)) return {};
    if (far == 0 && C > 0) return {};
    in = far != 0 && u.z < 0 ? x2 : -infinity;
    out = far != 0 && u.z > 0 ? x2 : infinity;
  }
  // Normal at the entry; clip at the apex and the base.
  const Vec3d round = unit_or({p.x + in * u.x, p.y + in * u.y, 0}, Vec3d());
  if (std::isfinite(in))
    span.cut(in, out, {c * round.x, c * round.y, s});
  else
    span.out = out;
  span.clip(k.half_length, {0, 0, 1}, q, u);
  span.clip(k.half_length, {0, 0, -1}, q, u);
  return span.entry();
}

// The ellipsoid is the unit ball in coordinates scaled by the radii.
inline Entry enter(const EllipsoidCore& c, const Vec3d& q, const Vec3d& u) {
  const Vec3d p(q.x / c.radii.x, q.y / c.radii.y, q.z / c.radii.z),
      v(u.x / c.radii.x, u.y / c.radii.y, u.z / c.radii.z);
  const double a = norm(v), off = norm(cross(p, v)) / a;
  if (!(off <= 1)) return {};
  const double s = -(dot(p, v) / a + std::sqrt((1 - off) * (1 + off))) / a;
  const Vec3d x = p + s * v;
  return {true, s, unit_or({x.x / c.radii.x, x.y / c.radii.y, x.z / c.radii.z}, -u)};
}

// Boxes, meshes and triangles without rounding.
inline Entry enter(const BoxCore& c, const Vec3d& q, const Vec3d& u) {
  Span span;
  for (int i = 0; i < 3; ++i)
    for (const double sign : {-1.0, 1.0}) {
      Vec3d normal;
      normal[i] = sign;
      span.clip(c.half_extents[i], normal, q, u);
    }
  return span.entry();
}
inline Entry enter(const ConvexCore& c, const Vec3d& q, const Vec3d& u) {
  Span span;
  const auto at = [&](int i) { return c.mesh->vertices[i]; };
  for (const auto& f : c.mesh->faces) {
    const Vec3d a = at(f[0]) - q, normal = cross(at(f[1]) - at(f[0]), at(f[2]) - at(f[0]));
    span.clip(dot(normal, a), normal, Vec3d(), u);
    if (span.empty()) return {};
  }
  return span.entry();
}
// Computes in coordinates of the plane across the ray. The coordinates are equal for all triangles
// that share a corner, as q is the ray's own origin. A line in the triangle's plane has no areas;
// `seen` is then false.
inline Entry enter(const TriangleCore& c, const Vec3d& q, const Vec3d& u, bool& seen) {
  const Vec3d across = perpendicular(u), up = cross(u, across);
  double x[3], y[3], z[3];
  for (int i = 0; i < 3; ++i) {
    const Vec3d d = c.vertex[i] - q;
    x[i] = dot(d, across);
    y[i] = dot(d, up);
    z[i] = dot(d, u);
  }
  const double w[3] = {x[1] * y[2] - x[2] * y[1], x[2] * y[0] - x[0] * y[2],
                       x[0] * y[1] - x[1] * y[0]};
  const double area = w[0] + w[1] + w[2];
  seen = area != 0;
  if (!seen || !((w[0] >= 0 && w[1] >= 0 && w[2] >= 0) || (w[0] <= 0 && w[1] <= 0 && w[2] <= 0)))
    return {};
  const Vec3d m = c.normal();
  return {true, (w[0] * z[0] + w[1] * z[1] + w[2] * z[2]) / area, dot(m, u) > 0 ? -m : m};
}

// Point of a core nearest to x. `start` is a warm start that does not change the answer.
inline Vec3d nearest(const BoxCore& c, const Vec3d& x, Vec3d&) {
  const Vec3d& h = c.half_extents;
  return {std::clamp(x.x, -h.x, h.x), std::clamp(x.y, -h.y, h.y), std::clamp(x.z, -h.z, h.z)};
}
inline Vec3d nearest(const TriangleCore& c, const Vec3d& x, Vec3d&) {
  Simplex simplex;
  for (const Vec3d& v : c.vertex) simplex.add(v - x, v);
  return x + nearest_point(simplex);
}
inline Vec3d nearest(const ConvexCore& c, const Vec3d& x, Vec3d& start) {
  const SE3d X(Mat3d::identity(), x);
  const CoreDifference<const ConvexCore&, SphereCore> D{c, {0}, X};
  const GjkResult r = gjk(D, start, {});
  if (r.overlap) return x;
  start = r.v;
  return x - r.v;
}

// Solve distance from the core = rounding by Newton's method, from the line's point at `s`, which
// is outside or on the shape. Returns a miss beyond `end`.
template <class Core>
requires requires(const Core& core, Vec3d& start) { nearest(core, start, start); }
Entry approach(const Core& core, const Vec3d& q, const Vec3d& u, double s, double end,
               double scale) {
  constexpr int max_rounds = 128;  // usually 5; a ray that grazes gains one bit in each round
  const double touch = 1e-15 * scale;
  Vec3d n = -u, start = -u;
  for (int round = 0; round < max_rounds; ++round) {
    const Vec3d x = q + s * u, away = x - nearest(core, x, start);
    const double distance = norm(away), gap = distance - core.rounding();
    // Very near a set without rounding, the direction has no digits. The last direction is that of
    // the feature that the step has reached.
    if (distance > (core.rounding() > 0 ? 0 : 1e-13 * scale)) n = away * (1 / distance);
    if (gap <= touch) return {true, s, n};
    const double approaching = -dot(n, u), step = gap / approaching;
    if (!(approaching > 0) || !(s + step <= end)) return {};
    if (!(s + step > s)) return {true, s, n};
    s += step;
  }
  return {true, s, n};
}

}  // namespace robosim::ray_line
