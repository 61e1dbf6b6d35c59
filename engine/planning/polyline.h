// A polyline over the entries of q that move: n numbers per point, Euclidean length.
#pragma once

#include <cstddef>
#include <vector>

namespace robosim {

struct Polyline {
  std::size_t n = 0;  // numbers per point
  std::vector<double> points;

  std::size_t size() const { return n == 0 ? 0 : points.size() / n; }
  const double* point(std::size_t i) const { return points.data() + i * n; }
  double length() const;
  // steps + 1 points on it, equally far apart along it; its ends exactly.
  Polyline resampled(std::size_t steps) const;
  // Some of its points, the ends among them, so few that the others are within `tolerance` of the
  // lines between them (Imai, Iri 1988, from each point the farthest next one).
  Polyline thinned(double tolerance) const;
  // Points, four on each curve, of the uniform quadratic B-spline with these control points, and
  // its straight halves of the edges at the ends (blend.h).
  Polyline curved() const;
};

// The entries `columns` of waypoints (p, n_q).
Polyline columns_of(const std::vector<double>& waypoints, std::size_t n_q,
                    const std::vector<int>& columns);

}  // namespace robosim
