// Conversion of a speed profile along a path to polynomials in time, and operations on these: limit
// checks, slowdown, moving average.
#pragma once

#include "planning/timing.h"
#include "planning/timing_profile.h"

namespace robosim {

// Interval of the grid: a part of one piece of the path.
struct PathInterval {
  int piece = 0;
  double r0 = 0;  // start of the interval, from the start of the piece
};

// Convert segments to q(t) = c0 + c1 r(t) + c2 r(t)^2 with r(t) = r_0 + v_0 t + u t^2 / 2: exactly
// quartic, one piece per segment.
PolynomialMotion to_motion(const QuadraticPath& path, const std::vector<PathInterval>& intervals,
                           const std::vector<ProfileSegment>& segments);

// Factor by which time has to stretch for velocities and accelerations to be within limits at every
// time; at most 1 if they are. Extrema are exact for trajectories of degree 4 (piecewise cubic
// velocity, quadratic acceleration).
double needed_stretch(const PolynomialMotion& motion, const std::vector<double>& velocity,
                      const std::vector<double>& acceleration);

// Slow a trajectory down by a factor.
void stretch(PolynomialMotion& motion, double factor);

// Greatest |ddq_j| of each column, exact for degree 4.
std::vector<double> peak_acceleration(const PolynomialMotion& motion);

// Moving average (1/T) integral of q from t - T to t, with q at rest before its start and after its
// end: degree 4 becomes 5.
PolynomialMotion moving_average(const PolynomialMotion& motion, double window);

}  // namespace robosim
