// Continuous collision check by conservative advancement: the first time at which two moving shapes
// come within a margin of each other.
//
// Over t in [0, 1], each shape moves with constant velocity v of its frame's origin and constant
// angular velocity w, both in W:
//
//   p(t) = p + t v,   R(t) = exp(t [w]) R.
//
// Between two poses this is a straight line and a rotation about one axis, which reaches both poses
// exactly. Unlike in a screw motion, the origin moves straight, and if a shape only translates, so
// do all its points. As v and w are constant, so are the bounds below.
//
// At time t let n be the normal of the witness points. Let e be an axis that equals n at t. It
// stays fixed in W, or turns with A or B (for two faces, the axis should turn with the shape whose
// face has the normal n). The separation along e,
//
//   g(s) = min over B(s) of e . x - max over A(s) of e . x,   s >= t,
//
// is at most the distance, equals it at t, and costs two support points. The shapes stay separated
// while g is above the margin. Two bounds limit how fast g decreases:
//
//   (1) g decreases by at most mu per unit of time. For a fixed e = n,
//       mu = n . (v_A - v_B) + |n x w_A| r_A + |n x w_B| r_B, where r is the farthest distance of a
//       point from the frame's origin (Mirtich, "Impulse-based dynamic simulation of rigid body
//       systems", 1996; the directional form: Zhang, Lee, Kim, "Interactive continuous collision
//       detection for non-convex polyhedra", 2006).
//   (2) g is the minimum of e . (x_B - x_A) over all points, whose second derivatives are at most
//       c. For a fixed e, c = |n x w_A| |w_A| r_A + |n x w_B| |w_B| r_B. So g less c s^2 / 2 is
//       concave, and over a step h with exact values at both ends
//
//         g(t + l h) >= (1 - l) g(t) + l g(t + h) - c h^2 l (1 - l) / 2,   0 <= l <= 1.
//
// If e turns with A, let y = x_B - p_A: |e'| = |w_A x n| = a, mu = a |y| + |y'| and
// c = a |w_A| |y| + 2 a |y'| + w_B^2 r_B. A step goes as far as (1) or (2) certify for any of the
// axes. As the error of the bounds is of second order, so is the convergence, and no contact is
// ever missed.
//
// Cost: a distance and some twenty support points per round. Two or three rounds for translations,
// usually some five, a few dozen if the shapes graze. Nothing is allocated.
#pragma once

#include "geometry/query.h"

namespace robosim {

// Motion of a shape over t in [0, 1].
struct Sweep {
  SE3d start;
  Vec3d velocity, angular_velocity;  // of its frame, in W, per unit of t

  SE3d at(double t) const;
  static Sweep between(const SE3d& X_W0, const SE3d& X_W1);  // rotates by the shorter angle
};

enum class ImpactStatus : std::uint8_t {
  separated,    // never within the margin: t = 1
  touching,     // t is the first time within the margin
  overlapping,  // within the margin already at t = 0
  unfinished,   // separated at least up to t, then unknown: the rounds were used up
  count
};
inline constexpr const char* impact_status_names[] = {"separated", "touching", "overlapping",
                                                      "unfinished"};
static_assert(std::size(impact_status_names) == static_cast<std::size_t>(ImpactStatus::count));

struct Impact {
  ImpactStatus status = ImpactStatus::unfinished;
  double t = 0;
  // At t. If touching, its distance exceeds the margin by at most the tolerance.
  Witness witness;
  double normal_velocity = 0;  // rate of the distance at t [m per unit of t]
  int rounds = 0;
};

// Compute the time of impact. margin >= 0 and tolerance > 0 in meters. The tolerance is raised to
// 1e-12 of the shapes' size, and to the motion within the last digits of t (1e-15 of the
// displacement). A half-space that turns sweeps all of space; two half-spaces that turn relative to
// each other touch at once.
Impact time_of_impact(const Shape& A, const Sweep& sweep_A, const Shape& B, const Sweep& sweep_B,
                      double margin = 0, double tolerance = 1e-9, PairCache* cache = nullptr);

// Derivatives of the time at which the shapes touch, with respect to the poses at t = 0 and t = 1
// of A and of B. Per entry of the twists [linear; angular], in the moving frame. By the implicit
// function theorem, dt = -dphi / normal_velocity.
struct ImpactDerivatives {
  double start[2][6] = {}, end[2][6] = {};
  // True if the derivatives are valid on one side only (see WitnessDerivatives). Also true, with
  // all derivatives zero, if the shapes graze, turn by half a turn, or do not touch.
  bool one_sided = false;
};
ImpactDerivatives impact_derivatives(const Impact& impact, const Shape& A, const Sweep& sweep_A,
                                     const Shape& B, const Sweep& sweep_B);

}  // namespace robosim
