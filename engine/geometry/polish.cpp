#include "geometry/polish.h"

#include <cmath>

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

}  // namespace

Contact polished(const SupportFunction& D, const Contact& contact, double scale) {
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

}  // namespace robosim
