#include "geometry/manifolds/placed_patch.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "geometry/directions.h"
#include "geometry/shapes/convex_mesh.h"

namespace robosim {
namespace {

// Exit of the line p + h e (e unit) from the ball of `radius` swept from a to b; `hit` is false
// where the line misses it.
struct CapsuleExit {
  bool hit = false;
  double h = -INFINITY;
  Vec3d foot;
  // Cosine between line and axis where the line leaves through the mantle; 0 through an end.
  double lean = 0;
};
CapsuleExit leave_capsule(const Vec3d& p, const Vec3d& e, Vec3d a, Vec3d b, double radius) {
  // Start from the end nearest to p: p is often one of the ends, and then no digits cancel.
  if (squared_norm(p - b) < squared_norm(p - a)) std::swap(a, b);
  const Vec3d d = b - a, q = p - a;
  const double dd = dot(d, d), de = dot(d, e), dq = dot(d, q);
  // Mantle: |q + h e|^2 - (d . (q + h e))^2 / d^2 = radius^2.
  const double A = dd - de * de, B = dd * dot(q, e) - dq * de,
               C = dd * (dot(q, q) - radius * radius) - dq * dq;
  const double disc = B * B - A * C;
  double along = dq < 0 ? 0 : 1;
  if (A > 1e-14 * dd) {
    if (disc < 0) return {};
    const double h = (-B + std::sqrt(disc)) / A;
    along = (dq + h * de) / dd;
    if (along >= 0 && along <= 1) return {true, h, a + along * d, std::abs(de) / std::sqrt(dd)};
  } else if (de != 0) {
    along = de > 0;
  }
  // Ball at the end.
  const Vec3d end = along > 0.5 ? b : a, r = p - end;
  const double re = dot(r, e), in = re * re - dot(r, r) + radius * radius;
  if (in < 0) return {};
  return {true, -re + std::sqrt(in), end};
}

// Return true if exit `one` is farther out than `other`, where one line leaves the capsules of two
// sides. From the common end of both sides, the line leaves at radius / sqrt(1 - lean^2). On a face
// that leans by less than 1e-7, both heights are the same up to rounding, while the normal, and
// with it the derivative, turns with the lean. The larger lean then decides.
bool is_farther(const CapsuleExit& one, const CapsuleExit& other, double radius) {
  constexpr double same = 1e-14;
  if (!one.hit || !other.hit) return one.hit;
  return std::abs(one.h - other.h) <= same * radius ? one.lean > other.lean : one.h > other.h;
}

}  // namespace

void PlacedPatch::place() {
  normal = X_CS.R * patch.normal;
  // A plane has one point, corner[0].
  const int n = patch.kind == Patch::Kind::plane ? 1 : patch.n_corners;
  for (int i = 0; i < n; ++i) corner[i] = X_CS * patch.corner[i];
  if (is_polygon()) {
    double area = 0, longest = 0;  // as seen along z
    for (int i = 0; i < n; ++i) {
      const Vec3d side_i = corner[i + 1 == n ? 0 : i + 1] - corner[i], to = corner[i] - corner[0];
      area += to.x * side_i.y - to.y * side_i.x;
      longest = max_number(longest, side_i.x * side_i.x + side_i.y * side_i.y);
    }
    if (up * normal.z < steepest || !(up * area > needle * longest)) return stand_on_edge();
  }
  find_sides();
}

void PlacedPatch::stand_on_edge() {
  const auto next = [&](int i) { return i + 1 == patch.n_corners ? 0 : i + 1; };
  int highest = 0, longest = 0;
  double height = -INFINITY, length = 0;
  Vec3d area;
  for (int i = 0; i < patch.n_corners; ++i) {
    const Vec3d &a = corner[i], &b = corner[next(i)];
    area += cross(a - corner[0], b - a);
    if (const double h = up * (a.z + b.z); h > height) {
      height = h;
      highest = i;
    }
    if (const double l = squared_norm(b - a); l > length) {
      length = l;
      longest = i;
    }
  }
  // The longest edge of a needle contains the others.
  const int best = norm(area) > needle * length ? highest : longest, end = next(best);
  const Vec3d ends[2] = {corner[best], corner[end]},
              own[2] = {patch.corner[best], patch.corner[end]};
  const FeatureId ids[2] = {patch.corner_id[best], patch.corner_id[end]}, id = patch.side_id[best];
  const Vec3d e(0, 0, up), d = unit_or(ends[1] - ends[0], e), m = e - dot(e, d) * d;
  // Replace the face by a line along that edge, unless the edge is seen end-on.
  patch.kind = norm(m) > steepest ? Patch::Kind::line : Patch::Kind::none;
  patch.n_corners = 0;
  patch.face = id;
  patch.bent = false;
  if (patch.kind == Patch::Kind::none) return;
  for (int i = 0; i < 2; ++i) {
    corner[i] = ends[i];
    patch.add(own[i], ids[i], id);
  }
  normal = (1 / norm(m)) * m;
  find_sides();
}

void PlacedPatch::find_sides() {
  const int n = patch.n_corners;
  n_sides = patch.kind == Patch::Kind::polygon ? n : (patch.kind == Patch::Kind::line ? 1 : 0);
  for (int j = 0; j < n_sides; ++j) {
    const Vec3d &a = corner[j], &b = corner[j + 1 == n ? 0 : j + 1];
    const double x = up * (a.y - b.y), y = up * (b.x - a.x), length = std::sqrt(x * x + y * y);
    if (length > 0)
      side[j] = {x / length, y / length, -(x * a.x + y * a.y) / length};
    else
      side[j] = {0, 0, INFINITY};
  }
}

PlacedPatch::Exit PlacedPatch::rounded(const Vec3d& p, const Vec3d& face_normal) const {
  const Vec3d e(0, 0, up);
  if (is_polygon()) {
    // The line leaves over the face moved out by the rounding if its foot is within the sides.
    const double h = rounding / (up * face_normal.z);
    const Vec3d foot = p + h * e - rounding * face_normal;
    bool within = true;
    for (int j = 0; j < n_sides && within; ++j) within = inside(j, foot) >= 0;
    if (within) return {p.z + up * h, face_normal};
  }
  // Otherwise it leaves through the rounding of the farthest side.
  CapsuleExit farthest;
  for (int j = 0; j < n_sides; ++j) {
    const CapsuleExit exit =
        leave_capsule(p, e, corner[j], corner[j + 1 == patch.n_corners ? 0 : j + 1], rounding);
    if (is_farther(exit, farthest, rounding)) farthest = exit;
  }
  if (!farthest.hit) return {p.z + up * rounding, e};  // not reached from a p of the patch
  return {p.z + up * farthest.h, (1 / rounding) * (p + farthest.h * e - farthest.foot)};
}

PlacedPatch::Exit PlacedPatch::exit_from(const Vec3d& p) const {
  return rounding > 0 ? rounded(p, normal) : Exit{p.z, normal};
}

PlacedPatch::Exit PlacedPatch::exit_from_corner(int i) const {
  const Vec3d& p = corner[i];
  if (!patch.mesh || !(rounding > 0)) return exit_from(p);
  // At a mesh vertex, the line may leave over any face at the vertex, or around any edge there.
  const Vec3d e(0, 0, up);
  const int vertex = patch.corner_id[i].index;
  double length = 0;
  Vec3d n_S;
  if (leave_hull_over_face(*patch.mesh, vertex, rounding, up * X_CS.R.row[2], length, n_S))
    return {p.z + up * length, X_CS.R * n_S};
  CapsuleExit farthest;
  const std::size_t v = static_cast<std::size_t>(vertex);
  for (int k = patch.mesh->neighbor_begin[v]; k < patch.mesh->neighbor_begin[v + 1]; ++k) {
    const std::size_t w = static_cast<std::size_t>(patch.mesh->neighbors[k]);
    const CapsuleExit exit = leave_capsule(p, e, p, X_CS * patch.mesh->vertices[w], rounding);
    if (is_farther(exit, farthest, rounding)) farthest = exit;
  }
  return {p.z + up * farthest.h, (1 / rounding) * (p + farthest.h * e - farthest.foot)};
}

Vec3d PlacedPatch::nearest_on_sides(const Vec3d& p) const {
  Vec3d nearest = p;
  double least = INFINITY;
  for (int j = 0; j < n_sides; ++j) {
    const Vec3d &a = corner[j], &b = corner[j + 1 == patch.n_corners ? 0 : j + 1];
    const double x = b.x - a.x, y = b.y - a.y, length = x * x + y * y;
    const double t =
        length > 0 ? std::clamp(((p.x - a.x) * x + (p.y - a.y) * y) / length, 0.0, 1.0) : 0;
    const Vec3d q(a.x + t * x, a.y + t * y, p.z);
    if (const double d = squared_norm(q - p); d < least) {
      least = d;
      nearest = q;
    }
  }
  return nearest;
}

PlacedPatch::Exit PlacedPatch::over_face(const Vec3d& p) const {
  Vec3d on = corner[0], m = normal;
  if (patch.bent) {
    Vec3d n_S;
    on = X_CS * hull_polygon_at(*patch.mesh, patch.polygon, X_CS.inverse_times(p),
                                up * X_CS.R.row[2], n_S);
    m = X_CS.R * n_S;
  }
  const Vec3d x(p.x, p.y, on.z - (m.x * (p.x - on.x) + m.y * (p.y - on.y)) / m.z);
  return rounding > 0 ? rounded(x, m) : Exit{x.z, m};
}

std::optional<PlacedPatch::Exit> PlacedPatch::beside_line(const Vec3d& p, double& room,
                                                          int& end) const {
  if (patch.tube_radius < 0) return {};
  // Intersect the line s + h e with the surface x^2 + y^2 = (radius + slope z)^2, moved out by the
  // rounding, in the shape's frame. s is the line's point nearest to the shape's center, or to the
  // apex of a cone. Lines from far away, or lines that almost pass through the apex, thus keep
  // their digits.
  const Vec3d e = up * X_CS.R.row[2];
  Vec3d s = X_CS.inverse_times(p);
  const double k = patch.tube_slope, grown = std::sqrt(1 + k * k),
               radius = patch.tube_radius + rounding * grown;
  // Measure z from the apex of a cone.
  const double from = k != 0 ? -radius / k : 0, base = k != 0 ? 0 : radius;
  s.z -= from;
  const double back = dot(s, e);
  s -= back * e;
  const double at = base + k * s.z;
  const double a = e.x * e.x + e.y * e.y - k * k * e.z * e.z;
  const double b = s.x * e.x + s.y * e.y - k * at * e.z, c = s.x * s.x + s.y * s.y - at * at;
  const double disc = b * b - a * c;
  if (!(a > 0) || !(disc >= 0)) return {};
  const double h = (-b + std::sqrt(disc)) / a;
  const Vec3d exit = s + h * e;
  const double rho = base + k * exit.z;
  // At the apex, use the normal of the patch's line.
  const Vec3d m = rho > 0 ? (1 / (rho * grown)) * Vec3d(exit.x, exit.y, -k * rho)
                          : transpose_times(X_CS.R, normal);
  const double z = exit.z + from - rounding * m.z;  // of the core
  room = patch.tube_half_length - std::fabs(z);
  end = (patch.corner[1].z > patch.corner[0].z) == (z > 0);
  if (dot(m, e) < 0.5) return {};
  return Exit{p.z + up * (h - back), X_CS.R * m};
}

}  // namespace robosim
