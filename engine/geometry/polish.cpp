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

// Whether x is still on the feature whose surface about p is s: how far it is from p along straight directions.
bool stays_on(const LocalSurface& s, const Vec3d& p, const Vec3d& x) {
  if (!s.is_straight(0) && !s.is_straight(1)) return true;
  double moved = 0;
  for (int i = 0; i < 2; ++i)
    if (s.is_straight(i)) {
      const double along = dot(x - p, s.axis[i]);
      moved += along * along;
    }
  return s.slide >= 0 && s.slide < LocalSurface::straight && moved <= s.slide * s.slide;
}

// One step of Newton's method for the normal and the points a and b of surfaces A and B; false where there is none.
bool newton_step(const Surfaces& surfaces, const LocalSurface& A, const LocalSurface& B, double scale, Vec3d& n, Vec3d& a, Vec3d& b) {
  using namespace tangent_plane;
  Vec3d t0, t1;
  tangents(n, t0, t1);
  const auto radii = [&](int side, const LocalSurface& s, const Vec3d& p, const Vec3d& n_out) {
    std::array<double, 3> S;
    if (surfaces.bend(surfaces.difference, side, p, n_out, t0, t1, S)) return Radii(Mat2{{{S[0], S[1]}, {S[1], S[2]}}});
    return Radii(s, t0, t1);
  };
  const Radii S_A = radii(0, A, a, n), S_B = radii(1, B, b, -n);
  if (share_a_straight_direction(S_A, S_B)) return false;
  const double phi = robosim::dot(n, b - a);
  const Response r = response(phi, S_A, S_B, scale);
  if (!r.regular) return false;
  // How far the normal has to turn to be perpendicular to straight directions; the points' offset beside phi n.
  const auto plane = [&](const Vec3d& x) { return Vec2{robosim::dot(x, t0), robosim::dot(x, t1)}; };
  const auto turn = [&](const LocalSurface& s) {
    Vec3d x;
    for (int i = 0; i < 2; ++i)
      if (s.is_straight(i)) x -= robosim::dot(n, s.axis[i]) * s.axis[i];
    return plane(x);
  };
  const Vec2 offset = plane(b - a), w_A = turn(A), w_B = turn(B);
  const Mat2 Q_At = transpose(r.Q_A);
  const Vec2 dn = r.P * offset + r.Q_A * w_A + r.Q_B * w_B;
  const Vec2 da = Q_At * offset + r.H * (w_B - w_A) - phi * (Q_At * w_A), db = da + phi * dn - offset;
  n += dn.x * t0 + dn.y * t1;
  n *= 1 / norm(n);
  a += da.x * t0 + da.y * t1, b += db.x * t0 + db.y * t1;
  return true;
}

// Newton's method on the features that touch, which are looked for with `precision`.
Candidate newton(const SupportFunction& D, const Surfaces& surfaces, const Candidate& start, double scale, double precision) {
  constexpr int max_rounds = 24;
  constexpr double enough = 1e-15;  // of the scale: rounding
  Candidate best = start;
  best.error = INFINITY;  // GJK's w is along its normal by construction; that the points fit the normal is what counts here
  Vec3d n = start.contact.normal, a = start.contact.a, b = a + start.contact.w;
  const LocalSurface s_A = surfaces.surface(surfaces.difference, 0, a, n, precision);
  const LocalSurface s_B = surfaces.surface(surfaces.difference, 1, b, -n, precision);
  for (int round = 0; round < max_rounds && best.error > enough * scale; ++round) {
    a = surfaces.on_feature(surfaces.difference, 0, s_A, a, n);
    b = surfaces.on_feature(surfaces.difference, 1, s_B, b, -n);
    // The surfaces where the points are now: on the same features still, and not beyond their ends.
    const LocalSurface A = surfaces.surface(surfaces.difference, 0, a, n, precision);
    const LocalSurface B = surfaces.surface(surfaces.difference, 1, b, -n, precision);
    if (A.kind != s_A.kind || A.index != s_A.index || B.kind != s_B.kind || B.index != s_B.index) break;
    if (A.slide < 0 || B.slide < 0) break;
    const Candidate c(D, {n, 0, a, b - a});
    if (c.error < best.error) best = c;
    else if (round > 1) break;
    if (!newton_step(surfaces, A, B, scale, n, a, b)) break;
  }
  return best;
}

// Anderson's mixing of the fixed-point iteration n -> g(n): of the last steps f = g(n) - n, that combination which would be
// shortest were g linear. Two differences span the tangent plane. What differs by less than the noise of g tells nothing: then the
// step is stretched, more each time, until it does.
class Mixing {
 public:
  // The next n after g(from) = to.
  Vec3d operator()(const Vec3d& from, const Vec3d& to) {
    const Vec3d f = to - from;
    Vec3d mixed = to;
    if (n_ > 0) {
      const Vec3d df = f - f_[0];
      const double ff = squared_norm(df);
      if (ff < noise * noise) {
        mixed += stretch_ * f;
        stretch_ *= growth;
        return mixed;  // and the older step stays, to differ from
      }
      stretch_ = growth;
      double x = dot(df, f) / ff, y = 0;
      if (n_ > 1) {
        const Vec3d df2 = f_[0] - f_[1];
        const double ff2 = squared_norm(df2), both = dot(df, df2), det = ff * ff2 - both * both;
        if (det > noise * noise * std::fmax(ff, ff2)) {
          x = (ff2 * dot(df, f) - both * dot(df2, f)) / det;
          y = (ff * dot(df2, f) - both * dot(df, f)) / det;
          mixed -= y * (g_[0] - g_[1]);
        }
      }
      mixed -= x * (to - g_[0]);
    }
    f_[1] = f_[0], g_[1] = g_[0], f_[0] = f, g_[0] = to;
    n_ = n_ < 2 ? n_ + 1 : 2;
    return mixed;
  }

