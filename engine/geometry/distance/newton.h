// Newton's method for the witness conditions of two shapes that touch with known features.
//
//   p_B - p_A = phi n,  p_A on A with normal n,  p_B on B with normal -n,
//   n perpendicular to straight directions
//
// are smooth equations while the features stay the same. Their linear part is that of the
// derivatives (P, Q_A, Q_B and H of contact_derivatives.h). A supporting plane proves an answer:
// phi is the distance if the shapes lie on either side of the planes with normal n through p_A and
// p_B.
#pragma once

#include <array>
#include <optional>

#include "geometry/directions.h"
#include "geometry/distance/gjk.h"
#include "geometry/local_surface.h"
#include "geometry/tangent_plane.h"

namespace robosim {

// Contact of two cores, in A's frame.
struct Contact {
  Vec3d normal;         // unit, from A to B
  double distance = 0;  // signed: min over D of normal.x
  // Nearest point of A, and of D = B - A; w = distance * normal if exact.
  Vec3d a, w;
};

// Surfaces of a difference D = B - A of cores, in A's frame. `side` 0 is A, 1 is B; n is outward
// from that side.
template <class Difference>
struct SurfacesOf {
  const Difference& D;

  LocalSurface surface(int side, const Vec3d& p, const Vec3d& n, double precision) const {
    // Curved everywhere: `bend` computes what Newton's method needs.
    if (side ? requires { D.B.bend(p, n, n, n); } : requires { D.A.bend(p, n, n, n); }) return {};
    if (side == 0) return D.A.local_surface(p, n, precision);
    LocalSurface s = D.B.local_surface(point_in_B(p), in_B(n), precision);
    for (Vec3d& e : s.axis) e = D.X_AB.R * e;
    s.point = D.X_AB * s.point;
    return s;
  }
  // Point of the feature with normal n, near p.
  Vec3d on_feature(int side, const LocalSurface& s, const Vec3d& p, const Vec3d& n) const {
    if (side == 0) {
      if constexpr (requires { D.A.on_feature(s, p, n); }) return D.A.on_feature(s, p, n);
    } else if constexpr (requires { D.B.on_feature(s, p, n); }) {
      return D.X_AB * D.B.on_feature(s, point_in_B(p), in_B(n));
    }
    Vec3d x = s.point;  // without curved features: the corner, the line or the plane
    for (int i = 0; i < 2; ++i)
      if (s.is_straight(i)) x += dot(p - s.point, s.axis[i]) * s.axis[i];
    return x;
  }
  // Update the surface of the same feature at another point with another normal. Returns false for
  // polytopes, whose features do not change in anything that Newton's method uses.
  bool renew(int side, LocalSurface& s, const Vec3d& p, const Vec3d& n) const {
    const auto take = [&](const Curvature& c) {
      for (int i = 0; i < 2; ++i) {
        s.axis[i] = side ? D.X_AB.R * c.axis[i] : c.axis[i];
        s.radius[i] = c.radius[i];
      }
      s.slide = c.slide;
      return true;
    };
    if (side == 0) {
      if constexpr (
          requires { D.A.curvature(s, p, n); } && !requires { D.A.bend(p, n, n, n); })
        return take(D.A.curvature(s, p, n));
    } else if constexpr (
        requires { D.B.curvature(s, p, n); } && !requires { D.B.bend(p, n, n, n); }) {
      return take(D.B.curvature(s, point_in_B(p), in_B(n)));
    }
    return false;
  }
  // Radii in the tangents' directions of a surface that is curved everywhere, at its normal n,
  // without a LocalSurface. Returns false for other surfaces.
  bool bend(int side, const Vec3d& p, const Vec3d& n, const Vec3d& t0, const Vec3d& t1,
            std::array<double, 3>& S) const {
    if (side == 0) {
      if constexpr (requires { D.A.bend(p, n, t0, t1); }) return S = D.A.bend(p, n, t0, t1), true;
    } else if constexpr (requires { D.B.bend(p, n, t0, t1); }) {
      return S = D.B.bend(point_in_B(p), in_B(n), in_B(t0), in_B(t1)), true;
    }
    return false;
  }

 private:
  Vec3d in_B(const Vec3d& x) const { return transpose_times(D.X_AB.R, x); }
  Vec3d point_in_B(const Vec3d& p) const { return in_B(p - D.X_AB.p); }
};

// Contact with the distance that the support function certifies. error: distance of w from
// distance * normal.
struct Candidate {
  Contact contact;
  double error = std::numeric_limits<double>::infinity();

