#include "planning/nearest.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace robosim {
namespace {

// Metric without periods: difference of coordinate k of two points, and distance of a point outside
// an interval from it.
struct Plain {
  double between(std::size_t, double a, double b) const { return a - b; }
  double outside(std::size_t, double lower, double upper, double x) const {
    return std::max(std::max(lower - x, x - upper), 0.0);
  }
};

struct Periodic {
  const double* periods;

  double between(std::size_t k, double a, double b) const {
    const double d = a - b, period = periods[k];
    return period > 0 ? d - period * std::round(d / period) : d;
  }
  double outside(std::size_t k, double lower, double upper, double x) const {
    const double period = periods[k];
    if (!(period > 0)) return Plain().outside(k, lower, upper, x);
    // Distance above the lower end, less than a period.
    const double beyond = x - lower - period * std::floor((x - lower) / period);
    return std::max(std::min(beyond - (upper - lower), period - beyond), 0.0);
  }
};

}  // namespace

NearestNeighbors::NearestNeighbors(int dimension)
    : dimension_(static_cast<std::size_t>(dimension)) {
  clear();
}

void NearestNeighbors::clear() {
  n_points_ = 0;
  points_.clear();
  nodes_.assign(1, Node());
  boxes_.assign(2 * dimension_, std::numeric_limits<double>::infinity());
  std::fill(boxes_.begin() + static_cast<std::ptrdiff_t>(dimension_), boxes_.end(),
            -std::numeric_limits<double>::infinity());
}

void NearestNeighbors::include(std::size_t node, const double* p) {
  double *lo = lower(node), *hi = lo + dimension_;
  for (std::size_t k = 0; k < dimension_; ++k) {
    lo[k] = std::min(lo[k], p[k]);
    hi[k] = std::max(hi[k], p[k]);
  }
}

void NearestNeighbors::add(const double* p) {
  points_.insert(points_.end(), p, p + dimension_);
  std::size_t node = 0;
  while (true) {
    include(node, p);
    const Node& n = nodes_[node];
    if (n.split < 0) break;
    node = static_cast<std::size_t>(p[n.split] < n.at ? n.left : n.left + 1);
  }
  nodes_[node].ids.push_back(n_points_++);
  if (nodes_[node].ids.size() > bucket_size) split(node);
}

void NearestNeighbors::split(std::size_t node) {
  const double *lo = lower(node), *hi = lo + dimension_;
  std::size_t widest = 0;
  for (std::size_t k = 1; k < dimension_; ++k)
    if (hi[k] - lo[k] > hi[widest] - lo[widest]) widest = k;
  if (!(hi[widest] > lo[widest])) return;  // all points are equal: the bucket grows

  std::vector<int> ids = std::move(nodes_[node].ids);
  nodes_[node].ids.clear();
  const auto coordinate = [&](int i) { return point(i)[widest]; };
  std::vector<double> values;
  for (const int i : ids) values.push_back(coordinate(i));
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2),
                   values.end());
  double at = values[values.size() / 2];
  if (!(at > lo[widest])) {  // half of the points share the lowest value: split right above it
    at = hi[widest];
    for (const double v : values)
      if (v > lo[widest]) at = std::min(at, v);
  }
  const std::size_t left = nodes_.size();
  nodes_[node].split = static_cast<int>(widest);
  nodes_[node].at = at;
  nodes_[node].left = static_cast<int>(left);
  nodes_.resize(left + 2);
  boxes_.resize(2 * dimension_ * nodes_.size());
  for (std::size_t child = left; child < left + 2; ++child) {
    std::fill_n(lower(child), dimension_, std::numeric_limits<double>::infinity());
    std::fill_n(lower(child) + dimension_, dimension_, -std::numeric_limits<double>::infinity());
    nodes_[child].ids.reserve(bucket_size + 1);
  }
  for (const int i : ids) {
    const std::size_t child = coordinate(i) < at ? left : left + 1;
    include(child, point(i));
    nodes_[child].ids.push_back(i);
  }
}

template <class Metric>
double NearestNeighbors::squared_distance_to_box(const Metric& metric, std::size_t node,
                                                 const double* p) const {
  const double *lo = lower(node), *hi = lo + dimension_;
  double sum = 0;
  for (std::size_t k = 0; k < dimension_; ++k) {
    const double gap = metric.outside(k, lo[k], hi[k], p[k]);
    sum += gap * gap;
  }
  return sum;
}

template <class Metric>
void NearestNeighbors::search(const Metric& metric, std::size_t node, const double* p, int& best,
                              double& best_squared) const {
  const Node& n = nodes_[node];
  if (n.split < 0) {
    looks_ += static_cast<std::int64_t>(n.ids.size());
    for (const int i : n.ids) {
      const double* x = point(i);
      double sum = 0;
      for (std::size_t k = 0; k < dimension_; ++k) {
        const double d = metric.between(k, x[k], p[k]);
        sum += d * d;
      }
      if (sum < best_squared || (sum == best_squared && i < best)) {
        best = i;
        best_squared = sum;
      }
    }
    return;
  }
  looks_ += 4;
  const std::size_t left = static_cast<std::size_t>(n.left),
                    nearer = p[n.split] < n.at ? left : left + 1;
  const std::size_t farther = left + left + 1 - nearer;
  if (squared_distance_to_box(metric, nearer, p) <= best_squared)
    search(metric, nearer, p, best, best_squared);
  if (squared_distance_to_box(metric, farther, p) <= best_squared)
    search(metric, farther, p, best, best_squared);
}

int NearestNeighbors::nearest(const double* p, double* squared_distance) const {
  int best = -1;
  double best_squared = std::numeric_limits<double>::infinity();
  search(Plain(), 0, p, best, best_squared);
  if (squared_distance) *squared_distance = best_squared;
  return best;
}

int NearestNeighbors::nearest(const double* p, const double* periods,
                              double* squared_distance) const {
  int best = -1;
  double best_squared = std::numeric_limits<double>::infinity();
  search(Periodic{periods}, 0, p, best, best_squared);
  if (squared_distance) *squared_distance = best_squared;
  return best;
}

}  // namespace robosim
