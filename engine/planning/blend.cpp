#include "planning/blend.h"

#include <algorithm>
#include <cmath>

namespace robosim {
namespace {

// Smallest blend, in the metric. Edges shorter than a tenth of it count as repeated waypoints.
constexpr double smallest = 1e-6;
// Corners of a smooth run: largest ratio of the edges' lengths, and least cosine of the angle by
// which the path turns.
constexpr double even = 1.2, gentle = 0.7;

}  // namespace

BlendedPath blend_corners(EdgeChecker& checker, const std::vector<double>& path,
                          const BlendOptions& options) {
  const std::size_t n_q = static_cast<std::size_t>(checker.scene().model().n_q),
                    n = options.columns.size();
  const auto weight = [&](std::size_t k) {
    return options.weights.empty() ? 1.0 : options.weights[k];
  };
  const auto column = [&](std::size_t k) { return static_cast<std::size_t>(options.columns[k]); };

  // Waypoints without repetition, directions and lengths of the edges.
  std::vector<std::vector<double>> points, directions;
  std::vector<double> lengths;
  for (std::size_t i = 0; i + n_q <= path.size(); i += n_q) {
    std::vector<double> p(n), u(n);
    for (std::size_t k = 0; k < n; ++k) p[k] = path[i + column(k)];
    if (!points.empty()) {
      double sum = 0;
      for (std::size_t k = 0; k < n; ++k) {
        u[k] = p[k] - points.back()[k];
        sum += weight(k) * weight(k) * u[k] * u[k];
      }
      const double length = std::sqrt(sum);
      if (length < 0.1 * smallest) continue;
      for (double& x : u) x /= length;
      lengths.push_back(length);
      directions.push_back(std::move(u));
    }
    points.push_back(std::move(p));
  }
  BlendedPath out;
  out.breaks.push_back(0);
  if (lengths.empty()) return out;

  // Append a piece q = a + b w + c w^2 for 0 <= w <= length, where w = speed * s.
  double speed = 1;
  const auto append = [&](const std::vector<double>& a, const std::vector<double>& b,
                          const std::vector<double>& c, double length) {
    out.coefficients.insert(out.coefficients.end(), a.begin(), a.end());
    for (const double x : b) out.coefficients.push_back(x * speed);
    for (const double x : c) out.coefficients.push_back(x * speed * speed);
    out.breaks.push_back(out.breaks.back() + length / speed);
  };
  const std::vector<double> zero(n, 0.0);
  const auto beside = [&](std::size_t i, const std::vector<double>& u, double d) {
    std::vector<double> p = points[i];
    for (std::size_t k = 0; k < n; ++k) p[k] += d * u[k];
    return p;
  };
  const auto curvature = [&](std::size_t i, double d) {
    std::vector<double> c(n);
    for (std::size_t k = 0; k < n; ++k) c[k] = (directions[i][k] - directions[i - 1][k]) / (4 * d);
    return c;
  };

  checker.restrict_to(options.columns);
  const std::vector<double> rest(path.begin(), path.begin() + static_cast<std::ptrdiff_t>(n_q));
  // True if the curve from d before corner i, of the given length and second-order coefficients, is
  // free.
  const auto curve_is_free = [&](std::size_t i, double d, const std::vector<double>& bend,
                                 double length) {
    const double breaks[2] = {0, length};
    std::vector<double> c = beside(i, directions[i - 1], -d);
    c.insert(c.end(), directions[i - 1].begin(), directions[i - 1].end());
    c.insert(c.end(), bend.begin(), bend.end());
    const PiecewisePolynomial curve(breaks, 1, c.data(), 3, options.columns.data(),
                                    static_cast<int>(n), rest.data(), static_cast<int>(n_q));
    return checker.curve(curve, 0, length, options.resolution).free;
  };
  const auto is_free = [&](std::size_t i, double d) {
    return curve_is_free(i, d, curvature(i, d), 2 * d);
  };
  // Second-order coefficients of the curve from middle to middle of the edges about corner i, with
  // the speed of s on the edge before it.
  const auto whole_bend = [&](std::size_t i) {
    const double before = lengths[i - 1], ratio = lengths[i] / before;
    std::vector<double> c(n);
    for (std::size_t k = 0; k < n; ++k)
      c[k] = (ratio * directions[i][k] - directions[i - 1][k]) / (2 * before);
    return c;
  };
  // True if corner i is part of a smooth run.
  const auto is_smooth = [&](std::size_t i) {
    const double before = lengths[i - 1], after = lengths[i];
    if (std::max(before, after) > std::min(even * std::min(before, after), 2 * options.largest))
      return false;
    double cosine = 0;
    for (std::size_t k = 0; k < n; ++k)
      cosine += weight(k) * weight(k) * directions[i - 1][k] * directions[i][k];
    return cosine > gentle && std::min(before, after) > 4 * smallest &&
           curve_is_free(i, before / 2, whole_bend(i), before);
  };
  // Largest free size: the maximum if it is free, else bisected above the first free size of
  // repeated halving.
  const auto size_of_blend = [&](std::size_t i) {
    double blocked = std::min({0.5 * lengths[i - 1], 0.5 * lengths[i], options.largest});
    if (is_free(i, blocked)) return blocked;
    double free = 0.5 * blocked;
    while (!is_free(i, free)) {
      blocked = free;
      if ((free *= 0.5) < smallest) return 0.0;
    }
    for (int step = 1; step < options.bisections; ++step) {
      const double middle = 0.5 * (free + blocked);
      (is_free(i, middle) ? free : blocked) = middle;
    }
    return free;
  };

  double behind = 0;  // part of the edge taken by the blend at its start
  // Per edge: its straight part, then the blend or the smooth curve at its end.
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    const bool has_corner = i + 1 < lengths.size();
    if (has_corner && is_smooth(i + 1)) {
      const double half = lengths[i] / 2;
      if (const double straight = half - behind; straight > 1e-12 * lengths[i])
        append(beside(i, directions[i], behind), directions[i], zero, straight);
      append(beside(i + 1, directions[i], -half), directions[i], whole_bend(i + 1), lengths[i]);
      behind = lengths[i + 1] / 2;
      speed *= lengths[i + 1] / lengths[i];
      continue;
    }
    const double ahead = has_corner ? size_of_blend(i + 1) : 0;
    if (const double straight = lengths[i] - behind - ahead; straight > 1e-12 * lengths[i])
      append(beside(i, directions[i], behind), directions[i], zero, straight);
    if (has_corner && ahead > 0)
      append(beside(i + 1, directions[i], -ahead), directions[i], curvature(i + 1, ahead),
             2 * ahead);
    if (has_corner && ahead == 0) out.stops.push_back(out.breaks.back());
    behind = ahead;
  }
  return out;
}

}  // namespace robosim
