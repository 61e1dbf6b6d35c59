// From a speed profile along a path to polynomials in time, and what is done to those: checks,
// slowing down, moving average.
#pragma once

#include "planning/timing.h"
#include "planning/timing_profile.h"

namespace robosim {

// Interval of the grid: a stretch of a path's piece.
struct PathInterval {
  int piece = 0;
  double r0 = 0;  // where it starts, from the piece's own start
};

// q(t) = c0 + c1 r(t) + c2 r(t)^2 with r(t) = r_0 + v_0 t + u t^2 / 2: exactly quartic, one piece
// per segment.
PolynomialMotion to_motion(const QuadraticPath& path, const std::vector<PathInterval>& intervals,
                           const std::vector<ProfileSegment>& segments);

// How far to stretch time for velocities and accelerations to be within limits at every time: at
// most 1 when they are. Exact extrema, for motions of degree 4 (piecewise velocity cubic,
// acceleration quadratic).
double needed_stretch(const PolynomialMotion& motion, const std::vector<double>& velocity,
                      const std::vector<double>& acceleration);

// The same motion, factor times slower.
void stretch(PolynomialMotion& motion, double factor);

// Greatest |ddq_j| of each column, exact for degree 4.
std::vector<double> peak_acceleration(const PolynomialMotion& motion);

// (1/T) integral of q from t - T to t, with q at rest before its start and after its end: degree 4
// becomes 5.
PolynomialMotion moving_average(const PolynomialMotion& motion, double window);

}  // namespace robosim
