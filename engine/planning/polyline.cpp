#include "planning/polyline.h"

#include <algorithm>
#include <cmath>

namespace robosim {
namespace {

double distance(const double* a, const double* b, std::size_t n) {
  double sum = 0;
  for (std::size_t k = 0; k < n; ++k) sum += (a[k] - b[k]) * (a[k] - b[k]);
  return std::sqrt(sum);
}

// Distance of p from the segment from a to b.
double distance_to_segment(const double* p, const double* a, const double* b, std::size_t n) {
  double along = 0, length = 0, squared = 0;
  for (std::size_t k = 0; k < n; ++k) {
    along += (p[k] - a[k]) * (b[k] - a[k]);
    length += (b[k] - a[k]) * (b[k] - a[k]);
  }
  const double t = length > 0 ? std::clamp(along / length, 0.0, 1.0) : 0.0;
  for (std::size_t k = 0; k < n; ++k) {
    const double d = p[k] - a[k] - t * (b[k] - a[k]);
    squared += d * d;
  }
  return std::sqrt(squared);
}

}  // namespace

double Polyline::length() const {
  double sum = 0;
  for (std::size_t i = 0; i + 1 < size(); ++i) sum += distance(point(i), point(i + 1), n);
  return sum;
}

Polyline Polyline::resampled(std::size_t steps) const {
  Polyline out{n, {}};
  out.points.reserve((steps + 1) * n);
  const double spacing = length() / static_cast<double>(steps);
  std::size_t edge = 0;
  double before = 0;  // length up to the edge
  for (std::size_t i = 0; i <= steps; ++i) {
    const double along = spacing * static_cast<double>(i);
    double edge_length = distance(point(edge), point(edge + 1), n);
    while (edge + 2 < size() && along > before + edge_length) {
      before += edge_length;
      ++edge;
      edge_length = distance(point(edge), point(edge + 1), n);
    }
    const double t = edge_length > 0 ? std::clamp((along - before) / edge_length, 0.0, 1.0) : 0.0;
    const double *a = point(edge), *b = point(edge + 1);
    for (std::size_t k = 0; k < n; ++k) out.points.push_back(a[k] + t * (b[k] - a[k]));
  }
  std::copy_n(point(0), n, out.points.begin());
  std::copy_n(point(size() - 1), n, out.points.end() - static_cast<std::ptrdiff_t>(n));
  return out;
}

Polyline Polyline::thinned(double tolerance) const {
  Polyline out{n, {point(0), point(0) + n}};
  for (std::size_t i = 0; i + 1 < size();) {
    std::size_t next = i + 1;
    const auto fits = [&](std::size_t j) {
      for (std::size_t m = i + 1; m < j; ++m)
        if (distance_to_segment(point(m), point(i), point(j), n) > tolerance) return false;
      return true;
    };
    while (next + 1 < size() && fits(next + 1)) ++next;
    out.points.insert(out.points.end(), point(next), point(next) + n);
    i = next;
  }
  return out;
}

Polyline Polyline::curved() const {
  constexpr int parts = 4;
  Polyline out{n, {point(0), point(0) + n}};
  for (std::size_t i = 1; i + 1 < size(); ++i)
    for (int part = 0; part < parts; ++part) {
      const double t = static_cast<double>(part) / parts, before = 0.5 * (1 - t) * (1 - t),
                   after = 0.5 * t * t;
      for (std::size_t k = 0; k < n; ++k)
        out.points.push_back(before * point(i - 1)[k] + (1 - before - after) * point(i)[k] +
                             after * point(i + 1)[k]);
    }
  if (size() > 2)
    for (std::size_t k = 0; k < n; ++k)
      out.points.push_back(0.5 * (point(size() - 2)[k] + point(size() - 1)[k]));
  out.points.insert(out.points.end(), point(size() - 1), point(size() - 1) + n);
  return out;
}

Polyline columns_of(const std::vector<double>& waypoints, std::size_t n_q,
                    const std::vector<int>& columns) {
  Polyline out{columns.size(), {}};
  for (std::size_t i = 0; i + n_q <= waypoints.size(); i += n_q)
    for (const int column : columns)
      out.points.push_back(waypoints[i + static_cast<std::size_t>(column)]);
  return out;
}

}  // namespace robosim
