// Last digits of the nearest or least-penetrating points of curved shapes.
//
// GJK and EPA approach a curved surface by chords: near touch the direction of a short v drowns in
// rounding, and inside a body a facet's points lie under the surface. Once it is known which
// features of A and B touch, the witness conditions
//
//   p_B - p_A = phi n,  p_A on A with normal n,  p_B on B with normal -n,  n perpendicular to what
//                       is straight
//
// are smooth equations, and Newton's method doubles the digits each time; its linear part is that
// of the derivatives (contact_derivatives.h). Where that leads nowhere, as features are not yet
// clear or centers of curvature meet, D = B - A is moved along the normal n until the origin is a
// clearance t away from it, where GJK's normal has all its digits, and the new normal replaces n: a
// fixed point at the answer. The error of n shrinks by (t + depth) / (t + r) each time, with r the
// radius of curvature of D (zero error at once on a flat face). That is slow where the depth is
// nearly r, as for round bodies of which one holds the other's center; so the iteration is
// accelerated by Anderson's mixing. Every n on the way gives min over D of n.x, a lower bound on
// the signed distance that is exact to rounding; the largest is the answer, and Newton's method
// gets another chance there.
//
// Where features tie, as an edge and a face of a small body near the center of curvature of a large
// one, n has no smooth way: then it goes uphill on that lower bound along the ties, to where the
// origin is between the points that tie.
//
// Source of the mixing: Anderson, "Iterative procedures for nonlinear integral equations", 1965, in
// the form of Walker, Ni, "Anderson acceleration for fixed-point iterations", 2011.
#pragma once

#include <array>

#include "geometry/distance/newton.h"
#include "geometry/support_function.h"

namespace robosim {

// SurfacesOf a difference without its type.
struct Surfaces {
  const void* difference;
  LocalSurface (*surface_)(const void*, int, const Vec3d&, const Vec3d&, double);
  Vec3d (*on_feature_)(const void*, int, const LocalSurface&, const Vec3d&, const Vec3d&);
  bool (*renew_)(const void*, int, LocalSurface&, const Vec3d&, const Vec3d&);
  bool (*bend_)(const void*, int, const Vec3d&, const Vec3d&, const Vec3d&, const Vec3d&,
                std::array<double, 3>&);

  template <class Difference>
  static Surfaces of(const Difference& D) {
    static constexpr auto typed = [](const void* d) {
      return SurfacesOf<Difference>{*static_cast<const Difference*>(d)};
    };
    return {&D,
            [](const void* d, int side, const Vec3d& p, const Vec3d& n, double precision) {
              return typed(d).surface(side, p, n, precision);
            },
            [](const void* d, int side, const LocalSurface& s, const Vec3d& p, const Vec3d& n) {
              return typed(d).on_feature(side, s, p, n);
            },
            [](const void* d, int side, LocalSurface& s, const Vec3d& p, const Vec3d& n) {
              return typed(d).renew(side, s, p, n);
            },
            [](const void* d, int side, const Vec3d& p, const Vec3d& n, const Vec3d& t0,
               const Vec3d& t1,
               std::array<double, 3>& S) { return typed(d).bend(side, p, n, t0, t1, S); }};
  }
  LocalSurface surface(int side, const Vec3d& p, const Vec3d& n, double precision) const {
    return surface_(difference, side, p, n, precision);
  }
  Vec3d on_feature(int side, const LocalSurface& s, const Vec3d& p, const Vec3d& n) const {
    return on_feature_(difference, side, s, p, n);
  }
  bool renew(int side, LocalSurface& s, const Vec3d& p, const Vec3d& n) const {
    return renew_(difference, side, s, p, n);
  }
  bool bend(int side, const Vec3d& p, const Vec3d& n, const Vec3d& t0, const Vec3d& t1,
            std::array<double, 3>& S) const {
    return bend_(difference, side, p, n, t0, t1, S);
  }
};

// scale: of the coordinates of D's points. Gives the contact of the largest distance, of equal ones
// that whose w agrees best with its distance and normal; that may be the given one. At most 16 runs
// of GJK, mostly none.
Contact polished(const SupportFunction& D, const Surfaces& surfaces, const Contact& contact,
                 double scale);

}  // namespace robosim