 private:
  // Of g: sqrt(2 eps / 1e-3) = 7e-7 radians, for the rounding of coordinates a thousand times as long as the clearance.
  static constexpr double noise = 2e-6, growth = 32;
  double stretch_ = growth;
  Vec3d f_[2], g_[2];  // latest first
  int n_ = 0;
};

// By GJK from a clearance, without knowing features.
Contact approached(const SupportFunction& D, const Contact& contact, double scale) {
  constexpr int max_rounds = 16;
  const double clearance = 1e-3 * scale, enough = 1e-13 * scale;
  const double equal = 1e-11 * scale;  // of distances: at a kink of D they have the first order of n's noise
  const auto error = [](const Contact& c) { return norm(c.w - c.distance * c.normal); };
  Contact best = contact;
  best.distance = dot(contact.normal, D(-contact.normal).w);
  double best_error = error(best), highest = best.distance;
  Contact c = best;
  Mixing mixing;
  int slow = 0;
  bool jumped = false;
  for (int round = 0; round < max_rounds && slow < 3 && best_error > enough && c.distance < clearance; ++round) {
    const Vec3d from = c.normal, shift = (clearance - c.distance) * from;
    const GjkResult r = gjk(Shifted{D, shift}, from, {.relative_gap = 1e-15});
    if (r.overlap) break;
    c.normal = r.axis * (1 / norm(r.axis));  // of the plane that separates best; of v to rounding
    c.distance = dot(c.normal, D(-c.normal).w);
    c.a = {}, c.w = -shift;
    for (int i = 0; i < r.simplex.n; ++i) {
      c.a += r.simplex.lambda[i] * r.simplex.a[i];
      c.w += r.simplex.lambda[i] * r.simplex.w[i];
    }
    const double e = error(c), gain = c.distance - highest;
    slow = gain > enough || e < 0.5 * best_error ? 0 : slow + 1;
    if (gain > equal || (gain > -equal && e < best_error)) best = c, best_error = e;
    highest = std::fmax(highest, c.distance);
    // A jump disturbs what had converged: a plain step puts that right, and the one after it enters the mixing.
    if (jumped) {
      jumped = false;
      continue;
    }
    const Vec3d to = c.normal, mixed = mixing(from, to);
    if (dot(mixed, to) > 0.5 * norm(mixed)) c.normal = mixed * (1 / norm(mixed));  // never far round
    jumped = squared_norm(c.normal - to) > squared_norm(to - from);
    c.distance = dot(c.normal, D(-c.normal).w);
  }
  return best;
}

}  // namespace

std::optional<Contact> quickly_polished(const SupportFunction& D, const Surfaces& surfaces, const Contact& contact, double scale,
                                        double precision, bool overlapping) {
  constexpr int max_rounds = 6;
  const double enough = 1e-14 * scale, close = 1e-11 * scale;
  Vec3d n = contact.normal, a = contact.a, b = a + contact.w, at_A = a, at_B = b;  // where the surfaces are known
  LocalSurface A = surfaces.surface(surfaces.difference, 0, a, n, precision);
  LocalSurface B = surfaces.surface(surfaces.difference, 1, b, -n, precision);
  double before = INFINITY;
  std::optional<Candidate> best;
  for (int round = 0; round < max_rounds; ++round) {
    a = surfaces.on_feature(surfaces.difference, 0, A, a, n);
    b = surfaces.on_feature(surfaces.difference, 1, B, b, -n);
    if (!stays_on(A, at_A, a) || !stays_on(B, at_B, b)) break;
    const Vec3d w = b - a;
    const double phi = dot(n, w), beside = squared_norm(w - phi * n);
    if ((phi <= 0 && !overlapping) || (!best && round > 1 && beside > 0.25 * before)) break;
    before = beside;
    if (beside < close * close) {  // far from the answer there is nothing to prove
      const Candidate c(D, {n, 0, a, w});
      const bool better = !best || c.error < best->error;
      if (better && c.error <= enough && (c.contact.distance > 0 || overlapping)) best = c;
      // To rounding: where features are sharp and close the normal is known no better than the points by their distance.
      if (best && (!better || best->error <= 1e-15 * scale)) break;
    }
    if (round > 0) {
      if (surfaces.renew(surfaces.difference, 0, A, a, n)) at_A = a;
      if (surfaces.renew(surfaces.difference, 1, B, b, -n)) at_B = b;
    }
    if (!newton_step(surfaces, A, B, scale, n, a, b)) break;
  }
  if (!best) return std::nullopt;
  return best->contact;
}

Contact polished(const SupportFunction& D, const Surfaces& surfaces, const Contact& contact, double scale) {
  const double enough = 1e-14 * scale;
  Candidate best(D, contact);
  const auto sharpen = [&] {
    const Candidate rough = best;
    for (const double precision : {1e-9, 1e-6, 1e-4}) {
      const Candidate c = newton(D, surfaces, rough, scale, precision);
      if (c.contact.distance < best.contact.distance - enough) continue;  // another direction separates by less
      if (c.error < std::fmax(best.error, enough)) best = c;
      if (c.error < enough) return true;
    }
    return false;
  };
  // Quickly first: from EPA's contact no better way out is nearby.
  if (const auto c = quickly_polished(D, surfaces, best.contact, scale, 1e-6, true))
    if (c->distance >= best.contact.distance - enough) return *c;
  if (sharpen()) return best.contact;
  best = Candidate(D, approached(D, best.contact, scale));
  sharpen();
  return best.contact;
}

}  // namespace robosim
