#include "geometry/polish.h"

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

}  // namespace

Contact polished(const SupportFunction& D, const Contact& contact, double scale) {
  constexpr int max_rounds = 8;
  const double clearance = 1e-3 * scale, enough = 1e-13 * scale;
  const auto error = [](const Contact& c) { return norm(c.w - c.distance * c.normal); };
  Contact best = contact;
  best.distance = dot(contact.normal, D(-contact.normal).w);
  double best_error = error(best);
  Contact c = best;
  int slow = 0;
  for (int round = 0; round < max_rounds && slow < 3 && best_error > enough && c.distance < clearance; ++round) {
    const Vec3d shift = (clearance - c.distance) * c.normal;
    const GjkResult r = gjk(Shifted{D, shift}, c.normal, {.relative_gap = 1e-15});
    if (r.overlap) break;
    c.normal = r.v * (1 / r.upper);
    c.distance = dot(c.normal, D(-c.normal).w);
    c.a = {};
    for (int i = 0; i < r.simplex.n; ++i) c.a += r.simplex.lambda[i] * r.simplex.a[i];
    c.w = r.v - shift;
    const double e = error(c);
    slow = e > 0.5 * best_error ? slow + 1 : 0;
    if (e < best_error) best = c, best_error = e;
  }
  return best;
}

}  // namespace robosim
