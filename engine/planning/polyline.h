// Polyline over the entries of q that move: n numbers per point, Euclidean length.
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
  // Resample at steps + 1 points, equally far apart along the polyline; the ends stay exact.
  Polyline resampled(std::size_t steps) const;
  // Select few of the points, including the ends, such that the others are within `tolerance` of
  // the lines between them (Imai, Iri 1988; from each point the farthest possible next one).
  Polyline thinned(double tolerance) const;
  // Sample the uniform quadratic B-spline with these control points, four points on each curve, and
  // its straight halves of the edges at the ends (blend.h).
  Polyline curved() const;
};

// Extract the entries `columns` of waypoints (p, n_q).
Polyline columns_of(const std::vector<double>& waypoints, std::size_t n_q,
                    const std::vector<int>& columns);

}  // namespace robosim
