// Continuous collision check by conservative advancement: when two moving shapes first come within
// a margin of each other.
//
// Each shape moves over t in [0, 1] with constant velocity v of its frame's origin and constant
// angular velocity w, both of W:
//
//   p(t) = p + t v,   R(t) = exp(t [w]) R.
//
// Between two poses this is a straight line and a turn about one axis. Unlike a screw motion it
// bends no path of the origin, meets both poses exactly as well, and for shapes that only translate
// is the motion of all their points; v and w being constant, so are the bounds below.
//
// At time t let n be the normal of the closest points. The separation along an axis e that is n
// then, and stays fixed in W or turns with A or B (of two faces the axis should turn with that
// which n belongs to),
//
//   g(s) = min over B(s) of e . x - max over A(s) of e . x,   s >= t,
//
// is at most the distance, equal to it at t, and costs two support points. The shapes stay apart as
// long as it is above the margin. (1) It falls by no more than mu per unit of time; of a fixed e =
// n, mu = n . (v_A - v_B) + |n x w_A| r_A + |n x w_B| r_B, r being the farthest distance of a point
// from the frame's origin (Mirtich, "Impulse-based dynamic simulation of rigid body systems", 1996;
// the directional form: Zhang, Lee, Kim, "Interactive continuous collision detection for non-convex
// polyhedra", 2006). (2) It is the least of e . (x_B - x_A) over all points, whose second
// derivatives are at most c; of a fixed e, c = |n x w_A| |w_A| r_A + |n x w_B| |w_B| r_B. So g less
// c s^2 / 2 is concave, and over a step h with its two ends evaluated exactly
//
//   g(t + l h) >= (1 - l) g(t) + l g(t + h) - c h^2 l (1 - l) / 2,   0 <= l <= 1.
//
// With e turning with A and y = x_B - p_A: |e'| = |w_A x n| = a, mu = a |y| + |y'| and c = a |w_A|
// |y| + 2 a |y'| + w_B^2 r_B. A step goes as far as (1) or (2) certify for any of the axes. Their
// error being of second order, so is the convergence; no contact is ever skipped. Cost: a distance
// and some twenty support points per round; rounds: two or three for translations, some five as a
// rule, a few dozen where the shapes graze. Nothing is allocated.
#pragma once

#include "geometry/query.h"

namespace robosim {

// How a shape moves over t in [0, 1].
struct Sweep {
  SE3d start;
  Vec3d velocity, angular_velocity;  // of its frame, in W, per unit of t

  SE3d at(double t) const;
  static Sweep between(const SE3d& X_W0, const SE3d& X_W1);  // the shorter way round
};

enum class ImpactStatus : std::uint8_t {
  separated,    // never within the margin: t = 1
  touching,     // at t, first
  overlapping,  // at t = 0 already within the margin
  unfinished,   // apart up to t at least, then unknown: the rounds were used up
  count
};
inline constexpr const char* impact_status_names[] = {"separated", "touching", "overlapping",
                                                      "unfinished"};
static_assert(std::size(impact_status_names) == static_cast<std::size_t>(ImpactStatus::count));

struct Impact {
  ImpactStatus status = ImpactStatus::unfinished;
  double t = 0;
  // At t; when touching its distance is above the margin by no more than the tolerance.
  Witness witness;
  double normal_velocity = 0;  // how fast the distance changes there [m per unit of t]
  int rounds = 0;
};

// margin >= 0 and tolerance > 0 in meters; a tolerance below 1e-12 of the shapes' size, or than the
// last digits of t move them (1e-15 of the way), counts as that. A half-space that turns sweeps
// everything; two half-spaces that turn against each other touch at once.
Impact time_of_impact(const Shape& A, const Sweep& sweep_A, const Shape& B, const Sweep& sweep_B,
                      double margin = 0, double tolerance = 1e-9, PairCache* cache = nullptr);

// Of the time at which the shapes touch, per entry of the twists [linear; angular], in the moving
// frame, of the poses at t = 0 and t = 1 of A and of B: dt = -dphi / normal_velocity, by the
// implicit function theorem.
struct ImpactDerivatives {
  double start[2][6] = {}, end[2][6] = {};
  // Of derivatives that hold on one side only (see WitnessDerivatives), and where shapes graze,
  // turn by half a turn or do not touch: there all are zero.
  bool one_sided = false;
};
ImpactDerivatives impact_derivatives(const Impact& impact, const Shape& A, const Sweep& sweep_A,
                                     const Shape& B, const Sweep& sweep_B);

}  // namespace robosim
