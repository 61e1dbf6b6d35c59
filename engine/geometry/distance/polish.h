// Refinement of the nearest or deepest points of curved shapes to the last digits.
//
// GJK and EPA approximate a curved surface by chords. Close to touching, the direction of a short v
// is lost in rounding, and inside a body the points of a facet lie below the surface. Once the
// touching features of A and B are known, the witness conditions
//
//   p_B - p_A = phi n,  p_A on A with normal n,  p_B on B with normal -n,
//   n perpendicular to straight directions
//
// are smooth equations, and Newton's method doubles the digits each time. Its linear part is that
// of the derivatives (contact_derivatives.h).
//
// Newton's method fails if the features are not clear yet, or if centers of curvature coincide.
// Then D = B - A is moved along the normal n until the origin is a clearance t away from it, where
// GJK's normal has all its digits. The normal that GJK finds there replaces n: a fixed-point
// iteration with the answer as fixed point. The error of n shrinks by (t + depth) / (t + r) each
// time, where r is the radius of curvature of D (on a flat face the error is zero at once). This is
// slow if the depth is nearly r, as for round bodies one of which contains the center of the other.
// So the iteration is accelerated by Anderson's mixing. Every n of the iteration yields min over D
// of n.x, a lower bound of the signed distance that is exact to rounding. The largest bound is the
// answer, and Newton's method is tried again there.
//
// If features are degenerate, as an edge and a face of a small body near the center of curvature of
// a large one, n does not converge smoothly. Then n ascends on that lower bound along the
// directions in which several points are equally far, until the origin is between these points.
//
// Source of the mixing: Anderson, "Iterative procedures for nonlinear integral equations", 1965, in
// the form of Walker, Ni, "Anderson acceleration for fixed-point iterations", 2011.
#pragma once

#include <array>

#include "geometry/distance/newton.h"
#include "geometry/support_function.h"

namespace robosim {

// Type-erased SurfacesOf a difference.
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

// Return the contact with the largest distance. Among equal distances, the contact whose w agrees
// best with its distance and normal; this may be the given contact. scale: of the coordinates of
// D's points. At most 16 runs of GJK, usually none.
Contact polished(const SupportFunction& D, const Surfaces& surfaces, const Contact& contact,
                 double scale);

}  // namespace robosim
