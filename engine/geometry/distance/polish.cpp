#include "geometry/distance/polish.h"

#include <algorithm>

namespace robosim {
namespace {

// D moved by a translation.
struct Shifted {
  const SupportFunction& D;
  Vec3d shift;

  SupportPoint support(const Vec3d& d) const {
    SupportPoint p = D(d);
    p.w += shift;
    return p;
  }
};

// Newton's method on the touching features, which are identified with `precision`.
Candidate newton(const SupportFunction& D, const Surfaces& surfaces, const Candidate& start,
                 double scale, double precision) {
  constexpr int max_rounds = 24;
  constexpr double enough = 1e-15;  // relative to the scale: rounding
  Candidate best = start;
  // GJK's w is along its normal by construction, so the error of the start does not count.
  // Candidates are compared by how well their points fit the normal, and by how far the normal
  // separates.
  best.error = INFINITY;
  const auto is_better = [&](const Candidate& c) {
    return c.error - c.contact.distance < best.error - best.contact.distance;
  };
  Vec3d n = start.contact.normal, a = start.contact.a, b = a + start.contact.w;
  LocalSurface A = surfaces.surface(0, a, n, precision);
  LocalSurface B = surfaces.surface(1, b, -n, precision);
  // Move p to the point of its feature with the given normal. If that point belongs to a
  // neighboring feature, or is nearer to it, take the point of the neighbor.
  const auto move_onto = [&](int side, LocalSurface& s, Vec3d& p, const Vec3d& n_out) {
    p = surfaces.on_feature(side, s, p, n_out);
    const LocalSurface now = surfaces.surface(side, p, n_out, precision);
    if (now.kind != s.kind || now.index != s.index) p = surfaces.on_feature(side, now, p, n_out);
    s = now;
  };
  for (int round = 0; round < max_rounds && best.error > enough * scale; ++round) {
    move_onto(0, A, a, n);
    move_onto(1, B, b, -n);
    if (A.slide < 0 || B.slide < 0) break;  // beyond the feature's end
    const Candidate c(D, {n, 0, a, b - a});
    if (is_better(c))
      best = c;
    else if (round > 1)
      break;
    newton_step(surfaces, A, B, scale, n, a, b);
  }
  return best;
}

// Anderson's mixing of the fixed-point iteration n -> g(n). From the last steps f = g(n) - n, take
// the combination that would be shortest if g were linear. Two differences span the tangent plane.
// A difference below the noise of g has no information: the step is then stretched, more each time,
// until the difference exceeds the noise.
class Mixing {
 public:
  // Return the next n after g(from) = to.
  Vec3d operator()(const Vec3d& from, const Vec3d& to) {
    const Vec3d f = to - from;
    Vec3d mixed = to;
    if (n_ > 0) {
      const Vec3d df = f - f_[0];
      const double ff = squared_norm(df);
      if (ff < noise * noise) {
        mixed += stretch_ * f;
        stretch_ *= growth;
        return mixed;  // the older step stays as the reference of differences
      }
      stretch_ = growth;
      double x = dot(df, f) / ff, y = 0;
      if (n_ > 1) {
        const Vec3d df2 = f_[0] - f_[1];
        const double ff2 = squared_norm(df2), both = dot(df, df2), det = ff * ff2 - both * both;
        if (det > noise * noise * max_number(ff, ff2)) {
          x = (ff2 * dot(df, f) - both * dot(df2, f)) / det;
          y = (ff * dot(df2, f) - both * dot(df, f)) / det;
          mixed -= y * (g_[0] - g_[1]);
        }
      }
      mixed -= x * (to - g_[0]);
    }
    f_[1] = f_[0];
    g_[1] = g_[0];
    f_[0] = f;
    g_[0] = to;
    n_ = n_ < 2 ? n_ + 1 : 2;
    return mixed;
  }

