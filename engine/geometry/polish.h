// Last digits of the nearest or least-penetrating points of curved shapes.
//
// GJK and EPA approach a curved surface by chords: near touch the direction of a short v drowns in rounding, and inside a body a
// facet's points lie under the surface. Once it is known which features of A and B touch, the witness conditions
//
//   p_B - p_A = phi n,  p_A on A with normal n,  p_B on B with normal -n,  n perpendicular to what is straight
//
// are smooth equations, and Newton's method doubles the digits each time; its linear part is that of the derivatives
// (contact_derivatives.h). Where that leads nowhere, as features are not yet clear or centres of curvature meet, D = B - A is moved
// along the normal n until the origin is a clearance t away from it, where GJK's normal has all its digits, and the new normal
// replaces n: a fixed point at the answer. The error of n shrinks by (t + depth) / (t + r) each time, with r the radius of curvature of
// D (zero error at once on a flat face). That is slow where the depth is nearly r, as for round bodies of which one holds the other's
// centre; so the iteration is accelerated by Anderson's mixing. Every n on the way gives min over D of n.x, a lower bound on the
// signed distance that is exact to rounding; the largest is the answer, and Newton's method gets another chance there.
//
// Source of the mixing: Anderson, "Iterative procedures for nonlinear integral equations", 1965, in the form of Walker, Ni,
// "Anderson acceleration for fixed-point iterations", 2011.
#pragma once

#include <array>
#include <optional>

#include "geometry/local_surface.h"
#include "geometry/support_function.h"

namespace robosim {

struct Contact {
  Vec3d normal;         // unit, from A to B
  double distance = 0;  // signed: min over D of normal.x
  Vec3d a, w;           // nearest point of A, and of D = B - A: distance * normal, were everything exact
};

// Surfaces of a difference D = B - A of cores without its type, in A's frame; `side` 0 is A, 1 is B, n outward from that side.
struct Surfaces {
  const void* difference;
  LocalSurface (*surface)(const void*, int side, const Vec3d& p, const Vec3d& n, double precision);
  Vec3d (*on_feature)(const void*, int side, const LocalSurface& s, const Vec3d& p, const Vec3d& n);
  // The same feature at another point with another normal: false for those of polytopes, where nothing changes that Newton's method uses.
  bool (*renew)(const void*, int side, LocalSurface& s, const Vec3d& p, const Vec3d& n);
  // Of a surface that is curved everywhere, where it has its normal n: its radii in the tangents' directions at once. False for others.
  bool (*bend)(const void*, int side, const Vec3d& p, const Vec3d& n, const Vec3d& t0, const Vec3d& t1, std::array<double, 3>& S);

  template <class Difference>
  static Surfaces of(const Difference& D) {
    return {&D,
            [](const void* d, int side, const Vec3d& p, const Vec3d& n, double precision) {
              const Difference& own = *static_cast<const Difference*>(d);
              if (side == 0) return own.A.local_surface(p, n, precision);
              LocalSurface s = own.B.local_surface(transpose_times(own.X_AB.R, p - own.X_AB.p), transpose_times(own.X_AB.R, n), precision);
              for (Vec3d& e : s.axis) e = own.X_AB.R * e;
              s.point = own.X_AB * s.point;
              return s;
            },
            [](const void* d, int side, const LocalSurface& s, const Vec3d& p, const Vec3d& n) {
              const Difference& own = *static_cast<const Difference*>(d);
              if (side == 0) {
                if constexpr (requires { own.A.on_feature(s, p, n); }) return own.A.on_feature(s, p, n);
              } else if constexpr (requires { own.B.on_feature(s, p, n); }) {
                return own.X_AB * own.B.on_feature(s, transpose_times(own.X_AB.R, p - own.X_AB.p), transpose_times(own.X_AB.R, n));
              }
              Vec3d x = s.point;  // without curved features: the corner, the line or the plane
              for (int i = 0; i < 2; ++i)
                if (s.is_straight(i)) x += dot(p - s.point, s.axis[i]) * s.axis[i];
              return x;
            },
            [](const void* d, int side, LocalSurface& s, const Vec3d& p, const Vec3d& n) {
              const Difference& own = *static_cast<const Difference*>(d);
              const auto take = [&](const Curvature& c) {
                for (int i = 0; i < 2; ++i) s.axis[i] = side ? own.X_AB.R * c.axis[i] : c.axis[i], s.radius[i] = c.radius[i];
                s.slide = c.slide;
                return true;
              };
              if (side == 0) {
                if constexpr (requires { own.A.curvature(s, p, n); } && !requires { own.A.bend(p, n, n, n); }) return take(own.A.curvature(s, p, n));
              } else if constexpr (requires { own.B.curvature(s, p, n); } && !requires { own.B.bend(p, n, n, n); }) {
                return take(own.B.curvature(s, transpose_times(own.X_AB.R, p - own.X_AB.p), transpose_times(own.X_AB.R, n)));
              }
              return false;
            },
            [](const void* d, int side, const Vec3d& p, const Vec3d& n, const Vec3d& t0, const Vec3d& t1, std::array<double, 3>& S) {
              const Difference& own = *static_cast<const Difference*>(d);
              const auto in_B = [&](const Vec3d& x) { return transpose_times(own.X_AB.R, x); };
              if (side == 0) {
                if constexpr (requires { own.A.bend(p, n, t0, t1); }) return S = own.A.bend(p, n, t0, t1), true;
              } else if constexpr (requires { own.B.bend(p, n, t0, t1); }) {
                return S = own.B.bend(in_B(p - own.X_AB.p), in_B(n), in_B(t0), in_B(t1)), true;
              }
              return false;
            }};
  }
};

// The contact by Newton's method alone, from one that is known to within about `precision` of the scale; nothing where that does not
// give points of both shapes that a plane of support proves to be the nearest ones, to rounding. Of overlapping shapes that proves no more
// than that there is no better way out nearby, and they are left out unless `overlapping`.
std::optional<Contact> quickly_polished(const SupportFunction& D, const Surfaces& surfaces, const Contact& contact, double scale,
                                        double precision, bool overlapping = false);

// scale: of the coordinates of D's points. Gives the contact of the largest distance, of equal ones that whose w agrees best with its
// distance and normal; that may be the given one. At most 16 runs of GJK, mostly none.
Contact polished(const SupportFunction& D, const Surfaces& surfaces, const Contact& contact, double scale);

}  // namespace robosim
