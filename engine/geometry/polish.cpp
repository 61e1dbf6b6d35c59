#include "geometry/polish.h"

#include "geometry/directions.h"
#include "geometry/tangent_plane.h"

namespace robosim {
namespace {

struct Shifted {
  const SupportFunction& D;
  Vec3d shift;

  SupportPoint support(const Vec3d& d) const {
    SupportPoint p = D(d);
    p.w += shift;
    return p;
  }
};

// error: how far w is from distance * normal, with the distance that the support function certifies.
struct Candidate {
  Contact contact;
  double error = INFINITY;

  Candidate(const SupportFunction& D, const Contact& c) : contact(c) {
    contact.distance = dot(c.normal, D(-c.normal).w);
    error = norm(c.w - contact.distance * c.normal);
  }
};

// Newton's method on the features that touch, which are looked for with `precision`.
Candidate newton(const SupportFunction& D, const Surfaces& surfaces, const Candidate& start, double scale, double precision) {
  using namespace tangent_plane;
  constexpr int max_rounds = 6;
  constexpr double enough = 1e-15;  // of the scale: rounding
  Candidate best = start;
  best.error = INFINITY;  // GJK's w is along its normal by construction; that the points fit the normal is what counts here
  Vec3d n = start.contact.normal, a = start.contact.a, b = a + start.contact.w;
  const LocalSurface s_A = surfaces.surface(surfaces.difference, 0, a, n, precision);
  const LocalSurface s_B = surfaces.surface(surfaces.difference, 1, b, -n, precision);
  for (int round = 0; round < max_rounds && best.error > enough * scale; ++round) {
    a = surfaces.on_feature(surfaces.difference, 0, s_A, a, n);
    b = surfaces.on_feature(surfaces.difference, 1, s_B, b, -n);
    const Candidate c(D, {n, 0, a, b - a});
    if (c.error < best.error) best = c;
    else if (round > 1) break;
    // The surfaces where the points are now, on the same features.
    const LocalSurface A = surfaces.surface(surfaces.difference, 0, a, n, precision);
    const LocalSurface B = surfaces.surface(surfaces.difference, 1, b, -n, precision);
    if (A.kind != s_A.kind || A.index != s_A.index || B.kind != s_B.kind || B.index != s_B.index) break;
    const Vec3d t0 = perpendicular(n), t1 = cross(n, t0);
    const Radii S_A(A, t0, t1), S_B(B, t0, t1);
    if (share_a_straight_direction(S_A, S_B)) break;
    const double phi = dot(n, b - a);
    const Response r = response(phi, S_A, S_B, scale);
    if (!r.regular) break;
    // How far the normal has to turn to be perpendicular to straight directions; the points' offset beside phi n.
    const auto plane = [&](const Vec3d& x) { return Vec2{robosim::dot(x, t0), robosim::dot(x, t1)}; };
    const auto turn = [&](const LocalSurface& s) {
      Vec3d w;
      for (int i = 0; i < 2; ++i)
        if (s.is_straight(i)) w -= robosim::dot(n, s.axis[i]) * s.axis[i];
      return plane(w);
    };
    const Vec2 offset = plane(b - a), w_A = turn(A), w_B = turn(B);
    const Mat2 Q_At = transpose(r.Q_A);
    const Vec2 dn = r.P * offset + r.Q_A * w_A + r.Q_B * w_B;
    const Vec2 da = Q_At * offset + r.H * (w_B - w_A) - phi * (Q_At * w_A), db = da + phi * dn - offset;
    n += dn.x * t0 + dn.y * t1;
    n *= 1 / norm(n);
    a += da.x * t0 + da.y * t1, b += db.x * t0 + db.y * t1;
  }
  return best;
}

}  // namespace

Contact polished(const SupportFunction& D, const Surfaces& surfaces, const Contact& contact, double scale) {
  constexpr int max_rounds = 8;
  const double clearance = 1e-3 * scale, enough = 1e-14 * scale;
  Candidate best(D, contact);
  const auto sharpen = [&] {
    const Candidate rough = best;
    for (const double precision : {1e-9, 1e-6, 1e-4}) {
      const Candidate c = newton(D, surfaces, rough, scale, precision);
      const bool deeper = c.contact.distance < best.contact.distance - enough;  // another direction separates by less
      if (!deeper && c.error < std::fmax(best.error, enough)) best = c;
      if (!deeper && c.error < enough) return true;
    }
    return false;
  };
  if (sharpen()) return best.contact;
  Contact c = best.contact;
  int slow = 0;
  for (int round = 0; round < max_rounds && slow < 3 && best.error > enough && c.distance < clearance; ++round) {
    const Vec3d shift = (clearance - c.distance) * c.normal;
    const GjkResult r = gjk(Shifted{D, shift}, c.normal, {.relative_gap = 1e-15});
    if (r.overlap) break;
    c.normal = r.v * (1 / r.upper);
    c.a = {};
    for (int i = 0; i < r.simplex.n; ++i) c.a += r.simplex.lambda[i] * r.simplex.a[i];
    c.w = r.v - shift;
    const Candidate next(D, c);
    c = next.contact;
    slow = next.error > 0.5 * best.error ? slow + 1 : 0;
    if (next.error < best.error) {
      best = next;
      if (sharpen()) break;
    }
  }
  return best.contact;
}

}  // namespace robosim