 private:
  // Noise of g [rad]: sqrt(2 eps / 1e-3) = 7e-7, for the rounding of coordinates a thousand times
  // as long as the clearance.
  static constexpr double noise = 2e-6, growth = 32;
  double stretch_ = growth;
  Vec3d f_[2], g_[2];  // latest first
  int n_ = 0;
};

// Fixed-point iteration by GJK from a clearance, which needs no features.
Contact approached(const SupportFunction& D, const Contact& contact, double scale) {
  constexpr int max_rounds = 16;
  const double clearance = 1e-3 * scale, enough = 1e-13 * scale;
  // Tolerance of equal distances: at a kink of D they have the first order of n's noise.
  const double equal = 1e-11 * scale;
  const auto error = [](const Contact& c) { return norm(c.w - c.distance * c.normal); };
  Contact best = contact;
  best.distance = dot(contact.normal, D(-contact.normal).w);
  double best_error = error(best), highest = best.distance;
  Contact c = best;
  Mixing mixing;
  int slow = 0;
  bool jumped = false;
  for (int round = 0;
       round < max_rounds && slow < 3 && best_error > enough && c.distance < clearance; ++round) {
    // GJK from the clearance: the next normal and its point.
    const Vec3d from = c.normal, shift = (clearance - c.distance) * from;
    const GjkResult r = gjk(Shifted{D, shift}, from, {.relative_gap = 1e-15});
    if (r.overlap) break;
    c.normal = r.axis * (1 / norm(r.axis));  // of the best separating plane; v up to rounding
    c.distance = dot(c.normal, D(-c.normal).w);
    c.a = {};
    c.w = -shift;
    for (int i = 0; i < r.simplex.n; ++i) {
      c.a += r.simplex.lambda[i] * r.simplex.a[i];
      c.w += r.simplex.lambda[i] * r.simplex.w[i];
    }
    const double e = error(c), gain = c.distance - highest;
    slow = gain > enough || e < 0.5 * best_error ? 0 : slow + 1;
    // Keep the contact with the largest distance, or the smallest error among equal distances.
    if (gain > equal || (gain > -equal && e < best_error)) {
      best = c;
      best_error = e;
    }
    highest = max_number(highest, c.distance);
    // A large step disturbs what had converged. So one plain step follows, and the step after it
    // enters the mixing.
    if (jumped) {
      jumped = false;
      continue;
    }
    const Vec3d to = c.normal, mixed = mixing(from, to);
    // Never turn far.
    if (dot(mixed, to) > 0.5 * norm(mixed)) c.normal = mixed * (1 / norm(mixed));
    jumped = squared_norm(c.normal - to) > squared_norm(to - from);
    c.distance = dot(c.normal, D(-c.normal).w);
  }
  return best;
}

// Ascend on the minimum of the supporting planes' distances, from one kink to the next. A step of
// Newton's method on the current features ends at the direction in which another point of D takes
// over. The next features are those that join both points. So a small body finds the shortest
// translation out of a round body whose center of curvature is near, where all directions are
// nearly as deep.
Candidate ascended(const SupportFunction& D, const Surfaces& surfaces, const Candidate& start,
                   double scale) {
  constexpr int max_rounds = 24, max_halvings = 60, most = 3;
  const double enough = 1e-14 * scale, same = 1e-8 * scale;  // same: of curved surfaces
  Candidate best = start;
  Vec3d n = start.contact.normal;
  SupportPoint ends[most] = {D(-n)};  // points of D that are the farthest for n
  int count = 1;
  double distance = dot(n, ends[0].w);
  for (int round = 0; round < max_rounds; ++round) {
    // Try Newton's method on the features at the mean of the points.
    Vec3d a, w;
    for (int i = 0; i < count; ++i) {
      a += (1.0 / count) * ends[i].a;
      w += (1.0 / count) * ends[i].w;
    }
    const Candidate c = newton(D, surfaces, Candidate(D, {n, 0, a, w}), scale, 1e-9);
    if (c.contact.distance > best.contact.distance - enough && c.error < best.error) best = c;
    // Steepest ascent: the nearest point to the origin of the points' hull in the tangent plane. If
    // it is zero, n is the answer.
    Simplex hull;
    for (int i = 0; i < count; ++i) hull.add(ends[i].w - dot(n, ends[i].w) * n, ends[i].a);
    const Vec3d steepest = nearest_point(hull);
    if (const double error = norm(steepest);
        distance > best.contact.distance - enough && error < best.error) {
      best.contact = {n, distance, {}, steepest + distance * n};
      best.error = error;
      for (int i = 0; i < hull.n; ++i) best.contact.a += hull.lambda[i] * hull.a[i];
    }
    if (best.error < enough) break;
    // Newton's step on the features about the mean.
    Vec3d b = a + w, to = n;
    const LocalSurface A = surfaces.surface(0, a, n, 1e-9), B = surfaces.surface(1, b, -n, 1e-9);
    a = surfaces.on_feature(0, A, a, n);
    b = surfaces.on_feature(1, B, b, -n);
    Vec3d next_a = a, next_b = b;
    newton_step(surfaces, A, B, scale, to, next_a, next_b);
    // Take Newton's step up to its length if it ascends for all points, otherwise the steepest
    // ascent.
    Vec3d t = to - dot(to, n) * n;
    double high = std::atan2(norm(t), dot(to, n));
    bool uphill = high > 0;
    for (int i = 0; i < count; ++i) uphill &= dot(t, ends[i].w) > 0;
    if (!uphill) {
      t = steepest;
      high = 0.5;
      if (!(norm(t) > enough)) break;
    }
    t *= 1 / norm(t);
    // Point on the arc from n in direction t, corrected so that the normal stays perpendicular to
    // the features' straight directions. The search ends where the plane's distance falls again.
    const auto along = [&](double s, Vec3d& m, Vec3d& tangent) {
      m = std::cos(s) * n + std::sin(s) * t;
      tangent = std::cos(s) * t - std::sin(s) * n;
      for (int side = 0; side < 2; ++side) {
        const LocalSurface& at_n = side ? B : A;
        LocalSurface f = at_n;
        const Vec3d out = side ? -m : m;
        surfaces.renew(side, f, surfaces.on_feature(side, f, side ? b : a, out), out);
        for (int i = 0; i < 2; ++i)
          if (f.is_straight(i) && std::fabs(dot(n, at_n.axis[i])) < 1e-6) {
            m -= dot(m, f.axis[i]) * f.axis[i];
            tangent -= dot(tangent, f.axis[i]) * f.axis[i];
          }
      }
      m *= 1 / norm(m);
    };
    const auto rises = [&](double s, SupportPoint& p) {
      Vec3d m, tangent;
      along(s, m, tangent);
      p = D(-m);
      return dot(tangent, p.w) > 0 && dot(m, p.w) > distance - enough;
    };
    // Bisection for the kink.
    double low = 0;
    SupportPoint before = ends[0], after = ends[0];
    if (rises(high, after)) {
      low = high;
      before = after;
    }
    for (int i = 0; i < max_halvings && high - low > 1e-16; ++i) {
      const double s = 0.5 * (low + high);
      SupportPoint p;
      if (rises(s, p)) {
        low = s;
        before = p;
      } else {
        high = s;
        after = p;
      }
    }
    Vec3d m, tangent;
    along(low, m, tangent);
    n = m;
    // Keep the points that are still as far, and add those on both sides of the kink.
    distance = dot(n, D(-n).w);
    int kept = 0;
    for (int i = 0; i < count; ++i)
      if (dot(n, ends[i].w) < distance + enough) ends[kept++] = ends[i];
    count = kept;
    for (const SupportPoint& p : {before, after}) {
      int i = 0;
      while (i < count && !(norm(p.w - ends[i].w) < same)) ++i;
      if (i == most) {
        std::copy(ends + 1, ends + most, ends);
        --i;
      }
      ends[i] = p;
      count = std::max(count, i + 1);
    }
  }
  return best;
}

}  // namespace

Contact polished(const SupportFunction& D, const Surfaces& surfaces, const Contact& contact,
                 double scale) {
  // Tolerances of distances of supporting planes that are nearly equal.
  const double enough = 1e-14 * scale, rounding = 1e-13 * scale;
  Candidate best(D, contact);
  const auto sharpen = [&] {
    const Candidate rough = best;
    // The last precision is for points beside a corner or an edge, which every other precision
    // would identify with that corner or edge.
    for (const double precision : {1e-9, 1e-6, 1e-4, 1e-2, 1e-11}) {
      const Candidate c = newton(D, surfaces, rough, scale, precision);
      // The distance is less than that of the best direction.
      if (c.contact.distance < best.contact.distance - rounding) continue;
      if (c.error < max_number(best.error, enough)) best = c;
      if (c.error < enough) return true;
    }
    return false;
  };
  // Try the quick method first: EPA's contact is locally the shortest translation.
  if (const auto c = quickly_polished(D, surfaces, best.contact, scale, 1e-6))
    if (c->distance >= best.contact.distance - enough) return *c;
  if (sharpen()) return best.contact;
  best = Candidate(D, approached(D, best.contact, scale));
  if (sharpen() || best.error <= 1e-11 * scale) return best.contact;
  best = ascended(D, surfaces, best, scale);
  if (best.error > enough) sharpen();  // about the latest direction
  return best.contact;
}

}  // namespace robosim