  template <class Difference>
  Candidate(const Difference& D, const Contact& c) : contact(c) {
    contact.distance = dot(c.normal, D.support(-c.normal).w);
    error = norm(c.w - contact.distance * c.normal);
  }
};

// Step of Newton's method for the normal n and the points a and b of the surfaces A and B, whose
// radii in the tangents t0 and t1 of n are S_A and S_B.
void newton_step(const LocalSurface& A, const LocalSurface& B, tangent_plane::Radii& S_A,
                 tangent_plane::Radii& S_B, const Vec3d& t0, const Vec3d& t1, double scale,
                 Vec3d& n, Vec3d& a, Vec3d& b);

template <class Surfaces>
void newton_step(const Surfaces& surfaces, const LocalSurface& A, const LocalSurface& B,
                 double scale, Vec3d& n, Vec3d& a, Vec3d& b) {
  using namespace tangent_plane;
  Vec3d t0, t1;
  tangents(n, t0, t1);
  const auto radii = [&](int side, const LocalSurface& s, const Vec3d& p, const Vec3d& n_out) {
    std::array<double, 3> S;
    if (surfaces.bend(side, p, n_out, t0, t1, S)) return Radii(Mat2{{S[0], S[1]}, {S[1], S[2]}});
    return Radii(s, t0, t1, 0, Radii::Axes::nearly);  // the normal is approximate so far
  };
  Radii S_A = radii(0, A, a, n), S_B = radii(1, B, b, -n);
  newton_step(A, B, S_A, S_B, t0, t1, scale, n, a, b);
}

// Return true if x is still on the feature whose surface about p is s, by its distance from p along
// straight directions.
inline bool stays_on(const LocalSurface& s, const Vec3d& p, const Vec3d& x) {
  if (!s.is_straight(0) && !s.is_straight(1)) return true;
  double moved = 0;
  for (int i = 0; i < 2; ++i)
    if (s.is_straight(i)) {
      const double along = dot(x - p, s.axis[i]);
      moved += along * along;
    }
  return s.slide >= 0 && s.slide < LocalSurface::straight && moved <= s.slide * s.slide;
}

// Refine a contact that is known to within about `precision` of the scale, by Newton's method
// alone. Returns nothing unless a supporting plane proves that the points of both shapes are the
// nearest ones, up to rounding. For overlapping shapes, the proof is only that the contact is
// locally the shortest translation.
template <class Difference, class Surfaces>
std::optional<Contact> quickly_polished(const Difference& D, const Surfaces& surfaces,
                                        const Contact& contact, double scale, double precision) {
  constexpr int max_rounds = 6;
  const double enough = 1e-14 * scale, close = 1e-11 * scale;
  // Points at which the surfaces are known.
  Vec3d n = contact.normal, a = contact.a, b = a + contact.w, at_A = a, at_B = b;
  LocalSurface A = surfaces.surface(0, a, n, precision), B = surfaces.surface(1, b, -n, precision);
  double before = std::numeric_limits<double>::infinity();
  std::optional<Candidate> best;
  for (int round = 0; round < max_rounds; ++round) {
    a = surfaces.on_feature(0, A, a, n);
    b = surfaces.on_feature(1, B, b, -n);
    if (!stays_on(A, at_A, a) || !stays_on(B, at_B, b)) break;
    const Vec3d w = b - a;
    const double beside = squared_norm(w - dot(n, w) * n);
    if (!best && round > 1 && beside > 0.25 * before) break;
    before = beside;
    if (beside < close * close) {  // far from the answer there is nothing to prove
      const Candidate c(D, {n, 0, a, w});
      const bool better = !best || c.error < best->error;
      if (better && c.error <= enough) best = c;
      // Stop at rounding: if features are sharp and close, the error of the normal is the error of
      // the points divided by their distance.
      if (best && (!better || best->error <= 1e-15 * scale)) break;
    }
    // Update the surfaces, and step.
    if (round > 0) {
      if (surfaces.renew(0, A, a, n)) at_A = a;
      if (surfaces.renew(1, B, b, -n)) at_B = b;
    }
    newton_step(surfaces, A, B, scale, n, a, b);
  }
  if (!best) return std::nullopt;
  return best->contact;
}

}  // namespace robosim
